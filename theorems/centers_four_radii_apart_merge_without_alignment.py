"""Two runs whose features stay within a quarter of the distance of the centers are matched without alignment.

Hypotheses
----------
Both runs share the centers; ‖a_i^q − v_i‖ ≤ r for both runs and all i; s = min_{i≠j} ‖v_i − v_j‖ > 4r, or > 2r if k = 1.

Statement
---------
The identity is the unique assignment that minimizes Σ ‖a_i⁰ − a_π(i)¹‖². The constant 4 is optimal for k ≥ 2: on a regular
m-gon it fails for every s/r < 4cos(π/2m).

Proof idea
----------
‖a_i⁰ − a_i¹‖ ≤ 2r < s − 2r ≤ ‖a_i⁰ − a_j¹‖. For k = 1 both runs keep the order of the centers.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026), in words; constant and proof are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
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
    Reason,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..numerics.floats import floats
from ..theory.layers import smallest_square_distance
from ..theory.matrices import Rows, require_rows, square, subtract

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("E1",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "the paper says it in words; constant and proof are ours")

QUANTITY = "the identity is the unique optimum"


@dataclass(frozen=True)
class Instance:
    """Centers and the features of two runs.

    Parameters
    ----------
    centers, first, second : rows of numbers
        v_i, a_i⁰ and a_i¹: m ≥ 2 rows of length k each.
    """

    centers: Rows
    first: Rows
    second: Rows

    def __post_init__(self) -> None:
        require_rows(self.centers, "centers")
        m, k = len(self.centers), len(self.centers[0])
        for name in ("first", "second"):
            require_rows(getattr(self, name), name, columns=k, count=m)
        if m < 2:
            raise InputError(f"centers: {m} neuron; there is something to match from 2 on")

    @property
    def square_radius(self) -> Fraction:
        """r²."""
        runs = (self.first, self.second)
        return max(square(subtract(a, v)) for run in runs for a, v in zip(run, self.centers, strict=True))

    @property
    def square_separation(self) -> Fraction:
        """s²."""
        return smallest_square_distance(self.centers)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return _apart(instance, Fraction(2) if len(instance.centers[0]) == 1 else Fraction(4))


def _apart(instance: Instance, factor: Fraction) -> tuple[Hypothesis, ...]:
    s, r = instance.square_separation, instance.square_radius
    return (Hypothesis(f"s > {factor} r", s > factor**2 * r, f"s² = {s}, r² = {r}"),)


def derive(instance: Instance) -> Derivation:
    """The margin of the identity in exact arithmetic."""
    costs = tuple(tuple(square(subtract(a, b)) for b in instance.second) for a in instance.first)
    margin = theory.assignments.margin(costs).value
    return Derivation(
        "min_{π ≠ id} Σ ‖a_i⁰ − a_π(i)¹‖² − Σ ‖a_i⁰ − a_i¹‖² > 0",
        "0" if margin > 0 else f"margin {margin}",
        r"\|a_i^0 - a_i^1\| \le 2r < s - 2r \le \|a_i^0 - a_j^1\|",
        settles=(QUANTITY,),
    )


def predict(instance: Instance) -> Prediction:
    return Prediction((Claim(QUANTITY, Relation.EQUAL, True),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The assignment problem in float64, with its second-best solution."""
    first, second = floats(instance.first), floats(instance.second)
    costs = ((first[:, None] - second[None]) ** 2).sum(-1)
    found = numerics.assignments.assignment_margin(costs)
    slack = found.error + 1e-12 * float(np.abs(first).max() + np.abs(second).max()) ** 2 * len(first)
    if abs(found.margin) <= slack:
        raise Undecided(Reason.PRECISION, f"margin {found.margin:.3g} within rounding {slack:.3g}")
    return Measurement({QUANTITY: Estimate(found.margin > 0, how=f"margin {found.margin:.6g}")})


def instances() -> SearchStrategy[Fields]:
    return _runs(4)


def _runs(factor: int) -> SearchStrategy[Fields]:
    """Centers on a grid of `factor` + 1 steps, or a polygon, and displacements of length at most 1."""
    from hypothesis import strategies as st

    length = factor * 10 + 1
    steps = st.tuples(st.integers(0, 2), st.integers(0, 2))
    grids = st.lists(steps, min_size=2, max_size=4, unique=True)
    pushes = st.sampled_from([(0, 0), (10, 0), (-10, 0), (0, 10), (0, -10), (6, 8), (6, -8), (-6, 8), (-6, -8)])

    def moved(grid: list[tuple[int, int]]) -> SearchStrategy[Fields]:
        m = len(grid)
        centers = [[length * x, length * y] for x, y in grid]
        run = st.lists(pushes, min_size=m, max_size=m).map(
            lambda e: [[v[0] + x, v[1] + y] for v, (x, y) in zip(centers, e, strict=True)]
        )
        return st.builds(lambda first, second: {"centers": centers, "first": first, "second": second}, run, run)

    return grids.flatmap(moved)


def _turned(corners: list[list[int]], along: Fraction, across: Fraction) -> Fields:
    """Run q puts the feature of a corner v of a polygon around 0 at along·v ± across·Jv, with the quarter turn J."""

    def run(sign: int) -> list[list[str]]:
        return [[str(along * x - sign * across * y), str(along * y + sign * across * x)] for x, y in corners]

    return {"centers": corners, "first": run(1), "second": run(-1)}


_PAIR = {
    "centers": [[0, 0], [5, 0]],
    "first": [["6/5", "-8/5"], ["19/5", "8/5"]],
    "second": [["6/5", "8/5"], ["19/5", "-8/5"]],
}
_SQUARE = _turned([[1, 1], [-1, 1], [-1, -1], [1, -1]], Fraction(17, 20), Fraction(9, 25))


def _no_derivation(instance: Instance) -> Derivation:
    return Derivation("nothing is derived at smaller distances", "0")


VARIANTS = {
    "two_radii_apart": Variant(
        "s > 2r suffices in every dimension",
        hypotheses=lambda instance: _apart(instance, Fraction(2)),
        derive=_no_derivation,
        instances=lambda: _runs(2),
        examples=(_PAIR,),
    ),
    "three_and_a_half_radii_apart": Variant(
        "s > 3.6r suffices",
        hypotheses=lambda instance: _apart(instance, Fraction(18, 5)),
        derive=_no_derivation,
        instances=lambda: _polygons(),
        examples=(_SQUARE,),
    ),
}


def _polygons() -> SearchStrategy[Fields]:
    """Turned squares: random displacements miss the threshold."""
    from hypothesis import strategies as st

    corners = [[1, 1], [-1, 1], [-1, -1], [1, -1]]
    parts = st.integers(80, 90)
    return st.builds(lambda x, y: _turned(corners, Fraction(x, 100), Fraction(y, 100)), parts, st.integers(30, 40))
