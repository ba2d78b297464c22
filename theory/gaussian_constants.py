"""Constants of the correlations of one random hidden layer: Gaussian expectations of products of derivatives of φ.

γ = ½, η = 1, one input with K = |x|²/d0. For every width n, with z ~ N(0, K) and a ~ N(0, 1):

* odd d: n^((d−1)/2) E C_{0,d} = d!!/d! K^d E[φ^(d) φ'^d] + (d−2)!!/(d−1)! K^(d−1) E[φ φ^(d−1) φ'^(d−1)];
* even d: E C_{0,d} = 0 and n^d Var C_{0,d} = E[(a^(d+1) φ^(d) φ'^d K^d/d! + a^(d−1) φ φ^(d−1) φ'^(d−1) K^(d−1)/(d−1)!)²];
* n^d E‖C_{1,d}‖² = E[(φ^(d) (aφ'K)^d/d!)²] + K E[(aφ^(d+1) (aφ'K)^d/d! + φ φ^(d) (aφ'K)^(d−1)/(d−1)!)²].

The moments of a are integrated out, (2k − 1)!! for a^(2k), so that what is left is one integral over z.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import factorial, gamma, pi, prod, sqrt

import sympy as sp

from ..core import InputError
from .activations import derivative, z
from .gaussian_quadrature import quadrature

__all__ = ["Constant", "Expectation", "K", "Term", "closed_form", "expectation", "mean", "slope_square", "variance"]

K = sp.Symbol("K", positive=True)
"""Variance of z."""


@dataclass(frozen=True)
class Term:
    """coefficient · K^power · Π φ^(k) over `orders`."""

    coefficient: Fraction
    power: int
    orders: tuple[int, ...]


Constant = tuple[Term, ...]


@dataclass(frozen=True)
class Expectation:
    """A value, a bound on its error (0 for a fraction), the size of its terms without cancellation, and how it was found."""

    value: Fraction | float
    error: float
    size: float
    how: str

    @property
    def is_nonzero(self) -> bool:
        """Whether the value is certainly not 0."""
        return abs(float(self.value)) > self.error


def double_factorial(k: int) -> int:
    """Return k!! for odd k ≥ −1: the moment E a^(k+1) of a standard normal a.

    Examples
    --------
    >>> [double_factorial(k) for k in (-1, 1, 3, 5)]
    [1, 1, 3, 15]
    """
    return prod(range(1, k + 1, 2))


def _powers(k: int, count: int) -> tuple[int, ...]:
    return (k,) * count


def mean(d: int) -> Constant:
    """Return n^((d−1)/2) E C_{0,d} for odd d; d = 1 is E Θ.

    Raises
    ------
    InputError
        For even d, where the mean is 0.

    Examples
    --------
    >>> [(str(t.coefficient), t.power, t.orders) for t in mean(3)]
    [('1/2', 3, (3, 1, 1, 1)), ('1/2', 2, (0, 2, 1, 1))]
    """
    if d < 1 or d % 2 == 0:
        raise InputError(f"d={d!r}: an odd number is needed; for even d the mean is 0, see `variance`")
    first = Term(Fraction(double_factorial(d), factorial(d)), d, (d, *_powers(1, d)))
    second = Term(Fraction(double_factorial(d - 2), factorial(d - 1)), d - 1, (0, d - 1, *_powers(1, d - 1)))
    return first, second


def variance(d: int) -> Constant:
    """Return n^d Var C_{0,d} for even d ≥ 2.

    Raises
    ------
    InputError
        For other d.
    """
    if d < 2 or d % 2:
        raise InputError(f"d={d!r}: an even number from 2 on is needed; for odd d see `mean`")
    main = Term(Fraction(1, factorial(d)), d, (d, *_powers(1, d)))
    other = Term(Fraction(1, factorial(d - 1)), d - 1, (0, d - 1, *_powers(1, d - 1)))
    return _square(main, other, d + 1)


def slope_square(d: int) -> Constant:
    """Return n^d E‖C_{1,d}‖²; d = 0 is E Θ.

    Raises
    ------
    InputError
        For negative d.
    """
    if d < 0:
        raise InputError(f"d={d!r}: a number from 0 on is needed")
    if d == 0:
        return mean(1)
    by_a = Term(Fraction(double_factorial(2 * d - 1), factorial(d) ** 2), 2 * d, (*_powers(d, 2), *_powers(1, 2 * d)))
    main = Term(Fraction(1, factorial(d)), d, (d + 1, *_powers(1, d)))
    other = Term(Fraction(1, factorial(d - 1)), d - 1, (0, d, *_powers(1, d - 1)))
    by_w = [Term(t.coefficient, t.power + 1, t.orders) for t in _square(main, other, d + 1)]
    return (by_a, *by_w)


def _square(main: Term, other: Term, power: int) -> Constant:
    """Return E (a^power main + a^(power−2) other)² over a."""
    pairs = [(main, main, 1, 2 * power), (main, other, 2, 2 * power - 2), (other, other, 1, 2 * power - 4)]
    return tuple(
        Term(count * double_factorial(k - 1) * p.coefficient * q.coefficient, p.power + q.power, p.orders + q.orders)
        for p, q, count, k in pairs
    )


def expectation(
    name: str, coefficients: Sequence[Fraction], constant: Constant, variance_of_z: Fraction
) -> Expectation:
    """Return the constant for an activation at K = `variance_of_z`: a fraction for polynomials, otherwise with a bound.

    Raises
    ------
    InputError
        If the activation is not analytic, or K is not positive.

    Examples
    --------
    >>> expectation("polynomial", (Fraction(0), Fraction(0), Fraction(1)), mean(3), Fraction(1)).value
    Fraction(12, 1)
    >>> round(expectation("tanh", (), mean(3), Fraction(1)).value, 8)
    -0.28800239
    """
    if not variance_of_z > 0:
        raise InputError(f"K={variance_of_z!s}: a positive number is needed")
    if name in ("identity", "polynomial"):
        formula = closed_form(name, tuple(coefficients), constant)
        assert formula is not None
        value = sp.Rational(formula.subs(K, sp.Rational(variance_of_z.numerator, variance_of_z.denominator)))
        return Expectation(
            Fraction(int(value.p), int(value.q)), 0.0, _size(name, coefficients, constant, variance_of_z), "moments"
        )
    value, error, size = quadrature(name, [(t.coefficient, t.power, t.orders) for t in constant], variance_of_z)
    return Expectation(value, error, size, "trapezoidal rule with an error bound")


def _size(name: str, coefficients: Sequence[Fraction], constant: Constant, variance_of_z: Fraction) -> float:
    """Return the constant of the polynomial with the absolute values of all coefficients, for |z|."""
    absolute = tuple(map(abs, coefficients))
    total = 0.0
    for term in constant:
        integrand = sp.Poly(prod((derivative(name, absolute, k) for k in term.orders), start=sp.Integer(1)), z)
        moments = (
            float(c) * (2 * float(variance_of_z)) ** (m / 2) * gamma((m + 1) / 2) for (m,), c in integrand.terms()
        )
        total += float(term.coefficient) * float(variance_of_z) ** term.power * sum(moments) / sqrt(pi)
    return total


@cache
def closed_form(name: str, coefficients: tuple[Fraction, ...], constant: Constant) -> sp.Expr | None:
    """Return the constant as an expression in `K`: for polynomials, for sin, and for Θ and E C_{0,3} of erf; otherwise None.

    Examples
    --------
    >>> closed_form("identity", (), mean(1)), closed_form("polynomial", (Fraction(0), Fraction(0), Fraction(1)), variance(2))
    (2*K, 3840*K**6)
    """
    if name in ("identity", "polynomial"):
        return sp.factor(sum((_polynomial_mean(name, coefficients, term) for term in constant), sp.Integer(0)))
    if name == "sin":
        return sp.factor(sp.expand(sum(_sine_mean(term) for term in constant)))
    if name == "erf" and constant == mean(1):
        return 2 / sp.pi * sp.asin(2 * K / (1 + 2 * K)) + 4 * K / sp.pi / sp.sqrt(1 + 4 * K)
    if name == "erf" and constant == mean(3):
        # One integration by parts: ∫ z erf(z) exp(−a z²) dz = 1/(a √(a+1)).
        a = 3 + 1 / (2 * K)
        first = -16 / sp.pi ** sp.Rational(3, 2) / sp.sqrt(2 * sp.pi * K) / (a * sp.sqrt(1 + a))
        second = 16 / sp.pi**2 * (4 * K * (1 + 8 * K) ** sp.Rational(-3, 2) - 2 * (1 + 8 * K) ** sp.Rational(-1, 2))
        return (K**2 * first + K**3 * second) / 2
    return None


def _polynomial_mean(name: str, coefficients: tuple[Fraction, ...], term: Term) -> sp.Expr:
    """Return the expectation by E z^(2k) = (2k − 1)!! K^k."""
    integrand = sp.Poly(
        sp.expand(prod((derivative(name, coefficients, k) for k in term.orders), start=sp.Integer(1))), z
    )
    moments = (c * double_factorial(m - 1) * K ** (m // 2) for (m,), c in integrand.terms() if m % 2 == 0)
    return sp.Rational(term.coefficient.numerator, term.coefficient.denominator) * K**term.power * sum(moments)


def _sine_mean(term: Term) -> sp.Expr:
    """Return the expectation by E exp(imz) = exp(−m² K/2), with derivatives of sin as sums of exp(±iz)."""
    frequencies: Counter[int] = Counter({0: 1})
    for k in term.orders:
        # sin^(k)(z) = (i^k e^{iz} − (−i)^k e^{−iz})/(2i)
        up, down = sp.I**k / (2 * sp.I), -((-sp.I) ** k) / (2 * sp.I)
        moved: Counter[int] = Counter()
        for m, weight in frequencies.items():
            moved[m + 1] += weight * up
            moved[m - 1] += weight * down
        frequencies = moved
    total = sum(weight * sp.exp(-sp.Rational(m * m, 2) * K) for m, weight in frequencies.items())
    return sp.Rational(term.coefficient.numerator, term.coefficient.denominator) * K**term.power * sp.expand(total)
