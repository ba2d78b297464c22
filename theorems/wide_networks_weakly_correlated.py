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
from ..numerics.ensemble_fields import ANALYTIC, EnsembleFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC13",)
SOURCE = Source(("shemur2024",), Provenance.PAPER, "in operational form; orders measured, the power 2/3 is ours")

RESOLUTION = 0.2  # of an exponent over a factor of 32 in the width; orders differ by 1/2
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
    return (
        Hypothesis("the activation is analytic", instance.activation in ANALYTIC, f"φ = {instance.activation}"),
        _ntk(instance),
    )


def _ntk(instance: Instance) -> Hypothesis:
    how = f"parametrization = {instance.parametrization}"
    return Hypothesis("NTK parametrization", instance.parametrization == "ntk", how)


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
        lambda n: numerics.mlps.Architecture(
            instance.inputs,
            n,
            instance.hidden,
            activation=instance.activation,
            parametrization=instance.parametrization,
        ),
        instance.widths,
        instance.networks,
        instance.last_order,
        seed,
        rate=float(instance.rate),
        device=device,
    )
    estimates = {}
    for (D, d), law in laws.items():
        found = numerics.power_laws.exponent_interval(law, RESOLUTION, both_fits=False)
        estimates[_quantity(D, d)] = Estimate(found.value, found.error, "bootstrap over networks")
    if instance.is_generic:
        powers = [(-2 * law.exponent / d, 2 * law.half_width / d) for (D, d), law in laws.items() if D == 0]
        value, error = min(powers)
        estimates[POWER] = Estimate(value, error, "the smallest of −2/d times the exponents")
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=1e-2)


def instances() -> SearchStrategy[Fields]:
    return _ensembles({"activation": ["tanh", "sin", "erf", "softplus"]})


def _ensembles(choices: dict[str, list[str]], hidden: int = 1) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    fixed = {
        "widths": st.just([32, 64, 128, 256, 512, 1024] if hidden == 1 else [16, 24, 32, 48, 64, 96]),
        "networks": st.just(200),
        "order": st.just(3),
        "hidden": st.just(hidden),
    }
    return st.fixed_dictionaries({**fixed, **{name: st.sampled_from(values) for name, values in choices.items()}})


_SMALL = {"widths": [32, 64, 128, 256, 512, 1024], "networks": 200, "order": 3}


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
        instances=lambda: _ensembles({"activation": ["identity"]}, hidden=2),
        examples=({"activation": "identity", "hidden": 2, "widths": [16, 24, 32, 48, 64, 96], "networks": 200},),
    ),
    "any_parametrization": Variant(
        "the same orders in the mean-field parametrization",
        hypotheses=lambda instance: hypotheses(instance)[:1],
        instances=lambda: _ensembles({"parametrization": ["mean_field"]}),
        examples=({**_SMALL, "parametrization": "mean_field"},),
    ),
}
