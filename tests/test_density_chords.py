"""Mean squares of chord deviations over intervals against sums over many points, and what bounds them."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from lakatos.core import InputError
from lakatos.instance import build_instance
from lakatos.numerics.chords import deviation
from lakatos.theorems import load
from lakatos.theory.density_chords import MixtureFields, density_bound, mean_square, small_ball_bound

THEOREM = load("chord_deviation_is_bounded_for_any_spread_of_the_fixed_part")
FIELDS = {"chances": [1], "first": [1], "second": [-1], "low": [-1], "high": [1]}


def fields(**changes: object) -> MixtureFields:
    return build_instance(MixtureFields, {**FIELDS, **changes})


@given(THEOREM.instances())  # type: ignore[misc]
def test_mean_squares_are_those_of_many_points(drawn: dict[str, object]) -> None:
    mixture = build_instance(THEOREM.instance_class, drawn)
    for weight in (Fraction(1, 8), Fraction(1, 2)):
        total = 0.0
        for p, t0, t1, low, high in zip(
            mixture.chances, mixture.first, mixture.second, mixture.low, mixture.high, strict=True
        ):
            steps = (np.arange(4000) + 0.5) / 4000
            c = float(low) + steps * float(high - low)
            total += float(p) * float((deviation(c + float(t0), c + float(t1), float(weight)) ** 2).mean())
        assert float(mean_square(mixture, weight)) == pytest.approx(total, abs=1e-5)


@given(THEOREM.instances())  # type: ignore[misc]
def test_small_balls_are_the_largest_ratios(drawn: dict[str, object]) -> None:
    mixture = build_instance(THEOREM.instance_class, drawn)
    taus = np.linspace(0.001, 6, 3000)
    largest = 0.0
    for low, high in zip(mixture.low, mixture.high, strict=True):
        if low == high:
            inside = (taus >= abs(float(low))).astype(float)
        else:
            length = np.minimum(taus, float(high)) - np.maximum(-taus, float(low))
            inside = np.maximum(length, 0) / float(high - low)
        largest = max(largest, float((inside / taus).max()))
    assert mixture.small_ball is not None
    assert largest <= float(mixture.small_ball) * (1 + 1e-9)
    assert largest >= float(mixture.small_ball) * 0.995


def test_bounds_by_hand() -> None:
    assert density_bound(fields()) == mean_square(fields(), Fraction(1, 2)) == Fraction(1, 12)
    assert small_ball_bound(fields()) == Fraction(1, 2)
    assert density_bound(fields(low=[2], high=[2])) is None
    assert small_ball_bound(fields(low=[2], high=[2])) == Fraction(1, 4)
    assert small_ball_bound(fields(low=[0], high=[0])) is None
    # A margin beyond the trained parts: no sign changes.
    assert mean_square(fields(low=[2], high=[3]), Fraction(1, 2)) == 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"chances": ["1/2"]}, "chances"),
        ({"chances": [2]}, "sum 1"),
        ({"first": [1, 2]}, "first: 2 numbers"),
        ({"low": [2]}, r"low\[0\]='2'"),
    ],
)
def test_bad_fields_are_named(changes: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fields(**changes)
