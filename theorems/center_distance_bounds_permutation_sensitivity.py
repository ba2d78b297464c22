"""Distances of the centers bound the sensitivity to a permutation from both sides.

Hypotheses
----------
U has orthonormal columns; every S_i is invertible, with eigenvalues in [α₋, α₊].

Statement
---------
With δ_i = v_π(i) − v_i, ε_i = a_i − v_i and norms over the neurons that π moves: (i) |Δ_π − Σ δ_iᵀ S_i⁻¹ δ_i| ≤ 2 α₋⁻¹
‖δ‖‖ε‖ + (α₋⁻¹ − α₊⁻¹)‖ε‖². (ii) Δ_π ≥ α₊⁻¹ (‖δ‖ − ‖ε‖)₊² − α₋⁻¹ ‖ε‖². (iii) ‖δ‖ ≥ √2 min_{i≠j} ‖v_i − v_j‖ for π ≠ id. (iv)
If all ‖ε_i‖ ≤ r and s = min ‖v_i − v_j‖ > r (1 + √(α₊/α₋)), then Δ_π ≥ |supp π| (α₊⁻¹ (s − r)² − α₋⁻¹ r²) > 0.

Proof idea
----------
a_π(i) − v_i = δ_i + ε_π(i); expand and use Cauchy-Schwarz. At least two neurons move.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026) for the leading term and √2 min; bounds and proofs are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..numerics.floats import FloatArray, floats
from ..theory.layers import PermutedFields, smallest_square_distance
from ..theory.matrices import dot, solve, square

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("C1",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "leading term of the paper; bounds and proofs ours")

SLACK = 1e-9  # of the scale: round-off only

Instance = PermutedFields


@dataclass(frozen=True)
class _Sizes:
    """What the bounds are made of, in float64 from exact rationals."""

    least: float
    largest: float
    shift: float
    displacement: float
    radius: float
    separation: float
    moved: int
    leading: float

    @property
    def scale(self) -> float:
        return 1 + (self.shift + self.displacement + self.radius + self.separation) ** 2 / self.least

    @property
    def is_separated(self) -> bool:
        return self.moved > 0 and self.separation > self.radius * (1 + math.sqrt(self.largest / self.least)) * (
            1 + SLACK
        )


def hypotheses(instance: PermutedFields) -> tuple[Hypothesis, ...]:
    moves = Hypothesis("π moves a neuron", bool(instance.moved), f"moved {list(instance.moved)}")
    return instance.orthonormal(), instance.has_full_rank, moves


def _sizes(instance: PermutedFields) -> _Sizes:
    eigenvalues = np.linalg.eigvalsh(np.stack([floats(S) for S in instance.grams]))
    shifts, displacements = instance.shifts, instance.displacements
    # The neurons that π moves, for both: ε_π(i) runs through the same ones.
    leading = 0.0
    for i in instance.moved:
        found = solve(instance.grams[i], shifts[i]).x
        assert found is not None
        leading += float(dot(found, shifts[i]))
    return _Sizes(
        least=float(eigenvalues.min()),
        largest=float(eigenvalues.max()),
        shift=math.sqrt(sum(square(shifts[i]) for i in instance.moved)),
        displacement=math.sqrt(sum(square(displacements[i]) for i in instance.moved)),
        radius=math.sqrt(max(map(square, displacements))),
        separation=math.sqrt(smallest_square_distance(instance.centers)),
        moved=len(instance.moved),
        leading=leading,
    )


def predict(instance: PermutedFields) -> Prediction:
    return _claims(instance, first=_two_sided, separation=math.sqrt(2), is_separated=lambda s: s.is_separated)


def _two_sided(s: _Sizes) -> float:
    return 2 / s.least * s.shift * s.displacement + (1 / s.least - 1 / s.largest) * s.displacement**2


def _claims(
    instance: PermutedFields,
    first: Callable[[_Sizes], float],
    separation: float,
    is_separated: Callable[[_Sizes], bool],
) -> Prediction:
    s = _sizes(instance)
    slack = SLACK * s.scale
    beyond = max(s.shift - s.displacement, 0.0)
    claims = [
        Claim("distance from the leading term", Relation.AT_MOST, first(s), slack),
        Claim("sensitivity", Relation.AT_LEAST, beyond**2 / s.largest - s.displacement**2 / s.least, slack),
        Claim("shift of the centers", Relation.AT_LEAST, separation * s.separation, slack),
    ]
    if is_separated(s):
        bound = s.moved * ((s.separation - s.radius) ** 2 / s.largest - s.radius**2 / s.least)
        claims.append(Claim("sensitivity", Relation.AT_LEAST, max(bound, 0.0), slack))
    return Prediction(tuple(claims))


def measure(instance: PermutedFields, seed: int, device: str) -> Measurement:
    """Δ_π from least squares in the weights, δ from the fixed weights."""
    F, D, U, A = (floats(rows) for rows in (instance.F, instance.D, instance.U, instance.A))
    costs = numerics.realization.least_norm_costs(F, D, U, A)
    value = error = leading = 0.0
    V: FloatArray = F @ U
    at_centers = numerics.realization.least_norm_costs(F, D, U, V)
    for i, j in enumerate(instance.permutation):
        value += float(costs.values[i, j] - costs.values[i, i])
        error += float(costs.errors[i, j] + costs.errors[i, i])
        leading += float(at_centers.values[i, j])
        error += float(at_centers.errors[i, j])
    shift = float(np.linalg.norm(V[list(instance.permutation)] - V))
    return Measurement(
        {
            "distance from the leading term": Estimate(abs(value - leading), error, "least squares"),
            "sensitivity": Estimate(value, error, "least squares"),
            "shift of the centers": Estimate(shift, 1e-12 * (1 + float(np.abs(V).sum())), "float64"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import permuted_layers

    def scaled(layer: Fields) -> SearchStrategy[Fields]:
        m, n = len(layer["F"]), len(layer["U"])
        rows = st.lists(st.sampled_from([1, 2]), min_size=n, max_size=n)
        return st.lists(rows, min_size=m, max_size=m).map(
            lambda D: {**layer, "D": D, "permutation": [*range(1, m), 0] if m > 1 else [0]}
        )

    layers = permuted_layers(is_spread=True, max_inputs=3, max_dimension=2).map(
        lambda layer: layer if len(layer["F"]) > 1 else {**layer, **{x: layer[x] * 2 for x in ("F", "D", "A")}}
    )
    return layers.flatmap(scaled)


def _line(v: list[int], a: list[int], d: list[int]) -> Fields:
    return {"U": [[1]], "F": [[x] for x in v], "D": [[x] for x in d], "A": [[x] for x in a], "permutation": [1, 0]}


def _stretched_pairs() -> SearchStrategy[Fields]:
    """Two neurons that move towards each other where one direction is twice as cheap: random pairs miss the constant."""
    from hypothesis import strategies as st

    def pair(x: int, y: int, move: tuple[int, int]) -> Fields:
        return {
            "U": [[1, 0], [0, 1]],
            "F": [[0, 0], [x, y]],
            "D": [[2, 1], [2, 1]],
            "A": [[*move], [x - move[0], y - move[1]]],
            "permutation": [1, 0],
        }

    moves = st.tuples(st.integers(0, 3), st.integers(0, 6))
    return st.builds(pair, st.integers(1, 10), st.integers(1, 6), moves)


EXAMPLES = (_line([0, 1], [0, 3], [1, 1]), _line([0, 0], [1, 2], [1, 2]))

VARIANTS = {
    "leading_term_is_all": Variant(
        "Δ_π = Σ δᵀS⁻¹δ",
        predict=lambda x: _claims(x, lambda s: 0.0, math.sqrt(2), lambda s: s.is_separated),
        examples=(_line([0, 1], [0, 3], [1, 1]),),
    ),
    "constant_one": Variant(
        "the cross term with constant 1 in place of 2",
        predict=lambda x: _claims(
            x, lambda s: _two_sided(s) - s.shift * s.displacement / s.least, math.sqrt(2), lambda s: s.is_separated
        ),
        examples=(_line([0, 1], [0, 3], [1, 1]),),
    ),
    "no_quadratic_term": Variant(
        "only the cross term",
        predict=lambda x: _claims(
            x, lambda s: 2 / s.least * s.shift * s.displacement, math.sqrt(2), lambda s: s.is_separated
        ),
        examples=(_line([0, 0], [1, 2], [1, 2]),),
    ),
    "twice_the_separation": Variant(
        "‖δ‖ ≥ 2 min ‖v_i − v_j‖",
        predict=lambda x: _claims(x, _two_sided, 2.0, lambda s: s.is_separated),
        examples=(_line([0, 1], [0, 1], [1, 1]),),
    ),
    "two_radii_suffice": Variant(
        "s > 2r in place of s > r (1 + √(α₊/α₋)) makes the identity optimal",
        predict=lambda x: _claims(x, _two_sided, math.sqrt(2), lambda s: s.separation > 2 * s.radius),
        instances=_stretched_pairs,
        examples=(
            {
                "U": [[1, 0], [0, 1]],
                "F": [[0, 0], [2, 1]],
                "D": [[2, 1], [2, 1]],
                "A": [["11/25", "22/25"], ["39/25", "3/25"]],
                "permutation": [1, 0],
            },
        ),
    ),
}
