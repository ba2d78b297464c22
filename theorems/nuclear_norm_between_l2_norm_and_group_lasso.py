"""The nuclear norm of J lies between an L2 norm and the group lasso over neurons, and equals the latter for one hidden layer.

Hypotheses
----------
Weights are given.

Statement
---------
With n_e = 1 or √2 for an edge with one or two hidden ends (0 with none), and θ_~v the weights at neuron v, ‖J‖_* is at
least 2‖(n_e θ_e)‖₂ and at most each of 2 Σ_v ‖θ_~v‖₂, 2√rank J ‖(n_e θ_e)‖₂ and 2 Σ_e n_e |θ_e| ≤ 2√2 ‖θ‖₁. Without an edge
between hidden nodes it equals 2 Σ_v ‖θ_~v‖₂.

Proof idea
----------
‖J‖_F = 2‖(n_e θ_e)‖₂ against the nuclear norm; the diagonal of L is majorized by its spectrum and the root is concave
(Schur, Horn); J is the sum of the rank-one matrices 2θ_e b_e e_eᵀ. Without edges between hidden nodes L is diagonal.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for the regularizer; the bounds are ours.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.fields import NetworkFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.laplacian import NormBounds

FAMILY = "invariant_sets"
IDS = ("S15",)
SOURCE = Source(("nurisso2026",), Provenance.OURS, "the regularizer is the paper's; the bounds are ours")

RESOLUTION = 1e-9  # of the norm; rounding of a decomposition leaves less

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("weights are given", instance.network.weights is not None, "edges as [tail, head, weight]"),)


def predict(instance: NetworkFields) -> Prediction:
    network = instance.network
    is_shallow = not (network.hidden[network.tail] & network.hidden[network.head]).any()
    return _predicted(_bounds(instance), Relation.EQUAL if is_shallow else Relation.AT_MOST)


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """The sum of the singular values of J, held against each bound."""
    weights = numerics.forward.as_floats(instance.network).to(device)
    found = numerics.laplacians.measured_norm(instance.network, weights)
    estimate = Estimate(found.value, found.error, "singular values of J")
    return Measurement({f"nuclear_norm[{name}]": estimate for name in ("l2", "group_lasso", "rank", "l1", "root_2_l1")})


def _bounds(instance: NetworkFields) -> NormBounds:
    weights = [Fraction(w) for w in instance.network.weights or ()]
    return theory.laplacian.norm_bounds(instance.network, weights)


def _predicted(bounds: NormBounds, group_lasso: Relation) -> Prediction:
    resolution = RESOLUTION * max(1.0, bounds.group_lasso)
    return Prediction(
        (
            Claim("nuclear_norm[l2]", Relation.AT_LEAST, bounds.l2, resolution),
            Claim("nuclear_norm[group_lasso]", group_lasso, bounds.group_lasso, resolution),
            Claim("nuclear_norm[rank]", Relation.AT_MOST, bounds.rank, resolution),
            Claim("nuclear_norm[l1]", Relation.AT_MOST, bounds.l1, resolution),
            Claim("nuclear_norm[root_2_l1]", Relation.AT_MOST, bounds.root_2_l1, resolution),
        )
    )


def instances() -> SearchStrategy[Fields]:
    from ..testing import weighted_dags

    return weighted_dags()


_CHAIN = {"edges": [["x", "a", 1], ["a", "b", 1], ["b", "y", 1]]}

VARIANTS = {
    "group_lasso_of_deep_networks": Variant(
        "equal to the group lasso, whatever the depth",
        predict=lambda instance: _predicted(_bounds(instance), Relation.EQUAL),
        examples=(_CHAIN,),
    ),
    "twice_the_l1_norm": Variant(
        "‖J‖_* ≤ 2‖θ‖₁",
        predict=lambda instance: _predicted(
            replace(_bounds(instance), root_2_l1=_bounds(instance).root_2_l1 / 2**0.5), Relation.AT_MOST
        ),
        examples=({"edges": [["x", "a", "0.1"], ["a", "b", 1], ["b", "y", "0.1"]]},),
    ),
    "l1_norm": Variant(
        "‖J‖_* ≤ ‖θ‖₁",
        predict=lambda instance: _predicted(
            replace(_bounds(instance), root_2_l1=_bounds(instance).root_2_l1 / 8**0.5), Relation.AT_MOST
        ),
        examples=({"edges": [["x", "v", 1], ["v", "y", 1]]},),
    ),
}
