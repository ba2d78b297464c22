"""Symmetry adds no law if averaged and plain gradients span the same space.

Hypotheses
----------
A compact group acts jointly on inputs and labels; the averaged gradients Wᴳ(θ) span as much as the plain ones W(θ)
for generic θ.

Statement
---------
Always Wᴳ ⊂ W. If they agree on a dense set, every law for symmetric data is a law for all data. So a new law needs Wᴳ
⊊ W on an open set; that is necessary and not sufficient, since brackets can make up for what the average lost.

Proof idea
----------
An averaged gradient is an average of gradients. A law I of averaged training has ∇I ⟂ Wᴳ = W on a dense set, by
continuity everywhere.

Source
------
Equation 9 of Galley, Shahverdi, Flinth (2026); that the converse fails is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import Claim, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.model_fields import ModelFields
from ._laws_of_models import claimed, counted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL2",)
SOURCE = Source(
    ("galley2026",), Provenance.SHARPENED, "the counterexample to the converse and the certificates are ours"
)

Instance = ModelFields


def hypotheses(instance: ModelFields) -> tuple[Hypothesis, ...]:
    return (*_symmetric(instance), *_equal_spans(instance))


def predict(instance: ModelFields) -> Prediction:
    return claimed(instance, {"new_laws": 0})


def measure(instance: ModelFields, seed: int, device: str) -> Measurement:
    """Nothing: both counts are exact."""
    return Measurement({})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(name: str, r: int) -> Fields:
        return {"architecture": "power", "sizes": [2, r, 2], "group": {"name": name}}

    return st.builds(fields, st.sampled_from(["rotation(4)", "C2"]), st.integers(1, 2))


def _lossy() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(q: int, copies: int) -> Fields:
        return {"architecture": "linear", "sizes": [q, 3 * copies], "group": {"name": "C3", "copies": copies}}

    return st.builds(fields, st.integers(1, 2), st.integers(1, 2))


def _symmetric(instance: ModelFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("the data have a symmetry", instance.group is not None, f"group = {instance.group}"),)


def _equal_spans(instance: ModelFields) -> tuple[Hypothesis, ...]:
    """Equal ranks at a random point modulo a prime."""
    if instance.group is None:
        return ()
    plain, averaged = _ranks(instance)
    return (Hypothesis("equal spans", plain == averaged, f"ranks {plain} plain and {averaged} averaged"),)


def _smaller_span(instance: ModelFields) -> tuple[Hypothesis, ...]:
    plain, averaged = _ranks(instance)
    return (Hypothesis("a smaller span", plain > averaged, f"ranks {plain} plain and {averaged} averaged"),)


def _ranks(instance: ModelFields) -> tuple[int, int]:
    count = counted(instance)
    assert count.averaged is not None
    return count.plain.lie.span_rank, count.averaged.lie.span_rank


def _at_least_one(instance: ModelFields) -> Prediction:
    claims = (Claim("new_laws", Relation.AT_LEAST, 1),)
    return Prediction(claims, (counted(instance).certificate,))


def _difference_of_spans(instance: ModelFields) -> Prediction:
    plain, averaged = _ranks(instance)
    return claimed(instance, {"new_laws": plain - averaged})


VARIANTS = {
    "smaller_span_suffices": Variant(
        "a smaller span of averaged gradients gives a new law",
        predict=_at_least_one,
        hypotheses=_smaller_span,
        instances=_lossy,
        examples=({"architecture": "linear", "sizes": [1, 6], "group": {"name": "C3", "copies": 2}},),
    ),
    "count_by_spans": Variant(
        "as many new laws as dimensions of the span are lost",
        predict=_difference_of_spans,
        hypotheses=_symmetric,
        instances=_lossy,
        examples=({"architecture": "linear", "sizes": [2, 6], "group": {"name": "C3", "copies": 2}},),
    ),
}
