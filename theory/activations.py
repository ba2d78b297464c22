"""Activations as symbolic functions: derivatives, singularities, and how fast their derivatives grow.

Around a real point the Taylor series of φ converges up to the nearest singularity in the complex plane, so that
limsup (sup_z |φ^(k)(z)|/k!)^(1/k) = 1/dist(ℝ, singularities).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from types import MappingProxyType

import sympy as sp

from ..core import InputError
from .activation_fields import ENTIRE, KINKED, require_activation

__all__ = ["activation", "derivative", "growth_rate", "singular_distance", "z"]

z = sp.Symbol("z", real=True)
"""The argument."""

_SYMBOLIC = MappingProxyType(
    {
        "identity": z,
        "tanh": sp.tanh(z),
        "erf": sp.erf(z),
        "sin": sp.sin(z),
        "sigmoid": 1 / (1 + sp.exp(-z)),
        "softplus": sp.log(1 + sp.exp(z)),
        "silu": z / (1 + sp.exp(-z)),
        "gelu": z * (1 + sp.erf(z / sp.sqrt(2))) / 2,
        "gaussian": sp.exp(-(z**2)),
        "arctan": sp.atan(z),
        "lorentzian": 1 / (1 + z**2),
    }
)

# What vanishes where the function is singular: a denominator, or the argument of a logarithm.
_w = sp.Symbol("w")
_VANISHING = MappingProxyType(
    {
        "tanh": sp.cosh(_w),
        "sigmoid": 1 + sp.exp(_w),
        "softplus": 1 + sp.exp(_w),
        "silu": 1 + sp.exp(_w),
        "arctan": 1 + _w**2,
        "lorentzian": 1 + _w**2,
    }
)


def activation(name: str, coefficients: Sequence[Fraction] = ()) -> sp.Expr:
    """Return φ as an expression in `z`.

    Raises
    ------
    InputError
        If it is unknown or not analytic.

    Examples
    --------
    >>> activation("polynomial", (Fraction(0), Fraction(-1), Fraction(0), Fraction(1)))
    z**3 - z
    """
    require_activation(name, coefficients)
    if name in KINKED:
        raise InputError(f"activation={name!r}: it has a kink, and no derivatives of all orders")
    if name == "polynomial":
        return sum((sp.Rational(c.numerator, c.denominator) * z**k for k, c in enumerate(coefficients)), sp.Integer(0))
    return _SYMBOLIC[name]


def derivative(name: str, coefficients: Sequence[Fraction], k: int) -> sp.Expr:
    """Return φ^(k)."""
    return sp.diff(activation(name, coefficients), z, k)


@cache
def singular_distance(name: str) -> sp.Expr:
    """Return the distance of the singularities of φ from the real line, infinite if there are none.

    Raises
    ------
    InputError
        If φ is not analytic on the real line.

    Examples
    --------
    >>> singular_distance("tanh"), singular_distance("softplus"), singular_distance("erf")
    (pi/2, pi, oo)
    """
    if name in ENTIRE:
        return sp.oo
    if name not in _VANISHING:
        raise InputError(f"activation={name!r}: it is not analytic on the real line")
    vanishing = _VANISHING[name]
    zeros = [zero for zero in sp.solve(vanishing, _w) if sp.simplify(vanishing.subs(_w, zero)) == 0]
    return min((abs(sp.im(zero)) for zero in zeros), key=float)


def growth_rate(name: str, scale: Fraction = Fraction(1)) -> sp.Expr:
    """Return R = limsup_k (sup |φ^(k)|/k!)^(1/k) of z ↦ φ(scale · z): |scale| over the distance of the singularities.

    Examples
    --------
    >>> growth_rate("tanh"), growth_rate("lorentzian", Fraction(3)), growth_rate("sin")
    (2/pi, 3, 0)
    """
    return sp.Rational(abs(scale).numerator, scale.denominator) / singular_distance(name)
