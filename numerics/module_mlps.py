"""Sequences of linear layers and one activation, read from a module as the networks for which there is Taylor mode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from torch import nn

from .mlps import Mlp

__all__ = ["LARGEST_TAYLOR_ORDER", "sequential_mlp"]

LARGEST_TAYLOR_ORDER = 16
"""Order d costs O(d²); beyond it rounding of the recursions is of the order of the coefficients of usual activations."""

_FLATTENED = 2  # dimensions of a batch that `nn.Flatten` leaves


def sequential_mlp(module: nn.Module, dimensions: int = _FLATTENED) -> Mlp | None:
    """Return the weights of a sequence of linear layers with one activation between them, or None for any other module.

    Nested `nn.Sequential` and `nn.Identity`, an `nn.Flatten` of inputs before the first layer, and one that makes the
    only output a number are looked through. All parameters have to be trained, and all layers to have a bias, or none. The
    activation is tanh, sigmoid, softplus, GELU or SiLU.

    Parameters
    ----------
    dimensions : int
        Of the tensor of inputs, samples included.
    """
    parts = list(_parts(module))
    if parts and _is_flatten(parts[0], 1):
        parts, dimensions = parts[1:], _FLATTENED
    if parts and _is_flatten(parts[-1], 0):
        parts = parts[:-1]
        if not (parts and isinstance(parts[-1], nn.Linear) and parts[-1].out_features == 1):
            return None
    layers, between = parts[::2], {_activation(part) for part in parts[1::2]}
    if dimensions != _FLATTENED or len(parts) % 2 == 0 or len(between) != 1 or None in between:
        return None
    if not all(type(layer) is nn.Linear for layer in layers) or not all(p.requires_grad for p in module.parameters()):
        return None
    weights = [layer.weight.detach() for layer in layers]
    biases = [layer.bias.detach() for layer in layers if layer.bias is not None]
    (activation,) = between
    if activation is None or len(biases) not in (0, len(layers)):
        return None
    return Mlp(activation, tuple(weights), tuple(biases), (1.0,) * len(layers))


def _parts(module: nn.Module) -> Iterator[Any]:
    if type(module) is nn.Sequential:
        for part in module:
            yield from _parts(part)
    elif type(module) is not nn.Identity:
        yield module


def _is_flatten(part: nn.Module, start: int) -> bool:
    return isinstance(part, nn.Flatten) and part.start_dim == start and part.end_dim == -1


def _activation(part: nn.Module) -> str | None:
    """Return the name of a smooth activation among those with jets."""
    if type(part) is nn.GELU:
        return "gelu" if part.approximate == "none" else None
    if type(part) is nn.Softplus:
        return "softplus" if part.beta == 1 else None
    names: dict[type[nn.Module], str] = {nn.Tanh: "tanh", nn.Sigmoid: "sigmoid", nn.SiLU: "silu"}
    return names.get(type(part))
