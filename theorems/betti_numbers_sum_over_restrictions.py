"""Betti numbers of the invariant set sum those of the sets of weights that vanish together, restricted in all ways.

Hypotheses
----------
The invariant set is not empty.

Statement
---------
Let K be the family of sets D of edges whose weights vanish together somewhere on H, and K_J its members inside J. Over
any field, b_k(H) = Σ_J b̃_{k−1}(K_J), where J runs over all sets of edges and b̃_{−1}({∅}) = 1. For two layers with d
inputs and o outputs the Poincaré polynomial is the product, over the hidden neurons, of 1 + t^(d−1) if c > 0, 1 +
t^(o−1) if c < 0, and 1 if c = 0. Claimed and computed over the field with two elements.

Proof idea
----------
H is the basic construction of the group (ℤ/2)^m over P with mirrors {u_e = 0}, so its homology is the sum over J of the
homology of P relative to the mirrors in J. P and all non-empty intersections of mirrors are convex: the nerve lemma.

Source
------
Nurisso, Leroy, Vaccarino (2024) for two layers; the general case is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import Claim, Estimate, Evidence, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.faces import face_point
from ..graphs.feasibility import Witness, feasible_point
from ..graphs.fields import NetworkFields
from ..graphs.homology import homology, reduced_betti_numbers
from ..graphs.network import Network

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S13",)
SOURCE = Source(("nurisso2024", "nurisso2026"), Provenance.OURS, "two layers are the paper's")

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    point = feasible_point(instance.network)
    empty = isinstance(point, Witness)
    return (Hypothesis("invariant set is not empty", not empty, f"{point} rules it out" if empty else "a point of P"),)


def predict(instance: NetworkFields) -> Prediction:
    found = homology(instance.network)
    return Prediction((Claim("betti", Relation.EQUAL, found.betti),), (found.certificate,))


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """The homology of a cell complex, glued from copies of a polytope."""
    if instance.network.edge_count > numerics.polyhedra.LARGEST:
        return Measurement({})
    betti = numerics.cells.betti_numbers(instance.network)
    return Measurement({"betti": Estimate(betti, how="cell complex")}, evidence=Evidence.EXACT)


def instances() -> SearchStrategy[Fields]:
    from ..testing import balanced_dags, balanced_multigraphs

    return balanced_dags(max_edges=7) | balanced_multigraphs()


# False variants: other sums over K, and other spheres for two layers.


def _family(network: Network) -> list[int]:
    """Return K as bit masks, by size."""
    masks = sorted(range(1 << network.edge_count), key=int.bit_count)
    vanish = (not isinstance(face_point(network, _edges(D)), Witness) for D in masks)
    return [D for D, together in zip(masks, vanish, strict=True) if together]


def _edges(D: int) -> list[int]:
    return [e for e in range(D.bit_length()) if D >> e & 1]


def _claim(betti: list[int]) -> Prediction:
    return Prediction((Claim("betti", Relation.EQUAL, tuple(np.trim_zeros(betti, "b"))),))


def _not_shifted(instance: NetworkFields) -> Prediction:
    family = _family(instance.network)
    betti = [0] * (instance.network.edge_count + 1)
    for J in range(1 << instance.network.edge_count):
        for k, b in enumerate(reduced_betti_numbers([D for D in family if D & ~J == 0])[1:]):
            betti[k] += b
    betti[0] += 1
    return _claim(betti)


def _of_the_family_itself(instance: NetworkFields) -> Prediction:
    lowest, *reduced = reduced_betti_numbers(_family(instance.network))
    ordinary = [*reduced, 0]
    ordinary[0] += 1 - lowest
    return _claim(ordinary)


def _spheres(dimension: Callable[[int, int, int], int]) -> Callable[[NetworkFields], Prediction]:
    """Return the formula for two layers with spheres of another dimension (−1: a point), given d, o and the sign of c."""

    def predict(instance: NetworkFields) -> Prediction:
        network = instance.network
        polynomial = np.array([1])
        for v in network.hidden_nodes.tolist():
            c = network.sum_of_balances([v])
            sphere = np.zeros(network.edge_count + 1, np.int64)
            sphere[0] = 1
            k = dimension(int(network.in_degree[v]), int(network.out_degree[v]), (c > 0) - (c < 0))
            if k >= 0:
                sphere[k] += 1
            polynomial = np.convolve(polynomial, sphere)
        return _claim(polynomial.tolist())

    return predict


def _two_layers() -> SearchStrategy[Fields]:
    from ..testing import balanced_dags

    return balanced_dags(max_hidden=1, max_edges=6)


def _inputs_and_outputs_swapped(d: int, o: int, sign: int) -> int:
    return {1: o - 1, -1: d - 1, 0: -1}[sign]


def _zero_as_positive(d: int, o: int, sign: int) -> int:
    return {1: d - 1, -1: o - 1, 0: d - 1}[sign]


TWO_IN = [["x1", "v"], ["x2", "v"], ["v", "y"]]

VARIANTS = {
    "degree_not_shifted": Variant(
        "b_k = Σ_J b̃_k(K_J), plus 1 for k = 0",
        predict=_not_shifted,
        examples=({"edges": TWO_IN, "balance": {"v": 1}},),
    ),
    "family_itself": Variant(
        "H has the homology of K", predict=_of_the_family_itself, examples=({"edges": TWO_IN, "balance": {"v": 1}},)
    ),
    "inputs_and_outputs_swapped": Variant(
        "for two layers, 1 + t^(o−1) if c > 0 and 1 + t^(d−1) if c < 0",
        predict=_spheres(_inputs_and_outputs_swapped),
        instances=_two_layers,
        examples=({"edges": [["x", "v"], ["v", "y1"], ["v", "y2"]], "balance": {"v": 1}},),
    ),
    "zero_balance_like_positive": Variant(
        "for two layers, 1 + t^(d−1) also if c = 0",
        predict=_spheres(_zero_as_positive),
        instances=_two_layers,
        examples=({"edges": TWO_IN, "balance": {"v": 0}},),
    ),
}
