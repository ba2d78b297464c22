"""Hypothesis strategies for subspaces and layers of partly fixed neurons, exact; see `lakatos.testing`."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import isqrt
from typing import Any, TypeAlias

from hypothesis import strategies as st

from ._strategies_networks import Fields, at_least, plain_number, small_fractions
from .core import InputError
from .exact import exact

__all__ = ["Rows", "masked_layers", "reflections", "subspaces"]

Matrix: TypeAlias = "list[list[Fraction]]"
Rows: TypeAlias = "list[list[int | str]]"

_MOST_REFLECTIONS = 2  # by integer vectors: products of two fill all of O(2), and denominators stay readable
_LARGEST_DENOMINATOR = 20  # of the square root of a coherence; its square is a number of rows


def subspaces(
    *, max_inputs: int = 6, max_dimension: int = 3, coherence: int | str | Fraction | None = None
) -> st.SearchStrategy[Rows]:
    """Return a strategy for orthonormal bases of subspaces: the rows of an n × k matrix U of rationals with UᵀU = 1.

    The coherence of the subspace is ν = max_l ‖u_l‖², the largest squared norm of a row; it lies in [k/n, 1].

    Parameters
    ----------
    max_inputs, max_dimension : int
        Largest n and k, at least 1.
    coherence : int, str or Fraction, optional
        Prescribes ν, exactly: the square of a rational number of (0, 1].

    Raises
    ------
    InputError
        If a bound is too small, also for `coherence`, or this is no such square.

    Notes
    -----
    Without `coherence`: columns of a product of reflections 1 − 2vvᵀ/vᵀv with integer v. With ν = (p/q)²: every column
    gets rows of its own, ⌊q²/p²⌋ times p/q and, by Lagrange's theorem, four entries for the rest of q², none above p/q;
    reflections from the right and permutations of rows keep the norms of the rows.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(subspaces(), lambda U: len(U) == 3 and len(U[0]) == 2)
    [[1, 0], [0, 1], [0, 0]]
    >>> find(subspaces(coherence="4/9"), lambda U: True)
    [['2/3'], ['2/3'], ['1/3']]
    """
    at_least(1, max_inputs=max_inputs, max_dimension=max_dimension)
    if coherence is None:
        return _reflected(max_inputs, max_dimension)
    column = _column_of_coherence(coherence)
    if len(column) > max_inputs:
        raise InputError(
            f"max_inputs={max_inputs!r}: a basis of coherence={coherence!r} has {len(column)} rows or more; raise it"
        )
    return _spread(column, max_inputs, min(max_dimension, max_inputs // len(column)))


def masked_layers(
    *,
    max_neurons: int = 3,
    max_inputs: int = 6,
    max_dimension: int = 3,
    coherence: int | str | Fraction | None = None,
) -> st.SearchStrategy[Fields]:
    """Return a strategy for layers of m partly fixed neurons with weights F + D ⊙ W on data in a subspace with basis U.

    F and D are m × n, U is n × k with orthonormal columns. Scales D are 0/1 masks or small rationals. Fixed weights F are
    zero, arbitrary, or supported where D is zero; equal neurons and neurons without a free weight occur.

    Parameters
    ----------
    max_neurons : int
        Largest m, at least 1.
    max_inputs, max_dimension, coherence
        As for `subspaces`.

    Raises
    ------
    InputError
        As `subspaces`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(masked_layers(), lambda layer: any(d == 0 for d in layer["D"][0]))
    {'F': [[0]], 'D': [[0]], 'U': [[1]]}
    """
    at_least(1, max_neurons=max_neurons)
    bases = subspaces(max_inputs=max_inputs, max_dimension=max_dimension, coherence=coherence)
    return bases.flatmap(lambda U: _neurons(U, max_neurons))


@st.composite
def _neurons(draw: st.DrawFn, U: Rows, max_neurons: int) -> Fields:
    scales = draw(st.sampled_from([(1, 0), (1, 0, 2, -1, "1/2")]))
    fixed = draw(st.sampled_from(["none", "everywhere", "where D is zero"]))
    number = small_fractions() if fixed != "none" else st.just(0)
    weights = st.tuples(st.sampled_from(scales), number)
    rows = draw(st.lists(st.lists(weights, min_size=len(U), max_size=len(U)), min_size=1, max_size=max_neurons))
    is_kept = {"none": False, "everywhere": True}.get(fixed)
    return {
        "F": [[f if (d == 0 if is_kept is None else is_kept) else 0 for d, f in row] for row in rows],
        "D": [[d for d, _ in row] for row in rows],
        "U": U,
    }


@st.composite
def _reflected(draw: st.DrawFn, max_inputs: int, max_dimension: int) -> Rows:
    n = draw(st.integers(1, max_inputs))
    k = draw(st.integers(1, min(n, max_dimension)))
    reflections = draw(_reflections(n))
    return _plain_rows([row[:k] for row in _product(_identity(n), reflections)])


@st.composite
def _spread(draw: st.DrawFn, column: list[Fraction], max_inputs: int, max_dimension: int) -> Rows:
    k = draw(st.integers(1, max_dimension))
    zero_rows = draw(st.integers(0, max_inputs - k * len(column)))
    blocks = [[x if j == i else Fraction(0) for j in range(k)] for i in range(k) for x in column]
    rows = _product(blocks, draw(_reflections(k))) + [[Fraction(0)] * k for _ in range(zero_rows)]
    return _plain_rows(draw(st.just(rows) | st.permutations(rows)))


def reflections(n: int, *, drawn_as: int) -> st.SearchStrategy[Matrix]:
    """Return a strategy for matrices of reflections of ℚⁿ, the identity first.

    Vectors to reflect along have `drawn_as` coordinates, of which the first n are used, so that examples shrink to smaller n.
    """
    vectors = st.lists(st.integers(-2, 2), min_size=drawn_as, max_size=drawn_as)
    return vectors.map(lambda v: _product(_identity(n), [v[:n]]))


def _reflections(n: int) -> st.SearchStrategy[list[list[int]]]:
    """Return a strategy for integer vectors, to be reflected along; zeros stand for no reflection."""
    vectors = st.lists(st.integers(-2, 2), min_size=n, max_size=n)
    return st.lists(vectors, max_size=_MOST_REFLECTIONS)


def _product(rows: Matrix, reflections: list[list[int]]) -> Matrix:
    """Return the matrix times the reflections 1 − 2vvᵀ/vᵀv, one after the other."""
    for v in reflections:
        square = sum(x * x for x in v)
        if square:
            along = [Fraction(2, square) * sum(a * x for a, x in zip(row, v, strict=True)) for row in rows]
            rows = [
                [a - factor * x for a, x in zip(row, v, strict=True)] for row, factor in zip(rows, along, strict=True)
            ]
    return rows


def _identity(n: int) -> Matrix:
    return [[Fraction(i == j) for j in range(n)] for i in range(n)]


def _column_of_coherence(coherence: Any) -> list[Fraction]:
    """Return a unit vector whose largest squared entry is `coherence`."""
    square = exact(coherence, "coherence")
    p, q = isqrt(max(square.numerator, 0)), isqrt(square.denominator)
    if not 0 < square <= 1 or square != Fraction(p * p, q * q) or q > _LARGEST_DENOMINATOR:
        raise InputError(
            f"coherence={coherence!r}: must be the square of a rational p/q in (0, 1] with q at most "
            f"{_LARGEST_DENOMINATOR}, such as '1/4' or '4/9'"
        )
    copies, rest = divmod(q * q, p * p)
    return [Fraction(x, q) for x in [p] * copies + _four_squares(rest)]


def _four_squares(number: int) -> list[int]:
    """Return at most four positive integers, decreasing, whose squares sum to `number`."""
    candidates = range(isqrt(number), -1, -1)
    for a, b, c in product(candidates, repeat=3):
        rest = number - a * a - b * b - c * c
        if rest >= 0 and isqrt(rest) ** 2 == rest:
            return sorted((x for x in (a, b, c, isqrt(rest)) if x), reverse=True)
    raise AssertionError(f"{number} is a sum of four squares")


def _plain_rows(rows: Matrix) -> Rows:
    return [[plain_number(x) for x in row] for row in rows]
