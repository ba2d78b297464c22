"""How much the cost of a swap spreads over random masks: to first order, and exactly for inputs that come in copies.

A neuron whose mask has Gram matrix S adds ± h(S) to the cost of the swap of two features a, b, with h(S) = bᵀ S⁻¹ b −
aᵀ S⁻¹ a.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product as combinations

from ..core import InputError
from .matrices import Rows, Vector, dot, inverse, scaled_gram, square

__all__ = ["MOST_STATES", "difference_square", "first_order_variance", "swap_variance"]

MOST_STATES = 5000
"""How many counts of kept copies are listed at most."""


def difference_square(a: Vector, b: Vector) -> Fraction:
    """Return ‖aaᵀ − bbᵀ‖² = ‖a‖⁴ + ‖b‖⁴ − 2⟨a, b⟩².

    Examples
    --------
    >>> difference_square((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    Fraction(2, 1)
    """
    return square(a) ** 2 + square(b) ** 2 - 2 * dot(a, b) ** 2


def first_order_variance(U: Rows, copies: int, keep: Fraction, a: Vector, b: Vector) -> Fraction:
    """Return 2μ⁻³(1 − μ) Σ_l (u_lᵀ B u_l)²/c, the variance of μ⁻²⟨E_i − E_j, B⟩, B = aaᵀ − bbᵀ, for c copies of every input.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> first_order_variance(((one, zero), (zero, one)), 4, Fraction(1, 2), (one, zero), (zero, one))
    Fraction(4, 1)
    """
    parts = [dot(u, a) ** 2 - dot(u, b) ** 2 for u in U]
    return 2 * (1 - keep) / keep**3 * square(tuple(parts)) / copies


def swap_variance(U: Rows, copies: int, keep: Fraction, a: Vector, b: Vector) -> float:
    """Return the variance of the swap cost for two independent masks, given that both Gram matrices are invertible.

    All counts of kept copies are listed, with their binomial probabilities.

    Raises
    ------
    InputError
        If there are too many.

    Examples
    --------
    >>> swap_variance(((Fraction(1),),), 2, Fraction(1, 2), (Fraction(1),), (Fraction(0),))
    0.4444444444444444
    """
    if (copies + 1) ** len(U) > MOST_STATES:
        raise InputError(
            f"copies={copies!r}: {copies + 1} counts for each of {len(U)} rows of U; at most {MOST_STATES} in all are listed"
        )
    chances = [math.comb(copies, j) * keep**j * (1 - keep) ** (copies - j) for j in range(copies + 1)]
    values, weights = [], []
    for counts in combinations(range(copies + 1), repeat=len(U)):
        S = scaled_gram(U, tuple(Fraction(j, copies) for j in counts))
        if (inverted := inverse(S)) is not None:
            values.append(float(_form(inverted, b) - _form(inverted, a)))
            weights.append(float(math.prod(chances[j] for j in counts)))
    total = math.fsum(weights)
    mean = math.fsum(w * x for w, x in zip(weights, values, strict=True)) / total
    return 2 * math.fsum(w * (x - mean) ** 2 for w, x in zip(weights, values, strict=True)) / total


def _form(matrix: Rows, x: Vector) -> Fraction:
    return dot(x, (dot(row, x) for row in matrix))
