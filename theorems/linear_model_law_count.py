"""The linear model under a symmetry has Σ (δ s m − o) laws over the isotypic components with s > 0.

Hypotheses
----------
f = Wx with W ∈ ℝ^{q×h} generic, squared loss, labels free in ℝ^q, all inputs allowed; the group acts orthogonally on
inputs and labels and the loss is averaged over it.

Statement
---------
Let the irreducible V_i, with δ_i = 1, 2, 4 for type ℝ, ℂ, ℍ, occur m_i times in the inputs and μ_i times in the
labels, and put s_i = q n_i/δ_i − μ_i. There are Σ over s_i > 0 of δ_i s_i m_i − o_i laws, where o_i = 1 if m_i = 1;
otherwise o_i = δ_i s_i m_i if s_i < m_i, else m_i², 2m_i² − 1, 4m_i² by type. Plain training has none.

Proof idea
----------
The averaged fields are W ↦ WC with C symmetric in the commutant, and constants in Hom_G. On the quotient ⊕ 𝔻^{s×m}
the C generate 𝔤𝔩_m(ℝ), {tr C real} in 𝔤𝔩_m(ℂ), 𝔤𝔩_m(ℍ), or for m = 1 only real scalars: subtract the dimension of an
orbit.

Source
------
Ours, for the averaged squared loss of Galley, Shahverdi, Flinth (2026).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import theory
from ..core import Hypothesis, Measurement, Prediction, Provenance, Source, Variant
from ..theory.model_fields import ModelFields
from ._laws_of_models import claimed, measured_laws

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.lift_group import Block

FAMILY = "conservation"
IDS = ("CL12",)
SOURCE = Source(("galley2026",), Provenance.OURS)

Instance = ModelFields


def hypotheses(instance: ModelFields) -> tuple[Hypothesis, ...]:
    one_layer = instance.architecture == "linear" and len(instance.sizes) == 2
    return (
        Hypothesis("f = Wx", one_layer, f"{instance.architecture}, sizes {list(instance.sizes)}"),
        Hypothesis("squared loss", instance.loss == "squared", f"loss = {instance.loss}"),
        Hypothesis("the data have a symmetry", instance.group is not None, f"group = {instance.group}"),
    )


def predict(instance: ModelFields) -> Prediction:
    return _with(instance, _rows, _orbit)


def measure(instance: ModelFields, seed: int, device: str) -> Measurement:
    """Rank of brackets of gradients of the averaged loss, in floating point."""
    return measured_laws(instance, seed)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    cases = [(name, copies) for name in ("C3", "S3", "S4", "Q8") for copies in (1, 2)]
    sizes = {"C3": 3, "S3": 3, "S4": 4, "Q8": 4}

    def fields(case: tuple[str, int], q: int) -> Fields:
        name, copies = case
        return {"architecture": "linear", "sizes": [q, sizes[name] * copies], "group": {"name": name, "copies": copies}}

    return st.builds(fields, st.sampled_from(cases), st.integers(1, 2))


def _rows(block: Block, q: int) -> int:
    """s, the number of rows of the block over its division algebra that labels do not push."""
    return q * block.dimension // block.delta - block.label_multiplicity


def _orbit(block: Block, s: int) -> int:
    """Dimension of a generic orbit of the block."""
    m = block.multiplicity
    if m == 1:
        return 1
    if s < m:
        return block.delta * s * m
    return {"R": m * m, "C": 2 * m * m - 1, "H": 4 * m * m}[block.type]


def _with(instance: ModelFields, rows: Callable[[Block, int], int], orbit: Callable[[Block, int], int]) -> Prediction:
    assert instance.group is not None
    q = instance.sizes[0]
    blocks = theory.lift_group.lift_group(instance.group.action(q)).blocks
    counted = [(block, s) for block in blocks if (s := rows(block, q)) > 0]
    laws = sum(block.delta * s * block.multiplicity - orbit(block, s) for block, s in counted)
    return claimed(instance, {"laws": laws, "plain_laws": 0})


def _complex_determinant(block: Block, s: int) -> int:
    m = block.multiplicity
    return 2 * m * m if block.type == "C" and 1 < m <= s else _orbit(block, s)


def _as_if_repeated(block: Block, s: int) -> int:
    m = block.multiplicity
    full = {"R": m * m, "C": 2 * m * m - 1, "H": 4 * m * m}[block.type]
    return block.delta * s * m if s < m else full


VARIANTS = {
    "complex_determinant": Variant(
        "o = 2m² for complex type: the phase of the determinant is not conserved",
        predict=lambda instance: _with(instance, _rows, _complex_determinant),
        examples=({"architecture": "linear", "sizes": [2, 6], "group": {"name": "C3", "copies": 2}},),
    ),
    "type_ignored_in_rows": Variant(
        "s = qn − μ",
        predict=lambda instance: _with(instance, lambda b, q: q * b.dimension - b.label_multiplicity, _orbit),
        examples=({"architecture": "linear", "sizes": [2, 3], "group": {"name": "C3"}},),
    ),
    "single_copies_like_repeated": Variant(
        "m = 1 treated like m ≥ 2",
        predict=lambda instance: _with(instance, _rows, _as_if_repeated),
        examples=({"architecture": "linear", "sizes": [1, 4], "group": {"name": "Q8"}},),
    ),
}
