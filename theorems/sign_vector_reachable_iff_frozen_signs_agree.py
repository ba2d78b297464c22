"""From a point of the invariant set a sign vector can be reached inside it iff it agrees with the point on frozen weights.

Hypotheses
----------
The start lies in the invariant set; every weight is non-zero somewhere on it.

Statement
---------
The component of θ⁰ in H has a point whose weights have the signs s, none of them zero, iff s_e = sign(θ⁰_e) for every
frozen edge e. So 2^#unfrozen sign vectors without zeros are reachable.

Proof idea
----------
The components of H are told apart by the signs of frozen weights. A relative interior point of P is positive on all
edges; any signs make it a point of H.

Source
------
Ours.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import Claim, Estimate, Evidence, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.faces import face_support, interior_point
from ..graphs.feasibility import Witness, feasible_point
from ..graphs.paths import component_path
from ..graphs.point_fields import SignFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S7",)
SOURCE = Source(("nurisso2026",), Provenance.OURS)

Instance = SignFields


def hypotheses(instance: SignFields) -> tuple[Hypothesis, ...]:
    network = instance.network
    error = instance.balance_error("start", instance.start)
    vertex = feasible_point(network)
    never = [] if isinstance(vertex, Witness) else np.flatnonzero(~face_support(network, vertex)).tolist()
    return (
        Hypothesis("the start lies in the invariant set", not error, error or "exact balances"),
        Hypothesis("every weight can be non-zero", not never, f"always zero: {never}"),
    )


def predict(instance: SignFields) -> Prediction:
    network = instance.network
    vertex = feasible_point(network)
    assert not isinstance(vertex, Witness), "a hypothesis says that the start is in the set"
    p, q = interior_point(network, vertex)
    squares = [Fraction(int(x), q * network.denominator) for x in p.tolist()]
    goal = [s * u for s, u in zip(instance.signs, squares, strict=True)]
    path = component_path(network, instance.start, goal)
    return Prediction((Claim("reachable", Relation.EQUAL, path.joined),), (path.certificate,))


def measure(instance: SignFields, seed: int, device: str) -> Measurement:
    """Gluing of sign pieces; a weight that is zero at the start belongs to pieces of both signs."""
    network = instance.network
    if network.edge_count > numerics.gluing.LARGEST:
        return Measurement({})
    ends = zip(instance.start, instance.signs, strict=True)
    differing = sum(1 << e for e, (w, s) in enumerate(ends) if w * s < 0)
    reachable = differing in numerics.gluing.sign_changes(network)
    return Measurement({"reachable": Estimate(reachable, how="glued sign pieces")}, evidence=Evidence.EXACT)


def instances() -> SearchStrategy[Fields]:
    from ..testing import dags_with_signs

    return dags_with_signs()


def _anything(instance: SignFields) -> Prediction:
    return Prediction((Claim("reachable", Relation.EQUAL, True),))


def _nothing_new(instance: SignFields) -> Prediction:
    same = all(w * s >= 0 for w, s in zip(instance.start, instance.signs, strict=True))
    return Prediction((Claim("reachable", Relation.EQUAL, same),))


VARIANTS = {
    "every_sign_vector": Variant(
        "every sign vector is reachable",
        predict=_anything,
        examples=({"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 1}, "start": [2, 1], "signs": [-1, 1]},),
    ),
    "no_sign_changes": Variant(
        "only the signs of the start are reachable",
        predict=_nothing_new,
        examples=(
            {
                "edges": [["x1", "v"], ["x2", "v"], ["v", "y"]],
                "balance": {"v": 1},
                "start": [1, 1, 1],
                "signs": [-1, 1, -1],
            },
        ),
    ),
}
