"""The invariant set has 2^k components, where k is the number of frozen weights.

Hypotheses
----------
The invariant set is not empty.

Statement
---------
Let H = {θ : Bθ² = c} and P = {u ≥ 0 : Bu = c}. Weight e is frozen if m_e = min {u_e : u ∈ P} is positive. H is
connected iff no weight is frozen, i.e. iff for each e some θ ∈ H has θ_e = 0. In general log₂ of the number of
components is the number of frozen weights, and two points lie in one component iff the signs of all frozen weights
agree.

Proof idea
----------
For a sign vector s the piece {s√u : u ∈ P} is convex up to homeomorphism. Pieces that differ in the sign of e alone
meet in {u_e = 0}, which is empty iff e is frozen; a frozen weight never changes sign, and all sign patterns occur.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for connectedness; the count is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import numerics
from ..core import Claim, Estimate, Evidence, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.connectivity import Connectivity, connectivity
from ..graphs.fields import NetworkFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S5",)
SOURCE = Source(
    ("nurisso2026",), Provenance.SHARPENED, "connected iff nothing is frozen is the paper's; the count is ours"
)

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    result = connectivity(instance.network)
    how = "a point of P" if result.feasible else f"{result.empty_witness} rules it out"
    return (Hypothesis("invariant set is not empty", result.feasible, how),)


def predict(instance: NetworkFields) -> Prediction:
    result = connectivity(instance.network)
    return _claims(result, len(result.frozen_edges), result.frozen_edges)


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """Glue 2^m sign pieces along common faces if m is small; else minimize every squared weight."""
    network = instance.network
    if network.edge_count <= numerics.gluing.LARGEST:
        count = numerics.gluing.components(network)
        minima = numerics.gluing.minima(network) or ()
        return Measurement(
            {
                "frozen": Estimate(tuple(e for e, m in enumerate(minima) if m > 0), how="least vertex of P"),
                "log2_components": Estimate(count.bit_length() - 1, how=f"{count} classes of glued sign pieces"),
            },
            evidence=Evidence.EXACT,
        )
    measured = numerics.linear_programs.minima(network)
    if not measured.is_decisive:
        return Measurement({})
    return Measurement({"frozen": Estimate(measured.frozen, how=f"linear programs, ± {measured.error:.3g}")})


def _claims(result: Connectivity, log2_components: int, frozen: tuple[int, ...]) -> Prediction:
    return Prediction(
        (
            Claim("frozen", Relation.EQUAL, frozen),
            Claim("log2_components", Relation.EQUAL, log2_components),
        ),
        (result.certificate,),
    )


def _every_bottleneck_doubles(instance: NetworkFields) -> Prediction:
    result = connectivity(instance.network)
    ends = len(result.out_bottlenecks) + len(result.in_bottlenecks)
    return _claims(result, ends, result.frozen_edges)


def _one_more_per_frozen_weight(instance: NetworkFields) -> Prediction:
    result = connectivity(instance.network)
    return _claims(result, (1 + len(result.frozen_edges)).bit_length() - 1, result.frozen_edges)


def _free_if_it_can_vary(instance: NetworkFields) -> Prediction:
    """A weight on a walk from terminal to terminal can grow without bound; the variant calls it free for that."""
    result = connectivity(instance.network)
    return _claims(result, 0, ())


def instances() -> SearchStrategy[Fields]:
    from ..testing import balanced_dags, balanced_multigraphs

    return balanced_dags() | balanced_multigraphs()


CHAIN = {"edges": [["x", "v"], ["v", "y"]], "inputs": ["x"], "outputs": ["y"], "balance": {"v": 1}}
LONG_CHAIN = {
    "edges": [["x", "a"], ["a", "b"], ["b", "y"]],
    "inputs": ["x"],
    "outputs": ["y"],
    "balance": {"a": 1, "b": 1},
}

VARIANTS = {
    "every_bottleneck_doubles": Variant(
        "each bottleneck doubles the number of components, frozen or not",
        predict=_every_bottleneck_doubles,
        examples=(CHAIN,),
    ),
    "one_more_per_frozen_weight": Variant(
        "1 + k components instead of 2^k",
        predict=_one_more_per_frozen_weight,
        examples=(LONG_CHAIN,),
    ),
    "free_if_it_can_vary": Variant(
        "a weight is frozen only if its square is constant on the invariant set",
        predict=_free_if_it_can_vary,
        examples=(CHAIN,),
    ),
}
