"""Random features: which directions they reach, whether the identity matches them best, and what they can express."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy.linalg import cho_factor, cho_solve

from ..core import InputError
from .assignments import assignment_margin, sensitivities
from .frequencies import Interval, clopper_pearson
from .realization import EPS, FloatArray

__all__ = ["arc_cosine", "expressed_error", "identity_frequency", "least_angles", "reach_frequency"]


def identity_frequency(
    centers: FloatArray, grams: FloatArray, *, near_centers: bool, samples: int, seed: int
) -> Interval:
    """Return how often the identity is the unique cheapest assignment of random features N(0, 1) to neurons.

    Parameters
    ----------
    centers : array (m, k)
    grams : array (m, k, k)
        Positive definite.
    near_centers : bool
        Features are drawn around the centers instead, which makes them distinguishable.
    """
    m, k = centers.shape
    generator = np.random.default_rng(seed)
    inverses = [cho_solve(cho_factor(S), np.eye(k)) for S in grams]
    wins = 0
    for _ in range(samples):
        features = generator.standard_normal((m, k)) * (0.1 if near_centers else 1.0)
        if near_centers:
            features = features + centers
        shifted = features[None] - centers[:, None]
        costs = np.stack([np.einsum("jk,kl,jl->j", b, P, b) for b, P in zip(shifted, inverses, strict=True)])
        slack = 64 * k * EPS * float(np.abs(costs).sum())
        if m <= 4:
            others = [cost for p, cost in sensitivities(costs).items() if p != tuple(range(m))]
            wins += min(others, default=math.inf) > slack
        else:
            wins += assignment_margin(costs).margin > slack
    return clopper_pearson(wins, samples)


def least_angles(centers: FloatArray, target: FloatArray, beta: float) -> FloatArray:
    """Return the least angle to `target` of vectors v + ε with ‖ε‖ ≤ β‖v‖, β < 1, for every row v, by a direct search.

    The nearest vector lies in the plane of v and the target: the angle is minimized over the boundary of the disk there.
    """
    cosine = np.clip(centers @ target / np.linalg.norm(centers, axis=1) / np.linalg.norm(target), -1, 1)
    angle = np.arccos(cosine)
    turn = np.linspace(0, 2 * math.pi, 4097)
    # In units of ‖v‖, v along the first axis and the target at `angle`.
    reached = np.arctan2(beta * np.sin(turn), 1 + beta * np.cos(turn))
    # Within the cone of reachable directions the angle is 0; outside it the edge is nearest.
    found: FloatArray = np.where(angle <= reached.max(), 0.0, angle - reached.max())
    return found


def reach_frequency(m: int, k: int, *, beta: float, angle: float, samples: int, seed: int) -> Interval:
    """Return how often one of m random neurons gets within `angle` of a fixed direction."""
    centers = np.random.default_rng(seed).standard_normal((samples * m, k))
    angles = least_angles(centers, np.eye(k)[0], beta).reshape(samples, m)
    return clopper_pearson(int((angles.min(1) <= angle).sum()), samples)


def arc_cosine(X: FloatArray, Y: FloatArray) -> FloatArray:
    """Return E relu⟨x, z⟩ relu⟨y, z⟩ over z ~ N(0, 1) for all pairs of rows: ‖x‖‖y‖ (sin θ + (π − θ) cos θ)/2π."""
    lengths = np.linalg.norm(X, axis=1)[:, None] * np.linalg.norm(Y, axis=1)[None]
    cosine = np.clip(X @ Y.T / np.where(lengths == 0, 1.0, lengths), -1, 1)
    found: FloatArray = lengths * (np.sqrt(1 - cosine**2) + (math.pi - np.arccos(cosine)) * cosine) / (2 * math.pi)
    return found


def expressed_error(features: npt.ArrayLike, coefficients: npt.ArrayLike, target: npt.ArrayLike) -> tuple[float, float]:
    """Return E(Σ c_i relu⟨a_i, z⟩ − relu⟨a*, z⟩)² over z ~ N(0, 1), from the arc-cosine kernel, and a bound on rounding.

    Raises
    ------
    InputError
        For shapes that do not fit.
    """
    a, c, t = (np.asarray(x, np.float64) for x in (features, coefficients, target))
    if a.ndim != 2 or c.shape != (len(a),) or t.shape != (a.shape[1],):
        raise InputError(f"features {a.shape}, coefficients {c.shape}, target {t.shape}: (m, k), (m,), (k,) are needed")
    signed = np.append(c, -1.0)
    terms = signed[:, None] * signed * arc_cosine(both := np.vstack([a, t]), both)
    # The kernel has a square root at angle 0, where arccos keeps half of the digits: its error there is eps as well, since
    # the slope of the kernel in the cosine is bounded.
    return float(terms.sum()), 64 * len(signed) * EPS * float(np.abs(terms).sum())
