"""Derivatives of an activation grow like k! R^k, where 1/R is the distance of its singularities from the real line.

Hypotheses
----------
φ is real-analytic, no polynomial, and bounded with all derivatives, or at least from the first on, in a strip around the real
line. (Derivatives of a polynomial vanish above its degree: R = 0, though most of them are unbounded.)

Statement
---------
R = limsup_k (sup_z |φ^(k)(z)|/k!)^(1/k) = 1/dist(ℝ, singularities of φ), which is 0 for entire φ. R < 1 implies the condition
sup_k sup_z |φ^(k)(z)|/(k+1)! < ∞, and that implies R ≤ 1. R is b times as large for z ↦ φ(bz): the condition, unlike the
finiteness of R, depends on the scale of z. Smoothness is not enough: φ(z) = ∫ e^−t (cos t²z + sin t²z) dt over t ≥ 0 is
bounded and has |φ^(k)(0)| = (2k)!, so that sup |φ^(k)|/(k+1)! is 1, 5·10³, 2·10⁹ for k = 1, 5, 9, and so on.

Proof idea
----------
Cauchy and Hadamard at each z, uniformly on the strip.

Source
------
Shem-Ur and Oz (2024) for the condition; the rate is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING

from .. import numerics, theory
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
from ..theory.activation_fields import ENTIRE, KINKED, require_activation

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC14",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "the condition is the paper's; the rate is ours")

RESOLUTION = 0.02
FACTORIAL = "factorial"
_FACTORIAL_ORDER = 12
RATE, CONDITION, FALLING = "R", "sup |φ^(k)|/(k+1)! is bounded", "ratios of successive suprema fall"


@dataclass(frozen=True)
class Instance:
    """An activation φ(scale · z).

    Parameters
    ----------
    activation : str
        A name; ``factorial`` is the function above.
    scale : number
        b ≠ 0.
    coefficients : tuple of numbers
        Of a polynomial φ, the constant first.
    """

    activation: str
    scale: Fraction = Fraction(1)
    coefficients: tuple[Fraction, ...] = ()

    def __post_init__(self) -> None:
        if self.activation != FACTORIAL:
            require_activation(self.activation, self.coefficients)
        elif self.scale != 1:
            raise InputError(f"scale={self.scale!s}: 1 is needed for {FACTORIAL!r}")
        if not 0 < abs(self.scale) <= 16:
            raise InputError(f"scale={self.scale!s}: a number other than 0, of size at most 16, is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    name = instance.activation
    if name == FACTORIAL:
        how = "the Taylor series at 0 has the coefficients ±(2k)!/k!, and converges nowhere else"
        return (Hypothesis("φ is analytic on the real line", False, how),)
    how = f"{name} has a kink" if name in KINKED else f"{name}, by its singularities"
    is_polynomial = name in ("identity", "polynomial")
    return (
        Hypothesis("φ is analytic on the real line", name not in KINKED, how),
        Hypothesis("φ is no polynomial", not is_polynomial, f"{name}: R = 0, exactly" if is_polynomial else name),
    )


def predict(instance: Instance) -> Prediction:
    return _prediction(instance, lambda rate: rate, instance.scale)


def _prediction(instance: Instance, change: Callable[[float], float], scale: Fraction) -> Prediction:
    rate = change(float(theory.activations.growth_rate(instance.activation, scale)))
    claims = []
    if instance.activation not in ENTIRE:
        claims.append(Claim(RATE, Relation.EQUAL, rate, RESOLUTION * abs(float(instance.scale))))
    else:
        claims.append(Claim(FALLING, Relation.EQUAL, rate == 0))
    if rate != 1:
        claims.append(Claim(CONDITION, Relation.EQUAL, rate < 1))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Suprema over a grid, of derivatives by recurrences, up to order 30; ratios of every second, extrapolated in 1/k."""
    if instance.activation == FACTORIAL:
        return _factorial()
    activation = numerics.activations.Activation(instance.activation, scale=float(instance.scale))
    growth = numerics.activation_growth.growth(activation, device=device)
    is_entire = instance.activation in ENTIRE
    estimates = {}
    if is_entire:
        every_sixth = growth.ratios[-1::-6]  # from the highest order down
        falls = all(high < low for high, low in pairwise(every_sixth))
        estimates[FALLING] = Estimate(falls, 0.0, f"from {every_sixth[-1]:.3g} to {every_sixth[0]:.3g}")
        if falls and every_sixth[0] < 1:
            estimates[CONDITION] = Estimate(True, 0.0, "ratios fall below 1")
    else:
        estimates[RATE] = Estimate(growth.rate, growth.error, "ratios of suprema, extrapolated")
        if abs(growth.rate - 1) > growth.error + RESOLUTION:
            estimates[CONDITION] = Estimate(growth.rate < 1, 0.0, "the rate, and its error")
    return Measurement(estimates)


def _factorial() -> Measurement:
    """Suprema over (k + 1)!, which grow faster and faster."""
    suprema = numerics.activation_growth.factorial_suprema(_FACTORIAL_ORDER)
    ratios = [high / low for low, high in pairwise(suprema)]
    grows = ratios[0] > 1 and all(high > low for low, high in pairwise(ratios))
    how = ", ".join(f"{suprema[k - 1]:.3g}" for k in (1, 5, 9)) + " for k = 1, 5, 9"
    return Measurement({CONDITION: Estimate(False, 0.0, how)} if grows else {})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    names = ("tanh", "sigmoid", "arctan", "sin", "gaussian", "softplus", "lorentzian")
    return st.fixed_dictionaries({"activation": st.sampled_from(names), "scale": st.sampled_from([1, 2, "1/2", -1])})


# False variants.


def _factorial_or_entire() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"activation": st.sampled_from(["sin", "gaussian", FACTORIAL])})


def _not_inverted(instance: Instance) -> Prediction:
    """The distance in place of its inverse."""
    if instance.activation in ENTIRE:
        return predict(instance)
    return _prediction(instance, lambda rate: 1 / rate, instance.scale)


def _smooth(instance: Instance) -> Prediction:
    """The condition, for every smooth and bounded activation."""
    if instance.activation != FACTORIAL:
        return predict(instance)
    return Prediction((Claim(CONDITION, Relation.EQUAL, True),))


VARIANTS = {
    "smoothness_suffices": Variant(
        "every smooth and bounded activation meets the condition",
        predict=_smooth,
        hypotheses=lambda instance: (),
        instances=_factorial_or_entire,
        examples=({"activation": FACTORIAL},),
    ),
    "condition_does_not_depend_on_scale": Variant(
        "R is the same for z ↦ φ(bz), and so is the condition",
        predict=lambda instance: _prediction(instance, lambda rate: rate, Fraction(1)),
        examples=({"activation": "tanh", "scale": 2},),
    ),
    "rate_is_the_distance": Variant(
        "R = dist(ℝ, singularities)", predict=_not_inverted, examples=({"activation": "tanh"},)
    ),
    "half_the_distance_between_singularities": Variant(
        "singularities come in pairs, and R is 2/dist",
        predict=lambda instance: _prediction(instance, lambda rate: 2 * rate, instance.scale),
        examples=({"activation": "sigmoid"},),
    ),
}
