"""Is the identity the cheapest assignment, and by how much? Exact, with potentials that prove it.

Assignments other than the identity are unions of cycles, and a cycle i₁ → i₂ → … → i₁ costs Σ (C[i_t, i_{t+1}] −
C[i_t, i_t]) more. So the margin min_{π ≠ id} Δ_π is the weight of the lightest directed cycle with arc weights
C[i, j] − C[i, i], if no cycle is negative. Shortest distances to each neuron prove the bound: they are potentials.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import Any

from ..core import Certificate
from .realization import Cost, sensitivity

__all__ = ["Margin", "margin"]


@dataclass(frozen=True)
class Margin:
    """How much dearer the cheapest assignment other than the identity is.

    Parameters
    ----------
    value : Fraction or inf
        min_{π ≠ id} Δ_π; infinite if no other assignment has a finite cost. Negative if the identity is not optimal.
    second : tuple of int or None
        A permutation that attains it.
    distances : tuple of tuples
        ``distances[i][j]``: the least weight of a walk from neuron j to neuron i; empty if the identity is not optimal.
    """

    value: Cost
    second: tuple[int, ...] | None
    distances: tuple[tuple[Cost, ...], ...] = ()

    def certificate(self, costs: Certificate) -> Certificate:
        """Return the certificate, which rests on that of the costs; only if the identity is optimal."""
        return Certificate(
            "assignment_margin",
            {
                "costs": costs.to_json(),
                "second": None if self.second is None else list(self.second),
                "distances": [[_text(x) for x in row] for row in self.distances],
            },
        )


def margin(costs: Sequence[Sequence[Cost]]) -> Margin:
    """Return the margin of the identity for an m × m table with finite diagonal.

    Where the identity is not optimal all permutations are tried, so m is small.

    Examples
    --------
    >>> margin(((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0)))).value
    Fraction(2, 1)
    """
    m = len(costs)
    arcs = [[_minus(costs[i][j], Fraction(costs[i][i])) for j in range(m)] for i in range(m)]
    distance = [[Fraction(0) if i == j else arcs[i][j] for j in range(m)] for i in range(m)]
    following = [list(range(m)) for _ in range(m)]
    for via in range(m):
        for i in range(m):
            for j in range(m):
                detour = _plus(distance[i][via], distance[via][j])
                if detour < distance[i][j]:
                    distance[i][j], following[i][j] = detour, following[i][via]
        if any(distance[i][i] < 0 for i in range(m)):
            return _smallest(costs)
    # The arc i → j, and back from j to i on a shortest walk, which is a path here.
    pairs = [(_plus(arcs[i][j], distance[j][i]), i, j) for i in range(m) for j in range(m) if i != j]
    value, i, j = min(pairs, default=(math.inf, 0, 0))
    if math.isinf(value):
        second = None
    else:
        walk = [j]
        while walk[-1] != i:
            walk.append(following[walk[-1]][i])
        moved = dict(zip([i, *walk[:-1]], walk, strict=True))
        second = tuple(moved.get(a, a) for a in range(m))
    to = tuple(tuple(distance[j][i] for j in range(m)) for i in range(m))
    return Margin(value, second, to)


def _smallest(costs: Sequence[Sequence[Cost]]) -> Margin:
    m = len(costs)
    others = (p for p in permutations(range(m)) if p != tuple(range(m)))
    value, second = min((sensitivity(costs, p), p) for p in others)
    return Margin(value, second)


def _plus(x: Cost, y: Cost) -> Cost:
    return math.inf if math.isinf(x) or math.isinf(y) else Fraction(x) + Fraction(y)


def _minus(x: Cost, y: Fraction) -> Cost:
    return math.inf if math.isinf(x) else Fraction(x) - y


def _text(x: Cost) -> Any:
    return "inf" if math.isinf(x) else str(x)
