"""How fast the derivatives of an activation grow, from their suprema over a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

from .activations import Activation

__all__ = ["Growth", "growth"]

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
