"""The number of conservation laws is D minus the dimension of the Lie algebra of the gradient fields.

Hypotheses
----------
The units of ReLU nets have distinct hyperplanes and every path is active for some inputs.
The loss gradients are spanned by smooth fields W that do not depend on the labels beyond a fixed space (squared loss: all of
it; cross-entropy on logits: differences), and the parameters are generic.

Statement
---------
Near a generic θ ∈ ℝᴰ there are exactly D − dim Lie(W)(θ) independent laws, functions constant under training on every data
set, and every law is a function of them. A function h is a law iff ∇h ⟂ W everywhere, so W suffices to test, but Lie(W) is
needed to count: D − dim W is only an upper bound.

Proof idea
----------
A law is constant along the flows of W, hence along those of all brackets. Frobenius' theorem gives D − dim Lie(W) independent
first integrals of the distribution Lie(W). The count is certified from both sides: brackets that are independent modulo a
prime are independent, and laws that are written down are laws.

Source
------
Marcotte, Gribonval, Peyré (2023), Theorem 3.3, and (2025), Theorem 2.11 and Proposition 2.12.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import theory
from ..core import Hypothesis, Measurement, Prediction, Provenance, Source, Variant
from ..theory.model_fields import ModelFields
from ._laws_of_models import claimed, counted, measured_laws

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL3",)
SOURCE = Source(("marcotte2023", "marcotte2025"), Provenance.PAPER)

Instance = ModelFields


def hypotheses(instance: ModelFields) -> tuple[Hypothesis, ...]:
    count = counted(instance).plain
    again = theory.lie_rank.lie_rank(count.system.fields, count.system.dimension, seed=1, laws=count.at_least)
    return (
        Hypothesis("all data sets are allowed", instance.group is None, f"group = {instance.group}"),
        Hypothesis("there is something to train", bool(count.system.fields), f"{len(count.system.fields)} generators"),
        Hypothesis(
            "ReLU units have distinct hyperplanes", _distinct_hyperplanes(instance), f"sizes = {list(instance.sizes)}"
        ),
        Hypothesis("the point is generic", again.rank == count.lie.rank, f"ranks {count.lie.rank} and {again.rank}"),
    )


def _distinct_hyperplanes(instance: ModelFields) -> bool:
    """Without bias, all units that see a single input switch at 0, and then act like linear ones."""
    return instance.architecture != "relu" or instance.bias or instance.sizes[-1] > 1


def predict(instance: ModelFields) -> Prediction:
    count = counted(instance)
    return claimed(instance, {"laws": count.plain.system.dimension - count.plain.lie.rank}, count=count)


def measure(instance: ModelFields, seed: int, device: str) -> Measurement:
    """Rank of brackets of sample gradients of the network itself, in floating point."""
    return measured_laws(instance, seed)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    widths = st.lists(st.integers(1, 5), min_size=2, max_size=3).map(lambda sizes: [*sizes, 2 + sum(sizes) % 2])
    return st.fixed_dictionaries({"architecture": st.sampled_from(["linear", "relu"]), "sizes": widths})


def _without_brackets(instance: ModelFields) -> Prediction:
    count = counted(instance)
    return claimed(instance, {"laws": count.plain.trace}, count=count)


def _single_brackets(instance: ModelFields) -> Prediction:
    count = counted(instance)
    system = count.plain.system
    return claimed(
        instance, {"laws": theory.lie_rank.lie_rank(system.fields, system.dimension, longest=2).laws}, count=count
    )


def _every_pair_conserved(instance: ModelFields) -> Prediction:
    """One law for each pair of units of a hidden layer."""
    pairs = sum(r * (r + 1) // 2 for r in instance.sizes[1:-1])
    return claimed(instance, {"laws": pairs})


VARIANTS = {
    "brackets_not_needed": Variant(
        "D minus the dimension of the span of the gradients",
        predict=_without_brackets,
        examples=({"architecture": "linear", "sizes": [2, 2, 2]},),
    ),
    "one_level_of_brackets": Variant(
        "brackets of two gradients suffice",
        predict=_single_brackets,
        examples=({"architecture": "linear", "sizes": [2, 5, 4, 3]},),
    ),
    "off_diagonal_laws_of_relu": Variant(
        "one law for each pair of units of a hidden layer, whatever the activation",
        predict=_every_pair_conserved,
        examples=({"architecture": "relu", "sizes": [2, 2, 2]},),
    ),
}
