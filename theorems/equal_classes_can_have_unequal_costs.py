"""Neurons that can have the same features pay the same for them iff they have equal centers and Gram matrices.

Hypotheses
----------
U has orthonormal columns; every S_i has full rank.

Statement
---------
All neurons have the class ℝᵏ. What neuron i realizes with ‖w‖ ≤ 1 is the ellipsoid v_i + S_i^{1/2} 𝔹, and neurons i, j
have the same costs for all features iff v_i = v_j and S_i = S_j.

Proof idea
----------
A quadratic form determines its center (where it vanishes) and its matrix.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

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
from ..theory.layers import LayerFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("A3",)
SOURCE = Source(("burgin2026",), Provenance.PAPER)

_PROBES = 12  # random features; quadratic functions that differ, differ at almost all of them
_SEED = 7

Instance = LayerFields


def hypotheses(instance: LayerFields) -> tuple[Hypothesis, ...]:
    return instance.orthonormal(), instance.has_full_rank


def derive(instance: LayerFields) -> Derivation:
    """The cost functions of every pair, compared exactly at as many features as determine them."""
    V, S = instance.centers, instance.grams
    left = [
        f"neurons {i} and {j}"
        for i, j in combinations(range(instance.m), 2)
        if theory.realization.same_costs(instance, i, j) != (V[i] == V[j] and S[i] == S[j])
    ]
    return Derivation(
        "q_i ≡ q_j iff (v_i, S_i) = (v_j, S_j)",
        "; ".join(left) or "0",
        r"q_i(a) = (a - v_i)^\top S_i^{-1} (a - v_i)",
        settles=("dimension of every class", *map(_quantity, combinations(range(instance.m), 2))),
    )


def _quantity(pair: tuple[int, int]) -> str:
    return f"same costs[{pair[0]},{pair[1]}]"


def predict(instance: LayerFields) -> Prediction:
    V, S = instance.centers, instance.grams
    return _claims(instance, lambda i, j: V[i] == V[j] and S[i] == S[j])


def _claims(instance: LayerFields, same: Callable[[int, int], bool]) -> Prediction:
    pairs = combinations(range(instance.m), 2)
    claims = [Claim(_quantity(pair), Relation.EQUAL, same(*pair)) for pair in pairs]
    return Prediction((*claims, Claim("dimension of every class", Relation.EQUAL, instance.k)))


def measure(instance: LayerFields, seed: int, device: str) -> Measurement:
    """Costs of random features in float64; and the number of singular values of Uᵀ diag(d_i)."""
    F, D, U = floats(instance.F), floats(instance.D), floats(instance.U)
    probes = np.random.default_rng(_SEED).standard_normal((_PROBES, instance.k)) * (1 + np.abs(F).max())
    costs = numerics.realization.least_norm_costs(F, D, U, probes)
    estimates = {}
    for i, j in combinations(range(instance.m), 2):
        apart = np.abs(costs.values[i] - costs.values[j]) > costs.errors[i] + costs.errors[j]
        estimates[_quantity((i, j))] = Estimate(not bool(apart.any()), how=f"{_PROBES} random features")
    ranks = {int(np.linalg.matrix_rank(d[:, None] * U)) for d in D}
    estimates["dimension of every class"] = Estimate(max(ranks) if len(ranks) == 1 else -1, how="singular values")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import masked_layers

    scales = st.sampled_from([1, 2, -1])

    def full(layer: Fields) -> SearchStrategy[Fields]:
        n = len(layer["U"])
        return st.lists(
            st.lists(scales, min_size=n, max_size=n), min_size=len(layer["F"]), max_size=len(layer["F"])
        ).map(lambda D: {**layer, "D": D})

    return masked_layers().flatmap(full)


VARIANTS = {
    "equal_classes_equal_costs": Variant(
        "neurons with equal classes have equal costs",
        predict=lambda instance: _claims(instance, lambda i, j: True),
        examples=({"U": [[1]], "F": [[0], [0]], "D": [[1], [2]]},),
    ),
    "equal_gram_suffices": Variant(
        "neurons with equal Gram matrices have equal costs",
        predict=lambda instance: _claims(instance, lambda i, j: instance.grams[i] == instance.grams[j]),
        examples=({"U": [[1]], "F": [[0], [1]], "D": [[1], [1]]},),
    ),
    "signs_of_scales_matter": Variant(
        "equal costs only for equal scales d",
        predict=lambda instance: _claims(
            instance, lambda i, j: instance.centers[i] == instance.centers[j] and instance.D[i] == instance.D[j]
        ),
        examples=({"U": [[1]], "F": [[0], [0]], "D": [[1], [-1]]},),
    ),
}
