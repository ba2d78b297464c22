"""Losses of small networks on one sample, written as the networks compute, for floating-point counts of their laws.

Widths are from the output to the input, and parameters lie in the order of the exact models: both count the same thing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from .integrators import Vector
from .law_scout import Loss, Sampler, Scout, lie_scout
from .layer_losses import LAYERS, Built, Network, cut

__all__ = ["LARGEST", "SCOUTED", "scouted"]

LARGEST = 40
"""Most parameters for which brackets are evaluated; beyond it a scout takes longer than the exact count."""


def scouted(
    architecture: str,
    sizes: Sequence[int],
    *,
    bias: bool = False,
    logits: bool = False,
    elements: Sequence[tuple[Vector, Vector]] = (),
    seed: int = 0,
) -> Scout | None:
    """Return the floating-point count of laws of a network, or None if it is not among `SCOUTED` or too large.

    Parameters
    ----------
    architecture : str
        A key of `SCOUTED`.
    logits : bool
        Cross-entropy on the outputs instead of the squared loss.
    elements : sequence of pairs of matrices
        The squared loss is averaged over these maps of inputs and labels.

    Raises
    ------
    Undecided
        If the rank is not clear.
    """
    if architecture not in SCOUTED:
        return None
    parameters, network, shape = SCOUTED[architecture](sizes, bias)
    if parameters > LARGEST:
        return None
    generator = torch.Generator().manual_seed(seed)
    theta = torch.randn(parameters, generator=generator, dtype=torch.float64)
    outputs = network(theta, torch.zeros(shape, dtype=torch.float64)).shape
    if architecture == "softmax-layer" or logits:
        loss, sampler = _cross_entropy(network, shape, int(outputs[-1]))
    else:
        loss, sampler = _squared(network, shape, tuple(outputs), elements)
    return lie_scout(loss, theta, sampler, seed=seed)


def _squared(
    network: Network, shape: tuple[int, ...], outputs: tuple[int, ...], elements: Sequence[tuple[Vector, Vector]]
) -> tuple[Loss, Sampler]:
    maps = [(torch.as_tensor(g), torch.as_tensor(h)) for g, h in elements]

    def loss(theta: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        x, y = z
        if not maps:
            return 0.5 * ((network(theta, x) - y) ** 2).sum()
        return torch.stack([0.5 * ((network(theta, x @ g.T) - y @ h.T) ** 2).sum() for g, h in maps]).mean()

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        return _normal((count, *shape), generator), _normal((count, *outputs), generator)

    return loss, sampler


def _cross_entropy(network: Network, shape: tuple[int, ...], classes: int) -> tuple[Loss, Sampler]:
    def loss(theta: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        x, weights = z
        return -(weights * functional.log_softmax(network(theta, x), dim=-1)).sum()

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        weights = torch.softmax(_normal((count, classes), generator), dim=-1)
        return _normal((count, *shape), generator), weights

    return loss, sampler


def _normal(shape: tuple[int, ...], generator: torch.Generator) -> Tensor:
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def _layered(
    sizes: Sequence[int], activation: Callable[[Tensor], Tensor] | None, bias: bool, *, skip: bool = False
) -> Built:
    shapes: list[tuple[int, ...]] = list(pairwise(sizes))
    depth = len(shapes)
    if bias:
        shapes += [(n,) for n in sizes[1:-1]]

    def network(theta: Tensor, inputs: Tensor) -> Tensor:
        parts, x = cut(theta, shapes), inputs
        for i in range(depth - 1, 0, -1):
            x = parts[i] @ x + (parts[depth + i - 1] if bias else 0.0)
            x = x if activation is None else activation(x)
        return parts[0] @ x + (inputs if skip else 0.0)

    return sum(map(math.prod, shapes)), network, (sizes[-1],)


def _power(sizes: Sequence[int], bias: bool) -> Built:
    exponent, r, d = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        a, w = cut(theta, [(r,), (r, d)])
        return (a * (w @ x) ** exponent).sum().reshape(1)

    return r * (1 + d), network, (d,)


def _product(sizes: Sequence[int], bias: bool) -> Built:
    return sizes[0], lambda theta, x: theta.prod() * x, (1,)


SCOUTED: dict[str, Callable[[Sequence[int], bool], Built]] = {
    **LAYERS,
    "linear": lambda sizes, bias: _layered(sizes, None, bias),
    "relu": lambda sizes, bias: _layered(sizes, functional.relu, bias),
    "relu-skip": lambda sizes, bias: _layered(sizes, functional.relu, bias, skip=True),
    "square": lambda sizes, bias: _layered(sizes, torch.square, bias),
    "tanh": lambda sizes, bias: _layered(sizes, torch.tanh, bias),
    "gelu": lambda sizes, bias: _layered(sizes, functional.gelu, bias),
    "silu": lambda sizes, bias: _layered(sizes, functional.silu, bias),
    "softmax-layer": lambda sizes, bias: _layered(sizes, None, False),
    "power": _power,
    "product": _product,
}
"""Builders by name of the architecture."""
