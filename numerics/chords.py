"""Chord deviations ξ(λ) = H(W^λ) − (1 − λ) H(W⁰) − λ H(W¹), measured: on given inputs, by quadrature, by Monte Carlo."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ..core import InputError
from .frequencies import Interval, mean_interval
from .realization import EPS, FloatArray

__all__ = ["deviation", "deviation_on_points", "gaussian_mean_square", "sampled_mean_square", "unaligned_bound"]

_ANGLES = 1 << 16


def deviation(z0: npt.ArrayLike, z1: npt.ArrayLike, weight: float) -> FloatArray:
    """Return the deviation of ReLU at λ = `weight` for pre-activations z₀, z₁ at the two ends."""
    a, b = np.asarray(z0, np.float64), np.asarray(z1, np.float64)
    chord = (1 - weight) * np.maximum(a, 0) + weight * np.maximum(b, 0)
    found: FloatArray = np.maximum((1 - weight) * a + weight * b, 0) - chord
    return found


def deviation_on_points(x0: FloatArray, x1: FloatArray, weight: float, points: FloatArray) -> float:
    """Return the mean of ‖ξ‖² over `points` (N, k), for layers with rows x₀ and x₁ (m, k)."""
    xi = deviation(points @ x0.T, points @ x1.T, weight)
    return float((xi**2).sum(1).mean())


def gaussian_mean_square(x0: FloatArray, x1: FloatArray, weight: float) -> tuple[float, float]:
    """Return E ξ² of one neuron with weights x₀, x₁ (k,) and inputs N(0, 1_k), and a bound on the error of quadrature.

    Only the plane of the two vectors matters. In polar coordinates ξ is the radius, whose mean square is 2, times a function
    of the angle that is piecewise smooth and Lipschitz: the trapezoidal rule is off by at most the square of the step times
    the total variation of the derivative of the square.
    """
    s0, s1 = float(np.linalg.norm(x0)), float(np.linalg.norm(x1))
    if s0 == 0 or s1 == 0:
        return 0.0, 0.0
    # Half-angle form: the angle between nearly parallel vectors keeps its digits.
    a, b = x0 / s0, x1 / s1
    angle = 2 * math.atan2(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))
    step = 2 * math.pi / _ANGLES
    phi = step * np.arange(_ANGLES)
    xi = deviation(s0 * np.cos(phi), s1 * np.cos(phi - angle), weight)
    # ξ² has a bounded second derivative between its kinks, and continuous slope 0 where the sign changes; at the kink of
    # the tent its slope jumps by at most 2 max|ξ| · (s0 + s1).
    largest = float(np.abs(xi).max())
    error = step**2 * (2 * largest * (s0 + s1) + 2 * math.pi * (s0 + s1) ** 2 * min(largest * 4 / (s0 + s1), 1.0))
    return float((xi**2).sum() * step / math.pi), error + _ANGLES * EPS * largest**2


def sampled_mean_square(x0: FloatArray, x1: FloatArray, weight: float, *, samples: int, seed: int) -> Interval:
    """Return E‖ξ‖² for layers with rows x₀, x₁ (m, k) and inputs N(0, 1_k), by Monte Carlo with four standard errors."""
    points = np.random.default_rng(seed).standard_normal((samples, x0.shape[1]))
    return mean_interval((deviation(points @ x0.T, points @ x1.T, weight) ** 2).sum(1))


def unaligned_bound(fixed: FloatArray, shifts: npt.ArrayLike) -> tuple[FloatArray, float]:
    """Return β of every neuron, max_q ‖t_i^q‖/‖f_i‖ in coordinates with input covariance 1, and β^{3/2}‖F‖/√(3π).

    Parameters
    ----------
    fixed : array (m, k)
        Fixed parts F Σ^{1/2}.
    shifts : array (q, m, k)
        Trained parts of the runs.

    Returns
    -------
    betas : array (m,)
        Infinite where the fixed part is 0 and the trained one is not.
    bound : float
        With the largest β; infinite if that exceeds 1, where the theorem says nothing.

    Raises
    ------
    InputError
        For shapes that do not fit.
    """
    shifts = np.asarray(shifts, np.float64)
    if shifts.ndim != 3 or shifts.shape[1:] != fixed.shape:
        raise InputError(f"shifts: shape {shifts.shape}; runs of layers of shape {fixed.shape} are needed")
    lengths, moved = np.linalg.norm(fixed, axis=1), np.linalg.norm(shifts, axis=2).max(0)
    betas = np.where(moved == 0, 0.0, moved / np.where(lengths == 0, 1.0, lengths))
    betas = np.where((lengths == 0) & (moved > 0), math.inf, betas)
    largest = float(betas.max())
    bound = largest**1.5 * float(np.linalg.norm(fixed)) / math.sqrt(3 * math.pi) if largest <= 1 else math.inf
    return betas, bound
