"""Correlations of polynomial hypotheses against SymPy, worked examples, and what each theorem computes with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos import verify
from lakatos.core import InputError, Outcome
from lakatos.numerics import layer_lines, quantile_samples, series_residuals
from lakatos.testing import polynomial_hypotheses
from lakatos.theory import correlations as exact
from lakatos.theory import layer_polynomials, quantile_orders
from lakatos.theory.linear_flow import batch_flow
from lakatos.theory.one_hidden import (
    block_identity_residual,
    largest_displacement_ratio,
    series_identity_residual,
)
from lakatos.theory.one_hidden_fields import OneHiddenFields
from lakatos.theory.polynomial_fields import PolynomialFields
from lakatos.theory.tensor_norms import matrix_norm, slices_norm_bound

Q = Fraction
CUBE = {"parameters": ["t"], "functions": ["t^3"], "theta": [1], "rate": "1/10"}


def by_sympy(model: PolynomialFields, free: list[list[Fraction]], copies: list[int]) -> sp.Rational:
    """C_{D,d} with η^(D+d), from derivatives of F(θ + Σ e_i v_i) in the e_i."""
    names = sp.symbols(model.parameters)
    at = {t: sp.Rational(x.numerator, x.denominator) for t, x in zip(names, model.theta, strict=True)}
    F = [sp.sympify(function.replace("^", "**")) for function in model.functions]  # of our own strategies
    vectors = [[sp.Rational(x.numerator, x.denominator) for x in u] for u in free]
    vectors += [[sp.diff(F[b], t).subs(at) for t in names] for b in copies]
    e = sp.symbols(f"e0:{len(vectors)}")
    moved = {t: at[t] + sum(s * v[i] for s, v in zip(e, vectors, strict=True)) for i, t in enumerate(names)}
    value = F[0].subs(moved, simultaneous=True)
    for s in e:
        value = sp.diff(value, s).subs(s, 0)
    eta = sp.Rational(model.rate.numerator, model.rate.denominator)
    return sp.expand(value) * eta ** len(vectors) / (sp.factorial(len(free)) * sp.factorial(len(copies)))


def slopes_of(fields: PolynomialFields) -> list[dict[tuple[int, ...], Fraction]]:
    return exact.gradient_vector(fields.polynomials[0], len(fields.parameters))


def fields_of(model: dict[str, object]) -> PolynomialFields:
    from lakatos.instance import build_instance

    return build_instance(PolynomialFields, model)


@settings(max_examples=25, deadline=None)
@given(polynomial_hypotheses(), st.integers(0, 2), st.integers(0, 2), st.data())
def test_correlations_are_those_of_the_definition(
    model: dict[str, object], D: int, d: int, data: st.DataObject
) -> None:
    fields = fields_of(model)
    size = len(fields.parameters)
    copies = data.draw(st.lists(st.integers(0, len(fields.functions) - 1), min_size=d, max_size=d))
    numbers = st.integers(-2, 2).map(Fraction)
    free = data.draw(st.lists(st.lists(numbers, min_size=size, max_size=size), min_size=D, max_size=D))
    vectors = [[exact.constant(x) for x in u] for u in free]
    found = exact.correlation(fields.polynomials, vectors, copies, exact.constant(fields.rate), size)
    assert exact.evaluated(found, fields.theta) == by_sympy(fields, free, copies)


def test_worked_examples() -> None:
    """F = t³ at 1, η = 1/10: C_{1,1}·J = 0.54 = 2 C_{0,2}; the step to c = 1 is −0.657."""
    fields = fields_of(CUBE)
    F, rate = fields.polynomials, exact.constant(fields.rate)
    J = exact.gradient_vector(F[0], 1)
    contracted = exact.evaluated(exact.correlation(F, [J], [0], rate, 1), fields.theta)
    second = exact.evaluated(exact.correlation(F, [], [0, 0], rate, 1), fields.theta)
    assert (contracted, second) == (Q(54, 100), Q(27, 100))
    assert exact.lowered_order_factor(1, 1) == 2
    assert exact.lowered_order_factor(2, 0, contracted=2) == 1
    assert exact.lowered_order_factor(2, 0, contracted=2, free_factorial=False) == 2
    step = exact.series_of_step(F, fields.theta, fields.rate, [Q(1)])
    assert step == Q(7, 10) ** 3 - 1 == Q(-657, 1000)
    assert exact.series_of_step(F, fields.theta, fields.rate, [Q(1)], factorials=False) == Q(-522, 1000)
    assert exact.series_of_step(F, fields.theta, fields.rate, [Q(1)], signs=False) == Q(1197, 1000)


@settings(max_examples=25, deadline=None)
@given(polynomial_hypotheses(), st.data())
def test_series_is_the_displaced_hypothesis(model: dict[str, object], data: st.DataObject) -> None:
    fields = fields_of(model)
    size, inputs = len(fields.parameters), len(fields.functions)
    numbers = st.integers(-2, 2).map(Fraction)
    p = data.draw(st.lists(numbers, min_size=inputs, max_size=inputs))
    q = data.draw(st.lists(numbers, min_size=size, max_size=size))
    slopes = [[exact.evaluated(s, fields.theta) for s in exact.gradient_vector(f, size)] for f in fields.polynomials]
    moved = [
        t + fields.rate * (q[i] - sum(w * s[i] for w, s in zip(p, slopes, strict=True)))
        for i, t in enumerate(fields.theta)
    ]
    found = exact.series_at_displacement(fields.polynomials, fields.theta, fields.rate, p, q)
    assert found == exact.evaluated(fields.polynomials[0], moved)
    u = data.draw(st.lists(numbers, min_size=size, max_size=size))
    along = sum((w * exact.evaluated(s, moved) for w, s in zip(u, slopes_of(fields), strict=True)), Q(0))
    slope = exact.series_at_displacement(fields.polynomials, fields.theta, fields.rate, p, q, u)
    assert slope == fields.rate * along


def test_derivatives_at_a_displacement_count_the_free_indices() -> None:
    """F = t³ at 1, moved by 1/10: the slope 3·1.21, times η; without D its terms are 3 + 3/10 + 1/100."""
    at = (fields_of(CUBE).polynomials, (Q(1),), Q(1, 10), [Q(0)], [Q(1)], [Q(1)])
    assert exact.series_at_displacement(*at) == Q(363, 1000)
    assert exact.series_at_displacement(*at, choices=False) == Q(331, 1000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"functions": ["t + s"]}, r"functions\[0\].*a number, '\(' or a parameter"),
        ({"functions": ["__import__('os')"]}, r"functions\[0\]"),
        ({"theta": [1, 2]}, "theta: 2 numbers; 1 are needed"),
        ({"rate": 0}, "rate=0: a positive number"),
        ({"parameters": ["t", "t"]}, "different names"),
    ],
)
def test_bad_hypotheses_are_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        fields_of({**CUBE, **change})


def test_residuals_of_the_closed_form_see_a_missing_term() -> None:
    assert series_identity_residual(4) == 0
    assert series_identity_residual(4, with_alpha=False) != 0
    assert [block_identity_residual(D, d) for D, d in ((1, 1), (2, 2), (4, 0))] == [0, 0, 0]


def test_displacements_are_measured_against_the_nearest_singularity() -> None:
    """Four neurons at z = 3 = w·x with w = 1, a = 1, K = 9: with c = 2 and η = 1/5 each moves by η c a φ'(3) K/√4."""
    three, one = Q(3), Q(1)
    fields = OneHiddenFields("tanh", (one,) * 4, ((one,),) * 4, ((three,), (three,)), (Q(2),), rate=Q(1, 5))
    moved = 0.2 * 2 * 9 / math.cosh(3) ** 2 / 2
    assert largest_displacement_ratio(fields) == pytest.approx(moved / math.hypot(3, math.pi / 2), rel=1e-12)


def test_orders_are_undecided_while_terms_cancel() -> None:
    """r(t) = t^5 − t^6/33 changes its sign at t = 33, and is of order 5 after it; rounding and short series say nothing."""
    settled = series_residuals._last_order([t**5 - t**6 / 33 for t in (2.0**-k for k in range(-7, 6))], 1e-12)
    assert abs(settled.value - 5) <= settled.error < 0.2
    assert math.isnan(series_residuals._last_order([1e-3, 1e-4, 1e-5], 1e-12).value)
    noise = series_residuals._last_order([1.0, 0.5, 0.1, 0.09, 0.01, 0.004], 1e-12)
    assert not noise.error < 1
    drifting = [2.0 ** -sum((3.0, 3.1, 3.25, 3.5, 3.9)[:k]) for k in range(6)]
    assert math.isnan(series_residuals._last_order(drifting, 1e-12).value)


# Layers ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", ["identity", "relu", "leaky_relu"])
def test_lines_of_networks_are_those_of_autograd(activation: str) -> None:
    layers = [[[1, Q(1, 2)], [-2, 1]], [[1, -1], [Q(1, 4), 2]]]
    exact_layers = [tuple(tuple(map(Fraction, row)) for row in W) for W in layers]
    output, u = (Q(1), Q(-1, 2)), (Q(2), Q(1, 2))
    line = layer_polynomials.line_polynomial(exact_layers, output, u, activation)
    found, _ = layer_lines.line_coefficients(
        [[[float(w) for w in row] for row in W] for W in layers], [1.0, -0.5], [2.0, 0.5], activation, order=4
    )
    for d, value in enumerate(found):
        assert value == pytest.approx(float(line[d]) if d < len(line) else 0.0, abs=1e-9)


def test_leaky_example() -> None:
    one = Q(1)
    leaky = layer_polynomials.line_polynomial([((-one,),)], (one,), (one,), "leaky_relu")
    assert leaky[2] == Q(-1, 8)  # K F/n would be −1/2
    with pytest.raises(InputError, match="kink"):
        layer_polynomials.line_polynomial([((Q(0),),)], (one,), (one,), "relu")


# Training, norms, quantiles ----------------------------------------------------------------------------------------------


def test_flow_is_not_discrete_descent() -> None:
    value = 1.0
    for _ in range(2):
        (value,) = batch_flow([[1.0]], [value], [0], [0.0], 1.0, 0.5)
    assert value == pytest.approx(math.exp(-1))
    verdict = verify(
        "linearized_dynamics_eq_taylor_model_dynamics",
        **{**CUBE, "functions": ["t"], "rate": "1/2"},
        labels=[0],
        batches=[[0], [0]],
    )
    assert verdict.outcome is Outcome.PROVED
    assert verdict.claims[0].claim.value == (Q(1, 4),)


def test_long_exact_runs_give_up() -> None:
    verdict = verify(
        "linearized_dynamics_eq_taylor_model_dynamics",
        **{**CUBE, "functions": ["t"], "rate": "1/7"},
        labels=["1/3"],
        batches=[[0]] * 12,
        loss_derivative="f^3 - y",
    )
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, "incomplete-method")


def test_norms_of_slices() -> None:
    one, zero = Q(1), Q(0)
    assert matrix_norm(((zero, one), (zero, zero))) == 1
    # e1⊗e1⊗e1 + e2⊗e2⊗e2 + e3⊗e3⊗e3 has norm 1, and its slices together √3.
    slices = [tuple(tuple(one if i == j == k else zero for k in range(3)) for j in range(3)) for i in range(3)]
    assert 1 <= slices_norm_bound(slices) < 1.001


@pytest.mark.parametrize("k", [0, 1, 2, 599, 600, 601])
def test_norm_bound_of_two_slices_holds_between_directions(k: int) -> None:
    # u⊗e⊗e with a unit vector u has norm 1, and the directions that are tried lie a 600th of a half turn apart.
    u = (math.cos(math.pi * k / 1200), math.sin(math.pi * k / 1200))
    assert slices_norm_bound([((Q(x),),) for x in u]) >= 1 - 1e-12


@pytest.mark.parametrize("azimuth", [0, 1, 299, 401, 601, 901, 1199])
@pytest.mark.parametrize("polar", [0, 1, 151, 299, 300])
def test_norm_bound_of_three_slices_holds_between_directions(azimuth: int, polar: int) -> None:
    # As above on the half sphere: directions that are tried lie a 300th of a half turn apart both ways, the equator added.
    a, b = math.pi * azimuth / 600, math.pi * polar / 600
    u = (math.sin(b) * math.cos(a), math.sin(b) * math.sin(a), math.cos(b))
    bound = slices_norm_bound([((Q(x),),) for x in u])
    assert 1 - 1e-12 <= bound <= 1 + 1e-4


@pytest.mark.parametrize("p", [Q(0), Q(1), Q(3, 2)])
def test_no_quantile_at_a_level_beyond_the_unit_interval(p: Q) -> None:
    with pytest.raises(InputError, match="0 < p < 1"):
        quantile_orders.quantile_exponent("exponential", Q(-1), p)


@pytest.mark.parametrize("law", quantile_orders.LAWS)
def test_quantile_functions_are_those_of_the_samples(law: str) -> None:
    """The share of 40,000 samples at or below Q(p), at either side of p, for the law at n = 100."""
    n, s, count = 100, -0.5, 40_000
    sample = quantile_samples.sequence_samples(law, s, n, count, np.random.default_rng(0))
    symbols = {"n": n, "s": s}
    for p in (0.1, 0.6, 0.75, 0.97):
        quantile = quantile_orders.LAWS[law]
        value = float(quantile.subs({x: {**symbols, "p": p}[x.name] for x in quantile.free_symbols}))
        error = 5 * math.sqrt(p * (1 - p) / count)
        assert np.mean(sample < value * (1 - 1e-9)) - error <= p <= np.mean(sample <= value * (1 + 1e-9)) + error


def test_quantiles_of_a_uniform_power() -> None:
    levels = (Q(3, 4), Q(9, 10))
    assert [quantile_orders.quantile_exponent("uniform_power", Q(1), p) for p in levels] == [
        sp.Rational(3, 4),
        sp.Rational(9, 10),
    ]
    found = quantile_samples.quantile_exponents(
        "uniform_power", 0.0, [0.75, 0.9], [2**k for k in range(6, 18, 2)], count=4000, seed=0, resolution=0.1
    )
    for interval, p in zip(found, levels, strict=True):
        assert abs(interval.value - float(p)) < 0.03
    assert quantile_orders.product_variance_gap([(Q(1), Q(1), Q(1, 2)), (Q(2), Q(1, 2), Q(1, 2))]) == Q(-1, 64)
    assert quantile_samples.product_variance_gap([(1, 1, 0.5), (2, 0.5, 0.5)]).value == pytest.approx(-1 / 64)
