"""The regular part of the invariant set obeys the same count with strict inequalities; gradient flow never leaves it.

Hypotheses
----------
The invariant set has a regular point (one where the rows of B diag(θ) are independent).

Statement
---------
A weight is regular-frozen if it vanishes at no regular point. log₂ of the number of components of the regular part is
the number of regular-frozen weights. If every hidden node is on a walk from terminal to terminal, e is regular-frozen
iff Σ_W c ≤ 0 for some W ∈ 𝒮(e) or Σ_W c ≥ 0 for some W ∈ 𝒫(e): a balance sum of exactly zero locks the sign for
gradient flow although the set is connected.

Proof idea
----------
Supports only grow under convex combination, so the squared regular points are convex and the gluing argument applies
to them. If Σ_W c = 0, then u_e = 0 forces every boundary edge of W to vanish, which is singular.

Source
------
Ours; the regular part is invariant by Nurisso, Leroy, Petri, Vaccarino (2026).
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
IDS = ("S8",)
SOURCE = Source(("nurisso2026",), Provenance.OURS, "the criterion and its proof")

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    result = connectivity(instance.network)
    how = "the residual digraph of a point is strongly connected" if result.regular_feasible else "no such point"
    return (Hypothesis("the invariant set has a regular point", bool(result.regular_feasible), how),)


def predict(instance: NetworkFields) -> Prediction:
    result = connectivity(instance.network)
    return _claims(result, result.regular_frozen_edges)


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """Glue 2^m sign pieces along faces with a regular point if m is small; else points of largest support."""
    network = instance.network
    frozen = numerics.linear_programs.regular_frozen_edges(network)
    estimates = {}
    if frozen is not None:
        estimates["regular_frozen"] = Estimate(frozen, how="points of largest support, by linear programs")
    if network.edge_count > numerics.gluing.LARGEST:
        return Measurement(estimates)
    count = numerics.gluing.regular_components(network)
    if count is not None:
        how = f"{count} classes of glued sign pieces"
        estimates["regular_log2_components"] = Estimate(count.bit_length() - 1, how=how)
    return Measurement(estimates, evidence=Evidence.EXACT)


def _claims(result: Connectivity, frozen: tuple[int, ...]) -> Prediction:
    return Prediction(
        (
            Claim("regular_frozen", Relation.EQUAL, frozen),
            Claim("regular_log2_components", Relation.EQUAL, len(frozen)),
        ),
        (result.certificate,),
    )


def _same_as_the_whole_set(instance: NetworkFields) -> Prediction:
    result = connectivity(instance.network)
    return _claims(result, result.frozen_edges)


def _zero_sum_node_next_to_it(instance: NetworkFields) -> Prediction:
    """Every edge at a hidden node of balance zero counts as regular-frozen."""
    network = instance.network
    result = connectivity(network)
    zero = [v for v in network.hidden_nodes.tolist() if network.sum_of_balances([v]) == 0]
    touched = [e for e in range(network.edge_count) if network.tail[e] in zero or network.head[e] in zero]
    return _claims(result, tuple(sorted({*result.frozen_edges, *touched})))


def instances() -> SearchStrategy[Fields]:
    from ..testing import balanced_dags, balanced_multigraphs

    return balanced_dags() | balanced_multigraphs()


VARIANTS = {
    "same_as_the_whole_set": Variant(
        "both counts are always equal",
        predict=_same_as_the_whole_set,
        examples=({"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 0}},),
    ),
    "zero_balance_locks_every_edge": Variant(
        "an edge is regular-frozen if one of its ends has balance zero",
        predict=_zero_sum_node_next_to_it,
        examples=({"edges": [["x1", "v"], ["x2", "v"], ["v", "y"]], "balance": {"v": 0}},),
    ),
}
