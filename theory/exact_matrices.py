"""Small matrices of fractions: what averages over finite matrix groups need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import TypeAlias

from ..core import InputError

__all__ = ["Rows", "generated", "inner", "projection", "rows", "times", "transpose"]

Rows: TypeAlias = tuple[tuple[Fraction, ...], ...]

_MOST_ELEMENTS = 500


def rows(matrix: Iterable[Iterable[Fraction | int]]) -> Rows:
    """Return a matrix of fractions."""
    return tuple(tuple(Fraction(entry) for entry in row) for row in matrix)


def times(a: Rows, b: Rows) -> Rows:
    """Return the product."""
    columns = list(zip(*b, strict=True))
    return tuple(tuple(sum((p * q for p, q in zip(row, c, strict=True)), Fraction(0)) for c in columns) for row in a)


def transpose(a: Rows) -> Rows:
    """Return the transpose."""
    return tuple(zip(*a, strict=True))


def inner(a: Rows, b: Rows) -> Fraction:
    """Return the sum of products of entries."""
    return sum((p * q for r, s in zip(a, b, strict=True) for p, q in zip(r, s, strict=True)), Fraction(0))


def generated(generators: Sequence[tuple[Rows, Rows]]) -> list[tuple[Rows, Rows]]:
    """Return all products of pairs of matrices.

    Raises
    ------
    InputError
        If there are more than 500, so that the group may be infinite.
    """
    one = tuple(rows([[int(i == j) for j in range(len(m))] for i in range(len(m))]) for m in generators[0])
    found = [(one[0], one[1])]
    seen = set(found)
    for x, y in found:
        for gx, gy in generators:
            new = (times(gx, x), times(gy, y))
            if new not in seen:
                if len(seen) == _MOST_ELEMENTS:
                    raise InputError(
                        f"generators: more than {_MOST_ELEMENTS} products; they have to generate a finite group"
                    )
                seen.add(new)
                found.append(new)
    return found


def projection(matrix: Rows, basis: Sequence[Rows]) -> Rows:
    """Return the orthogonal projection of `matrix` on the span of an independent `basis`, by its normal equations.

    Examples
    --------
    >>> projection(rows([[1, 2], [4, 3]]), [rows([[1, 0], [0, 1]])])[0]
    (Fraction(2, 1), Fraction(0, 1))
    """
    size = len(basis)
    system = [[inner(a, b) for b in basis] + [inner(a, matrix)] for a in basis]
    for i in range(size):
        pivot = next(j for j in range(i, size) if system[j][i])
        system[i], system[pivot] = system[pivot], system[i]
        system[i] = [entry / system[i][i] for entry in system[i]]
        for j in range(size):
            if j != i and system[j][i]:
                system[j] = [a - system[j][i] * b for a, b in zip(system[j], system[i], strict=True)]
    total = [[Fraction(0)] * len(row) for row in matrix]
    for k, element in enumerate(basis):
        total = [
            [t + system[k][size] * e for t, e in zip(r, s, strict=True)] for r, s in zip(total, element, strict=True)
        ]
    return rows(total)
