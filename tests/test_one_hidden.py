"""Correlations of one hidden layer: closed forms against dense derivatives, constants and exponents against tables."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.func import grad, vmap

from lakatos.core import InputError, Relation
from lakatos.numerics.activation_growth import factorial_suprema, growth
from lakatos.numerics.activations import ACTIVATIONS, Activation
from lakatos.numerics.one_hidden import (
    SCALINGS,
    OneHidden,
    Scaling,
    block_norm,
    correlation_samples,
    random_networks,
)
from lakatos.numerics.one_hidden_reference import reference_correlations
from lakatos.numerics.power_laws import exponent_verdict, power_law
from lakatos.numerics.series_residuals import Network
from lakatos.theory import gaussian_constants as constants
from lakatos.theory.gaussian_quadrature import majorant, quadrature
from lakatos.theory.maximum_law import maximum_quantile
from lakatos.theory.width_exponents import (
    largest_power_order,
    largest_weak_order,
    one_hidden_exponent,
    smooth_exponent,
    top_exponent,
)

HALF = Fraction(1, 2)
SQUARE = (Fraction(0), Fraction(0), Fraction(1))
CUBIC = (Fraction(0), Fraction(-1), Fraction(0), Fraction(1))
K = constants.K


def one_input(kernel: float) -> tuple[np.ndarray, np.ndarray]:
    return np.full((2, 2), kernel), np.ones(1)


# Activations ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in ACTIVATIONS if name != "relu"])
def test_derivatives_are_those_of_autograd(name: str) -> None:
    phi, z = Activation(name, scale=1.3), torch.linspace(-3, 3, 13, dtype=torch.float64)
    found = phi.derivatives(z, 5)
    for k in range(5):

        def lower(x: torch.Tensor, k: int = k) -> torch.Tensor:
            return phi.derivatives(x, k)[k]

        expected = vmap(grad(lower))(z)
        assert torch.allclose(found[k + 1], expected, rtol=1e-10, atol=1e-10)


def test_kinks_and_bad_names() -> None:
    z = torch.tensor([-1.0, 2.0], dtype=torch.float64)
    assert [value.tolist() for value in Activation("relu").derivatives(z, 3)] == [[0, 2], [0, 1], [0, 0], [0, 0]]
    assert not Activation("relu").is_analytic
    for bad in ({"name": "swish"}, {"name": "tanh", "coefficients": (1.0,)}, {"name": "polynomial"}):
        with pytest.raises(InputError, match=r"activation|coefficients"):
            Activation(**bad)  # type: ignore[arg-type]


# R_14 and R of the catalogue: the first is slow, the extrapolation is not.
def test_derivatives_of_a_smooth_function_that_is_not_analytic() -> None:
    suprema = factorial_suprema(12)
    for k, value in enumerate(suprema, start=1):
        at_zero = math.factorial(2 * k) / math.factorial(k + 1)  # and |cos + sin| is at most the root of 2
        assert at_zero * (1 - 1e-9) <= value <= math.sqrt(2) * at_zero * (1 + 1e-9)
    assert suprema[0] == pytest.approx(1, rel=0.42)


@pytest.mark.parametrize(("name", "rate"), [("tanh", 2 / math.pi), ("sigmoid", 1 / math.pi), ("lorentzian", 1.0)])
def test_growth_of_derivatives(name: str, rate: float) -> None:
    for scale in (1.0, 3.0):
        found = growth(Activation(name, scale=scale))
        assert abs(found.rate - scale * rate) <= found.error <= 0.01 * scale


# Closed forms ----------------------------------------------------------------------------------------------------------


@settings(max_examples=6, deadline=None)
@given(
    st.sampled_from(["tanh", "erf", "softplus", "sin", "gelu"]),
    st.integers(1, 4),
    st.integers(1, 2),
    st.integers(0, 2**31),
)
def test_closed_forms_are_dense_derivatives(name: str, n: int, inputs: int, seed: int) -> None:
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> torch.Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    network = Network(Activation(name), normal(n), normal(n, 2), normal(1 + inputs, 2), normal(inputs), rate=0.7)
    orders = [(0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (2, 0), (2, 1)]
    closed = network.closed_form().correlations(orders)
    for order, reference in reference_correlations(network, orders).items():
        assert abs(float(closed[order]) - reference.value) <= 1e-12 * (1 + reference.size)


def test_third_order_norm_is_what_power_iteration_finds() -> None:
    generator = torch.Generator().manual_seed(0)
    tensors = [torch.randn(*shape, generator=generator, dtype=torch.float64) for shape in ((3,), (3, 2), (2, 2), (1,))]
    network = Network(Activation("tanh"), *tensors)
    exact = float(network.closed_form().correlations([(3, 0)])[3, 0])
    assert reference_correlations(network, [(3, 0)])[3, 0].value == pytest.approx(exact, rel=1e-6)


@given(st.floats(-3, 3), st.floats(-3, 3), st.integers(2, 6))
def test_norm_of_a_block_is_the_maximum_over_the_circle(a: float, b: float, D: int) -> None:
    angles = torch.linspace(0, math.pi, 20001, dtype=torch.float64)
    form = angles.cos() ** (D - 1) * (a * angles.cos() + b * angles.sin())
    A, B = torch.tensor(a, dtype=torch.float64), torch.tensor(b, dtype=torch.float64)
    assert float(block_norm(A, B, D)) == pytest.approx(float(form.abs().max()), rel=1e-6, abs=1e-12)


def test_scalings_are_powers_of_the_width() -> None:
    """I7: output n^−γ with η n^(2γ−1) multiplies C_{D,d} by n^((γ−½)(D+d−1))."""
    kernel, c = one_input(0.7)
    orders = [(0, 1), (0, 2), (0, 3), (1, 1), (2, 1), (3, 0)]
    (plain,) = random_networks(Activation("tanh"), 50, kernel, c, networks=3, seed=1)
    for gamma in (0.75, 1.0):
        (moved,) = random_networks(
            Activation("tanh"), 50, kernel, c, networks=3, seed=1, scaling=Scaling.of_output(gamma)
        )
        before, after = plain.correlations(orders), moved.correlations(orders)
        for D, d in orders:
            assert torch.allclose(after[D, d], before[D, d] * 50 ** ((gamma - 0.5) * (D + d - 1)), rtol=1e-12)


def test_rate_enters_by_half_a_power_for_each_free_index() -> None:
    kernel, c = one_input(0.7)
    orders = [(0, 2), (1, 1), (2, 1)]
    nets = [next(random_networks(Activation("erf"), 9, kernel, c, networks=2, seed=1, rate=r)) for r in (1.0, 3.0)]
    before, after = (net.correlations(orders) for net in nets)
    for D, d in orders:
        assert torch.allclose(after[D, d], before[D, d] * 3 ** (D / 2 + d), rtol=1e-12)


def test_draws_do_not_depend_on_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    kernel, c = np.array([[1.0, 0.3], [0.3, 0.5]]), np.array([0.7])

    def samples() -> np.ndarray:
        return correlation_samples(Activation("sin"), [40], [(0, 2)], kernel, c, networks=30, seed=5)[0, 2][0]

    whole = samples()
    monkeypatch.setattr("lakatos.numerics.one_hidden._CHUNK_BYTES", 1 << 16)
    assert np.array_equal(samples(), whole)


def test_pairs_make_even_orders_zero() -> None:
    kernel, c = one_input(1.0)
    samples = correlation_samples(
        Activation("tanh"), [100], [(0, 0), (0, 1), (0, 2), (0, 4)], kernel, c, networks=5, seed=0, paired=True
    )
    for d in (0, 2, 4):
        assert np.abs(samples[0, d][0]).max() < 1e-14
    assert samples[0, 1][0].min() > 0.1


def test_bad_sizes_are_named() -> None:
    with pytest.raises(InputError, match="kernel"):
        next(random_networks(Activation("tanh"), 4, np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(1), networks=1, seed=0))
    with pytest.raises(InputError, match="paired"):
        next(random_networks(Activation("tanh"), 3, *one_input(1.0), networks=1, seed=0, paired=True))
    net = next(random_networks(Activation("tanh"), 3, *one_input(1.0), networks=1, seed=0))
    assert isinstance(net, OneHidden)
    with pytest.raises(InputError, match="orders"):
        net.correlations([(-1, 2)])


# Constants -------------------------------------------------------------------------------------------------------------

QUANTITIES = (
    constants.mean(1),
    constants.mean(3),
    constants.variance(2),
    constants.slope_square(1),
    constants.mean(5),
)
TABLE = {  # Θ, n E C_{0,3}, n² Var C_{0,2}, n E‖C_{1,1}‖², n² E C_{0,5} at K = 1
    "sin": (1.0, -0.28383382, 0.11673946, 0.69262571, 0.055338697),
    "erf": (1.0339691, -0.49749237, 0.41118899, 1.0571318, 0.67942025),
    "tanh": (0.85869739, -0.28800239, 0.18185954, 0.63058744, 0.35443275),
    "softplus": (1.2146249, 0.025212338, 0.42171193, 0.79380396, 0.00054015757),
}


@pytest.mark.parametrize("name", TABLE)
def test_constants_at_one(name: str) -> None:
    for constant, expected in zip(QUANTITIES, TABLE[name], strict=True):
        found = constants.expectation(name, (), constant, Fraction(1))
        assert float(found.value) == pytest.approx(expected, rel=1e-7)
        assert found.error < 1e-14


def test_constants_elsewhere() -> None:
    values = {
        (HALF, 0): 0.5698892,
        (HALF, 1): -0.055561039,
        (Fraction(2), 0): 1.2189923,
        (Fraction(2), 1): -1.5198461,
        (Fraction(2), 4): 7.626,  # Gauss-Hermite with 160 nodes gives 7.612
    }
    for (kernel, i), expected in values.items():
        found = constants.expectation("tanh", (), QUANTITIES[i], kernel)
        assert float(found.value) == pytest.approx(expected, abs=5e-4 if i == 4 else 5e-8)


def test_polynomial_constants_are_polynomials_in_the_kernel() -> None:
    identity = [constants.closed_form("identity", (), constant) for constant in QUANTITIES]
    assert identity == [2 * K, 0, K**3, 2 * K**2, 0]
    square = [constants.closed_form("polynomial", SQUARE, constant) for constant in QUANTITIES]
    assert square == [7 * K**2, 12 * K**4, 3840 * K**6, 204 * K**4, 0]
    cubic = [constants.closed_form("polynomial", CUBIC, constant) for constant in QUANTITIES[:2]]
    assert [
        (c - e).expand()
        for c, e in zip(
            cubic, (2 * K * (21 * K**2 - 6 * K + 1), 6 * K**3 * (675 * K**3 - 153 * K**2 + 15 * K - 1)), strict=True
        )
    ] == [0, 0]


@pytest.mark.parametrize("name", ["sin", "erf"])
@pytest.mark.parametrize("kernel", [HALF, Fraction(2)])
def test_closed_forms_are_the_quadrature(name: str, kernel: Fraction) -> None:
    for constant in QUANTITIES:
        formula = constants.closed_form(name, (), constant)
        if formula is not None:
            found = constants.expectation(name, (), constant, kernel)
            assert float(formula.subs(K, kernel)) == pytest.approx(float(found.value), abs=found.error + 1e-14)


@pytest.mark.parametrize("name", ["tanh", "softplus", "erf", "gelu", "silu", "arctan", "gaussian", "sin"])
def test_majorants_bound_derivatives_in_the_strip(name: str) -> None:
    import mpmath
    import sympy as sp

    from lakatos.theory.activations import derivative, z

    for k in range(4):
        function = sp.lambdify(z, derivative(name, (), k), "mpmath")
        for s in (0.1, 0.45):
            bound = majorant(name, k, s)
            for x in np.linspace(-4, 4, 17):
                limit = sum(c * abs(x) ** m for m, c in enumerate(bound))
                assert abs(function(mpmath.mpc(x, s))) <= limit * (1 + 1e-12)


def test_quadrature_is_within_its_bound_of_a_finer_one(monkeypatch: pytest.MonkeyPatch) -> None:
    for kernel, terms in ((Fraction(1), [(Fraction(1), 2, (1, 1, 3))]), (Fraction(30), [(Fraction(1), 0, (0,))])):
        monkeypatch.setattr("lakatos.theory.gaussian_quadrature._STEP", Fraction(1, 2))
        coarse, error, _ = quadrature("lorentzian", terms, kernel)
        monkeypatch.setattr("lakatos.theory.gaussian_quadrature._STEP", Fraction(1, 64))
        fine, _, _ = quadrature("lorentzian", terms, kernel)
        assert abs(coarse - fine) <= error
    assert abs(coarse - fine) > 1e-3  # a coarse rule is wrong, and says so


def test_means_of_random_layers_are_the_constants() -> None:
    samples = correlation_samples(
        Activation("tanh"), [16], [(0, 1), (0, 3), (1, 1)], *one_input(1.0), networks=20_000, seed=0
    )
    for sample, i in ((samples[0, 1][0], 0), (16 * samples[0, 3][0], 1), (16 * samples[1, 1][0] ** 2, 3)):
        error = sample.std(ddof=1) / math.sqrt(len(sample))
        assert abs(sample.mean() - TABLE["tanh"][i]) < 5 * error
        assert error < 0.01 * abs(TABLE["tanh"][i]) + 0.002


# Exponents -------------------------------------------------------------------------------------------------------------


def test_table_of_exponents() -> None:
    assert [smooth_exponent(0, d).value for d in range(1, 7)] == [0, -1, -1, -2, -2, -3]
    assert [smooth_exponent(1, d).value for d in range(5)] == [0, -HALF, -1, -3 * HALF, -2]
    mean_field = [one_hidden_exponent(*order, gamma=Fraction(1)).value for order in ((0, 1), (0, 2), (0, 3), (1, 4))]
    assert mean_field == [0, -HALF, 0, 0]
    standard = [one_hidden_exponent(0, d, is_standard=True).value for d in range(1, 7)]
    assert standard == [0, -2, -3, -5, -6, -8]
    assert [one_hidden_exponent(1, d, is_standard=True).value for d in range(4)] == [0, -1, Fraction(-5, 2), -4]
    assert [top_exponent(2, d).value for d in range(5)] == [0, 0, -1, -2, None]


def test_logarithms_come_with_maxima() -> None:
    """(log n)^((d+1)/2) for D ≥ 2, whatever the output; none for sums."""
    orders = [(0, 3), (1, 2), (2, 0), (2, 1), (3, 2)]
    for gamma in (HALF, Fraction(1)):
        found = [one_hidden_exponent(*order, gamma=gamma).logs for order in orders]
        assert found == [0, 0, HALF, 1, 3 * HALF]


def test_orders_of_weak_correlation() -> None:
    powers = {d: smooth_exponent(0, d) for d in range(2, 9)}
    assert largest_power_order(powers) == Fraction(2, 3)
    assert largest_power_order({5: powers[5]}) == Fraction(4, 5)
    orders = [(0, d) for d in range(2, 6)] + [(1, d) for d in range(1, 4)]
    for gamma, expected in ((HALF, 1), (Fraction(3, 4), HALF), (Fraction(1), 0)):
        assert largest_weak_order({o: one_hidden_exponent(*o, gamma=gamma) for o in orders}) == expected
    assert largest_weak_order({(0, 3): top_exponent(1, 3)}) is None


@pytest.mark.parametrize(("name", "order"), [("tanh", (2, 0)), ("softplus", (2, 1)), ("erf", (3, 0))])
def test_norms_follow_the_law_of_the_maximum(name: str, order: tuple[int, int]) -> None:
    D, d = order
    n, networks = 100, 2000
    sample = correlation_samples(Activation(name), [n], [order], *one_input(0.5), networks=networks, seed=2)[order][0]
    median = maximum_quantile(name, (), D, d, HALF, n) * n ** (-(d + 1) / 2)
    below = float(np.mean(sample < median))
    assert abs(below - 0.5) < 4 / (2 * math.sqrt(networks))


WIDTHS = [2**k for k in range(6, 15)]
SMOOTH = ("tanh", "erf", "softplus")
SLOPES = [(0, d) for d in (1, 2, 3, 4, 6)] + [(1, d) for d in range(5)]


@pytest.mark.slow
@pytest.mark.parametrize("name", SMOOTH)
def test_slopes_of_smooth_activations(name: str) -> None:
    samples = correlation_samples(Activation(name), WIDTHS, SLOPES, *one_input(0.5309), networks=200, seed=0)
    for D, d in SLOPES:
        law = power_law(WIDTHS, samples[D, d])
        exponent = float(smooth_exponent(D, d).value or 0)
        assert exponent_verdict(law, exponent, Relation.EQUAL, 0.2) != "refuted", (D, d, law)
        assert abs(law.exponent - exponent) < 0.15
        if (D, d) != (0, 1):
            assert exponent_verdict(law, exponent + 0.5, Relation.EQUAL, 0.2) == "refuted"


@pytest.mark.slow
@pytest.mark.parametrize("parametrization", ["mean_field", "standard"])
def test_slopes_of_other_parametrizations(parametrization: str) -> None:
    orders = [(0, 2), (0, 3), (0, 4), (1, 1), (1, 2), (1, 3)]
    samples = correlation_samples(
        Activation("tanh"), WIDTHS, orders, *one_input(0.5309), networks=200, seed=0, scaling=SCALINGS[parametrization]
    )
    for D, d in orders:
        exponent = one_hidden_exponent(
            D,
            d,
            gamma=Fraction(1) if parametrization == "mean_field" else HALF,
            is_standard=parametrization == "standard",
        )
        law = power_law(WIDTHS, samples[D, d])
        assert exponent_verdict(law, float(exponent.value or 0), Relation.EQUAL, 0.2) != "refuted"
        assert abs(law.exponent - float(exponent.value or 0)) < 0.1


def test_identity_and_relu_have_exact_zeros() -> None:
    for name in ("identity", "relu"):
        samples = correlation_samples(
            Activation(name), [64], [(0, 2), (0, 3), (1, 2)], *one_input(1.0), networks=5, seed=0
        )
        assert np.abs(samples[0, 2][0]).min() > 0
        assert not samples[0, 3][0].any()
        assert not samples[1, 2][0].any()
