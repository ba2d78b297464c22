"""Expected values, edges and invariances of the theory of identifiability, each against a computation of its own."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linear_sum_assignment

from lakatos.instance import build_instance
from lakatos.testing import featured_layers
from lakatos.theory.chords import mean_square
from lakatos.theory.layers import FeatureFields
from lakatos.theory.mask_spread import swap_variance
from lakatos.theory.matrices import product
from lakatos.theory.realization import cost_table
from lakatos.theory.separation import median_separation

ROTATION = ((Fraction(3, 5), Fraction(-4, 5)), (Fraction(4, 5), Fraction(3, 5)))


# Realization costs ----------------------------------------------------------------------------------------------------


@given(featured_layers(max_dimension=2))
def test_costs_do_not_depend_on_the_orthonormal_basis(fields: dict[str, Any]) -> None:
    layer = build_instance(FeatureFields, fields)
    if layer.k != 2:
        return
    turned = FeatureFields(U=product(layer.U, ROTATION), F=layer.F, D=layer.D, A=product(layer.A, ROTATION))
    assert cost_table(turned, turned.A).costs == cost_table(layer, layer.A).costs


@given(featured_layers(max_dimension=2))
def test_general_bases_take_features_and_grams_of_their_own(fields: dict[str, Any]) -> None:
    """With B = U R the features are Bᵀ w and the Gram matrices Bᵀ diag(d²) B."""
    layer = build_instance(FeatureFields, fields)
    R = tuple(tuple(Fraction(i == j) + Fraction(2 * (j > i)) for j in range(layer.k)) for i in range(layer.k))
    skewed = FeatureFields(U=product(layer.U, R), F=layer.F, D=layer.D, A=product(layer.A, R))
    assert cost_table(skewed, skewed.A).costs == cost_table(layer, layer.A).costs


@given(featured_layers(), st.integers(1, 3))
def test_dearer_weights_act_like_smaller_scales(fields: dict[str, Any], root: int) -> None:
    """The penalty Σ λ_l w_l² is met by d_l/√λ_l: with one λ for all, costs are λ times as high."""
    layer = build_instance(FeatureFields, fields)
    scaled = FeatureFields(U=layer.U, F=layer.F, D=tuple(tuple(d / root for d in row) for row in layer.D), A=layer.A)
    for row, dear in zip(cost_table(layer, layer.A).costs, cost_table(scaled, layer.A).costs, strict=True):
        assert dear == tuple(x * root**2 for x in row)


# Separation of centers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "slope", "within"), [(32, -0.0896, 5e-4), (1, -2.0, 0.015)])
def test_slopes_of_the_separation_at_finite_width(k: int, slope: float, within: float) -> None:
    """From m = 32 to 512 the exact law is far from the asymptotic exponent −2/k where k is large."""
    widths = np.array([32, 64, 128, 256, 512])
    medians = [median_separation(int(m), k) for m in widths]
    assert np.polyfit(np.log(widths), np.log(medians), 1)[0] == pytest.approx(slope, abs=within)


# Masks ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("copies", "value"), [(256, 8.16), (8, 14.5)])
def test_spread_of_swap_costs_for_normal_features(copies: int, value: float) -> None:
    """k = 2, exact copies, μ = ½: the standard deviation over masks and features is 4 (c Var 1/s)^{1/2} times √ν."""
    variance = swap_variance(((Fraction(1),),), copies, Fraction(1, 2), (Fraction(1),), (Fraction(0),)) / 2
    assert 4 * math.sqrt(copies * variance) == pytest.approx(value, rel=5e-3)


@pytest.mark.parametrize("zeros", [1, 3, 6])
@pytest.mark.parametrize("failure", [0.5, 0.1, 0.01])
def test_masks_of_fixed_size_obey_the_bound_for_sampling_without_replacement(zeros: int, failure: float) -> None:
    """All masks with this many zeros among 12 inputs; b = 1, σ_D² = min(p, 1 − p)."""
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((12, 2)))[0]
    p, coherence = 1 - zeros / 12, float((U**2).sum(1).max())
    found = []
    for masked in combinations(range(12), zeros):
        kept = np.ones(12)
        kept[list(masked)] = 0
        found.append(np.abs(np.linalg.eigvalsh((U.T * kept) @ U - p * np.eye(2))).max())
    scale = coherence * math.log(4 / failure)
    bound = 2 / 3 * scale + math.sqrt(2 * min(p, 1 - p) * scale)
    assert np.mean(np.array(found) > bound) <= failure


# Merging --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [2, 3, 4, 6, 9])
def test_four_radii_are_sharp_on_polygons(m: int) -> None:
    """Runs turned by a little more than π/m from each other prefer the shift, at s/r just below 4cos(π/2m)."""
    corners = np.exp(2j * np.pi * np.arange(m) / m)
    side = abs(corners[1] - corners[0])
    for angle, prefers_shift in ((np.pi / (2 * m) + 1e-4, True), (np.pi / (2 * m) - 1e-4, False)):
        # The nearest point to a corner on the ray turned by the angle.
        first, second = (corners * np.cos(angle) * np.exp(sign * 1j * angle) for sign in (1, -1))
        radius = np.abs(first - corners).max()
        assert side / radius == pytest.approx(4 * np.cos(np.pi / (2 * m)), abs=2e-3 * m)
        chosen = linear_sum_assignment(np.abs(first[:, None] - second[None]) ** 2)[1]
        assert (chosen != np.arange(m)).all() == prefers_shift


# Chord deviations -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("beta", "ratio"), [(1.0, 0.984), (0.5, 1 - 0.25 / 60), (0.1, 1 - 0.01 / 60)])
def test_largest_deviation_is_close_to_its_bound(beta: float, ratio: float) -> None:
    """The supremum over displacements of length β is about 1 − β²/60 times β^{3/2}/√(3π); at β = 1 it is 0.984."""
    largest = 0.0
    for turn in np.linspace(0.5, 1, 101) * math.pi:
        t = (Fraction(beta * math.cos(turn)), Fraction(beta * math.sin(turn)))
        largest = max(largest, mean_square((1 + t[0], t[1]), (1 + t[0], -t[1]), Fraction(1, 2)))
    for turn in np.linspace(0.0, 0.5, 101) * math.pi:
        t = (Fraction(beta * math.cos(turn)), Fraction(beta * math.sin(turn)))
        largest = max(largest, mean_square((1 + t[0], t[1]), (1 + t[0], -t[1]), Fraction(1, 2)))
    assert math.sqrt(largest * 3 * math.pi / beta**3) == pytest.approx(ratio, abs=1e-3)


# Random features ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "error"), [(10, 0.011), (20, 0.086), (40, 0.134), (80, 0.172)])
def test_best_fit_of_a_neuron_by_a_hundred_random_ones(k: int, error: float) -> None:
    """Reference values of the theory are of one draw: within two standard deviations, by the arc-cosine kernel."""

    def kernel(cosines: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        angle = np.arccos(np.clip(cosines, -1, 1))
        return (np.sin(angle) + (np.pi - angle) * np.cos(angle)) / (2 * np.pi)

    errors = []
    for seed in range(50):
        rows = np.random.default_rng(seed).standard_normal((101, k))
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        K = kernel(rows @ rows.T)
        errors.append(0.5 - K[0, 1:] @ np.linalg.solve(K[1:, 1:], K[1:, 0]))
    assert abs(np.mean(errors) - error) < 2 * np.std(errors)
