"""The nuclear norm of the Jacobian of the balances: value, gradient, estimates, bounds, and the penalty for modules."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from lakatos import Network
from lakatos.core import InputError, Undecided
from lakatos.graphs.layered import layered_network
from lakatos.numerics import laplacians
from lakatos.numerics.balances import Balances
from lakatos.numerics.descent import Objective
from lakatos.numerics.flow import observed
from lakatos.numerics.forward import as_floats
from lakatos.numerics.laplacians import Laplacian, jacobian, lanczos_nuclear_norm, measured_norm, singular_values
from lakatos.numerics.nuclear import NuclearNorm, edge_weights, nuclear_norm
from lakatos.testing import Fields, multigraphs, weighted_dags
from lakatos.theory.laplacian import factorization_residual, grounded_laplacian, norm_bounds, spectral_factors
from lakatos.theory.laplacian import nuclear_norm as exact_norm

CHAIN = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")])


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def norm_of(network: Network, weights: Tensor) -> tuple[float, Tensor]:
    """The norm and its gradient."""
    theta = weights.clone().requires_grad_()
    value = nuclear_norm(Laplacian(network), theta)
    value.backward()
    assert theta.grad is not None
    return float(value.detach()), theta.grad


def drawn(network: Network, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(network.edge_count, generator=generator, dtype=torch.float64)


@given(weighted_dags(dead_ends=True))
@settings(max_examples=60)
def test_value_of_random_networks(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    exact = [Fraction(w) for w in network.weights or ()]
    value = float(nuclear_norm(Laplacian(network), as_floats(network)))
    expected = exact_norm(network, exact)
    # The root of an eigenvalue that is 0 up to rounding, 16 eps times the largest, is 6e-8 of the largest root.
    assert value == pytest.approx(expected, rel=1e-9, abs=1e-6 * max(1.0, expected))
    assert float(singular_values(network, as_floats(network)).sum()) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@given(multigraphs(), st.integers(0, 3))
@settings(max_examples=60)
def test_gradient_where_the_norm_is_smooth(fields: Fields, seed: int) -> None:
    """Of multigraphs with cycles, parallel edges and edges between terminals, by autograd through singular values."""
    network = Network.from_edges(**fields)
    weights = drawn(network, seed)
    values = singular_values(network, weights)
    # Neither singular nor close to it.
    assume(len(values) == len(network.hidden_nodes) and (len(values) == 0 or values[-1] > 1e-3 * values[0]))
    value, gradient = norm_of(network, weights)
    by_autograd = measured_norm(network, weights)
    scale = max(1.0, value)
    assert value == pytest.approx(by_autograd.value, rel=1e-12, abs=1e-14)
    # A condition of at most 1e3 for J, 1e6 for L.
    assert torch.allclose(gradient, numbers(*by_autograd.gradient), rtol=0, atol=1e-9 * scale)
    # The norm is homogeneous of degree 1.
    assert float(weights @ gradient) == pytest.approx(value, abs=1e-9 * scale)


def test_chain_by_hand() -> None:
    value, gradient = norm_of(CHAIN, numbers(1, 1, 1))
    assert value == pytest.approx(2 + 2 * math.sqrt(3), rel=1e-14)
    # Stated with four decimals: 2 q with q = (0.7887, 1.1547, 0.7887).
    assert gradient.tolist() == pytest.approx([2 * 0.7887, 2 * 1.1547, 2 * 0.7887], abs=1e-4)
    for weights in ((1, 1, 1), (0.1, 1, 0.1), (2, -3, 0.5)):
        L = grounded_laplacian(CHAIN, [w**2 for w in weights])
        trace, determinant = L[0][0] + L[1][1], L[0][0] * L[1][1] - L[0][1] ** 2
        assert norm_of(CHAIN, numbers(*weights))[0] == pytest.approx(2 * math.sqrt(trace + 2 * math.sqrt(determinant)))


@given(weighted_dags())
@settings(max_examples=40)
def test_bounds(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    exact = [Fraction(w) for w in network.weights or ()]
    value, bounds = exact_norm(network, exact), norm_bounds(network, exact)
    slack = 1e-14 * max(1.0, bounds.root_2_l1)  # both sides are rounded once
    assert bounds.l2 <= value + slack
    assert value <= min(bounds.group_lasso, bounds.rank, bounds.l1, bounds.root_2_l1) + slack
    assert bounds.l1 <= bounds.root_2_l1 + slack


def test_factorization_is_derived_for_cycles_and_parallel_edges() -> None:
    network = Network.from_edges(
        [("x", "v"), ("v", "w"), ("w", "v"), ("v", "w"), ("w", "y"), ("x", "y")], inputs=["x"], outputs=["y"]
    )
    assert factorization_residual(network).is_zero_matrix
    L = Laplacian(network)
    weights = drawn(network, 0)
    J = jacobian(network, weights)
    assert torch.allclose(J @ J.T, 4 * L.dense(weights))
    for product in (L.times(weights, torch.eye(2, dtype=torch.float64)), L.operator(weights)(torch.eye(2).double())):
        assert torch.allclose(product, L.dense(weights))
    X = numbers(2, 1, 1, 3).reshape(2, 2)
    B = jacobian(network, torch.ones(6, dtype=torch.float64)) / 2
    assert torch.allclose(L.along_edges(X), (B * (X @ B)).sum(0))


def test_subgradient_at_singular_points_leaves_out_what_is_zero() -> None:
    network = Network.from_edges([("x", "a"), ("a", "y"), ("x", "b"), ("b", "y")])
    value, gradient = norm_of(network, numbers(3, 4, 0, 0))
    assert value == pytest.approx(10)
    assert gradient.tolist() == pytest.approx([2 * 3 / 5, 2 * 4 / 5, 0, 0])
    value, gradient = norm_of(network, numbers(0, 0, 0, 0))
    assert (value, gradient.tolist()) == (0, [0, 0, 0, 0])


def test_ridge_is_that_of_the_laplacian() -> None:
    theta = numbers(1, 2, 3).requires_grad_()
    value = nuclear_norm(Laplacian(CHAIN), theta, ridge=0.5)
    eigenvalues = torch.linalg.eigvalsh(Laplacian(CHAIN).dense(theta) + 0.5 * torch.eye(2, dtype=torch.float64))
    expected = 2 * eigenvalues.sqrt().sum()
    assert torch.allclose(value, expected)
    (gradient,), (other,) = (torch.autograd.grad(one, theta, retain_graph=True) for one in (value, expected))
    assert torch.allclose(gradient, other)


def test_networks_without_hidden_nodes_have_norm_zero() -> None:
    network = Network.from_edges([("x", "y")])
    assert norm_of(network, numbers(2))[0] == 0
    assert lanczos_nuclear_norm(Laplacian(network), numbers(2)).value == 0
    assert measured_norm(network, numbers(2)).value == 0


def test_flow_of_the_norm_changes_balances_by_an_adaptive_decay() -> None:
    """Without a loss, dc/dt = −4 B(θ² ⊙ q) for R = ‖J‖_*."""
    network = layered_network([2, 3, 2])
    laplacian, B, weights = Laplacian(network), Balances(network), drawn(network, 1)
    penalty = Objective(lambda theta, _: theta, weights, weights, lambda theta, _: nuclear_norm(laplacian, theta))
    seen = observed(penalty, weights, [1e-4], lambda theta: B(theta**2))
    q = norm_of(network, weights)[1] / (2 * weights)
    expected = -4 * B(weights**2 * q)
    slope = (numbers(*seen.values[0]) - B(weights**2)) / 1e-4
    assert torch.allclose(slope, expected, rtol=1e-2)  # of a difference quotient over 1e-4


def test_flow_of_the_norm_reaches_a_singular_point_in_finite_time() -> None:
    """One neuron with |θ| = 1: ‖J‖_* = 2|θ|, so the radius shrinks at speed 2 and is gone at time ½."""
    network = Network.from_edges([("x", "v"), ("v", "y")])
    laplacian, start = Laplacian(network), numbers(0.6, 0.8)
    penalty = Objective(lambda theta, _: theta, start, start, lambda theta, _: nuclear_norm(laplacian, theta))
    seen = observed(penalty, start, [0.25, 0.45], lambda theta: theta)
    assert seen.values[0] == pytest.approx((0.3, 0.4), abs=1e-8)  # tolerance of the integrator
    assert seen.values[1] == pytest.approx((0.06, 0.08), abs=1e-8)


# Estimates without a matrix.


def test_lanczos_estimates_within_its_error() -> None:
    network = layered_network([30, 40, 40, 5], bias=True)
    weights = drawn(network, 2)
    value = norm_of(network, weights)[0]
    found = lanczos_nuclear_norm(Laplacian(network), weights, probes=32, steps=40)
    # Four and a half standard errors of 32 probes, which is missed once in ten thousand seeds; the seed is fixed.
    assert abs(found.value - value) < 4.5 * found.standard_error + found.truncation
    assert found.standard_error < 0.02 * value
    assert found == lanczos_nuclear_norm(Laplacian(network), weights, probes=32, steps=40)
    assert found != lanczos_nuclear_norm(Laplacian(network), weights, probes=32, steps=40, seed=1)


def test_lanczos_is_exact_where_the_laplacian_is_diagonal() -> None:
    """Then every vector of signs gives the same, once all steps are made."""
    network = layered_network([2, 5, 1])
    weights = drawn(network, 3)
    found = lanczos_nuclear_norm(Laplacian(network), weights, probes=2, steps=5)
    assert found.value == pytest.approx(norm_of(network, weights)[0], rel=1e-10)


def test_lanczos_survives_an_exhausted_space() -> None:
    network = Network.from_edges([("x", v) for v in "abc"] + [(v, "y") for v in "abc"])
    found = lanczos_nuclear_norm(Laplacian(network), torch.ones(6, dtype=torch.float64))
    assert found.value == pytest.approx(3 * 2 * math.sqrt(2), rel=1e-12)
    assert lanczos_nuclear_norm(Laplacian(network), torch.zeros(6, dtype=torch.float64)).value == 0


# Modules.


def module() -> nn.Sequential:
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return nn.Sequential(nn.Linear(3, 5), nn.ReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)).double()


def gradients(part: nn.Module, penalty: Any) -> list[Tensor]:
    part.zero_grad()
    penalty().backward()
    return [parameter.grad.clone() for parameter in part.parameters()]


def test_penalty_of_a_module_is_that_of_its_weights() -> None:
    part = module()
    blocks = [part[0], part[2], part[4]]
    sizes = [layer.out_features for layer in blocks[:-1]]
    L = torch.zeros(sum(sizes), sum(sizes), dtype=torch.float64)
    squares = [torch.cat([layer.weight**2, layer.bias[:, None] ** 2], 1).detach() for layer in blocks]
    L[:5, :5] = torch.diag(squares[0].sum(1) + squares[1][:, :5].sum(0))
    L[5:, 5:] = torch.diag(squares[1].sum(1) + squares[2][:, :4].sum(0))
    L[5:, :5], L[:5, 5:] = -squares[1][:, :5], -squares[1][:, :5].T
    expected = 2 * torch.linalg.eigvalsh(L).sqrt().sum()
    penalty = NuclearNorm(part)
    assert float(penalty().detach()) == pytest.approx(float(expected), rel=1e-12)
    # The output bias joins two terminals.
    assert gradients(part, penalty)[-1].tolist() == [0, 0]
    assert abs(penalty.estimate(probes=64).value - float(expected)) < 0.2 * float(expected)


def test_penalty_follows_the_parameters_and_keeps_their_dtype() -> None:
    part = module().float()
    penalty = NuclearNorm(part)
    before = float(penalty().detach())
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.mul_(2)
    assert float(penalty().detach()) == pytest.approx(2 * before, rel=1e-6)  # weights in float32, sums in float64
    assert all(gradient.dtype == torch.float32 for gradient in gradients(part, penalty))


def test_convolutions_count_their_kernels_as_parallel_edges() -> None:
    part = nn.Sequential(nn.Conv2d(1, 2, 3, bias=False), nn.ReLU(), nn.Conv2d(2, 1, 3, bias=False)).double()
    penalty = NuclearNorm(part, inputs=torch.zeros(1, 1, 8, 8, dtype=torch.float64))
    norms = (part[0].weight.square().sum((1, 2, 3)) + part[2].weight.square().sum((0, 2, 3))).sqrt()
    assert torch.allclose(penalty(), 2 * norms.sum())


def test_frozen_penalty_touches_the_norm_from_above() -> None:
    part = module()
    exact, frozen = NuclearNorm(part, ridge=1e-10), NuclearNorm(part, ridge=1e-10, refresh=3)
    for one, other in zip(gradients(part, exact), gradients(part, frozen), strict=True):
        assert torch.allclose(one, other, atol=1e-12)
    with torch.no_grad():
        for parameter in part.parameters():
            parameter.mul_(1.5)
    stale, value = float(frozen().detach()), float(exact().detach())
    assert stale > value
    frozen()
    assert float(frozen().detach()) == pytest.approx(value, rel=1e-12)  # the fourth call computes the matrix again


def test_edge_weights_are_the_entries_of_the_parameters() -> None:
    part = module()
    network = NuclearNorm(part).network
    weights = edge_weights(network, part)
    assert weights.tolist() == as_floats(network).tolist()
    for e in (0, 7, network.edge_count - 1):
        name, _, rest = network.parameter(e).partition("[")
        index = tuple(int(k) for k in rest.rstrip("]").split(","))
        assert float(part.get_parameter(name)[index].detach()) == float(weights[e].detach())


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (
            lambda: nuclear_norm(Laplacian(CHAIN), numbers(1, 1, 1), ridge=-1.0),
            "ridge=-1.0: a number that is not negative",
        ),
        (lambda: NuclearNorm(module(), ridge=math.nan), "ridge=nan: not negative"),
        (lambda: NuclearNorm(module(), refresh=0), "refresh=0: a positive number"),
        (lambda: NuclearNorm(module(), refresh=2), "positive for refresh=2"),
        (lambda: lanczos_nuclear_norm(Laplacian(CHAIN), numbers(1, 1, 1), probes=1), "probes=1, steps=30: at least 2"),
    ],
)
def test_bad_arguments(make: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make()


def test_memory_is_estimated_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(laplacians, "_LARGEST_BYTES", 50)
    with pytest.raises(Undecided, match="use `lanczos_nuclear_norm`"):
        Laplacian(CHAIN).dense(numbers(1, 1, 1))
    with pytest.raises(Undecided, match="the Jacobian takes about"):
        singular_values(CHAIN, numbers(1, 1, 1))


def test_spectral_factors_need_no_special_case_for_terminals() -> None:
    factors = spectral_factors(Network.from_edges([("x", "v"), ("v", "y"), ("x", "y")]), [Fraction(1)] * 3)
    assert factors.root == pytest.approx((1 / math.sqrt(2), 1 / math.sqrt(2), 0))
    assert factors.inverse == pytest.approx((0.5, 0.5, 0))
