"""Weights vanish together on the invariant set iff the polyhedron of squares has a point there; others may vanish with them.

Hypotheses
----------
The invariant set is not empty.

Statement
---------
Some θ in H has θ_e = 0 for all e in D iff the face F_D = {u ∈ P : u_e = 0 for e ∈ D} is not empty. D is exactly the
zero set of some θ in H iff moreover no other edge vanishes on all of F_D.

Proof idea
----------
θ ↦ θ² maps H onto P. A relative interior point of the convex set F_D vanishes only where all of F_D does.

Source
------
Ours.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from .. import numerics
from ..core import (
    Certificate,
    Claim,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..graphs.faces import face_point
from ..graphs.feasibility import Witness, feasible_point
from ..graphs.fields import NetworkFields
from ..graphs.vanishing import vanishing

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S7",)
SOURCE = Source(("nurisso2026",), Provenance.OURS)


@dataclass(frozen=True)
class Instance(NetworkFields):
    """A network with balances and some of its edges.

    Parameters
    ----------
    vanishing : tuple of int
        Edges whose weights should vanish together.
    """

    vanishing: tuple[int, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if odd := [e for e in self.vanishing if not 0 <= e < self.network.edge_count]:
            raise InputError(f"vanishing={odd!r}: no such edge; there are edges 0 to {self.network.edge_count - 1}")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    point = feasible_point(instance.network)
    empty = isinstance(point, Witness)
    return (Hypothesis("invariant set is not empty", not empty, f"{point} rules it out" if empty else "a point of P"),)


def predict(instance: Instance) -> Prediction:
    found = vanishing(instance.network, instance.vanishing)
    return _claims(found.together, found.zero_set, found.certificate)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The vertices and extreme rays of P that avoid the edges given: together they span the face."""
    network = instance.network
    if network.edge_count > numerics.polyhedra.LARGEST:
        return Measurement({})
    support = numerics.polyhedra.Polyhedron.of(network).support(sum(1 << e for e in set(instance.vanishing)))
    zero = None if support is None else tuple(e for e in range(network.edge_count) if not support >> e & 1)
    return Measurement(
        {
            "vanish_together": Estimate(support is not None, how="vertices of P"),
            "zero_set": Estimate(zero, how="vertices and extreme rays of P"),
        },
        evidence=Evidence.EXACT,
    )


def _claims(together: bool, zero_set: tuple[int, ...] | None, *certificates: Certificate) -> Prediction:
    return Prediction(
        (Claim("vanish_together", Relation.EQUAL, together), Claim("zero_set", Relation.EQUAL, zero_set)), certificates
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import balanced_dags, balanced_multigraphs

    def with_edges(fields: Fields) -> SearchStrategy[Fields]:
        edges = st.lists(st.sampled_from(range(len(fields["edges"]))), max_size=3, unique=True)
        chosen = edges if fields["edges"] else st.just([])
        return chosen.map(lambda listed: {**fields, "vanishing": listed})

    return (balanced_dags() | balanced_multigraphs()).flatmap(with_edges)


def _one_by_one(instance: Instance) -> Prediction:
    network = instance.network
    together = all(not isinstance(face_point(network, [e]), Witness) for e in instance.vanishing)
    return _claims(together, vanishing(network, instance.vanishing).zero_set if together else None)


def _nothing_else(instance: Instance) -> Prediction:
    together = vanishing(instance.network, instance.vanishing).together
    return _claims(together, tuple(sorted(set(instance.vanishing))) if together else None)


VARIANTS = {
    "one_by_one": Variant(
        "weights vanish together iff each of them can vanish",
        predict=_one_by_one,
        examples=({"edges": [["x1", "v"], ["x2", "v"], ["v", "y"]], "balance": {"v": 1}, "vanishing": [0, 1]},),
    ),
    "nothing_else_vanishes": Variant(
        "weights that vanish together are the zero set of some point",
        predict=_nothing_else,
        examples=({"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 0}, "vanishing": [0]},),
    ),
}
