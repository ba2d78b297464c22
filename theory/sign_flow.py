"""Errors whose gradients have independent signs: what bounds the laws of the sign flow from above."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from ..core import Certificate
from .exact_matrices import Rows, rows, times, transpose
from .modular import Echelon

__all__ = ["generic_hyperplanes", "hyperplanes", "sign_certificate"]

_MOST_DRAWS = 20_000
_REACH = 1000


def generic_hyperplanes(n: int, m: int, r: int) -> int:
    """Return the number of hyperplanes across which an entry of (GV, GᵀU) changes its sign, for generic U and V.

    With one output the entries G_b U_k of all units change together, and with one input those G_a V_k.

    Examples
    --------
    >>> generic_hyperplanes(2, 3, 4), generic_hyperplanes(1, 3, 4), generic_hyperplanes(1, 1, 4)
    (20, 7, 1)
    """
    if n == m == 1:
        return 1
    if n == 1 or m == 1:
        return r + max(n, m)
    return (n + m) * r


def hyperplanes(u: Rows, v: Rows) -> int | None:
    """Return the number of hyperplanes for these U and V; None if an entry of the gradient is always zero.

    Examples
    --------
    >>> hyperplanes(rows([[1, 2], [3, 4]]), rows([[1, 2], [1, 2]]))
    6
    """
    n, m = len(u), len(v)
    normals = [
        _line([[x if i == a else 0 for x in column] for i in range(n)]) for column in transpose(v) for a in range(n)
    ]
    normals += [
        _line([[x if j == b else 0 for j in range(m)] for x in column]) for column in transpose(u) for b in range(m)
    ]
    return None if None in normals else len(set(normals))


def _line(normal: list[list[Fraction | int]]) -> Rows | None:
    """The matrix up to a factor: divided by its last entry that is not zero."""
    last = next((x for row in reversed(normal) for x in reversed(row) if x), None)
    return None if last is None else rows([[Fraction(x) / last for x in row] for row in normal])


def sign_certificate(u: Rows, v: Rows, *, seed: int = 0) -> Certificate:
    """Return integer errors whose gradients have independent signs, as many as are found."""
    generator = np.random.default_rng(seed)
    n, m = len(u), len(v)
    echelon, errors = Echelon((n + m) * len(u[0])), []
    limit = hyperplanes(u, v) or 0
    for _ in range(_MOST_DRAWS):
        if echelon.rank == limit:
            break
        # Entries of very different sizes, so that small columns of U and V decide signs as well.
        g = generator.integers(-_REACH, _REACH + 1, (n, m)) * 10 ** generator.integers(0, 4, (n, m))
        error = rows(g.tolist())
        slopes = [x for part in (times(error, v), times(transpose(error), u)) for row in part for x in row]
        if all(slopes) and echelon.add([[1 if x > 0 else -1 for x in slopes]]):
            errors.append(g.tolist())
    return Certificate("sign_flow", {"errors": errors})
