"""The least weight norm that realizes a feature is the Mahalanobis norm of its displacement, or infinite.

Hypotheses
----------
U has orthonormal columns.

Statement
---------
min {‖w‖² : f + d ⊙ w realizes a} = (a − v)ᵀ S† (a − v) if a − v ∈ im S, and +∞ otherwise, where v = Uᵀf and S = Uᵀ
diag(d²) U. The minimizer is w* = diag(d) U S† (a − v).

Proof idea
----------
The feature is realized iff M w = b with M = Uᵀ diag(d), b = a − v; the solution of least norm is M†b, and ‖M†b‖² =
bᵀ(M Mᵀ)†b.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026); the infinite case and the proof are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..theory.layers import FeatureFields
from ..theory.matrices import Rows, Vector, dot, product, scaled_gram, solve, subtract

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("A2",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "formula of the paper; the infinite case and the proof are ours")

RESOLUTION = 1e-9  # relative to 1 + cost: float64 with condition numbers up to about 1e5

Instance = FeatureFields


def hypotheses(instance: FeatureFields) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(),)


def derive(instance: FeatureFields) -> Derivation:
    """Lagrange's multipliers, symbolic; and on the instance, that diag(d)Uμ realizes the feature at that cost."""
    table = theory.realization.cost_table(instance, instance.A)
    left = [] if theory.realization.lagrangian_residual(2, 1) == 0 else ["Lagrange"]
    for i, row in enumerate(table.solutions):
        for j, found in enumerate(row):
            if found.x is None:
                continue
            w = theory.realization.least_weights(instance, i, found.x)
            effective = tuple(f + d * x for f, d, x in zip(instance.F[i], instance.D[i], w, strict=True))
            realized = product((effective,), instance.U)[0]
            if realized != instance.A[j] or dot(w, w) != table.costs[i][j]:
                left.append(f"neuron {i}, feature {j}")
    return Derivation(
        "‖diag(d) U S†(a − v)‖² = (a − v)ᵀ S† (a − v), by Lagrange's multipliers",
        "; ".join(left) or "0",
        r"\min_{w:\, U^\top(f + d\odot w) = a} \|w\|^2 = (a-v)^\top S^\dagger (a-v)",
    )


def predict(instance: FeatureFields) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    return _claims(instance, lambda i, j: table.costs[i][j])


def _claims(instance: FeatureFields, cost: Callable[[int, int], Cost]) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    claims = []
    for i in range(instance.m):
        for j in range(len(instance.A)):
            value = cost(i, j)
            claims.append(Claim(f"cost[{i},{j}]", Relation.EQUAL, value, _resolution(value)))
    return Prediction(tuple(claims), (table.certificate,))


def _resolution(value: Cost) -> float:
    return 0.0 if math.isinf(value) else RESOLUTION * (1 + float(value))


def measure(instance: FeatureFields, seed: int, device: str) -> Measurement:
    """Squared norms of least-squares solutions in the weights, with an explicit test of feasibility."""
    costs = numerics.realization.least_norm_costs(*map(numerics.realization.floats, _rows(instance)))
    numerics.realization.require_decided(costs)
    return Measurement(
        {
            f"cost[{i},{j}]": Estimate(
                float(costs.values[i, j]), float(costs.errors[i, j]), "minimum-norm least squares"
            )
            for i in range(instance.m)
            for j in range(len(instance.A))
        }
    )


def _rows(instance: FeatureFields) -> tuple[Rows, ...]:
    return instance.F, instance.D, instance.U, instance.A


def instances() -> SearchStrategy[Fields]:
    from ..testing import featured_layers

    return featured_layers()


# False variants.


def _displacement(instance: FeatureFields, i: int, j: int) -> Vector:
    return subtract(instance.A[j], instance.centers[i])


def _gram_not_inverted(instance: FeatureFields) -> Prediction:
    def cost(i: int, j: int) -> Cost:
        return _form(instance.grams[i], _displacement(instance, i, j))

    return _claims(instance, cost)


def _form(matrix: Rows, b: Vector) -> Fraction:
    return dot(b, tuple(dot(row, b) for row in matrix))


def _scales_not_squared(instance: FeatureFields) -> Prediction:
    def cost(i: int, j: int) -> Cost:
        b = _displacement(instance, i, j)
        found = solve(scaled_gram(instance.U, instance.D[i]), b)
        return math.inf if found.x is None else dot(found.x, b)

    return _claims(instance, cost)


def _without_feasibility(instance: FeatureFields) -> Prediction:
    """What a pseudo-inverse returns: the cost of the feasible part of the feature, whatever the rest."""

    def cost(i: int, j: int) -> Cost:
        S, b = instance.grams[i], _displacement(instance, i, j)
        # S S x = S b always has a solution; x·S x is then bᵀ S† b.
        found = solve(product(S, S), tuple(dot(row, b) for row in S))
        assert found.x is not None
        return _form(S, found.x)

    return _claims(instance, cost)


_GOLDEN = {
    "U": [["2/3", "1/3"], ["-2/3", "2/3"], ["1/3", "2/3"]],
    "F": [[0, 0, 0]],
    "D": [[1, 2, 1]],
    "A": [[1, 0]],
}

VARIANTS = {
    "gram_not_inverted": Variant("(a − v)ᵀ S (a − v)", predict=_gram_not_inverted, examples=(_GOLDEN,)),
    "scales_not_squared": Variant("S = Uᵀ diag(d) U", predict=_scales_not_squared, examples=(_GOLDEN,)),
    "no_test_of_feasibility": Variant(
        "the pseudo-inverse decides also where the feature is out of reach",
        predict=_without_feasibility,
        examples=({**_GOLDEN, "D": [[1, 0, 0]], "A": [[1, 1], [2, 1]]}, {**_GOLDEN, "D": [[0, 0, 0]]}),
    ),
}
