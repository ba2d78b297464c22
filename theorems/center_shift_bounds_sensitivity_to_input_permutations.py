"""How far re-indexed inputs move the centers bounds, from both sides, what keeping the features costs.

Hypotheses
----------
U has orthonormal columns; S_i and S_i^τ are invertible, with eigenvalues in [α₋, α₊]; τ moves an input.

Statement
---------
If input b holds what input τ(b) held, U becomes P_τU; let v_i^τ, S_i^τ be what v_i = Uᵀf_i and S_i become, δ_i = v_i^τ −
v_i, ε_i = a_i − v_i, and Δ_{id,τ} by how much the least squared norm grows if all features stay. Then (i) |Δ − Σ δ_iᵀ
(S_i^τ)⁻¹ δ_i| ≤ 2 α₋⁻¹ ‖δ‖‖ε‖ + (α₋⁻¹ − α₊⁻¹)‖ε‖²; (ii) Δ ≥ α₊⁻¹ (‖δ‖ − ‖ε‖)₊² − α₋⁻¹ ‖ε‖²; (iii) for the exchange of inputs
a and b, ‖δ‖² = ‖F_a − F_b‖² ‖u_a − u_b‖², where min ‖u_a − u_b‖ ≤ 2√ν.

Proof idea
----------
a_i − v_i^τ = ε_i − δ_i; expand and use Cauchy-Schwarz. No row of U is longer than √ν.

Source
------
Ours; the rate of the shift is due to Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
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
from ..numerics.floats import FloatArray, floats
from ..theory.layers import FeatureFields, LayerFields
from ..theory.matrices import Rows, dot, require_rows, solve, square, subtract, transpose

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("C3",)
SOURCE = Source(("burgin2026",), Provenance.OURS, "rate of the paper; bounds and proofs ours")

SLACK = 1e-9  # of the scale: round-off only


@dataclass(frozen=True)
class Instance(FeatureFields):
    """A layer with one feature for each neuron, and a permutation of its inputs.

    Parameters
    ----------
    inputs : tuple of int
        τ as (τ(0), τ(1), …): input b holds what input τ(b) held.
    """

    inputs: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.A, "A", count=self.m)
        if sorted(self.inputs) != list(range(self.n)):
            raise InputError(f"inputs={list(self.inputs)!r}: each of 0 to {self.n - 1} once is needed")

    @cached_property
    def reindexed(self) -> LayerFields:
        """The layer on the re-indexed inputs."""
        return LayerFields(U=tuple(self.U[b] for b in self.inputs), F=self.F, D=self.D)

    @property
    def moved(self) -> tuple[int, ...]:
        """The inputs with τ(b) ≠ b."""
        return tuple(b for b, held in enumerate(self.inputs) if b != held)


@dataclass(frozen=True)
class _Sizes:
    """What the bounds are made of, in float64 from exact rationals."""

    least: float
    largest: float
    shift: float
    displacement: float

    @property
    def scale(self) -> float:
        return 1 + (self.shift + self.displacement) ** 2 / self.least


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    before, after = instance.has_full_rank, instance.reindexed.has_full_rank
    invertible = Hypothesis(
        "every S_i and every S_i^τ is invertible", before.met and after.met, f"{before.how}; after τ {after.how}"
    )
    moves = Hypothesis("τ moves an input", bool(instance.moved), f"moved {list(instance.moved)}")
    return instance.orthonormal(), invertible, moves


def _shifts(instance: Instance) -> Rows:
    pairs = zip(instance.reindexed.centers, instance.centers, strict=True)
    return tuple(subtract(new, old) for new, old in pairs)


def _sizes(instance: Instance, grams: tuple[Rows, ...]) -> _Sizes:
    eigenvalues = np.linalg.eigvalsh(np.stack([floats(S) for S in grams]))
    return _Sizes(
        least=float(eigenvalues.min()),
        largest=float(eigenvalues.max()),
        shift=math.sqrt(sum(map(square, _shifts(instance)))),
        displacement=math.sqrt(sum(map(square, instance.displacements))),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, _two_sided, (*instance.grams, *instance.reindexed.grams))


def _two_sided(s: _Sizes) -> float:
    return 2 / s.least * s.shift * s.displacement + (1 / s.least - 1 / s.largest) * s.displacement**2


def _claims(instance: Instance, first: Callable[[_Sizes], float], grams: tuple[Rows, ...]) -> Prediction:
    s = _sizes(instance, grams)
    slack = SLACK * s.scale
    beyond = max(s.shift - s.displacement, 0.0)
    lower = beyond**2 / s.largest - s.displacement**2 / s.least
    leading = sum((_leading(instance, i) for i in range(instance.m)), Fraction(0))
    closest = 2 * math.sqrt(instance.coherence)
    claims = [
        Claim("leading term", Relation.EQUAL, leading, slack),
        Claim("distance from the leading term", Relation.AT_MOST, first(s), slack),
        Claim("sensitivity", Relation.AT_LEAST, lower, slack),
        Claim("smallest distance of rows", Relation.AT_MOST, closest, SLACK),
    ]
    if len(instance.moved) == 2:
        a, b = instance.moved
        columns = transpose(instance.F)
        value = square(subtract(columns[a], columns[b])) * square(subtract(instance.U[a], instance.U[b]))
        claims.append(Claim("squared shift of the centers", Relation.EQUAL, value, slack))
    return Prediction(tuple(claims))


def _leading(instance: Instance, i: int) -> Fraction:
    shift = _shifts(instance)[i]
    found = solve(instance.reindexed.grams[i], shift).x
    assert found is not None
    return dot(found, shift)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Least squares in the weights at the old and at the re-indexed inputs."""
    F, D, U, A = (floats(rows) for rows in (instance.F, instance.D, instance.U, instance.A))
    V, moved = F @ U, U[list(instance.inputs)]
    costs = [numerics.realization.least_norm_costs(F, D, basis, a) for basis, a in ((U, A), (moved, A), (moved, V))]
    own, new, leading = (float(np.trace(cost.values)) for cost in costs)
    error, new_error, leading_error = (float(np.trace(cost.errors)) for cost in costs)
    distances = [float(np.linalg.norm(x - y)) for x, y in combinations(U, 2)]
    estimates = {
        "leading term": Estimate(leading, leading_error, "least squares"),
        "distance from the leading term": Estimate(
            abs(new - own - leading), error + new_error + leading_error, "least squares"
        ),
        "sensitivity": Estimate(new - own, error + new_error, "least squares"),
        "smallest distance of rows": Estimate(min(distances), 1e-15 * len(U), "float64"),
    }
    if len(instance.moved) == 2:
        shift: FloatArray = F @ (moved - U)
        size = float((np.abs(F) @ (np.abs(moved) + np.abs(U))).sum()) ** 2
        estimates["squared shift of the centers"] = Estimate(float((shift**2).sum()), 1e-14 * (1 + size), "float64")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import small_fractions, subspaces

    def layer(U: list[list[int | str]], m: int) -> SearchStrategy[Fields]:
        n, k = len(U), len(U[0])

        def rows(width: int, entries: SearchStrategy[int | str]) -> SearchStrategy[list[list[int | str]]]:
            return st.lists(st.lists(entries, min_size=width, max_size=width), min_size=m, max_size=m)

        return st.fixed_dictionaries(
            {
                "U": st.just(U),
                "F": rows(n, small_fractions()),
                "D": rows(n, st.sampled_from([1, 2, "1/2"])),
                "A": rows(k, small_fractions()),
                "inputs": st.permutations(range(n)).map(lambda places: _moving(list(places))),
            }
        )

    bases = subspaces(max_inputs=4).map(_with_two_inputs)
    return st.tuples(bases, st.integers(1, 2)).flatmap(lambda drawn: layer(*drawn))


def _with_two_inputs(U: list[list[int | str]]) -> list[list[int | str]]:
    return U if len(U) > 1 else [*U, [0]]


def _moving(places: list[int]) -> list[int]:
    """A permutation that moves something: the first two are exchanged if all stay."""
    return [1, 0, *places[2:]] if places == sorted(places) else places


_PAIR = {"U": [["3/5"], ["4/5"]], "F": [[1, 0]], "D": [[1, 1]], "A": [[1]], "inputs": [1, 0]}
_STRETCHED = {**_PAIR, "F": [[0, 0]], "D": [[1, 2]]}

EXAMPLES = (_PAIR, _STRETCHED)

VARIANTS = {
    "leading_term_is_all": Variant(
        "Δ = Σ δᵀ(S^τ)⁻¹δ",
        predict=lambda x: _claims(x, lambda s: 0.0, (*x.grams, *x.reindexed.grams)),
        examples=(_PAIR,),
    ),
    "constant_one": Variant(
        "the cross term with constant 1 in place of 2",
        predict=lambda x: _claims(
            x, lambda s: _two_sided(s) - s.shift * s.displacement / s.least, (*x.grams, *x.reindexed.grams)
        ),
        examples=(_PAIR,),
    ),
    "grams_before_suffice": Variant(
        "α₋ and α₊ bound the eigenvalues of the S_i only",
        predict=lambda x: _claims(x, _two_sided, x.grams),
        examples=(_STRETCHED,),
    ),
}
