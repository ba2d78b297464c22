"""The invariant set is non-empty iff every closed set of hidden nodes has a balance sum of the right sign.

Hypotheses
----------
None: any finite directed multigraph with declared terminals, cycles and dead ends included.

Statement
---------
Let P = {u ≥ 0 : Bu = c} be the squared weights that realize the balance c_v = Σ_in u − Σ_out u. Then P ≠ ∅ iff Σ_W c
≥ 0 for every set W of hidden nodes that no edge leaves, and Σ_W c ≤ 0 for every set that no edge enters. If every
hidden node lies on a walk from terminal to terminal, only the empty set is closed, and every balance is feasible.

Proof idea
----------
Farkas: P is empty iff some y, zero on terminals, with y_head ≥ y_tail on all edges has c·y < 0. The level sets {y ≥
s}, s > 0, are closed under successors and {y ≤ −s} under predecessors, and y is a positive combination of their
indicators.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for walks through every node; the criterion for any graph is ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.certificates import feasibility_certificate
from ..graphs.fields import NetworkFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S4",)
SOURCE = Source(("nurisso2026",), Provenance.SHARPENED, "non-emptiness under (A) is the paper's; the criterion is ours")

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    return ()


def predict(instance: NetworkFields) -> Prediction:
    certificate = feasibility_certificate(instance.network)
    return _claim(certificate.kind == "invariant_set_point", instance)


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """The smallest ‖Bu − c‖₁ over u ≥ 0, by linear programming; it is a multiple of 1 / (common denominator of c)."""
    measured = numerics.linear_programs.minima(instance.network, edges=())
    if not measured.is_decisive:
        return Measurement({})
    how = f"least ‖Bu − c‖₁ is {measured.distance:.3g} ± {measured.error:.3g}"
    return Measurement({"feasible": Estimate(measured.feasible, how=how)})


def _claim(feasible: bool, instance: NetworkFields) -> Prediction:
    return Prediction((Claim("feasible", Relation.EQUAL, feasible),), (feasibility_certificate(instance.network),))


def _single_nodes_have_sign(instance: NetworkFields, sign: int = 1) -> bool:
    """The criterion for sets of one node, with the inequalities reversed if `sign` is −1."""
    network = instance.network
    c = sign * np.array([int(x) for x in network.require_balance()], object)
    dead_end = network.hidden & (network.out_degree == 0)
    orphan = network.hidden & (network.in_degree == 0)
    return bool((c[dead_end] >= 0).all() and (c[orphan] <= 0).all())


def instances() -> SearchStrategy[Fields]:
    from ..testing import balanced_multigraphs

    return balanced_multigraphs()


VARIANTS = {
    "always_nonempty": Variant(
        "dead ends allowed, and yet every balance is feasible",
        predict=lambda instance: _claim(True, instance),
        examples=({"edges": [["x", "v"]], "inputs": ["x"], "outputs": [], "balance": {"v": -1}},),
    ),
    "single_nodes_suffice": Variant(
        "the inequality for closed sets of one node only",
        predict=lambda instance: _claim(_single_nodes_have_sign(instance), instance),
        examples=({"edges": [["x", "a"], ["a", "b"]], "inputs": ["x"], "outputs": [], "balance": {"a": -2, "b": 1}},),
    ),
    "signs_reversed": Variant(
        "≤ for sets that no edge leaves, ≥ for sets that no edge enters",
        predict=lambda instance: _claim(_single_nodes_have_sign(instance, -1), instance),
        examples=({"edges": [["x", "v"]], "inputs": ["x"], "outputs": [], "balance": {"v": 1}},),
    ),
}
