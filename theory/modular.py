"""Linear algebra modulo the prime 2²⁶ − 5, at array speed.

A sum of 2048 products of two residues stays below 2⁶³, so matrix products are cut into pieces of that length. A rank modulo a
prime is a lower bound of the rank over ℚ: a minor that is not 0 modulo a prime is not 0.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .._checker_laws import PRIME

__all__ = ["PRIME", "Echelon", "Residues", "fraction_of", "matmul_mod", "null_space", "random_residues", "rank"]

Residues: TypeAlias = NDArray[np.int64]

_TERMS = 2048
_HALF = 13  # bits: halves of a residue times a residue have 39, so that doubles add up 2¹⁴ of them without rounding
_EXACT = 1 << 14
_LARGE = 1 << 17  # products of entries from which on matrices of doubles, halved and exact, are faster than integers


def matmul_mod(a: Residues, b: Residues) -> Residues:
    """Return the matrix product of residues."""
    if a.ndim == b.ndim == 2 and a.size * b.shape[1] >= _LARGE:
        return _large_product(a, b)
    total = np.zeros((*np.broadcast_shapes(a.shape[:-2], b.shape[:-2]), a.shape[-2], b.shape[-1]), np.int64)
    for k in range(0, a.shape[-1], _TERMS):
        total = (total + a[..., k : k + _TERMS] @ b[..., k : k + _TERMS, :]) % PRIME
    return total


def _large_product(a: Residues, b: Residues) -> Residues:
    total = np.zeros((a.shape[0], b.shape[1]), np.int64)
    for k in range(0, a.shape[1], _EXACT):
        left, right = a[:, k : k + _EXACT], b[k : k + _EXACT].astype(np.float64)
        high = ((left >> _HALF).astype(np.float64) @ right).astype(np.int64) % PRIME
        low = ((left & ((1 << _HALF) - 1)).astype(np.float64) @ right).astype(np.int64)
        total = (total + (high << _HALF) + low) % PRIME
    return total


def random_residues(generator: np.random.Generator, *shape: int) -> Residues:
    """Return uniform residues."""
    return generator.integers(0, PRIME, shape, dtype=np.int64)


class Echelon:
    """A growing set of independent rows in reduced echelon form."""

    def __init__(self, width: int) -> None:
        self._rows = np.zeros((0, width), np.int64)
        self._pivots: list[int] = []

    @property
    def rank(self) -> int:
        """Number of independent rows so far."""
        return len(self._pivots)

    @property
    def pivots(self) -> list[int]:
        """Pivot column of each row of `rows`."""
        return self._pivots

    @property
    def rows(self) -> Residues:
        """The reduced rows; the pivot columns hold the identity."""
        return self._rows

    def add(self, rows: Any, limit: int | None = None) -> list[int]:
        """Return the positions of the rows that raised the rank, in order, after adding `rows`; stop at rank `limit`."""
        new = np.asarray(rows, np.int64) % PRIME
        if self.rank:
            new = (new - matmul_mod(new[:, self._pivots], self._rows)) % PRIME
        raised = []
        for i in range(len(new)):
            if limit is not None and self.rank >= limit:
                break
            columns = np.flatnonzero(new[i])
            if not columns.size:
                continue
            pivot = int(columns[0])
            row = new[i] * pow(int(new[i, pivot]), -1, PRIME) % PRIME
            for block in (self._rows, new[i + 1 :]):
                hit = np.flatnonzero(block[:, pivot])
                block[hit] = (block[hit] - block[hit, pivot, None] * row) % PRIME
            self._rows = np.concatenate([self._rows, row[None]])
            self._pivots.append(pivot)
            raised.append(i)
        return raised


def rank(matrix: Any) -> int:
    """Return the rank modulo the prime.

    Examples
    --------
    >>> rank([[1, 2], [2, 4], [0, 1]])
    2
    """
    array = np.asarray(matrix, np.int64)
    echelon = Echelon(array.shape[1])
    echelon.add(array)
    return echelon.rank


def null_space(matrix: Any) -> Residues:
    """Return a basis of {x : matrix x = 0} as rows, in reduced echelon form read from the right.

    Examples
    --------
    >>> null_space([[1, 1, 0], [0, 0, 1]]).tolist()
    [[67108858, 1, 0]]
    """
    array = np.asarray(matrix, np.int64)
    width = array.shape[1]
    echelon = Echelon(width)
    echelon.add(array)
    free = sorted(set(range(width)) - set(echelon.pivots))
    basis = np.zeros((len(free), width), np.int64)
    basis[range(len(free)), free] = 1
    if echelon.rank and free:
        basis[:, echelon.pivots] = (-echelon.rows[:, free].T) % PRIME
    return basis


def fraction_of(residue: int) -> Fraction:
    """Return the fraction of least height that is congruent to `residue` (numerator and denominator below √(PRIME/2)).

    Examples
    --------
    >>> fraction_of(3 * pow(7, -1, PRIME))
    Fraction(3, 7)
    """
    bound = int((PRIME // 2) ** 0.5)
    r0, r1, s0, s1 = PRIME, residue % PRIME, 0, 1
    while r1 > bound:
        quotient = r0 // r1
        r0, r1, s0, s1 = r1, r0 - quotient * r1, s1, s0 - quotient * s1
    return Fraction(r1, s1)
