"""Floating-point counts of conservation laws for any smooth loss that `torch.func` can differentiate: scouts, never judges.

`lie_scout` evaluates nested brackets of gradient fields, `orbit_scout` transports gradients along
short flows and needs no brackets. Both end in the rank of a matrix, accepted only if its singular values have a gap of 10⁶.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor
from torch.func import grad, jacrev, vjp, vmap

from ..core import Reason, Undecided

__all__ = ["SMALLEST_GAP", "Loss", "Sampler", "Scout", "lie_scout", "orbit_scout"]

Loss: TypeAlias = Callable[[Tensor, tuple[Tensor, ...]], Tensor]
"""Scalar loss of flat parameters on one sample."""

Sampler: TypeAlias = Callable[[int, torch.Generator], tuple[Tensor, ...]]
"""Draws samples, stacked along the first axis."""

SMALLEST_GAP = 1e6
_RELATIVE = 1e-8
_DEEPEST = 4


@dataclass(frozen=True)
class Scout:
    """Numerical rank of the gradients alone and of the Lie algebra, with the smallest gap that was accepted."""

    parameters: int
    span_rank: int
    rank: int
    gap: float

    @property
    def laws(self) -> int:
        """D − rank."""
        return self.parameters - self.rank


def lie_scout(loss: Loss, theta: Tensor, sampler: Sampler, *, seed: int = 0) -> Scout:
    """Return the rank of the Lie algebra of the sample gradients at `theta`.

    Raises
    ------
    Undecided
        If the singular values leave the rank open.
    """
    generator = torch.Generator().manual_seed(seed)
    d = len(theta)
    rows = _brackets(loss, theta, [sampler(3 * d + 20, generator)])
    span_rank, gap = _rank(rows)
    rank = span_rank
    for depth in range(2, _DEEPEST + 1):
        if rank == d:
            break
        # Brackets of independent samples: linear in each of them, they span all brackets of this depth.
        rows = torch.cat([rows, _brackets(loss, theta, [sampler(d + 6, generator) for _ in range(depth)])])
        grown, gap_now = _rank(rows)
        gap = min(gap, gap_now)
        if grown == rank:
            break
        rank = grown
    return Scout(d, span_rank, rank, gap)


def orbit_scout(loss: Loss, theta: Tensor, sampler: Sampler, *, seed: int = 0, flows: int = 6) -> Scout:
    """Return the rank of the gradients at the ends of short flows, transported back to `theta` (Sussmann's orbit theorem).

    Raises
    ------
    Undecided
        If the singular values leave the rank open.
    """
    generator = torch.Generator().manual_seed(seed)
    d = len(theta)
    field = grad(loss)

    def gradients(at: Tensor) -> Tensor:
        return _brackets(loss, at, [sampler(d + 5, generator)])

    rows = gradients(theta)
    span_rank, gap = _rank(rows)
    rank = span_rank
    for i in range(flows):
        chosen = sampler(2, generator)
        flow = _short_flow(field, chosen, theta)
        jacobian = jacrev(flow)(theta)
        transported = torch.linalg.solve(jacobian, gradients(flow(theta)).T).T
        rows = torch.cat([rows, transported])
        grown, gap = _rank(rows)
        if grown == rank and i > 0:
            break
        rank = grown
    return Scout(d, span_rank, rank, gap)


def _short_flow(
    field: Callable[[Tensor, tuple[Tensor, ...]], Tensor], chosen: tuple[Tensor, ...], theta: Tensor
) -> Callable[[Tensor], Tensor]:
    """Two flows of length about 0.3 one after the other, 120 Runge–Kutta steps each: errors near rounding."""
    step = 0.3 / 120
    speeds = [float(field(theta, tuple(part[i] for part in chosen)).norm()) for i in range(2)]

    def flow(t: Tensor) -> Tensor:
        for i, speed in enumerate(speeds):
            z = tuple(part[i] for part in chosen)
            for _ in range(120):
                a = field(t, z) / speed
                b = field(t + step / 2 * a, z) / speed
                c = field(t + step / 2 * b, z) / speed
                d = field(t + step * c, z) / speed
                t = t + step / 6 * (a + 2 * b + 2 * c + d)
        return t

    return flow


def _brackets(loss: Loss, theta: Tensor, samples: list[tuple[Tensor, ...]]) -> Tensor:
    """Return [[χ(z1), χ(z2)], …] at `theta` for a batch of tuples of samples, one row each."""
    width = len(samples[0])

    def bracket(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        *first, last = (z[i : i + width] for i in range(0, len(z), width))
        if not first:
            gradient: Tensor = grad(loss)(t, last)
            return gradient
        earlier = tuple(part for sample in first for part in sample)
        along_f = _derivative(lambda s: grad(loss)(s, last), t, bracket(t, earlier))
        along_g = _derivative(lambda s: bracket(s, earlier), t, grad(loss)(t, last))
        return along_f - along_g

    flat = tuple(part for sample in samples for part in sample)
    rows: Tensor = vmap(lambda *z: bracket(theta, z))(*flat)
    return rows


def _derivative(field: Callable[[Tensor], Tensor], t: Tensor, direction: Tensor) -> Tensor:
    """Return D field(t)·direction, as the derivative of a linear function: u ↦ ⟨D field(t)ᵀu, direction⟩.

    Two backward passes; forward mode would compile its rules when first used, which takes longer than most scouts.
    """
    value, pull = vjp(field, t)[:2]
    derivative: Tensor = grad(lambda u: pull(u)[0] @ direction)(torch.zeros_like(value))
    return derivative


def _rank(rows: Tensor) -> tuple[int, float]:
    """Return the rank and its gap, rows normalized; a full rank needs no gap."""
    norms = rows.norm(dim=1, keepdim=True)
    kept = norms.squeeze(1) > 1e-13  # a bracket that vanishes is rounding
    if not kept.any():
        return 0, float("inf")
    values = torch.linalg.svdvals(rows[kept] / norms[kept])
    rank = int((values > _RELATIVE * values[0]).sum())
    if rank == len(values):
        smallest = float(values[-1] / values[0])
        gap = float("inf") if smallest > 1 / SMALLEST_GAP else smallest / _RELATIVE
    else:
        gap = float(values[rank - 1] / max(float(values[rank]), 1e-300))
    if not gap >= SMALLEST_GAP:
        raise Undecided(
            Reason.PRECISION, f"rank {rank} of sampled gradients has a gap of only {gap:.1e}; 1e6 is needed"
        )
    return rank, gap
