"""Wide networks of linear maps and an analytic activation are n-weakly correlated, and n^(2/3)-power weakly.

Hypotheses
----------
NTK parametrization, fixed depth and orders, an analytic activation of moderate growth, output weights symmetric about 0. (One
hidden layer is proved; deeper ones by tensor programs, as the paper does.)

Statement
---------
With v = ∇F(x): C_{0,d} = O(1/n) for d ≥ 2 and C_{D,d} = O(n^−½) for D, d ≥ 1, here D = 1. For an activation whose third
correlation is of order 1/n, the largest m with C_{0,d} = O(m^(−d/2)) is n^(2/3), forced by d = 3.

Proof idea
----------
C_{0,d} is of order n^(−⌊d/2⌋): clusters of an even number of derivative tensors are of the order of the product of
their pairs, and odd ones keep a mean. So m ≤ n^min 2⌊d/2⌋/d, which is smallest at d = 3.

Source
------
Shem-Ur and Oz (2024) for the statement; the orders n^(−⌊d/2⌋) and the power 2/3 are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
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
from ..numerics.ensemble_fields import EnsembleFields
from ._ensembles import RESOLUTION, SMALL, analytic, architecture, built, ensembles, estimate

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..numerics.power_laws import PowerLaw
    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC13",)
SOURCE = Source(("shemur2024",), Provenance.PAPER, "in operational form; orders measured, the power 2/3 is ours")

POWER_RESOLUTION = 0.15  # of the power 2/3: 2/3 of that of the exponent of C_{0,3}, whose lack of fit is larger
POWER = "largest μ with C_{0,d} = O(n^(−μd/2))"
_POLYNOMIAL = ("identity", "square", "cubic")


@dataclass(frozen=True)
class Instance(EnsembleFields):
    """An ensemble at initialization, with a random input on the sphere |x|² = d0.

    Parameters
    ----------
    order : int
        Largest d of C_{0,d}; of C_{1,d} one less.
    """

    order: int = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.order <= 6:
            raise InputError(f"order={self.order!r}: 2 to 6 are measured")

    @property
    def last_order(self) -> int:
        """The last d for which C_{0,d} does not vanish: L + 1 for a linear activation."""
        return min(self.order, self.hidden + 1) if self.activation == "identity" else self.order

    @property
    def is_generic(self) -> bool:
        """Whether the order of the third correlation is 1/n."""
        return self.activation not in _POLYNOMIAL and self.last_order >= 3


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    is_ntk = instance.parametrization == "ntk"
    return (analytic(instance), Hypothesis("NTK parametrization", is_ntk, built(instance)))


def _quantity(D: int, d: int) -> str:
    return f"exponent of C_{{{D},{d}}}"


def predict(instance: Instance) -> Prediction:
    return _claims(instance)


def _claims(instance: Instance, power: Fraction | None = None, third: Claim | None = None) -> Prediction:
    last = instance.last_order
    claims = [Claim(_quantity(0, d), Relation.AT_MOST, -1, RESOLUTION) for d in range(2, last + 1)]
    claims += [Claim(_quantity(1, d), Relation.AT_MOST, Fraction(-1, 2), RESOLUTION) for d in range(1, last)]
    if third is not None:
        claims = [third if claim.quantity == third.quantity else claim for claim in claims]
    if instance.is_generic:
        orders = {d: Fraction(-(d // 2)) for d in range(2, last + 1)}
        value = theory.orders.largest_power(orders) if power is None else power
        claims.append(Claim(POWER, Relation.EQUAL, value, POWER_RESOLUTION))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Correlations of all networks by Taylor mode, and the exponents of their root mean squares."""
    laws = numerics.correlation_exponents.correlation_laws(
        partial(architecture, instance),
        instance.widths,
        instance.networks,
        instance.last_order,
        seed,
        rate=float(instance.rate),
        device=device,
    )
    estimates = {_quantity(D, d): estimate(law) for (D, d), law in laws.items()}
    if instance.is_generic:
        least = numerics.frequencies.least_interval([_power(law, d) for (D, d), law in laws.items() if D == 0])
        estimates[POWER] = Estimate(least.value, least.error, "the smallest of −2/d times the exponents")
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=1e-2)


def _power(law: PowerLaw, d: int) -> numerics.frequencies.Interval:
    """Return the largest μ that C_{0,d} allows."""
    found = numerics.power_laws.exponent_interval(law, POWER_RESOLUTION * d / 2)
    return numerics.frequencies.Interval(-2 * found.value / d, 2 * found.error / d)


def instances() -> SearchStrategy[Fields]:
    return ensembles({"activation": ["tanh", "sin", "erf", "softplus"]}, order=3)


_SMALL = {**SMALL, "order": 3}
_LINEAR = {**SMALL, "activation": "identity", "hidden": 2, "networks": 400, "order": 3}


def _third(exponent: int) -> Callable[[Instance], Prediction]:
    return lambda instance: _claims(instance, third=Claim(_quantity(0, 3), Relation.EQUAL, exponent, RESOLUTION))


VARIANTS = {
    "power_three_halves": Variant(
        "m = n^(3/2) for power correlations",
        predict=lambda instance: _claims(instance, power=Fraction(3, 2)),
        examples=(_SMALL,),
    ),
    "every_third_correlation_is_one_over_n": Variant(
        "C_{0,3} is of order 1/n for linear activations too",
        predict=_third(-1),
        instances=lambda: ensembles({}, **_LINEAR),
        examples=(_LINEAR,),
    ),
    "any_parametrization": Variant(
        "the same orders in the mean-field parametrization",
        hypotheses=lambda instance: hypotheses(instance)[:1],
        instances=lambda: ensembles({"parametrization": ["mean_field"]}, order=3),
        examples=({**_SMALL, "parametrization": "mean_field"},),
    ),
}
