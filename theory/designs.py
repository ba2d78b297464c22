"""How exactly a finite group averages like all rotations: its degree as a design, by moments of the trace.

A finite group G₀ inside a compact group K averages every polynomial of degree at most t in the entries of g like K does iff
|G₀|⁻¹ Σ (tr g)^s equals the integral of (tr g)^s over K for all s ≤ t: both count the invariants in the s-th tensor power,
and those of K are among those of G₀. All of it is exact.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from math import comb
from typing import TypeAlias

from .._checker_groups import Action, elements
from .._checker_surds import Entry, sqrt

__all__ = [
    "Moments",
    "cyclic_moments",
    "design_degree",
    "icosian_moments",
    "orthogonal_moments",
    "trace_moments",
]

Moments: TypeAlias = Callable[[int], Entry]
"""The mean of (tr g)^s by s."""

_HIGHEST = 16


def design_degree(moments: Moments, n: int, *, special: bool, highest: int = _HIGHEST) -> int:
    """Return the largest t ≤ `highest` for which a group with these moments averages degree t like O(n) (`special`: SO(n)).

    Examples
    --------
    >>> design_degree(cyclic_moments(5), 2, special=True)
    4
    """
    for s in range(1, highest + 1):
        if moments(s) != orthogonal_moments(n, s, special=special):
            return s - 1
    return highest


def orthogonal_moments(n: int, s: int, *, special: bool = False) -> int:
    """Return the integral of (tr g)^s over O(n), or over SO(n).

    It is the number of invariants in the s-th tensor power of ℝⁿ. Irreducibles of O(n) are partitions whose first two columns
    have together at most n boxes, and tensoring with ℝⁿ adds or removes a box: so it is a number of walks from the empty
    partition back, for SO(n) also of those to the determinant, a column of n boxes.

    Examples
    --------
    >>> [orthogonal_moments(4, s, special=True) for s in (2, 4, 6, 8, 10)]
    [1, 4, 25, 196, 1764]
    """
    walks: Counter[tuple[int, ...]] = Counter({(): 1})
    for _ in range(s):
        grown: Counter[tuple[int, ...]] = Counter()
        for partition, count in walks.items():
            for neighbor in _neighbors(partition, n):
                grown[neighbor] += count
        walks = grown
    return walks[()] + (walks[(1,) * n] if special else 0)


def trace_moments(act: Action) -> Moments:
    """Return the moments of a finite group acting on its inputs."""
    traces = Counter(_trace(matrix) for matrix, _ in elements(act))
    return lambda s: _mean(traces, s)


def cyclic_moments(order: int) -> Moments:
    """Return the moments of the rotations of the plane by multiples of 2π/order: Σ_j binom(s, j) over order | s − 2j."""
    return lambda s: sum(comb(s, j) for j in range(s + 1) if (s - 2 * j) % order == 0)


def icosian_moments() -> Moments:
    """Return the moments of the 7200 rotations x ↦ p x q̄ of ℝ⁴, p and q of the 120 icosians; the trace is 4 Re p Re q."""
    half = Fraction(1, 2)
    golden = (sqrt(5) + 1) * half
    parts: Counter[Entry] = Counter({0: 30})
    for real, count in ((1, 1), (golden * half, 12), (half, 20), ((golden - 1) * half, 12)):
        parts[real] += count
        parts[real * -1] += count
    return lambda s: 4**s * (_mean(parts, s) * _mean(parts, s))


def _mean(values: Counter[Entry], s: int) -> Entry:
    total: Entry = 0
    for value, count in values.items():
        power: Entry = count
        for _ in range(s):
            power = value * power
        total = power + total
    return total * Fraction(1, values.total())


def _trace(matrix: tuple[tuple[Entry, ...], ...]) -> Entry:
    total: Entry = 0
    for i, row in enumerate(matrix):
        total = row[i] + total
    return total


def _neighbors(partition: tuple[int, ...], n: int) -> list[tuple[int, ...]]:
    """Partitions with a box more or less."""
    rows = (*partition, 0)
    found = []
    for i, length in enumerate(rows):
        if i == 0 or rows[i - 1] > length:
            found.append((*rows[:i], length + 1, *rows[i + 1 :]))
        if length and (i + 1 == len(rows) or rows[i + 1] < length):
            found.append((*rows[:i], length - 1, *rows[i + 1 :]))
    trimmed = [tuple(length for length in candidate if length) for candidate in found]
    return [p for p in trimmed if len(p) + sum(length > 1 for length in p) <= n]
