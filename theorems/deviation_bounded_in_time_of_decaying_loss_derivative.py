"""Where the loss derivative decays, training stays within 1/m of its linearization for as long as m steps.

Hypotheses
----------
The network is weakly correlated (here: analytic activation, one hidden layer, NTK parametrization), and the loss
derivative of the linearized model decays, |𝒞'(F_lin(s), y)| ≤ C e^(−s/T): squared loss, the same labels in every step, a
rate with ηΘ < 2, and 5T steps before the first that is looked at. Here four orthogonal inputs, for which the mean kernel
gives T; for drawn ones that are close to parallel T can exceed all steps. (For stochastic descent the decay is assumed, not
proved.)

Statement
---------
F(θ_s) − F_lin(s) = O(1/m) uniformly for s ≤ O(m): in time its size is flat after the first steps. With contradictory labels,
for which the loss derivative does not decay, it grows like s.

Proof idea
----------
ε_s = F(θ_s) − F_0 + Θ_0p_s changes by (K/m)|c_s| in a step, and the error obeys e_{s+1} = (1 − Θ_0)e_s + Δε_s;
discrete Grönwall with κ = K/m: |e_s| ≤ κ((1 + κ)^s − x^s)/(1 + κ − x), x = e^(−1/T).

Source
------
Shem-Ur and Oz (2024), Corollary 4.1; the hypothesis of decay and the constant are ours.
"""

from __future__ import annotations

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
from ..numerics.ensemble_fields import ANALYTIC

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC12",)
SOURCE = Source(
    ("shemur2024",), Provenance.SHARPENED, "Corollary 4.1; the decay of the loss derivative is a hypothesis here"
)

RESOLUTION = 0.1  # of a power of time; without decay it is above 1/2
GROWTH = "exponent of |F − F_lin| in the number of steps, at inputs not trained on"
_RECORDS = 8
_SAMPLES = 4
_POLYNOMIALS = {
    "square": ("polynomial", (Fraction(0), Fraction(0), Fraction(1))),
    "cubic": ("polynomial", (Fraction(0), Fraction(-1), Fraction(0), Fraction(1))),
}


@dataclass(frozen=True)
class Instance:
    """Networks trained on one of four samples at a time, with orthogonal inputs |x|² = d0 and labels ±1.

    Parameters
    ----------
    activation : str
        φ.
    width, networks, inputs : int
        n, how many, and d0.
    rate : number
        η.
    steps : int
        The last of the recorded ones; the first is a tenth of it.
    contradictory : bool
        Whether each step draws its label ±1 anew.
    """

    activation: str = "tanh"
    width: int = 256
    networks: int = 16
    inputs: int = 8
    rate: Fraction = Fraction(1, 2)
    steps: int = 1000
    contradictory: bool = False

    def __post_init__(self) -> None:
        if self.activation not in (*ANALYTIC, "relu"):
            raise InputError(f"activation={self.activation!r}: choose one of {', '.join((*ANALYTIC, 'relu'))}")
        if self.networks < 4 or self.width < 1 or self.inputs < 4 or not 100 <= self.steps <= 100_000:
            raise InputError(
                f"networks={self.networks!r}, width={self.width!r}, inputs={self.inputs!r}, steps={self.steps!r}: at least 4 "
                "networks, a neuron, 4 inputs, and 100 to 100000 steps are needed"
            )
        if not self.rate > 0:
            raise InputError(f"rate={self.rate!s}: a positive number is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    analytic = _analytic(instance)
    return (analytic, _decaying(instance)) if analytic.met else (analytic,)


def _analytic(instance: Instance) -> Hypothesis:
    return Hypothesis("the activation is analytic", instance.activation in ANALYTIC, f"φ = {instance.activation}")


def _decaying(instance: Instance) -> Hypothesis:
    """Orthogonal inputs have E Θ/η = E(φ² + φ'²) with themselves and (E φ)² with each other, z ~ N(0, 1)."""
    name = "the loss derivative of the linear model decays within a tenth of the steps"
    if instance.contradictory:
        return Hypothesis(name, False, "labels are drawn anew in each step")
    constants = theory.gaussian_constants
    phi = _POLYNOMIALS.get(instance.activation, (instance.activation, ()))
    own, one = (
        float(constants.expectation(*phi, constant, Fraction(1)).value)
        for constant in (constants.mean(1), (constants.Term(Fraction(1), 0, (0,)),))
    )
    largest, slowest = float(instance.rate) * own, _SAMPLES / (float(instance.rate) * (own - one**2))
    met = largest < 2 and 5 * slowest <= instance.steps / 10
    how = f"ηΘ = {largest:.3g}, of less than 2; 5T = {5 * slowest:.3g} steps, of at most {instance.steps / 10:g}"
    return Hypothesis(name, met, how)


def derive(instance: Instance) -> Derivation:
    return Derivation(
        "the closed form of the discrete Grönwall recursion",
        theory.orders.gronwall_residual(),
        r"|e_s| \le \kappa \frac{(1+\kappa)^s - x^s}{1 + \kappa - x}, \quad \kappa = K/m, \; x = e^{-1/T}",
    )


def predict(instance: Instance) -> Prediction:
    return Prediction((Claim(GROWTH, Relation.AT_MOST, 0, RESOLUTION),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The slope of log |F − F_lin| against log s for every network, from a tenth of the steps on; and its mean."""
    n, last = instance.width, instance.steps
    exponents = numerics.linearization_exponents
    ensemble = exponents.Ensemble(
        lambda width: numerics.mlps.Architecture(instance.inputs, width, activation=instance.activation),
        [n],
        instance.networks,
        train=_SAMPLES,
        orthogonal=True,
    )
    records = sorted({round(last / 10 ** (1 - k / (_RECORDS - 1))) for k in range(_RECORDS)})
    schedule = numerics.linearized_training.Schedule(
        float(instance.rate), last, batch=1, random_labels=instance.contradictory
    )
    runs = exponents.sphere_runs(ensemble, n, schedule, seed, records=records, device=device)
    slopes = exponents.slopes_in_time(runs, ensemble.train)
    found = numerics.frequencies.mean_interval(slopes)
    return Measurement(
        {GROWTH: Estimate(found.value, found.error, f"{instance.networks} networks, 4 standard errors")},
        MeasurementKind.STATISTICAL,
        false_alarm_rate=1e-3,
    )


def instances() -> SearchStrategy[Fields]:
    return _trainings([False])


def _trainings(contradictory: list[bool]) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "activation": st.sampled_from(["tanh", "sin", "erf"]),
            "width": st.sampled_from([128, 256]),
            "steps": st.just(600),
            "contradictory": st.sampled_from(contradictory),
        }
    )


def _growing(exponent: Fraction, relation: Relation) -> Callable[[Instance], Prediction]:
    return lambda instance: Prediction((Claim(GROWTH, relation, exponent, RESOLUTION),))


VARIANTS = {
    "decay_is_not_needed": Variant(
        "the deviation is bounded whatever the labels",
        hypotheses=lambda instance: (_analytic(instance),),
        instances=lambda: _trainings([True]),
        examples=({"contradictory": True},),
    ),
    "grows_with_every_step": Variant(
        "the deviation grows like the number of steps",
        predict=_growing(Fraction(1), Relation.EQUAL),
        examples=({},),
    ),
}
