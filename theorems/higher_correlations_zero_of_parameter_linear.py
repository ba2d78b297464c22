"""Correlations of order D + d above the degree of F in its parameters vanish; for linear F, a step is the linearized one.

Hypotheses
----------
F is a polynomial of degree g in θ; g = 1 for random features, a trained last layer, kernels.

Statement
---------
C_{D,d} = 0 for D + d > g. If g ≤ 1, then F(θ − ηv) = F(θ) − Θ c for every step, so training is the linearized one exactly.

Proof idea
----------
∇^(D+d)F = 0.

Source
------
Ours; the correlations are those of Shem-Ur and Oz (2024).
"""

from __future__ import annotations

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

FAMILY = "correlations"
IDS = ("WC16",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "the correlations are the paper's")

RESOLUTION = 1e-10  # times the sum of the absolute values of all terms: rounding only
_LARGEST_ORDER = 6
STEP = "F(θ − ηv) − F(θ) + Θ c"


@dataclass(frozen=True)
class Instance(PolynomialFields):
    """A hypothesis, a step, and the orders that are to vanish.

    Parameters
    ----------
    c : tuple of numbers
        Loss derivative at every input: v = Σ_b c_b ∇F(x_b).
    u : tuple of numbers
        Free indices are contracted with √η u.
    orders : rows of two numbers
        (D, d), with D + d from 1 to 6.
    """

    c: tuple[Fraction, ...] = ()
    u: tuple[Fraction, ...] = ()
    orders: tuple[tuple[int, int], ...] = ((0, 2), (1, 1), (2, 0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.c) != len(self.functions):
            raise InputError(f"c: {len(self.c)} numbers; {len(self.functions)} are needed, one for each input")
        self.require_vector("u", self.u)
        if not self.orders or any(min(order) < 0 or not 0 < sum(order) <= _LARGEST_ORDER for order in self.orders):
            raise InputError(f"orders={self.orders!r}: pairs (D, d) with 1 <= D + d <= {_LARGEST_ORDER} are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    lowest = min(D + d for D, d in instance.orders)
    how = f"degree {instance.degree}, and the lowest order is {lowest}"
    return (Hypothesis("D + d exceeds the degree of F", lowest > instance.degree, how),)


def _quantity(D: int, d: int) -> str:
    return f"C_{{{D},{d}}}[u, …; v, …]"


def derive(instance: Instance) -> Derivation:
    """Contract exactly, with v as its coordinates are at θ."""
    exact, size = theory.correlations, len(instance.parameters)
    slopes = [exact.gradient_vector(f, size) for f in instance.polynomials]
    v = [
        sum((c * exact.evaluated(s[i], instance.theta) for c, s in zip(instance.c, slopes, strict=True)), Fraction(0))
        for i in range(size)
    ]
    frozen, free = [exact.constant(x) for x in v], [exact.constant(x) for x in instance.u]
    contracted = [
        exact.derivative_along(instance.polynomials[0], [free] * D + [frozen] * d) for D, d in instance.orders
    ]
    residuals = [exact.evaluated(p, instance.theta) for p in contracted]
    settled = [_quantity(D, d) for D, d in instance.orders]
    if instance.degree <= 1:
        F = instance.polynomials[0]
        after = exact.shifted(instance.theta, v, -instance.rate)
        first = exact.evaluated(exact.derivative_along(F, [frozen]), instance.theta)
        change = exact.evaluated(F, after) - exact.evaluated(F, instance.theta)
        residuals.append(change + instance.rate * first)
        settled.append(STEP)
    residual = next((str(r) for r in residuals if r), "0")
    return Derivation("∇^(D+d) F = 0", residual, r"C_{D,d} = 0, \; D + d > g", settles=tuple(settled))


def predict(instance: Instance) -> Prediction:
    claims = [Claim(_quantity(D, d), Relation.EQUAL, Fraction(0)) for D, d in instance.orders]
    if instance.degree <= 1:
        claims.append(Claim(STEP, Relation.EQUAL, Fraction(0)))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Nested forward mode; rounding is relative to the terms of F and of its slope."""
    poly = numerics.polynomials
    functions = [poly.polynomial(terms, device) for terms in instance.terms]
    theta, c, u = (poly.as_vector(x, device) for x in (instance.theta, instance.c, instance.u))
    v = sum(w * poly.gradient(f, theta) for w, f in zip(c, functions, strict=True))
    eta, F = float(instance.rate), functions[0]
    bound = poly.polynomial(instance.terms[0], device, majorant=True)
    size = float(bound(theta.abs() + u.abs() + eta * abs(v)))
    estimates = {}
    for D, d in instance.orders:
        value = poly.derivative_along(F, theta, [u] * D + [v] * d)
        estimates[_quantity(D, d)] = Estimate(value, RESOLUTION * size, "nested forward mode")
    if instance.degree <= 1:
        change = float(F(theta - eta * v) - F(theta)) + eta * poly.derivative_along(F, theta, [v])
        estimates[STEP] = Estimate(change, RESOLUTION * size, "θ moved")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    return _hypotheses(lowest=1)


def _hypotheses(lowest: int) -> SearchStrategy[Fields]:
    """Polynomials of degree 1 or 2, and orders from degree + `lowest` on."""
    from hypothesis import strategies as st

    from ..testing import polynomial_hypotheses, small_fractions

    @st.composite
    def fields(draw: st.DrawFn) -> Fields:
        degree = draw(st.integers(1, 2))
        model = draw(polynomial_hypotheses(max_parameters=2, max_inputs=1, max_degree=degree, max_terms=2))
        order = degree + lowest
        D = draw(st.integers(0, order))
        u = [draw(small_fractions()) for _ in model["parameters"]]
        return {**model, "c": [draw(small_fractions())], "u": u, "orders": [[D, order - D]]}

    return fields()


# False variants.


def _orders_exceed(instance: Instance, degree: int) -> tuple[Hypothesis, ...]:
    lowest = min(D + d for D, d in instance.orders)
    return (Hypothesis("D + d exceeds a smaller degree", lowest > degree, f"{degree}"),)


def _measured_claims(instance: Instance) -> Derivation:
    return Derivation("∇^(D+d) F = 0, as claimed", "0")


_PRODUCT = {
    "parameters": ["a", "w"],
    "functions": ["a*w"],
    "theta": [1, 1],
    "rate": 1,
    "c": [1],
    "u": [1, 1],
    "orders": [[0, 2]],
}

VARIANTS = {
    "linear_in_each_weight": Variant(
        "a network with linear activations, which is linear in every single weight, has no C_{0,2}",
        hypotheses=lambda instance: _orders_exceed(instance, 1 if instance.degree == 2 else instance.degree),
        derive=_measured_claims,
        instances=lambda: _hypotheses(lowest=0),
        examples=(_PRODUCT,),
    ),
    "free_indices_count_twice": Variant(
        "C_{D,d} = 0 for 2D + d > g: free indices count twice",
        hypotheses=lambda instance: (
            Hypothesis("2D + d exceeds g", min(2 * D + d for D, d in instance.orders) > instance.degree, ""),
        ),
        derive=_measured_claims,
        instances=lambda: _hypotheses(lowest=0),
        examples=({**_PRODUCT, "orders": [[1, 1]]},),
    ),
}
