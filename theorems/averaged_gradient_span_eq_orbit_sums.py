"""Averaged margin gradients span the orbit sums weighted by those powers that the loss has in its Taylor series.

Hypotheses
----------
A finite group acting by a label character χ: G → {±1}, a scalar model f, a margin loss φ(y f) analytic near 0. Labels
in an interval around 0; or labels ±1, inputs along the ray through x, and a model with f(tx) = t^m f(x).

Statement
---------
With z_g = χ(g) f(gx), v_g = χ(g) ∇f(gx), K = {k ≥ 0 : φ^{(k+1)}(0) ≠ 0} and b_k = Σ_g z_g^k v_g (0⁰ = 1), the
gradients of the averaged loss at x, over all labels (and the ray), span {b_k : k ∈ K}. For the logistic loss K is 0
and the odd numbers, for the exponential loss all, for the sigmoid loss the even ones, for the squared loss 0 and 1, for
(1 − z)^m the numbers below m.

Proof idea
----------
∇ℓᴳ = |G|⁻¹ Σ_k φ^{(k+1)}(0) y^{k+1} b_k/k!, and a linear functional vanishes for all y iff it vanishes on every
coefficient. For a homogeneous model scaling x is scaling y, and both are scaling v_g; y = −1 adds nothing to it.

Source
------
Ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.orbit_fields import OrbitFields
from ._laws_of_models import rich_labels, signed_elements

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL4",)
SOURCE = Source(("galley2026",), Provenance.OURS, "their averaged losses; the span is ours")

Instance = OrbitFields


def hypotheses(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    if not instance.is_finite:
        return (Hypothesis("a finite group", False, f"group = {instance.group.name}"),)
    moving = any(value for orbit in instance.orbits for value in orbit.values)
    return (Hypothesis("the model does not vanish", moving, "values along the orbits"), *rich_labels(instance))


def predict(instance: OrbitFields) -> Prediction:
    return _claim(instance.averaged_rank(instance.support))


def measure(instance: OrbitFields, seed: int, device: str) -> Measurement:
    """Rank of the gradients of the averaged loss itself at many labels, in floating point."""
    if instance.labels == "binary":
        model = (instance.model, instance.sizes, instance.weights, instance.inputs)
        _, rank = numerics.ray_gradients.ray_ranks(*model, signed_elements(instance), instance.loss)
        return Measurement({"averaged_rank": Estimate(rank, how="pivots in arithmetic of 300 digits")})
    rank = numerics.orbit_gradients.sampled_rank(
        instance.model,
        instance.sizes,
        np.array(instance.weights, np.float64),
        np.array(instance.inputs, np.float64),
        signed_elements(instance),
        instance.loss,
    )
    return Measurement({"averaged_rank": Estimate(rank, how="singular values")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    # Larger weights make some orbit sums too small to see in floating point.
    number = st.integers(-4, 4)
    # Weights that change sign by half a turn tie the absolute values of the orbit, where odd powers alone miss something.
    tied = st.tuples(number, number).map(lambda pair: [*pair, -pair[0], -pair[1]])
    return st.fixed_dictionaries(
        {
            "model": st.just("linear"),
            "sizes": st.just([4]),
            "weights": st.one_of(tied, st.lists(number, min_size=4, max_size=4)).filter(any),
            "inputs": st.lists(st.lists(number, min_size=4, max_size=4).filter(any), min_size=1, max_size=1),
            "group": st.just({"name": "C4"}),
            "loss": st.sampled_from(["logistic", "exponential", "squared", "polynomial-3"]),
            "labels": st.sampled_from(["interval", "binary"]),
        }
    ).filter(_does_not_vanish)


def _does_not_vanish(fields: Fields) -> bool:
    return any(
        sum(w * x[(i + shift) % 4] for i, w in enumerate(fields["weights"]))
        for x in fields["inputs"]
        for shift in range(4)
    )


def _claim(rank: int) -> Prediction:
    return Prediction((Claim("averaged_rank", Relation.EQUAL, rank),))


def _any_labels(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("a finite group", instance.is_finite, f"group = {instance.group.name}"),)


def _biased() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(weights: list[int], x: list[int], loss: str) -> Fields:
        model = {"model": "power-bias", "sizes": [2, 1, 3], "weights": weights, "group": {"name": "C3"}}
        return {**model, "inputs": [x], "loss": loss, "labels": "binary"}

    number = st.integers(-4, 4).filter(bool)
    losses = st.sampled_from(["logistic", "squared"])
    return st.builds(fields, st.lists(number, min_size=5, max_size=5), st.lists(number, min_size=3, max_size=3), losses)


def _every_power(instance: OrbitFields) -> Prediction:
    return _claim(instance.averaged_rank(list(range(len(instance.support)))))


def _first_power_only(instance: OrbitFields) -> Prediction:
    return _claim(instance.averaged_rank([0]))


PARITY = {"model": "linear", "sizes": [4], "weights": [-3, 4, 3, -4], "inputs": [[1, 2, 0, 0]], "group": {"name": "C4"}}

VARIANTS = {
    "every_power": Variant(
        "K = ℕ for the logistic loss, although its third derivative vanishes at 0",
        predict=_every_power,
        examples=({**PARITY, "loss": "logistic"},),
    ),
    "label_free_part_only": Variant(
        "only the term that does not depend on the value of the model",
        predict=_first_power_only,
        examples=({**PARITY, "loss": "squared"},),
    ),
    "binary_labels_of_any_model": Variant(
        "labels ±1 along rays also for networks with biases",
        hypotheses=_any_labels,
        instances=_biased,
        examples=(
            {
                "model": "power-bias",
                "sizes": [2, 1, 3],
                "weights": [1, 1, 2, 4, 1],
                "inputs": [[1, 0, 2]],
                "group": {"name": "C3"},
                "loss": "squared",
                "labels": "binary",
            },
        ),
    ),
}
