"""Training step by step and by gradient flow: balances beside their recursions, one start and many, orders of convergence."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from lakatos import Network
from lakatos.core import InputError, Reason, Undecided
from lakatos.graphs.training_fields import RunFields, TrainingFields
from lakatos.numerics.balances import Balances, order_of_drift
from lakatos.numerics.descent import METHODS, Method, Objective, descend
from lakatos.numerics.drift import drift_order, first_order_defect, follow, one_step_defect
from lakatos.numerics.flow import flow, observed
from lakatos.numerics.forward import ModuleFunction, NetworkFunction, as_floats
from lakatos.numerics.modules import network_of
from lakatos.numerics.penalties import with_penalty
from lakatos.numerics.reference import reference_problem
from lakatos.numerics.training import problem_of
from lakatos.testing import Fields, homogeneous_mlps
from lakatos.theory.flows import flow_residuals
from lakatos.theory.steps import drift_residuals, exact_gradient, exact_steps, node_sums

PAIR = Network.from_edges([("x", "v"), ("v", "y")])
LAWFUL = {"gd", "heavy_ball", "clip_norm"}


def numbers(*values: float) -> Tensor:
    return torch.tensor(values, dtype=torch.float64)


def square(start: float = 1.0) -> tuple[Objective, Tensor]:
    """f(w) = w², whose gradient flow is w(t) = w(0) exp(−2t)."""
    return Objective(lambda weights, data: weights * data, torch.ones(1), torch.zeros(1, dtype=torch.float64)), numbers(
        start
    )


# Steps.


@pytest.mark.parametrize("name", METHODS)
def test_many_starts_train_like_each_alone(name: str) -> None:
    problem = reference_problem()
    generator = torch.Generator().manual_seed(1)
    starts = problem.start + 0.1 * torch.randn(3, len(problem.start), generator=generator, dtype=torch.float64)
    method = Method(name, 0.01, momentum=0.9, clip=0.05)
    *_, together = descend(problem.objective(), starts, method, 10)
    for start, end, loss in zip(starts, together.after, together.loss, strict=True):
        *_, alone = descend(problem.objective(), start, method, 10)
        # Sums in another order; RMSprop divides by roots of small numbers.
        assert torch.allclose(end, alone.after, rtol=0, atol=1e-11)
        assert float(loss) == pytest.approx(float(alone.loss), rel=1e-12)


def test_chunks_change_nothing() -> None:
    problem = reference_problem()
    starts = problem.start.repeat(5, 1)
    whole, chunked = problem.objective(), replace(problem.objective(), chunk_size=2)
    for one, other in zip(whole.value_and_gradient(starts), chunked.value_and_gradient(starts), strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-14)


def test_every_start_may_have_data_of_its_own() -> None:
    data = numbers(1, 2, 3, 4, 5, 6).reshape(2, 3, 1)
    objective = Objective(NetworkFunction(PAIR, "relu"), data, 0 * data, per_start=True, batch=2)
    starts = numbers(1, 2, 2, 1).reshape(2, 2)
    for step in (0, 1):
        value, gradient = objective.value_and_gradient(starts, step)
        for i in range(2):
            rows = [(2 * step + k) % 3 for k in range(2)]
            alone = Objective(objective.function, data[i, rows], 0 * data[i, rows])
            expected, slope = alone.value_and_gradient(starts[i])
            assert float(value[i]) == pytest.approx(float(expected), rel=1e-15)
            assert torch.allclose(gradient[i], slope, rtol=1e-15)


def test_start_is_not_changed_and_steps_are_not_shared() -> None:
    objective, start = square()
    steps = list(descend(objective, start, Method("heavy_ball", 0.1, momentum=0.5), 3))
    assert start.item() == 1
    assert [step.index for step in steps] == [1, 2, 3]
    assert all(a.after.item() == b.before.item() for a, b in pairwise(steps))


@pytest.mark.parametrize("rate", [0.0, 0.1])
def test_decay_and_momentum_are_those_stated(rate: float) -> None:
    objective, start = square(2.0)
    (step,) = descend(objective, start, Method("gd", rate, decay=0.5), 1)
    assert step.after.item() == pytest.approx((1 - 0.5 * rate) * 2 - rate * 4, rel=1e-15)
    first, second = descend(objective, start, Method("heavy_ball", rate, momentum=0.5), 2)
    velocity = 0.5 * 4 + 2 * first.after.item()
    assert second.after.item() == pytest.approx(first.after.item() - rate * velocity, rel=1e-15)


@pytest.mark.parametrize(
    ("name", "step"),
    [("sign", (1, -1, 0)), ("clip_entries", (2, -2, 0)), ("clip_norm", (1.2, -1.6, 0)), ("gd", (3, -4, 0))],
)
def test_gradients_are_prepared_as_stated(name: str, step: tuple[float, ...]) -> None:
    """The gradient is (3, −4, 0), of norm 5; clip = 2."""
    linear = Objective(lambda weights, data: weights, torch.ones(1), torch.ones(1), lambda w, _: 3 * w[0] - 4 * w[1])
    start = numbers(0, 0, 0)
    (made,) = descend(linear, start, Method(name, 0.5, clip=2.0), 1)
    assert made.after.tolist() == pytest.approx([-0.5 * part for part in step], abs=1e-15)
    assert made.gradient.tolist() == [3, -4, 0]
    (still,) = descend(linear, start, Method(name, 0.5, clip=100.0), 1)
    assert name == "sign" or still.after.tolist() == [-1.5, 2, 0]


def test_divergence_is_undecided() -> None:
    problem = reference_problem()
    with pytest.raises(Undecided, match="not finite after") as caught:
        list(descend(problem.objective(), problem.start, Method("gd", 1e3), 100))
    assert caught.value.reason is Reason.PRECISION


@pytest.mark.parametrize(
    ("make", "complaint"),
    [
        (lambda: Method("newton"), "method='newton': not known; choose one of gd"),
        (lambda: Method("gd", rate=-1.0), "rate=-1.0: a finite number"),
        (lambda: Method("gd", decay=math.nan), "decay=nan: a finite number"),
        (lambda: replace(square()[0], loss="hinge"), "loss='hinge': not known"),
        (lambda: replace(square()[0], batch=0), "batch=0: at least one sample"),
        (lambda: with_penalty(square()[0], "l0", 1.0), "penalty='l0': not known"),
        (lambda: list(flow(*square(), [])), "positive and increasing times"),
        (lambda: list(flow(*square(), [1, 1])), "positive and increasing times"),
        (lambda: order_of_drift([1, 0.5], [1, 0.5]), "at least three"),
        (lambda: order_of_drift([1, 0.5, 0.3], [1, 1, 1]), "half of the one before"),
        (lambda: exact_gradient(PAIR, [], [], [], "gelu"), "activation='gelu': exact gradients are known for relu"),
    ],
)
def test_bad_arguments(make: Any, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        make()


# The recursions of the balances.


@pytest.mark.parametrize(
    "method", [Method("gd", 0.01), Method("gd", 0.01, decay=0.3), Method("heavy_ball", 0.01, momentum=0.9)]
)
def test_recursions_on_the_reference_problem(method: Method) -> None:
    problem = reference_problem()
    B = Balances(problem.network)
    found = follow(problem.objective(), problem.start, B, method, 200)
    # Rounding of 200 steps; what is followed moves by far more.
    assert found.recursion_defect < 1e-13
    assert found.drift > 1e-5


def test_recursions_are_told_from_false_ones() -> None:
    problem = reference_problem()
    B = Balances(problem.network)
    for wrong in (Method("heavy_ball", 0.01, momentum=0.9, decay=0.3), Method("clip_entries", 0.01, clip=0.01)):
        assert follow(problem.objective(), problem.start, B, wrong, 50).recursion_defect > 1e-5
    assert follow(problem.objective("gelu"), problem.start, B, Method("gd", 0.01), 50).recursion_defect > 1e-4


@pytest.mark.parametrize("name", METHODS)
def test_first_order_part_of_a_step_vanishes_for_multiples_of_the_gradient(name: str) -> None:
    problem = reference_problem()
    B = Balances(problem.network)
    method = Method(name, 0.005, clip=0.01)
    first = next(iter(descend(problem.objective(), problem.start, method, 1)))
    half = one_step_defect(problem.objective(), problem.start, B, method, replace(method, rate=0.0025))
    if name in LAWFUL:
        assert first_order_defect(first, B) < 1e-9
        assert half < 1e-13
    else:
        assert first_order_defect(first, B) > 0.1
        assert half > 1e-3 * method.rate


def test_rates_may_differ_between_edges() -> None:
    """B(θ²/η) changes by exactly B(η ⊙ g²)."""
    problem = reference_problem()
    B = Balances(problem.network)
    generator = torch.Generator().manual_seed(0)
    eta = 0.01 * (1 + torch.rand(len(problem.start), generator=generator, dtype=torch.float64))
    theta, c = problem.start, B(problem.start**2 / eta)
    for _ in range(50):
        gradient = problem.objective().value_and_gradient(theta)[1]
        theta, c = theta - eta * gradient, c + B(eta * gradient**2)
    # Of summands as large as 100.
    assert float((B(theta**2 / eta) - c).abs().max()) < 1e-11


def test_drift_of_gradient_descent_is_of_first_order() -> None:
    problem = reference_problem()
    B = Balances(problem.network)
    rates = (0.04, 0.02, 0.01, 0.005)
    order = drift_order(problem.objective(), problem.start, B, [(Method("gd", r), round(4 / r)) for r in rates])
    assert order.verdict == "conserved"
    assert order.slope == pytest.approx(1, abs=0.05)  # over three halvings


@pytest.mark.parametrize(("activation", "name"), [("gelu", "gd"), ("relu", "adam"), ("relu", "sign")])
def test_drift_without_a_law_does_not_vanish(activation: str, name: str) -> None:
    problem = reference_problem()
    B = Balances(problem.network)
    runs = [(Method(name, 0.02 / 2**k), 25 * 2**k) for k in range(4)]
    assert drift_order(problem.objective(activation), problem.start, B, runs).verdict == "not conserved"


def test_order_is_undecided_where_neither_shows() -> None:
    steps = [0.4, 0.2, 0.1]
    assert order_of_drift(steps, [4e-3, 2.8e-3, 2e-3]).verdict is None
    assert order_of_drift(steps, [4e-3, math.nan, 1e-3]).verdict is None
    assert order_of_drift(steps, [4e-3, math.inf, 1e-3]).verdict is None
    assert order_of_drift(steps, [1e-3, 0.0, 1e-3]).verdict is None
    assert order_of_drift(steps, [1e-17] * 3, rounding=1e-16).verdict == "conserved"
    assert order_of_drift(steps, [4e-3, 1e-3, 2.5e-4]).verdict == "conserved"  # second order is more than needed


@given(homogeneous_mlps(), st.sampled_from(["gd", "heavy_ball"]))
@settings(max_examples=15)
def test_identities_of_random_networks(fields: Fields, rule: Any) -> None:
    network = Network.from_edges(fields["edges"], inputs=fields["inputs"], outputs=fields["outputs"])
    assert set(drift_residuals(network, rule).values()) <= {0}


def test_identities_need_the_law() -> None:
    """A node without a law, such as a terminal that is not one, leaves a residual; so does a wrong rate of decay."""
    assert flow_residuals(PAIR, "half_square", 1)["v"] != 0
    assert flow_residuals(PAIR, "l1", 2)["v"] != 0
    assert flow_residuals(PAIR, "square", 4)["v"] == 0


@given(homogeneous_mlps(activations=["relu", "leaky_relu", "abs", "identity"]), st.integers(0, 5))
@settings(max_examples=25)
def test_exact_gradients_agree_with_autograd(fields: Fields, seed: int) -> None:
    problem = problem_of(TrainingFields(**_typed(fields), samples=3, data_seed=seed))
    network = problem.fields.network
    exact = exact_gradient(
        network, problem.exact_start(), problem.exact_data(), problem.exact_targets(), problem.fields.activation
    )
    gradient = problem.objective().value_and_gradient(problem.start)[1]
    size = max(1.0, float(gradient.abs().max()))
    # Some twenty roundings of numbers as large as the largest entry.
    assert max(abs(float(a) - b) for a, b in zip(exact, gradient.tolist(), strict=True)) < 1e-12 * size


def test_exact_steps_by_hand() -> None:
    """T: θ = (2, 1), f = θ₁θ₂, L = f²: c = 3, 2.88 with rate 1/20; with momentum ½ the next is 2.63160768."""
    one, zero = [[Fraction(1)]], [[Fraction(0)]]
    first, second, _ = exact_steps(
        PAIR, [Fraction(2), Fraction(1)], [(one, zero)] * 3, "relu", rate=Fraction(1, 20), momentum=Fraction(1, 2)
    )
    assert first.gradient == (4, 8)
    assert node_sums(PAIR, [w**2 for w in second.before]) == (Fraction(288, 100),)
    after = [w - Fraction(1, 20) * v for w, v in zip(second.before, second.velocity, strict=True)]
    assert node_sums(PAIR, [w**2 for w in after]) == (Fraction(263160768, 10**8),)


# Gradient flow.


def test_flow_meets_the_requested_times_and_the_solution() -> None:
    objective, start = square()
    states = [state for state in flow(objective, start, [0.25, 1.0, 2.0]) if state.requested]
    assert [state.time for state in states] == [0.25, 1.0, 2.0]
    for state in states:
        assert state.weights.item() == pytest.approx(math.exp(-2 * state.time), abs=1e-8)  # tolerance 1e-10 per step


def test_flow_of_many_starts_is_that_of_each() -> None:
    objective, _ = square()
    *_, end = flow(objective, numbers(1, 3).reshape(2, 1), [1.0])
    assert torch.allclose(end.weights, math.exp(-2) * numbers(1, 3).reshape(2, 1), atol=1e-8)


def test_flow_keeps_balances_and_decays_them() -> None:
    problem = reference_problem()
    B = Balances(problem.network)
    start = B(problem.start**2)
    decayed = with_penalty(problem.objective(), "half_square", 0.3)
    for objective, factor in ((problem.objective(), 1.0), (decayed, math.exp(-2 * 0.3 * 0.5))):
        seen = observed(objective, problem.start, [0.5], lambda theta: B(theta**2), tolerance=1e-10)
        difference = (torch.tensor(seen.values[0], dtype=torch.float64) - factor * start).abs().max()
        assert float(difference) < 1e-7
        assert seen.error < 1e-6


def test_flow_slides_along_a_kink() -> None:
    """θ' = −sign(θ − a) reaches a and stays there, which no step size control gets through on its own."""
    objective = Objective(
        lambda weights, data: weights, torch.ones(1), torch.zeros(1), loss=lambda w, _: (w - 0.3).abs().sum()
    )
    *_, end = flow(objective, numbers(1.0), [2.0])
    assert end.time == 2.0
    assert end.weights.item() == pytest.approx(0.3, abs=2.0 / 2048)  # an Euler step


def test_flow_that_blows_up_is_undecided() -> None:
    runaway = Objective(lambda weights, data: weights, torch.ones(1), torch.zeros(1), loss=lambda w, _: -(w**4).sum())
    with pytest.raises(Undecided, match="could not be followed beyond time"):
        list(flow(runaway, numbers(1.0), [1.0]))


# Functions and fields.


def test_module_as_a_function_of_its_parameters() -> None:
    module = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    function = ModuleFunction(module)
    assert function.weight_count == 26
    data = torch.ones(5, 3, dtype=torch.float64)
    starts = torch.stack([function.weights(), 2 * function.weights()])
    value, gradient = Objective(function, data, torch.zeros(5, 2, dtype=torch.float64)).value_and_gradient(starts)
    loss = module(data).square().mean()
    loss.backward()
    assert float(value[0]) == pytest.approx(float(loss.detach()), rel=1e-14)
    expected = nn.utils.parameters_to_vector([parameter.grad for parameter in module.parameters()])
    assert torch.allclose(gradient[0], expected, atol=1e-14)


def test_modules_train_on_their_own_balances() -> None:
    """The flat parameters of a perceptron are the edges of its network, so its balances follow the same recursion."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        module = nn.Sequential(nn.Linear(3, 5), nn.LeakyReLU(), nn.Linear(5, 4), nn.ReLU(), nn.Linear(4, 2)).double()
    network, function = network_of(module), ModuleFunction(module)
    assert function.weights().tolist() == as_floats(network).tolist()
    generator = torch.Generator().manual_seed(0)
    data, targets = (torch.randn(9, k, generator=generator, dtype=torch.float64) for k in (3, 2))
    objective, B = Objective(function, data, targets), Balances(network)
    found = follow(objective, function.weights(), B, Method("gd", 0.02, decay=0.1), 60)
    assert found.recursion_defect < 1e-13  # rounding of 60 steps
    assert found.drift > 1e-3


def test_what_is_drawn_depends_on_the_seed_alone() -> None:
    fields = {"edges": (("x", "v"), ("one", "v"), ("v", "y")), "inputs": ("x", "one"), "bias": ("one",)}
    one, same, other = (problem_of(TrainingFields(**fields, samples=4, data_seed=seed)) for seed in (3, 3, 4))
    assert torch.equal(one.data, same.data)
    assert not torch.equal(one.data, other.data)
    assert one.data[:, 1].tolist() == [1.0] * 4
    generator = torch.Generator().manual_seed(3)
    assert one.data[:, 0].tolist() == torch.randn(4, generator=generator, dtype=torch.float64).tolist()


def test_exact_data_and_targets() -> None:
    fields = TrainingFields(
        edges=(("x", "v", Fraction(1, 3)), ("one", "v", Fraction(1)), ("v", "y", Fraction(2))),
        bias=("one",),
        data=((Fraction(1, 10),), (Fraction(-2),)),
        teacher=(Fraction(1), Fraction(0), Fraction(-1)),
    )
    problem = problem_of(fields)
    assert problem.exact_start() == (Fraction(1, 3), 1, 2)
    assert problem.exact_data() == ((Fraction(1, 10), 1), (-2, 1))
    assert problem.exact_targets() == ((Fraction(-0.1),), (0,))


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"bias": ("two",)}, r"bias=\['two'\]: not among the inputs \['x'\]"),
        ({"samples": 0}, "samples=0: at least one"),
        ({"data_seed": -1}, "data_seed=-1: a seed is not negative"),
        ({"data": ()}, r"data=\[\]: at least one sample"),
        ({"data": ((1, 2),)}, r"data\[0\] has 2 numbers; 1 are needed"),
        ({"data": ((1,),), "targets": ((1,), (2,))}, "targets: 2 rows, but data has 1"),
        ({"teacher": (1,)}, "teacher: 1 weights; the network has 2 edges"),
        ({"teacher": (1, 1), "targets": ((1,),)}, "teacher: given beside targets"),
        ({"edges": (("x", "v"), ("v", "y"))}, "edges: weights are missing"),
        ({"rate": Fraction(0)}, "rate='0': a positive number"),
    ],
)
def test_bad_fields(change: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        RunFields(**{"edges": (("x", "v", Fraction(1)), ("v", "y", Fraction(1))), **change})


def _typed(fields: Fields) -> dict[str, Any]:
    edges = tuple((a, b, Fraction(weight)) for a, b, weight in fields["edges"])
    return {
        **fields,
        "edges": edges,
        **{key: tuple(fields[key]) for key in ("inputs", "outputs", "bias") if key in fields},
    }
