"""Exact sums of squares of floating-point numbers at the nodes of a graph, by error-free transformations.

θ² = hi + lo exactly, where hi is the rounded square (Dekker). Both parts are cut into pieces on a grid of powers of two so
coarse that all sums of pieces are exact in double precision, the remainders on a finer grid, and so on until nothing is left
(Rump, Ogita, Oishi, *Accurate floating-point summation*, SIAM J. Sci. Comput. 31, 2008). Nothing rounds; the sums come out
as Python integers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["square_sums"]

_CHUNK = 1 << 13  # weights at a time: all temporaries stay in the cache
_CLASS = 200  # exponents at a time, so that no square and no remainder leaves the range of doubles
_LONG_RUNS = 4  # edges per run from which on summing runs first is faster
_SPLITTER = 2.0**27 + 1
_BITS = 53

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


def square_sums(
    tail: _Ints, head: _Ints, weights: _Floats, nodes: int, *, sign: int = -1
) -> tuple[npt.NDArray[np.object_], int]:
    """Return ``4**bits`` times (incoming + sign·outgoing) squared weight of each node, exactly, and ``bits``.

    Shapes: `tail`, `head`, `weights` (m,); the sums (nodes,), Python integers. Every weight is an integer multiple of
    ``2**-bits``, bits ≥ 0 as small as possible. `weights` must be finite.

    Examples
    --------
    >>> sums, bits = square_sums(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 0.75]), 3)
    >>> sums.tolist(), bits
    ([-16, 7, 9], 2)
    """
    lowest_bit, lowest, highest = _exponents(weights)
    bits = max(0, -lowest_bit)
    totals = np.zeros(nodes, object)
    # No node gets more than this many squares, each at most 1 after scaling, so sums stay below 2^52 steps of the grid.
    most = int((np.bincount(tail, minlength=nodes) + np.bincount(head, minlength=nodes)).max(initial=1))
    step = _BITS - 1 - most.bit_length()
    single = highest - lowest < _CLASS
    for top in range(highest, lowest - 1, -_CLASS):
        grid = _Grid(nodes, step)
        for a, b, w in _chunks(tail, head, weights):
            if not single:
                exponent = np.frexp(w)[1]
                w = np.where((top - _CLASS < exponent) & (exponent <= top), w, 0.0)
            grid.add(a, b, np.ldexp(w, -top), sign)
        total, scale = grid.total()
        shift = 2 * (top + bits) + scale
        # A sum of multiples of 4^-bits, hence an integer: shifting to the right drops zeros only.
        totals += total << shift if shift >= 0 else total >> -shift
    return totals, bits


def _chunks(tail: _Ints, head: _Ints, weights: _Floats) -> Iterator[tuple[_Ints, _Ints, _Floats]]:
    for start in range(0, len(weights), _CHUNK):
        part = slice(start, start + _CHUNK)
        yield tail[part], head[part], weights[part]


def _exponents(weights: _Floats) -> tuple[int, int, int]:
    """Return the exponent of the lowest bit set in any weight, and a ≤ b with 2^(a-1) ≤ |weight| < 2^b for all but zeros."""
    lowest_bit, lowest, highest = 2000, 2000, -2000
    for start in range(0, len(weights), _CHUNK):
        fraction, exponent = np.frexp(weights[start : start + _CHUNK])
        exponent = np.where(fraction != 0, exponent, 1000)
        smallest = int(exponent.min())
        lowest = min(lowest, smallest)
        highest = max(highest, int(exponent.max(where=fraction != 0, initial=-2000)))
        if smallest - _BITS < lowest_bit:
            fine = (fraction != 0) & (exponent - _BITS < lowest_bit)
            mantissa = (np.abs(fraction[fine]) * 2.0**_BITS).astype(np.int64)
            # The lowest set bit is a power of two, hence a double without error, and its exponent is its place.
            zeros = np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1
            lowest_bit = min(lowest_bit, int((exponent[fine] - _BITS + zeros).min(initial=2000)))
    if highest < lowest:  # all weights are zero
        return 0, 0, 0
    return lowest_bit, lowest, highest


class _Grid:
    """Sums at nodes, level by level: level k holds multiples of ``2**(-step*(k+1))``, as doubles without error."""

    def __init__(self, nodes: int, step: int) -> None:
        self.nodes = nodes
        self.step = step
        self.levels: list[_Floats] = []

    def add(self, tail: _Ints, head: _Ints, weights: _Floats, sign: int) -> None:
        """Add the squares of weights of absolute value below 1 at their heads, `sign` times those at their tails."""
        high, low = _exact_squares(weights)
        tails, heads = _Runs(tail), _Runs(head)
        has_low = bool(low.any())  # squares of single-precision weights do not round
        piece, rest = np.empty_like(high), np.empty_like(low)
        k = 0
        while has_low or high.any():
            if k == len(self.levels):
                self.levels.append(np.zeros(self.nodes))
            # Adding and subtracting 1.5 * 2^52 units rounds to whole units; what is left is at most half a unit.
            shift = 1.5 * 2.0 ** (_BITS - 1 - self.step * (k + 1))
            np.add(high, shift, out=piece)
            piece -= shift
            high -= piece
            if has_low and k > 0:  # errors are below 2^-53, half a unit of level 0 or less
                np.add(low, shift, out=rest)
                rest -= shift
                low -= rest
                piece += rest
                has_low = bool(low.any())
            heads.add(self.levels[k], piece)
            tails.add(self.levels[k], piece if sign > 0 else -piece)
            k += 1

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


def _exact_squares(weights: _Floats) -> tuple[_Floats, _Floats]:
    """Return the rounded squares and their rounding errors; neither overflows nor underflows for 2^-200 ≤ |w| < 1."""
    upper = weights * _SPLITTER
    upper -= upper - weights
    lower = weights - upper
    square = weights * weights
    if not lower.any():  # at most 26 bits, as in single precision
        return square, lower
    # Each product of halves has at most 53 bits, and each difference and sum below is exact.
    error = upper * upper
    error -= square
    upper *= lower
    upper += upper
    error += upper
    lower *= lower
    error += lower
    return square, error
