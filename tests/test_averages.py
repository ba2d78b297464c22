"""Groups, exact averages and lift groups, against sums, samples and expected values."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise, permutations, product
from typing import Any

import golden_laws as golden
import numpy as np
import pytest

from lakatos._checker_averages import lightning_potentials, network_potentials, sphere
from lakatos._checker_dynamics import systems
from lakatos._checker_groups import Action, action, elements, times
from lakatos._checker_lift import check_lift_group
from lakatos._checker_orbits import check_orbit_ranks
from lakatos._checker_polynomials import Polynomial
from lakatos._checker_surds import Surd, sqrt
from lakatos.core import Undecided
from lakatos.instance import build_instance
from lakatos.numerics.averaged_training import (
    Moments,
    averaged_moments,
    deep_linear_field,
    lightning_field,
    lightning_moments,
    rotated_quadratic_field,
)
from lakatos.numerics.haar import haar_orthogonal
from lakatos.numerics.rotation_averages import pairing_average
from lakatos.theorems import load
from lakatos.theory.exact_matrices import projection, rows
from lakatos.theory.lift_group import fixed_matrices, lift_group

ORDERS = {
    "C7": 7,
    "S4": 24,
    "S5": 120,
    "sign(3)": 2,
    "Q8": 8,
    "Heis3": 27,
    "extraspecial32": 32,
    "rotation(3)": 3,
    "rotation(4)": 4,
    "rotation(6)": 6,
    "octahedral": 24,
    "icosahedral": 60,
}


@pytest.mark.parametrize("name", ORDERS)
def test_orders_of_named_groups(name: str) -> None:
    assert len(elements(action(name))) == ORDERS[name]


def test_numbers_with_a_square_root() -> None:
    golden_ratio = (sqrt(5) + 1) * Fraction(1, 2)
    assert golden_ratio * golden_ratio == golden_ratio + 1
    assert float(golden_ratio) == pytest.approx(1.6180339887)
    assert isinstance(golden_ratio, Surd)
    with pytest.raises(ValueError, match="do not mix"):
        _ = sqrt(3) + sqrt(5)


@pytest.mark.parametrize("matrix", [((2, 0), (0, 1)), ((1, 1), (0, 1))])
def test_generators_have_to_be_orthogonal(matrix: Any) -> None:
    with pytest.raises(ValueError, match="not orthogonal"):
        Action(((matrix, ((1,),)),))


def value(p: Polynomial, point: Any) -> float:
    """A polynomial at a point."""
    return float(sum(float(c) * np.prod([point[i] for i in m]) for m, c in p.items()))


def test_average_over_all_rotations_by_sampling() -> None:
    """E (gx)_1⁴ and E (gx)_1² (gx)_2²; the mean of 20000 samples is off by less than five standard errors."""
    g = haar_orthogonal(np.random.default_rng(0), 3, 20_000)
    x = np.array([0.3, -1.2, 0.7])
    moved = g @ x
    for monomial in ((0, 0, 0, 0), (0, 0, 1, 1), (0, 1), (2, 2)):
        samples = np.prod([moved[:, i] for i in monomial], axis=0)
        exact = value(sphere(0, 3)(monomial), x)
        assert abs(samples.mean() - exact) <= 5 * samples.std() / 20_000**0.5


@pytest.mark.parametrize(("group", "sizes"), [("C3", (2, 3)), ("S3", (1, 2, 3)), ("Q8", (1, 4))])
def test_potentials_span_the_gradients_of_averaged_losses(group: str, sizes: tuple[int, ...]) -> None:
    """The gradient of the averaged loss on any data is a combination of those of the potentials."""
    act = action(group, labels=sizes[0])
    system = systems({"architecture": "linear", "sizes": sizes, "group": {"name": group}})["averaged"]
    dimensions = lift_group(act).dimensions
    assert len(system.potentials) == dimensions["dim_sym"] + dimensions["dim_hom"]
    generator = np.random.default_rng(1)
    theta = generator.standard_normal(system.dimension)
    basis = np.array([[value(field.get(i, {}), theta) for i in range(system.dimension)] for field in system.fields])
    maps = [tuple(np.array(m, float) for m in pair) for pair in elements(act)]
    shapes = list(pairwise(sizes))
    for _ in range(3):
        x, y = generator.standard_normal((4, sizes[-1])), generator.standard_normal((4, sizes[0]))
        moments = averaged_moments(x, y, [(g, h) for g, h in maps])
        gradient = deep_linear_field(moments, shapes)(theta)
        rest = gradient - basis.T @ np.linalg.lstsq(basis.T, gradient, rcond=None)[0]
        # Rounding of a least-squares problem of order one.
        assert np.abs(rest).max() <= 1e-10 * np.abs(gradient).max()


def test_lightning_potentials_span_the_gradients_of_averaged_losses() -> None:
    """Second moments averaged by projection on all fifteen pairings, against three polynomials in the Gram matrix."""
    generator = np.random.default_rng(0)
    theta = generator.standard_normal(12)
    potentials = lightning_potentials((4, 1, 1), output=False)[1]
    assert len(potentials) == 3
    basis = np.array([_numerical_gradient(p, theta) for p in potentials])
    moments = lightning_moments(generator.standard_normal((6, 3, 4)), generator.standard_normal((6, 3)))
    averaged = Moments(pairing_average(moments.a, 4), np.zeros_like(moments.b))
    # The parameters of the polynomials are Q, K, V one after the other, as here, since each has one column.
    gradient = lightning_field(averaged, 4)(theta)
    rest = gradient - basis.T @ np.linalg.lstsq(basis.T, gradient, rcond=None)[0]
    assert np.abs(rest).max() <= 1e-8 * np.abs(gradient).max()  # central differences leave 1e-10
    plain = lightning_field(moments, 4)(theta)
    rest = plain - basis.T @ np.linalg.lstsq(basis.T, plain, rcond=None)[0]
    assert np.abs(rest).max() > 1e-2 * np.abs(plain).max()


def _numerical_gradient(p: Polynomial, theta: Any) -> list[float]:
    return [(value(p, theta + 1e-5 * e) - value(p, theta - 1e-5 * e)) / 2e-5 for e in np.eye(len(theta))]


def test_pairings_average_like_samples() -> None:
    generator = np.random.default_rng(3)
    t = generator.standard_normal(27)
    a = np.outer(t, t)
    g = haar_orthogonal(generator, 3, 4000)
    moved = np.einsum("nai,nbj,nck,ijk->nabc", g, g, g, t.reshape(3, 3, 3)).reshape(4000, 27)
    sampled = moved.T @ moved / 4000
    # 1/√4000 per entry, times a few standard deviations of a tensor of order |t|².
    assert np.abs(sampled - pairing_average(a, 3)).max() <= 0.15 * np.abs(a).max()


def test_rotated_quadratic_gradient_is_that_of_its_potentials() -> None:
    generator = np.random.default_rng(0)
    x, y, theta = generator.standard_normal((5, 3)), generator.standard_normal(5), generator.standard_normal(8)
    potentials = network_potentials("power", (2, 2, 3), None, orthogonal=True)[1]
    basis = np.array([_numerical_gradient(p, theta) for p in potentials])
    gradient = rotated_quadratic_field(x, y, 2)(theta)
    rest = gradient - basis.T @ np.linalg.lstsq(basis.T, gradient, rcond=None)[0]
    assert len(potentials) == 2
    assert np.abs(rest).max() <= 1e-8 * np.abs(gradient).max()  # central differences leave 1e-10


@pytest.mark.parametrize(("name", "fields", "dimensions", "blocks"), golden.LIFT, ids=str)
def test_lift_groups(name: str, fields: dict[str, Any], dimensions: Any, blocks: Any) -> None:
    group = lift_group(action(name, **fields))
    assert tuple(group.dimensions.values()) == dimensions
    assert [(b.multiplicity, b.dimension, b.factor) for b in group.blocks] == blocks
    assert group.certificate is not None
    facts = check_lift_group({"group": {"name": name, **fields}}, group.certificate.to_json())
    assert facts == group.dimensions


@pytest.mark.parametrize(("name", "fields", "dimensions", "blocks"), golden.LIFT_LARGE, ids=str)
def test_lift_groups_of_third_tensor_powers(name: str, fields: dict[str, Any], dimensions: Any, blocks: Any) -> None:
    group = lift_group(action(name, **fields))
    assert tuple(group.dimensions.values()) == dimensions
    assert [(b.multiplicity, b.dimension, b.factor) for b in group.blocks] == blocks


@pytest.mark.parametrize("vector", [[1, 2, 0, 0], [17, -5, 11, 2], [101, 64, -9, 350]])
def test_lift_groups_do_not_depend_on_the_basis(vector: list[int]) -> None:
    """Bases of spaces of invariant matrices have numerators and denominators far beyond the prime of ranks then."""
    square = sum(x * x for x in vector)
    reflection = rows(
        [[int(i == j) - Fraction(2 * x * y, square) for j, y in enumerate(vector)] for i, x in enumerate(vector)]
    )
    for name in ("S4", "Q8"):
        turned = Action(tuple((times(times(reflection, g), reflection), h) for g, h in action(name).generators))
        found, expected = lift_group(turned), lift_group(action(name))
        assert (found.blocks, found.dimensions) == (expected.blocks, expected.dimensions)


def test_irrational_spaces_are_named() -> None:
    """The solutions are b (0, 1; 1, 0) + d (√5, 0; 0, 1), of which the rational ones have d = 0."""
    root = sqrt(5)
    with pytest.raises(Undecided, match="no rational basis"):
        fixed_matrices([(((0, root), (1, 0)), ((0, 1), (root, 0)))], symmetric=False)


@pytest.mark.parametrize(
    ("name", "copies"), [("C3", 1), ("C4", 1), ("S4", 1), ("Q8", 1), ("Heis3", 1), ("octahedral", 1)]
)
def test_types_by_the_sum_of_characters_of_squares(name: str, copies: int) -> None:
    """|G|⁻¹ Σ χ(g²) counts 1, 0, −2 for each irreducible of type ℝ, ℂ, ℍ (times multiplicity): another way to the types."""
    squares = [np.array([[float(e) for e in row] for row in g]) for g, _ in elements(action(name, copies=copies))]
    indicator = round(float(np.mean([np.trace(g @ g) for g in squares])))
    blocks = lift_group(action(name, copies=copies)).blocks
    assert indicator == sum({"R": 1, "C": 0, "H": -2}[b.type] * b.multiplicity for b in blocks)


def test_few_invariant_matrices_do_not_settle_the_lift_group() -> None:
    """Skew maps that commute with 1, 2, 3, 4 random ones of the six-dimensional space of Q8 on ℍ²: only four suffice."""
    bases = lift_group(action("Q8", copies=2)).bases
    symmetric = np.array([[float(entry) for entry in flat] for flat in bases["sym"]]).reshape(-1, 8, 8)
    chosen = np.einsum("ks,sij->kij", np.random.default_rng(0).standard_normal((4, len(symmetric))), symmetric)
    skew = [np.outer(a, b) - np.outer(b, a) for i, a in enumerate(np.eye(8)) for b in np.eye(8)[:i]]
    equations = np.array([[(a @ x - x @ a).ravel() for a in chosen] for x in skew])
    found = [28 - np.linalg.matrix_rank(equations[:, :k].reshape(28, -1)) for k in (1, 2, 3, 4)]
    assert found == [12, 6, 4, 3]
    assert len(bases["lie"]) == 3


def test_projection_is_orthogonal() -> None:
    basis = [rows([[1, 0], [0, 1]]), rows([[1, 1], [1, 0]])]
    matrix = rows([[3, 7], [-2, 5]])
    found = projection(matrix, basis)
    for element in basis:
        rest = sum(
            (m - f) * e for r, s, t in zip(matrix, found, element, strict=True) for m, f, e in zip(r, s, t, strict=True)
        )
        assert rest == 0


@pytest.mark.parametrize(("d", "independent"), [(2, 10), (3, 15)])
def test_pairings_are_dependent_in_the_plane(d: int, independent: int) -> None:
    """The average over O(d) is a projection, whose trace is the dimension of the invariants among six indices."""
    units = np.eye(d**6).reshape(-1, d**3, d**3)
    trace = sum(pairing_average(unit, d).ravel()[i] for i, unit in enumerate(units))
    assert trace == pytest.approx(independent)
    pairings = [np.einsum("ab,cd,ef->abcdef", *[np.eye(d)] * 3).transpose(p).ravel() for p in permutations(range(6))]
    assert np.linalg.matrix_rank(np.unique(pairings, axis=0)) == independent


def test_quadratic_units_see_less_than_all_invariant_moments() -> None:
    """x⊗x lies on a variety: two of three symmetric moments under the octahedral group, one of two under all rotations."""
    for act, orthogonal, potentials in ((action("octahedral"), False, 2 + 1), (None, True, 1 + 1)):
        assert len(network_potentials("power", (2, 1, 3), act, orthogonal=orthogonal)[1]) == potentials


def test_angle_in_the_plane_for_all_small_orders_and_degrees() -> None:
    theorem = load("plane_angle_conserved_iff_order_exceeds_degree")
    for order, degree in product(range(2, 9), range(2, 8)):
        instance = build_instance(theorem.instance_class, {"order": order, "degree": degree})
        (claim,) = theorem.predict(instance).claims
        assert claim.value == (1 if order > degree else 2)
        assert theorem.derive is not None
        assert theorem.derive(instance).residual == "0"


def numbers(count: int, seed: int, reach: int = 99) -> list[int]:
    """Integers, none of them zero."""
    drawn = np.random.default_rng(seed).integers(1, reach, count) * np.random.default_rng(seed + 1).choice(
        [-1, 1], count
    )
    return [int(n) for n in drawn]


@pytest.mark.parametrize(
    ("model", "sizes", "weights", "group", "inputs", "loss", "ranks"),
    [
        ("linear", [3], 3, "C3", 2, "logistic", (3, 3, 2)),
        ("linear", [3], 3, "C3", 2, "exponential", (3, 3, 2)),
        ("linear", [4], 4, "S4", 2, "logistic", (4, 4, 2)),
        ("relu", [4, 3], 16, "C3", 20, "logistic", (12, 12, 12)),
        ("relu", [4, 3], 16, "S3", 12, "logistic", (12, 12, 12)),
        ("power", [2, 2, 3], 8, "C3", 8, "logistic", (5, 5, 5)),
        ("power", [2, 2, 4], 10, "S4", 6, "logistic", (7, 7, 6)),
        ("power-bias", [3, 2, 3], 10, "C3", 10, "logistic", (8, 8, 8)),
        ("linear", [3], None, "C3", 4, "logistic", (3, 1, 1)),
        ("linear", [3], 3, "sign(3)", 4, "logistic", (3, 3, 3)),
        ("linear", [3], 3, "sign(3)", 4, "sigmoid", (3, 0, 3)),
    ],
)
def test_ranks_along_orbits(
    model: str, sizes: list[int], weights: int | None, group: str, inputs: int, loss: str, ranks: tuple[int, int, int]
) -> None:
    d = sizes[-1]
    fields = {
        "model": model,
        "sizes": sizes,
        "weights": [1] * d if weights is None else numbers(weights, 5, 9),
        "inputs": [numbers(d, 10 + 2 * i) for i in range(inputs)],
        "group": {"name": group},
        "loss": loss,
    }
    facts = check_orbit_ranks(fields, {"kind": "orbit_ranks"})
    assert (facts["plain_rank"], facts["averaged_rank"], facts["squared_rank"]) == ranks


def test_ranks_at_single_inputs_of_a_relu_net() -> None:
    fields = {
        "model": "relu",
        "sizes": [4, 3],
        "weights": numbers(16, 5, 9),
        "group": {"name": "C3"},
        "loss": "logistic",
    }
    for seed in range(10, 50, 2):
        facts = check_orbit_ranks({**fields, "inputs": [numbers(3, seed)]}, {"kind": "orbit_ranks"})
        assert (facts["plain_rank"], facts["averaged_rank"], facts["squared_rank"]) == (3, 3, 2)
