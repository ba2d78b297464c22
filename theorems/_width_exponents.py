"""What the statements on exponents in the width share: leading constants, claims by order, slopes over random networks."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from ..core import Claim, Estimate, Evidence, Hypothesis, Measurement, MeasurementKind, Relation
from ..theory.activation_fields import KINKED
from ..theory.width_fields import WidthFields

if TYPE_CHECKING:
    from ..theory.width_exponents import Exponent

RESOLUTION = 0.1
MEDIAN_RESOLUTION = (
    0.1  # times d + 1: the norm is of degree d + 1 in the output weight, so its logarithm spreads as much
)


def requirements(fields: WidthFields) -> tuple[Hypothesis, ...]:
    """Return the hypotheses: analytic, symmetric and independent neurons, and leading constants that are not 0."""
    analytic = Hypothesis("φ is analytic", fields.activation not in KINKED, fields.activation)
    symmetric = Hypothesis(
        "output weights are symmetric", fields.output_mean == 0, f"mean {fields.output_mean}, normal"
    )
    independent = Hypothesis("neurons are independent", not fields.paired, "pairs" if fields.paired else "drawn so")
    found = (analytic, symmetric, independent)
    return (*found, _constants_differ_from_zero(fields)) if analytic.met else found


def _constants_differ_from_zero(fields: WidthFields) -> Hypothesis:
    """Evaluate the constant that leads, for every order with D ≤ 1 that does not vanish identically."""
    constants, zeros = theory.gaussian_constants, []
    for D, d in fields.orders:
        if D >= 2 or fields.vanishes(D, d):
            continue
        constant = constants.slope_square(d) if D else constants.mean(d) if d % 2 else constants.variance(d)
        leading = constant[-1:] if fields.is_standard and d else constant
        if not constants.expectation(fields.activation, fields.coefficients, leading, fields.kernel).is_nonzero:
            zeros.append(f"({D}, {d})")
    how = f"zero, or too close to tell, for {', '.join(zeros)}" if zeros else "exact, or quadrature with an error bound"
    return Hypothesis("the leading constants are not 0", not zeros, how)


def claims(fields: WidthFields, exponent: Callable[[int, int], Exponent]) -> tuple[Claim, ...]:
    """Return what `exponent` implies for every order: zeros, slopes for D ≤ 1, medians for D ≥ 2."""
    found = []
    for D, d in fields.orders:
        power = exponent(D, d).value
        if fields.vanishes(D, d) or power is None:
            found.append(Claim(_quantity("largest", D, d), Relation.EQUAL, 0))
        elif D < 2:
            found.append(Claim(_quantity("exponent", D, d), Relation.EQUAL, power, RESOLUTION))
        else:
            for n in (fields.widths[0], fields.widths[-1]):
                law = theory.maximum_law.maximum_quantile(
                    fields.activation, fields.coefficients, D, d, fields.kernel, n
                )
                value = math.log(law) + float(power) * math.log(n)
                found.append(Claim(_quantity("median", D, d, n), Relation.EQUAL, value, (d + 1) * MEDIAN_RESOLUTION))
    return tuple(found)


def _quantity(kind: str, D: int, d: int, n: int = 0) -> str:
    name = f"C_{{{D},{d}}}" if D == 0 else f"‖C_{{{D},{d}}}‖"
    return {"exponent": f"exponent of {name}", "largest": f"largest {name}"}.get(
        kind, f"log median of {name} at n = {n}"
    )


def measured(fields: WidthFields, seed: int, device: str) -> Measurement:
    """Draw networks at every width: slopes of root mean squares, and medians where the norm is a maximum."""
    scaling = numerics.one_hidden.Scaling.of_output(float(fields.gamma))
    if fields.is_standard:
        scaling = numerics.one_hidden.SCALINGS["standard"]
    samples = numerics.one_hidden.correlation_samples(
        numerics.activations.Activation(fields.activation, tuple(map(float, fields.coefficients))),
        fields.widths,
        fields.orders,
        np.full((2, 2), float(fields.kernel)),
        np.ones(1),
        networks=fields.networks,
        seed=seed,
        scaling=scaling,
        output_mean=float(fields.output_mean),
        paired=fields.paired,
        device=device,
    )
    estimates = {}
    for D, d in fields.orders:
        values = samples[D, d]
        if fields.vanishes(D, d):
            estimates[_quantity("largest", D, d)] = Estimate(max(float(np.abs(v).max()) for v in values), 0.0)
        elif D < 2:
            law = numerics.power_laws.power_law(fields.widths, values, seed=seed)
            interval = numerics.power_laws.exponent_interval(law, RESOLUTION)
            how = f"root mean squares, standard error {law.standard_error:.2g}, lack of fit {law.lack_of_fit:.2g}"
            estimates[_quantity("exponent", D, d)] = Estimate(interval.value, interval.error, how)
        else:
            for n, column in ((fields.widths[0], values[0]), (fields.widths[-1], values[-1])):
                interval = numerics.separation.median_interval(column)
                estimates[_quantity("median", D, d, n)] = Estimate(interval.value, interval.error, "order statistics")
    return Measurement(estimates, MeasurementKind.STATISTICAL, Evidence.STATISTICAL, false_alarm_rate=1e-2)
