"""The sensitivity of a layer to a permutation is the difference of the least squared weight norms.

Hypotheses
----------
U has orthonormal columns; every neuron can have its own feature.

Statement
---------
Let C_ij be the realization cost of feature a_j in neuron i, and Δ_π = Σ_i (C_iπ(i) − C_ii). Then Δ_π = ‖W_π‖² − ‖W_id‖²
for least-norm weights that realize the permuted and the given features; it is infinite iff the permuted features
cannot be realized, may be negative, and adds up over the disjoint cycles of π.

Proof idea
----------
The least norm is attained neuron by neuron; cycles move disjoint sets of neurons.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026) for the definition; the identities are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, TypeAlias

from .. import numerics, theory
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..numerics.floats import floats
from ..theory.layers import PermutedFields, cycles

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("B1", "B1a", "B1b")
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "definition of the paper; identities ours")

RESOLUTION = 1e-9  # relative to 1 + Σ|C|, since Δ cancels

Instance = PermutedFields
Table: TypeAlias = "Sequence[Sequence[Cost]]"


def hypotheses(instance: PermutedFields) -> tuple[Hypothesis, ...]:
    own = [math.isfinite(row[i]) for i, row in enumerate(_costs(instance))]
    return (
        instance.orthonormal(),
        Hypothesis("every neuron can have its own feature", all(own), f"a_i − v_i in the image of S_i: {own}"),
    )


def _costs(instance: PermutedFields) -> Table:
    return theory.realization.cost_table(instance, instance.A).costs


def predict(instance: PermutedFields) -> Prediction:
    costs = _costs(instance)
    return _claims(instance, theory.realization.sensitivity(costs, instance.permutation))


def _claims(instance: PermutedFields, value: Cost) -> Prediction:
    scale = sum(float(x) for row in _costs(instance) for x in row if math.isfinite(x))
    resolution = 0.0 if math.isinf(value) else RESOLUTION * (1 + scale)
    return Prediction(
        (Claim("sensitivity", Relation.EQUAL, value, resolution),),
        (theory.realization.cost_table(instance, instance.A).certificate,),
    )


def measure(instance: PermutedFields, seed: int, device: str) -> Measurement:
    """‖W_π‖² − ‖W_id‖² of weights found by least squares, neuron by neuron."""
    F, D, U, A = (floats(rows) for rows in (instance.F, instance.D, instance.U, instance.A))
    costs = numerics.realization.least_norm_costs(F, D, U, A)
    numerics.realization.require_decided(costs)
    value = error = 0.0
    for i, j in enumerate(instance.permutation):
        value += float(costs.values[i, j] - costs.values[i, i])
        error += float(costs.errors[i, j] + costs.errors[i, i])
    return Measurement({"sensitivity": Estimate(value, 0.0 if math.isinf(value) else error, "least squares")})


def instances() -> SearchStrategy[Fields]:
    from ..testing import permuted_layers

    return permuted_layers()


# False variants.


def _sum(instance: PermutedFields, terms: Sequence[tuple[Cost, Cost]]) -> Prediction:
    """The claim Δ = Σ (first − second)."""
    if any(math.isinf(x) for x, _ in terms):
        return _claims(instance, math.inf)
    return _claims(instance, sum((Fraction(x) - Fraction(y) for x, y in terms), Fraction(0)))


def _norms_instead_of_squares(instance: PermutedFields) -> Prediction:
    C = _costs(instance)
    total = sum(math.sqrt(C[i][j]) - math.sqrt(C[i][i]) for i, j in enumerate(instance.permutation))
    return _claims(instance, total if math.isinf(total) else Fraction(total))


def _transposed(instance: PermutedFields) -> Prediction:
    C = _costs(instance)
    return _sum(instance, [(C[j][i], C[i][i]) for i, j in enumerate(instance.permutation)])


def _swaps_one_after_the_other(instance: PermutedFields) -> Prediction:
    """The sum of the costs of transpositions whose product is π."""
    C = _costs(instance)
    pairs = [pair for cycle in cycles(instance.permutation) for pair in pairwise(cycle)]
    terms = [(C[i][j], C[i][i]) for a, b in pairs for i, j in ((a, b), (b, a))]
    return _sum(instance, terms)


def _never_negative(instance: PermutedFields) -> Prediction:
    return _claims(instance, max(theory.realization.sensitivity(_costs(instance), instance.permutation), Fraction(0)))


def _twice_the_first(instance: PermutedFields) -> Prediction:
    C = _costs(instance)
    terms = [
        (C[cycle[0]][cycle[1]], C[i][i]) if len(cycle) == 2 else (C[i][j], C[i][i])
        for cycle in cycles(instance.permutation)
        for i, j in ((i, instance.permutation[i]) for i in cycle)
    ]
    return _sum(instance, terms)


def _on_a_line(v: list[int], a: list[int], permutation: list[int]) -> Fields:
    """Neurons with S = 1 on the real line, with centers v and features a."""
    return {
        "U": [[1]],
        "F": [[x] for x in v],
        "D": [[1]] * len(v),
        "A": [[x] for x in a],
        "permutation": permutation,
    }


def _swaps_on_a_line() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    pairs = st.lists(st.integers(-3, 3), min_size=2, max_size=2)
    return st.builds(_on_a_line, pairs, pairs, st.just([1, 0]))


def _cycles_on_a_line() -> SearchStrategy[Fields]:
    """Three neurons that change places in a circle: both assignments agree for transpositions, and products of them."""
    from hypothesis import strategies as st

    triples = st.lists(st.integers(-3, 3), min_size=3, max_size=3)
    return st.builds(_on_a_line, triples, triples, st.sampled_from([[1, 2, 0], [2, 0, 1]]))


VARIANTS = {
    "twice_the_first_cost": Variant(
        "2C_ij − C_ii − C_jj for the swap of i and j",
        predict=_twice_the_first,
        instances=_swaps_on_a_line,
        examples=(_on_a_line([0, 1], [0, 3], [1, 0]),),
    ),
    "norms_instead_of_squares": Variant(
        "norms are added in place of squared norms",
        predict=_norms_instead_of_squares,
        instances=_swaps_on_a_line,
        examples=(_on_a_line([0, 1], [0, 3], [1, 0]),),
    ),
    "transposed": Variant(
        "row = feature, column = neuron",
        predict=_transposed,
        instances=_cycles_on_a_line,
        examples=(_on_a_line([0, 1, 2], [0, 0, 1], [1, 2, 0]),),
    ),
    "additive_over_any_product": Variant(
        "a cycle costs what its transpositions cost one after the other",
        predict=_swaps_one_after_the_other,
        instances=_cycles_on_a_line,
        examples=(_on_a_line([0, 1, 2], [0, 1, 2], [1, 2, 0]),),
    ),
    "never_negative": Variant(
        "no permutation lowers the norm",
        predict=_never_negative,
        instances=_swaps_on_a_line,
        examples=(_on_a_line([0, 1], [1, 0], [1, 0]),),
    ),
}
