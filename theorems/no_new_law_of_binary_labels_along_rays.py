"""Finite symmetry adds no law to training on labels ±1 with a non-polynomial margin loss, for networks with biases too.

Hypotheses
----------
A finite group; the logistic, exponential or sigmoid loss; labels ±1; inputs tx along rays. A model that is a polynomial
in t along every ray beyond the last kink (linear, ReLU and power units, with biases or without), and along it the
numbers |z_g|, z_g = χ(g) f(gtx), pairwise differ by more than a constant. For the exponential loss the z_g may do so.

Statement
---------
The averaged gradients along a ray span all of {v_g : g ∈ G, t}, v_g = χ(g) ∇f(gtx). So averaged and plain gradients span
the same space, and no function is conserved that was not conserved before. Labels in an interval, or a homogeneous
model in which inputs do their work, are not needed.

Proof idea
----------
Let λ vanish on all of them: Σ_g φ'(z_g) λ(v_g) = 0 for large t. There φ'(z) is a constant plus Σ_j c_j e^{−j|z|} with
c_1 ≠ 0, and λ(v_g) is a polynomial in t. The constants cancel on their own. Of what is left the smallest |z_g| that grows
decays slowest, since all others and its own multiples exceed it by a polynomial without bound; so λ(v_g) = 0, and
induct. At most one |z_g| is constant, and it comes last. In exact numbers: at integer points all gradients are
rational functions of 1/e, which is transcendental, and independent if they are so modulo a prime for any number in its
place.

Source
------
Ours; Theorem 3 of Galley, Shahverdi, Flinth (2026) has labels in an interval, or homogeneous models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.ray_fields import RayFields
from ._laws_of_models import signed_elements, tied_orbits

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL5",)
SOURCE = Source(("galley2026",), Provenance.OURS, "their Theorem 3, for labels ±1 and models that are not homogeneous")

Instance = RayFields


def hypotheses(instance: RayFields) -> tuple[Hypothesis, ...]:
    if not instance.is_finite:
        return (Hypothesis("a finite group", False, f"group = {instance.group.name}"),)
    return (*_not_polynomial(instance), *_separated(instance))


def predict(instance: RayFields) -> Prediction:
    """As many averaged directions as plain ones; the certificate shows them modulo a prime."""
    rank = instance.plain_rank
    claims = tuple(Claim(name, Relation.EQUAL, rank) for name in ("plain_rank", "averaged_rank"))
    certificate = instance.certificate
    return Prediction(claims, () if certificate is None else (certificate,))


def measure(instance: RayFields, seed: int, device: str) -> Measurement:
    """Ranks of gradients at many points of each ray, with 300 digits."""
    plain, averaged = numerics.ray_gradients.ray_ranks(
        instance.model,
        instance.sizes,
        instance.weights,
        instance.inputs,
        signed_elements(instance),
        instance.loss,
    )
    how = "pivots in arithmetic of 300 digits"
    return Measurement({"plain_rank": Estimate(plain, how=how), "averaged_rank": Estimate(averaged, how=how)})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    number = st.integers(-5, 5)

    def fields(model: str, weights: list[int], x: list[int], loss: str) -> Fields:
        sizes = {"relu-bias": [2, 3], "power-bias": [2, 2, 3], "linear": [3]}[model]
        group = {"name": "C3"}
        kept = weights[: 3 if model == "linear" else 10]
        return {"model": model, "sizes": sizes, "weights": kept, "inputs": [x], "group": group, "loss": loss}

    return st.builds(
        fields,
        st.sampled_from(["power-bias", "linear", "relu-bias"]),
        st.lists(number.filter(bool), min_size=10, max_size=10),
        st.lists(number, min_size=3, max_size=3).filter(any),
        st.sampled_from(["logistic", "exponential", "sigmoid"]),
    ).filter(_has_no_kink)


def _has_no_kink(fields: Fields) -> bool:
    """Whether no ray runs inside the kink of a unit."""
    if fields["model"] != "relu-bias":
        return True
    rows = [fields["weights"][2 + 4 * j : 6 + 4 * j] for j in range(2)]
    (x,) = fields["inputs"]
    turns = [[x[(i + shift) % 3] for i in range(3)] for shift in range(3)]
    return all(row[3] or sum(w * t for w, t in zip(row[:3], turn, strict=True)) for row in rows for turn in turns)


def _squared() -> SearchStrategy[Fields]:
    return instances().map(lambda fields: {**fields, "loss": "squared"})


def _not_polynomial(instance: RayFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("the loss is not a polynomial", not instance.is_polynomial, f"loss = {instance.loss}"),)


def _separated(instance: RayFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("separated orbit values", instance.is_separated, "integers along every ray"),)


def _distinct(instance: RayFields) -> tuple[Hypothesis, ...]:
    columns = [list(zip(*(orbit.values for orbit in ray), strict=True)) for ray in instance.rays]
    distinct = all(len(set(values)) == len(values) for values in columns)
    return (*_not_polynomial(instance), Hypothesis("distinct orbit values", distinct, "integers along every ray"))


BIASED = {"model": "power-bias", "sizes": [3, 1, 3], "group": {"name": "S3"}}

VARIANTS = {
    "signs_ignored": Variant(
        "distinct z_g suffice for every loss",
        hypotheses=_distinct,
        instances=tied_orbits,
        examples=(
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
    "ties_allowed": Variant(
        "also where the model takes one value at two points of an orbit",
        hypotheses=_not_polynomial,
        examples=({**BIASED, "weights": [2, 1, 1, 3, 1], "inputs": [[1, 2, -4]]},),
    ),
}
