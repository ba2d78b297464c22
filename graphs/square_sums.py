"""Exact sums of squares of floating-point numbers at the nodes of a graph, by error-free transformations.

θ² = hi + lo exactly, where hi is the rounded square (Dekker). Both parts are cut into pieces on a grid of powers of two so
coarse that all sums of pieces are exact in double precision, the remainders on a finer grid, and so on until nothing is left
(Rump, Ogita, Oishi, *Accurate floating-point summation*, SIAM J. Sci. Comput. 31, 2008). Nothing rounds; the sums come out
as Python integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .stretches import Stretch, degrees, stretches

__all__ = ["square_sums"]

_CHUNK = 1 << 15  # weights at a time: all temporaries stay in the cache
_CLASS = 200  # exponents at a time, so that no square and no remainder leaves the range of doubles
_SCALE = 1000  # exponents below which a power of two and its inverse are doubles
_FEW = 16  # once less than one in so many weights has something left, these go on alone
_LONG_RUNS = 4  # edges per run from which on summing runs first is faster
_SPLITTER = 2.0**27 + 1
_BITS = 53

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]
_Weights = npt.NDArray[np.floating[Any]]


def square_sums(
    tail: _Ints,
    head: _Ints,
    weights: _Weights,
    nodes: int,
    parts: Sequence[Stretch] | None = None,
    *,
    sign: int = -1,
) -> tuple[npt.NDArray[np.object_], int]:
    """Return ``4**bits`` times (incoming + sign·outgoing) squared weight of each node, exactly, and ``bits``.

    Shapes: `tail`, `head`, `weights` (m,); the sums (nodes,), Python integers. Every weight is an integer multiple of
    ``2**-bits``, bits ≥ 0 as small as possible. `weights` must be finite. `parts` are the `stretches` of the edges if known.

    Examples
    --------
    >>> sums, bits = square_sums(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 0.75]), 3)
    >>> sums.tolist(), bits
    ([-16, 7, 9], 2)
    """
    parts = stretches(tail, head) if parts is None else parts
    lowest, highest = _exponents(weights)
    bits = max(0, -lowest)
    totals = np.zeros(nodes, object)
    # No node gets more than this many squares, each at most 1 after scaling, so sums stay below 2^52 steps of the grid.
    leaving, entering = degrees(tail, head, parts, nodes)
    most = int((entering + leaving).max(initial=1))
    step = _BITS - 1 - most.bit_length()
    single = highest - lowest < _CLASS
    for top in range(highest, lowest - 1, -_CLASS):
        grid = _Grid(nodes, step, sign)
        for place, w in _pieces(tail, head, parts, weights):
            if not single:
                exponent = np.frexp(w)[1]
                w = np.where((top - _CLASS < exponent) & (exponent <= top), w, 0.0)
            grid.add(place, w * 2.0**-top if abs(top) < _SCALE else np.ldexp(w, -top))
        total, scale = grid.total()
        shift = 2 * (top + bits) + scale
        # A sum of multiples of 4^-bits, hence an integer: shifting to the right drops zeros only.
        totals += total << shift if shift >= 0 else total >> -shift
    return totals, bits


def _exponents(weights: _Weights) -> tuple[int, int]:
    """Return a ≤ b such that all weights are integer multiples of 2^a, a ≤ 0 as large as possible, and less than 2^b."""
    lowest, largest = 0, 0.0
    for start in range(0, len(weights), _CHUNK):
        w = weights[start : start + _CHUNK].astype(np.float64)
        largest = max(largest, float(w.max()), -float(w.min()))
        with np.errstate(over="ignore"):  # what becomes infinite was a multiple
            steps = w * 2.0**-lowest if -lowest < _SCALE else np.ldexp(w, -lowest)
        if (fine := steps != np.rint(steps)).any():
            fraction, exponent = np.frexp(w[fine])
            mantissa = (np.abs(fraction) * 2.0**_BITS).astype(np.int64)
            # The lowest set bit is a power of two, hence a double without error, and its exponent is its place.
            zeros = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
            lowest = min(lowest, int((exponent - _BITS + zeros).min()))
    return lowest, max(lowest, int(np.frexp(largest)[1]))


def _pieces(
    tail: _Ints, head: _Ints, parts: Sequence[Stretch], weights: _Weights
) -> Iterator[tuple[_Block | _Edges, _Floats]]:
    """Yield the weights, some at a time, and where their squares belong."""
    for part in parts:
        length = max(1, _CHUNK // part.width) * part.width if part.width else _CHUNK
        rows, columns = part.ends(tail, head) if part.width else (tail[:0], head[:0])
        for start in range(part.start, part.stop, length):
            some = slice(start, min(start + length, part.stop))
            w = weights[some].astype(np.float64)
            if part.width:
                first = (some.start - part.start) // part.width
                yield _Block(rows[first : first + len(w) // part.width], columns, part.by_head), w
            else:
                yield _Edges(tail[some], head[some]), w


class _Block:
    """Rows and columns of values that are to be added at nodes."""

    def __init__(self, rows: _Ints, columns: _Ints, by_head: bool) -> None:
        self._rows, self._columns = rows, columns
        self._by_head = by_head

    def add(self, table: _Floats, values: _Floats, sign: int) -> None:
        """Add values at their heads and `sign` times at their tails; no sum rounds, so their order does not matter."""
        matrix = values.reshape(len(self._rows), len(self._columns))
        rows, columns = matrix.sum(axis=1), matrix.sum(axis=0)
        np.add.at(table, self._rows, rows if self._by_head else sign * rows)
        np.add.at(table, self._columns, sign * columns if self._by_head else columns)

    def some(self, chosen: _Ints) -> _Edges:
        """Return the places of some of the values."""
        row, column = np.divmod(chosen, len(self._columns))
        ends = self._rows[row], self._columns[column]
        return _Edges(*(ends[::-1] if self._by_head else ends))


class _Edges:
    """Edges at whose ends values are to be added; equal neighbors are summed up first."""

    def __init__(self, tail: _Ints, head: _Ints) -> None:
        self._tail, self._head = tail, head
        self._runs: tuple[_Runs, _Runs] | None = None

    def add(self, table: _Floats, values: _Floats, sign: int) -> None:
        """Add values at their heads and `sign` times at their tails."""
        if self._runs is None:
            self._runs = _Runs(self._tail), _Runs(self._head)
        self._runs[0].add(table, sign * values)
        self._runs[1].add(table, values)

    def some(self, chosen: _Ints) -> _Edges:
        """Return the places of some of the values."""
        return _Edges(self._tail[chosen], self._head[chosen])


class _Grid:
    """Sums at nodes, level by level: level k holds multiples of ``2**(-step*(k+1))``, as doubles without error."""

    def __init__(self, nodes: int, step: int, sign: int) -> None:
        self.nodes = nodes
        self.step = step
        self.sign = sign
        self.levels: list[_Floats] = []

    def add(self, place: _Block | _Edges, weights: _Floats) -> None:
        """Add the squares of weights of absolute value below 1 at their heads, `sign` times those at their tails."""
        high, low = _exact_squares(weights)
        piece = np.empty_like(high)
        k = 0
        while low is not None or len(high):
            if k == len(self.levels):
                self.levels.append(np.zeros(self.nodes))
            # Adding and subtracting 1.5 * 2^52 units rounds to whole units; what is left is at most half a unit.
            shift = 1.5 * 2.0 ** (_BITS - 1 - self.step * (k + 1))
            np.add(high, shift, out=piece)
            piece -= shift
            high -= piece
            if low is not None and k > 0:  # errors are below 2^-53, half a unit of level 0 or less
                rest = low + shift
                rest -= shift
                low -= rest
                piece += rest
                low = low if (low != 0).any() else None
            place.add(self.levels[k], piece, self.sign)
            k += 1
            left = high != 0
            if low is None and _FEW * np.count_nonzero(left) < len(high):
                chosen = np.flatnonzero(left)
                place, high, piece = place.some(chosen), high[chosen], piece[chosen]

    def total(self) -> tuple[Any, int]:
        """Return integers t and an exponent x: the sums are ``t * 2**x``."""
        total = np.zeros(self.nodes, object)
        for k, level in enumerate(self.levels):
            units = np.ldexp(level, self.step * (k + 1)).astype(np.int64)
            total = (total << self.step) + units.astype(object)
        return total, -self.step * len(self.levels)


class _Runs:
    """Indices at which values are to be added; equal neighbors, as in dense layers, are summed up first."""

    def __init__(self, index: _Ints) -> None:
        self.index = index
        changes = index[1:] != index[:-1]
        self.long = len(index) > _LONG_RUNS * (1 + np.count_nonzero(changes))
        self.starts = np.append(0, np.flatnonzero(changes) + 1) if self.long else index[:0]

    def add(self, table: _Floats, values: _Floats) -> None:
        """Add `values` to the entries of `table`; no sum rounds, so their order does not matter."""
        if self.long:
            np.add.at(table, self.index[self.starts], np.add.reduceat(values, self.starts))
        else:
            np.add.at(table, self.index, values)


def _exact_squares(weights: _Floats) -> tuple[_Floats, _Floats | None]:
    """Return the rounded squares and their rounding errors, None if none is rounded.

    Neither overflows nor underflows for 2^-200 ≤ |w| < 1.
    """
    upper = weights * _SPLITTER
    upper -= upper - weights
    lower = weights - upper
    square = weights * weights
    if not (lower != 0).any():  # at most 26 bits, as in single precision
        return square, None
    # Each product of halves has at most 53 bits, and each difference and sum below is exact.
    error = upper * upper
    error -= square
    upper *= lower
    upper += upper
    error += upper
    lower *= lower
    error += lower
    return square, error
