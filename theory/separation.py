"""How close the nearest of m random centers are, from the law of χ²."""

from __future__ import annotations

from typing import Any

import mpmath
import sympy

__all__ = [
    "chi_square_cdf",
    "close_pairs",
    "input_shift",
    "limit_constant",
    "median_separation",
    "separation_constant",
]


def separation_constant(k: int) -> sympy.Expr:
    """Return c_k = 2 (2Γ(1 + k/2))^{1/k}/√k: the nearest of m centers are about σ c_k √k m^{−2/k} E^{1/k} apart, E ~ Exp(1).

    Examples
    --------
    >>> separation_constant(1), separation_constant(2)
    (2*sqrt(pi), 2)
    """
    return sympy.simplify(2 * (2 * sympy.gamma(1 + sympy.Rational(k, 2))) ** sympy.Rational(1, k) / sympy.sqrt(k))


def limit_constant() -> sympy.Expr:
    """Return the limit of c_k for k → ∞, by Stirling's formula.

    Examples
    --------
    >>> limit_constant()
    sqrt(2)*exp(-1/2)
    """
    x = sympy.Symbol("x", positive=True)  # k = 2x; Γ(1 + x) ~ √(2πx) (x/e)^x
    logarithm = sympy.log(2) + (sympy.log(4 * sympy.pi * x) + sympy.log(2)) / (4 * x) + (sympy.log(x) - 1) / 2
    return sympy.exp(sympy.limit(logarithm - sympy.log(2 * x) / 2, x, sympy.oo))


def chi_square_cdf(t: float, k: int) -> float:
    """Return P(χ²_k ≤ t).

    Examples
    --------
    >>> round(chi_square_cdf(0.5, 1), 4)
    0.5205
    """
    return float(mpmath.gammainc(mpmath.mpf(k) / 2, 0, mpmath.mpf(t) / 2, regularized=True))


def close_pairs(r: float, m: int, k: int, sigma: float = 1.0) -> float:
    """Return λ(r), the mean number of pairs of m centers N(0, σ²1_k) that are closer than r; it bounds the probability.

    Examples
    --------
    >>> round(close_pairs(1.0, 2, 1), 4)
    0.5205
    """
    return m * (m - 1) / 2 * chi_square_cdf(r * r / (2 * sigma * sigma), k)


def median_separation(m: int, k: int, sigma: float = 1.0) -> float:
    """Return the median of the smallest distance, if pairs were independent: (1 − F(r²/2σ²))^{m(m−1)/2} = ½.

    Examples
    --------
    >>> round(median_separation(2, 1), 4)
    0.9539
    """
    target = -mpmath.expm1(mpmath.log(mpmath.mpf("0.5")) * 2 / (m * (m - 1)))
    low, high = mpmath.mpf(0), mpmath.mpf(k) * 40  # P(χ²_k > 40k) is far below ½
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if chi_square_cdf(float(middle), k) < target else (low, middle)
    return float(sigma * mpmath.sqrt(low + high))


def input_shift(m: int, sigma: Any, square_distance: Any) -> Any:
    """Return E‖δ_(ab)‖² = 2 m σ² ‖u_a − u_b‖², of the shift of all centers when inputs a and b are exchanged.

    Exact for fractions, a formula for symbols.

    Examples
    --------
    >>> input_shift(3, sympy.Symbol("s"), sympy.Integer(2))
    12*s**2
    """
    return 2 * m * sigma**2 * square_distance
