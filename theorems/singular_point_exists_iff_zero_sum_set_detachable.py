"""The invariant set has a singular point iff the boundary of some set of neurons can vanish on it.

Hypotheses
----------
None; the balances are rational.

Statement
---------
H has a singular point iff for some non-empty set W of hidden nodes (connected ones suffice) the polyhedron P has a
point that vanishes on all edges across the boundary of W, iff P has a vertex with fewer than h positive coordinates.
Then Σ_W c = 0, but the converse fails. To decide it is NP-complete, by subset sum.

Proof idea
----------
θ is singular iff some W is cut off. A singular point of P lies in a face of points that vanish on that boundary, and
this face contains a vertex of P, which is singular too; at a vertex the columns of B on the support are independent, so
the rank is the number of positive coordinates.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for the necessity of Σ_W c = 0; equivalence and hardness are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, combinations
from typing import TYPE_CHECKING

from .. import numerics
from ..core import (
    Claim,
    Estimate,
    Evidence,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..graphs.faces import crossing_edges, face_point
from ..graphs.feasibility import Witness
from ..graphs.fields import NetworkFields
from ..graphs.network import Network
from ..graphs.singular import singular_point

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S10",)
SOURCE = Source(
    ("nurisso2026",),
    Provenance.OURS,
    "that the balances of a set sum to zero is necessary by the paper; the rest is ours",
)

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    return ()


def predict(instance: NetworkFields) -> Prediction:
    found = singular_point(instance.network)
    if found.exists is None or found.certificate is None:
        raise Undecided(found.reason or Reason.INCOMPLETE_METHOD, found.explanation)
    return Prediction((Claim("singular", Relation.EQUAL, found.exists),), (found.certificate,))


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """All vertices of P, solved on forests: a point is singular iff a vertex has too few positive coordinates."""
    network = instance.network
    if network.edge_count > numerics.polyhedra.LARGEST:
        return Measurement({})
    vertices = numerics.polyhedra.Polyhedron.of(network).vertices
    fewest = min((support.bit_count() for support in vertices), default=None)
    singular = fewest is not None and fewest < len(network.hidden_nodes)
    how = f"{len(vertices)} vertices, at least {fewest} positive coordinates, {len(network.hidden_nodes)} hidden nodes"
    return Measurement({"singular": Estimate(singular, how=how)}, evidence=Evidence.EXACT)


def instances() -> SearchStrategy[Fields]:
    from ..testing import balanced_dags, balanced_multigraphs

    return balanced_dags() | balanced_multigraphs()


# False variants: what else one might ask of a set of balance zero.


def _if_some_set(suffices: Callable[[Network, tuple[int, ...]], bool]) -> Callable[[NetworkFields], Prediction]:
    def predict(instance: NetworkFields) -> Prediction:
        network = instance.network
        singular = any(suffices(network, W) for W in _zero_sum_sets(network))
        return Prediction((Claim("singular", Relation.EQUAL, singular),))

    return predict


def _zero_sum_sets(network: Network) -> Iterator[tuple[int, ...]]:
    nodes = network.hidden_nodes.tolist()
    subsets = chain.from_iterable(combinations(nodes, k) for k in range(1, len(nodes) + 1))
    return (W for W in subsets if network.sum_of_balances(W) == 0)


def _is_balanced_inside(network: Network, W: tuple[int, ...]) -> bool:
    """Return whether flows inside W alone meet the balances of W."""
    balance = {network.names[v]: network.sum_of_balances([v]) if v in W else 0 for v in network.hidden_nodes.tolist()}
    inner = network.with_balance(balance)
    outside = [e for e in range(network.edge_count) if network.tail[e] not in W or network.head[e] not in W]
    return not isinstance(face_point(inner, outside), Witness)


def _one_boundary_edge_vanishes(network: Network, W: tuple[int, ...]) -> bool:
    return all(not isinstance(face_point(network, [e]), Witness) for e in crossing_edges(network, W).tolist())


def _chain_of(a: int, b: int) -> Fields:
    return {"edges": [["x", "a"], ["a", "b"], ["b", "y"]], "balance": {"a": a, "b": b}}


VARIANTS = {
    "zero_sum_suffices": Variant(
        "a singular point exists iff the balances of some set sum to zero",
        predict=_if_some_set(lambda network, W: True),
        examples=(_chain_of(1, -1),),
    ),
    "balanced_inside_suffices": Variant(
        "iff the edges inside some set can carry its balances, whatever the rest needs",
        predict=_if_some_set(_is_balanced_inside),
        examples=(_chain_of(-1, 0),),
    ),
    "edge_by_edge": Variant(
        "iff each boundary edge of some set of balance zero can vanish for itself",
        predict=_if_some_set(_one_boundary_edge_vanishes),
        examples=(
            {
                "edges": [["x", "a"], ["a", "y"], ["x", "b"], ["a", "b"], ["b", "y"], ["x", "c"], ["b", "c"]],
                "inputs": ["x"],
                "outputs": ["y"],
                "balance": {"a": -2, "b": 1, "c": 2},
            },
        ),
    ),
}
