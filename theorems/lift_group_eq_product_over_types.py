"""The lift group is a product of orthogonal, unitary and symplectic groups, by type and multiplicity of the irreducibles.

Hypotheses
----------
A compact group acts orthogonally on features 𝓗 = ⊕ ℝ^{m_i} ⊗ V_i, the V_i irreducible over ℝ and pairwise not
isomorphic, and on labels.

Statement
---------
H = {h ∈ O(𝓗) : hA = Ah, Bh = B for symmetric A in the commutant and intertwiners B to the labels} is a product over
i: trivial if V_i occurs in the labels; O(n_i) if m_i = 1, for every type; otherwise O(n_i), U(n_i/2) or Sp(n_i/4) for
type ℝ, ℂ, ℍ. The commutant has dimension Σ δm², its symmetric part Σ (m + δm(m − 1)/2), the intertwiners Σ δmμ.

Proof idea
----------
The symmetric part contains the isotypic projectors. For m = 1 it is real scalars there, whatever the type; for m ≥ 2
symmetric elements generate M_m(𝔻), whose commutant is the 𝔻-linear maps of V.

Source
------
Appendix D of Galley, Shahverdi, Flinth (2026); the role of multiplicity is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import theory
from .._checker_lift import LARGEST_CHECKED
from ..core import Claim, Hypothesis, InputError, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.model_fields import GroupFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.lift_group import Block, LiftGroup

FAMILY = "conservation"
IDS = ("CL11",)
SOURCE = Source(
    ("galley2026",), Provenance.SHARPENED, "multiplicity-one irreducibles of complex and quaternionic type are ours"
)

_MOST_LABELS = 14


@dataclass(frozen=True)
class Instance:
    """A group acting on features and labels.

    Parameters
    ----------
    group : GroupFields
        How it acts.
    labels : int
        Dimension of the labels if they are invariant.
    """

    group: GroupFields
    labels: int = 1

    def __post_init__(self) -> None:
        if not 1 <= self.labels <= _MOST_LABELS:
            raise InputError(f"labels={self.labels!r}: between 1 and {_MOST_LABELS} dimensions are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    size = instance.group.action(instance.labels).inputs
    small = size <= LARGEST_CHECKED
    return (Hypothesis("small enough for exact bases", small, f"features of dimension {size}"),)


def predict(instance: Instance) -> Prediction:
    group = theory.lift_group.lift_group(instance.group.action(instance.labels))
    return _claims(group, group.dimensions)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Nothing: all dimensions are those of exact spaces of solutions."""
    return Measurement({})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import group_representations

    names = st.sampled_from(["C3", "C4", "S3", "S4", "Q8", "Heis3", "O(3)", "SO(2)", "octahedral"])
    named = st.builds(
        lambda name, copies, natural: {"group": {"name": name, "copies": copies, "natural_labels": natural}},
        names,
        st.integers(1, 2),
        st.booleans(),
    )
    return named | group_representations().map(lambda group: {"group": group})


def _claims(group: LiftGroup, dimensions: dict[str, int]) -> Prediction:
    certificate = group.certificate
    claims = tuple(Claim(name, Relation.EQUAL, value) for name, value in dimensions.items())
    return Prediction(claims, () if certificate is None else (certificate,))


def _with(instance: Instance, factor_dimension: Callable[[Block], int]) -> Prediction:
    group = theory.lift_group.lift_group(instance.group.action(instance.labels))
    return _claims(group, group.dimensions | {"dim_lie": sum(map(factor_dimension, group.blocks))})


def _by_type(block: Block) -> int:
    """The factor as if the irreducible were repeated."""
    repeated = theory.lift_group.Block(
        max(2, block.multiplicity), block.dimension, block.type, block.label_multiplicity
    )
    return repeated.factor_dimension


def _labels_ignored(block: Block) -> int:
    return theory.lift_group.Block(block.multiplicity, block.dimension, block.type, 0).factor_dimension


VARIANTS = {
    "multiplicity_ignored": Variant(
        "U and Sp also for irreducibles that occur once",
        predict=lambda instance: _with(instance, _by_type),
        examples=({"group": {"name": "Q8"}}, {"group": {"name": "Heis3"}}),
    ),
    "labels_ignored": Variant(
        "the same factor whether or not V occurs in the labels",
        predict=lambda instance: _with(instance, _labels_ignored),
        examples=({"group": {"name": "C3", "natural_labels": True}},),
    ),
}
