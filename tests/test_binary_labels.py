"""Labels ±1 along rays: exact ranks against 300 digits, autograd and fractions; what separates values; lies."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos._checker_laws import PRIME, independent_rows
from lakatos._checker_orbits import check_orbit_ranks, exact_rank
from lakatos._checker_polynomials import residue
from lakatos._checker_rays import SLOPES, check_ray_ranks, gradient_rows, ray_points
from lakatos.checker import Invalid
from lakatos.core import InputError, Undecided
from lakatos.numerics import orbit_gradients, ray_gradients
from lakatos.theorems._laws_of_models import signed_elements
from lakatos.theory.model_fields import GroupFields
from lakatos.theory.orbit_fields import OrbitFields
from lakatos.theory.ray_fields import RayFields

SIZES = {"linear": (2,), "relu": (2, 2), "relu-bias": (2, 2), "power": (3, 1, 2), "power-bias": (2, 1, 2)}
WEIGHTS = {"linear": 2, "relu": 6, "relu-bias": 8, "power": 3, "power-bias": 4}
LOSSES = ("logistic", "exponential", "sigmoid", "squared", "polynomial-3")


@st.composite
def rays(draw: st.DrawFn, losses: tuple[str, ...] = LOSSES) -> RayFields:
    """Small models, often with ties."""
    model = draw(st.sampled_from(sorted(SIZES)))
    number = st.integers(-3, 3)
    weights = draw(st.lists(number, min_size=WEIGHTS[model], max_size=WEIGHTS[model]))
    try:
        return RayFields(
            model,
            SIZES[model],
            tuple(weights),
            (tuple(draw(st.lists(number, min_size=2, max_size=2))),),
            GroupFields(draw(st.sampled_from(["C2", "rotation(4)", "sign(2)"]))),
            draw(st.sampled_from(losses)),
            draw(st.sampled_from(["trivial", "sign"])),
        )
    except InputError:  # a unit at its kink along the whole ray
        return RayFields("linear", (2,), (1, 2), ((1, 3),), GroupFields("C2"), draw(st.sampled_from(losses)))


def measured(f: RayFields) -> tuple[int, int]:
    return ray_gradients.ray_ranks(f.model, f.sizes, f.weights, f.inputs, signed_elements(f), f.loss)


@given(rays())
@settings(max_examples=50)
def test_exact_ranks_are_those_of_300_digits(f: RayFields) -> None:
    """Ties and polynomial losses included, where the averaged rank is smaller."""
    points = list(range(ray_points(f._own)[0], ray_points(f._own)[0] + 20))
    rank = max(len(independent_rows(gradient_rows(f._orbits_at(points), f.loss, base))) for base in (7, 48271))
    assert measured(f) == (f.plain_rank, rank)


@given(rays(("logistic", "exponential", "sigmoid")))
@settings(max_examples=50)
def test_separated_values_lose_nothing(f: RayFields) -> None:
    if f.is_separated:
        assert f.certificate is not None
        plain, averaged = measured(f)
        assert averaged == plain


@given(rays(), st.sampled_from([1, -1]))
def test_gradients_of_the_averaged_loss(f: RayFields, y: int) -> None:
    """Those of floating-point orbits, and so of the ray, are what autograd finds for the averaged loss itself."""
    losses = {
        "logistic": lambda z: torch.log1p(torch.exp(-z)),
        "exponential": lambda z: torch.exp(-z),
        "sigmoid": lambda z: torch.sigmoid(-z),
        "squared": lambda z: (1 - z) ** 2 / 2,
        "polynomial-3": lambda z: (1 - z) ** 3,
    }
    x = np.array(f.inputs[0], float) * 0.1
    theta = torch.tensor(f.weights, dtype=torch.float64, requires_grad=True)
    total = torch.zeros((), dtype=torch.float64)
    found = np.zeros(len(f.weights))
    for g, sign in signed_elements(f):
        value = torch_model(f, theta, torch.tensor(g @ x))
        total = total + losses[f.loss](y * sign * value)
        z, gradient = orbit_gradients.model_values(f.model, f.sizes, np.array(f.weights, float), g @ x)
        slope = float(ray_gradients._slope(f.loss, Decimal(y * sign * float(z))))
        found += y * slope * sign * np.array(gradient, float)
    total.backward()
    np.testing.assert_allclose(found, theta.grad.numpy(), rtol=1e-9, atol=1e-12)  # type: ignore[union-attr]


def torch_model(f: RayFields, theta: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
    if f.model == "linear":
        return theta @ x
    units = f.sizes[-2]
    w = theta[units:].reshape(units, -1)
    z = w[:, :2] @ x + (w[:, 2] if f.model.endswith("-bias") else 0)
    hidden = torch.relu(z) if f.model.startswith("relu") else z ** f.sizes[0]
    return theta[:units] @ hidden


@pytest.mark.parametrize("loss", ["logistic", "exponential", "sigmoid", "squared"])
@given(z=st.integers(-9, 9), q=st.integers(2, 40))
def test_slopes_are_rational_functions_of_q(loss: str, z: int, q: int) -> None:
    power = Fraction(q) ** -z  # what e^z becomes
    expected = {
        "logistic": -1 / (1 + power),
        "exponential": -1 / power,
        "sigmoid": -power / (1 + power) ** 2,
        "squared": Fraction(z - 1),
    }
    assert SLOPES[loss](z, q) % PRIME == residue(expected[loss], PRIME)


@given(st.lists(st.lists(st.integers(-2, 2), min_size=4, max_size=4), min_size=1, max_size=6))
def test_ranks_of_decimals_are_exact_ones(rows: list[list[int]]) -> None:
    assert ray_gradients.rank([np.array([Decimal(e) for e in row], object) for row in rows]) == exact_rank(rows)


def test_a_pivot_between_signal_and_rounding_is_undecided() -> None:
    with localcontext(prec=300):
        rows = [np.array([Decimal(1), Decimal(1)], object), np.array([Decimal(1), 1 + Decimal("1e-200")], object)]
        with pytest.raises(Undecided, match="pivot"):
            ray_gradients.rank(rows)


SWAPPED: dict[str, Any] = {"group": GroupFields("C2"), "inputs": ((1, -1),)}


@pytest.mark.parametrize(
    ("model", "weights", "loss", "separated"),
    [
        ("relu-bias", (1, 1, 1, 0, 1, 0, 1, 2), "logistic", False),  # t + 1 and t + 2
        ("relu-bias", (1, 1, 1, 0, 1, 0, 1, 2), "exponential", False),
        ("relu-bias", (1, 1, 1, 0, 1, 0, 2, 1), "logistic", True),  # t + 1 and 2t + 1
        ("relu-bias", (1, -1, 1, 0, 1, 0, 1, 2), "logistic", False),  # t + 1 and −t − 2
        ("relu-bias", (1, -1, 1, 0, 1, 0, 1, 2), "exponential", True),
        ("relu-bias", (1, 1, 1, 0, 1, -1, -1, -1), "logistic", True),  # t + 1 and 0
        ("linear", (3, 1), "logistic", False),  # 2t and −2t
        ("linear", (3, 1), "exponential", True),
        ("linear", (1, 1), "exponential", False),  # 0 and 0
    ],
)
def test_values_have_to_differ_by_more_than_a_constant(
    model: str, weights: tuple[int, ...], loss: str, separated: bool
) -> None:
    f = RayFields(model, SIZES[model], weights, loss=loss, **SWAPPED)
    assert f.is_separated is separated


BIASED = {
    "model": "power-bias",
    "sizes": [2, 1, 2],
    "weights": [1, 1, 2, 3],
    "inputs": [[1, 4]],
    "group": {"name": "C2"},
    "loss": "logistic",
    "labels": "binary",
}
CERTIFICATE = {"kind": "ray_ranks", "points": [1, 2, 3, 4], "base": 48271}


def test_certificate_by_hand() -> None:
    """f = a(w·x + b)² has four weights and conserves 2a² − |w|² − b²."""
    assert check_ray_ranks(BIASED, CERTIFICATE) == {"plain_rank": 3, "averaged_rank": 3}


@pytest.mark.parametrize(
    ("fields", "certificate", "message"),
    [
        ({}, {"points": [1]}, "only 2 independent gradients of 3"),
        ({}, {"points": []}, "at least one input"),
        ({}, {"base": 1}, "between 1 and"),
        ({}, {"base": PRIME}, "between 1 and"),
        ({}, {"base": True}, "integers are needed"),
        ({}, {"points": [1, "2"]}, "integers are needed"),
        ({}, {"points": [0, 1, 2, 3, 4]}, "before a kink; start at 1"),
        ({}, {"points": [10**7]}, "at most 1000000"),
        ({"loss": "hinge"}, {}, "unknown"),
        ({"model": "relu-bias", "sizes": [1, 2]}, {}, "before a kink; start at 4"),
        ({"model": "linear", "sizes": [2], "weights": [1, 1]}, {}, "only 1 independent gradients of 2"),
    ],
)
def test_lies_are_refused(fields: dict[str, Any], certificate: dict[str, Any], message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check_ray_ranks(BIASED | fields, CERTIFICATE | certificate)


def test_orbit_sums_say_nothing_about_labels_of_one_size() -> None:
    with pytest.raises(Invalid, match="homogeneous"):
        check_orbit_ranks(BIASED, {"kind": "orbit_ranks"})
    assert check_orbit_ranks(BIASED | {"labels": "interval"}, {"kind": "orbit_ranks"})["plain_rank"] == 2


@pytest.mark.parametrize(("model", "rich"), [("linear", True), ("relu", True), ("power", True), ("power-bias", False)])
def test_labels_of_one_size_suffice_for_homogeneous_models(model: str, rich: bool) -> None:
    weights = tuple(range(1, WEIGHTS[model] + 1))
    f = OrbitFields(model, SIZES[model], weights, ((1, 4),), GroupFields("C2"), labels="binary")
    assert f.has_rich_labels is rich
