"""Finite symmetry adds no law to training with an analytic non-polynomial margin loss, if orbit values are separated.

Hypotheses
----------
A finite group; φ analytic and not a polynomial; labels in an interval around 0, or labels ±1 with a model that is
homogeneous in its inputs and inputs along rays; along the orbit of each input the numbers |z_g| are pairwise distinct.
For the exponential loss, whose Taylor series has all powers, distinct z_g suffice.

Statement
---------
The averaged gradients at x span all of {v_g : g ∈ G}, so that averaged and plain gradients span the same space: no
function is conserved that was not conserved before.

Proof idea
----------
If Σ c_g z_g^k v_g* = 0 for all k ∈ K, divide by the largest |z|^k and let k → ∞: its coefficient vanishes; induct.
Only |G| members of K of one parity are needed, by Descartes' rule of signs.

Source
------
Theorem 3 of Galley, Shahverdi, Flinth (2026); the separation of |z_g| is our exact form of their Assumption 1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import (
    Certificate,
    Claim,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..theory.orbit_fields import OrbitFields
from ._laws_of_models import rich_labels, signed_elements, tied_orbits

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL5",)
SOURCE = Source(("galley2026",), Provenance.SHARPENED, "separation of absolute values instead of their Assumption 1")

Instance = OrbitFields


def hypotheses(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    if not instance.is_finite:
        return (Hypothesis("a finite group", False, f"group = {instance.group.name}"),)
    if instance.loss == "exponential":
        separated = all(len(set(orbit.values)) == len(orbit.values) for orbit in instance.orbits)
    else:
        separated = all(orbit.is_separated for orbit in instance.orbits)
    return (
        *_not_polynomial(instance),
        *rich_labels(instance),
        Hypothesis("separated orbit values", separated, "integers along every orbit"),
    )


def predict(instance: OrbitFields) -> Prediction:
    """As many averaged directions as plain ones; the certificate counts the orbit sums themselves."""
    rank = instance.plain_rank
    claims = tuple(Claim(name, Relation.EQUAL, rank) for name in ("plain_rank", "averaged_rank"))
    return Prediction(claims, (Certificate("orbit_ranks", {}),))


def measure(instance: OrbitFields, seed: int, device: str) -> Measurement:
    """Ranks of sampled gradients, in floating point; small orbit sums may leave the second one open."""
    if instance.labels == "binary":
        model = (instance.model, instance.sizes, instance.weights, instance.inputs)
        ranks = numerics.ray_gradients.ray_ranks(*model, signed_elements(instance), instance.loss)
        how = "pivots in arithmetic of 300 digits"
        pairs = zip(("plain_rank", "averaged_rank"), ranks, strict=True)
        return Measurement({name: Estimate(rank, how=how) for name, rank in pairs})
    weights, inputs = np.array(instance.weights, np.float64), np.array(instance.inputs, np.float64)
    arguments = (instance.model, instance.sizes, weights, inputs, signed_elements(instance))
    estimates = {"plain_rank": Estimate(numerics.orbit_gradients.plain_rank(*arguments), how="singular values")}
    try:
        rank = numerics.orbit_gradients.sampled_rank(*arguments, instance.loss)
    except Undecided:
        return Measurement(estimates)
    return Measurement(estimates | {"averaged_rank": Estimate(rank, how="singular values")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(weights: list[int], x: list[int], loss: str, labels: str) -> Fields:
        return {
            "model": "linear",
            "sizes": [3],
            "weights": weights,
            "inputs": [x],
            "group": {"name": "C3"},
            "loss": loss,
            "labels": labels,
        }

    numbers = st.lists(st.integers(-9, 9), min_size=3, max_size=3)
    losses, labels = st.sampled_from(["logistic", "exponential"]), st.sampled_from(["interval", "binary"])
    return st.builds(fields, numbers, numbers, losses, labels)


def _squared() -> SearchStrategy[Fields]:
    return instances().map(lambda fields: {**fields, "loss": "squared"})


def _not_polynomial(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("the loss is not a polynomial", not instance.is_polynomial, f"loss = {instance.loss}"),)


def _distinct_values(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    distinct = all(len(set(orbit.values)) == len(orbit.values) for orbit in instance.orbits)
    return (*_not_polynomial(instance), Hypothesis("distinct orbit values", distinct, "integers along every orbit"))


def _separated(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    separated = all(orbit.is_separated for orbit in instance.orbits)
    return (Hypothesis("separated orbit values", separated, "integers along every orbit"),)


VARIANTS = {
    "signs_ignored": Variant(
        "distinct z_g suffice for every loss",
        hypotheses=_distinct_values,
        instances=tied_orbits,
        examples=(
            {
                "model": "linear",
                "sizes": [4],
                "weights": [-3, 4, 3, -4],
                "inputs": [[1, 2, 0, 0]],
                "group": {"name": "C4"},
            },
            {
                "model": "linear",
                "sizes": [3],
                "weights": [1, 2, 4],
                "inputs": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
                "group": {"name": "sign(3)"},
                "loss": "sigmoid",
            },
        ),
    ),
    "polynomials_allowed": Variant(
        "also for the squared loss",
        hypotheses=_separated,
        instances=_squared,
        examples=(
            {
                "model": "linear",
                "sizes": [3],
                "weights": [1, 2, 5],
                "inputs": [[3, -1, 4], [1, 5, -9]],
                "group": {"name": "C3"},
                "loss": "squared",
            },
        ),
    ),
    "invariant_start_allowed": Variant(
        "also where the model is invariant, so that all orbit values agree",
        hypotheses=_not_polynomial,
        examples=(
            {"model": "linear", "sizes": [3], "weights": [1, 1, 1], "inputs": [[3, -1, 4]], "group": {"name": "C3"}},
        ),
    ),
}
