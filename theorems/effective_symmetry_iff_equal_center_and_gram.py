"""A permutation of neurons is an exact effective symmetry iff it preserves centers and Gram matrices.

Hypotheses
----------
U has orthonormal columns.

Statement
---------
Δ_π = 0 for all features a_j ∈ v_j + im S_j iff (v_π(i), S_π(i)) = (v_i, S_i) for every i. These permutations form a
group of order ∏ n_c!, with n_c the sizes of the classes of equal (v, S).

Proof idea
----------
Δ_π is a sum of functions of one feature each, so each is constant; at the centers they are not negative and sum to 0,
hence all are 0, and equal costs mean equal centers and forms.

Source
------
Ours; the sensitivity is defined by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    InputError,
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
IDS = ("B2",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

_MOST_NEURONS = 6  # 720 permutations
_DRAWS = 4  # of all features; a permutation that is no symmetry moves almost all of them


@dataclass(frozen=True)
class Instance(LayerFields):
    """A layer of at most 6 neurons, whose permutations are all tried."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.m > _MOST_NEURONS:
            raise InputError(f"F: {self.m} neurons; permutations are counted for at most {_MOST_NEURONS}")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(),)


def derive(instance: Instance) -> Derivation:
    """The cost functions of every pair, compared exactly at as many features as determine them."""
    V, S = instance.centers, instance.grams
    left = [
        f"neurons {i} and {j}"
        for i in range(instance.m)
        for j in range(i)
        if theory.realization.same_costs(instance, i, j) != (V[i] == V[j] and S[i] == S[j])
    ]
    return Derivation(
        "q_i ≡ q_j iff (v_i, S_i) = (v_j, S_j)",
        "; ".join(left) or "0",
        r"\{\pi : \Delta_\pi \equiv 0\} = \prod_c \mathrm{Sym}(n_c)",
        settles=("symmetries",),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda i: (instance.centers[i], instance.grams[i]))


def _of_own_centers(instance: Instance) -> Prediction:
    """The permutations that cost nothing for one choice of features: every feature is the center of its neuron."""
    costs = theory.realization.cost_table(instance, instance.centers).costs
    free = sum(
        all(costs[i][j] == 0 for i, j in enumerate(order)) for order in permutations(range(instance.m))
    )  # the own costs are 0 and no cost is negative
    return Prediction((Claim("symmetries", Relation.EQUAL, free),))


def _claims(instance: Instance, label: Callable[[int], Hashable]) -> Prediction:
    sizes = Counter(label(i) for i in range(instance.m)).values()
    return Prediction((Claim("symmetries", Relation.EQUAL, math.prod(map(math.factorial, sizes))),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The permutations that no draw of realizable features shows to cost anything."""
    F, D, U = (floats(rows) for rows in (instance.F, instance.D, instance.U))
    generator = np.random.default_rng(seed)
    free: set[tuple[int, ...]] | None = None
    for _ in range(_DRAWS):
        features = (F + D * generator.standard_normal(F.shape)) @ U
        costs = numerics.realization.least_norm_costs(F, D, U, features)
        numerics.realization.require_decided(costs)
        slack = float(costs.errors.sum())
        found = {p for p, x in numerics.assignments.sensitivities(costs.values).items() if abs(x) <= slack}
        free = found if free is None else free & found
    return Measurement({"symmetries": Estimate(len(free or ()), how=f"all permutations, {_DRAWS} draws of features")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import masked_layers

    # Repeated neurons, since random ones are rarely equal.
    return st.builds(
        lambda layer, signs: {
            **layer,
            "F": layer["F"] + layer["F"][:1],
            "D": layer["D"] + [[s * x if isinstance(x, int) else x for x in layer["D"][0]] for s in signs],
        },
        masked_layers(),
        st.sampled_from([[1], [-1]]),
    )


_ON_AXIS = {"U": [[1], [0]], "D": [[1, 1], [1, 1]]}

VARIANTS = {
    "structural_symmetry_only": Variant(
        "only permutations that preserve f and d",
        predict=lambda instance: _claims(instance, lambda i: (instance.F[i], instance.D[i])),
        examples=({**_ON_AXIS, "F": [[0, 0], [0, 7]]},),
    ),
    "equal_gram_suffices": Variant(
        "permutations that preserve the Gram matrices",
        predict=lambda instance: _claims(instance, lambda i: instance.grams[i]),
        examples=({**_ON_AXIS, "F": [[0, 0], [1, 0]]},),
    ),
    "one_choice_of_features_suffices": Variant(
        "permutations that cost nothing for one choice of features: those at the centers",
        predict=_of_own_centers,
        examples=({"U": [[1]], "F": [[0], [0]], "D": [[1], [2]]},),
    ),
    "equal_center_suffices": Variant(
        "permutations that preserve the centers",
        predict=lambda instance: _claims(instance, lambda i: instance.centers[i]),
        examples=({"U": [[1]], "F": [[0], [0]], "D": [[1], [2]]},),
    ),
}
