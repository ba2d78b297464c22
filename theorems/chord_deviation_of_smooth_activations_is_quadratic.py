"""For a C² activation the chord deviation is −½λ(1 − λ)η''(c)(t¹ − t⁰)² to leading order: quadratic in the trained parts.

Hypotheses
----------
The activation is C² with a Lipschitz second derivative; η''(c) ≠ 0 for some neuron whose ends differ.

Statement
---------
For pre-activations c + t⁰, c + t¹ with fixed part c, |ξ(λ) + ½λ(1 − λ)η''(c)(t¹ − t⁰)²| ≤ ½λ(1 − λ)(t¹ − t⁰)² L max |t^q|,
where L is the Lipschitz constant of η'', and |ξ(λ)| ≤ ½λ(1 − λ)(t¹ − t⁰)² max |η''|. So ξ is of order β² in the size of the
trained parts, and not β^{3/2} as for ReLU.

Proof idea
----------
The error of linear interpolation is −½λ(1 − λ)η''(ζ)(z₁ − z₀)² for some ζ between z₀ and z₁, at most max |t^q| away from c.

Source
------
Ours; the chord deviation is defined by Bürgin, Herbst, Lin, Jegelka (2026), whose experiments use GELU.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("F2d",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

ORDER_RESOLUTION = 0.05  # extrapolated slopes are off by less than 0.001 where the second derivative is of order 1
RESOLUTION = 1e-12  # times the size of pre-activations: rounding only


@dataclass(frozen=True)
class Instance:
    """Neurons at the two ends of a segment.

    Parameters
    ----------
    fixed, first, second : tuples of numbers
        Of each neuron (or data point) the fixed part c of the pre-activation, and its trained parts t⁰ and t¹.
    weight : number
        λ in (0, 1).
    activation : str
        The statement is not for ReLU.
    """

    fixed: tuple[Fraction, ...]
    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]
    weight: Fraction = Fraction(1, 2)
    activation: Literal["gelu", "tanh", "softplus", "sin", "relu"] = "gelu"

    def __post_init__(self) -> None:
        if not self.fixed or not len(self.fixed) == len(self.first) == len(self.second):
            raise InputError(
                f"fixed: {len(self.fixed)}, first: {len(self.first)} and second: {len(self.second)} numbers; "
                "as many of each are needed, at least one"
            )
        if not 0 < self.weight < 1:
            raise InputError(f"weight={self.weight!r}: a number in (0, 1) is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    is_smooth = instance.activation in theory.smooth_chords.SMOOTH
    bends = is_smooth and any(
        theory.smooth_chords.curvature(instance.activation, c) != 0 and t0 != t1
        for c, t0, t1 in zip(instance.fixed, instance.first, instance.second, strict=True)
    )
    return (
        Hypothesis(
            "the activation is C² with a Lipschitz second derivative", is_smooth, f"activation = {instance.activation}"
        ),
        Hypothesis("η''(c) ≠ 0 where the ends differ, for some neuron", bends, "η'' to 30 digits"),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance)


def _claims(instance: Instance, *, factor: int = 1, order: float = 2) -> Prediction:
    name, weight = instance.activation, instance.weight
    chords = theory.smooth_chords
    is_smooth = name in chords.SMOOTH
    half = float(weight * (1 - weight)) / 2
    claims = []
    for i, (c, t0, t1) in enumerate(zip(instance.fixed, instance.first, instance.second, strict=True)):
        slack = RESOLUTION * (1 + float(abs(c) + abs(t0) + abs(t1)))
        leading = rest = bound = 0.0
        if is_smooth:
            square, reach = float((t1 - t0) ** 2), float(max(abs(t0), abs(t1)))
            leading = factor * chords.leading_deviation(name, c, t0, t1, weight)
            rest, bound = (
                half * square * chords.curvature_slope(name) * reach,
                half * square * chords.curvature_bound(name),
            )
        claims.append(Claim(f"deviation[{i}]", Relation.EQUAL, leading, rest + slack))
        claims.append(Claim(f"|deviation[{i}]|", Relation.AT_MOST, factor * bound, slack))
    claims.append(Claim("order in the trained parts", Relation.EQUAL, order, ORDER_RESOLUTION))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The deviations in float64, and their decay as the trained parts are scaled down."""
    c, t0, t1 = (np.array([float(x) for x in row]) for row in (instance.fixed, instance.first, instance.second))
    xi = numerics.chords.deviation(c + t0, c + t1, float(instance.weight), instance.activation)
    order, error = numerics.chords.deviation_order(c, t0, t1, float(instance.weight), instance.activation)
    estimates = {"order in the trained parts": Estimate(order, error, "extrapolated slopes")}
    for i, value in enumerate(xi):
        rounding = 1e-15 * (1 + abs(c[i]) + abs(t0[i]) + abs(t1[i]))
        estimates[f"deviation[{i}]"] = Estimate(float(value), rounding, "float64")
        estimates[f"|deviation[{i}]|"] = Estimate(abs(float(value)), rounding, "float64")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    # Second derivatives are of order 1 there, for all of these activations.
    fixed: SearchStrategy[int | str] = st.sampled_from([1, -1, "1/2", "3/4"])
    shift: SearchStrategy[int | str] = st.sampled_from([0, "1/10", "-1/10", "1/4", "-1/2", 1, -2])
    activation = st.sampled_from(["gelu", "tanh", "softplus", "sin"])
    return _neurons(fixed, shift, activation)


def _neurons(
    fixed: SearchStrategy[int | str], shift: SearchStrategy[int | str], activation: SearchStrategy[str]
) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(rows: list[tuple[int | str, int | str, int | str]], weight: str, name: str) -> Fields:
        # The ends of the first neuron differ.
        rows = [(rows[0][0], "1/5", rows[0][2]), *rows[1:]]
        c, t0, t1 = (list(column) for column in zip(*rows, strict=True))
        return {"fixed": c, "first": t0, "second": t1, "weight": weight, "activation": name}

    rows = st.lists(st.tuples(fixed, shift, shift), min_size=1, max_size=3)
    return st.builds(fields, rows, st.sampled_from(["1/2", "1/4", "7/8"]), activation)


def _kinks() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    shift = st.sampled_from([1, -1, 2, -2])
    return _neurons(st.sampled_from([0, 1]), shift, st.just("relu"))


_SMALL = {"fixed": ["1/2"], "first": ["1/10"], "second": ["-1/10"], "activation": "gelu"}


VARIANTS = {
    "without_half": Variant("−λ(1 − λ)η''(c)(t¹ − t⁰)²", predict=lambda x: _claims(x, factor=2), examples=(_SMALL,)),
    "order_three_halves": Variant(
        "order β^{3/2} as for ReLU", predict=lambda x: _claims(x, order=1.5), examples=(_SMALL,)
    ),
    "relu_too": Variant(
        "order β² for ReLU, with η'' = 0",
        hypotheses=lambda instance: (),
        instances=_kinks,
        examples=({**_SMALL, "fixed": [0], "activation": "relu"},),
    ),
}
