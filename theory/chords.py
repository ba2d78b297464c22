"""How far the output of a ReLU neuron at interpolated weights is from the interpolated outputs, derived.

The chord deviation at λ is ξ = relu(z_λ) − (1 − λ) relu(z₀) − λ relu(z₁) with z_λ = (1 − λ) z₀ + λ z₁. For centered
elliptical inputs its mean square depends on the two weight vectors through their lengths s₀, s₁ and their angle θ only.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import mpmath
import sympy

from .matrices import Rows, Vector, dot, square

__all__ = [
    "PI",
    "SHARP_CONSTANT",
    "arc_cosine_residual",
    "deviation_bound",
    "half_way_mean_square",
    "mean_square",
    "orthogonal_family",
    "relative_shift",
    "small_angle_series",
    "tent",
    "tent_integral_residual",
    "tent_maximum",
    "theta",
]

PI = sympy.pi
theta, u, lam = sympy.symbols("theta u lambda", positive=True)

SHARP_CONSTANT = 1 / sympy.sqrt(3 * sympy.pi)
"""sup ‖ξ‖/(β^{3/2} ‖F Σ^{1/2}‖) for β → 0."""

_DIGITS = 30


def tent(z0: Fraction, z1: Fraction, weight: Fraction) -> Fraction:
    """Return ξ at λ = `weight`: 0 unless z₀z₁ < 0, then −min((1 − λ)|z₀|, λ|z₁|).

    Examples
    --------
    >>> tent(Fraction(3), Fraction(-1), Fraction(1, 4))
    Fraction(-1, 4)
    """
    return -min((1 - weight) * abs(z0), weight * abs(z1)) if z0 * z1 < 0 else Fraction(0)


def tent_maximum(z0: Fraction, z1: Fraction) -> Fraction:
    """Return max_λ −ξ = |z₀z₁|/(|z₀| + |z₁|), or 0 without a change of sign.

    Examples
    --------
    >>> tent_maximum(Fraction(3), Fraction(-1))
    Fraction(3, 4)
    """
    return abs(z0 * z1) / (abs(z0) + abs(z1)) if z0 * z1 < 0 else Fraction(0)


@cache
def half_way_mean_square() -> sympy.Expr:
    """Return E ξ(½)²/s² for equal lengths s, integrated over the angle of a Gaussian input: (θ − sin θ)/4π.

    Where the signs differ, −ξ(½) is half the smaller modulus, and E r² = 2 for the radius r of a plane Gaussian.

    Examples
    --------
    >>> sympy.simplify(half_way_mean_square() - (theta - sympy.sin(theta)) / (4 * sympy.pi))
    0
    """
    # Signs differ on two opposite sectors of angle θ; on half of each the modulus runs from 0 to sin(θ/2).
    return sympy.simplify(4 * sympy.Rational(1, 4) * sympy.integrate(sympy.sin(u) ** 2, (u, 0, theta / 2)) / sympy.pi)


@cache
def small_angle_series(order: int = 6) -> sympy.Expr:
    """Return the series of `half_way_mean_square` in θ; its first term is θ³/24π.

    Examples
    --------
    >>> small_angle_series(5)
    theta**3/(24*pi)
    """
    return sympy.series(half_way_mean_square(), theta, 0, order).removeO()


@cache
def arc_cosine_residual() -> sympy.Expr:
    """Return the same mean square from the arc-cosine kernel J(θ) = (sin θ + (π − θ) cos θ)/2π, minus the closed form: 0.

    Examples
    --------
    >>> arc_cosine_residual()
    0
    """

    def kernel(angle: sympy.Expr) -> sympy.Expr:
        return (sympy.sin(angle) + (sympy.pi - angle) * sympy.cos(angle)) / (2 * sympy.pi)

    length = sympy.cos(theta / 2)  # of the mean of two unit vectors
    ends = sympy.Rational(1, 4) + kernel(theta) / 2
    total = length**2 / 2 + ends - 2 * length * kernel(theta / 2)
    half = sympy.Symbol("h", positive=True)
    doubled = (total - (theta - sympy.sin(theta)) / (4 * sympy.pi)).subs(theta, 2 * half)
    return sympy.simplify(sympy.expand_trig(sympy.expand(doubled)))


@cache
def tent_integral_residual() -> sympy.Expr:
    """Return ∫ ξ² dc over a shift c, for pre-activations that differ by Δ, minus λ²(1 − λ)²Δ³/3: 0.

    Examples
    --------
    >>> tent_integral_residual()
    0
    """
    y, difference = sympy.symbols("y Delta", positive=True)
    peak = (1 - lam) * difference
    rising = sympy.Poly(lam**2 * y**2, y).integrate()
    falling = sympy.Poly((1 - lam) ** 2 * (difference - y) ** 2, y).integrate()
    total = rising.eval(peak) - rising.eval(0) + falling.eval(difference) - falling.eval(peak)
    return sympy.expand(total - lam**2 * (1 - lam) ** 2 * difference**3 / 3)


def orthogonal_family() -> sympy.Expr:
    """Return E ξ(½)²/‖f‖² for displacements ±β at a right angle to f: ((1 + β²) arctan β − β)/2π.

    Examples
    --------
    >>> beta = sympy.Symbol("beta", positive=True)
    >>> sympy.series(orthogonal_family(), beta, 0, 4).removeO()
    beta**3/(3*pi)
    """
    beta = sympy.Symbol("beta", positive=True)
    return ((1 + beta**2) * sympy.atan(beta) - beta) / (2 * sympy.pi)


def mean_square(x0: Vector, x1: Vector, weight: Fraction) -> float:
    """Return E ξ² at λ = `weight` for weights x₀, x₁ in coordinates in which the inputs have covariance 1.

    (2/π)(p² G(u) + q² G(θ − u)) with p = (1 − λ)s₀, q = λs₁, tan u = q sin θ/(p + q cos θ), G(u) = u/2 − sin(2u)/4,
    evaluated with 30 digits, since G(u) ≈ u³/3 cancels.

    Examples
    --------
    >>> round(mean_square((Fraction(1), Fraction(1)), (Fraction(1), Fraction(-1)), Fraction(1, 2)), 12)
    0.090845056908
    """
    with mpmath.workdps(_DIGITS):
        s0, s1 = (mpmath.sqrt(_real(square(x))) for x in (x0, x1))
        if s0 == 0 or s1 == 0:
            return 0.0
        # The angle by atan2 of the area, which is exact here, loses nothing near 0 and π.
        area = mpmath.sqrt(_real(square(x0) * square(x1) - dot(x0, x1) ** 2))
        angle = mpmath.atan2(area, _real(dot(x0, x1)))
        p, q = _real(1 - weight) * s0, _real(weight) * s1
        cut = mpmath.atan2(q * mpmath.sin(angle), p + q * mpmath.cos(angle))
        return float(2 / mpmath.pi * (p**2 * _sector(cut) + q**2 * _sector(angle - cut)))


def relative_shift(fixed: Vector, shifts: Sequence[Vector]) -> Fraction:
    """Return β² = max ‖t‖²/‖f‖² of one neuron with fixed part f ≠ 0 and trained displacements t.

    Examples
    --------
    >>> relative_shift((Fraction(2),), [(Fraction(1),)])
    Fraction(1, 4)
    """
    return max(square(t) for t in shifts) / square(fixed)


def deviation_bound(fixed: Rows, beta_square: Fraction) -> float:
    """Return β^{3/2}/√(3π) · ‖F Σ^{1/2}‖, rounded to nearest.

    Examples
    --------
    >>> round(deviation_bound(((Fraction(1),),), Fraction(1)), 4)
    0.3257
    """
    with mpmath.workdps(_DIGITS):
        total = mpmath.sqrt(_real(sum((square(f) for f in fixed), Fraction(0))))
        return float(_real(beta_square) ** mpmath.mpf("0.75") * total / mpmath.sqrt(3 * mpmath.pi))


def _sector(angle: mpmath.mpf) -> mpmath.mpf:
    return angle / 2 - mpmath.sin(2 * angle) / 4


def _real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator
