"""A layer is identifiable iff its own assignment of features is the unique cheapest; the margin is the second best.

Hypotheses
----------
U has orthonormal columns; every neuron can have its own feature.

Statement
---------
min_{π ≠ id} Δ_π, by how much the second cheapest assignment of features to neurons is dearer than the identity, is the
weight of the lightest directed cycle with arc weights C_ij − C_ii. The layer is identifiable iff it is positive. It is
infinite if no other assignment can be realized.

Proof idea
----------
A permutation is a union of cycles; one with a negative cycle is cheaper without the others. Shortest distances are
potentials that prove the bound.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026), in words; the formula and certificate are ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..numerics.floats import floats
from ..theory.layers import FeatureFields
from ..theory.matrices import require_rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("B3",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "the paper says it in words")

RESOLUTION = 1e-9  # relative to 1 + Σ|C|, since the margin cancels


@dataclass(frozen=True)
class Instance(FeatureFields):
    """A layer with one feature for each neuron."""

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.A, "A", count=self.m)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    own = [math.isfinite(row[i]) for i, row in enumerate(_costs(instance))]
    return (
        instance.orthonormal(),
        Hypothesis("every neuron can have its own feature", all(own), f"a_i − v_i in the image of S_i: {own}"),
    )


def _costs(instance: Instance) -> tuple[tuple[Cost, ...], ...]:
    return theory.realization.cost_table(instance, instance.A).costs


def predict(instance: Instance) -> Prediction:
    return _claims(instance, theory.assignments.margin(_costs(instance)).value)


def _claims(instance: Instance, margin: Cost) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    scale = sum(float(x) for row in table.costs for x in row if math.isfinite(x))
    resolution = 0.0 if math.isinf(margin) else RESOLUTION * (1 + scale)
    found = theory.assignments.margin(table.costs)
    return Prediction(
        (Claim("margin", Relation.EQUAL, margin, resolution),),
        # A negative margin needs no bound from below to refute identifiability, and has none by potentials.
        (found.certificate(table.certificate),) if found.distances else (),
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Costs by batched factorization, the second-best assignment by shortest paths in float64."""
    F, D, U, A = (floats(rows) for rows in (instance.F, instance.D, instance.U, instance.A))
    costs = numerics.realization.realization_costs(F, D, U, A, device=device)
    numerics.realization.require_decided(costs)
    found = numerics.assignments.assignment_margin(costs.values)
    error = 0.0 if math.isinf(found.margin) else found.error + 2 * float(costs.errors.sum())
    return Measurement({"margin": Estimate(found.margin, error, "shortest paths")})


def instances() -> SearchStrategy[Fields]:
    from ..testing import permuted_layers

    return permuted_layers().map(lambda layer: {key: layer[key] for key in ("F", "D", "U", "A")})


def _planar_triples() -> SearchStrategy[Fields]:
    """Three neurons with S = 1 in the plane: the smallest layers where a cycle can be cheaper than every transposition."""
    from hypothesis import strategies as st

    triples = st.lists(st.lists(st.integers(-2, 2), min_size=2, max_size=2), min_size=3, max_size=3)
    return st.builds(
        lambda centers, features: {"U": [[1, 0], [0, 1]], "F": centers, "D": [[1, 1]] * 3, "A": features},
        triples,
        triples,
    )


# False variants: the least sensitivity over fewer permutations, or by a cheaper formula.


def _least_over(instance: Instance, chosen: Iterable[tuple[int, ...]]) -> Prediction:
    costs = _costs(instance)
    return _claims(instance, min((theory.realization.sensitivity(costs, p) for p in chosen), default=math.inf))


def _transpositions(instance: Instance) -> Prediction:
    every = permutations(range(instance.m))
    return _least_over(instance, (p for p in every if sum(i != j for i, j in enumerate(p)) == 2))


def _long_cycles(instance: Instance) -> Prediction:
    every = permutations(range(instance.m))
    return _least_over(instance, (p for p in every if all(i != j for i, j in enumerate(p))))


def _row_by_row(instance: Instance) -> Prediction:
    costs = _costs(instance)
    gaps = [
        math.inf if math.isinf(x) else Fraction(x) - Fraction(row[i])
        for i, row in enumerate(costs)
        for j, x in enumerate(row)
        if j != i
    ]
    return _claims(instance, min(gaps, default=math.inf))


_PLANE = {
    "U": [[1, 0], [0, 1]],
    "F": [[0, 1], [-1, -2], [-2, 0]],
    "D": [[1, 1]] * 3,
    "A": [[0, 1], [2, 0], [0, 0]],
}
_LINE = {"U": [[1]], "F": [[0], [1], [3]], "D": [[1]] * 3, "A": [[0], [1], [3]]}

VARIANTS = {
    "transpositions_suffice": Variant(
        "the cheapest transposition decides",
        predict=_transpositions,
        instances=_planar_triples,
        examples=(_PLANE,),
    ),
    "every_neuron_moves": Variant(
        "only permutations without a fixed neuron count", predict=_long_cycles, examples=(_LINE,)
    ),
    "row_by_row": Variant("the least gap to the own cost in a row", predict=_row_by_row, examples=(_LINE,)),
}
