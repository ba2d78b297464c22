"""Masks alone leave permutations almost free: |Δ_π| ≤ 2η/(μ(μ − η)) Σ ‖a_i‖² if every S_i is within η of μ1.

Hypotheses
----------
U has orthonormal columns; F = 0; ‖S_i − μ1‖₂ ≤ η < μ for all i.

Statement
---------
|Δ_π| ≤ 2η/(μ(μ − η)) Σ_{i moved} ‖a_i‖². At coherence ν random masks have η = O(√ν), so what breaks the structural
symmetry leaves the effective one almost intact.

Proof idea
----------
‖S⁻¹ − μ⁻¹1‖ ≤ η/(μ(μ − η)), and the parts with μ⁻¹ cancel, since every feature occurs once on both sides.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026), in words; the bound is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import (
    Claim,
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
from ..theory.layers import PermutedFields
from ..theory.matrices import square

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("D3",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "the paper says it in words")

SLACK = 1e-9  # of the scale: round-off only


@dataclass(frozen=True)
class Instance(PermutedFields):
    """A layer, features and a permutation.

    Parameters
    ----------
    mu : number
        What the Gram matrices are close to, times 1.
    """

    mu: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.mu <= 0:
            raise InputError(f"mu={self.mu!r}: a positive number is needed")

    @property
    def eta(self) -> float:
        """max ‖S_i − μ1‖₂, rounded."""
        shifted = np.stack([floats(S) for S in self.grams]) - float(self.mu) * np.eye(self.k)
        return float(np.abs(np.linalg.eigvalsh(shifted)).max())


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_close(instance), Hypothesis("nothing is fixed but by masks", not any(map(any, instance.F)), "F = 0"))


def _close(instance: Instance) -> tuple[Hypothesis, ...]:
    eta, mu = instance.eta, float(instance.mu)
    near = eta < mu * (1 - SLACK)
    return instance.orthonormal(), Hypothesis("‖S_i − μ1‖ < μ for all i", near, f"η = {eta:.6g}, μ = {mu:.6g}")


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda eta, mu: 2 * eta / (mu * (mu - eta)))


def _claims(instance: Instance, factor: Callable[[float, float], float]) -> Prediction:
    total = float(sum((square(instance.A[i]) for i in instance.moved), Fraction(0)))
    bound = factor(instance.eta, float(instance.mu)) * total
    return Prediction((Claim("|sensitivity|", Relation.AT_MOST, bound, SLACK * (1 + bound + total)),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Least squares in the weights."""
    F, D, U, A = (floats(rows) for rows in (instance.F, instance.D, instance.U, instance.A))
    costs = numerics.realization.least_norm_costs(F, D, U, A)
    numerics.realization.require_decided(costs)
    rows = np.arange(instance.m)
    chosen = list(instance.permutation)
    value = abs(float((costs.values[rows, chosen] - costs.values[rows, rows]).sum()))
    error = float((costs.errors[rows, chosen] + costs.errors[rows, rows]).sum())
    return Measurement({"|sensitivity|": Estimate(value, error, "least squares")})


def instances() -> SearchStrategy[Fields]:
    return _layers(has_fixed=False)


def _layers(*, has_fixed: bool) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import permuted_layers

    def scaled(layer: Fields) -> SearchStrategy[Fields]:
        m, n = len(layer["F"]), len(layer["U"])
        rows = st.lists(st.sampled_from([1, "6/5", "4/5"]), min_size=n, max_size=n)
        F = layer["F"] if has_fixed else [[0] * n] * m
        return st.lists(rows, min_size=m, max_size=m).map(
            lambda D: {**layer, "F": F, "D": D, "permutation": [*range(1, m), 0], "mu": 1}
        )

    return permuted_layers(is_spread=True).flatmap(scaled)


def _nearly_equal_pairs() -> SearchStrategy[Fields]:
    """Two neurons on the real line with scales close to 1."""
    from hypothesis import strategies as st

    scale, feature = st.sampled_from([1, "9/10", "11/10"]), st.integers(-2, 2)
    return st.builds(
        lambda D, A: {**_HALVES, "D": [[d] for d in D], "A": [[a] for a in A], "mu": 1},
        st.lists(scale, min_size=2, max_size=2),
        st.lists(feature, min_size=2, max_size=2),
    )


# S = 1/4 and 25/16 are both 21/32 away from μ = 29/32; the feature 1 is dearer in the first neuron.
_HALVES = {"A": [[0], [1]], "permutation": [1, 0], "U": [[1]], "F": [[0], [0]], "D": [["1/2"], ["5/4"]], "mu": "29/32"}

EXAMPLES = (_HALVES,)

VARIANTS = {
    "factor_one": Variant(
        "η/(μ(μ − η)) Σ ‖a_i‖²",
        predict=lambda instance: _claims(instance, lambda eta, mu: eta / (mu * (mu - eta))),
        examples=(_HALVES,),
    ),
    "fixed_weights_too": Variant(
        "the bound also for F ≠ 0",
        hypotheses=_close,
        instances=lambda: _layers(has_fixed=True),
        examples=({"U": [[1]], "F": [[0], [1]], "D": [[1], [1]], "A": [[0], [1]], "permutation": [1, 0], "mu": 1},),
    ),
    "second_order_only": Variant(
        "2η²/(μ(μ − η)) Σ ‖a_i‖²",
        predict=lambda instance: _claims(instance, lambda eta, mu: 2 * eta**2 / (mu * (mu - eta))),
        instances=_nearly_equal_pairs,
        examples=({**_HALVES, "D": [["9/10"], ["11/10"]], "mu": "101/100"},),
    ),
}
