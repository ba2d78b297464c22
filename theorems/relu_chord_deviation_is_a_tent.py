"""The chord deviation of a ReLU neuron is minus a tent: it vanishes unless the pre-activation changes its sign.

Hypotheses
----------
The activation is ReLU.

Statement
---------
For pre-activations z₀, z₁ at the ends, ξ(λ) = relu((1 − λ)z₀ + λz₁) − (1 − λ) relu(z₀) − λ relu(z₁) is 0 unless z₀z₁ < 0, and
then −ξ(λ) = min((1 − λ)|z₀|, λ|z₁|), with maximum |z₀z₁|/(|z₀| + |z₁|).

Proof idea
----------
For z₁ > 0 > z₀: −ξ = λz₁ − (λz₁ − (1 − λ)|z₀|)₊; exchange the ends.

Source
------
Ours; the chord deviation is defined by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

from collections.abc import Callable
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
    InputError,
    Measurement,
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
IDS = ("F1",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

RESOLUTION = 1e-14  # times |z₀| + |z₁|: a few roundings
_GRID = 4001  # of λ, for the maximum: it is off by at most (|z₀| + |z₁|)/8000


@dataclass(frozen=True)
class Instance:
    """A neuron at the two ends of a segment.

    Parameters
    ----------
    start, end : number
        z₀ and z₁.
    weight : number
        λ in [0, 1].
    activation : str
        The statement is for ReLU.
    """

    start: Fraction
    end: Fraction
    weight: Fraction
    activation: Literal["relu", "leaky_relu", "identity"] = "relu"

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise InputError(f"weight={self.weight!r}: a number in [0, 1] is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    name = instance.activation
    return (Hypothesis("the activation is ReLU", name == "relu", f"activation = {name}"),)


def derive(instance: Instance) -> Derivation:
    """Both sides at λ and at the peak λ* = |z₀|/(|z₀| + |z₁|), in exact arithmetic."""
    z0, z1 = instance.start, instance.end
    peak = abs(z0) / (abs(z0) + abs(z1)) if z0 or z1 else Fraction(0)
    left = [
        f"λ = {weight}"
        for weight in (instance.weight, peak)
        if _deviation(z0, z1, weight) != theory.chords.tent(z0, z1, weight)
    ]
    if -_deviation(z0, z1, peak) != theory.chords.tent_maximum(z0, z1):
        left.append("maximum")
    return Derivation(
        "relu(z_λ) − (1 − λ) relu(z₀) − λ relu(z₁) + min((1 − λ)|z₀|, λ|z₁|) [z₀z₁ < 0] = 0",
        "; ".join(left) or "0",
        r"-\xi(\lambda) = \min((1-\lambda)|z_0|, \lambda|z_1|)\,[z_0 z_1 < 0]",
        settles=("deviation", "largest −deviation"),
    )


def _deviation(z0: Fraction, z1: Fraction, weight: Fraction) -> Fraction:
    zero = Fraction(0)
    chord = (1 - weight) * max(z0, zero) + weight * max(z1, zero)
    return max((1 - weight) * z0 + weight * z1, zero) - chord


def predict(instance: Instance) -> Prediction:
    return _claims(instance, theory.chords.tent(instance.start, instance.end, instance.weight))


def _claims(
    instance: Instance, value: Fraction, peak: Callable[[Fraction, Fraction], Fraction] | None = None
) -> Prediction:
    z0, z1 = instance.start, instance.end
    scale = float(abs(z0) + abs(z1))
    largest = (peak or theory.chords.tent_maximum)(z0, z1)
    return Prediction(
        (
            Claim("deviation", Relation.EQUAL, value, RESOLUTION * scale),
            Claim("largest −deviation", Relation.EQUAL, largest, scale / _GRID),
        )
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    z0, z1 = float(instance.start), float(instance.end)
    scale = abs(z0) + abs(z1)
    grid = np.linspace(0, 1, _GRID)
    curve = [float(numerics.chords.deviation(z0, z1, float(weight), instance.activation)) for weight in grid]
    value = float(numerics.chords.deviation(z0, z1, float(instance.weight), instance.activation))
    return Measurement(
        {
            "deviation": Estimate(value, 1e-15 * scale, "float64"),
            "largest −deviation": Estimate(-min(curve), scale / (2 * _GRID), "grid"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import small_fractions

    weights = st.fractions(0, 1, max_denominator=8).map(str)
    return st.fixed_dictionaries({"start": small_fractions(), "end": small_fractions(), "weight": weights})


def _leaky_instances() -> SearchStrategy[Fields]:
    return instances().map(lambda fields: {**fields, "activation": "leaky_relu"})


VARIANTS = {
    "convexity_reversed": Variant(
        "ξ ≥ 0",
        predict=lambda x: _claims(x, -theory.chords.tent(x.start, x.end, x.weight)),
        examples=({"start": -1, "end": 1, "weight": "1/2"},),
    ),
    "weights_exchanged": Variant(
        "min(λ|z₀|, (1 − λ)|z₁|)",
        predict=lambda x: _claims(x, theory.chords.tent(x.start, x.end, 1 - x.weight)),
        examples=({"start": 3, "end": -1, "weight": "1/4"},),
    ),
    "any_activation": Variant(
        "the same for leaky ReLU",
        hypotheses=lambda instance: (),
        instances=_leaky_instances,
        examples=({"start": 3, "end": -1, "weight": "1/4", "activation": "leaky_relu"},),
    ),
}
