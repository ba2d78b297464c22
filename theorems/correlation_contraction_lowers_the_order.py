"""Contracting a free index of a correlation with a gradient gives (d+1)/D times that of order (D−1, d+1).

Hypotheses
----------
F is a polynomial in θ (in general: D + d times differentiable), η > 0, and D ≥ 1.

Statement
---------
With C_{D,d} = η^(D/2+d)/(D! d!) ∇^(D+d)F (∇F)^d, D free indices, and J = √η ∇F: J(x′)·C_{D,d} = ((d+1)/D) C_{D−1,d+1}[…, x′],
and C_{D,d}[J^D] = binom(D+d, D) C_{0,D+d}. If η becomes rη, C_{D,d} becomes r^(D/2+d) C_{D,d}; if F becomes αF and η becomes
η/α², α^(1−D−d) C_{D,d}; with α = n^−(γ−½): n^((γ−½)(D+d−1)) C_{D,d}.

Proof idea
----------
Count powers of η and factorials; ∇^(D+d)F is symmetric.

Source
------
Ours; the definition is that of Shem-Ur and Oz (2024).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
IDS = ("WC01",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "the definition is the paper's")

RESOLUTION = 1e-10  # times the sum of the absolute values of all terms: rounding only

Vector = tuple[Fraction, ...]


@dataclass(frozen=True)
class Instance(PolynomialFields):
    """A hypothesis, a correlation of it, and what is done to it.

    Parameters
    ----------
    free : rows of numbers
        u_1, …, u_D: the free indices are contracted with √η u. The last is replaced by J(x′) where that is contracted.
    copies : tuple of int
        Numbers of the inputs x_1, …, x_d; the output is that of input 0.
    contracted : int
        Number of the input x′.
    rate_root : number
        √r: the rate becomes rη.
    width, gamma : int, number
        n and γ: F is divided by n^(γ−½), which has to be rational, and η multiplied by its square.
    free_factorial : bool
        Whether C_{D,d} carries 1/D!, as here and in most versions.
    """

    free: tuple[Vector, ...] = ()
    copies: tuple[int, ...] = ()
    contracted: int = 0
    rate_root: Fraction = Fraction(1)
    width: int = 1
    gamma: Fraction = Fraction(1, 2)
    free_factorial: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for i, u in enumerate(self.free):
            self.require_vector(f"free[{i}]", u)
        self.require_inputs("copies", self.copies)
        self.require_inputs("contracted", (self.contracted,))
        if len(self.free) + len(self.copies) > _MOST_INDICES:
            raise InputError(f"free, copies: together {len(self.free) + len(self.copies)}; at most {_MOST_INDICES}")
        if self.rate_root <= 0 or self.width < 1:
            raise InputError(f"rate_root={self.rate_root!s}, width={self.width!r}: positive numbers are needed")
        power = 2 * self.gamma - 1
        if power.denominator != 1 or abs(power) > 8 or (power % 2 and math.isqrt(self.width) ** 2 != self.width):
            raise InputError(
                f"width={self.width!r}, gamma={self.gamma!s}: width^(gamma − 1/2) has to be rational; choose a square, and "
                "gamma a multiple of 1/2 between −7/2 and 9/2"
            )

    @property
    def order(self) -> tuple[int, int]:
        """(D, d)."""
        return len(self.free), len(self.copies)

    @property
    def width_factor(self) -> Fraction:
        """n^(γ−½)."""
        power = int(2 * self.gamma - 1)
        return Fraction(self.width) ** (power // 2) * (Fraction(math.isqrt(self.width)) if power % 2 else 1)


_MOST_INDICES = 6


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    D, d = instance.order
    return (Hypothesis("there is a free index", D >= 1, f"D = {D}, d = {d}"),)


@dataclass(frozen=True)
class _Factors:
    """What the statement says about C_{D,d} in terms of other correlations; false variants change a part."""

    lowered: Callable[[Instance, int], Fraction]
    rate: Callable[[Instance], Fraction]
    width: Callable[[Instance], Fraction]


def _lowered(instance: Instance, contracted: int) -> Fraction:
    D, d = instance.order
    return theory.correlations.lowered_order_factor(D, d, contracted=contracted, free_factorial=instance.free_factorial)


def _rate_factor(instance: Instance) -> Fraction:
    D, d = instance.order
    return instance.rate_root ** (D + 2 * d)


def _width_factor(instance: Instance) -> Fraction:
    D, d = instance.order
    return instance.width_factor ** (D + d - 1)


_TRUE = _Factors(_lowered, _rate_factor, _width_factor)
QUANTITIES = ("C[u, …, J(x′)]", "C[J(x′), …, J(x′)]", "C at rate rη", "C with output n^−γ")


def _right_sides(instance: Instance, factors: _Factors, rate: Any) -> tuple[Any, ...]:
    """Return what the statement says the four quantities are, as polynomials in θ and the variables of `rate`."""
    correlation, scaled = theory.correlations.correlation, theory.correlations.scaled
    functions, size = instance.polynomials, len(instance.parameters)
    free, copies, more = _constants(instance.free), instance.copies, instance.contracted
    D, _ = instance.order

    def of(u: list[Any], x: tuple[int, ...]) -> Any:
        return correlation(functions, u, x, rate, size, free_factorial=instance.free_factorial)

    own = of(free, copies)
    return (
        scaled(of(free[:-1], (*copies, more)), factors.lowered(instance, 1)),
        scaled(of([], (*copies, *[more] * D)), factors.lowered(instance, D)),
        scaled(own, factors.rate(instance)),
        scaled(own, factors.width(instance)),
    )


def _left_sides(instance: Instance, rate: Any) -> tuple[Any, ...]:
    """Return the four quantities by the definition of C_{D,d}."""
    correlation, scaled = theory.correlations.correlation, theory.correlations.scaled
    functions, size = instance.polynomials, len(instance.parameters)
    free, copies = _constants(instance.free), instance.copies
    J = theory.correlations.gradient_vector(functions[instance.contracted], size)
    root, power = instance.rate_root, instance.width_factor

    def of(F: Any, u: list[Any], eta: Any) -> Any:
        return correlation(F, u, copies, eta, size, free_factorial=instance.free_factorial)

    smaller = [scaled(p, 1 / power) for p in functions]
    return (
        of(functions, [*free[:-1], J], rate),
        of(functions, [J] * len(free), rate),
        # The free vectors stay √η u, with the old η.
        of(functions, [[scaled(e, 1 / root) for e in u] for u in free], scaled(rate, root**2)),
        of(smaller, [[scaled(e, 1 / power) for e in u] for u in free], scaled(rate, power**2)),
    )


def _constants(vectors: tuple[Vector, ...]) -> list[Any]:
    return [[theory.correlations.constant(entry) for entry in u] for u in vectors]


def derive(instance: Instance) -> Derivation:
    return _derivation(instance, _TRUE)


def _derivation(instance: Instance, factors: _Factors) -> Derivation:
    """Subtract both sides for every θ and η: they are polynomials in them."""
    symbols = theory.correlations
    names = [*instance.parameters, "η"]
    rate = symbols.variable(len(instance.parameters))
    pairs = zip(_left_sides(instance, rate), _right_sides(instance, factors, rate), strict=True)
    residuals = [symbols.added(left, symbols.scaled(right, -1)) for left, right in pairs]
    residual = next((symbols.text(p, names) for p in residuals if p), "0")
    return Derivation(
        "J(x′)·C_{D,d} = (d+1)/D C_{D−1,d+1}, and its scaling, for all θ and η",
        residual,
        r"J(x') \cdot C_{D,d} = \tfrac{d+1}{D} C_{D-1,d+1}",
        settles=QUANTITIES,
    )


def predict(instance: Instance) -> Prediction:
    return _prediction(instance, _TRUE)


def _prediction(instance: Instance, factors: _Factors) -> Prediction:
    rate = theory.correlations.constant(instance.rate)
    right = _right_sides(instance, factors, rate)
    values = [theory.correlations.evaluated(p, instance.theta) for p in right]
    return Prediction(tuple(Claim(name, Relation.EQUAL, value) for name, value in zip(QUANTITIES, values, strict=True)))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Evaluate the definition in floating point, with derivatives by nested forward mode."""
    eta, root, power = float(instance.rate), float(instance.rate_root), float(instance.width_factor)
    D, _ = instance.order
    free = [list(u) for u in instance.free]
    x = instance.contracted
    cases = (
        _contracted(instance, free[:-1], [x], eta, 1.0, device),
        _contracted(instance, [], [x] * D, eta, 1.0, device),
        _contracted(instance, free, [], eta * root**2, 1.0, device, given=eta),
        _contracted(instance, free, [], eta * power**2, 1 / power, device, given=eta),
    )
    return Measurement(
        {
            name: Estimate(value, RESOLUTION * size, "nested forward mode")
            for name, (value, size) in zip(QUANTITIES, cases, strict=True)
        }
    )


def _contracted(
    instance: Instance,
    free: list[list[Fraction]],
    with_gradients: list[int],
    eta: float,
    factor: float,
    device: str,
    given: float | None = None,
) -> tuple[float, float]:
    """Return C_{D,d} of factor·F at rate eta, with its free indices contracted with √given u, then J; and its size."""
    poly = numerics.polynomials
    (D, d), results = instance.order, []
    below = (math.factorial(D) if instance.free_factorial else 1) * math.factorial(d)
    for majorant in (False, True):
        functions = [poly.polynomial(terms, device, majorant=majorant) for terms in instance.terms]
        theta = poly.as_vector(instance.theta, device)
        theta = theta.abs() if majorant else theta
        slopes = [factor * poly.gradient(f, theta) for f in functions]
        vectors = [poly.as_vector(u, device) for u in free]
        vectors = [math.sqrt(given or eta) * (v.abs() if majorant else v) for v in vectors]
        vectors += [math.sqrt(eta) * slopes[i] for i in with_gradients] + [slopes[i] for i in instance.copies]
        value = factor * poly.derivative_along(functions[0], theta, vectors)
        results.append(eta ** (D / 2 + d) * value / below)
    return results[0], results[1]


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import polynomial_hypotheses, small_fractions

    @st.composite
    def correlations(draw: st.DrawFn) -> Fields:
        fields = draw(polynomial_hypotheses(max_parameters=2, max_terms=2))
        size, inputs = len(fields["parameters"]), len(fields["functions"])
        vector = st.lists(small_fractions(), min_size=size, max_size=size)
        return {
            **fields,
            "free": draw(st.lists(vector, min_size=1, max_size=2)),
            "copies": draw(st.lists(st.integers(0, inputs - 1), max_size=1)),
            "contracted": draw(st.integers(0, inputs - 1)),
            "rate_root": draw(st.sampled_from([1, 2, "1/2"])),
            "width": draw(st.sampled_from([1, 4, 9])),
            "gamma": draw(st.sampled_from(["1/2", 1, "3/2"])),
        }

    return correlations()


# False variants.


def _variant(change: str, example: dict[str, Any], **parts: Callable[..., Fraction]) -> Variant:
    factors = replace(_TRUE, **parts)
    return Variant(
        change,
        predict=lambda instance: _prediction(instance, factors),
        derive=lambda instance: _derivation(instance, factors),
        examples=(example,),
    )


_CUBE = {"parameters": ["t"], "functions": ["t^3"], "theta": [1], "rate": "1/10", "copies": [0], "free": [[1]]}

VARIANTS = {
    "contraction_without_factor": _variant(
        "J·C_{D,d} = C_{D−1,d+1}", _CUBE, lowered=lambda instance, contracted: Fraction(1)
    ),
    "factorials_of_the_order_below": _variant(
        "the factor of a definition with 1/d! alone, d + 1",
        {**_CUBE, "free": [[1], [1]], "copies": []},
        lowered=lambda instance, contracted: theory.correlations.lowered_order_factor(
            *instance.order, contracted=contracted, free_factorial=not instance.free_factorial
        ),
    ),
    "every_index_has_half_a_power": _variant(
        "C_{D,d} becomes r^((D+d)/2) C_{D,d}",
        {**_CUBE, "rate_root": "1/2"},
        rate=lambda instance: instance.rate_root ** sum(instance.order),
    ),
    "width_counts_all_indices": _variant(
        "C_{D,d} becomes n^((γ−½)(D+d)) C_{D,d}",
        {**_CUBE, "width": 4, "gamma": 1},
        width=lambda instance: instance.width_factor ** sum(instance.order),
    ),
}
