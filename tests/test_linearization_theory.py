"""Orders, kinks and steps of polynomials: each against a second account."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.numerics.kinks import step_deviations
from lakatos.theory.kinks import kink_mean, kink_rms, residuals
from lakatos.theory.orders import deviation_exponent, largest_power, power_weak_exponents
from lakatos.theory.steps_of_polynomials import (
    chebyshev,
    coefficients_by_interpolation,
    markov_constants,
    step_values,
)

small = st.integers(-4, 4)


@settings(max_examples=30)
@given(
    alpha=st.sampled_from([Fraction(0), Fraction(-1, 4), Fraction(-1, 2), Fraction(-1)]),
    m=st.sampled_from([10**40, 10**60]),
)
def test_orders_are_those_of_the_certificate_at_a_huge_width(alpha: Fraction, m: int) -> None:
    """The certificate itself, in logarithms of a width at which constants no longer matter."""
    sizes = {key: float(m) ** float(e) for key, e in power_weak_exponents(alpha, 4).items()}
    q = Jq = p = 0.0
    mixed = [key for key in sizes if key[0] >= 1 and key != (1, 0)]
    for _ in range(3):
        g = sum(D * sizes[D, d] * p**d * q ** (D - 1) for D, d in mixed)
        h = sum((d + 1) * sizes[D - 1, d + 1] * p**d * q ** (D - 1) for D, d in mixed)
        q, Jq, p = q + g, Jq + h, p + 1
    R = sum(e * p**d for (D, d), e in sizes.items() if D == 0 and d >= 2) + Jq
    R += sum(sizes[D, d] * p**d * q**D for D, d in mixed)
    assert math.log(R) / math.log(m) == pytest.approx(
        float(deviation_exponent(power_weak_exponents(alpha, 4))), abs=0.1
    )


def test_the_third_correlation_limits_the_power() -> None:
    assert largest_power({2: Fraction(-1), 3: Fraction(-1), 4: Fraction(-2), 5: Fraction(-2)}) == Fraction(2, 3)
    assert largest_power({2: Fraction(-1), 3: Fraction(-2)}) == 1
    assert largest_power({4: Fraction(-2), 5: Fraction(-2)}) == Fraction(4, 5)


@settings(max_examples=40)
@given(coefficients=st.lists(small, min_size=1, max_size=7))
def test_interpolation_gives_back_the_coefficients(coefficients: list[int]) -> None:
    nodes = [Fraction(k, 3) - 1 for k in range(len(coefficients))]
    values = [sum((c * x**k for k, c in enumerate(coefficients)), Fraction(0)) for x in nodes]
    assert coefficients_by_interpolation(nodes, values) == coefficients


def test_steps_by_hand() -> None:
    """F = t³ at 1 with rate 1/10: (1 − 3s/10)³ − 1 + 9s/10."""
    (value,) = step_values({(0, 0, 0): 1}, (Fraction(1),), Fraction(1, 10), [Fraction(1)])
    assert value == Fraction(7, 10) ** 3 - 1 + Fraction(9, 10)


@pytest.mark.parametrize("degree", range(1, 9))
def test_chebyshev_polynomials_and_markov_constants(degree: int) -> None:
    x = np.linspace(-1, 1, 101)
    np.testing.assert_allclose(
        np.polynomial.polynomial.polyval(x, chebyshev(degree)), np.cos(degree * np.arccos(x)), atol=1e-9
    )
    constants = markov_constants(degree)
    assert constants[degree] == 2 ** (degree - 1)
    # No polynomial of this degree does better: many random ones, scaled to |f| ≤ 1 on a fine net.
    rng = np.random.default_rng(0)
    net = np.cos(np.linspace(0, math.pi, 2001))
    for c in rng.standard_normal((200, degree + 1)):
        c = c / np.abs(np.polynomial.polynomial.polyval(net, c)).max()
        assert (np.abs(c) <= np.array(constants) + 1e-3).all()


def test_kinks_push_in_one_direction_at_the_input_of_the_step() -> None:
    """What derivatives see of the step, the same for a smooth activation, is much smaller."""
    found = step_deviations("relu", 64, 200, 0.8, (1.0, 0.4, 1.0), seed=0)
    smooth = step_deviations("softplus", 64, 200, 0.8, (1.0, 0.4, 1.0), seed=0)
    assert found.here.mean() > 4 * smooth.here.mean().abs()


def test_constants_of_kinks() -> None:
    assert kink_mean(0.8, 1.0) == pytest.approx(0.64 / (2 * math.pi))
    assert kink_mean(-0.8, 4.0) == pytest.approx(-0.64 * 8 / (2 * math.pi))
    assert kink_rms(0.8, 0.4, 16.0) == pytest.approx(0.32**1.5 / 2 * math.sqrt(4 / (3 * math.pi)))
    assert residuals() == "0"
