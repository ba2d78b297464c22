"""Linear algebra over the rationals: small matrices as tuples of rows of fractions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from ..core import InputError

__all__ = [
    "Rows",
    "Solution",
    "Vector",
    "dot",
    "identity",
    "inverse",
    "is_positive_semidefinite",
    "kernel",
    "product",
    "rank",
    "require_rows",
    "scaled_gram",
    "solve",
    "square",
    "subtract",
    "transpose",
]

Vector: TypeAlias = tuple[Fraction, ...]
Rows: TypeAlias = tuple[Vector, ...]


@dataclass(frozen=True)
class Solution:
    """A solution of a symmetric system S x = b, or a proof that there is none.

    Parameters
    ----------
    x : vector or None
        One solution; free coordinates are 0.
    obstruction : vector or None
        A vector y with S y = 0 and y·b ≠ 0, which exists iff there is no solution.
    """

    x: Vector | None
    obstruction: Vector | None = None


def require_rows(rows: Rows, field: str, columns: int | None = None, count: int | None = None) -> None:
    """Raise InputError, naming `field`, unless `rows` is a matrix with this many columns and rows.

    Raises
    ------
    InputError
        Also for an empty matrix.
    """
    widths = {len(row) for row in rows}
    if len(widths) != 1 or widths == {0}:
        raise InputError(f"{field}: rows of lengths {sorted(widths)!r}; a matrix with rows of one length is needed")
    if columns is not None and widths != {columns}:
        raise InputError(f"{field}: rows of length {widths.pop()}; {columns} is needed")
    if count is not None and len(rows) != count:
        raise InputError(f"{field}: {len(rows)} rows; {count} are needed")


def dot(x: Iterable[Fraction], y: Iterable[Fraction]) -> Fraction:
    """Return the inner product.

    Examples
    --------
    >>> dot((Fraction(1), Fraction(2)), (Fraction(3), Fraction(-1)))
    Fraction(1, 1)
    """
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))


def square(x: Vector) -> Fraction:
    """Return ‖x‖².

    Examples
    --------
    >>> square((Fraction(3), Fraction(4)))
    Fraction(25, 1)
    """
    return dot(x, x)


def subtract(x: Vector, y: Vector) -> Vector:
    """Return x − y.

    Examples
    --------
    >>> subtract((Fraction(3),), (Fraction(1),))
    (Fraction(2, 1),)
    """
    return tuple(a - b for a, b in zip(x, y, strict=True))


def transpose(rows: Rows) -> Rows:
    """Return the transposed matrix.

    Examples
    --------
    >>> transpose(((Fraction(1), Fraction(2)),))
    ((Fraction(1, 1),), (Fraction(2, 1),))
    """
    return tuple(zip(*rows, strict=True))


def product(left: Rows, right: Rows) -> Rows:
    """Return the product of two matrices.

    Examples
    --------
    >>> product(identity(2), identity(2)) == identity(2)
    True
    """
    columns = transpose(right)
    return tuple(tuple(dot(row, column) for column in columns) for row in left)


def identity(n: int) -> Rows:
    """Return the identity matrix.

    Examples
    --------
    >>> identity(1)
    ((Fraction(1, 1),),)
    """
    return tuple(tuple(Fraction(i == j) for j in range(n)) for i in range(n))


def scaled_gram(basis: Rows, weights: Vector) -> Rows:
    """Return Σ_l weights_l u_l u_lᵀ for the rows u_l of `basis`.

    Examples
    --------
    >>> scaled_gram(identity(2), (Fraction(1), Fraction(4)))
    ((Fraction(1, 1), Fraction(0, 1)), (Fraction(0, 1), Fraction(4, 1)))
    """
    return product(
        transpose(basis), tuple(tuple(weight * x for x in row) for weight, row in zip(weights, basis, strict=True))
    )


def solve(matrix: Rows, right: Vector) -> Solution:
    """Return a solution of the symmetric system, or why there is none.

    Examples
    --------
    >>> S = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(0)))
    >>> solve(S, (Fraction(2), Fraction(0))).x
    (Fraction(2, 1), Fraction(0, 1))
    >>> solve(S, (Fraction(2), Fraction(1))).obstruction
    (Fraction(0, 1), Fraction(1, 1))
    """
    n = len(matrix)
    # The columns behind b record the row operations: a row that becomes zero in S is a vector of its kernel.
    extended = tuple((*row, b, *unit) for row, b, unit in zip(matrix, right, identity(n), strict=True))
    reduced, pivots = _echelon(extended, n)
    for row in reduced[len(pivots) :]:
        if row[n]:
            return Solution(None, row[n + 1 :])
    x = [Fraction(0)] * n
    for row, column in zip(reduced, pivots, strict=False):
        x[column] = row[n]
    return Solution(tuple(x))


def inverse(matrix: Rows) -> Rows | None:
    """Return the inverse, or None for a singular matrix.

    Examples
    --------
    >>> inverse(((Fraction(4),),))
    ((Fraction(1, 4),),)
    """
    n = len(matrix)
    reduced, pivots = _echelon(tuple((*row, *unit) for row, unit in zip(matrix, identity(n), strict=True)), n)
    return tuple(row[n:] for row in reduced) if len(pivots) == n else None


def rank(matrix: Rows) -> int:
    """Return the rank.

    Examples
    --------
    >>> rank(((Fraction(1), Fraction(2)), (Fraction(2), Fraction(4))))
    1
    """
    return len(_echelon(matrix, len(matrix[0]))[1])


def kernel(matrix: Rows) -> Rows:
    """Return a basis of {x : matrix x = 0}, as rows.

    Examples
    --------
    >>> kernel(((Fraction(1), Fraction(2)),))
    ((Fraction(-2, 1), Fraction(1, 1)),)
    """
    n = len(matrix[0])
    reduced, pivots = _echelon(matrix, n)
    basis = []
    for free in (column for column in range(n) if column not in pivots):
        x = [Fraction(column == free) for column in range(n)]
        for row, column in zip(reduced, pivots, strict=False):
            x[column] = -row[free]
        basis.append(tuple(x))
    return tuple(basis)


def is_positive_semidefinite(matrix: Rows) -> bool:
    """Return whether the symmetric matrix has no negative eigenvalue, by symmetric elimination.

    Examples
    --------
    >>> is_positive_semidefinite(((Fraction(1), Fraction(1)), (Fraction(1), Fraction(1))))
    True
    >>> is_positive_semidefinite(((Fraction(0), Fraction(1)), (Fraction(1), Fraction(0))))
    False
    """
    rest = [list(row) for row in matrix]
    while rest:
        pivot, first = rest[0][0], rest[0]
        if pivot < 0 or (pivot == 0 and any(first)):
            return False
        if pivot:
            for row in rest[1:]:
                factor = row[0] / pivot
                row[:] = [a - factor * b for a, b in zip(row, first, strict=True)]
        rest = [row[1:] for row in rest[1:]]
    return True


def _echelon(matrix: Sequence[Sequence[Fraction]], columns: int) -> tuple[list[Vector], list[int]]:
    """Return the matrix reduced on its first `columns` columns, and the pivot column of each of the first rows."""
    rows = [list(row) for row in matrix]
    pivots: list[int] = []
    for column in range(columns):
        at = len(pivots)
        found = next((i for i in range(at, len(rows)) if rows[i][column]), None)
        if found is None:
            continue
        rows[at], rows[found] = rows[found], rows[at]
        pivot = rows[at][column]
        rows[at] = [x / pivot for x in rows[at]]
        for i, row in enumerate(rows):
            if i != at and row[column]:
                factor = row[column]
                rows[i] = [a - factor * b for a, b in zip(row, rows[at], strict=True)]
        pivots.append(column)
    return [tuple(row) for row in rows], pivots
