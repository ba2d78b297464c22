"""The certificate of deviation: exact numbers, a second account of its sizes, and what breaks it."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos._checker_text import read_polynomial
from lakatos.core import InputError, Undecided
from lakatos.numerics.activations import Activation
from lakatos.numerics.deviation_bounds import DERIVATIVE_BOUNDS, certified_course, correlation_sizes
from lakatos.numerics.nested_jvp import line_coefficients
from lakatos.numerics.one_hidden import OneHidden, random_networks
from lakatos.numerics.polynomials import polynomial
from lakatos.theory.deviations import Step, certificate, descent, root_above, sizes

HUNDREDTH = Fraction(1, 100)


def networks(activation: str, n: int, rate: float = 0.5, count: int = 8) -> OneHidden:
    (found,) = random_networks(
        Activation(activation), n, np.ones((2, 2)), np.ones(1), networks=count, seed=1, rate=rate
    )
    return found


def test_the_bound_is_attained() -> None:
    outputs = [read_polynomial("t + t^2/100", ["t"])]
    start = (Fraction(0),)
    course = descent(outputs, start, Fraction(1), 2, lambda i, f: Fraction(-1), 1)
    bounds = certificate(sizes(outputs, start, Fraction(1)), course, Fraction(1))
    assert course[1].deviation == bounds[1].deviation == Fraction("0.060804")
    assert bounds[1].series == Fraction("0.04")
    assert bounds[1].series + bounds[1].mixed == Fraction("0.040804")
    assert course[1].kernel_drift == bounds[1].kernel_drift


def test_deviation_without_any_correlation_of_the_output() -> None:
    outputs = [read_polynomial("u + u*v", ["u", "v"])]
    start = (Fraction(0), Fraction(0))
    course = descent(outputs, start, Fraction(1), 3, lambda i, f: Fraction(-1, 2), 1)
    assert [step.deviation for step in course] == [0, Fraction(1, 4), Fraction(43, 32)]
    bounds = certificate(sizes(outputs, start, Fraction(1)), course, Fraction(1))
    assert bounds[2].series == 0
    assert all(step.deviation <= bound.deviation for step, bound in zip(course, bounds, strict=True))


@settings(max_examples=4)
@given(
    coefficients=st.lists(st.integers(-3, 3), min_size=9, max_size=9),
    start=st.tuples(st.integers(-2, 2), st.integers(-2, 2)),
)
def test_sizes_equal_derivatives_of_automatic_differentiation(coefficients: list[int], start: tuple[int, int]) -> None:
    """All derivatives as dense tensors, contracted with all choices of gradients."""
    exponents = list(product(range(3), repeat=2))
    terms = [(Fraction(c), e) for c, e in zip(coefficients, exponents, strict=True) if sum(e) <= 3]
    other = [(Fraction(c + 1), e) for c, e in terms]
    rate = Fraction(1, 3)
    found = sizes(
        [{(0,) * e[0] + (1,) * e[1]: c for c, e in part} for part in (terms, other)],
        (Fraction(start[0]), Fraction(start[1])),
        rate,
    )
    theta = torch.tensor(start, dtype=torch.float64)
    functions = [polynomial(part) for part in (terms, other)]
    gradients = [torch.func.grad(f)(theta) for f in functions]
    for D, d in ((0, 1), (0, 2), (1, 1), (2, 0), (1, 2)):
        largest = 0.0
        for f in functions:
            tensor = f
            for _ in range(D + d):
                tensor = torch.func.jacfwd(tensor)
            dense = tensor(theta)
            for chosen in product(gradients, repeat=d):
                value = dense
                for v in chosen:
                    value = value @ v
                largest = max(largest, float(value.norm()))
        expected = float(rate) ** d / (math.factorial(D) * math.factorial(d)) * largest
        assert float(found.get((D, d), 0)) == pytest.approx(expected, rel=1e-9, abs=1e-12)


@settings(max_examples=100)
@given(p=st.integers(0, 10**9), q=st.integers(1, 10**9))
def test_roots_are_rounded_up_and_hardly(p: int, q: int) -> None:
    root = root_above(Fraction(p, q))
    assert root**2 >= Fraction(p, q)
    assert root**2 <= Fraction(p, q) * (1 + Fraction(1, 2**60))


@pytest.mark.parametrize("activation", DERIVATIVE_BOUNDS)
def test_bounds_of_derivatives_hold(activation: str) -> None:
    z = torch.linspace(-8, 8, 4001, dtype=torch.float64)
    for order, value in enumerate(Activation(activation).derivatives(z, 20)):
        assert float(value.abs().max()) <= DERIVATIVE_BOUNDS[activation](order) * (1 + 1e-12)


@pytest.mark.parametrize("activation", DERIVATIVE_BOUNDS)
def test_bounded_orders_are_above_the_norms(activation: str) -> None:
    found = networks(activation, 16)
    tail, exact = correlation_sizes(found, exact=2, last=6), correlation_sizes(found, exact=6, last=6)
    for order, value in exact.items():
        assert bool((value <= tail[order] * (1 + 1e-12)).all())


@pytest.mark.parametrize(("activation", "n"), [("sin", 32), ("erf", 512)])
def test_no_network_leaves_its_certificate(activation: str, n: int) -> None:
    course = certified_course(networks(activation, n), 1.5, 8)
    assert bool((course.deviation <= course.bound + course.rounding).all())
    assert bool((course.drift <= course.drift_bound + 1e-12).all())
    assert float((course.bound / course.deviation).median()) < 10, "a bound this far away says nothing"


def test_the_first_step_is_the_series_of_correlations() -> None:
    found = networks("sin", 16, count=1)
    course = certified_course(found, 1.5, 1)
    theta = {"a": found.a[0], "z": found.z[0]}
    c = float(found.scale * (theta["a"] * theta["z"].sin()).sum()) - 1.5
    s, K = found.scale, found.kernel
    v = {"a": s * theta["z"].sin(), "z": s * K * theta["a"] * theta["z"].cos()}
    parts = line_coefficients(lambda p: s * (p["a"] * p["z"].sin()).sum(), theta, v, 4)
    series = sum(float(part) * (-found.rate * c) ** d for d, part in enumerate(parts) if d >= 2)
    assert float(course.deviation[0, 0]) == pytest.approx(abs(series), rel=1e-2)  # order 5 is left out


def test_what_has_no_bounds_is_refused_and_what_does_not_converge_is_left_open() -> None:
    with pytest.raises(InputError, match="activation='tanh'"):
        correlation_sizes(networks("tanh", 8))
    with pytest.raises(Undecided, match="converged"):
        certified_course(networks("erf", 2, rate=30.0), 99.0, 3)


def test_bounds_of_networks_follow_the_recursion_in_exact_arithmetic() -> None:
    """At rate 1 both accounts have the same sizes; the loss derivatives come from a descent written out here."""
    found = networks("sin", 16, rate=1.0, count=1)
    found_sizes = {order: value for order, value in correlation_sizes(found).items() if sum(order) <= 5}
    course = certified_course(found, 0.2, 3, sizes=found_sizes)
    a, z, s = found.a[0], found.z[0], found.scale
    p, steps = 0.0, []
    for _ in range(3):
        c = float(s * (a * z.sin()).sum()) - 0.2
        a, z = a - s * c * z.sin(), z - s * found.kernel * c * a * z.cos()
        p += c
        steps.append(Step(Fraction(c), Fraction(0), Fraction(0), abs(Fraction(p))))
    exact = certificate({order: Fraction(float(value[0])) for order, value in found_sizes.items()}, steps, Fraction(1))
    for i, bound in enumerate(exact):
        assert float(course.bound[i, 0]) == pytest.approx(float(bound.deviation), rel=1e-9)
        assert float(course.drift_bound[i, 0]) == pytest.approx(float(bound.kernel_drift), rel=1e-9)
