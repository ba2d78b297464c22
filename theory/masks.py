"""Random and single masks: how far U^T diag(d²) U is from a multiple of 1, derived."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import mpmath
import sympy

from .matrices import Rows, Vector, dot, identity, is_positive_semidefinite, scaled_gram, solve

__all__ = [
    "anisotropy_bound",
    "bernstein_remainder",
    "inverse_deviation",
    "is_at_least",
    "mask_gram",
    "masked_cost_ratio",
    "sherman_morrison_residual",
]


@cache
def bernstein_remainder() -> sympy.Expr:
    """Return t²/2 − L(σ²ν + bνt/3) at t = (2/3)bνL + σ√(2νL): positive, so that matrix Bernstein gives 2k e^{−L}.

    Examples
    --------
    >>> bernstein_remainder()
    sqrt(2)*L**(3/2)*b*nu**(3/2)*sigma/3
    """
    b, nu, sigma, scale = sympy.symbols("b nu sigma L", positive=True)
    t = sympy.Rational(2, 3) * b * nu * scale + sigma * sympy.sqrt(2 * nu * scale)
    return sympy.simplify(sympy.expand(t**2 / 2 - scale * (sigma**2 * nu + b * nu * t / 3)))


def anisotropy_bound(coherence: Fraction, k: int, keep: Fraction, failure: Fraction) -> float:
    """Return (2/3)bνL + σ√(2νL) for Bernoulli masks, L = log(2k/δ): ‖S − μ1‖₂ exceeds it with probability at most δ.

    Examples
    --------
    >>> round(anisotropy_bound(Fraction(1), 2, Fraction(1, 100), Fraction(1, 100)), 2)
    4.3
    """
    if keep in (0, 1):
        return 0.0
    scale = mpmath.log(mpmath.mpf(2 * k) / _real(failure)) * _real(coherence)
    b, variance = max(keep, 1 - keep), keep * (1 - keep)
    return float(2 * _real(b) / 3 * scale + mpmath.sqrt(2 * _real(variance) * scale))


@cache
def sherman_morrison_residual(k: int = 2) -> sympy.Expr:
    """Return uᵀ(1 − uuᵀ)⁻¹u/uᵀu − 1/(1 − ‖u‖²), symbolic in u: 0.

    Examples
    --------
    >>> sherman_morrison_residual()
    0
    """
    x = sympy.Matrix(sympy.symbols(f"u:{k}", real=True))
    norm = (x.T * x)[0]
    return sympy.simplify((x.T * (sympy.eye(k) - x * x.T).inv() * x)[0] / norm - 1 / (1 - norm))


def mask_gram(U: Rows, masked: tuple[int, ...]) -> Rows:
    """Return S = 1 − Σ_{l masked} u_l u_lᵀ of an orthonormal basis whose other coordinates have scale 1.

    Examples
    --------
    >>> mask_gram(((Fraction(1),), (Fraction(0),)), (0,))
    ((Fraction(0, 1),),)
    """
    return scaled_gram(U, tuple(Fraction(row not in masked) for row in range(len(U))))


def masked_cost_ratio(U: Rows, masked: tuple[int, ...], row: int) -> Fraction | None:
    """Return u_lᵀ S⁻¹ u_l/‖u_l‖², how much dearer the feature along u_l is under the mask; None if it is infeasible.

    Examples
    --------
    >>> masked_cost_ratio(((Fraction(3, 5),), (Fraction(4, 5),)), (0,), 0)
    Fraction(25, 16)
    """
    u: Vector = U[row]
    found = solve(mask_gram(U, masked), u)
    return None if found.x is None else dot(found.x, u) / dot(u, u)


def is_at_least(matrix: Rows, bound: Fraction) -> bool:
    """Return whether all eigenvalues of a symmetric matrix are at least `bound`, exactly.

    Examples
    --------
    >>> is_at_least(identity(2), Fraction(1)), is_at_least(identity(2), Fraction(2))
    (True, False)
    """
    return is_positive_semidefinite(
        tuple(
            tuple(x - bound * one for x, one in zip(row, unit, strict=True))
            for row, unit in zip(matrix, identity(len(matrix)), strict=True)
        )
    )


def inverse_deviation(mu: Fraction, eta: Fraction) -> Fraction:
    """Return η/(μ(μ − η)), which bounds ‖S⁻¹ − μ⁻¹1‖ if ‖S − μ1‖ ≤ η < μ.

    Examples
    --------
    >>> inverse_deviation(Fraction(1), Fraction(1, 2))
    Fraction(1, 1)
    """
    return eta / (mu * (mu - eta))


def _real(x: Fraction) -> mpmath.mpf:
    return mpmath.mpf(x.numerator) / x.denominator
