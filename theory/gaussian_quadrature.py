"""Gaussian integrals of products of derivatives of an activation, with a bound on the error.

The trapezoidal rule with step h on the line is off by at most 2M/(exp(2πs/h) − 1) for a function that is analytic in a strip
|Im| < s, M bounding the integral of its absolute value on every line of the strip (Trefethen, Weideman 2014). On such a
strip each derivative of φ is bounded by a polynomial in |Re z|, and the Gaussian weight grows by exp(s²/2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache
from math import factorial

import mpmath
import sympy as sp

from ..core import InputError
from .activations import derivative, z

__all__ = ["majorant", "quadrature"]

_DIGITS = 30
_STEP = Fraction(1, 16)
_CUT = 16  # standard deviations
_ROUNDING = 1e-24  # of the sum of absolute values, with 30 digits


def quadrature(
    name: str, terms: Sequence[tuple[Fraction, int, tuple[int, ...]]], variance: Fraction
) -> tuple[float, float, float]:
    """Return Σ c K^p E Π φ^(k)(z) over (c, p, orders) in `terms`, z ~ N(0, K), a bound on its error, and its size.

    The error includes rounding; the size is the same with absolute values.

    Examples
    --------
    >>> value, error, _ = quadrature("sin", [(Fraction(1), 0, (0, 0))], Fraction(1))
    >>> abs(value - (1 - mpmath.exp(-2)) / 2) <= error < 1e-15
    True
    """
    with mpmath.workdps(_DIGITS):
        K = mpmath.mpf(variance.numerator) / variance.denominator
        root = mpmath.sqrt(K)
        weights = [_fraction(c) * K**p for c, p, _ in terms]
        top = max(k for _, _, orders in terms for k in orders)
        phis = [_function(name, k) for k in range(top + 1)]
        h = mpmath.mpf(_STEP.numerator) / _STEP.denominator
        total = size = mpmath.mpf(0)
        for j in range(-int(_CUT / _STEP), int(_CUT / _STEP) + 1):
            u = j * h
            values = [phi(root * u) for phi in phis]
            density = h * mpmath.exp(-u * u / 2) / mpmath.sqrt(2 * mpmath.pi)
            for weight, (_, _, orders) in zip(weights, terms, strict=True):
                part = weight * density
                for k in orders:
                    part *= values[k]
                total += part
                size += abs(part)
        error = _discretization(name, terms, weights, K) + _ROUNDING * size
        value = float(total)
        return value, float(error) + 2.0**-52 * abs(value), float(size)


def majorant(name: str, k: int, s: float) -> list[float]:
    """Return coefficients of a polynomial in |Re z| that bounds |φ^(k)(z)| for |Im z| ≤ s.

    Raises
    ------
    InputError
        If φ has no bound on this strip that is known here.
    """
    if name in _MAJORANTS and s <= _WIDEST.get(name, _ENTIRE_STRIP):
        return _MAJORANTS[name](k, s)
    raise InputError(
        f"activation={name!r}, strip={s!r}: no bound is known; choose one of {', '.join(sorted(_MAJORANTS))}"
    )


def _discretization(
    name: str, terms: Sequence[tuple[Fraction, int, tuple[int, ...]]], weights: Sequence[mpmath.mpf], K: mpmath.mpf
) -> mpmath.mpf:
    """Return the bound of the trapezoidal rule on the strip of half-width s in u = z/√K, and of what is cut off."""
    root = mpmath.sqrt(K)
    strip = min(mpmath.mpf(_WIDEST.get(name, _ENTIRE_STRIP)), 2 * root)
    s = strip / root
    inside = outside = mpmath.mpf(0)
    for weight, (_, _, orders) in zip(weights, terms, strict=True):
        bound = [1.0]
        for k in orders:
            bound = _multiplied(bound, majorant(name, k, float(strip)))
        for m, c in enumerate(bound):
            inside += abs(weight) * c * root**m * _absolute_moment(m)
            outside += abs(weight) * c * root**m * _absolute_tail(m)
    h = mpmath.mpf(_STEP.numerator) / _STEP.denominator
    return 2 * inside * mpmath.exp(s**2 / 2) / mpmath.expm1(2 * mpmath.pi * s / h) + 2 * outside


def _absolute_moment(m: int) -> mpmath.mpf:
    """Return E |u|^m of a standard normal u."""
    return mpmath.mpf(2) ** (mpmath.mpf(m) / 2) * mpmath.gamma(mpmath.mpf(m + 1) / 2) / mpmath.sqrt(mpmath.pi)


def _absolute_tail(m: int) -> mpmath.mpf:
    """Return a bound of E |u|^m over |u| beyond the last node but one; the rule's own tail is smaller than twice that."""
    x = mpmath.mpf(_CUT - 1)
    upper = mpmath.gammainc(mpmath.mpf(m + 1) / 2, x**2 / 2)
    return mpmath.mpf(2) ** (mpmath.mpf(m) / 2) * upper / mpmath.sqrt(mpmath.pi)


def _multiplied(p: Sequence[float], q: Sequence[float]) -> list[float]:
    product = [0.0] * (len(p) + len(q) - 1)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return product


def _fraction(value: Fraction) -> mpmath.mpf:
    return mpmath.mpf(value.numerator) / value.denominator


@cache
def _function(name: str, k: int) -> Callable[[mpmath.mpf], mpmath.mpf]:
    """Return φ^(k) for numbers of mpmath; in terms of tanh and of the logistic function, which do not overflow."""
    rule = _RULES.get(name)
    steps = k - (name == "softplus")
    if rule is None or steps < 0:
        found = sp.lambdify(z, derivative(name, (), k), "mpmath")
        return lambda x: found(x) + mpmath.mpf(0)
    inner, slope = rule
    coefficients = _own_derivative(slope, steps)

    def value(x: mpmath.mpf) -> mpmath.mpf:
        return mpmath.polyval([*reversed(coefficients)], inner(x))

    return value


@cache
def _own_derivative(slope: tuple[int, ...], k: int) -> tuple[int, ...]:
    """Return the k-th derivative of y as a polynomial in y, where y' = slope(y)."""
    if k == 0:
        return (0, 1)
    before = [i * c for i, c in enumerate(_own_derivative(slope, k - 1))][1:]
    product = [0] * (len(before) + len(slope) - 1)
    for i, a in enumerate(before):
        for j, b in enumerate(slope):
            product[i + j] += a * b
    return tuple(product)


_TANH, _LOGISTIC = (1, 0, -1), (0, 1, -1)
_RULES: dict[str, tuple[Callable[[mpmath.mpf], mpmath.mpf], tuple[int, ...]]] = {
    "tanh": (mpmath.tanh, _TANH),
    "sigmoid": (lambda x: 1 / (1 + mpmath.exp(-x)), _LOGISTIC),
    "softplus": (lambda x: 1 / (1 + mpmath.exp(-x)), _LOGISTIC),
}


def _of_tanh(k: int, s: float) -> list[float]:
    """|tanh| ≤ 1 for |Im z| ≤ π/4, and every derivative is a polynomial in tanh."""
    return [float(sum(map(abs, _own_derivative(_TANH, k))))]


def _of_logistic(k: int, s: float) -> list[float]:
    """The logistic function is (1 + tanh(z/2))/2: at most 1 for |Im z| ≤ π/2."""
    return [float(sum(map(abs, _own_derivative(_LOGISTIC, k))))]


def _of_softplus(k: int, s: float) -> list[float]:
    """1 ≤ |1 + e^z| ≤ 1 + e^|x| for |Im z| ≤ π/2, and the argument of 1 + e^z is at most π/2."""
    return _of_logistic(k - 1, s) if k else [0.7 + 1.6, 1.0]


def _of_gaussian(k: int, s: float) -> list[float]:
    """|H_k(z) e^(−z²)| ≤ Σ |h_j| (|x| + s)^j e^(s² − x²), and (x + s)^j ≤ 2^j (x^j + s^j), x^j e^(−x²) ≤ (j/2e)^(j/2)."""
    last, hermite = [0], [1]
    for i in range(k):
        last, hermite = (
            hermite,
            [
                (2 * hermite[j - 1] if j else 0) - (2 * i * last[j] if j < len(last) else 0)
                for j in range(len(hermite) + 1)
            ],
        )
    growth = float(mpmath.exp(s * s))
    peaks = [(j / (2 * float(mpmath.e))) ** (j / 2) if j else 1.0 for j in range(k + 1)]
    return [growth * sum(abs(c) * 2**j * (peaks[j] + s**j) for j, c in enumerate(hermite))]


def _of_erf(k: int, s: float) -> list[float]:
    if k == 0:
        return [1 + 1.13 * s * float(mpmath.exp(s * s))]
    return [1.13 * _of_gaussian(k - 1, s)[0]]


def _of_gelu(k: int, s: float) -> list[float]:
    """φ = z N(z) with N the normal distribution function, so φ^(k) = z N^(k) + k N^(k−1)."""

    def normal(j: int) -> float:
        half = _of_erf(j, s / 2**0.5)[0] / 2 * 2 ** (-j / 2)
        return half + (0.5 if j == 0 else 0)

    return [s * normal(k) + (k * normal(k - 1) if k else 0), normal(k)]


def _of_silu(k: int, s: float) -> list[float]:
    logistic = [_of_logistic(j, s)[0] for j in range(k + 1)]
    return [s * logistic[k] + (k * logistic[k - 1] if k else 0), logistic[k]]


def _of_lorentzian(k: int, s: float) -> list[float]:
    """1/(1 + z²) is the mean of −i/(z − i) and i/(z + i), each with k-th derivative at most k!/(1 − s)^(k+1)."""
    return [factorial(k) / (1 - s) ** (k + 1)]


def _of_arctan(k: int, s: float) -> list[float]:
    return _of_lorentzian(k - 1, s) if k else [1.6 + float(mpmath.atanh(s))]


_ENTIRE_STRIP = 1.0
_WIDEST = {
    "tanh": 0.78,
    "sigmoid": 1.57,
    "softplus": 1.57,
    "silu": 1.57,
    "arctan": 0.5,
    "lorentzian": 0.5,
}
"""Half-widths of the strips on which the bounds hold: below π/4, π/2 and 1."""

_MAJORANTS: dict[str, Callable[[int, float], list[float]]] = {
    "tanh": _of_tanh,
    "sigmoid": _of_logistic,
    "softplus": _of_softplus,
    "silu": _of_silu,
    "gaussian": _of_gaussian,
    "erf": _of_erf,
    "gelu": _of_gelu,
    "sin": lambda k, s: [float(mpmath.cosh(s))],
    "arctan": _of_arctan,
    "lorentzian": _of_lorentzian,
}
