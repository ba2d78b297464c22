"""A model that is linear up to 1/m for complex steps is weakly correlated; for real steps alone it need not be.

Hypotheses
----------
F is a polynomial in its parameters (in general: analytic, and the bound holds on a complex disc); the radius is positive.

Statement
---------
Let f(t) = F(θ_0 − ηt∇F) − F_0 + tΘ_0 = Σ_{d≥2} (−t)^d C_{0,d}. Then |C_{0,d}| t_0^d ≤ sup |f| over |t| = t_0 in the
complex plane, so that sup |f| = O(1/m) there implies C_{0,d} = O(1/m). Over real |t| ≤ t_0 the same holds for
polynomials of degree g with the constants of V. Markov, coefficients of T_g and T_(g−1), which grow with g: no
constant serves all analytic models.

Proof idea
----------
Cauchy's estimates; Markov's inequality, which is attained by Chebyshev polynomials.

Source
------
Shem-Ur and Oz (2024), Theorem 3.1, the other direction; the restriction to complex steps or bounded degree is ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
IDS = ("WC10",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "Theorem 3.1, ⇐; false for real steps alone")

RESOLUTION = 1e-7  # of a ratio or of the largest correlation: rounding of a transform
VALUES, DISC, INTERVAL = (
    "C_{0,d}, d = 2, …",
    "|C_{0,d}| t₀^d / sup over the circle",
    "|C_{0,d}| t₀^d / sup over the interval",
)
_LARGEST_DEGREE = 16


@dataclass(frozen=True)
class Instance(PolynomialFields):
    """A polynomial model F(θ)(x_0) and the radius of the steps.

    Parameters
    ----------
    radius : number
        t_0, of the loss derivative.
    """

    radius: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.degree <= _LARGEST_DEGREE:
            raise InputError(f"functions: degree {self.degree}; 1 to {_LARGEST_DEGREE} are followed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("the radius is positive", instance.radius > 0, f"t₀ = {instance.radius}"),
        Hypothesis("there is a correlation of order 2", instance.degree >= 2, f"degree {instance.degree}"),
    )


def _by_derivatives(instance: Instance) -> list[Fraction]:
    """Return C_{0,d} for d = 2, …, from its definition."""
    rate, size = theory.correlations.constant(instance.rate), len(instance.parameters)
    found = [
        theory.correlations.correlation(instance.polynomials, [], [0] * d, rate, size)
        for d in range(2, instance.degree + 1)
    ]
    return [theory.correlations.evaluated(p, instance.theta) for p in found]


def derive(instance: Instance) -> Derivation:
    return _derivation(instance, lambda d: (-1) ** d)


def _derivation(instance: Instance, sign: Callable[[int], int]) -> Derivation:
    """The coefficients of f from its values at rational points, in exact arithmetic, against the definition."""
    nodes = [Fraction(k, instance.degree) for k in range(instance.degree + 1)]
    engine = theory.steps_of_polynomials
    values = engine.step_values(instance.polynomials[0], instance.theta, instance.rate, nodes)
    coefficients = engine.coefficients_by_interpolation(nodes, values)
    left = [
        f"d = {d}: {coefficients[d] - sign(d) * c}"
        for d, c in enumerate(_by_derivatives(instance), 2)
        if coefficients[d] != sign(d) * c
    ]
    return Derivation(
        "f(t) = Σ (−t)^d C_{0,d}, by interpolation",
        "; ".join(left) or "0",
        r"f(t) = \sum_{d \ge 2} (-t)^d C_{0,d}",
        settles=(VALUES,),
    )


def predict(instance: Instance) -> Prediction:
    constants = theory.steps_of_polynomials.markov_constants(instance.degree)[2:]
    return _claims(instance, constants, lambda d: 1)


def _claims(instance: Instance, constants: Sequence[int], sign: Callable[[int], int]) -> Prediction:
    exact = tuple(sign(d) * c for d, c in enumerate(_by_derivatives(instance), 2))
    scale = 1 + max(abs(float(c)) for c in exact)
    return Prediction(
        (
            Claim(VALUES, Relation.EQUAL, exact, RESOLUTION * scale),
            Claim(DISC, Relation.AT_MOST, tuple(1 for _ in exact), RESOLUTION),
            Claim(INTERVAL, Relation.AT_MOST, tuple(constants), RESOLUTION * max(constants)),
        )
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Steps with complex loss derivatives on a circle and a Fourier transform; and steps at Chebyshev's points."""
    found = numerics.circle.polynomial_steps(
        instance.terms[0],
        numerics.polynomials.as_vector(instance.theta),
        float(instance.rate),
        float(instance.radius),
        instance.degree,
    )
    how = "Fourier transform of steps on a circle"
    return Measurement(
        {
            VALUES: Estimate(found.correlations, found.error, how),
            DISC: Estimate(found.over_circle, found.relative_error, how),
            INTERVAL: Estimate(
                found.over_interval, found.relative_error, "steps at the extremal points of T_g and T_(g−1)"
            ),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    small = st.integers(-3, 3)

    def model(a: int, b: int, c: int) -> Fields:
        polynomial = f"t + {a}*t^2 + {b}*t^3 + {c}*t^4".replace("+ -", "- ")
        return {"parameters": ["t"], "functions": [polynomial], "theta": [0], "rate": 1}

    return st.builds(model, small, small, st.integers(1, 3))


# False variants.

# m times it has supremum 2 over real |t| ≤ 1, and the coefficient 8 of t².
_CHEBYSHEV = {"parameters": ["t"], "functions": ["t + (8*t^4 - 8*t^2)/100"], "theta": [0], "rate": 1}
_CUBIC = {"parameters": ["t"], "functions": ["t + t^3"], "theta": [0], "rate": 1}

VARIANTS = {
    "real_steps_suffice": Variant(
        "Cauchy's estimate with the supremum over real steps",
        predict=lambda instance: _claims(instance, [1] * (instance.degree - 1), lambda d: 1),
        examples=(_CHEBYSHEV,),
    ),
    "without_alternating_signs": Variant(
        "f(t) = Σ t^d C_{0,d}",
        predict=lambda instance: _claims(
            instance,
            theory.steps_of_polynomials.markov_constants(instance.degree)[2:],
            lambda d: (-1) ** d,
        ),
        derive=lambda instance: _derivation(instance, lambda d: 1),
        examples=(_CUBIC,),
    ),
}
