"""For any inputs the mean square of the chord deviation is at most κβ³s²/6, if the fixed part has a bounded density.

Hypotheses
----------
The activation is ReLU; given the trained parts t⁰, t¹ the fixed part c has no mass at 0: P(|c| ≤ τ | t) ≤ κ₀τ/s for all τ >
0; E|t^q|³ ≤ (βs)³ for both runs.

Statement
---------
E ξ(λ)² ≤ κ₀β³s²/2 for every λ. If c has a conditional density of at most κ/s, E ξ(λ)² ≤ κβ³s²/6, attained for c uniform
around 0, t^q = ±βs and λ = ½. (s only sets the scale; it is (E c²)^{1/2} in the source.)

Proof idea
----------
For fixed t, ∫ ξ² dc = λ²(1 − λ)²|t¹ − t⁰|³/3; Minkowski's inequality in L³. With small balls: ξ = 0 unless |c| ≤ max |t^q|,
and |ξ| ≤ max |t^q|/2.

Source
------
Ours; the rate O(β^{3/2}) is due to Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

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
from ..theory.density_chords import MixtureFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("F2c",)
SOURCE = Source(("burgin2026",), Provenance.OURS, "rate of the paper")

RESOLUTION = 1e-10  # times the scale of ξ²: rounding only
WEIGHTS = tuple(Fraction(i, 8) for i in range(1, 8))


@dataclass(frozen=True)
class Instance(MixtureFields):
    """A neuron at the two ends of a segment, with a finite list of cases for its trained parts.

    Parameters
    ----------
    activation : str
        The statement is for ReLU.
    """

    activation: Literal["relu", "leaky_relu", "gelu"] = "relu"

    @property
    def scale(self) -> float:
        """Of squared pre-activations."""
        return 1 + float(max(abs(x) for x in (*self.first, *self.second, *self.low, *self.high))) ** 2


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (_is_relu(instance), _has_no_mass_at_zero(instance))


def _is_relu(instance: Instance) -> Hypothesis:
    return Hypothesis("the activation is ReLU", instance.activation == "relu", f"activation = {instance.activation}")


def _has_no_mass_at_zero(instance: Instance) -> Hypothesis:
    known = instance.small_ball
    how = "c is 0 in one of the cases" if known is None else f"P(|c| ≤ τ) ≤ {known}·τ in each case"
    return Hypothesis("the fixed part has no mass at 0", known is not None, how)


def derive(instance: Instance) -> Derivation:
    """∫ ξ² dc over all c for symbols."""
    return Derivation(
        "∫ ξ² dc − λ²(1 − λ)²|t¹ − t⁰|³/3 = 0",
        str(theory.chords.tent_integral_residual()),
        r"\int \xi^2\,dc = \tfrac13 \lambda^2 (1-\lambda)^2 |t^1 - t^0|^3",
    )


def predict(instance: Instance) -> Prediction:
    chords = theory.density_chords
    return _claims(instance, chords.density_bound(instance), chords.small_ball_bound(instance))


def _claims(instance: Instance, density: Fraction | float | None, small_ball: Fraction | None) -> Prediction:
    slack = RESOLUTION * instance.scale
    claims = [
        Claim(f"mean square at {weight}", Relation.EQUAL, theory.density_chords.mean_square(instance, weight), slack)
        for weight in WEIGHTS
    ]
    bounds = [bound for bound in (density, small_ball) if bound is not None]
    claims += [Claim("largest mean square", Relation.AT_MOST, bound, slack) for bound in bounds]
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Quadrature over c, case by case."""
    chances, t0, t1, low, high = (
        np.array([float(x) for x in values])
        for values in (instance.chances, instance.first, instance.second, instance.low, instance.high)
    )
    estimates, found = {}, []
    for weight in WEIGHTS:
        cases = [
            numerics.chords.interval_mean_square(*case, float(weight), instance.activation)
            for case in zip(t0, t1, low, high, strict=True)
        ]
        value = float(chances @ cases)
        found.append(value)
        estimates[f"mean square at {weight}"] = Estimate(value, 1e-13 * instance.scale, "Gauss quadrature over c")
    estimates["largest mean square"] = Estimate(max(found), 1e-13 * instance.scale, "largest of 7 weights")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    shift = st.integers(-2, 2)
    # Intervals around 0 and beside it, and single numbers that are not 0.
    interval = st.sampled_from([(-1, 1), (-4, 4), (0, 1), (1, 3), (-2, 1), (2, 2), (-1, -1), (-1, 0)])
    return _mixtures(st.tuples(shift, shift, interval))


def _mixtures(case: SearchStrategy[tuple[int, int, tuple[int, int]]]) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(cases: list[tuple[int, int, tuple[int, int]]], favors_first: bool) -> Fields:
        m = len(cases)
        is_rare = favors_first and m > 1
        return {
            "chances": [f"{11 - m}/10", *["1/10"] * (m - 1)] if is_rare else [f"1/{m}"] * m,
            "first": [t for t, _, _ in cases],
            "second": [t for _, t, _ in cases],
            "low": [low for _, _, (low, _) in cases],
            "high": [high for _, _, (_, high) in cases],
        }

    return st.builds(fields, st.lists(case, min_size=1, max_size=3), st.booleans())


def _with_mass_at_zero() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    shift = st.integers(-2, 2)
    return _mixtures(st.tuples(shift, shift, st.sampled_from([(0, 0), (-1, 1)])))


def _rare_shifts() -> SearchStrategy[Fields]:
    """Trained parts that are 0 most of the time, of opposite signs otherwise, and an even fixed part."""
    from hypothesis import strategies as st

    def fields(rare: int, t: int, u: int) -> Fields:
        chances = [f"{rare - 1}/{rare}", f"1/{rare}"]
        return {"chances": chances, "first": [0, t], "second": [0, -u], "low": [-4, -4], "high": [4, 4]}

    return st.builds(fields, st.integers(2, 10), st.integers(0, 4), st.integers(0, 4))


# False variants.


def _smaller(instance: Instance) -> Prediction:
    bound = theory.density_chords.density_bound(instance)
    small_ball = theory.density_chords.small_ball_bound(instance)
    return _claims(instance, None if bound is None else bound * Fraction(3, 4), small_ball)


def _of_normal_inputs(instance: Instance) -> Prediction:
    """β³s²/(3π), as for rotation invariant inputs."""
    second = sum(
        p * (low * low + low * high + high * high) / 3
        for p, low, high in zip(instance.chances, instance.low, instance.high, strict=True)
    )
    if second == 0:
        return _claims(instance, 0.0, None)
    return _claims(instance, float(instance.third_moment) / math.sqrt(float(second)) / (3 * math.pi), None)


def _of_second_moments(instance: Instance) -> Prediction:
    """κ (E t²)^{3/2}/6: what the bound would be if second moments sufficed."""
    if instance.density is None:
        return predict(instance)
    runs = (instance.first, instance.second)
    squares = [sum(p * t * t for p, t in zip(instance.chances, run, strict=True)) for run in runs]
    return _claims(instance, float(instance.density) * float(max(squares)) ** 1.5 / 6, None)


_EVEN = {"chances": [1], "first": [1], "second": [-1], "low": [-1], "high": [1]}
_RARE = {"chances": ["9/10", "1/10"], "first": [0, 1], "second": [0, -1], "low": [-1, -1], "high": [1, 1]}
# Inputs uniform on ±e_1, ±e_2, with a fixed part along e_1 and trained ones along ± e_2.
_AXES = {
    "chances": ["1/4", "1/4", "1/4", "1/4"],
    "first": [0, 0, "1/10", "-1/10"],
    "second": [0, 0, "-1/10", "1/10"],
    "low": [1, -1, 0, 0],
    "high": [1, -1, 0, 0],
}

EXAMPLES = (_EVEN,)

VARIANTS = {
    "constant_one_eighth": Variant(
        "κβ³s²/8",
        predict=_smaller,
        examples=(_EVEN,),
    ),
    "second_moments_suffice": Variant(
        "(E t²)^{3/2} in place of E|t|³", predict=_of_second_moments, instances=_rare_shifts, examples=(_RARE,)
    ),
    "mass_at_zero_too": Variant(
        "β³s²/(3π) for any distribution, also where the trained part determines that c = 0",
        hypotheses=lambda instance: (_is_relu(instance),),
        predict=_of_normal_inputs,
        instances=_with_mass_at_zero,
        examples=(_AXES,),
    ),
}
