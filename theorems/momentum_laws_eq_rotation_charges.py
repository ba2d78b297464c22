"""Training with momentum conserves only angular momenta of hidden rotations: r(r − 1)/2 laws, and none of the flow.

Hypotheses
----------
θ'' + τθ' = −∇E(θ) with constant friction, τ = 1, for a loss of UVᵀ only, U ∈ ℝ^{n×r}, V ∈ ℝ^{m×r}; all data sets,
generic parameters.

Statement
---------
With W = (U; V), e^{τt}(W'ᵀW − WᵀW') is conserved. These are all laws: r(r − 1)/2, the dimension of O(r); for n = m =
1 and r ≥ 2 there are 2(2r − 3), since the product of two vectors has the symmetry O(r) × O(r). The laws UᵀU − VᵀV of
the flow are lost.

Proof idea
----------
U ↦ UR, V ↦ VR is a symmetry by isometries: Noether's theorem, with the factor e^{τt} for friction. Completeness by
count, in the coordinates (e^t, θ, θ').

Source
------
Marcotte, Gribonval, Peyré (2024) and (2025); the counts are ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..core import Hypothesis, Measurement, Prediction, Provenance, Source, Variant
from ..theory.model_fields import ModelFields
from ._laws_of_models import claimed, counted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL17",)
SOURCE = Source(("marcotte2024", "marcotte2025"), Provenance.PAPER, "the counts are ours")

Instance = ModelFields


def hypotheses(instance: ModelFields) -> tuple[Hypothesis, ...]:
    two_layers = instance.architecture == "linear" and len(instance.sizes) == 3 and instance.loss == "squared"
    return (
        Hypothesis("momentum", instance.dynamics == "momentum", f"dynamics = {instance.dynamics}"),
        Hypothesis("a loss of UVᵀ", two_layers, f"{instance.architecture}, sizes {list(instance.sizes)}"),
        Hypothesis("all data sets are allowed", instance.group is None, f"group = {instance.group}"),
    )


def predict(instance: ModelFields) -> Prediction:
    n, r, m = instance.sizes
    return claimed(instance, {"laws": 2 * (2 * r - 3) if n == m == 1 and r >= 2 else r * (r - 1) // 2})


def measure(instance: ModelFields, seed: int, device: str) -> Measurement:
    """Nothing: the count is exact."""
    return Measurement({})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    sizes = st.tuples(st.integers(1, 2), st.integers(1, 2), st.integers(1, 2)).map(list)
    return st.fixed_dictionaries({"architecture": st.just("linear"), "sizes": sizes, "dynamics": st.just("momentum")})


def _flow_laws(instance: ModelFields) -> Prediction:
    flow = ModelFields(architecture=instance.architecture, sizes=instance.sizes)
    return claimed(instance, {"laws": counted(flow).plain.at_least})


def _one_group_only(instance: ModelFields) -> Prediction:
    r = instance.sizes[1]
    return claimed(instance, {"laws": r * (r - 1) // 2})


VARIANTS = {
    "flow_laws_survive": Variant(
        "as many laws as gradient flow has",
        predict=_flow_laws,
        examples=({"architecture": "linear", "sizes": [2, 2, 1], "dynamics": "momentum"},),
    ),
    "one_rotation_group": Variant(
        "r(r − 1)/2 also between one input and one output",
        predict=_one_group_only,
        examples=({"architecture": "linear", "sizes": [1, 2, 1], "dynamics": "momentum"},),
    ),
}
