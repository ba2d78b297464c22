"""If all neurons have one Gram matrix, the sensitivity to a permutation is linear in the centers.

Hypotheses
----------
U has orthonormal columns; all S_i are equal; every neuron can have the feature that π gives it.

Statement
---------
Δ_π = 2 Σ_i ⟨a_i − a_π(i), S† v_i⟩. It vanishes for all features that the neurons can have and all permutations iff all
centers agree; they need not be 0.

Proof idea
----------
Expand (a − v)ᵀ S† (a − v): the terms quadratic in a, and those in v, are the same for both assignments. At a = v the swap
of i and j costs 2 (v_i − v_j)ᵀ S† (v_i − v_j), or infinitely much.

Source
------
Ours; the sensitivity is defined by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
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
from ..numerics.floats import floats
from ..theory.layers import PermutedFields
from ..theory.matrices import dot, solve, subtract
from .permutation_sensitivity_is_a_weight_norm_difference import measure as measure_sensitivity

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("B1c",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

RESOLUTION = 1e-9  # relative to 1 + Σ|C|, since Δ cancels

Instance = PermutedFields


def hypotheses(instance: PermutedFields) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(), instance.common_gram, _realizable(instance))


def _realizable(instance: PermutedFields) -> Hypothesis:
    costs = theory.realization.cost_table(instance, instance.A).costs
    finite = all(math.isfinite(costs[i][j]) and math.isfinite(costs[i][i]) for i, j in enumerate(instance.permutation))
    return Hypothesis("every neuron can have its own feature and the one it is given", finite, "costs are finite")


def derive(instance: PermutedFields) -> Derivation:
    """Δ_(12) − 2(a₁ − a₂)ᵀ P (v₁ − v₂) for symbols, P symmetric, and all swaps at features that span those there are."""
    left = [str(theory.realization.swap_residual())] if theory.realization.swap_residual() != 0 else []
    if theory.realization.is_free(instance) != _is_free(instance):
        left.append("free")
    return Derivation(
        "Δ_(12) − 2(a₁ − a₂)ᵀ S⁻¹ (v₁ − v₂) = 0, which vanishes for all features iff v₁ = v₂",
        "; ".join(left) or "0",
        r"\Delta_\pi = 2\sum_i \langle a_i - a_{\pi(i)}, S^\dagger v_i\rangle",
        settles=("all permutations are free",),
    )


def _is_free(instance: PermutedFields) -> bool:
    return len(set(instance.centers)) == 1


def predict(instance: PermutedFields) -> Prediction:
    return _claims(instance, 2, _is_free(instance))


def _claims(instance: PermutedFields, factor: int, free: bool) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    total = Fraction(0)
    for i, j in enumerate(instance.permutation):
        # S† v is not rational in general, but only differences of realizable features meet it.
        change = solve(instance.grams[i], subtract(instance.A[i], instance.A[j])).x
        if change is None:
            total = Fraction(0)
            break
        total += factor * dot(change, _reachable_part(instance, i))
    scale = sum(float(x) for row in table.costs for x in row if math.isfinite(x))
    claim = Claim("sensitivity", Relation.EQUAL, total, RESOLUTION * (1 + scale))
    return Prediction((claim, Claim("all permutations are free", Relation.EQUAL, free)), (table.certificate,))


def _reachable_part(instance: PermutedFields, i: int) -> tuple[Fraction, ...]:
    """The orthogonal projection of v_i on im S_i: S x with S S x = S v."""
    S, v = instance.grams[i], instance.centers[i]
    squared = tuple(tuple(dot(row, column) for column in S) for row in S)
    x = solve(squared, tuple(dot(row, v) for row in S)).x
    assert x is not None
    return tuple(dot(row, x) for row in S)


def measure(instance: PermutedFields, seed: int, device: str) -> Measurement:
    """Least squares for the given features, and for random ones."""
    given = measure_sensitivity(instance, seed, device)
    free = numerics.realization.is_free(floats(instance.F), floats(instance.D), floats(instance.U), seed=seed)
    how = "least squares for random features"
    return Measurement({**given.estimates, "all permutations are free": Estimate(free, 0.0, how)})


def instances() -> SearchStrategy[Fields]:
    from ..testing import permuted_layers

    return permuted_layers(is_spread=True)


def _layers_of_any_scale() -> SearchStrategy[Fields]:
    from ..testing import permuted_layers

    return permuted_layers()


_LINE = {"U": [[1]], "F": [[0], [1]], "D": [[1], [1]], "A": [[0], [3]], "permutation": [1, 0]}

VARIANTS = {
    "factor_one": Variant(
        "Δ = Σ ⟨a_i − a_π(i), S† v_i⟩",
        predict=lambda instance: _claims(instance, 1, _is_free(instance)),
        examples=(_LINE,),
    ),
    "free_iff_centers_vanish": Variant(
        "all permutations are free iff V = 0",
        predict=lambda instance: _claims(instance, 2, not any(map(any, instance.centers))),
        derive=lambda instance: Derivation("", "0"),
        examples=({**_LINE, "F": [[1], [1]], "A": [[1], [2]]},),
    ),
    "unequal_grams": Variant(
        "the formula also for neurons with different Gram matrices",
        hypotheses=lambda instance: (instance.orthonormal(), _realizable(instance)),
        instances=_layers_of_any_scale,
        examples=({**_LINE, "F": [[0], [0]], "D": [[1], [2]], "A": [[1], [2]]},),
    ),
}
