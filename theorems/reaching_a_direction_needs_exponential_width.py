"""Random centers reach a given direction only with a width exponential in the dimension.

Hypotheses
----------
The v_i ≠ 0 have independent uniform directions in ℝᵏ; displacements satisfy ‖ε_i‖ ≤ β‖v_i‖ with β < 1.

Statement
---------
P(some neuron gets within the angle ψ of a direction) = 1 − (1 − C_k(ψ + arcsin β))^m, where the cap measure C_k(φ) = ½
I_{sin²φ}((k − 1)/2, ½) is at most ½ sin^{k−1} φ for φ ≤ π/2. So m ≥ 2(1 − δ)/sin^{k−1}(ψ + arcsin β) is needed for a
probability of 1 − δ.

Proof idea
----------
The tangent from 0 to the ball of radius β‖v‖ around v makes the angle arcsin β with v.

Source
------
Ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    MeasurementKind,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("G2",)
SOURCE = Source(("burgin2026",), Provenance.OURS, "on the notions of the paper")

RESOLUTION = 0.055  # the 99.9 % interval of a frequency among 4000 draws is at most ± 0.027


@dataclass(frozen=True)
class Instance:
    """Random neurons and a direction.

    Parameters
    ----------
    m, k : int
        Number of neurons and dimension.
    beta : number
        β, displacement relative to the center.
    angle : number
        ψ, in radians.
    samples : int
        How often the centers are drawn.
    """

    m: int
    k: int
    beta: Fraction
    angle: Fraction
    samples: int = 4000

    def __post_init__(self) -> None:
        if self.m < 1 or self.k < 1 or self.samples < 4000 or self.beta < 0 or not 0 <= self.angle <= 4:
            raise InputError(
                f"m={self.m!r}, k={self.k!r}, samples={self.samples!r}, beta={self.beta!r}, angle={self.angle!r}: "
                "m, k >= 1, at least 4000 samples, beta >= 0 and an angle in radians are needed"
            )


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("displacements are shorter than centers", instance.beta < 1, f"beta = {instance.beta}"),)


def predict(instance: Instance) -> Prediction:
    return _claims(instance, theory.directions.cap_measure, math.asin)


def _claims(instance: Instance, cap: Callable[[float, int], float], reach: Callable[[float], float]) -> Prediction:
    phi = float(instance.angle) + reach(float(instance.beta))
    chance = min(cap(phi, instance.k), 1.0)
    probability = 1.0 if chance == 1 else -math.expm1(instance.m * math.log1p(-chance))
    claims = [Claim("P(some neuron is near)", Relation.EQUAL, probability, RESOLUTION)]
    if phi <= math.pi / 2:
        bound = min(instance.m * 0.5 * math.sin(phi) ** (instance.k - 1), 1.0)
        claims.append(Claim("P(some neuron is near)", Relation.AT_MOST, bound, RESOLUTION))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    found = numerics.directions.reach_frequency(
        instance.m,
        instance.k,
        beta=float(instance.beta),
        angle=float(instance.angle),
        samples=instance.samples,
        seed=seed,
    )
    estimate = Estimate(found.value, found.error, f"{instance.samples} draws")
    return Measurement({"P(some neuron is near)": estimate}, MeasurementKind.STATISTICAL)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "m": st.integers(1, 8),
            "k": st.integers(2, 6),
            "beta": st.sampled_from([0, "1/2", "4/5", "19/20"]),
            "angle": st.sampled_from([0, "1/10", "1/2"]),
        }
    )


def _one_power_more(phi: float, k: int) -> float:
    return 0.5 * math.sin(min(phi, math.pi / 2)) ** k


VARIANTS = {
    "tangent_for_sine": Variant(
        "arctan β in place of arcsin β",
        predict=lambda instance: _claims(instance, theory.directions.cap_measure, math.atan),
        examples=({"m": 2, "k": 2, "beta": "4/5", "angle": 0},),
    ),
    "one_power_more": Variant(
        "C_k(φ) ≤ ½ sin^k φ, used as its value",
        predict=lambda instance: _claims(instance, _one_power_more, math.asin),
        examples=({"m": 4, "k": 2, "beta": "1/2", "angle": 0},),
    ),
    "both_sides_of_the_sphere": Variant(
        "the cap counted twice",
        predict=lambda instance: _claims(instance, lambda phi, k: 2 * theory.directions.cap_measure(phi, k), math.asin),
        examples=({"m": 2, "k": 2, "beta": "1/2", "angle": 0},),
    ),
}
