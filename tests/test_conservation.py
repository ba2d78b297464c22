"""The balance law: derived with symbols, measured on gradients, and refuted where it is false."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import pytest
import sympy
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from lakatos import Network
from lakatos.core import InputError, Reason, Undecided
from lakatos.graphs.layered import layered_network
from lakatos.numerics import gradients
from lakatos.numerics.gradients import balance_residual, evaluate, residual_at
from lakatos.testing import Fields, dags, weighted_dags
from lakatos.theory import conservation
from lakatos.theory.conservation import (
    Way,
    conservation_identity,
    conservation_identity_latex,
    conservation_residuals,
)

HOMOGENEOUS = {"relu": 1, "leaky_relu": 1, "abs": 1, "identity": 1, "relu_squared": 2}
CYCLE = Network.from_edges([("x", "v"), ("v", "w"), ("w", "v"), ("v", "y")], inputs=["x"], outputs=["y"])
TWO_EDGES = Network.from_edges([("x", "v"), ("v", "y")])


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


# The identity with symbols.


@given(dags(dead_ends=True, max_edges=7), st.integers(1, 3))
@settings(max_examples=60)
def test_identity_of_random_networks(fields: Fields, degree: int) -> None:
    network = Network.from_edges(**fields)
    identity = conservation_identity(network, degree)
    assert identity.holds
    # Cubes of cubes of sums have too many terms.
    assert identity.way is Way.EXPANDED or degree == 3
    assert dict.fromkeys(network.hidden_names, 0) == conservation_residuals(network, degree)


@given(dags(), st.integers(1, 2), st.sampled_from([-1, 0, 3]))
@settings(max_examples=40)
def test_no_other_factor_holds_where_a_signal_passes(fields: Fields, degree: int, factor: int) -> None:
    """Every hidden node here lies between an input and an output, so that its outgoing sum is not zero."""
    network = Network.from_edges(**fields)
    assert all(residual != 0 for residual in conservation_residuals(network, degree, factor=factor).values())


def test_sign_error_on_two_edges() -> None:
    residual = conservation_residuals(TWO_EDGES, factor=-1)["v"]
    t0, t1, x, s, loss = sympy.symbols("t0 t1 x_x s_v L_y")
    # L = f^2 / 2 with f = t0 t1 = 6, so dL/df = 6 and both terms are 36.
    assert residual.subs({t0: 2, t1: 3, x: 1, s: 1, loss: 6}) == 72


@pytest.mark.parametrize(("factor", "scaled_by", "value"), [(2, 1, 0), (1, 1, 1), (sympy.Rational(1, 2), 2, 3)])
def test_degree_two_on_two_edges(factor: sympy.Rational, scaled_by: int, value: int) -> None:
    """f = relu(t0)^2 t1 at (1, 1): in - 2 out = 0, in - out = 1, and 2 in - out = 3 = 2 (in - out / 2)."""
    incoming = conservation_residuals(TWO_EDGES, 2, factor=0)["v"]
    outgoing = incoming - conservation_residuals(TWO_EDGES, 2, factor=1)["v"]
    at = dict.fromkeys(sympy.symbols("t0 t1 x_x s_v L_y"), 1)
    assert (scaled_by * (incoming - factor * outgoing)).subs(at) == value


@given(dags(dead_ends=True), st.integers(1, 2), st.sampled_from([None, -1, 0, 3]))
@settings(max_examples=40)
def test_evaluation_agrees_with_expansion(fields: Fields, degree: int, factor: int | None) -> None:
    network = Network.from_edges(**fields)
    expanded = conservation_identity(network, degree, factor=factor)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(conservation, "LARGEST_EXPANSION", -1)
        evaluated = conservation_identity(network, degree, factor=factor)
    assert (evaluated.way, evaluated.points) == (Way.EVALUATED, conservation.POINTS)
    # The chance of a wrong zero, below 1e-20, is what the result itself states.
    assert evaluated.chance < 1e-20
    assert {v: r == 0 for v, r in evaluated.residuals.items()} == {v: r == 0 for v, r in expanded.residuals.items()}


def test_large_network_is_evaluated() -> None:
    network = layered_network([10, 12, 12, 12, 3], bias=True)
    identity = conservation_identity(network)
    assert (identity.way, identity.points, identity.holds) == (Way.EVALUATED, 3, True)
    assert not conservation_identity(network, factor=2).holds


def test_chain_of_too_high_degree_is_undecided() -> None:
    network = layered_network([2] * 20)
    with pytest.raises(Undecided, match="degree") as caught:
        conservation_identity(network, 3)
    assert caught.value.reason is Reason.INCOMPLETE_METHOD


@pytest.mark.parametrize("degree", [0, -1, 1.5, True])
def test_degree_has_to_be_a_positive_integer(degree: int) -> None:
    with pytest.raises(InputError, match=f"degree={degree!r}: a positive integer"):
        conservation_identity(TWO_EDGES, degree)


def test_names_are_never_parsed() -> None:
    name = "__import__('os')"
    network = Network.from_edges([("x, z", name), (name, "50% \\of_y")])
    residual = conservation_residuals(network, factor=2)[name]
    assert sympy.Symbol("s_" + name) in residual.free_symbols
    assert r"\_\_import\_\_('os')" in conservation_identity_latex(network)


def test_latex() -> None:
    one = r"\begin{aligned}\theta_{0}\,\partial_{0}L &= \theta_{1}\,\partial_{1}L && \text{(v)}\end{aligned}"
    assert conservation_identity_latex(TWO_EDGES) == one
    many = conservation_identity_latex(layered_network([9, 9, 9]), degree=2)
    assert many.startswith(r"\sum_{e\,\to\,v} \theta_e\,\partial_e L = 2\sum_{v\,\to\,e}")
    assert "all 9 hidden nodes" in many


# Gradients.


@dataclass(frozen=True)
class Reference:
    """A multilayer perceptron 3-5-4-2 with default initialization, seed 0, and its network graph."""

    model: nn.Sequential
    network: Network
    weights: Tensor
    data: Tensor
    targets: Tensor


@pytest.fixture(scope="module")
def reference() -> Reference:
    before = torch.get_default_dtype()
    with torch.random.fork_rng():
        torch.set_default_dtype(torch.float64)
        torch.manual_seed(0)
        linear = [nn.Linear(a, b) for a, b in pairwise([3, 5, 4, 2])]
        data, targets = torch.randn(20, 3), torch.randn(20, 2)
        with_bias = torch.cat([data, torch.ones(20, 3)], 1)
        torch.set_default_dtype(before)
    weights = torch.cat([torch.cat([layer.weight.T.flatten(), layer.bias]) for layer in linear]).detach()
    graph = layered_network([3, 5, 4, 2], bias=True)
    network = Network.from_arrays(
        graph.tail, graph.head, inputs=graph.inputs, outputs=graph.outputs, names=graph.names, weights=weights.numpy()
    )
    model = nn.Sequential(linear[0], nn.ReLU(), linear[1], nn.ReLU(), linear[2])
    return Reference(model, network, weights, with_bias, targets)


def test_reference_network_is_the_model(reference: Reference) -> None:
    outputs = evaluate(reference.network, reference.weights, reference.data, "relu")
    expected = reference.model(reference.data[:, :3])
    # Sums of at most 6 products per layer, in another order.
    assert torch.allclose(outputs, expected, rtol=0, atol=1e-15)
    # Stated with 6 decimals.
    assert float(nn.functional.mse_loss(outputs, reference.targets)) == pytest.approx(1.216581, abs=5e-7)
    balances = [float(reference.network.balance(name)) for name in reference.network.hidden_names]
    stated = [0.072958, 0.339653, 0.069184, 0.023130, 0.022780, 0.067239, 0.165777, 0.109396, -0.022218]
    assert balances == pytest.approx(stated, abs=5e-7)


@pytest.mark.parametrize(("activation", "degree"), HOMOGENEOUS.items())
@pytest.mark.parametrize("loss", gradients.LOSSES)
def test_law_on_the_reference_network(reference: Reference, activation: str, degree: int, loss: str) -> None:
    R = reference
    found = residual_at(R.network, R.weights, R.data, R.targets, activation=activation, degree=degree, loss=loss)
    assert found.holds
    assert not found.is_vacuous
    # What rounding may leave is far below what a wrong law leaves (1e-3, see below).
    assert max(found.bound) < 1e-11 * found.largest_term


@pytest.mark.parametrize(
    ("activation", "value"),
    [("gelu", 0.055), ("silu", 0.038), ("tanh", 0.059), ("softplus", 0.64), ("relu_squared", 0.024)],
)
def test_controls_on_the_reference_network(reference: Reference, activation: str, value: float) -> None:
    R = reference
    found = residual_at(R.network, R.weights, R.data, R.targets, activation=activation, degree=1)
    assert not found.holds
    assert found.relative >= 1e-3
    # Stated with two digits.
    assert float(f"{found.relative:.1e}") == value


def test_single_precision(reference: Reference) -> None:
    single = [tensor.to(torch.float32) for tensor in (reference.weights, reference.data, reference.targets)]
    found = residual_at(reference.network, *single, activation="relu")
    assert found.holds
    assert max(found.bound) < 1e-3 * found.largest_term
    # Larger than in double precision by about 2^29, so the dtype was kept.
    assert found.relative > 1e-10


@given(dags(dead_ends=True), st.sampled_from(sorted(HOMOGENEOUS)), st.sampled_from(sorted(gradients.LOSSES)))
@settings(max_examples=60)
def test_law_on_random_networks(fields: Fields, activation: str, loss: str) -> None:
    network = Network.from_edges(**fields)
    found = balance_residual(network, activation, HOMOGENEOUS[activation], loss=loss, samples=7, seed=1)
    assert found.nodes == network.hidden_names
    assert found.holds


@given(weighted_dags(max_edges=7), st.integers(2, 3))
@settings(max_examples=40)
def test_gradients_agree_with_symbols(fields: Fields, factor: int) -> None:
    """The residual of a false law, with slopes 1, is not zero and the same by autograd and by differentiating polynomials."""
    network = Network.from_edges(**fields)
    data = numbers(*(1.0 + i for i in range(len(network.inputs))))
    weights = numbers(*map(float, network.weights))
    targets = torch.zeros(1, len(network.outputs), dtype=torch.float64)
    measured = residual_at(network, weights, data[None], targets, activation="identity", degree=factor)
    outputs = evaluate(network, weights, data[None], "identity")[0]
    values = {f"t{e}": w for e, w in enumerate(weights.tolist())}
    values |= {f"x_{network.names[v]}": x for v, x in zip(network.inputs, data.tolist(), strict=True)}
    # The loss is the mean of the squared outputs.
    values |= {
        f"L_{network.names[v]}": 2 * y / len(outputs) for v, y in zip(network.outputs, outputs.tolist(), strict=True)
    }
    values |= {f"s_{name}": 1.0 for name in network.hidden_names}
    derived = conservation_residuals(network, factor=factor)
    for name, residual, bound in zip(measured.nodes, measured.residual, measured.bound, strict=True):
        expected = float(derived[name].subs({sympy.Symbol(key): value for key, value in values.items()}))
        # Twice the bound: both sides are rounded.
        assert abs(residual - expected) <= 2 * bound


def test_bias_left_out() -> None:
    network = Network.from_edges([("x", "v"), ("one", "v"), ("v", "y")], inputs=["x", "one"], outputs=["y"])
    theta = numbers(1, 1, 2).requires_grad_()
    loss = evaluate(network, theta, numbers(1, 1)[None], "relu").square().sum() / 2
    (gradient,) = torch.autograd.grad(loss, theta)
    first, bias, last = (theta * gradient).tolist()
    assert (first, bias, last) == (8, 8, 16)
    assert (first + bias - last, first - last) == (0, -8)


def test_tanh_has_no_law() -> None:
    theta = numbers(1, 1).requires_grad_()
    (gradient,) = torch.autograd.grad(evaluate(TWO_EDGES, theta, numbers(1)[None], "tanh").sum(), theta)
    first, last = (theta * gradient).tolist()
    # Stated with four decimals.
    assert (first, last, first - last) == pytest.approx((0.4200, 0.7616, -0.3416), abs=5e-5)


def test_degree_on_the_wrong_side_or_forgotten() -> None:
    arguments = numbers(1, 1), numbers(1)[None], numbers(0)[None]
    for degree, value in ((2, 0), (1, 2), (0.5, 3)):
        # The loss is f^2 here, not f^2 / 2: all residuals are doubled; 2 in - out is twice in - out / 2.
        found = residual_at(TWO_EDGES, *arguments, activation="relu_squared", degree=degree)
        assert found.residual == (value,)
        assert found.holds == (degree == 2)


def test_inputs_on_a_kink() -> None:
    network = layered_network([2, 3, 1])
    data = torch.zeros(4, 2, dtype=torch.float64)
    data[3] = 1.0
    weights = numbers(1, -1, 1, -1, 1, -1, 1, 2, 3)
    found = residual_at(network, weights, data, torch.ones(4, 1, dtype=torch.float64), activation="relu")
    assert found.holds


@pytest.mark.parametrize("weight", [-1.0, 0.0])
def test_dead_network_is_vacuous(weight: float) -> None:
    found = residual_at(TWO_EDGES, numbers(weight, 0), numbers(1)[None], numbers(0)[None], activation="relu")
    assert found.holds
    assert found.is_vacuous
    assert found.relative == 0


def test_constant_loss_is_vacuous() -> None:
    for edges, inputs in (([("x", "v")], ["x"]), ([("v", "w")], []), ([], ["x"])):
        network = Network.from_edges(edges, inputs=inputs, outputs=[], nodes=["x"])
        found = balance_residual(network, "softplus")
        assert found.holds
        assert found.is_vacuous


def test_weights_of_the_network_and_bias_inputs_are_used(reference: Reference) -> None:
    network = Network.from_edges([("x", "v", 2.0), ("one", "v", 3.0), ("v", "y", 1.0)])
    with pytest.raises(InputError, match=r"bias=\['two'\]: not among the inputs \['x', 'one'\]"):
        balance_residual(network, "relu", bias=["two"])
    plain, biased = balance_residual(network, "relu"), balance_residual(network, "relu", bias=["one"])
    assert plain.holds
    assert biased.holds
    assert plain.scale != biased.scale
    doubled = Network.from_edges([("x", "v", 4.0), ("one", "v", 6.0), ("v", "y", 1.0)])
    assert balance_residual(doubled, "relu").scale != plain.scale


def test_same_seed_same_result_whatever_the_default_dtype() -> None:
    network = layered_network([3, 4, 2])
    expected = balance_residual(network, "relu", seed=5)
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(torch.float64)
        assert balance_residual(network, "relu", seed=5) == expected
    finally:
        torch.set_default_dtype(before)
    assert balance_residual(network, "relu", seed=5) == balance_residual(network, "relu", seed=5)
    assert balance_residual(network, "relu", seed=5) != balance_residual(network, "relu", seed=6)


def test_terminals_inside_the_network_are_linear_and_inputs_add_their_data() -> None:
    network = Network.from_edges(
        [("x", "v"), ("v", "p"), ("p", "w"), ("w", "y")], inputs=["x", "p"], outputs=["p", "y"]
    )
    outputs = evaluate(network, numbers(1, 1, 1, 1), numbers(2, -5)[None], "relu")
    assert outputs.tolist() == [[-3, 0]]
    assert all(residual == 0 for residual in conservation_residuals(network).values())
    assert balance_residual(network, "leaky_relu").holds


def test_log_cosh_does_not_overflow() -> None:
    loss = gradients.LOSSES["log_cosh"]
    distances = numbers(-2, 0, 1e6)
    # log cosh d = |d| - log 2 for large d, to all digits.
    expected = (torch.cosh(numbers(2)).log().item() + 1e6 - torch.log(numbers(2)).item()) / 3
    assert float(loss(distances, numbers(0, 0, 0))) == pytest.approx(expected, rel=1e-15)


def test_overflow_is_undecided() -> None:
    huge = Network.from_edges([("x", "v", 1e200), ("v", "y", 1e200)])
    with pytest.raises(Undecided, match="not finite") as caught:
        balance_residual(huge, "identity")
    assert caught.value.reason is Reason.PRECISION


def test_memory_is_estimated_first() -> None:
    with pytest.raises(Undecided, match="MiB") as caught:
        evaluate(TWO_EDGES, numbers(1, 1), torch.empty(1, 1, dtype=torch.float64).expand(1 << 28, 1), "relu")
    assert caught.value.reason is Reason.MEMORY


@pytest.mark.parametrize(
    ("network", "arguments", "complaint"),
    [
        (CYCLE, {}, "directed cycle v → w → v|directed cycle w → v → w"),
        (TWO_EDGES, {"activation": "sine"}, r"activation='sine': not known; choose one of relu, "),
        (TWO_EDGES, {"loss": "hinge"}, r"loss='hinge': not known; choose one of mse, log_cosh"),
        (TWO_EDGES, {"samples": 0}, r"samples=0: at least one"),
        (Network.from_edges([("x", "v", 10**400), ("v", "y", 1)]), {}, "a weight exceeds the range"),
    ],
)
def test_bad_input(network: Network, arguments: dict[str, object], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        balance_residual(network, **{"activation": "relu", **arguments})


def test_cycle_has_no_polynomial() -> None:
    with pytest.raises(InputError, match="directed cycle"):
        conservation_identity(CYCLE)
