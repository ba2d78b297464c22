"""Range laws survive every method that is linear in the gradient; other laws drift at the order of the method.

Hypotheses
----------
The gradient in a block P is Z(P) = PC(P), as for a conserved range, with the group average exact. The method adds up
gradients with real weights: gradient descent, heavy ball from rest, explicit Runge–Kutta, linear multistep. Adam
divides entry by entry.

Statement
---------
Such a method gives P_{j+1} = P_j X_j, so that the range of P moves by rounding only, at any step size. A law that is
not of this kind, here the balances UᵀU − VᵀV, drifts over a fixed time as η^p, with p the order of the method: 1 for
gradient descent and heavy ball, 2 for Adams–Bashforth, 4 for Runge–Kutta. A function that is no law drifts by the
same amount at every η.

Proof idea
----------
Stages are combinations of P_j times matrices, by induction. For other laws a method of order p follows the flow up to
O(η^p).

Source
------
Ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import numerics
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..numerics.integrators import Field, Vector
from ..theory.model_fields import GroupFields
from ._laws_of_models import float_elements

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL18",)
SOURCE = Source(("galley2026",), Provenance.OURS, "their conserved ranges; discretization is ours")

RESOLUTION = 1e-10  # rounding of a few hundred steps; a method that breaks the law moves the range by more than 1e-3
SLOPE = 0.15  # how far the order between the two finest steps may be from its limit
TIME = 2
ORDERS = {"gd": 1, "heavy_ball": 1, "ab2": 2, "rk4": 4}


@dataclass(frozen=True)
class Instance:
    """A two-layer linear net with r hidden units and one output under a permutation group, a method, and its coarsest step.

    Parameters
    ----------
    group : GroupFields
        Such as ``S5``.
    hidden : int
        r, less than the number of inputs minus one.
    method : str
        A method by name.
    step : Fraction
        The coarsest; it is halved three times.
    """

    group: GroupFields
    hidden: int = 2
    method: Literal["gd", "heavy_ball", "ab2", "rk4", "adam"] = "gd"
    step: Fraction = Fraction(1, 20)

    def __post_init__(self) -> None:
        if self.group.action(1).lie or self.group.copies != 1 or self.group.trivial:
            raise InputError("group: a finite group on one copy of its natural representation is needed")
        if not 1 <= self.hidden <= 8 or not Fraction(1, 1000) <= self.step <= Fraction(1, 5):
            raise InputError(
                f"hidden={self.hidden!r}, step={self.step!r}: up to 8 units and steps from 1/1000 to 1/5 are needed"
            )


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_proper_range(instance), Hypothesis("linear in the gradient", instance.method in ORDERS, instance.method))


def predict(instance: Instance) -> Prediction:
    return _claims(instance, ORDERS.get(instance.method, 0))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Train with the step halved three times, on data averaged exactly."""
    d, r = instance.group.action(1).inputs, instance.hidden
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((12, d)), generator.standard_normal((12, 1))
    start = 0.6 * generator.standard_normal(r + r * d)
    moments = numerics.averaged_training.averaged_moments(x, y, float_elements(instance.group.action(1)))
    field = numerics.averaged_training.deep_linear_field(moments, [(1, r), (r, d)])
    steps = [float(instance.step) / 2**i for i in range(4)]
    ends = [_run(instance.method, field, start, step) for step in steps]

    def block(theta: Vector) -> Vector:
        p: Vector = theta[r:].reshape(r, d).T
        centered: Vector = p - p.mean(axis=0, keepdims=True)
        return centered

    drift = max(numerics.ranges.range_drift(block(start), block(end)) for end in ends)
    error = max(numerics.ranges.range_tolerance(block(start), block(end)) for end in ends)
    balances = [float(np.abs(_balance(end, r, d) - _balance(start, r, d)).max()) for end in ends]
    if balances[-1] < 1e-11:
        raise Undecided(
            Reason.PRECISION, f"the balance drifts by {balances[-1]:.1e}, which is rounding; take larger steps"
        )
    order = numerics.integrators.slopes(steps, balances)[-1]
    return Measurement(
        {
            "range_drift": Estimate(drift, error, instance.method),
            "order": Estimate(order, how=f"drifts {', '.join(f'{b:.1e}' for b in balances)}"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.builds(
        lambda n, method: {"group": {"name": f"S{n}"}, "hidden": n - 2, "method": method},
        st.integers(3, 4),
        st.sampled_from(["gd", "ab2"]),
    )


def _with_method(method: str, step: str) -> Callable[[], SearchStrategy[Fields]]:
    def strategy() -> SearchStrategy[Fields]:
        return instances().map(lambda fields: {**fields, "method": method, "step": step})

    return strategy


def _run(method: str, field: Field, start: Vector, step: float) -> Vector:
    return numerics.integrators.METHODS[method](field, start, step, round(TIME / step))


def _balance(theta: Vector, r: int, d: int) -> Vector:
    a, w = theta[:r], theta[r:].reshape(r, d)
    return np.outer(a, a) - w @ w.T


def _proper_range(instance: Instance) -> tuple[Hypothesis, ...]:
    d = instance.group.action(1).inputs
    permutes = instance.group.name is not None and instance.group.name[0] == "S" and instance.group.name[1:].isdigit()
    return (
        Hypothesis("permutations of the inputs", permutes, f"group = {instance.group.name}"),
        Hypothesis("fewer columns than dimensions", instance.hidden < d - 1, f"r = {instance.hidden}, d − 1 = {d - 1}"),
    )


def _claims(instance: Instance, order: int) -> Prediction:
    return Prediction(
        (
            Claim("range_drift", Relation.AT_MOST, 0, RESOLUTION),
            Claim("order", Relation.EQUAL, order, SLOPE),
        )
    )


VARIANTS = {
    "adam_too": Variant(
        "any optimizer conserves the range",
        hypotheses=_proper_range,
        instances=_with_method("adam", "1/20"),
        examples=({"group": {"name": "S5"}, "method": "adam"},),
    ),
    "momentum_is_second_order": Variant(
        "heavy ball is of order two",
        predict=lambda instance: _claims(instance, 2 if instance.method == "heavy_ball" else ORDERS[instance.method]),
        instances=_with_method("heavy_ball", "1/80"),
        examples=({"group": {"name": "S5"}, "method": "heavy_ball", "step": "1/80"},),
    ),
    "all_laws_exact": Variant(
        "the balances do not depend on the step either, as under no method at all",
        predict=lambda instance: _claims(instance, 0),
        examples=({"group": {"name": "S5"}},),
    ),
}
