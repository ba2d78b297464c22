"""The Jacobian of the balances loses rank iff some neurons are cut off: each terminal-free component takes one off.

Hypotheses
----------
None.

Statement
---------
Let J(θ) = 2B diag(θ) be the Jacobian of θ ↦ Bθ², and let κ be the number of connected components of the graph of
non-zero weights, directions ignored, that contain no terminal. Then rank J = h − κ, where h is the number of hidden
nodes; so θ is singular iff all weights across the boundary of some non-empty set of hidden nodes vanish. Moreover det(B
diag(θ²) Bᵀ) is the sum, over all spanning forests rooted at the terminals, of the products of their squared weights.

Proof idea
----------
diag(θ) only deletes columns of B. A component with k hidden nodes contributes k to the rank if it has a terminal (solve
along a spanning tree from there), and k − 1 if not (its rows sum to 0). The determinant is Cauchy–Binet: a square part
of B is ±1 on a rooted forest and 0 otherwise.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for the equivalence; the formulas are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import (
    Certificate,
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..graphs.fields import NetworkFields
from ..graphs.forests import forest_sum, rooted_forests
from ..graphs.network import Network
from ..graphs.rank import terminal_free_components
from ..graphs.structure import merged_ends, reachable

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S9",)
SOURCE = Source(("nurisso2026",), Provenance.SHARPENED, "the equivalence is the paper's; rank and determinant are ours")


@dataclass(frozen=True)
class Instance(NetworkFields):
    """A network whose edges all have weights."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.weights is None:
            raise InputError("edges: have no weights; the rank is that at a point, so give a weight for every edge")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return ()


def derive(instance: Instance) -> Derivation:
    residual = theory.jacobians.matrix_tree_residual(instance.network)
    return Derivation(
        identity="det(B diag(θ²) Bᵀ) = Σ_F Π_{e ∈ F} θ_e² over rooted forests F",
        residual=str(residual),
        latex=theory.jacobians.matrix_tree_latex(instance.network),
        settles=("determinant",) if _has_few_forests(instance.network) else (),
    )


def predict(instance: Instance) -> Prediction:
    network = instance.network
    stranded = terminal_free_components(network, _weights(network))
    data = {"components": [[network.names[v] for v in component] for component in stranded]}
    return _prediction(network, len(stranded), forest_sum, (Certificate("jacobian_rank", data),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Singular values for the rank, elimination on fractions for the determinant."""
    network = instance.network
    estimates: dict[str, Estimate] = {}
    try:
        found = numerics.jacobians.rank(network)
        full = found == len(network.hidden_nodes)
        estimates |= {"rank": Estimate(found, how="singular values"), "regular": Estimate(full, how="singular values")}
    except Undecided:
        if not _has_few_forests(network):
            raise
    if _has_few_forests(network):
        exact = numerics.jacobians.determinant(network)
        estimates["determinant"] = Estimate(exact, how="elimination on fractions")
        estimates["regular"] = Estimate(exact != 0, how="elimination on fractions")
    return Measurement(estimates, evidence=Evidence.EXACT if "rank" not in estimates else Evidence.INTERVAL)


def _prediction(
    network: Network,
    defect: int,
    determinant: Callable[[Network], Fraction],
    certificates: tuple[Certificate, ...] = (),
) -> Prediction:
    claims = [
        Claim("rank", Relation.EQUAL, len(network.hidden_nodes) - defect),
        Claim("regular", Relation.EQUAL, defect == 0),
    ]
    if _has_few_forests(network):
        claims.append(Claim("determinant", Relation.EQUAL, determinant(network)))
    return Prediction(tuple(claims), certificates)


def _has_few_forests(network: Network) -> bool:
    """Return whether forests are enumerated, so that there is a claim about the determinant."""
    h = len(network.hidden_nodes)
    return h <= theory.jacobians.LARGEST_DETERMINANT and network.edge_count <= theory.jacobians.LARGEST_EDGES


def _weights(network: Network) -> list[Fraction]:
    assert network.weights is not None  # see `Instance`
    return [Fraction(w) for w in network.weights]


def instances() -> SearchStrategy[Fields]:
    from ..testing import weighted_dags

    # A network without edges has no weights, so it is no instance.
    return weighted_dags(dead_ends=True).filter(lambda fields: bool(fields["edges"]))


# False variants: other counts of what is cut off.


def _isolated(instance: Instance) -> Prediction:
    network = instance.network
    used = {v for e, w in enumerate(_weights(network)) if w for v in (int(network.tail[e]), int(network.head[e]))}
    return _prediction(network, sum(v not in used for v in network.hidden_nodes.tolist()), forest_sum)


def _directed(instance: Instance) -> Prediction:
    network = instance.network
    kept = [e for e, w in enumerate(_weights(network)) if w]
    tail, head = (ends[kept] for ends in merged_ends(network))
    count = network.node_count
    both = reachable(count + 1, tail, head, count) & reachable(count + 1, head, tail, count)
    return _prediction(network, int((~both[:-1] & network.hidden).sum()), forest_sum)


def _zero_weights(instance: Instance) -> Prediction:
    zeros = sum(w == 0 for w in _weights(instance.network))
    return _prediction(instance.network, min(zeros, len(instance.network.hidden_nodes)), forest_sum)


def _sum_without_squares(network: Network) -> Fraction:
    weights = _weights(network)
    total = Fraction(0)
    for edges in rooted_forests(network):
        product = Fraction(1)
        for e in edges:
            product *= abs(weights[e])
        total += product
    return total


def _not_squared(instance: Instance) -> Prediction:
    network = instance.network
    defect = len(terminal_free_components(network, _weights(network)))
    return _prediction(network, defect, _sum_without_squares)


def _chain(*weights: int) -> dict[str, list[list[str | int]]]:
    return {"edges": [["x", "a", weights[0]], ["a", "b", weights[1]], ["b", "y", weights[2]]]}


VARIANTS = {
    "isolated_neurons_counted": Variant(
        "κ is the number of hidden nodes without non-zero weights", predict=_isolated, examples=(_chain(0, 1, 0),)
    ),
    "directions_respected": Variant(
        "κ is the number of hidden nodes off all directed walks from terminal to terminal along non-zero weights",
        predict=_directed,
        examples=(_chain(1, 1, 0),),
    ),
    "every_zero_weight_counted": Variant(
        "every weight that is zero lowers the rank", predict=_zero_weights, examples=(_chain(1, 1, 0),)
    ),
    "forests_not_squared": Variant(
        "the determinant is the sum of the products of |θ_e|",
        predict=_not_squared,
        derive=lambda instance: Derivation("", "0"),
        examples=(_chain(1, 2, 3),),
    ),
}
