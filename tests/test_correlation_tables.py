"""Numbers stated for derivative correlations, recomputed: constants, worked counterexamples, growth, limits of claims."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp
import torch

from lakatos import verify
from lakatos._checker_text import read_polynomial
from lakatos.core import Outcome, Relation
from lakatos.numerics import layer_lines, mlps, nested_jvp, taylor_mode
from lakatos.numerics.activation_growth import growth
from lakatos.numerics.activations import Activation
from lakatos.numerics.correlation_exponents import correlation_laws
from lakatos.numerics.deviation_bounds import certified_course
from lakatos.numerics.linearization_exponents import Ensemble, sphere_data, sphere_runs
from lakatos.numerics.linearized_training import Schedule
from lakatos.numerics.mlps import Architecture, Mlp
from lakatos.numerics.one_hidden import SCALINGS, OneHidden, correlation_samples, random_networks
from lakatos.numerics.power_laws import exponent_verdict, power_law
from lakatos.theory import gaussian_constants as constants
from lakatos.theory.activation_fields import ANALYTIC, ENTIRE
from lakatos.theory.activations import growth_rate
from lakatos.theory.deviations import descent
from lakatos.theory.quantile_orders import LAWS
from lakatos.theory.steps_of_polynomials import chebyshev
from lakatos.theory.width_exponents import largest_weak_order, one_hidden_exponent

K = constants.K
CUBIC = (Fraction(0), Fraction(-1), Fraction(0), Fraction(1))

# Constants -------------------------------------------------------------------------------------------------------------


def test_constants_of_a_cubic_are_these_polynomials() -> None:
    stated = {
        constants.variance(2): K**3
        * (36435420 * K**6 - 7552440 * K**5 + 747225 * K**4 - 46620 * K**3 + 2022 * K**2 - 60 * K + 1),
        constants.slope_square(1): 2 * K**2 * (21465 * K**4 - 4392 * K**3 + 426 * K**2 - 24 * K + 1),
        constants.mean(5): sp.Integer(0),
    }
    for constant, formula in stated.items():
        found = constants.closed_form("polynomial", CUBIC, constant)
        assert found is not None
        assert sp.expand(found - formula) == 0


def test_constants_of_sine_are_these_expressions() -> None:
    E = sp.exp(-2 * K)
    theta = (1 + K - E + E * K) / 2
    third = -(K**2) * (1 + E) * (E**3 * K - E**3 - E**2 * K + E**2 + E * K - E + 3 * K + 1) / 16
    for constant, formula in ((constants.mean(1), theta), (constants.mean(3), third)):
        found = constants.closed_form("sin", (), constant)
        assert found is not None
        assert sp.expand(sp.expand(found - formula, power_exp=True)) == 0


@pytest.mark.parametrize("n", [64, 256])
def test_third_correlation_of_squares_is_twelve_over_n(n: int) -> None:
    """At K = 1: 3/16 and 3/64, a factor of 4 where n^(−3/2) has 8 and n^(−9/4) 22.6; within 5 standard errors."""
    square = Activation("polynomial", (0.0, 0.0, 1.0))
    (found,) = correlation_samples(square, [n], [(0, 3)], np.ones((2, 2)), np.ones(1), networks=4000, seed=1)[0, 3]
    error = float(found.std(ddof=1)) / math.sqrt(len(found))
    assert abs(found.mean() - 12 / n) < 5 * error < 4 / n


# Counterexamples -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("digits", "stated"), [(4, 0.759), (8, 0.842), (64, 0.966), (256, 0.989)])
def test_a_uniform_power_of_n_is_below_n_over_its_logarithm(digits: int, stated: float) -> None:
    """n^U ≤ n/log n with this probability, which tends to 1: with every bound f of n^U, f/log n is one."""
    n = sp.Integer(10) ** digits
    quantile, bound = LAWS["uniform_power"], n / sp.log(n)
    n_, p_ = sorted(quantile.free_symbols, key=str)
    for p, is_below in ((stated - 0.0006, True), (stated + 0.0006, False)):
        assert bool(sp.N(sp.log(quantile.subs({n_: n, p_: sp.Rational(str(p))}) / bound), 30) < 0) is is_below


@pytest.mark.parametrize(("digits", "stated"), [(2, 8), (4, 32), (6, 72), (8, 162)])
def test_real_steps_do_not_bound_the_second_correlation(digits: int, stated: int) -> None:
    """f = (T_N(t) − T_N(0) − T_N'(0) t)/m with N = 2⌊log m/2⌋: at most 2/m for real |t| ≤ 1, and m C_{0,2} = N²/2."""
    m = 10**digits
    coefficients = list(chebyshev(2 * math.floor(math.log(m) / 2)))
    coefficients[0] = coefficients[1] = 0
    assert abs(coefficients[2]) == stated
    values = np.polynomial.polynomial.polyval(np.cos(np.linspace(0, math.pi, 4001)), [float(c) for c in coefficients])
    assert np.abs(values).max() == pytest.approx(2, rel=1e-9)
    assert max(map(abs, coefficients)) / m == pytest.approx(0.08, rel=1e-9) or digits > 2


@pytest.mark.parametrize(
    ("output", "parameters", "m", "steps", "deviation"),
    [("u + u*v/100 + v^2", ["u", "v"], 10**4, 2, "1.2"), ("t + t^2/100", ["t"], 100, 1, "1")],
)
def test_rates_above_one_leave_the_order(
    output: str, parameters: list[str], m: int, steps: int, deviation: str
) -> None:
    """With r = 10 and the loss derivative −1: 1.2 where r²/m is 0.01, and 1 where r/m is 0.1."""
    start = (Fraction(0),) * len(parameters)
    course = descent([read_polynomial(output, parameters)], start, Fraction(10), steps, lambda i, f: Fraction(-1), 1)
    assert course[-1].deviation == Fraction(deviation)
    assert course[-1].deviation >= 10 * Fraction(10, m)


def test_a_step_across_the_kink_is_not_its_series() -> None:
    """n = 1, a = w = x = 1, rate 1, loss derivative 2: the network is 0 after the step, its series 1."""
    after = (1 - 2.0) * max(0.0, 1 - 2.0)
    coefficients, _ = layer_lines.line_coefficients([[[1.0]]], [1.0], [1.0], "relu", order=3)
    assert (after, sum(c * (-2.0) ** d for d, c in enumerate(coefficients))) == (0.0, 1.0)


# Growth of derivatives -------------------------------------------------------------------------------------------------


def suprema(name: str, scale: float, order: int) -> list[float]:
    z = torch.linspace(-12, 12, 48001, dtype=torch.float64) / scale
    return [float(value.abs().max()) for value in Activation(name, scale=scale).derivatives(z, order)]


@pytest.mark.parametrize(
    ("name", "scale", "stated"),
    [
        ("tanh", 1, 0.644),
        ("sigmoid", 1, 0.307),
        ("erf", 1, 0.486),
        ("sin", 1, 0.165),
        ("lorentzian", 1, 1.0),
        ("lorentzian", 3, 3.0),
    ],
)
def test_roots_of_the_fourteenth_derivative(name: str, scale: float, stated: float) -> None:
    found = suprema(name, scale, 14)[14] / math.factorial(14)
    assert found ** (1 / 14) == pytest.approx(stated, abs=6e-4)


@pytest.mark.parametrize(("scale", "stated"), [(1, (0.5, 0.022, 0.0022, 0.00026)), (2, (1.0, 0.71, 1.1, 2.1))])
def test_the_condition_on_derivatives_depends_on_the_scale(scale: float, stated: tuple[float, ...]) -> None:
    found = suprema("tanh", scale, 13)
    for k, value in zip((1, 5, 9, 13), stated, strict=True):
        assert found[k] / math.factorial(k + 1) == pytest.approx(value, rel=0.03)  # stated with two digits


@pytest.mark.parametrize("name", [name for name in ANALYTIC if name not in ENTIRE])
def test_growth_by_derivatives_is_that_by_singularities(name: str) -> None:
    for scale in (1, -2):
        found = growth(Activation(name, scale=scale))
        assert abs(found.rate - float(growth_rate(name, Fraction(scale)))) <= found.error <= 0.02 * abs(scale)


@pytest.mark.parametrize(
    "fields", [{"activation": "identity"}, {"activation": "polynomial", "coefficients": [0, 0, 1]}]
)
def test_growth_does_not_apply_to_polynomials(fields: dict[str, object]) -> None:
    found = verify("activation_growth_rate_eq_inverse_singularity_distance", **fields)
    assert found.outcome is Outcome.INAPPLICABLE


# Networks --------------------------------------------------------------------------------------------------------------


def flat(architecture: Architecture, seed: int) -> Mlp:
    drawn = mlps.draw(architecture, [seed])
    return drawn.with_parameters([p[0] for p in drawn.parameters])


@pytest.mark.parametrize("hidden", [1, 2])
def test_contraction_lowers_the_order_in_networks(hidden: int) -> None:
    """J(x_2)·C_{1,1}[x; x_1] = 2 C_{0,2}[x; x_1, x_2], the right side by polarization of Taylor mode."""
    mlp = flat(Architecture(3, 5, hidden, activation="tanh"), 3)
    x = torch.randn(3, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)

    def function(by_name: dict[str, torch.Tensor], inputs: torch.Tensor = x[:1]) -> torch.Tensor:
        return mlps.forward(mlp.with_parameters([by_name[str(i)] for i in range(len(by_name))]), inputs).outputs.sum()

    theta = {str(i): p for i, p in enumerate(mlp.parameters)}
    first, second = (torch.func.grad(lambda p, b=b: function(p, x[b : b + 1]))(theta) for b in (1, 2))
    _, left = torch.func.jvp(lambda p: nested_jvp.line_coefficients(function, p, first, 1)[1], (theta,), (second,))
    by_sign = []
    for sign in (1.0, -1.0):
        weights = torch.tensor([[1.0], [sign]], dtype=torch.float64)
        direction = taylor_mode.gradient_direction(mlp, x[1:], weights)
        by_sign.append(float(taylor_mode.correlations(mlp, x[:1], direction, 2)[2]))
    assert float(left) == pytest.approx(2 * (by_sign[0] - by_sign[1]) / 4, rel=1e-11)


def test_biases_change_the_kernel_and_add_a_constant() -> None:
    """With unit normal biases K gains 1, and the bias of the output adds η to Θ and nothing to other orders."""
    mlp = flat(Architecture(3, 6, activation="tanh", bias=True), 5)
    x, one = torch.tensor([[0.7, -1.1, 0.4]], dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)
    (W, a), (b, _) = mlp.weights, mlp.biases
    z = (W @ x[0] / math.sqrt(3) + b)[None, :, None].expand(1, -1, 2)
    kernel = (x @ x.T / 3 + 1).flatten().expand(2)
    net = OneHidden.of(Activation("tanh"), a, z, kernel, one[0], rate=0.5)
    direction = taylor_mode.gradient_direction(mlp, x, one)
    found = taylor_mode.correlations(mlp, x, direction, 4, rate=0.5)[:, 0, 0]
    closed = net.correlations([(0, d) for d in range(1, 5)])
    for d in range(1, 5):
        assert float(found[d]) - 0.5 * (d == 1) == pytest.approx(float(closed[0, d]), rel=1e-11)


def test_output_weights_with_a_mean_raise_even_orders() -> None:
    """By √n, F itself included, if φ is not odd: exponents ½ and −½ where they are 0 and −1."""
    widths = [2**k for k in range(6, 13)]
    samples = correlation_samples(
        Activation("softplus"),
        widths,
        [(0, 0), (0, 2)],
        np.ones((2, 2)),
        np.ones(1),
        networks=200,
        seed=0,
        output_mean=1.0,
    )
    for d, exponent in ((0, 0.5), (2, -0.5)):
        law = power_law(widths, samples[0, d])
        assert exponent_verdict(law, exponent, Relation.EQUAL, 0.1) == "supported"
        assert exponent_verdict(law, exponent - 0.5, Relation.EQUAL, 0.1) == "refuted"


def test_the_standard_parametrization_is_weakly_correlated_with_m_the_square_of_n() -> None:
    orders = [(0, d) for d in range(2, 7)] + [(1, d) for d in range(1, 5)]
    assert largest_weak_order({order: one_hidden_exponent(*order, is_standard=True) for order in orders}) == 2


def test_free_indices_in_the_standard_parametrization() -> None:
    """For D ≥ 2 output weights do not enter the terms that lead, so that no logarithm bends the slopes."""
    widths = [2**k for k in range(7, 13)]
    orders = {(2, 0): -1, (2, 1): -2, (3, 0): Fraction(-3, 2), (3, 1): Fraction(-5, 2)}
    samples = correlation_samples(
        Activation("tanh"),
        widths,
        list(orders),
        np.ones((2, 2)),
        np.ones(1),
        networks=40,
        seed=0,
        scaling=SCALINGS["standard"],
    )
    for (D, d), exponent in orders.items():
        assert one_hidden_exponent(D, d, is_standard=True).value == exponent
        assert power_law(widths, samples[D, d], resamples=200).exponent == pytest.approx(float(exponent), abs=0.1)


def test_orders_in_the_mean_field_grow_with_the_free_indices() -> None:
    for D in range(2, 6):
        assert {one_hidden_exponent(D, d, gamma=Fraction(1)).value for d in range(4)} == {Fraction(D, 2) - 1}


@pytest.mark.slow
def test_deep_linear_networks_lose_a_power_of_n_with_every_order() -> None:
    """Three identity layers: −1, −2, −3, not −⌊d/2⌋."""
    widths = [16, 23, 32, 45, 64, 91, 128]
    laws = correlation_laws(lambda n: Architecture(8, n, 3, activation="identity"), widths, 400, 4, 0)
    for d in (2, 3, 4):
        assert exponent_verdict(laws[0, d], 1.0 - d, Relation.EQUAL, 0.3) != "refuted"
        if d > 2:
            assert exponent_verdict(laws[0, d], -float(d // 2), Relation.EQUAL, 0.3) == "refuted"


# Training --------------------------------------------------------------------------------------------------------------


def test_flow_in_place_of_steps_leaves_a_floor() -> None:
    """The linearized model by flow for the time η a step is at a distance of order 1; by the same steps, of order 1/n."""
    widths, steps = [32, 45, 64, 91, 128, 181, 256, 362, 512], 10
    discrete, flow = [], []
    _, targets = sphere_data(8, 4, 2, 0)
    for n in widths:
        ensemble = Ensemble(lambda width: Architecture(8, width), widths, 60)
        runs = sphere_runs(ensemble, n, Schedule(1.0, steps), 0)
        seeds = [int(s) for s in np.random.SeedSequence([0, n]).generate_state(60)]
        inputs, _ = sphere_data(8, 4, 2, 0)
        kernel = mlps.tangent_kernel(mlps.draw(Architecture(8, n), seeds), inputs[:4])[:, :, 0, :, 0]
        decay = torch.linalg.matrix_exp(-kernel * steps / 4)
        linear = targets[:, 0] + (decay @ (runs.start[:, :4, 0] - targets[:, 0])[..., None])[..., 0]
        discrete.append(runs.deviation[-1, :, :4, 0].square().mean(1).sqrt().numpy())
        flow.append((runs.outputs[-1, :, :4, 0] - linear).square().mean(1).sqrt().numpy())
    by_steps, by_flow = (power_law(widths, values) for values in (discrete, flow))
    assert exponent_verdict(by_steps, -1.0, Relation.AT_MOST, 0.2) == "supported"
    assert exponent_verdict(by_flow, -1.0, Relation.AT_MOST, 0.2) == "refuted"
    assert abs(by_flow.exponent) < 0.1


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["sin", "erf"])
def test_certificates_fall_like_one_over_n(activation: str) -> None:
    """Deviation, drift of the kernel and both bounds, after 14 steps; the bounds are within a factor of ten."""
    widths, parts = [256, 362, 512, 724, 1024, 1448, 2048], ("deviation", "bound", "drift", "drift_bound")
    values: dict[str, list[np.ndarray]] = {part: [] for part in parts}
    for n in widths:
        (networks,) = random_networks(
            Activation(activation), n, np.ones((2, 2)), np.ones(1), networks=30, seed=2, rate=0.5
        )
        course = certified_course(networks, 1.5, 14)
        assert bool((course.deviation <= course.bound + course.rounding).all())
        assert bool((course.drift <= course.drift_bound + 1e-12).all())
        for part in parts:
            values[part].append(getattr(course, part)[-1].numpy())
    for part in parts:
        assert exponent_verdict(power_law(widths, values[part]), -1.0, Relation.EQUAL, 0.2) != "refuted", part
    for bound, bounded in (("bound", "deviation"), ("drift_bound", "drift")):
        assert 1 < np.median(np.concatenate(values[bound]) / np.concatenate(values[bounded])) < 10
