"""The lift group is the full orthogonal symmetry of the averaged squared loss.

Hypotheses
----------
f = Mx with M ∈ ℝ^{q×h} free, squared loss averaged over a group acting orthogonally on inputs and labels; h orthogonal.

Statement
---------
Eᴳ(Mh) = Eᴳ(M) for all M and all data iff h is in the lift group: hA = Ah for every symmetric A that commutes with the
group, and Bh = B for every intertwiner B from inputs to labels. The lift group can be larger than the group, and h
need not commute with its commutant.

Proof idea
----------
Eᴳ(M) = ½⟨MᵀM, A⟩ − ⟨M, B⟩ + const; tr(hᵀMᵀMhA) = tr(MᵀM hAhᵀ). Conversely the MᵀM span all symmetric matrices, and
the M everything.

Source
------
Theorem 4 of Galley, Shahverdi, Flinth (2026); the converse is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
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
from ..theory.exact_matrices import Rows
from ..theory.model_fields import GroupFields
from ._laws_of_models import float_elements

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.lift_group import Flat

    Bases = dict[str, list[Flat]]

FAMILY = "conservation"
IDS = ("CL8",)
SOURCE = Source(("galley2026",), Provenance.SHARPENED, "the converse and the exact membership test are ours")

RESOLUTION = 1e-10  # rounding of moments of order ten; an h outside the group changes the loss by far more
TRIALS = 5


@dataclass(frozen=True)
class Instance:
    """A finite group, labels, and a candidate h.

    Parameters
    ----------
    group : GroupFields
        Acting on inputs and labels.
    h : rows of numbers
        A square matrix on the inputs.
    labels : int
        Dimension of the labels if they are invariant.
    """

    group: GroupFields
    h: Rows
    labels: int = 1

    def __post_init__(self) -> None:
        size = self.group.action(self.labels).inputs
        if len(self.h) != size or any(len(row) != size for row in self.h):
            raise InputError(f"h: a {size} x {size} matrix is needed, as large as the inputs of the group")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    n = len(instance.h)
    one = theory.exact_matrices.rows([[int(i == j) for j in range(n)] for i in range(n)])
    square = theory.exact_matrices.times(theory.exact_matrices.transpose(instance.h), instance.h)
    finite = not instance.group.action(instance.labels).lie
    return (
        Hypothesis("h is orthogonal", square == one, "hᵀh = 1"),
        Hypothesis("a finite group", finite, f"group = {instance.group.name}"),
    )


def predict(instance: Instance) -> Prediction:
    return _claim(instance, lambda bases: (bases["sym"], bases["hom"]))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Compare the averaged losses of Mh and M for random M and data, up to the constant."""
    act = instance.group.action(instance.labels)
    maps = float_elements(act)
    generator = np.random.default_rng(seed)
    h = np.array([[float(entry) for entry in row] for row in instance.h])
    largest = 0.0
    for _ in range(TRIALS):
        x, y = (
            generator.standard_normal((2 * act.inputs, act.inputs)),
            generator.standard_normal((2 * act.inputs, act.labels)),
        )
        moments = numerics.averaged_training.averaged_moments(x, y, maps)
        m = generator.standard_normal((act.labels, act.inputs))
        largest = max(largest, abs(moments.loss(m @ h) - moments.loss(m)))
    return Measurement(
        {"invariant": Estimate(largest <= RESOLUTION, how=f"largest change {largest:.1e} in {TRIALS} trials")}
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(images: list[int], signs: list[int], name: str, natural: bool) -> Fields:
        h = [[signs[i] * int(images[j] == i) for j in range(3)] for i in range(3)]
        return {"group": {"name": name, "natural_labels": natural}, "h": h}

    signs = st.lists(st.sampled_from([1, -1]), min_size=3, max_size=3)
    return st.builds(fields, st.permutations(range(3)), signs, st.sampled_from(["C3", "S3", "sign(3)"]), st.booleans())


def _claim(
    instance: Instance,
    constraints: Callable[[Bases], tuple[list[Flat], list[Flat]]],
) -> Prediction:
    """h commutes with the first matrices and is fixed by the second ones from the right."""
    commuting, fixing = constraints(theory.lift_group.lift_group(instance.group.action(instance.labels)).bases)
    times, h, n = theory.exact_matrices.times, instance.h, len(instance.h)
    square = [tuple(tuple(flat[i : i + n]) for i in range(0, len(flat), n)) for flat in commuting]
    wide = [tuple(tuple(flat[i : i + n]) for i in range(0, len(flat), n)) for flat in fixing]
    inside = all(times(h, a) == times(a, h) for a in square) and all(times(b, h) == b for b in wide)
    return Prediction((Claim("invariant", Relation.EQUAL, inside),))


SWAP = [[1, 0, 0], [0, 0, 1], [0, 1, 0]]
CENTRAL = [[-1, 0, 0], [0, -1, 0], [0, 0, -1]]

VARIANTS = {
    "commutes_with_everything": Variant(
        "h has to commute with the whole commutant, symmetric or not",
        predict=lambda instance: _claim(instance, lambda bases: (bases["end"], bases["hom"])),
        examples=({"group": {"name": "C3"}, "h": SWAP},),
    ),
    "labels_ignored": Variant(
        "Bh = B is not needed",
        predict=lambda instance: _claim(instance, lambda bases: (bases["sym"], [])),
        examples=({"group": {"name": "C3"}, "h": CENTRAL},),
    ),
}
