"""The spread of swap costs over masks against all masks listed one by one."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from lakatos.core import InputError
from lakatos.numerics.masks import swap_spread
from lakatos.theory.mask_spread import difference_square, first_order_variance, swap_variance

TILTED = ((Fraction(3, 5), Fraction(-4, 5)), (Fraction(4, 5), Fraction(3, 5)))
A, B = (Fraction(1), Fraction(1, 2)), (Fraction(-1), Fraction(1))


def listed(copies: int, keep: float) -> tuple[float, float]:
    """Variances of the swap cost (given that both S are invertible) and of its first-order term, over all masks."""
    U = np.repeat(np.array(TILTED, float), copies, axis=0) / math.sqrt(copies)
    a, b = np.array(A, float), np.array(B, float)
    chances, exact, linear = [], [], []
    for mask in product((0, 1), repeat=len(U)):
        S = (U.T * mask) @ U
        chances.append(keep ** sum(mask) * (1 - keep) ** (len(U) - sum(mask)))
        is_invertible = np.linalg.matrix_rank(S) == 2
        exact.append(b @ np.linalg.inv(S) @ b - a @ np.linalg.inv(S) @ a if is_invertible else np.nan)
        linear.append((a @ S @ a - b @ S @ b) / keep**2)
    found = []
    for values in (np.array(exact), np.array(linear)):
        there = ~np.isnan(values)
        weights = np.array(chances)[there] / np.array(chances)[there].sum()
        found.append(2 * float(weights @ (values[there] - weights @ values[there]) ** 2))
    return found[0], found[1]


@pytest.mark.parametrize("copies", [1, 2, 4])
@pytest.mark.parametrize("keep", [Fraction(1, 2), Fraction(3, 4)])
def test_variances_are_those_over_all_masks(copies: int, keep: Fraction) -> None:
    exact, linear = listed(copies, float(keep))
    assert swap_variance(TILTED, copies, keep, A, B) == pytest.approx(exact, abs=1e-12)
    assert float(first_order_variance(TILTED, copies, keep, A, B)) == pytest.approx(linear, rel=1e-12)


def test_spread_follows_the_root_of_coherence() -> None:
    """Reference values of the theory for exact copies, μ = ½: features from N(0, 1) average to 8 times √ν to first order."""
    axes = ((Fraction(1), Fraction(0)), (Fraction(0), Fraction(1)))
    half = Fraction(1, 2)
    ratios = [math.sqrt(swap_variance(axes, c, half, A, B) * c) for c in (32, 64)]
    limit = math.sqrt(first_order_variance(axes, 1, half, A, B))
    # What is left is of relative order 1/c.
    assert 2 < (ratios[0] - limit) / (ratios[1] - limit) < 2.5
    # E Σ_l (a_l² − b_l²)² = 2 · 4, so that the root mean square over features is √(2 · 4 · 8) = 8.
    rng = np.random.default_rng(0)
    mean = np.mean([16 * ((x**2 - y**2) ** 2).sum() * 0.5 for x, y in rng.standard_normal((100000, 2, 2))])
    assert math.sqrt(mean) == pytest.approx(8, rel=0.02)


def test_square_of_the_difference() -> None:
    a, b = np.array(A, float), np.array(B, float)
    assert float(difference_square(A, B)) == pytest.approx(((np.outer(a, a) - np.outer(b, b)) ** 2).sum())


def test_too_many_counts_are_refused() -> None:
    with pytest.raises(InputError, match="copies=100"):
        swap_variance(TILTED, 100, Fraction(1, 2), A, B)


def test_masks_of_fixed_size_keep_as_many() -> None:
    """With one direction only, S = μ for all of them, and nothing spreads."""
    U, one, none = np.repeat([[1.0]], 8, axis=0) / math.sqrt(8), np.array([1.0]), np.array([0.0])
    assert swap_spread(U, 0.25, one, none, samples=100, seed=0).spread.value > 0.1
    assert swap_spread(U, 0.25, one, none, samples=100, seed=0, is_fixed_size=True).spread.value < 1e-12
