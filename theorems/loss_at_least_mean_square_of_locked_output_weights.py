"""A network whose output weights are positive and frozen never fits negative targets better than the zero function.

Hypotheses
----------
The network is acyclic; its activation is ReLU or the absolute value; there is one output, and all edges into it come from
hidden nodes (no output bias, no skip), are frozen, and positive at the start. The targets are not positive. Training is
gradient flow.

Statement
---------
The output is not negative on any input at any time, so the mean squared error is at least the mean of y² at all times.

Proof idea
----------
Frozen weights keep their sign, so the output is a sum of positive multiples of numbers that are not negative; then
(f − y)² ≥ y² for y ≤ 0 ≤ f.

Source
------
Ours; obstructed training of this kind is shown in Nurisso, Leroy, Petri, Vaccarino (2026) and Nurisso, Leroy, Vaccarino
(2024).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.connectivity import connectivity
from ..graphs.structure import is_acyclic
from ..graphs.training_fields import RunFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("C5", "S7")
SOURCE = Source(("nurisso2026", "nurisso2024"), Provenance.OURS, "the obstruction is the papers'; the bound is ours")

RESOLUTION = (
    1e-2  # a flow that slides along a kink is followed to first order, which leaves 1e-3; variants miss by more
)

Instance = RunFields


def hypotheses(instance: RunFields) -> tuple[Hypothesis, ...]:
    network = instance.network
    into = _edges_into_output(instance)
    from_hidden = bool(into) and all(network.hidden[network.tail[e]] for e in into)
    positive = all(Fraction(w) > 0 for e, w in enumerate(network.weights or ()) if e in into)
    unfrozen = sorted(set(into) - set(connectivity(network).frozen_edges))
    problem = numerics.training.problem_of(instance) if is_acyclic(network) else None
    largest = max((y for row in problem.exact_targets() for y in row), default=Fraction(0)) if problem else Fraction(0)
    return (
        Hypothesis("acyclic", is_acyclic(network), "topological order"),
        Hypothesis(
            "activations are not negative",
            instance.activation in ("relu", "abs"),
            f"activation = {instance.activation}",
        ),
        Hypothesis(
            "one output, fed by hidden nodes alone",
            len(network.outputs) == 1 and from_hidden,
            f"edges {into} enter outputs",
        ),
        Hypothesis("output weights are positive at the start", positive, "exact weights"),
        Hypothesis("output weights are frozen", not unfrozen, f"edges {unfrozen} are not"),
        Hypothesis("targets are not positive", largest <= 0, f"the largest is {float(largest):.3g}"),
        Hypothesis("training is gradient flow", instance.method == "flow", f"method = {instance.method}"),
    )


def predict(instance: RunFields) -> Prediction:
    targets = [y for row in numerics.training.problem_of(instance).exact_targets() for y in row]
    mean_square = sum((y**2 for y in targets), Fraction(0)) / len(targets)
    return Prediction(
        (
            Claim("least_output", Relation.AT_LEAST, 0, RESOLUTION),
            Claim("least_loss", Relation.AT_LEAST, mean_square, RESOLUTION * max(1.0, float(mean_square))),
        )
    )


def measure(instance: RunFields, seed: int, device: str) -> Measurement:
    """The flow in floating point. All that is random belongs to the instance, so the seed plays no part."""
    problem = numerics.training.problem_of(instance, device)
    run = numerics.locks.extremes_of_flow(
        instance.network, problem.objective(), problem.start, float(instance.duration)
    )
    how = "gradient flow, integrated with two tolerances"
    return Measurement(
        {
            "least_output": Estimate(run.least_output, run.error, how),
            "least_loss": Estimate(run.least_loss, run.error, how),
        }
    )


def _edges_into_output(instance: RunFields) -> list[int]:
    outputs = set(instance.network.outputs.tolist())
    return [e for e, b in enumerate(instance.network.head.tolist()) if b in outputs]


def instances() -> SearchStrategy[Fields]:
    return _runs(output_weight=5, target=-1)


def _runs(*, output_weight: int | str, target: int) -> SearchStrategy[Fields]:
    """Networks of one output, where large output weights are frozen."""
    from hypothesis import strategies as st

    from ..testing import homogeneous_mlps

    def run(fields: Fields, seed: int) -> Fields:
        edges = [[a, b, output_weight if b == "y0" else weight] for a, b, weight in fields["edges"] if b != "y1"]
        extra: Mapping[str, Any] = {"targets": [[target]] * 2, "data_seed": seed, "duration": "1/16"}
        return {**fields, **extra, "edges": edges, "outputs": ["y0"]}

    return st.builds(run, homogeneous_mlps(activations=["relu", "abs"], bias=False), st.integers(0, 3))


def _runs_with_output_bias() -> SearchStrategy[Fields]:
    return _runs(output_weight=1, target=-40).map(
        lambda fields: {
            **fields,
            "edges": [*fields["edges"], ["one", "y0", 0]],
            "inputs": [*fields["inputs"], "one"],
            "bias": ["one"],
        }
    )


_TWO_EDGES = {"edges": [["x", "v", 1], ["v", "y", 2]], "data": [[1]], "targets": [[-1]], "duration": 4}


def _without(name: str) -> Any:
    """The hypotheses but the one called `name`."""
    return lambda instance: tuple(hypothesis for hypothesis in hypotheses(instance) if hypothesis.name != name)


VARIANTS = {
    "positive_at_the_start": Variant(
        "output weights that are positive at the start, frozen or not",
        hypotheses=_without("output weights are frozen"),
        # Output weights below those that enter are not frozen, and a target at a distance pulls them through zero soon.
        instances=lambda: _runs(output_weight="1/4", target=-8),
        examples=({**_TWO_EDGES, "edges": [["x", "v", 2], ["v", "y", 1]]},),
    ),
    "any_targets": Variant(
        "targets of either sign",
        hypotheses=_without("targets are not positive"),
        instances=lambda: _runs(output_weight=5, target=3),
        examples=({**_TWO_EDGES, "targets": [[1]]},),
    ),
    "output_bias": Variant(
        "networks with an output bias",
        hypotheses=lambda instance: tuple(
            h for h in hypotheses(instance) if not h.name.startswith(("one output", "output weights"))
        ),
        instances=_runs_with_output_bias,
        examples=(
            {
                **_TWO_EDGES,
                "edges": [["x", "v", 1], ["v", "y", 2], ["one", "y", 0]],
                "inputs": ["x", "one"],
                "outputs": ["y"],
                "bias": ["one"],
            },
        ),
    ),
}
