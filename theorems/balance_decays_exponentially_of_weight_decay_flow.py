"""Under gradient flow with weight decay every balance decays exponentially: c(t) = c(0) exp(−2λt).

Hypotheses
----------
Those of the balance law: acyclic, activation positively homogeneous of degree 1, all weights trained and counted, the loss a
function of the outputs. The penalty is (λ/2)‖θ‖², or λ‖θ‖².

Statement
---------
θ' = −∇L − ∇R has c' = −2B(θ ⊙ ∇R). For R = (λ/2)‖θ‖² this is c(t) = c(0)e^{−2λt}, for R = λ‖θ‖² it is c(t) = c(0)e^{−4λt},
whatever the loss; for λ = 0 the balances are constant. All balances keep their signs and proportions, so the same
weights are frozen at every time. For R = λ‖θ‖₁ the change −2λB|θ| is no function of c.

Proof idea
----------
B(θ ⊙ ∇L) = 0, and B(θ ⊙ θ) = c.

Source
------
The law is in Nurisso, Leroy, Petri, Vaccarino (2026); the decay is a direct consequence.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
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
from ..graphs.structure import is_acyclic
from ..graphs.training_fields import HOMOGENEOUS, TrainingFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S1",)
SOURCE = Source(
    ("nurisso2026",), Provenance.SHARPENED, "the law is the paper's; rates and the other penalties are ours"
)

RESOLUTION = 1e-6  # of the squared weights; the integrator leaves 1e-9, a wrong rate or penalty more than 1e-3


@dataclass(frozen=True)
class Instance(TrainingFields):
    """A network, its data, and a penalty.

    Parameters
    ----------
    penalty : str
        ``half_square``: (λ/2)‖θ‖²; ``square``: λ‖θ‖²; ``l1``: λ‖θ‖₁.
    decay : Fraction
        λ.
    times : tuple of Fraction
        Positive and increasing.
    """

    penalty: Literal["half_square", "square", "l1"] = "half_square"
    decay: Fraction = Fraction(1, 2)
    times: tuple[Fraction, ...] = (Fraction(1, 2), Fraction(1))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.times or not all(a < b for a, b in pairwise((Fraction(0), *self.times))):
            raise InputError(f"times={list(map(str, self.times))!r}: positive and increasing times are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("acyclic", is_acyclic(instance.network), "topological order"),
        Hypothesis(
            "activation is positively homogeneous of degree 1",
            instance.activation in HOMOGENEOUS,
            f"activation = {instance.activation}",
        ),
        Hypothesis(
            "the penalty is a multiple of the squared norm", instance.penalty != "l1", f"penalty = {instance.penalty}"
        ),
    )


def derive(instance: Instance) -> Derivation:
    return _derived(instance, _rate(instance))


def predict(instance: Instance) -> Prediction:
    return _predicted(instance, _rate(instance))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Gradient flow, integrated numerically. All that is random belongs to the instance, so the seed plays no part."""
    problem = numerics.training.problem_of(instance, device)
    B = numerics.balances.Balances(instance.network, device=device)
    objective = numerics.penalties.with_penalty(problem.objective(), instance.penalty, float(instance.decay))
    seen = numerics.flow.observed(
        objective, problem.start, [float(t) for t in instance.times], lambda theta: B(theta**2)
    )
    return Measurement(
        {
            f"balance[{v}]": Estimate(column, seen.error, "gradient flow, integrated with two tolerances")
            for v, column in zip(instance.network.hidden_names, zip(*seen.values, strict=True), strict=True)
        }
    )


def _rate(instance: Instance) -> int:
    """k in c' = −kλc."""
    return theory.flows.DECAY_RATES.get(instance.penalty, 2)


def _derived(instance: Instance, rate: int) -> Derivation:
    law = theory.conservation.conservation_residuals(instance.network)
    flow = theory.flows.flow_residuals(instance.network, instance.penalty, rate)
    broken = [f"{residual} at {v}" for found in (law, flow) for v, residual in found.items() if residual != 0]
    return Derivation(
        identity=f"dc/dt = −{rate}λc for the penalty {instance.penalty}",
        residual="; ".join(broken) or "0",
        latex=rf"\frac{{dc}}{{dt}} = -{rate}\lambda c",
    )


def _predicted(instance: Instance, rate: int) -> Prediction:
    start = numerics.training.problem_of(instance).exact_start()
    balances = theory.steps.node_sums(instance.network, [w**2 for w in start])
    resolution = RESOLUTION * max(1.0, float(sum(w**2 for w in start)))
    return Prediction(
        tuple(
            Claim(
                f"balance[{v}]",
                Relation.EQUAL,
                tuple(theory.flows.decayed(c, rate * instance.decay, t) for t in instance.times),
                resolution,
            )
            for v, c in zip(instance.network.hidden_names, balances, strict=True)
        )
    )


def instances() -> SearchStrategy[Fields]:
    return _trainings(["half_square", "square"])


def _trainings(penalties: list[str]) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import homogeneous_mlps

    def trained(fields: Fields, penalty: str, seed: int) -> Fields:
        # At weight 0 the flow of an L1 penalty slides along the kink, which no integrator follows.
        edges = [[*ends, weight or 1] for *ends, weight in fields["edges"]] if penalty == "l1" else fields["edges"]
        return {**fields, "edges": edges, "penalty": penalty, "samples": 2, "data_seed": seed, "times": ["1/16"]}

    return st.builds(trained, homogeneous_mlps(), st.sampled_from(penalties), st.integers(0, 3))


_TWO_EDGES = {"edges": [["x", "v", 2], ["v", "y", 1]], "data": [[1]], "targets": [[0]]}
_NOT_DERIVED = Derivation("the law c' = −kλc, not derived", "0")

VARIANTS = {
    "half_the_rate": Variant(
        "c(t) = c(0) exp(−λt)",
        derive=lambda instance: _NOT_DERIVED,
        predict=lambda instance: _predicted(instance, 1),
        examples=(_TWO_EDGES,),
    ),
    "factor_of_the_penalty_forgotten": Variant(
        "c' = −2λc for λ‖θ‖², too",
        derive=lambda instance: _derived(instance, 2),
        instances=lambda: _trainings(["square"]),
        examples=({**_TWO_EDGES, "penalty": "square"},),
    ),
    "any_penalty": Variant(
        "exponential decay under λ‖θ‖₁",
        hypotheses=lambda instance: hypotheses(instance)[:2],
        derive=lambda instance: _NOT_DERIVED,
        instances=lambda: _trainings(["l1"]),
        examples=({**_TWO_EDGES, "penalty": "l1", "times": ["1/16"]},),
    ),
    "conserved_under_decay": Variant(
        "c is constant under weight decay",
        derive=lambda instance: _NOT_DERIVED,
        predict=lambda instance: _predicted(instance, 0),
        examples=(_TWO_EDGES,),
    ),
}
