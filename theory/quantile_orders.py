"""Laws of non-negative random sequences with explicit quantile functions, and the exponents of these in n."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import sympy as sp

from ..core import InputError

__all__ = ["LAWS", "product_variance_gap", "quantile_exponent", "variance"]

_n, _p = sp.symbols("n p", positive=True)
_s = sp.Symbol("s", real=True)

LAWS = {
    "exponential": -(_n**_s) * sp.log(1 - _p),
    "pareto": _n**_s * (1 - _p) ** sp.Rational(-1, 2),
    "uniform_power": _n**_p,
    "one_or_n": sp.Piecewise((1, _p < sp.Rational(1, 2)), (_n, True)),
}
"""Quantile functions Q_n(p): n^s times an exponential or Pareto (tail index 2) variable, n^U with U uniform on (0, 1), and 1
or n at even odds."""


@cache
def quantile_exponent(law: str, s: Fraction, p: Fraction) -> sp.Expr:
    """Return lim log Q_n(p)/log n.

    Raises
    ------
    InputError
        For an unknown law, or p outside (0, 1).

    Examples
    --------
    >>> quantile_exponent("exponential", Fraction(-1), Fraction(9, 10))
    -1
    >>> quantile_exponent("uniform_power", Fraction(1), Fraction(3, 4))
    3/4
    """
    if law not in LAWS or not 0 < p < 1:
        raise InputError(f"law={law!r}, p={p!s}: a law among {', '.join(LAWS)}, and 0 < p < 1, are needed")
    at = {_p: sp.Rational(p.numerator, p.denominator), _s: sp.Rational(s.numerator, s.denominator)}
    quantile = LAWS[law].subs(at)
    return sp.limit(sp.expand_log(sp.log(quantile), force=True) / sp.log(_n), _n, sp.oo)


def variance(values: Sequence[Fraction], probabilities: Sequence[Fraction]) -> Fraction:
    """Return the variance.

    Examples
    --------
    >>> variance([Fraction(1), Fraction(2)], [Fraction(1, 2), Fraction(1, 2)])
    Fraction(1, 4)
    """
    mean = sum((p * x for x, p in zip(values, probabilities, strict=True)), Fraction(0))
    return sum((p * (x - mean) ** 2 for x, p in zip(values, probabilities, strict=True)), Fraction(0))


def product_variance_gap(table: Sequence[tuple[Fraction, Fraction, Fraction]]) -> Fraction:
    """Return Var(M₁M₂) − Var M₁ Var M₂ for rows (m₁, m₂, probability).

    Examples
    --------
    >>> half = Fraction(1, 2)
    >>> product_variance_gap([(Fraction(1), Fraction(1), half), (Fraction(2), half, half)])
    Fraction(-1, 64)
    """
    weights = [p for _, _, p in table]
    first, second = variance([x for x, _, _ in table], weights), variance([y for _, y, _ in table], weights)
    return variance([x * y for x, y, _ in table], weights) - first * second
