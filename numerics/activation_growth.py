"""How fast the derivatives of an activation grow, from their suprema over a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from .activations import Activation

__all__ = ["Growth", "factorial_suprema", "growth"]

_ORDER = 26
_REACH = 8.0  # times 1/scale: the grid
_POINTS = 40_001


@dataclass(frozen=True)
class Growth:
    """R = limsup (s_k/k!)^(1/k), s_k the supremum of |φ^(k)|, by extrapolation.

    Parameters
    ----------
    rate, error : float
        The last extrapolated ratio, and how much it differs from the ones before.
    ratios : tuple of float
        (s_k (k−2)!/(s_{k−2} k!))^(1/2), from k = 3 on: every second order, since suprema alternate with parity.
    """

    rate: float
    error: float
    ratios: tuple[float, ...]


def growth(activation: Activation, *, device: str = "cpu") -> Growth:
    """Return the growth of the derivatives of order 1 to 26.

    A singularity of any algebraic kind makes the ratios R (1 + p/k + …), so that (k r_k − (k − 2) r_{k−2})/2 is R up to 1/k².
    """
    reach = _REACH / abs(activation.scale)
    z = torch.linspace(-reach, reach, _POINTS, dtype=torch.float64, device=device)
    suprema = [
        float(value.abs().max()) / math.factorial(k) for k, value in enumerate(activation.derivatives(z, _ORDER))
    ]
    r = {k: math.sqrt(suprema[k] / suprema[k - 2]) for k in range(3, _ORDER + 1)}
    e = [(k * r[k] - (k - 2) * r[k - 2]) / 2 for k in range(_ORDER - 3, _ORDER + 1)]
    return Growth(e[-1], 3 * (max(e) - min(e)), tuple(r.values()))


def factorial_suprema(order: int) -> tuple[float, ...]:
    """Return sup |φ^(k)|/(k+1)!, k = 1 … order, over a grid, of φ(z) = ∫ e^−t (cos t²z + sin t²z) dt over t ≥ 0.

    φ is smooth and bounded, and |φ^(k)(0)| = ∫ e^−t t^2k dt = (2k)!. Gauss and Laguerre's rule, exact at 0.
    """
    t, weights = np.polynomial.laguerre.laggauss(order + 1)
    z = np.linspace(-1.0, 1.0, 201)
    angles = np.outer(z, t**2)
    found = []
    for k in range(1, order + 1):
        turned = np.cos(angles + k * np.pi / 2) + np.sin(angles + k * np.pi / 2)
        found.append(float(np.abs(turned @ (weights * t ** (2 * k))).max()) / math.factorial(k + 1))
    return tuple(found)
