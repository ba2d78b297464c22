"""Along gradient flow the rank of the Jacobian of the balances is constant: singular points are neither reached nor left.

Hypotheses
----------
Those of the balance law: acyclic, activation positively homogeneous of degree 1 (so σ(0) = 0), all weights trained and
counted. The penalty, if any, is a multiple of the squared norm. For gradient descent, and for an L1 penalty, only the
weaker half is claimed.

Statement
---------
For a set W of hidden nodes let s_W = Σ θ_e² over the edges with one end in W. On bounded time intervals |s_W'| ≤ C s_W,
so s_W is zero always or never: the sets that are cut off from all terminals stay the same, and with them rank J(θ) for
J = 2B diag(θ). Under gradient descent, too, a set that is cut off remains so, and the rank cannot grow; but a step, or an
L1 penalty, can lower it.

Proof idea
----------
What a node of W computes is O(‖θ on edges into W‖), the back-signal it receives O(‖θ on edges out of W‖); so θ_e ∂_e L is
O(s_W) on the boundary. Grönwall.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026); the quantitative proof and the discrete half are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.rank import jacobian_rank, terminal_free_components
from ..graphs.structure import is_acyclic
from ..graphs.training_fields import HOMOGENEOUS, RunFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S11",)
SOURCE = Source(("nurisso2026",), Provenance.SHARPENED, "quantitative proof and discrete steps are ours")

GRID = 64  # times at which a flow is looked at


@dataclass(frozen=True)
class Instance(RunFields):
    """A network with weights, some of them zero, its data, and a run.

    Parameters
    ----------
    penalty : str
        ``half_square``: (λ/2)‖θ‖²; ``l1``: λ‖θ‖₁.
    decay : Fraction
        λ.
    """

    penalty: Literal["half_square", "l1"] = "half_square"
    decay: Fraction = Fraction(0)

    @property
    def is_smooth_flow(self) -> bool:
        """Whether the rank can fall neither by a step nor by a penalty that pulls weights to zero in finite time."""
        return self.method == "flow" and (self.penalty == "half_square" or self.decay == 0)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("acyclic", is_acyclic(instance.network), "topological order"),
        Hypothesis(
            "activation is positively homogeneous of degree 1",
            instance.activation in HOMOGENEOUS,
            f"activation = {instance.activation}",
        ),
    )


def predict(instance: Instance) -> Prediction:
    return _predicted(instance, Relation.EQUAL if instance.is_smooth_flow else Relation.AT_MOST)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The run in floating point, where a weight counts as zero only if it is zero to the last bit.

    All that is random belongs to the instance, so the seed plays no part.
    """
    problem = numerics.training.problem_of(instance, device)
    objective = numerics.penalties.with_penalty(problem.objective(), instance.penalty, float(instance.decay))
    if instance.method == "flow":
        times = [float(instance.duration) * k / GRID for k in range(1, GRID + 1)]
        states = numerics.flow.flow(objective, problem.start, times)
        later = (state.weights for state in states if state.requested)
    else:
        method = numerics.descent.Method("gd", float(instance.rate))
        later = (step.after for step in numerics.descent.descend(objective, problem.start, method, instance.steps))
    found = numerics.supports.supports_along(instance.network, problem.start, later)
    estimates = {"rank_range": Estimate((found.least_rank, found.largest_rank), 0.0, "exact zeros of floating point")}
    if _is_singular(instance):
        estimates["largest_detached_weight"] = Estimate(found.largest_detached_weight, 0.0, "floating point")
    return Measurement(estimates)


def _predicted(instance: Instance, relation: Relation) -> Prediction:
    weights = instance.network.weights
    assert weights is not None  # the instance was refused without
    rank = jacobian_rank(instance.network, weights)
    claims = [Claim("rank_range", relation, (rank, rank))]
    if _is_singular(instance):
        claims.append(Claim("largest_detached_weight", Relation.EQUAL, 0))
    return Prediction(tuple(claims))


def _is_singular(instance: Instance) -> bool:
    weights = instance.network.weights
    return weights is not None and bool(terminal_free_components(instance.network, weights))


def instances() -> SearchStrategy[Fields]:
    return _runs("relu", "leaky_relu", "abs", "identity")


def _runs(*activations: str) -> SearchStrategy[Fields]:
    """Networks with many zero weights."""
    from hypothesis import strategies as st

    from ..testing import homogeneous_mlps

    def run(fields: Fields, zeros: list[bool], method: str, seed: int) -> Fields:
        zero = [a or b for a, b in zip(zeros, zeros[1:] + zeros[:1], strict=True)]
        edges = [[a, b, 0 if zero[e % len(zero)] else w] for e, (a, b, w) in enumerate(fields["edges"])]
        extra = {"method": method, "samples": 2, "data_seed": seed, "duration": "1/32", "rate": "1/256"}
        return {**fields, **extra, "edges": edges}

    zeros = st.lists(st.booleans(), min_size=2, max_size=8)
    networks = homogeneous_mlps(activations=activations, bias=False)
    return st.builds(run, networks, zeros, st.sampled_from(["flow", "gd"]), st.integers(0, 3))


def _steps_to_zero() -> SearchStrategy[Fields]:
    """Two equal weights and a rate that a step takes to the origin."""
    from hypothesis import strategies as st

    def run(log2: int) -> Fields:
        target = 1 - 2**log2
        return {**_ONTO_ZERO, "targets": [[target]], "rate": f"1/{2 ** (log2 + 1)}", "duration": f"1/{2**log2}"}

    return st.integers(0, 6).map(run)


_ONTO_ZERO: dict[str, Any] = {
    "edges": [["x", "v", 1], ["v", "y", 1]],
    "data": [[1]],
    "targets": [[-1]],
    "method": "gd",
    "rate": "1/4",
}
_DETACHED: dict[str, Any] = {"edges": [["x", "a", 0], ["a", "b", 1], ["b", "y", 0]], "duration": "1/4"}

VARIANTS = {
    "discrete_steps_keep_the_rank": Variant(
        "gradient descent keeps the rank",
        predict=lambda instance: _predicted(instance, Relation.EQUAL),
        instances=_steps_to_zero,
        examples=(_ONTO_ZERO,),
    ),
    "l1_penalty_keeps_the_rank": Variant(
        "an L1 penalty, which pulls every weight at constant speed, keeps the rank",
        predict=lambda instance: _predicted(instance, Relation.EQUAL),
        instances=lambda: _steps_to_zero().map(
            lambda fields: {**fields, "data": [[0]], "rate": "1/2", "duration": 2, "penalty": "l1", "decay": 1}
        ),
        examples=({**_ONTO_ZERO, "data": [[0]], "rate": "1/2", "penalty": "l1", "decay": 1},),
    ),
    "any_activation": Variant(
        "activations with σ(0) ≠ 0",
        hypotheses=lambda instance: hypotheses(instance)[:1],
        instances=lambda: _runs("softplus"),
        examples=({**_DETACHED, "activation": "softplus"},),
    ),
}
