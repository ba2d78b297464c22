"""Losses of small networks on one sample, written as the networks compute, for floating-point counts of their laws.

Widths are from the output to the input, and parameters lie in the order of the exact models: both count the same thing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import torch
from torch import Tensor
from torch.nn import functional

from .integrators import Vector
from .law_scout import Loss, Sampler, Scout, lie_scout

__all__ = ["LARGEST", "SCOUTED", "scouted"]

LARGEST = 40
"""Most parameters for which brackets are evaluated; beyond it a scout takes longer than the exact count."""

Network = Callable[[Tensor, Tensor], Tensor]
Built = tuple[int, Network, tuple[int, ...]]
"""Number of parameters, network, and shape of an input."""


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
        return torch.stack([0.5 * ((network(theta, g @ x) - h @ y) ** 2).sum() for g, h in maps]).mean()

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


def _cut(theta: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    parts, first = [], 0
    for shape in shapes:
        size = 1
        for n in shape:
            size *= n
        parts.append(theta[first : first + size].reshape(shape))
        first += size
    return parts


def _layered(sizes: Sequence[int], activation: Callable[[Tensor], Tensor] | None, bias: bool) -> Built:
    shapes: list[tuple[int, ...]] = list(pairwise(sizes))
    depth = len(shapes)
    if bias:
        shapes += [(n,) for n in sizes[1:-1]]

    def network(theta: Tensor, x: Tensor) -> Tensor:
        parts = _cut(theta, shapes)
        for i in range(depth - 1, 0, -1):
            x = parts[i] @ x + (parts[depth + i - 1] if bias else 0.0)
            x = x if activation is None else activation(x)
        return parts[0] @ x

    return sum(_size(shape) for shape in shapes), network, (sizes[-1],)


def _attention(sizes: Sequence[int], bias: bool) -> Built:
    rows, columns, heads = (*sizes, 1)[:3]

    def network(theta: Tensor, x: Tensor) -> Tensor:
        q, k, v, o = theta.reshape(4, heads, rows // heads, columns)
        scores = torch.softmax(torch.einsum("ta,hra,hrb,sb->hts", x, q, k, x), dim=-1)
        return torch.einsum("hts,sa,hra,hrb->tb", scores, x, v, o)

    return 4 * rows * columns, network, (3, columns)


def _lightning(sizes: Sequence[int], bias: bool) -> Built:
    d, a, c = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        q, k, v = _cut(theta, [(d, a), (d, a), (d, c)])
        return x @ q @ k.T @ x.T @ x @ v

    return d * (2 * a + c), network, (3, d)


def _swiglu(sizes: Sequence[int], bias: bool) -> Built:
    n, r, m = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        a, b, c = _cut(theta, [(n, r), (r, m), (r, m)])
        return a @ (functional.silu(b @ x) * (c @ x))

    return r * (n + 2 * m), network, (m,)


def _power(sizes: Sequence[int], bias: bool) -> Built:
    exponent, r, d = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        a, w = _cut(theta, [(r,), (r, d)])
        return (a * (w @ x) ** exponent).sum().reshape(1)

    return r * (1 + d), network, (d,)


def _product(sizes: Sequence[int], bias: bool) -> Built:
    return sizes[0], lambda theta, x: theta.prod() * x, (1,)


def _size(shape: tuple[int, ...]) -> int:
    total = 1
    for n in shape:
        total *= n
    return total


SCOUTED: dict[str, Callable[[Sequence[int], bool], Built]] = {
    "linear": lambda sizes, bias: _layered(sizes, None, bias),
    "relu": lambda sizes, bias: _layered(sizes, functional.relu, bias),
    "tanh": lambda sizes, bias: _layered(sizes, torch.tanh, bias),
    "gelu": lambda sizes, bias: _layered(sizes, functional.gelu, bias),
    "silu": lambda sizes, bias: _layered(sizes, functional.silu, bias),
    "softmax-layer": lambda sizes, bias: _layered(sizes, None, False),
    "attention": _attention,
    "lightning": _lightning,
    "swiglu": _swiglu,
    "power": _power,
    "product": _product,
}
"""Builders by name of the architecture."""
