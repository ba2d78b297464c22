"""A wide network deviates from its linearization by at most a sum of correlations at initialization.

Hypotheses
----------
One hidden layer of any width, F(x) = n^−½ Σ a_j φ(w_j·x/√d0), with an entire activation all of whose derivatives are bounded
on the line by known constants; discrete gradient descent on (F − y)²/2 at one input.

Statement
---------
At every step and for every draw of the weights ‖F(θ_s) − F_0 + Θ_0 p_s‖ ≤ R_s and ‖Θ_s − Θ_0‖ ≤ 2h_s + g_s², R, h and g as in
the certificate for polynomial models, from the norms of the C_{D,d} at initialization and the sizes of the loss
derivatives. Orders beyond those computed are bounded by sup |φ^(j)|, not left out.

Proof idea
----------
That of the certificate for polynomials; the Taylor series of an entire function converges for every displacement.

Source
------
Shem-Ur and Oz (2024) in the form of orders; the certificate is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..numerics.deviation_bounds import Course
    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC08",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "orders in the paper; the certificate is ours")

BOUNDED = ("sin", "erf")  # entire, with a bound of every derivative
DEVIATION, DRIFT = "deviation / certificate", "drift of the kernel / certificate"
RESOLUTION = 1e-6  # rounding of a deviation, relative to a certificate of 1e-9 of the outputs or more
_MOST = 1 << 22  # widths times networks


@dataclass(frozen=True)
class Instance:
    """Random networks and their training.

    Parameters
    ----------
    activation : str
        φ.
    width, networks : int
        n, and how many are drawn.
    kernel : number
        K = |x|²/d0.
    rate, target : number
        η and y.
    steps : int
        Number of steps.
    """

    activation: str = "sin"
    width: int = 64
    networks: int = 10
    kernel: Fraction = Fraction(1)
    rate: Fraction = Fraction(1, 2)
    target: Fraction = Fraction(3, 2)
    steps: int = 10

    def __post_init__(self) -> None:
        numerics.activations.Activation(self.activation)
        if min(self.width, self.networks, self.steps) < 1 or self.width * self.networks > _MOST:
            raise InputError(
                f"width={self.width!r}, networks={self.networks!r}, steps={self.steps!r}: positive numbers, and at most "
                f"{_MOST} neurons in all, are needed"
            )
        if not (self.kernel > 0 and self.rate > 0):
            raise InputError(f"kernel={self.kernel!s}, rate={self.rate!s}: positive numbers are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis(
            "all derivatives of the activation are bounded by known constants",
            instance.activation in BOUNDED,
            f"activation = {instance.activation}",
        ),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(Fraction(1), Fraction(1))


def _claims(deviation: Fraction, drift: Fraction) -> Prediction:
    pairs = ((DEVIATION, deviation), (DRIFT, drift))
    return Prediction(tuple(Claim(name, Relation.AT_MOST, value, RESOLUTION) for name, value in pairs))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Norms at initialization in closed form, then training: the largest ratio over all steps and networks."""
    engine, one_hidden = numerics.deviation_bounds, numerics.one_hidden
    courses = [
        engine.certified_course(networks, float(instance.target), instance.steps)
        for networks in one_hidden.random_networks(
            numerics.activations.Activation(instance.activation),
            instance.width,
            numerics.floats.floats([[instance.kernel] * 2] * 2),
            numerics.floats.floats([[1]])[0],
            networks=instance.networks,
            seed=seed,
            rate=float(instance.rate),
            device=device,
        )
    ]
    return Measurement(
        {
            DEVIATION: _largest(courses, "deviation", "bound"),
            DRIFT: _largest(courses, "drift", "drift_bound"),
        }
    )


def _largest(courses: list[Course], part: str, bound: str) -> Estimate:
    ratios = [getattr(course, part) / getattr(course, bound) for course in courses]
    errors = [float((course.rounding / getattr(course, bound)).max()) for course in courses]
    value = max(float(ratio.max()) for ratio in ratios)
    return Estimate(value, max(errors), "closed-form norms, then descent")


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "activation": st.sampled_from(BOUNDED),
            "width": st.integers(8, 64),
            "networks": st.integers(1, 4),
            "kernel": st.sampled_from(["1/2", 1]),
            "rate": st.sampled_from(["1/10", "1/4"]),
            "target": st.integers(-1, 1),
            "steps": st.integers(1, 5),
        }
    )


_MANY = {"activation": "sin", "width": 64, "networks": 10, "steps": 3}

VARIANTS = {
    "half_the_series": Variant(
        "the deviation is at most R/2",
        predict=lambda instance: _claims(Fraction(1, 2), Fraction(1)),
        examples=(_MANY,),
    ),
    "kernel_counts_one_factor": Variant(
        "the kernel drifts by at most h + g²/2, as if only one of its two gradients moved",
        predict=lambda instance: _claims(Fraction(1), Fraction(1, 2)),
        examples=(_MANY,),
    ),
}
