"""Networks that can be trained: those counted in floating point, convolutions, attention with outputs, normalizations."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from ..core import InputError
from ..graphs.network import Network as Graph
from .forward import NetworkFunction
from .layer_losses import Built, Network, cut
from .model_losses import SCOUTED
from .normalized_layers import LAYERS as NORMALIZED

__all__ = ["NORMALIZED_NAMES", "Trainable", "module_network", "relu_graph", "trainable"]

NORMALIZED_NAMES = {name.replace("_", "-"): name for name in NORMALIZED}
"""Architectures with a normalization, as users write them, and as `lakatos.numerics.normalized_layers` does."""

_KINKED = frozenset({"relu", "relu-skip", "residual", "convolution"} | {n for n in NORMALIZED_NAMES if "relu" in n})
_BATCH = 3


@dataclass(frozen=True)
class Trainable:
    """A network as a function of flat parameters and one sample.

    Parameters
    ----------
    parameters : int
        How many.
    network : callable
        Outputs from parameters (D,) and one input.
    shape, outputs : tuple of int
        Of one input and of what it is mapped to.
    is_kinked : bool
        Its gradient field jumps, so that no method follows it to more digits than the jumps allow.
    """

    parameters: int
    network: Network
    shape: tuple[int, ...]
    outputs: tuple[int, ...]
    is_kinked: bool = False


def trainable(
    architecture: str | None, sizes: Sequence[int], *, bias: bool = False, output_map: bool = False, eps: float = 0.0
) -> Trainable:
    """Return the network of an architecture, with its parameters in the order of the exact model.

    Parameters
    ----------
    architecture : str
        A key of `lakatos.numerics.model_losses.SCOUTED` or `NORMALIZED_NAMES`, or ``convolution``.
    output_map : bool
        For ``lightning``: followed by an output matrix.
    eps : float
        For normalizations: added to the variance.

    Raises
    ------
    InputError
        If the architecture is not known.
    """
    if architecture in NORMALIZED_NAMES:
        built = _normalized(NORMALIZED_NAMES[architecture], sizes, eps)
    elif architecture == "convolution":
        built = _convolution(sizes)
    elif architecture == "lightning" and output_map:
        built = _lightning_with_output(sizes)
    elif architecture in SCOUTED:
        built = SCOUTED[architecture](sizes, bias)
    else:
        known = ", ".join([*SCOUTED, "convolution", *NORMALIZED_NAMES])
        raise InputError(f"architecture={architecture!r}: cannot be trained; choose one of {known}")
    return _measured(*built, is_kinked=architecture in _KINKED)


def relu_graph(graph: Graph) -> Trainable:
    """Return the ReLU net on a network graph, as a function of the weights of its edges."""
    function = NetworkFunction(graph, "relu")
    return _measured(
        function.weight_count, lambda theta, x: function(theta, x[None])[0], (len(graph.inputs),), is_kinked=True
    )


def module_network(module: nn.Module) -> tuple[int, Network]:
    """Return the number of parameters of a module, and its outputs as a function of all of them and of one sample."""
    shapes = {name: tuple(p.shape) for name, p in module.named_parameters()}

    def network(theta: Tensor, x: Tensor) -> Tensor:
        values = dict(zip(shapes, cut(theta, list(shapes.values())), strict=True))
        out: Tensor = functional_call(module, values, (x[None],))[0]
        return out

    return sum(map(math.prod, shapes.values())), network


def _measured(parameters: int, network: Network, shape: tuple[int, ...], *, is_kinked: bool) -> Trainable:
    zeros = torch.zeros(parameters, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    return Trainable(parameters, network, shape, tuple(network(*zeros).shape), is_kinked)


def _convolution(sizes: Sequence[int]) -> Built:
    """conv(u, ReLU(conv(v, x))) on sequences long enough for three outputs in a row."""
    c0, c1, c2, n_u, n_v = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        u, v = cut(theta, [(c1, c2, n_u), (c1, c0, n_v)])
        return functional.conv1d(torch.relu(functional.conv1d(x[None], v)), u.transpose(0, 1))[0]

    return c1 * (c2 * n_u + c0 * n_v), network, (c0, n_u + n_v + 1)


def _lightning_with_output(sizes: Sequence[int]) -> Built:
    """X Q Kᵀ XᵀX V Oᵀ."""
    d, a, c = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        q, k, v, o = cut(theta, [(d, a), (d, a), (d, c), (d, c)])
        return x @ q @ k.T @ x.T @ x @ v @ o.T

    return 2 * d * (a + c), network, (3, d)


def _normalized(name: str, sizes: Sequence[int], eps: float) -> Built:
    forward, parameters, sees_batch = NORMALIZED[name]
    units, inputs = sizes
    network: Callable[[Tensor, Tensor], Tensor] = partial(_called, forward, units, inputs, eps)
    return parameters(units, inputs), network, (_BATCH, inputs) if sees_batch else (inputs,)


def _called(forward: Callable[..., Tensor], units: int, inputs: int, eps: float, theta: Tensor, x: Tensor) -> Tensor:
    return forward(theta, x, units, inputs, eps)
