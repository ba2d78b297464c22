"""Exact sums of squares of floating-point numbers, vectorized.

A double is an integer times a power of two, so a sum of squares is one big integer times a power of two. The integer is
accumulated in limbs of 27 bits held in int64; no operation below rounds or overflows, and the comments say why.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["MOST_LIMBS", "limb_count", "signed_square_sums"]

MOST_LIMBS = 1 << 25
"""Largest number of limbs (nodes times limbs per node) worth allocating: 256 MiB."""

_LIMB = 27
_MASK = (1 << _LIMB) - 1
_DIGITS = 5
_CHUNK = 1 << 14  # weights at a time: all temporaries stay in the cache

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


def limb_count(weights: _Floats) -> tuple[int, int]:
    """Return the limbs per node and the fraction bits k that `signed_square_sums` needs.

    Every weight is an integer multiple of ``2**-k``, k ≥ 0 as small as possible. `weights` must be finite.

    Examples
    --------
    >>> limb_count(np.array([1.0, 0.75]))
    (5, 2)
    """
    lowest, highest = 0, 0
    for start in range(0, len(weights), _CHUNK):
        odd, exponent = _odd_mantissas(weights[start : start + _CHUNK])
        lowest = min(lowest, int(exponent.min(where=odd > 0, initial=0)))
        highest = max(highest, int(exponent.max(where=odd > 0, initial=0)))
    return 2 * (highest - lowest) // _LIMB + _DIGITS, -lowest


def signed_square_sums(tail: _Ints, head: _Ints, weights: _Floats, nodes: int, limbs: int, bits: int) -> list[int]:
    """Return ``4**bits`` times (incoming minus outgoing squared weight) of each node, exactly.

    Shapes: `tail`, `head`, `weights` (m,) with m < 2³⁵; the result has `nodes` entries. `limbs` and `bits` come from
    `limb_count` of the same weights.

    Examples
    --------
    >>> signed_square_sums(np.array([0, 1]), np.array([1, 2]), np.array([1.0, 0.75]), 3, *limb_count(np.array([1.0, 0.75])))
    [-16, 7, 9]
    """
    # Each entry receives at most one digit below 2^27 per edge and direction: |sum| < 2^35 * 2^27 = 2^62.
    sums = np.zeros(nodes * limbs, np.int64)
    for start in range(0, len(weights), _CHUNK):
        part = slice(start, start + _CHUNK)
        place, digits = _square_digits(weights[part], bits)
        into, out_of = head[part] * limbs + place, tail[part] * limbs + place
        for j, digit in enumerate(digits):
            np.add.at(sums, into + j, digit)
            np.subtract.at(sums, out_of + j, digit)
    totals = [0] * nodes
    table = sums.reshape(nodes, limbs)
    for v in np.flatnonzero(table.any(axis=1)).tolist():
        total = 0
        for limb in reversed(table[v].tolist()):
            total = (total << _LIMB) + limb
        totals[v] = total
    return totals


def _odd_mantissas(weights: _Floats) -> tuple[_Ints, _Ints]:
    """Return integers p and e with ``|weight| == p * 2**e`` and p odd, p < 2⁵³; zero is p = e = 0."""
    fraction, exponent = np.frexp(np.abs(weights))
    # A double has at most 53 significant bits, denormals fewer, so the product is an integer below 2^53.
    mantissa = (fraction * 2.0**53).astype(np.int64)
    # The lowest set bit is a power of two, hence a double without error, and its exponent counts the trailing zeros.
    zeros = np.where(mantissa > 0, np.frexp((mantissa & -mantissa).astype(np.float64))[1] - 1, 0).astype(np.int64)
    return mantissa >> zeros, np.where(mantissa > 0, exponent.astype(np.int64) - 53 + zeros, 0)


def _square_digits(weights: _Floats, bits: int) -> tuple[_Ints, list[_Ints]]:
    """Return, per weight, the limb at which ``(weight * 2**bits)**2`` starts, and its five digits from there upwards."""
    odd, exponent = _odd_mantissas(weights)
    # `bits` is chosen so that exponent + bits >= 0: the square is an integer, shifted by `place` limbs and `rest` bits.
    place, rest = np.divmod(2 * (exponent + bits), _LIMB)
    high, low = odd >> _LIMB, odd & _MASK  # high < 2^26, low < 2^27
    first = low * low  # < 2^54
    second = 2 * high * low + (first >> _LIMB)  # < 2^54 + 2^27
    third = high * high + (second >> _LIMB)  # < 2^52 + 2^28
    unshifted = [first & _MASK, second & _MASK, third & _MASK, third >> _LIMB, np.zeros_like(odd)]
    digits: list[_Ints] = []
    carry = np.zeros_like(odd)
    for limb in unshifted:
        # limb < 2^27, rest <= 26 and carry < 2^27: the sum stays below 2^54, so the next carry is below 2^27 again.
        shifted = (limb << rest) + carry
        digits.append(shifted & _MASK)
        carry = shifted >> _LIMB
    # The square is below 2^106 and its shift below 2^132 < 2^135, so five digits hold it and the last carry is 0.
    return place, digits
