"""The law of ‖C_{D,d}‖, D ≥ 2, for one hidden layer: n^((d+1)/2) times it is the largest of n independent G(a, z)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

import mpmath
import numpy as np
import numpy.typing as npt
import sympy as sp

from ..core import InputError
from .activations import derivative, z

__all__ = ["maximum_quantile"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_POINTS = 1201
_CUT = 8.0  # standard deviations; the tail beyond is far below that of a maximum of 10⁶
_DIGITS = 20


def maximum_quantile(
    name: str, coefficients: Sequence[Fraction], D: int, d: int, K: Fraction, n: int, p: float = 0.5
) -> float:
    """Return the p-quantile of n^((d+1)/2) ‖C_{D,d}‖ at γ = ½ and η = 1: of the largest of n copies of the form of a neuron.

    The tail probability of G(a, z), a ~ N(0, 1), z ~ N(0, K), is summed over a grid and read off at 1 − p^(1/n).

    Raises
    ------
    InputError
        For D < 2, where the norm is no maximum.

    Examples
    --------
    For the identity ‖C_{2,0}‖ = √K/2 exactly.

    >>> maximum_quantile("identity", (), 2, 0, Fraction(4), 100)
    1.0
    """
    if D < 2 or d < 0:
        raise InputError(f"D={D!r}, d={d!r}: the norm is a maximum over neurons for D >= 2")
    values, tail = _tail(name, tuple(coefficients), D, d, K)
    return float(values[min(int(np.searchsorted(tail, -math.expm1(math.log(p) / n))), len(values) - 1)])


@lru_cache(maxsize=16)
def _tail(name: str, coefficients: tuple[Fraction, ...], D: int, d: int, K: Fraction) -> tuple[FloatArray, FloatArray]:
    """Return values of G, falling, and the probability of more than each."""
    u = np.linspace(-_CUT, _CUT, _POINTS)
    weight = np.exp(-u * u / 2)
    weight /= weight.sum()
    k = float(K)
    phi = {j: _values(name, coefficients, j, math.sqrt(k) * u) for j in {0, 1, D + d - 1, D + d}}
    a = u[:, None]
    zeta = a * phi[1] * k
    main = a * phi[D + d] * zeta**d / math.factorial(d)
    if d:
        main = main + phi[0] * phi[D + d - 1] * zeta ** (d - 1) / math.factorial(d - 1)
    A = np.abs(main) * k ** (D / 2) / math.factorial(D)
    B = np.abs(phi[D + d - 1] * zeta**d) / math.factorial(d) * k ** ((D - 1) / 2) / math.factorial(D - 1)
    A, B = np.broadcast_arrays(A, B)
    below = D * A + np.sqrt(D * D * A * A + 4 * (D - 1) * B * B)
    t = np.divide(2 * B, below, out=np.zeros_like(below), where=below > 0)
    G = ((A + B * t) / (1 + t * t) ** (D / 2)).ravel()
    order = np.argsort(-G)
    return G[order], np.cumsum(np.outer(weight, weight).ravel()[order])


def _values(name: str, coefficients: tuple[Fraction, ...], k: int, at: FloatArray) -> FloatArray:
    function = sp.lambdify(z, derivative(name, coefficients, k), "mpmath")
    with mpmath.workdps(_DIGITS):
        return np.array([float(function(mpmath.mpf(x))) for x in at])
