"""Powers of the width in the certificate of deviation, counted term by term.

With every size a power of the width m, sums become maxima and products sums. In an m-power weakly correlated network
with rate r = m^α, e_{D,d} = r^(D/2+d) m^(−d/2) for d ≥ 1, and r^(D/2) for d = 0, is the largest that is allowed.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

__all__ = ["deviation_exponent", "gronwall_residual", "largest_power", "power_weak_exponents"]

_ORDER = 6


def power_weak_exponents(alpha: Fraction, order: int = _ORDER) -> Mapping[tuple[int, int], Fraction]:
    """Return the exponents of e_{D,d} for D + d ≤ `order`."""
    return {
        (D, d): alpha * (Fraction(D, 2) + d) - Fraction(d, 2) for D in range(order + 1) for d in range(order + 1 - D)
    }


def deviation_exponent(exponents: Mapping[tuple[int, int], Fraction], steps: Fraction = Fraction(0)) -> Fraction:
    """Return the exponent of R after m^`steps` steps with loss derivatives of order 1.

    Examples
    --------
    A fixed number of steps gives r²/m, a fixed time 1/m.

    >>> alpha = Fraction(-1, 2)
    >>> deviation_exponent(power_weak_exponents(alpha)), deviation_exponent(power_weak_exponents(alpha), -alpha)
    (Fraction(-2, 1), Fraction(-1, 1))
    """
    mixed = {key: e for key, e in exponents.items() if key[0] >= 1 and key != (1, 0)}
    order = max(D + d for D, d in exponents)
    p = steps
    q: Fraction | None = None  # zero, whose exponent is −∞
    for _ in range(order):  # each round adds one more factor of q
        terms = [e + d * p + (D - 1) * (q or 0) for (D, d), e in mixed.items() if q is not None or D == 1]
        grown = steps + max(terms)
        q = grown if q is None else max(q, grown)
    assert q is not None
    h = max(exponents[D - 1, d + 1] + d * p + (D - 1) * q for D, d in mixed)
    series = max(e + d * p for (D, d), e in exponents.items() if D == 0 and d >= 2)
    return max(series, steps + h, *(e + d * p + D * q for (D, d), e in mixed.items()))


def largest_power(exponents: Mapping[int, Fraction]) -> Fraction:
    """Return the largest μ such that C_{0,d} = O(m^(−d/2)) with m = n^μ, for C_{0,d} of order n^exponents[d].

    Examples
    --------
    >>> largest_power({d: Fraction(-(d // 2)) for d in range(2, 7)})
    Fraction(2, 3)
    """
    return min(-2 * exponent / d for d, exponent in exponents.items())


def gronwall_residual() -> str:
    """Return what e_s = κ ((1 + κ)^s − x^s)/(1 + κ − x) leaves of e_{s+1} = (1 + κ) e_s + κ x^s: ``"0"``.

    With κ = K/m and x = e^(−1/T), |F − F_lin| ≤ κ (1 + κ)^s/(1 − x): of order KT/m as long as s is at most of order m.
    """
    import sympy

    kappa, x, s = sympy.symbols("kappa x s", positive=True)

    def e(at: sympy.Expr) -> sympy.Expr:
        return kappa * ((1 + kappa) ** at - x**at) / (1 + kappa - x)

    return str(sympy.simplify(sympy.expand_power_base(e(s + 1) - (1 + kappa) * e(s) - kappa * x**s)))
