"""Costs, assignments, chords, masks and frequencies in float64, against exact values, brute force and each other."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, norm

from lakatos import numerics, theory
from lakatos.core import InputError
from lakatos.numerics.realization import Costs, FloatArray, floats, least_norm_costs, realization_costs, swap_costs
from lakatos.testing import featured_layers
from lakatos.theory.layers import FeatureFields


def random_layer(seed: int, m: int, n: int, k: int, keep: float = 0.6) -> tuple[FloatArray, ...]:
    generator = np.random.default_rng(seed)
    U = numerics.subspaces.random_basis(n, k, seed)
    D = (generator.random((m, n)) < keep).astype(np.float64)
    F = generator.standard_normal((m, n))
    return F, D, U, (F + D * generator.standard_normal((m, n))) @ U


def agrees(found: Costs, exact: Any) -> None:
    for i, row in enumerate(exact):
        for j, cost in enumerate(row):
            value, error = found.values[i, j], found.errors[i, j]
            assert not math.isinf(error)
            assert value == cost if math.isinf(cost) else abs(value - float(cost)) <= error


@given(featured_layers())
def test_costs_agree_with_exact_ones_within_the_stated_error(fields: dict[str, Any]) -> None:
    parts = {key: tuple(tuple(map(Fraction, row)) for row in fields[key]) for key in ("F", "D", "U", "A")}
    subject = FeatureFields(**parts)
    exact = theory.realization.cost_table(subject, subject.A).costs
    arrays = [floats(parts[key]) for key in ("F", "D", "U", "A")]
    agrees(realization_costs(*arrays), exact)
    agrees(least_norm_costs(*arrays), exact)


def test_infinite_costs_name_a_violated_coordinate() -> None:
    found = realization_costs([[0.0, 0]], [[0.0, 1]], np.eye(2), [[1.0, 5], [0, 5]])
    assert found.values.tolist() == [[math.inf, 25.0]]
    assert found.witness.tolist() == [[0, -1]]


def test_singular_value_at_the_rank_cut_is_not_decided() -> None:
    found = realization_costs([[0.0, 0]], [[1.0, 2e-14]], np.eye(2), [[1.0, 1]])
    assert found.undecided.all()
    # The Gram matrix has condition number 1e16, the matrix itself 1e8.
    clear = realization_costs([[0.0, 0]], [[1.0, 1e-8]], np.eye(2), [[0.0, 1]])
    assert clear.values[0, 0] == pytest.approx(1e16)
    assert not clear.undecided.any()


def test_chunks_do_not_change_costs(monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = random_layer(0, 12, 10, 4)
    whole = realization_costs(*arrays)
    monkeypatch.setattr(numerics.realization, "_CHUNK_BYTES", 1)
    assert np.array_equal(realization_costs(*arrays).values, whole.values)


@pytest.mark.parametrize("seed", range(20))
def test_margin_is_the_least_sensitivity(seed: int) -> None:
    costs = realization_costs(*random_layer(seed, 5, 9, 3)).values
    found = numerics.assignments.assignment_margin(costs)
    others = numerics.assignments.sensitivities(costs)
    del others[tuple(range(5))]
    assert found.margin == pytest.approx(min(others.values()), abs=found.error)


def test_cycles_of_weight_zero_leave_a_margin_of_zero() -> None:
    # Equal rows: every cycle weighs 0 up to rounding, which must not pile up along shortest paths.
    features = np.random.default_rng(3).standard_normal(80) ** 2
    found = numerics.assignments.assignment_margin(np.tile(features, (80, 1)))
    assert abs(found.margin) <= found.error < 1e-9


def test_forbidden_assignments_give_an_infinite_margin() -> None:
    found = numerics.assignments.assignment_margin(np.array([[1.0, math.inf], [2.0, 3.0]]))
    assert found.margin == math.inf
    assert found.identity_optimal
    assert numerics.assignments.assignment_margin(np.array([[1.0]])).margin == math.inf


def test_swap_costs_are_symmetric_and_may_be_negative() -> None:
    swaps = swap_costs(np.array([[1.0, 0.0], [0.0, 1.0]]))
    assert swaps.tolist() == [[0.0, -2.0], [-2.0, 0.0]]


@given(st.integers(0, 10_000), st.integers(2, 5), st.sampled_from(["1/8", "1/2", "7/9"]))
def test_quadrature_agrees_with_the_closed_form(seed: int, k: int, weight: str) -> None:
    ends = np.random.default_rng(seed).integers(-9, 10, (2, k))
    exact = [tuple(Fraction(int(x)) for x in end) for end in ends]
    closed = theory.chords.mean_square(exact[0], exact[1], Fraction(weight))
    value, error = numerics.chords.gaussian_mean_square(*ends.astype(float), float(Fraction(weight)))
    assert value == pytest.approx(closed, abs=error + 1e-15 * closed)


def test_sampling_agrees_with_the_closed_form() -> None:
    x0, x1 = np.array([[1.2, 0.3, 0]]), np.array([[0.7, -0.5, 0.4]])
    found = numerics.chords.sampled_mean_square(x0, x1, 0.3, samples=200_000, seed=0)
    value, _ = numerics.chords.gaussian_mean_square(x0[0], x1[0], 0.3)
    assert abs(found.value - value) <= found.error < 0.05 * value


def test_deviation_of_gelu_is_of_second_order() -> None:
    points = np.random.default_rng(0).standard_normal((20_000, 3))
    fixed, shift = np.eye(3), np.roll(np.eye(3), 1, axis=1)
    roots = [
        math.sqrt(numerics.chords.deviation_on_points(fixed + b * shift, fixed - b * shift, 0.5, points, "gelu"))
        for b in (0.02, 0.01)
    ]
    assert math.log2(roots[0] / roots[1]) == pytest.approx(2, abs=0.01)  # 2 + O(β²)


def test_unaligned_bound_is_infinite_beyond_its_range() -> None:
    betas, bound = numerics.chords.unaligned_bound(np.array([[2.0], [0.0]]), np.array([[[1.0], [0.0]]]))
    assert betas.tolist() == [0.5, 0.0]
    assert bound == pytest.approx(0.5**1.5 * 2 / math.sqrt(3 * math.pi))
    assert numerics.chords.unaligned_bound(np.array([[1.0]]), np.array([[[2.0]]]))[1] == math.inf
    assert numerics.chords.unaligned_bound(np.array([[0.0]]), np.array([[[2.0]]]))[0].tolist() == [math.inf]


def test_barriers_by_hand() -> None:
    curve = np.array([1.0, 4.0, 3.0])
    assert numerics.barriers.barrier(curve).value == 2
    assert numerics.barriers.barrier(curve, "above_mean").value == 2
    assert numerics.barriers.barrier(curve, "midpoint_above_worse").value == 1
    assert numerics.barriers.barrier(np.array([80.0, 60, 100]), "relative_accuracy").value == -40
    tilted = numerics.barriers.barrier(np.array([0.0, 0.0, 4.0]))
    assert (tilted.value, tilted.at) == (0, 0)
    assert numerics.barriers.barrier(np.array([0.0, 1.5, 4.0]), "above_mean").value == 2


@pytest.mark.parametrize("kind", ["linear", "affine"])
def test_subspace_of_exact_data_is_found(kind: Any) -> None:
    generator = np.random.default_rng(0)
    U = numerics.subspaces.random_basis(12, 3, 1)
    X = generator.standard_normal((40, 3)) @ U.T
    found = numerics.subspaces.data_subspace(X + (U[:, 0] if kind == "affine" else 0), kind=kind, explained=1.0)
    assert found.dimension == 3
    assert found.outside < 1e-12
    assert numerics.subspaces.coherence(found.basis) == pytest.approx(numerics.subspaces.coherence(U), rel=1e-12)


@given(st.integers(0, 20), st.floats(0, 1))
def test_clopper_pearson_misses_rarely(successes: int, chance: float) -> None:
    found = numerics.frequencies.clopper_pearson(successes, 20)
    if abs(found.value - chance) > found.error:
        tail = min(binom.cdf(successes, 20, chance), binom.sf(successes - 1, 20, chance))
        assert tail <= numerics.frequencies.FALSE_ALARM_RATE / 2


def test_kolmogorov_smirnov_tells_laws_apart() -> None:
    samples = np.random.default_rng(0).standard_normal(500)
    right = numerics.frequencies.kolmogorov_smirnov(samples, norm.cdf)
    wrong = numerics.frequencies.kolmogorov_smirnov(samples, lambda x: norm.cdf(2 * x))
    assert right.value < right.error < wrong.value


def test_listed_and_sampled_masks_have_one_quantile(monkeypatch: pytest.MonkeyPatch) -> None:
    U = numerics.subspaces.random_basis(8, 2, 0)
    listed, is_listed = numerics.masks.anisotropy_quantile(U, 0.7, 0.1, samples=0, seed=0)
    monkeypatch.setattr(numerics.masks, "_MOST_ENUMERATED", 0)
    sampled, is_sampled = numerics.masks.anisotropy_quantile(U, 0.7, 0.1, samples=20_000, seed=0)
    assert is_listed
    assert not is_sampled
    assert abs(listed.value - sampled.value) <= sampled.error < 0.05


def test_least_angle_is_that_of_the_tangent() -> None:
    found = numerics.directions.least_angles(np.array([[1.0, 0.0]]), np.array([0.0, 1.0]), 0.5)
    assert found[0] == pytest.approx(math.pi / 2 - math.asin(0.5), abs=1e-6)  # on a grid of 4097 angles


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: realization_costs([[1.0]], [[1.0]], [[2.0]], [[1.0]]), "UᵀU differs"),
        (lambda: realization_costs([[1.0]], [[1.0]], [[1.0, 0.0]], [[1.0, 0.0]]), "k=2"),
        (lambda: realization_costs([[math.nan]], [[1.0]], [[1.0]], [[1.0]]), "F\\[0, 0\\]=nan"),
        (lambda: realization_costs([[1.0, 2.0]], [[1.0]], [[1.0]], [[1.0]]), "are needed"),
        (lambda: swap_costs(np.array([[math.inf]])), "own feature"),
        (lambda: numerics.assignments.assignment_margin(np.array([[math.inf]])), "finite diagonal"),
        (lambda: numerics.assignments.best_assignment(np.array([[math.inf]])), "no assignment"),
        (lambda: numerics.subspaces.data_subspace([[math.nan]]), "not finite"),
        (lambda: numerics.subspaces.data_subspace([[0.0, 0.0]]), "zero or constant"),
        (lambda: numerics.subspaces.random_basis(2, 3, 0), "k=3"),
        (lambda: numerics.barriers.barrier(np.array([1.0, 2.0])), "three"),
        (lambda: numerics.barriers.barrier(np.array([1.0, 2, 3]), "height"), "definition="),  # type: ignore[arg-type]
        (lambda: numerics.frequencies.clopper_pearson(3, 2), "successes=3"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_error_of_costs_where_the_center_cancels() -> None:
    F, D, U = np.array([[0.0, 0.0], [4.0, -3.0]]), np.ones((2, 2)), np.array([[0.6], [0.8]])
    probes = np.geomspace(1e-12, 1, 25)[:, None]
    costs = least_norm_costs(F, D, U, probes)
    # Exactly, both centers are 0, and the costs are a².
    assert (np.abs(costs.values - probes[:, 0] ** 2) <= costs.errors).all()
