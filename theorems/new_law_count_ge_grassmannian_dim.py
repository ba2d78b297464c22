"""A conserved range of k columns in n dimensions gives at least dim Gr(k, n) new laws, one more over ℂ.

Hypotheses
----------
A two-layer linear net f = W₂W₁x with r hidden units, the squared loss averaged over a group acting orthogonally on
the inputs, invariant labels. An isotypic component ℝᵐ ⊗ V is counted if it does not occur in the labels; it holds a
block P of k = rm columns over 𝔻 = ℝ, ℂ, ℍ (over ℝ if m = 1) in n = dim_𝔻 V dimensions.

Statement
---------
There are at least r(P) laws beyond those of plain training, summed over blocks: k(n − k) over ℝ; 2k(n − k) + 1 over
ℂ, where k = n still leaves 1; over ℍ 4k(n − k), or 4n − 1 for k = 1. Nothing for k ≥ n otherwise.

Proof idea
----------
P' = PC with C symmetric or Hermitian over 𝔻. These generate 𝔤𝔩_k(ℝ), {C : tr C real} and 𝔤𝔩_k(ℍ), so an orbit has
codimension dim Gr(k, n), plus the phase of the Plücker vector over ℂ. Further laws appear if the averaged fields are
few.

Source
------
Ours; the conserved range is Theorem 4 of Galley, Shahverdi, Flinth (2026).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import theory
from ..core import Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.model_fields import ModelFields
from ._laws_of_models import claimed

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.lift_group import Block

FAMILY = "conservation"
IDS = ("CL10",)
SOURCE = Source(("galley2026",), Provenance.OURS)

Instance = ModelFields


def hypotheses(instance: ModelFields) -> tuple[Hypothesis, ...]:
    two_layers = instance.architecture == "linear" and len(instance.sizes) == 3
    invariant = instance.group is not None and not instance.group.natural_labels and instance.group.labels is None
    known = [
        Hypothesis("f = W2 W1 x", two_layers, f"{instance.architecture}, sizes {list(instance.sizes)}"),
        Hypothesis("a symmetry with invariant labels", invariant, f"group = {instance.group}"),
    ]
    if two_layers and invariant:
        bound = sum(_bound(block, instance.sizes[1]) for block in _blocks(instance))
        known.append(Hypothesis("some range is not everything", bound > 0, f"the bound is {bound}"))
    return tuple(known)


def predict(instance: ModelFields) -> Prediction:
    return _with(instance, _bound)


def measure(instance: ModelFields, seed: int, device: str) -> Measurement:
    """Nothing: both counts are exact, and a difference of two numerical ranks would add nothing to them."""
    return Measurement({})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(case: tuple[Fields, int, int], q: int, r: int) -> Fields:
        group, inputs, most = case
        return {"architecture": "linear", "sizes": [q, min(r, most), inputs], "group": group}

    # Groups, inputs, and the most hidden units that leave something to conserve.
    cases: list[tuple[Fields, int, int]] = [
        ({"name": "S3"}, 3, 1),
        ({"name": "S5"}, 5, 2),
        ({"name": "O(4)"}, 4, 2),
        ({"name": "Heis3", "trivial": 1}, 7, 2),
        ({"name": "Heis3", "trivial": 1, "copies": 2}, 13, 1),
    ]
    return st.builds(fields, st.sampled_from(cases), st.integers(1, 2), st.integers(1, 2))


def _small() -> SearchStrategy[Fields]:
    """Without the groups whose counts take seconds."""
    return instances().filter(lambda fields: not fields["group"]["name"].startswith("Heis"))


def _blocks(instance: ModelFields) -> tuple[Block, ...]:
    assert instance.group is not None
    blocks = theory.lift_group.lift_group(instance.group.action(instance.sizes[0])).blocks
    return tuple(block for block in blocks if not block.label_multiplicity)


def _bound(block: Block, r: int) -> int:
    delta = 1 if block.multiplicity == 1 else block.delta
    return _grassmannian(r * block.multiplicity, block.dimension // delta, delta)


def _grassmannian(k: int, n: int, delta: int) -> int:
    if delta == 2:
        return 2 * k * (n - k) + 1 if k <= n else 0
    if delta == 4 and k == 1 < n:
        return 4 * n - 1
    return delta * k * (n - k) if k < n else 0


def _with(
    instance: ModelFields, bound: Callable[[Block, int], int], relation: Relation = Relation.AT_LEAST
) -> Prediction:
    new = sum(bound(block, instance.sizes[1]) for block in _blocks(instance))
    return claimed(instance, {"new_laws": new}, relation)


def _without_phase(block: Block, r: int) -> int:
    delta = 1 if block.multiplicity == 1 else block.delta
    return _bound(block, r) - (delta == 2)


def _by_type_alone(block: Block, r: int) -> int:
    return _grassmannian(r * block.multiplicity, block.dimension // block.delta, block.delta)


VARIANTS = {
    "no_phase": Variant(
        "exactly 2k(n − k) over ℂ",
        predict=lambda instance: _with(instance, _without_phase, Relation.EQUAL),
        examples=(
            {"architecture": "linear", "sizes": [1, 1, 13], "group": {"name": "Heis3", "copies": 2, "trivial": 1}},
        ),
    ),
    "multiplicity_ignored": Variant(
        "complex type means U(n), even for a single copy",
        predict=lambda instance: _with(instance, _by_type_alone, Relation.EQUAL),
        examples=({"architecture": "linear", "sizes": [1, 2, 7], "group": {"name": "Heis3", "trivial": 1}},),
    ),
    "always_equal": Variant(
        "equality, even if the labels drop out and one field is left",
        predict=lambda instance: _with(instance, _bound, Relation.EQUAL),
        instances=_small,
        examples=({"architecture": "linear", "sizes": [1, 2, 4], "group": {"name": "O(4)"}},),
    ),
}
