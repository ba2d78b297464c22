"""The linearized recursion in function space is gradient descent on the first-order Taylor model, for every loss.

Hypotheses
----------
The same rate and the same batches in the same order; F is differentiable at θ_0.

Statement
---------
F_lin(s+1) = F_lin(s) − Θ_0(·, x_s) 𝒞'(F_lin(s)(x_s), y_s), Θ_0 = η ∇F(θ_0)ᵀ∇F(θ_0), F_lin(0) = F(θ_0), is exactly
F(θ_0) + ∇F(θ_0)ᵀ(θ_s − θ_0) with θ_s trained by discrete descent on this model. If F is linear in θ, it is F(θ_s) itself.

Proof idea
----------
The gradient of the model is constant; multiply the update by ∇F(θ_0)ᵀ, and induct.

Source
------
Shem-Ur and Oz (2024); the exact identity is ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from .._checker_architectures import Malformed
from .._checker_polynomials import Polynomial
from .._checker_text import read_polynomial
from ..core import (
    Claim,
    Derivation,
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
from ..theory.polynomial_fields import PolynomialFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC03",)
SOURCE = Source(("shemur2024",), Provenance.PAPER, "the exact identity is ours")

RESOLUTION = 1e-10  # times the size of the functions and steps: rounding only
_MOST_BITS = 8000
LINEARIZED, TRAINED = "F_lin at all inputs", "F(θ_s) at all inputs"


@dataclass(frozen=True)
class Instance(PolynomialFields):
    """A hypothesis, labels, a loss and batches.

    Parameters
    ----------
    labels : tuple of numbers
        y for every input.
    batches : rows of int
        For every step the numbers of the inputs in its batch, over which the loss derivative is averaged.
    loss_derivative : str
        𝒞'(f, y), a polynomial in ``f`` and ``y``; ``f - y`` is that of half the squared error.
    """

    labels: tuple[Fraction, ...] = ()
    batches: tuple[tuple[int, ...], ...] = ()
    loss_derivative: str = "f - y"

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.labels) != len(self.functions):
            raise InputError(
                f"labels: {len(self.labels)} numbers; {len(self.functions)} are needed, one for each input"
            )
        if not self.batches or not all(self.batches):
            raise InputError("batches: at least one step with at least one input is needed")
        for i, batch in enumerate(self.batches):
            self.require_inputs(f"batches[{i}]", batch)
        try:
            object.__setattr__(self, "_slope", read_polynomial(self.loss_derivative, ("f", "y")))
        except Malformed as error:
            raise InputError(f"loss_derivative: {error}") from None

    @property
    def slope(self) -> Polynomial:
        """𝒞' as a polynomial in f and y."""
        found: Polynomial = vars(self)["_slope"]
        return found


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return ()


def predict(instance: Instance) -> Prediction:
    return _claimed(instance, tuple(_recursion(instance)))


def _claimed(instance: Instance, values: tuple[Fraction | float, ...]) -> Prediction:
    size = max(1.0, *(abs(float(value)) for value in values))
    claims = [Claim(LINEARIZED, Relation.EQUAL, values, RESOLUTION * size * len(instance.batches))]
    if instance.degree <= 1:
        claims.append(Claim(TRAINED, Relation.EQUAL, values, RESOLUTION * size * len(instance.batches)))
    return Prediction(tuple(claims))


def _kernel(instance: Instance) -> list[list[Fraction]]:
    """Return ∇F(θ_0)(x)·∇F(θ_0)(x') for all pairs of inputs, without the rate."""
    slopes = _slopes(instance)
    return [[sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0)) for b in slopes] for a in slopes]


def _slopes(instance: Instance) -> list[list[Fraction]]:
    exact, size = theory.correlations, len(instance.parameters)
    return [[exact.evaluated(s, instance.theta) for s in exact.gradient_vector(f, size)] for f in instance.polynomials]


def _start(instance: Instance) -> list[Fraction]:
    return [theory.correlations.evaluated(f, instance.theta) for f in instance.polynomials]


def _recursion(instance: Instance, rate: Fraction | None = None) -> list[Fraction]:
    """Return F_lin after all steps, in function space."""
    kernel, values = _kernel(instance), _start(instance)
    eta = instance.rate if rate is None else rate
    for batch in instance.batches:
        c = [_loss_slope(instance, values[b], b) / len(batch) for b in batch]
        values = [
            value - eta * sum((row[b] * w for b, w in zip(batch, c, strict=True)), Fraction(0))
            for value, row in zip(values, kernel, strict=True)
        ]
        _require_short(values)
    return values


def _loss_slope(instance: Instance, f: Fraction, b: int) -> Fraction:
    return theory.correlations.evaluated(instance.slope, (f, instance.labels[b]))


def _require_short(values: list[Fraction]) -> None:
    longest = max(v.numerator.bit_length() + v.denominator.bit_length() for v in values)
    if longest > _MOST_BITS:
        raise Undecided(Reason.INCOMPLETE_METHOD, f"exact values of {longest} bits; use fewer steps or a simpler loss")


def derive(instance: Instance) -> Derivation:
    return _derivation(instance, None)


def _derivation(instance: Instance, rate: Fraction | None) -> Derivation:
    """Train the parameters of the Taylor model exactly, and subtract the recursion."""
    slopes, start = _slopes(instance), _start(instance)
    theta = list(instance.theta)

    def model(b: int) -> Fraction:
        moved = (s * (t - t0) for s, t, t0 in zip(slopes[b], theta, instance.theta, strict=True))
        return start[b] + sum(moved, Fraction(0))

    for batch in instance.batches:
        c = [_loss_slope(instance, model(b), b) / len(batch) for b in batch]
        step = [sum((w * slopes[b][i] for b, w in zip(batch, c, strict=True)), Fraction(0)) for i in range(len(theta))]
        theta = [t - instance.rate * s for t, s in zip(theta, step, strict=True)]
        _require_short(theta)
    trained = [model(b) for b in range(len(start))]
    claimed = _recursion(instance, rate)
    residual = next((str(a - b) for a, b in zip(trained, claimed, strict=True) if a != b), "0")
    settled = (LINEARIZED, TRAINED) if instance.degree <= 1 else (LINEARIZED,)
    return Derivation(
        "F(θ_0) + ∇F(θ_0)ᵀ(θ_s − θ_0) = F_lin(s)",
        residual,
        r"F(\theta_0) + \nabla F(\theta_0)^\top(\theta_s - \theta_0) = F_{\mathrm{lin}}(s)",
        settles=settled,
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Train parameters in floating point, by automatic differentiation of the Taylor model, and of F where that is linear."""
    poly = numerics.polynomials
    functions = [poly.polynomial(terms, device) for terms in instance.terms]
    theta = poly.as_vector(instance.theta, device)
    labels = [float(y) for y in instance.labels]
    slope = poly.polynomial([(Fraction(c), (m.count(0), m.count(1))) for m, c in instance.slope.items()], device)
    models = [poly.taylor_model(f, theta) for f in functions]
    estimates = {}
    for quantity, trained in ((LINEARIZED, models), (TRAINED, functions)):
        if quantity == TRAINED and instance.degree > 1:
            continue
        values = poly.trained(trained, theta, slope, labels, instance.batches, float(instance.rate))
        size = max(1.0, *(abs(value) for value in values)) if all(map(math.isfinite, values)) else math.nan
        error = 1e-12 * size * len(instance.batches)
        estimates[quantity] = Estimate(tuple(values), error, "parameters trained")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import polynomial_hypotheses, small_fractions

    @st.composite
    def runs(draw: st.DrawFn) -> Fields:
        model = {
            **draw(polynomial_hypotheses(max_degree=2, max_terms=2)),
            "rate": draw(st.sampled_from(["1/2", "1/10"])),
        }
        inputs = len(model["functions"])
        batch = st.lists(st.integers(0, inputs - 1), min_size=1, max_size=2)
        return {
            **model,
            "labels": [draw(small_fractions()) for _ in range(inputs)],
            "batches": draw(st.lists(batch, min_size=1, max_size=3)),
            "loss_derivative": draw(st.sampled_from(["f - y", "2*f - 2*y", "f - y + 1"])),
        }

    return runs()


# False variants.


def _flow(instance: Instance) -> Prediction:
    """Gradient flow for the time η at every step, for an affine loss derivative; exact by the exponential of the kernel."""
    values = [float(v) for v in _start(instance)]
    for batch in instance.batches:
        values = theory.linear_flow.batch_flow(
            [[float(k) for k in row] for row in _kernel(instance)],
            values,
            batch,
            [float(_loss_slope(instance, Fraction(0), b)) for b in range(len(values))],
            float(_loss_slope(instance, Fraction(1), 0) - _loss_slope(instance, Fraction(0), 0)),
            float(instance.rate),
        )
    return _claimed(instance, tuple(values))


def _nothing_derived(instance: Instance) -> Derivation:
    return Derivation("F_lin as claimed", "0")


_LINE = {
    "parameters": ["t"],
    "functions": ["t"],
    "theta": [1],
    "rate": "1/2",
    "labels": [0],
    "batches": [[0], [0]],
}

VARIANTS = {
    "gradient_flow": Variant(
        "F_lin follows gradient flow for the time η per step", predict=_flow, derive=_nothing_derived, examples=(_LINE,)
    ),
    "rate_outside_of_the_kernel": Variant(
        "Θ_0 = ∇F(θ_0)ᵀ∇F(θ_0), without η",
        predict=lambda instance: _claimed(instance, tuple(_recursion(instance, Fraction(1)))),
        derive=lambda instance: _derivation(instance, Fraction(1)),
        examples=(_LINE,),
    ),
}
