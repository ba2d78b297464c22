"""With output n^−γ, ½ < γ ≤ 1, a wide layer is at most n^(2−2γ)-weakly correlated: not at all in the mean field, γ = 1.

Hypotheses
----------
Those of the exponents of one hidden layer; output n^−γ with ½ < γ ≤ 1, and the rate η ∝ n^(2γ−1) that keeps Θ of order 1.
Where training is measured, it is under way and not over, and widths are 32 or more.

Statement
---------
C_{D,d} is n^((γ−½)(D+d−1)) times what it is at γ = ½. In the mean field, γ = 1: C_{0,odd} and C_{1,d} are of order 1,
C_{0,even} of order n^−½, and for D ≥ 2 ‖C_{D,d}‖ of order n^(D/2−1), with logarithms. m-weak correlation needs C_{0,d} =
O(1/m) for d ≥ 2 and C_{D,d} = O(1/√m) for D, d ≥ 1; what C_{0,d} and C_{1,d} allow is m = n^(2−2γ), by C_{1,1} and C_{0,3}.
So at γ = 1 no m → ∞ will do, and training at a fixed scale of the output learns features: after a fixed number of steps
F − F_lin at the inputs of training is of order 1, and of order n^−(2−2γ) for smaller γ (measured). In the first steps
C_{0,2}, whose power of n is smaller by γ − ½ only, is larger at all but huge widths; and where labels are reached, no
distance is left.

Proof idea
----------
The output enters C_{D,d} 1 + d times, and η D/2 + d times: α^(1−D−d) with α = n^−(γ−½).

Source
------
Ours; the definition of weak correlation is that of Shem-Ur and Oz (2024).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
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
from ..theory.width_fields import WidthFields
from ._ensembles import RESOLUTION, TRAIN, estimate
from ._width_exponents import claims, measured, requirements

if TYPE_CHECKING:
    from collections.abc import Callable

    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.width_exponents import Exponent

FAMILY = "correlations"
IDS = ("WC17",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "the definition of weak correlation is the paper's")

POWER = "p in m = n^p"
POWER_RESOLUTION = 0.2  # twice that of an exponent: 1/√m is what is compared with C_{1,d}
_NEEDED = ((0, 3), (1, 1))
TRAINED = ("tanh", "erf", "sin")  # odd, so that at orthogonal inputs Θ is a multiple of 1 but for fluctuations
FIRST, LAST = 10, 20  # steps at rate ½: of an exponential with e^(−Θs/8), Θ about 1
LEAST_WIDTH = 32


@dataclass(frozen=True)
class Instance(WidthFields):
    """A random hidden layer with output n^−γ; `orders` has to contain (0, 3) and (1, 1).

    Parameters
    ----------
    steps : int
        Of full-batch training with squared loss on four orthogonal inputs |x|² = d0 = 8 with labels ±1 and rate
        n^(2γ−1)/2, whose distance from the linearization is measured at all widths as well; 0 for none.
    """

    gamma: Fraction = Fraction(1)
    steps: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        if missing := [order for order in _NEEDED if order not in self.orders]:
            raise InputError(f"orders={self.orders!r}: {missing!r} bound m, and have to be among them")
        if self.is_standard:
            raise InputError(f"parametrization={self.parametrization!r}: the statement is for 'output' with a gamma")
        if self.steps < 0 or (self.steps and (self.activation not in TRAINED or self.kernel != 1)):
            raise InputError(
                f"steps={self.steps!r}, activation={self.activation!r}, kernel={self.kernel!s}: training is for kernel 1 and "
                f"one of {', '.join(TRAINED)}"
            )


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    is_between = Fraction(1, 2) < instance.gamma <= 1
    found = (*requirements(instance), Hypothesis("½ < γ ≤ 1", is_between, f"γ = {instance.gamma}"))
    return (*found, _under_way(instance)) if instance.steps else found


def _under_way(instance: Instance) -> Hypothesis:
    met = FIRST <= instance.steps <= LAST and instance.widths[0] >= LEAST_WIDTH
    how = f"{instance.steps} steps, of {FIRST} to {LAST}; widths from {instance.widths[0]} on, of {LEAST_WIDTH} or more"
    return Hypothesis("training is under way, and not over", met, how)


def predict(instance: Instance) -> Prediction:
    return _prediction(instance, lambda D, d: theory.width_exponents.one_hidden_exponent(D, d, gamma=instance.gamma))


def _prediction(instance: Instance, exponent: Callable[[int, int], Exponent]) -> Prediction:
    powers = {(D, d): exponent(D, d) for D, d in instance.orders if D < 2 and not instance.vanishes(D, d)}
    largest = theory.width_exponents.largest_weak_order(powers)
    found = claims(instance, exponent)
    if largest is not None:
        found = (*found, Claim(POWER, Relation.EQUAL, largest, POWER_RESOLUTION))
        if instance.steps:
            found = (*found, Claim(TRAIN, Relation.EQUAL, -largest, RESOLUTION))
    return Prediction(found)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Exponents of networks drawn at this γ, the largest p that those with D ≤ 1 allow, and that of training."""
    found = measured(instance, seed, device)
    if instance.steps:
        found = replace(found, estimates={**found.estimates, TRAIN: _trained(instance, seed, device)})
    bounds = []
    for quantity, one in found.estimates.items():
        for D, d in instance.orders:
            if quantity.startswith("exponent") and f"{{{D},{d}}}" in quantity and (d >= 2 or (D == 1 and d >= 1)):
                assert isinstance(one.value, float)
                factor = 2 if D == 1 else 1
                bounds.append(numerics.frequencies.Interval(-factor * one.value, factor * one.error))
    if not bounds:
        return found
    least = numerics.frequencies.least_interval(bounds)
    power = Estimate(least.value, least.error, "from the exponents above")
    return replace(found, estimates={**found.estimates, POWER: power})


def _trained(instance: Instance, seed: int, device: str) -> Estimate:
    def architecture(n: int) -> numerics.mlps.Architecture:
        return numerics.mlps.Architecture(8, n, activation=instance.activation, gamma=float(instance.gamma))

    def schedule(n: int) -> numerics.linearized_training.Schedule:
        return numerics.linearized_training.Schedule(architecture(n).rate_factor / 2, instance.steps)

    exponents = numerics.linearization_exponents
    ensemble = exponents.Ensemble(architecture, instance.widths, instance.networks, orthogonal=True)
    return estimate(exponents.deviation_laws(ensemble, schedule, seed, device=device)["train"])


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import activations

    def layer(phi: Fields, gamma: str) -> Fields:
        return {**phi, "gamma": gamma, "orders": [[0, 3], [1, 1]], "widths": _WIDTHS}

    return st.builds(layer, activations(["tanh", "erf", "sin"], polynomials=False), st.sampled_from(["1", "3/4"]))


def _trainings() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.builds(lambda phi: {**_TRAINING, "activation": phi}, st.sampled_from(["tanh", "erf", "sin"]))


_WIDTHS = [32, 64, 128, 256, 512, 1024]


# False variants.


def _whatever_the_output(instance: Instance) -> Prediction:
    """The exponents of γ = ½ for every γ."""
    return _prediction(instance, theory.width_exponents.smooth_exponent)


def _counts_all_indices(instance: Instance) -> Prediction:
    """(γ − ½)(D + d) in place of (γ − ½)(D + d − 1)."""

    def exponent(D: int, d: int) -> Exponent:
        by = (instance.gamma - Fraction(1, 2)) * (D + d)
        return theory.width_exponents.smooth_exponent(D, d).shifted(by, "one index too many")

    return _prediction(instance, exponent)


_MEAN_FIELD = {"activation": "tanh", "orders": [[0, 2], [0, 3], [1, 1]], "widths": _WIDTHS}

_TRAINING = {
    "activation": "tanh",
    "orders": [[0, 3], [1, 1]],
    "widths": [32, 45, 64, 91, 128, 181, 256, 362, 512],
    "networks": 200,
    "steps": 16,
}

VARIANTS = {
    "deviation_falls_with_the_width": Variant(
        "whatever γ, training approaches its linearization like 1/n",
        predict=lambda instance: Prediction(
            (*predict(instance).claims[:-1], Claim(TRAIN, Relation.AT_MOST, -1, RESOLUTION))
        ),
        instances=lambda: _trainings(),
        examples=(_TRAINING,),
    ),
    "wide_is_weakly_correlated": Variant(
        "a wide layer is n-weakly correlated whatever γ", predict=_whatever_the_output, examples=(_MEAN_FIELD,)
    ),
    "width_counts_all_indices": Variant(
        "C_{D,d} is n^((γ−½)(D+d)) times what it is at γ = ½", predict=_counts_all_indices, examples=(_MEAN_FIELD,)
    ),
}
