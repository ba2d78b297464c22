"""The law of the squared length of a centered normal vector with any covariance: a weighted sum of χ²_1."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath

from ..core import Reason, Undecided
from .matrices import Rows, rank

__all__ = ["TRUNCATION", "spectrum", "weighted_chi_square_cdf"]

TRUNCATION = 1e-12
"""Bound on what the omitted terms of the series add."""

_DIGITS = 30
_MOST_TERMS = 2000


def weighted_chi_square_cdf(t: float, weights: Sequence[float | mpmath.mpf]) -> float:
    """Return P(Σ_i λ_i Z_i² ≤ t) for independent standard normal Z_i and weights λ_i ≥ 0, up to `TRUNCATION`.

    Ruben's series: with β the least positive weight and k positive ones it is Σ_j c_j P(χ²_{k+2j} ≤ t/β), where the c_j are
    positive and sum to 1. What is omitted after J terms is at most (1 − Σ_{j<J} c_j) P(χ²_{k+2J} ≤ t/β).

    Raises
    ------
    Undecided
        If 2000 terms do not suffice.

    Examples
    --------
    >>> round(weighted_chi_square_cdf(1.0, [2.0]), 4)
    0.5205
    >>> round(weighted_chi_square_cdf(2.0, [1.0, 1.0]), 6), weighted_chi_square_cdf(0.0, [0.0])
    (0.632121, 1.0)
    """
    with mpmath.workdps(_DIGITS):
        positive = [mpmath.mpf(x) for x in weights if x > 0]
        if t < 0 or not positive:
            return float(t >= 0)
        k, beta = len(positive), min(positive)
        c = [mpmath.sqrt(mpmath.fprod(beta / x for x in positive))]
        powers = [mpmath.mpf(1)] * k
        g: list[mpmath.mpf] = []
        total, left = mpmath.mpf(0), mpmath.mpf(1)
        half, shape = mpmath.mpf(t) / beta / 2, mpmath.mpf(k) / 2
        # P(χ²_{k+2j} ≤ t/β), and by how much the next one is smaller; rounding adds up to units in the 27th digit.
        below = mpmath.gammainc(shape, 0, half, regularized=True)
        step = half**shape * mpmath.exp(-half) / mpmath.gamma(shape + 1)
        for j in range(_MOST_TERMS):
            total += c[j] * below
            left -= c[j]
            if left * below < TRUNCATION:
                return float(total)
            powers = [power * (1 - beta / x) for power, x in zip(powers, positive, strict=True)]
            g.append(mpmath.fsum(powers) / 2)
            below, step = below - step, step * half / (shape + j + 1)
            c.append(mpmath.fsum(a * b for a, b in zip(g, reversed(c), strict=True)) / (j + 1))
    raise Undecided(
        Reason.PRECISION, f"a series for weights from {float(beta):.3g} on needs more than {_MOST_TERMS} terms"
    )


def spectrum(matrix: Rows) -> list[mpmath.mpf]:
    """Return the positive eigenvalues of a positive semidefinite matrix; how many there are is exact.

    Examples
    --------
    >>> from fractions import Fraction
    >>> one = Fraction(1)
    >>> [float(round(x, 9)) for x in spectrum(((one, one), (one, one)))]
    [2.0]
    """
    with mpmath.workdps(_DIGITS):
        entries = [[mpmath.mpf(x.numerator) / x.denominator for x in row] for row in matrix]
        values = sorted(mpmath.eigsy(mpmath.matrix(entries), eigvals_only=True), reverse=True)
        return list(values[: rank(matrix)])
