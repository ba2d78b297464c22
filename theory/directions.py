"""Which directions random neurons reach, and what features far from a target miss."""

from __future__ import annotations

import math

import mpmath
import sympy

__all__ = [
    "HALF",
    "cap_measure",
    "cap_measure_symbolic",
    "hermite_tail",
    "hermite_weight",
    "missed_energy",
    "reach_probability",
]

HALF = sympy.Rational(1, 2)
"""E relu(z)²."""


def cap_measure(angle: float, k: int) -> float:
    """Return the share of the unit sphere of ℝᵏ within `angle` of a point: ½ I_{sin²φ}((k − 1)/2, ½) up to a right angle.

    Examples
    --------
    >>> round(cap_measure(math.pi / 3, 3), 12), cap_measure(0.3, 1)
    (0.25, 0.5)
    """
    if k == 1:
        return 0.5 if angle < math.pi else 1.0
    if angle >= math.pi:
        return 1.0
    if angle > math.pi / 2:
        return 1.0 - cap_measure(math.pi - angle, k)
    half = mpmath.betainc(mpmath.mpf(k - 1) / 2, mpmath.mpf("0.5"), 0, mpmath.sin(angle) ** 2, regularized=True)
    return float(half) / 2


def cap_measure_symbolic(k: int) -> sympy.Expr:
    """Return the same in φ ≤ π/2 as an integral carried out, ∫₀^φ sin^{k−2}/∫₀^π sin^{k−2}.

    Examples
    --------
    >>> cap_measure_symbolic(2), cap_measure_symbolic(3)
    (phi/pi, 1/2 - cos(phi)/2)
    """
    phi, t = sympy.symbols("phi t", positive=True)
    area = sympy.integrate(sympy.sin(t) ** (k - 2), (t, 0, phi))
    return sympy.expand(sympy.simplify(area / sympy.integrate(sympy.sin(t) ** (k - 2), (t, 0, sympy.pi))))


def reach_probability(angle: float, beta: float, m: int, k: int) -> float:
    """Return P(some of m neurons gets within `angle` of a direction) = 1 − (1 − C_k(angle + arcsin β))^m.

    Examples
    --------
    >>> round(reach_probability(0.0, 0.5, 3, 2), 6)
    0.421296
    """
    return -math.expm1(m * math.log1p(-c)) if (c := cap_measure(angle + math.asin(beta), k)) < 1 else 1.0


def hermite_weight(j: int) -> sympy.Expr:
    """Return κ_j², the energy of relu⟨a, z⟩, ‖a‖ = 1, in the Hermite polynomials of degree j.

    Examples
    --------
    >>> [hermite_weight(j) for j in range(5)]
    [1/(2*pi), 1/4, 1/(4*pi), 0, 1/(48*pi)]
    """
    if j < 2:
        return (1 / (2 * sympy.pi), sympy.Rational(1, 4))[j]
    if j % 2:
        return sympy.Integer(0)
    return sympy.factorial2(j - 3) ** 2 / (2 * sympy.pi * sympy.factorial(j))


def hermite_tail(start: int) -> sympy.Expr:
    """Return T_J = Σ_{j ≥ J} κ_j², from Σ κ_j² = E relu(z)² = ½.

    Examples
    --------
    >>> hermite_tail(2), hermite_tail(4)
    (1/4 - 1/(2*pi), 1/4 - 3/(4*pi))
    """
    return sympy.expand(HALF - sum(hermite_weight(j) for j in range(start)))


def missed_energy(power: float, cosine: float, start: int, *, terms: int = 60) -> float:
    """Return Σ_{j ≥ J} κ_j² (1 − P q^j)₊² for j up to `terms`, and the rest bounded below by its first factor.

    Examples
    --------
    >>> round(missed_energy(0.5, 1.0, 0), 12)
    0.125
    """

    def factor(j: int) -> float:
        return max(1.0 - power * cosine**j, 0.0) ** 2

    listed = sum(float(hermite_weight(j)) * factor(j) for j in range(start, terms))
    return listed + float(hermite_tail(terms)) * factor(terms)
