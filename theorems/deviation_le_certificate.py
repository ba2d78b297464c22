"""Training deviates from its linearization by at most a sum of correlations at the start.

Hypotheses
----------
The model is a polynomial in its parameters (or analytic, with series that converge along the whole course).

Statement
---------
With e_{D,d} ≥ ‖C_{D,d}(θ_0)‖ over the inputs in use, c_s the loss derivative of step s and |p_s| the sum of the absolute
accumulated ones: q_0 = (Jq)_0 = 0, q_{s+1} = q_s + |c_s| g_s, (Jq)_{s+1} = (Jq)_s + |c_s| h_s, where, over D ≥ 1 and
(D, d) ≠ (1, 0), g = Σ D e_{D,d} |p|^d q^(D−1) and h = Σ (d+1) e_{D−1,d+1} |p|^d q^(D−1). Then ‖F(θ_s) − F_0 + Θ_0 p_s‖ is at
most R_s = Σ_{d≥2} e_{0,d} |p_s|^d + (Jq)_s + Σ e_{D,d} |p_s|^d q_s^D, and ‖Θ_s − Θ_0‖ ≤ 2h_s + g_s².

Proof idea
----------
Taylor's formula for F and √η∇F at θ_0 + √η(−Jp + q), regrouped by how often Jp and q occur; q_{s+1} − q_s is
−(√η∇F(θ_s) − J)c_s; contracting a free index of C_{D,d} with J leaves C_{D−1,d+1}; and Θ = (J + g)ᵀ(J + g).

Source
------
Shem-Ur and Oz (2024) in the form of orders; constants, recursion and proof are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Literal

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
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
from ..theory.polynomial_fields import PolynomialFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.deviations import Bound, Step

FAMILY = "correlations"
IDS = ("WC08",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "orders in the paper; the certificate is ours")

RESOLUTION = 1e-9  # of the bound, which may be attained: rounding only
DEVIATION, DRIFT = "deviation from linear training", "drift of the kernel"
_MOST_STEPS = 8
_MOST_DIGITS = 4000  # of the exact parameters, which grow by a power of the degree in each step


@dataclass(frozen=True)
class Instance(PolynomialFields):
    """A polynomial model and its training.

    Parameters
    ----------
    loss : str
        ``squared``, (F − y)²/2; ``linear``, y F: a constant loss derivative y.
    targets : tuple of numbers
        y of the inputs of training, which come first and are taken in turn, one in each step.
    steps : int
        Number of steps.
    """

    targets: tuple[Fraction, ...] = ()
    loss: Literal["squared", "linear"] = "squared"
    steps: int = 2

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= len(self.targets) <= len(self.functions):
            raise InputError(
                f"targets: {len(self.targets)}; 1 to {len(self.functions)} are needed, one for each trained input"
            )
        if not 1 <= self.steps <= _MOST_STEPS:
            raise InputError(f"steps={self.steps!r}: 1 to {_MOST_STEPS} are followed exactly")
        growth = max(self.degree - 1, 1) ** self.steps * max(1, self.degree)
        if growth * 20 > _MOST_DIGITS:
            raise InputError(
                f"steps={self.steps!r}: at degree {self.degree} the exact parameters become too long; take fewer"
            )


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    changing = instance.degree >= 1
    return (Hypothesis("the model depends on its parameters", changing, f"degree {instance.degree}"),)


def _course(instance: Instance) -> tuple[list[Step], list[Bound]]:
    y = instance.targets

    def derivative(i: int, output: Fraction) -> Fraction:
        return output - y[i] if instance.loss == "squared" else y[i]

    engine = theory.deviations
    course = engine.descent(instance.polynomials, instance.theta, instance.rate, instance.steps, derivative, len(y))
    norms = engine.sizes(instance.polynomials, instance.theta, instance.rate)
    return course, engine.certificate(norms, course, instance.rate)


Part = Callable[["Bound"], Fraction]


def _whole(bound: Bound) -> Fraction:
    return bound.deviation


def _whole_drift(bound: Bound) -> Fraction:
    return bound.kernel_drift


def derive(instance: Instance) -> Derivation:
    """Both inequalities after every step, in exact arithmetic."""
    return _derivation(instance, _whole, _whole_drift)


def _derivation(instance: Instance, deviation: Part, drift: Part) -> Derivation:
    course, bounds = _course(instance)
    broken = []
    for s, (step, bound) in enumerate(zip(course, bounds, strict=True), 1):
        for found, allowed, what in (
            (step.deviation, deviation(bound), DEVIATION),
            (step.kernel_drift, drift(bound), DRIFT),
        ):
            if found > allowed:
                broken.append(f"{what} after step {s} exceeds its bound by {float(found - allowed):.6g}")
    return Derivation(
        "the bounds hold after every step, exactly",
        "; ".join(broken) or "0",
        r"\|F(\theta_s) - F_0 + \Theta_0 p_s\| \le R_s, \quad \|\Theta_s - \Theta_0\| \le 2h_s + g_s^2",
        settles=(DEVIATION, DRIFT),
    )


def predict(instance: Instance) -> Prediction:
    return _prediction(instance, _whole, _whole_drift)


def _prediction(instance: Instance, deviation: Part, drift: Part) -> Prediction:
    _, bounds = _course(instance)
    claims = []
    for what, part in ((DEVIATION, deviation), (DRIFT, drift)):
        values = tuple(float(part(bound)) for bound in bounds)
        claims.append(Claim(what, Relation.AT_MOST, values, RESOLUTION * (1 + max(values))))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Descent in floating point, with gradients by automatic differentiation. Nothing is random."""
    y = [float(target) for target in instance.targets]

    def derivative(i: int, output: float) -> float:
        return output - y[i] if instance.loss == "squared" else y[i]

    start = numerics.polynomials.as_vector(instance.theta)
    deviations, drifts, rounding = numerics.deviation_bounds.polynomial_course(
        instance.terms, start, float(instance.rate), instance.steps, derivative, len(y)
    )
    return Measurement(
        {
            DEVIATION: Estimate(tuple(deviations), rounding, "descent in floating point"),
            DRIFT: Estimate(tuple(drifts), rounding, "descent in floating point"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import polynomial_hypotheses, small_fractions

    @st.composite
    def trainings(draw: st.DrawFn) -> Fields:
        fields = draw(polynomial_hypotheses())
        return {
            **fields,
            "rate": draw(st.sampled_from([1, "1/2", "1/10"])),
            "targets": draw(st.lists(small_fractions(), min_size=1, max_size=len(fields["functions"]))),
            "loss": draw(st.sampled_from(["squared", "linear"])),
            "steps": draw(st.integers(1, 3)),
        }

    return trainings()


# False variants.


def _variant(change: str, example: dict[str, Any], deviation: Part = _whole, drift: Part = _whole_drift) -> Variant:
    return Variant(
        change,
        predict=lambda instance: _prediction(instance, deviation, drift),
        derive=lambda instance: _derivation(instance, deviation, drift),
        examples=(example,),
    )


# The bound is attained: 0.060804 after two steps.
_ATTAINED = {
    "parameters": ["t"],
    "functions": ["t + t^2/100"],
    "theta": [0],
    "rate": 1,
    "targets": [-1],
    "loss": "linear",
}
# All C_{0,d} with d >= 2 vanish, and the deviation is 0, 1/4, 43/32.
_ONLY_MIXED = {
    "parameters": ["u", "v"],
    "functions": ["u + u*v"],
    "theta": [0, 0],
    "rate": 1,
    "targets": ["-1/2"],
    "loss": "linear",
    "steps": 3,
}

VARIANTS = {
    "correlations_without_free_index_suffice": _variant(
        "R is the sum of e_{0,d} |p|^d alone", _ONLY_MIXED, deviation=lambda bound: bound.series
    ),
    "without_Jq": _variant("R has no Jq", _ATTAINED, deviation=lambda bound: bound.series + bound.mixed),
    "kernel_to_first_order": _variant("the kernel drifts by at most 2h", _ATTAINED, drift=lambda bound: 2 * bound.h),
}

EXAMPLES = (_ATTAINED, _ONLY_MIXED)
