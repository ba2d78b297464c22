"""One step of a wide ReLU network deviates from linear by kinks: n^−½ at the input of the step, n^−¾ at others.

Hypotheses
----------
One hidden ReLU layer, F(x) = n^−½ Σ a_j relu(z_j), a and z independent and normal, K = Var z; one step with rate η and a
fixed loss derivative c ≠ 0 at x; the other input x' is neither parallel nor orthogonal to x.

Statement
---------
At x, E[F − F_lin] = sign(c) n^−½ (ηc)² K^(3/2)/(2π) (1 + o(1)). At x', the mean is o(n^−¾) and the root mean square is
n^−¾ |ηcK(x, x')|^(3/2) K(x', x')^(−¼) √(4/(3π)) (1 + o(1)). So m = √n at best, and no derivative correlation sees it: c|c| is
not analytic in c.

Proof idea
----------
Only neurons with |z| ≤ ηc|a|K/√n cross 0, and each adds a|z + δ|/√n. At x only active neurons move, so that sign(a) = sign(c)
survives; at x' both directions occur and a → −a cancels the mean. The density of z at 0 is 1/√(2πK).

Source
------
Ours; the correlations are those of Shem-Ur and Oz (2024).
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
    Derivation,
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

FAMILY = "correlations"
IDS = ("WC15",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "the setting is the paper's")

# Corrections are o(1): where neurons cross, |z| is at most some ηcK/√n, and the density is flat to a part in n; at x the
# next term comes from the correlations, of order 1/n against n^−½: below 0.05 from 2^12 neurons on. The rest is room for
# four standard errors.
RESOLUTION = 0.2
LEAST_WIDTH = 1 << 12
HERE, OTHER_MEAN, OTHER = "n^½ mean at x", "n^¾ mean at x'", "n^¾ rms at x'"


@dataclass(frozen=True)
class Instance:
    """A step of random networks.

    Parameters
    ----------
    width, networks : int
        n, at least 2^12, and how many networks.
    step : number
        ηc.
    kernel, cross, other : number
        K(x, x), K(x, x') and K(x', x').
    activation : str
        ``relu``, or ``softplus`` as a control.
    """

    width: int
    networks: int = 800
    step: Fraction = Fraction(4, 5)
    kernel: Fraction = Fraction(1)
    cross: Fraction = Fraction(2, 5)
    other: Fraction = Fraction(1)
    activation: str = "relu"

    def __post_init__(self) -> None:
        if self.width < LEAST_WIDTH or self.networks < 100 or self.width * self.networks > 1 << 28:
            raise InputError(
                f"width={self.width!r}, networks={self.networks!r}: the law is one of wide networks; from {LEAST_WIDTH} "
                "neurons and 100 networks on, and at most 2^28 neurons in all"
            )
        if not (self.kernel > 0 and self.other > 0 and self.cross**2 <= self.kernel * self.other):
            raise InputError(
                f"kernel={self.kernel!s}, cross={self.cross!s}, other={self.other!s}: a covariance of x and x' is needed"
            )
        if self.activation not in ("relu", "softplus"):
            raise InputError(f"activation={self.activation!r}: choose 'relu' or 'softplus'")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        _kinked(instance),
        Hypothesis("the loss derivative is not zero", instance.step != 0, f"ηc = {instance.step}"),
        Hypothesis(
            "x' is neither parallel nor orthogonal to x",
            0 < instance.cross**2 < instance.kernel * instance.other,
            f"K(x, x')² = {instance.cross**2}, K(x, x) K(x', x') = {instance.kernel * instance.other}",
        ),
    )


def _kinked(instance: Instance) -> Hypothesis:
    return Hypothesis("the activation is ReLU", instance.activation == "relu", f"φ = {instance.activation}")


def derive(instance: Instance) -> Derivation:
    """Both constants, as integrals over the neurons that cross."""
    residual = theory.kinks.residuals()
    return Derivation(
        "E[F − F_lin] and E[(F − F_lin)²] to leading order, by integration over a and z",
        residual,
        r"\frac{1}{\sqrt{n}}\frac{(\eta c)^2 K^{3/2}}{2\pi}, \quad "
        r"n^{-3/4} |\eta c K'|^{3/2} K''^{-1/4} \sqrt{4/(3\pi)}",
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance)


def _claims(instance: Instance, factor: Callable[[Instance], tuple[float, float]] = lambda _: (1.0, 1.0)) -> Prediction:
    step, K, cross, other = (float(x) for x in (instance.step, instance.kernel, instance.cross, instance.other))
    here, there = theory.kinks.kink_mean(step, K), theory.kinks.kink_rms(step, cross, other)
    f, g = factor(instance)
    return Prediction(
        (
            Claim(HERE, Relation.EQUAL, f * here, RESOLUTION * abs(here)),
            Claim(OTHER_MEAN, Relation.EQUAL, 0, RESOLUTION * there),
            Claim(OTHER, Relation.EQUAL, g * there, RESOLUTION * there),
        )
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Take the step on networks given by (a, z, z'), which are all that it depends on."""
    step, K, cross, other = (float(x) for x in (instance.step, instance.kernel, instance.cross, instance.other))
    found = numerics.kinks.step_deviations(
        instance.activation,
        instance.width,
        instance.networks,
        step,
        (K, cross, other),
        seed=seed,
        device=device,
    )
    how = f"{instance.networks} networks, 4 standard errors"
    root, three = math.sqrt(instance.width), instance.width**0.75
    values = {
        HERE: (numerics.kinks.mean(found.here), root),
        OTHER_MEAN: (numerics.kinks.mean(found.other), three),
        OTHER: (numerics.kinks.root_mean_square(found.other), three),
    }
    estimates = {
        name: Estimate(scale * interval.value, scale * interval.error, how)
        for name, (interval, scale) in values.items()
    }
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=1e-3)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "width": st.just(LEAST_WIDTH),
            "networks": st.just(1000),
            "step": st.sampled_from(["4/5", 1, "-4/5"]),
            "cross": st.sampled_from(["2/5", "-1/2"]),
        }
    )


# False variants: what automatic differentiation says, and other powers of the width.

_STEP = {"width": 1 << 12, "networks": 1000}

VARIANTS = {
    "correlations_predict_the_step": Variant(
        "the deviation is the sum of correlations, as automatic differentiation has them: its mean at x is 0",
        predict=lambda instance: _claims(instance, lambda _: (0.0, 1.0)),
        examples=(_STEP,),
    ),
    "root_of_n_everywhere": Variant(
        "the deviation at x' is of order n^−½ too",
        predict=lambda instance: _claims(instance, lambda i: (1.0, float(i.width) ** 0.25)),
        examples=(_STEP,),
    ),
    "one_over_n": Variant(
        "the deviation is of order 1/n",
        predict=lambda instance: _claims(instance, lambda i: (i.width**-0.5, i.width**-0.25)),
        examples=(_STEP,),
    ),
    "analytic_in_c": Variant(
        "the mean at x does not change its sign with c",
        predict=lambda instance: _claims(instance, lambda i: (math.copysign(1.0, i.step), 1.0)),
        examples=({**_STEP, "step": "-4/5"},),
    ),
}
