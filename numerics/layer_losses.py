"""Networks of one kind of layer as functions of flat parameters: attention, rotary positions, residual blocks, gates.

Parameters lie in the order of the exact models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

__all__ = ["LAYERS", "Built", "Network", "attention", "cut"]

Network: TypeAlias = Callable[[Tensor, Tensor], Tensor]
Built: TypeAlias = tuple[int, Network, tuple[int, ...]]
"""Number of parameters, network, and shape of an input."""

_ROTARY_BASE = 10_000.0


def cut(theta: Tensor, shapes: Sequence[tuple[int, ...]]) -> list[Tensor]:
    """Return consecutive pieces of `theta` in these shapes."""
    pieces = torch.split(theta, [math.prod(shape) for shape in shapes])
    return [piece.reshape(shape) for piece, shape in zip(pieces, shapes, strict=True)]


def attention(
    sizes: Sequence[int], bias: bool = False, *, tokens: int = 3, causal: bool = False, skip: bool = False
) -> Built:
    """Return softmax(X QᵀK Xᵀ) X VᵀO for sizes (rows, columns[, heads]), perhaps masked, perhaps added to X."""
    rows, columns, heads = (*sizes, 1)[:3]
    later = torch.ones(tokens, tokens, dtype=torch.bool).triu(1)

    def network(theta: Tensor, x: Tensor) -> Tensor:
        q, k, v, o = theta.reshape(4, heads, rows // heads, columns)
        scores = torch.einsum("ta,hra,hrb,sb->hts", x, q, k, x)
        if causal:
            scores = scores.masked_fill(later, -math.inf)
        out = torch.einsum("hts,sa,hra,hrb->tb", torch.softmax(scores, dim=-1), x, v, o)
        return x + out if skip else out

    return 4 * rows * columns, network, (tokens, columns)


def _rope(sizes: Sequence[int], bias: bool) -> Built:
    """Attention whose queries and keys are turned by the position, each pair of rows at a frequency of its own."""
    rows, columns = sizes
    tokens = 4
    angles = torch.arange(tokens)[:, None] * _ROTARY_BASE ** (-torch.arange(0, rows, 2, dtype=torch.float64) / rows)
    cosine, sine = angles.cos(), angles.sin()

    def turned(z: Tensor) -> Tensor:
        a, b = z[:, 0::2], z[:, 1::2]
        return torch.stack([cosine * a - sine * b, sine * a + cosine * b], dim=-1).reshape(z.shape)

    def network(theta: Tensor, x: Tensor) -> Tensor:
        q, k, v, o = theta.reshape(4, rows, columns)
        out: Tensor = torch.softmax(turned(x @ q.T) @ turned(x @ k.T).T, dim=-1) @ x @ v.T @ o
        return out

    return 4 * rows * columns, network, (tokens, columns)


def _lightning(sizes: Sequence[int], bias: bool) -> Built:
    d, a, c = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        q, k, v = cut(theta, [(d, a), (d, a), (d, c)])
        return x @ q @ k.T @ x.T @ x @ v

    return d * (2 * a + c), network, (3, d)


def _residual(sizes: Sequence[int], bias: bool) -> Built:
    width, *hidden = sizes
    shapes = [shape for n in hidden for shape in ((width, n), (n, width))]

    def network(theta: Tensor, x: Tensor) -> Tensor:
        parts = cut(theta, shapes)
        for u, v in reversed(list(zip(parts[0::2], parts[1::2], strict=True))):
            x = x + u @ torch.relu(v @ x)
        return x

    return 2 * width * sum(hidden), network, (width,)


def _swiglu(sizes: Sequence[int], bias: bool) -> Built:
    n, r, m = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        a, b, c = cut(theta, [(n, r), (r, m), (r, m)])
        return a @ (functional.silu(b @ x) * (c @ x))

    return r * (n + 2 * m), network, (m,)


def _gated_experts(sizes: Sequence[int], bias: bool) -> Built:
    n, experts, m = sizes

    def network(theta: Tensor, x: Tensor) -> Tensor:
        gate, maps = cut(theta, [(experts, m), (experts, n, m)])
        return torch.softmax(gate @ x, dim=0) @ (maps @ x)

    return experts * (1 + n) * m, network, (m,)


LAYERS: dict[str, Callable[[Sequence[int], bool], Built]] = {
    "attention": attention,
    "attention-causal": partial(attention, causal=True),
    "attention-skip": partial(attention, skip=True),
    "attention-one-token": partial(attention, tokens=1),
    "rope": _rope,
    "lightning": _lightning,
    "residual": _residual,
    "swiglu": _swiglu,
    "gated-experts": _gated_experts,
}
"""Builders by name."""
