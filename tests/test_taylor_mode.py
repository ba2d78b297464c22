"""Correlations by Taylor mode against nested forward mode, dense derivatives, finite jets and the circle."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.core import InputError
from lakatos.numerics import jets, mlps, nested_jvp, taylor_mode
from lakatos.numerics.circle import circle_coefficients
from lakatos.numerics.mlps import Architecture, Mlp

SMOOTH = [name for name in jets.ACTIVATIONS if name not in jets.KINKED]


def flat_network(architecture: Architecture, seed: int) -> Mlp:
    drawn = mlps.draw(architecture, [seed])
    return drawn.with_parameters([p[0] for p in drawn.parameters])


def as_function(mlp: Mlp, inputs: torch.Tensor) -> tuple[Any, dict[str, torch.Tensor]]:
    parameters = {str(i): p for i, p in enumerate(mlp.parameters)}

    def function(by_name: dict[str, torch.Tensor]) -> torch.Tensor:
        return mlps.forward(mlp.with_parameters([by_name[str(i)] for i in range(len(by_name))]), inputs).outputs

    return function, parameters


def problem(architecture: Architecture, seed: int) -> tuple[Mlp, torch.Tensor, torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    options: dict[str, Any] = {"generator": generator, "dtype": torch.float64}
    inputs = torch.randn(2, architecture.inputs, **options)
    seen = torch.randn(3, architecture.inputs, **options)
    cotangents = torch.randn(3, architecture.outputs, **options)
    return flat_network(architecture, seed), inputs, seen, cotangents


@pytest.mark.parametrize("name", list(jets.ACTIVATIONS))
@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_coefficients_left_out_are_zero(name: str, length: int) -> None:
    generator = torch.Generator().manual_seed(length)
    z = list(torch.randn(length, 7, generator=generator, dtype=torch.float64))
    zero = torch.zeros(7, dtype=torch.float64)
    found = jets.activation_jet(name, z, 6)
    padded = jets.activation_jet(name, z + [zero] * (7 - length))
    assert len(padded) == 7
    for k in range(7):
        torch.testing.assert_close(found[k] if k < len(found) else zero, padded[k], rtol=1e-12, atol=1e-14)
    torch.testing.assert_close(found[0], jets.activation_value(name, z[0]))
    value, slope = jets.activation_with_slope(name, z[0])
    torch.testing.assert_close(torch.stack([value, slope]), torch.stack(jets.activation_jet(name, [z[0], zero + 1])))


@pytest.mark.parametrize("name", list(jets.ACTIVATIONS))
def test_sums_in_place_change_nothing(name: str) -> None:
    generator = torch.Generator().manual_seed(1)
    z = list(torch.randn(3, 5, 1, 7, generator=generator, dtype=torch.float64))
    kept = [coefficient.clone() for coefficient in z]
    with torch.inference_mode():
        found = jets.activation_jet(name, z, 6)
    for got, wanted in zip(found, jets.activation_jet(name, kept, 6), strict=True):
        assert torch.equal(got, wanted)
    assert all(torch.equal(got, wanted) for got, wanted in zip(z, kept, strict=True))


def test_norms_of_coefficients_that_vanish() -> None:
    mlp, inputs, seen, cotangents = problem(Architecture(3, 4, activation="identity"), 0)
    direction = taylor_mode.gradient_direction(mlp, seen, cotangents)
    norms = taylor_mode.first_order_norms(mlp, inputs, direction, 4)
    assert bool((norms[:2] > 0).all())
    assert float(norms[2:].abs().max()) == 0


@pytest.mark.parametrize("name", SMOOTH)
@settings(max_examples=6)
@given(z=st.lists(st.floats(-2, 2), min_size=4, max_size=4))
def test_jets_are_derivatives_along_the_curve(name: str, z: list[float]) -> None:
    curve = [torch.tensor(x, dtype=torch.float64) for x in z]
    values = jets.activation_jet(name, curve)

    def along(t: torch.Tensor) -> torch.Tensor:
        return jets.activation_value(name, curve[0] + t * (curve[1] + t * (curve[2] + t * curve[3])))

    expected = nested_jvp.line_coefficients(
        lambda p: along(p["t"]), {"t": torch.zeros((), dtype=torch.float64)}, {"t": torch.ones(())}, 3
    )
    scale = 1 + max(abs(x) for x in z) ** 3
    for got, wanted in zip(values, expected, strict=True):
        assert abs(float(got - wanted)) <= 1e-11 * scale**3


@settings(max_examples=10)
@given(
    hidden=st.integers(1, 4),
    outputs=st.integers(1, 2),
    activation=st.sampled_from(SMOOTH),
    parametrization=st.sampled_from(["ntk", "standard", "mean_field"]),
    bias=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_correlations_equal_nested_forward_mode(
    hidden: int, outputs: int, activation: str, parametrization: Any, bias: bool, seed: int
) -> None:
    architecture = Architecture(3, 4, hidden, outputs, activation, parametrization, bias=bias)
    mlp, inputs, seen, cotangents = problem(architecture, seed)
    direction = taylor_mode.gradient_direction(mlp, seen, cotangents)
    dense = direction.dense(bias)
    function, parameters = as_function(mlp, inputs)
    seen_function, _ = as_function(mlp, seen)
    _, pullback = torch.func.vjp(seen_function, parameters)
    (gradient,) = pullback(cotangents)
    for i, part in enumerate(dense):
        torch.testing.assert_close(part, gradient[str(i)], rtol=1e-10, atol=1e-12)
    rate = 0.7
    got = taylor_mode.correlations(mlp, inputs, direction, 3, rate=rate)
    expected = nested_jvp.line_coefficients(function, parameters, gradient, 3)
    norms = taylor_mode.first_order_norms(mlp, inputs, direction, 2, rate=rate)
    expected_norms = nested_jvp.line_gradient_norms(function, parameters, gradient, 2)
    for d in range(4):
        scale = float(expected[d].abs().max()) + 1e-3
        torch.testing.assert_close(got[d], rate**d * expected[d], rtol=1e-9, atol=1e-10 * scale)
    for d in range(3):
        torch.testing.assert_close(norms[d], rate ** (d + 0.5) * expected_norms[d], rtol=1e-9, atol=1e-12)


def test_hessian_products_equal_dense_hessians() -> None:
    mlp, inputs, seen, cotangents = problem(Architecture(2, 3, 2, bias=True), 1)
    direction = taylor_mode.gradient_direction(mlp, seen, cotangents)
    function, parameters = as_function(mlp, inputs[:1])
    gradient = {str(i): part for i, part in enumerate(direction.dense(True))}
    generator = torch.Generator().manual_seed(5)
    tangent = {name: torch.randn(p.shape, generator=generator, dtype=p.dtype) for name, p in parameters.items()}
    for d in range(3):
        got = taylor_mode.correlation_hessian_product(mlp, inputs[:1], direction, d, tuple(tangent.values()))
        expected = nested_jvp.correlation_product(function, parameters, gradient, d, tangent)
        for part, wanted in zip(got, expected.values(), strict=True):
            torch.testing.assert_close(part, wanted, rtol=1e-10, atol=1e-12)


def test_seeds_as_one_batch_equal_seeds_one_by_one() -> None:
    architecture = Architecture(3, 5, 2, activation="erf")
    batch = mlps.draw(architecture, [3, 4])
    inputs = torch.randn(2, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    ones = torch.ones(2, 1, dtype=torch.float64)
    direction = taylor_mode.gradient_direction(batch, inputs, ones)
    together = taylor_mode.correlations(batch, inputs, direction, 4)
    norms = taylor_mode.first_order_norms(batch, inputs, direction, 3)
    kernels = mlps.tangent_kernel(batch, inputs)
    for i, seed in enumerate((3, 4)):
        alone = flat_network(architecture, seed)
        one = taylor_mode.gradient_direction(alone, inputs, ones)
        torch.testing.assert_close(together[i], taylor_mode.correlations(alone, inputs, one, 4), rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(
            norms[i], taylor_mode.first_order_norms(alone, inputs, one, 3), rtol=1e-12, atol=1e-14
        )
        torch.testing.assert_close(kernels[i], mlps.tangent_kernel(alone, inputs), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("bias", [False, True])
def test_tangent_kernel_is_the_gram_matrix_of_gradients(bias: bool) -> None:
    mlp, inputs, _, _ = problem(Architecture(3, 4, 2, 2, "sigmoid", bias=bias), 2)
    function, parameters = as_function(mlp, inputs)
    jacobian = torch.func.jacrev(function)(parameters)
    rows = torch.cat([part.flatten(2) for part in jacobian.values()], dim=-1)
    torch.testing.assert_close(mlps.tangent_kernel(mlp, inputs), torch.einsum("njp,mkp->njmk", rows, rows))


@pytest.mark.parametrize(("hidden", "activation"), [(1, "relu"), (2, "relu"), (3, "identity")])
def test_top_correlation_of_homogeneous_networks(hidden: int, activation: str) -> None:
    """C_{0,L+1}[x; x^(L+1)] = K F^L / n^L, and nothing above."""
    mlp, inputs, _, _ = problem(Architecture(3, 6, hidden, activation=activation), 4)
    x = inputs[:1]
    direction = taylor_mode.gradient_direction(mlp, x, torch.ones(1, 1, dtype=torch.float64))
    found = taylor_mode.correlations(mlp, x, direction, hidden + 3)[:, 0, 0]
    K = float((x**2).sum()) / 3
    expected = K * float(found[0]) ** hidden / 6**hidden
    assert float(found[hidden + 1]) == pytest.approx(expected, rel=1e-10)
    assert float(found[hidden + 2 :].abs().max()) <= 1e-14 * (1 + abs(expected))


@pytest.mark.parametrize("activation", ["tanh", "sin", "sigmoid", "cubic"])
def test_circle_agrees_with_taylor_mode(activation: str) -> None:
    """No differentiation takes part in the circle: one step with complex loss derivatives, and a Fourier transform."""
    mlp, inputs, seen, cotangents = problem(Architecture(3, 64, 2, activation=activation), 7)
    direction = taylor_mode.gradient_direction(mlp, seen, cotangents)
    expected = taylor_mode.correlations(mlp, inputs, direction, 4, rate=0.3)
    got = circle_coefficients(mlp, inputs, direction, 4, radius=0.5, rate=0.3)
    for d in range(5):
        assert float((got.values[d] - expected[d]).abs().max()) <= got.errors[d] + 1e-12


def test_a_radius_beyond_the_poles_is_seen() -> None:
    mlp, inputs, seen, cotangents = problem(Architecture(3, 8, 1, activation="tanh"), 7)
    direction = taylor_mode.gradient_direction(mlp, seen, cotangents)
    close = circle_coefficients(mlp, inputs, direction, 3, radius=0.1)
    far = circle_coefficients(mlp, inputs, direction, 3, radius=8.0)
    assert max(close.errors) < 1e-9
    assert far.errors[3] > 1e-4


def test_width_scaling_of_parametrizations() -> None:
    """By a change of variables, μP with rate n η is the network of the other parametrization with smaller outputs."""
    ntk, mean_field = (flat_network(Architecture(3, 16, 2, parametrization=name), 1) for name in ("ntk", "mean_field"))
    x = torch.ones(1, 3, dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    plain, small = (
        taylor_mode.correlations(net, x, taylor_mode.gradient_direction(net, x, one), 3, rate=rate)[:, 0, 0]
        for net, rate in ((ntk, 1.0), (mean_field, 16.0))
    )
    for d in range(4):  # n^((γ − 1/2)(d − 1)) with γ = 1
        assert float(small[d]) == pytest.approx(float(plain[d]) * 16 ** ((d - 1) / 2), rel=1e-12)


def test_orders_that_say_nothing_are_refused() -> None:
    with pytest.raises(InputError, match="kinks"):
        taylor_mode.require_smooth("relu", 2)
    taylor_mode.require_smooth("relu", 1)
    with pytest.raises(InputError, match="order=5"):
        nested_jvp.line_coefficients(lambda p: p["t"], {"t": torch.zeros(())}, {"t": torch.ones(())}, 5)
    with pytest.raises(InputError, match="activation='swish'"):
        Architecture(2, 3, activation="swish")


def test_chunks_keep_order_and_budget() -> None:
    assert [list(part) for part in mlps.chunks(range(5), 10, budget=160)] == [[0, 1], [2, 3], [4]]
    assert [list(part) for part in mlps.chunks(range(2), 10**9, budget=8)] == [[0], [1]]
    assert math.isclose(Architecture(4, 9, gamma=0.75).rate_factor, 3.0)
