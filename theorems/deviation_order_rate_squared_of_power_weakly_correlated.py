"""With rates smaller by r ≤ 1, a fixed number of steps deviates by r²/m from linear, and a fixed time by 1/m.

Hypotheses
----------
The network is m-power weakly correlated (here: analytic activation, one hidden layer, NTK parametrization, m = n; or
a polynomial model with its correlations given), r = m^α ≤ 1, and over a fixed number of steps the displacement at the
smallest width is small, so that it does not saturate.

Statement
---------
Fixed number of steps: F − F_lin = O(r²/m), hence the O(r/m) of the paper, and for a network with small displacement
that order exactly, exponent 2α − 1. Fixed time, 1/r times as many steps: O(1/m).

Proof idea
----------
C_{D,d} scales as r^(D/2+d). In the certificate r²C_{0,2} leads, directly and through Jq; C_{1,1} enters at r³/m and
C_{2,0} at r⁴/m, which is why r ≤ 1 is needed. The order of each term of R is counted.

Source
------
Shem-Ur and Oz (2024), Theorem 3.2, states O(r/m); the sharp order and the condition r ≤ 1 are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Literal

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
from ..numerics.ensemble_fields import EnsembleFields
from ._ensembles import RESOLUTION, SMALL, TEST, TRAIN, analytic, architecture, built, ensembles, estimate

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC11",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "Theorem 3.2 with the sharp order; false for r > 1")

MOST_MOVED = Fraction(1, 10)  # rate times steps at the smallest width, from which on outputs move by their own size


@dataclass(frozen=True)
class Instance(EnsembleFields):
    """An ensemble whose rate is a power of the width.

    Parameters
    ----------
    model : str
        ``network``, or ``polynomial``: F = t₀ + t₀t₁/√m + t₁² at 0 with loss derivative −1, and the widths in the place of m.
    alpha : number
        The rate is η (n/n_0)^α with the smallest width n_0.
    protocol : str
        ``fixed_steps``, or ``fixed_time``: (n/n_0)^(−α) times as many steps.
    steps : int
        At the smallest width.
    """

    model: Literal["network", "polynomial"] = "network"
    alpha: Fraction = Fraction(-1, 2)
    protocol: Literal["fixed_steps", "fixed_time"] = "fixed_steps"
    steps: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        longest = self.steps * self.growth(
            self.widths[-1], -self.alpha if self.protocol == "fixed_time" else Fraction(0)
        )
        if self.steps < 1 or not longest <= 10_000:
            raise InputError(f"steps={self.steps!r}, alpha={self.alpha!s}: 1 to 10000 steps at every width are needed")

    def growth(self, n: int, power: Fraction) -> float:
        """Return (n/n_0)^power."""
        return math.pow(n / self.widths[0], float(power))


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_model(instance), _small_rate(instance), _no_saturation(instance))


def _model(instance: Instance) -> tuple[Hypothesis, ...]:
    if instance.model == "polynomial":
        return ()
    ntk = instance.parametrization == "ntk" and instance.hidden == 1
    return (analytic(instance), Hypothesis("m = n", ntk, built(instance)))


def _small_rate(instance: Instance) -> Hypothesis:
    return Hypothesis("r ≤ 1", instance.alpha <= 0, f"r = (n/{instance.widths[0]})^({instance.alpha})")


def _no_saturation(instance: Instance) -> Hypothesis:
    size = instance.rate * instance.steps
    met = instance.protocol == "fixed_time" or instance.model == "polynomial" or size <= MOST_MOVED
    return Hypothesis(
        "the displacement is small at the smallest width", met, f"η · steps = {size}, at most {MOST_MOVED}"
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, _exponent, equal=instance.protocol == "fixed_steps" and instance.model == "network")


def _exponent(instance: Instance) -> Fraction:
    """The exponent of R in the width, from the orders of all its terms."""
    sizes = theory.orders.power_weak_exponents(instance.alpha)
    return theory.orders.deviation_exponent(
        sizes, -instance.alpha if instance.protocol == "fixed_time" else Fraction(0)
    )


def _claims(instance: Instance, exponent: Callable[[Instance], Fraction], *, equal: bool) -> Prediction:
    value = exponent(instance)
    claims = [Claim(TEST, Relation.AT_MOST, value, RESOLUTION)]
    if instance.model == "network":
        claims.append(Claim(TRAIN, Relation.EQUAL if equal else Relation.AT_MOST, value, RESOLUTION))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Train at every width, with its rate and number of steps."""
    if instance.model == "polynomial":
        return _measured_polynomial(instance)
    exponents = numerics.linearization_exponents

    def schedule(n: int) -> numerics.linearized_training.Schedule:
        rate = float(instance.rate) * architecture(instance, n).rate_factor * instance.growth(n, instance.alpha)
        return numerics.linearized_training.Schedule(rate, _steps(instance, n))

    ensemble = exponents.Ensemble(partial(architecture, instance), instance.widths, instance.networks)
    laws = exponents.deviation_laws(ensemble, schedule, seed, device=device)
    estimates = {quantity: estimate(laws[name]) for quantity, name in ((TRAIN, "train"), (TEST, "test"))}
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=2e-3)


def _steps(instance: Instance, n: int) -> int:
    return (
        round(instance.steps * instance.growth(n, -instance.alpha))
        if instance.protocol == "fixed_time"
        else instance.steps
    )


def _measured_polynomial(instance: Instance) -> Measurement:
    deviations = []
    for m in instance.widths:
        rate = float(instance.rate) * instance.growth(m, instance.alpha)
        root = Fraction(1 / float(m) ** 0.5)
        terms = [(Fraction(1), (1, 0)), (root, (1, 1)), (Fraction(1), (0, 2))]
        start = numerics.polynomials.as_vector((Fraction(0), Fraction(0)))
        course, _, _ = numerics.deviation_bounds.polynomial_course(
            [terms], start, rate, _steps(instance, m), lambda i, output: -1.0, 1
        )
        deviations.append(numerics.floats.floats([[Fraction(course[-1])] * 2])[0])
    law = numerics.power_laws.power_law(instance.widths, deviations)
    found = numerics.power_laws.exponent_interval(law, RESOLUTION)
    return Measurement({TEST: Estimate(found.value, found.error, "descent; no randomness")})


def instances() -> SearchStrategy[Fields]:
    return _sweeps(["0", "-1/4", "-1/2", "-1"], ["fixed_steps", "fixed_time"])


def _sweeps(alphas: list[str], protocols: list[str], model: str = "network") -> SearchStrategy[Fields]:
    choices = {"alpha": alphas, "protocol": protocols, "activation": ["tanh", "sin"]}
    return ensembles(choices, model=model, rate="1/50")


_SWEEP = {"rate": "1/50", "networks": 300}

VARIANTS = {
    "order_is_r_over_m": Variant(
        "the order is r/m, not only bounded by it",
        predict=lambda instance: _claims(instance, lambda i: i.alpha - 1, equal=True),
        instances=lambda: _sweeps(["-1/2", "-1"], ["fixed_steps"]),
        examples=({**_SWEEP, "alpha": "-1"},),
    ),
    "rates_above_one": Variant(
        "O(r²/m) for r > 1 as well",
        predict=lambda instance: _claims(instance, lambda i: 2 * i.alpha - 1, equal=False),
        hypotheses=_model,
        instances=lambda: _sweeps(["1/4", "1/2"], ["fixed_steps"], "polynomial"),
        examples=({"model": "polynomial", "alpha": "1/2", "rate": 1, "steps": 2},),
    ),
    "fixed_time_like_fixed_steps": Variant(
        "O(r²/m) at a fixed time as well",
        predict=lambda instance: _claims(instance, lambda i: 2 * i.alpha - 1, equal=False),
        instances=lambda: _sweeps(["-1/2"], ["fixed_time"]),
        examples=({**_SWEEP, **SMALL, "alpha": "-1/2", "protocol": "fixed_time"},),
    ),
}
