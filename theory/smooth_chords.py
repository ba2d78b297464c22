"""Second derivatives of smooth activations, and bounds of the third: what chord deviations are to leading order.

The deviation of a C² function from its chord is −½λ(1 − λ)η''(ζ)(z₁ − z₀)² for some ζ between z₀ and z₁.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import cast

import mpmath
import sympy

__all__ = ["SMOOTH", "curvature", "curvature_bound", "curvature_slope", "leading_deviation"]

x = sympy.Symbol("x", real=True)
_NORMAL = sympy.exp(-(x**2) / 2) / sympy.sqrt(2 * sympy.pi)

SMOOTH = MappingProxyType(
    {
        "gelu": x * (1 + sympy.erf(x / sympy.sqrt(2))) / 2,
        "tanh": sympy.tanh(x),
        "softplus": sympy.log(1 + sympy.exp(x)),
        "sin": sympy.sin(x),
    }
)
"""Activations with a bounded third derivative, by name."""

# Where η'' and η''' have the largest absolute value: zeros of the next derivative, by hand.
_PEAKS = MappingProxyType(
    {
        "gelu": (sympy.Integer(0), sympy.sqrt((7 - sympy.sqrt(33)) / 2)),
        "tanh": (sympy.atanh(1 / sympy.sqrt(3)), sympy.Integer(0)),
        "softplus": (sympy.Integer(0), sympy.log(2 + sympy.sqrt(3))),
        "sin": (sympy.pi / 2, sympy.Integer(0)),
    }
)
_DIGITS = 30


def curvature(activation: str, at: Fraction) -> mpmath.mpf:
    """Return η''(at), to 30 digits.

    Examples
    --------
    >>> round(float(curvature("gelu", Fraction(0))), 6), float(curvature("tanh", Fraction(0)))
    (0.797885, 0.0)
    """
    return _value(activation, 2, sympy.Rational(at.numerator, at.denominator))


@cache
def curvature_bound(activation: str) -> float:
    """Return max |η''|.

    Examples
    --------
    >>> curvature_bound("softplus"), round(curvature_bound("tanh"), 6)
    (0.25, 0.7698)
    """
    return float(abs(_value(activation, 2, _PEAKS[activation][0])))


@cache
def curvature_slope(activation: str) -> float:
    """Return max |η'''|, the Lipschitz constant of η''.

    Examples
    --------
    >>> curvature_slope("tanh"), round(curvature_slope("gelu"), 4)
    (2.0, 0.7788)
    """
    return float(abs(_value(activation, 3, _PEAKS[activation][1])))


def leading_deviation(activation: str, c: Fraction, t0: Fraction, t1: Fraction, weight: Fraction) -> float:
    """Return −½λ(1 − λ)η''(c)(t¹ − t⁰)².

    Examples
    --------
    >>> one, half = Fraction(1), Fraction(1, 2)
    >>> round(leading_deviation("gelu", Fraction(0), -one, one, half), 6)
    -0.398942
    """
    factor = -weight * (1 - weight) * (t1 - t0) ** 2 / 2
    return float(mpmath.mpf(factor.numerator) / factor.denominator * curvature(activation, c))


@cache
def _function(activation: str, order: int) -> Callable[[mpmath.mpf], mpmath.mpf]:
    return cast(
        "Callable[[mpmath.mpf], mpmath.mpf]", sympy.lambdify(x, sympy.diff(SMOOTH[activation], x, order), "mpmath")
    )


def _value(activation: str, order: int, at: sympy.Expr) -> mpmath.mpf:
    with mpmath.workdps(_DIGITS):
        return _function(activation, order)(sympy.lambdify((), at, "mpmath")())
