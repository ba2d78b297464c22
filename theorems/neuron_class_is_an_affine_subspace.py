"""The features that a partly fixed neuron can have form the affine subspace v + im S.

Hypotheses
----------
U has orthonormal columns.

Statement
---------
With weights f + d ⊙ w a neuron realizes, over all w, exactly the features of v + im S, where v = Uᵀf and S = Uᵀ
diag(d²) U.

Proof idea
----------
Uᵀ(f + d ⊙ w) = v + M w with M = Uᵀ diag(d), and im M = im M Mᵀ.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.layers import FeatureFields
from ..theory.matrices import Rows, rank, solve

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("A1",)
SOURCE = Source(("burgin2026",), Provenance.PAPER)

Instance = FeatureFields


def hypotheses(instance: FeatureFields) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(),)


def predict(instance: FeatureFields) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    return _claims(instance, lambda i, j: table.solutions[i][j].x is not None)


def _claims(instance: FeatureFields, reachable: Callable[[int, int], bool]) -> Prediction:
    pairs = [(i, j) for i in range(instance.m) for j in range(len(instance.A))]
    return Prediction(
        tuple(Claim(f"cost is finite[{i},{j}]", Relation.EQUAL, reachable(i, j)) for i, j in pairs),
        (theory.realization.cost_table(instance, instance.A).certificate,),
    )


def measure(instance: FeatureFields, seed: int, device: str) -> Measurement:
    """Whether a least-squares solution in the weights leaves a residual."""
    costs = numerics.realization.least_norm_costs(*map(numerics.realization.floats, _rows(instance)))
    numerics.realization.require_decided(costs)
    return Measurement(
        {
            f"cost is finite[{i},{j}]": Estimate(bool(finite), how="residual of least squares")
            for i, row in enumerate(costs.values < float("inf"))
            for j, finite in enumerate(row)
        }
    )


def _rows(instance: FeatureFields) -> tuple[Rows, ...]:
    return instance.F, instance.D, instance.U, instance.A


def instances() -> SearchStrategy[Fields]:
    from ..testing import featured_layers

    return featured_layers(max_neurons=2, max_inputs=3, max_dimension=2)


def _enough_free_entries(instance: FeatureFields) -> Prediction:
    return _claims(instance, lambda i, j: sum(d != 0 for d in instance.D[i]) >= instance.k)


def _center_dropped(instance: FeatureFields) -> Prediction:
    return _claims(instance, lambda i, j: solve(instance.grams[i], instance.A[j]).x is not None)


def _all_or_nothing(instance: FeatureFields) -> Prediction:
    return _claims(instance, lambda i, j: rank(instance.grams[i]) == instance.k)


_HALF = {"U": [["3/5", 0], ["4/5", 0], [0, 1]], "F": [[0, 0, 0]]}

VARIANTS = {
    "k_free_entries_suffice": Variant(
        "k trainable entries give every feature",
        predict=_enough_free_entries,
        examples=({**_HALF, "D": [[1, 1, 0]], "A": [[0, 1]]},),
    ),
    "center_dropped": Variant(
        "the class is im S, without the center",
        predict=_center_dropped,
        examples=({"U": [[1, 0], [0, 1]], "F": [[1, 0]], "D": [[0, 0]], "A": [[1, 0]]},),
    ),
    "all_or_nothing": Variant(
        "a neuron without full rank has no feature at all",
        predict=_all_or_nothing,
        examples=({**_HALF, "D": [[1, 1, 0]], "A": [[1, 0]]},),
    ),
}
