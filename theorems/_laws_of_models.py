"""What the theorems about numbers of laws share: claims with their certificate, and the count by floating-point brackets."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from .._checker_dynamics import is_orthogonal
from .._checker_groups import Action, elements
from ..core import Claim, Estimate, Evidence, Hypothesis, Measurement, Prediction, Relation
from ..numerics.integrators import Vector
from ..theory.law_count import LawCount
from ..theory.model_fields import ModelFields
from ..theory.orbit_fields import OrbitFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

__all__ = ["claimed", "counted", "float_elements", "measured_laws", "rich_labels", "signed_elements", "tied_orbits"]


def counted(instance: ModelFields) -> LawCount:
    """Return the certified count; laws that are not known are searched up to degree 2 where that is cheap."""
    plain = theory.law_count.model_systems(instance.plain)["plain"]
    degree = 2 if plain.dimension <= 30 else 0
    return theory.law_count.law_count(instance.plain, degree=degree)


def claimed(
    instance: ModelFields, claims: Mapping[str, int], relation: Relation = Relation.EQUAL, count: LawCount | None = None
) -> Prediction:
    """Return claims about numbers of laws, beside the certificate of what they are."""
    certificate = (count or counted(instance)).certificate
    return Prediction(tuple(Claim(name, relation, value) for name, value in claims.items()), (certificate,))


def measured_laws(instance: ModelFields, seed: int) -> Measurement:
    """Return the number of laws by brackets in floating point, for small networks under gradient flow."""
    group = instance.group
    if instance.dynamics != "flow" or instance.output_map or (group is not None and is_orthogonal(group.plain)):
        return Measurement({})
    if instance.architecture is None or (group is not None and instance.architecture not in ("linear", "power")):
        return Measurement({})
    # A random ReLU network may be dead behind a unit, or have units that are active together on a line of inputs. It then
    # obeys more laws at that point than at a generic one, which is what is counted.
    deep = instance.architecture == "relu" and (len(instance.sizes) > 3 or instance.sizes[0] == 1)
    if deep or instance.architecture == "residual":
        return Measurement({})
    labels = instance.sizes[0] if instance.architecture == "linear" else 1
    scout = numerics.model_losses.scouted(
        instance.architecture,
        instance.sizes,
        bias=instance.bias,
        logits=instance.loss == "logits",
        elements=() if group is None else float_elements(group.action(labels)),
        seed=seed,
    )
    if scout is None:
        return Measurement({})
    # A start may be special, e.g. with dead units, and then has more laws than the generic one: no contradiction.
    found = {"laws": Estimate(scout.laws, how=f"rank of brackets, gap {scout.gap:.0e}")}
    return Measurement(found, evidence=Evidence.HEURISTIC)


def float_elements(act: Action) -> list[tuple[Vector, Vector]]:
    """Return the elements of a finite group as arrays."""
    return [
        (np.array([[float(e) for e in row] for row in x]), np.array([[float(e) for e in row] for row in y]))
        for x, y in elements(act)
    ]


def signed_elements(instance: OrbitFields) -> list[tuple[Vector, int]]:
    """Return the maps of inputs as arrays, each with the sign it gives to labels."""
    maps = [g for g, _ in float_elements(instance.group.action(1))]
    return [(g, round(float(np.linalg.det(g))) if instance.character == "sign" else 1) for g in maps]


def rich_labels(instance: OrbitFields) -> tuple[Hypothesis, ...]:
    """Return the hypothesis that labels, with inputs along rays, see every coefficient of the Taylor series."""
    how = f"labels = {instance.labels}, model = {instance.model}"
    return (Hypothesis("labels in an interval or a homogeneous model", instance.has_rich_labels, how),)


def tied_orbits() -> SearchStrategy[Fields]:
    """Instances of linear models under C4 whose orbit values come in pairs z and −z."""
    from hypothesis import strategies as st

    def fields(a: int, b: int, x: list[int]) -> Fields:
        return {"model": "linear", "sizes": [4], "weights": [a, b, -a, -b], "inputs": [x], "group": {"name": "C4"}}

    number = st.integers(-9, 9)
    return st.builds(fields, number, number, st.lists(number, min_size=4, max_size=4))
