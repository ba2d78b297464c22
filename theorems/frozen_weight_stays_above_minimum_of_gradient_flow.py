"""Gradient flow keeps every frozen weight at least as large as its exact minimum, and never changes its sign.

Hypotheses
----------
Those of the balance law: acyclic, activation positively homogeneous of degree 1, all weights trained and counted. Some
weight is frozen. For gradient descent: the balances drift by no more than a stated amount, in the sum of absolute values
over hidden nodes.

Statement
---------
Let m_e be the minimum of θ_e² on the invariant set of the start. Along gradient flow θ_e(t)² ≥ m_e at all times, and
weights with m_e > 0 keep their sign. Along gradient descent with drift at most d, θ_e² ≥ m_e − d; its steps may still jump
across the gap.

Proof idea
----------
Gradient flow stays in the invariant set. A discrete method is in the set of its present balances c_k, and m_e changes by no
more than ‖c_k − c_0‖₁, since it is a maximum of sums of balances over sets of nodes.

Source
------
Ours; frozen weights are in Nurisso, Leroy, Petri, Vaccarino (2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from .. import numerics
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..graphs.connectivity import connectivity
from ..graphs.structure import is_acyclic
from ..graphs.training_fields import HOMOGENEOUS, RunFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..numerics.locks import Extremes
    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("C4", "S7")
SOURCE = Source(("nurisso2026",), Provenance.OURS, "frozen weights are the paper's; that they stay above m_e is ours")

RESOLUTION = 1e-4  # of the squared weights; smooth flow leaves 1e-9, one that slides along a kink 1e-5


@dataclass(frozen=True)
class Instance(RunFields):
    """A network, its data, and a run.

    Parameters
    ----------
    drift : Fraction
        What the balances may drift by under gradient descent.
    """

    drift: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.drift < 0:
            raise InputError(f"drift={str(self.drift)!r}: a number that is not negative is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    conditions = (
        Hypothesis("acyclic", is_acyclic(instance.network), "topological order"),
        Hypothesis(
            "activation is positively homogeneous of degree 1",
            instance.activation in HOMOGENEOUS,
            f"activation = {instance.activation}",
        ),
        Hypothesis("some weight is frozen", bool(_watched(instance)), "exact minima"),
    )
    if instance.method == "flow" or not all(condition.met for condition in conditions):
        return conditions
    drift = _run(instance, "cpu").drift
    within = Hypothesis(
        "the balances drift by no more than the stated amount",
        drift <= float(instance.drift),
        f"drift = {drift:.3g} over {instance.steps} steps, {float(instance.drift):.3g} is stated",
    )
    return (*conditions, within)


def predict(instance: Instance) -> Prediction:
    return _predicted(instance, instance.drift if instance.method == "gd" else Fraction(0))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The run in floating point. All that is random belongs to the instance, so the seed plays no part."""
    run = _run(instance, device)
    how = "gradient flow, integrated with two tolerances" if instance.method == "flow" else "gradient descent"
    estimates = {}
    for e in _watched(instance):
        estimates[f"least_square[{e}]"] = Estimate(run.least_squares[e], run.error, how)
        if instance.method == "flow":
            estimates[f"sign_kept[{e}]"] = Estimate(run.kept_signs[e], 0.0, how)
    return Measurement(estimates)


@lru_cache(maxsize=8)
def _run(instance: Instance, device: str) -> Extremes:
    problem = numerics.training.problem_of(instance, device)
    if instance.method == "flow":
        return numerics.locks.extremes_of_flow(
            instance.network, problem.objective(), problem.start, float(instance.duration)
        )
    method = numerics.descent.Method("gd", float(instance.rate))
    return numerics.locks.extremes_of_descent(
        instance.network, problem.objective(), problem.start, method, instance.steps
    )


def _watched(instance: Instance) -> tuple[int, ...]:
    """The edges that the statement speaks of; of the others it says nothing."""
    return connectivity(instance.network).frozen_edges


def _predicted(instance: Instance, allowance: Fraction, *, squared: bool = False) -> Prediction:
    result = connectivity(instance.network)
    weights = instance.network.weights
    assert weights is not None  # the instance was refused without
    resolution = RESOLUTION * max(1.0, float(sum(Fraction(w) ** 2 for w in weights)))
    claims = []
    for e in _watched(instance):
        least = result.minima[e] ** (2 if squared else 1) - allowance
        claims.append(Claim(f"least_square[{e}]", Relation.AT_LEAST, least, resolution))
        if instance.method == "flow":
            claims.append(Claim(f"sign_kept[{e}]", Relation.EQUAL, True))
    return Prediction(tuple(claims))


def instances() -> SearchStrategy[Fields]:
    return _runs(["relu", "leaky_relu", "identity"])


def _runs(activations: list[str], method: str = "flow") -> SearchStrategy[Fields]:
    """One-output networks whose last weights are large, so that many of them are frozen."""
    from hypothesis import strategies as st

    from ..testing import homogeneous_mlps

    def run(fields: Fields, seed: int) -> Fields:
        outputs = set(fields["outputs"])
        edges = [[a, b, 5 if b in outputs else weight] for a, b, weight in fields["edges"]]
        extra = {"method": method, "samples": 2, "data_seed": seed, "duration": "1/16", "rate": "1/256", "drift": 1000}
        return {**fields, **extra, "edges": edges}

    return st.builds(run, homogeneous_mlps(activations=activations, bias=False), st.integers(0, 3))


_TWO_EDGES = {"edges": [["x", "v", 1], ["v", "y", 2]], "data": [[1]], "targets": [[0]], "duration": 2}

VARIANTS = {
    "minimum_of_the_start_for_discrete_steps": Variant(
        "gradient descent, too, keeps θ_e² ≥ m_e",
        predict=lambda instance: _predicted(instance, Fraction(0)),
        instances=lambda: _runs(["relu", "identity"], "gd"),
        examples=({**_TWO_EDGES, "method": "gd", "rate": "1/20", "drift": "1/2"},),
    ),
    "minimum_of_the_weight": Variant(
        "|θ_e| ≥ m_e, where m_e is the minimum of the square",
        predict=lambda instance: _predicted(instance, Fraction(0), squared=True),
        examples=(_TWO_EDGES,),
    ),
    "any_activation": Variant(
        "frozen weights of networks whose activation is not homogeneous",
        hypotheses=lambda instance: (hypotheses(instance)[0], *hypotheses(instance)[2:]),
        instances=lambda: _runs(["tanh", "softplus"]),
        examples=({**_TWO_EDGES, "activation": "tanh"},),
    ),
}
