"""Random masks: how far the Gram matrix of what stays trainable is from isotropic, and what that makes of swap costs."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from scipy.stats import binom

from ..core import Reason, Undecided
from .frequencies import FALSE_ALARM_RATE, Interval, mean_interval
from .realization import EPS, FloatArray

__all__ = ["SwapSpread", "anisotropy_quantile", "swap_spread"]

_MOST_ENUMERATED = 12  # coordinates; 4096 masks
_CHUNK = 1000
_SINGULAR = 1e-9  # eigenvalues of the smallest invertible S are of the order of the smallest squared entries of U


def anisotropy_quantile(
    U: FloatArray, keep: float, failure: float, *, samples: int, seed: int
) -> tuple[Interval, bool]:
    """Return the least t with P(‖S − keep·1‖₂ > t) ≤ failure over independent masks, and whether all masks were listed.

    With at most 12 coordinates every mask is listed with its probability; otherwise the quantile is that of `samples` masks,
    and its error the distance to the order statistics that enclose the true one.
    """
    n = len(U)
    if n <= _MOST_ENUMERATED:
        masks = np.array(list(product((0.0, 1.0), repeat=n)))
        chances = np.prod(np.where(masks == 1, keep, 1 - keep), axis=1)
        values = _anisotropy(U, masks, keep)
        order = np.argsort(values)
        above = 1 - np.cumsum(chances[order])
        # The probability left above the last value is 0 up to rounding.
        first = int(np.flatnonzero(above <= failure + n * 2**n * EPS)[0])
        return Interval(float(values[order][first]), 64 * n * EPS), True
    generator = np.random.default_rng(seed)
    parts = [
        _anisotropy(U, (generator.random((min(_CHUNK, samples - start), n)) < keep).astype(np.float64), keep)
        for start in range(0, samples, _CHUNK)
    ]
    ordered = np.sort(np.concatenate(parts))
    half = FALSE_ALARM_RATE / 2
    ranks = (int(binom.ppf(chance, samples, 1 - failure)) for chance in (half, 1 - half))
    low, high = (float(ordered[min(max(rank, 0), samples - 1)]) for rank in ranks)
    middle = float(np.quantile(ordered, 1 - failure))
    return Interval(middle, max(middle - low, high - middle)), False


def _anisotropy(U: FloatArray, masks: FloatArray, keep: float) -> FloatArray:
    """Return ‖Uᵀ diag(mask) U − keep·1‖₂ for each mask."""
    k = U.shape[1]
    grams = np.einsum("lk,tl,lj->tkj", U, masks, U, optimize=True)
    found: FloatArray = np.abs(np.linalg.eigvalsh(grams - keep * np.eye(k))).max(1)
    return found


@dataclass(frozen=True)
class SwapSpread:
    """Costs of the swap of two features for random pairs of masks with invertible Gram matrices.

    Parameters
    ----------
    spread, first_order : Interval
        Standard deviation of the cost, and of its part of first order in S − μ1.
    excess : float
        The largest ratio of the rest to its bound 2η²/(μ²(μ − η)) (‖a‖² + ‖b‖²), over pairs with η < μ.
    """

    spread: Interval
    first_order: Interval
    excess: float


def swap_spread(
    U: FloatArray, keep: float, a: FloatArray, b: FloatArray, *, samples: int, seed: int, is_fixed_size: bool = False
) -> SwapSpread:
    """Return how the cost of swapping the features a and b of two neurons without fixed weights spreads over masks.

    With `is_fixed_size` every mask keeps round(keep · n) inputs, otherwise each input with probability `keep`.

    Raises
    ------
    Undecided
        If no pair of masks is left, or none has η < μ.
    """
    generator = np.random.default_rng(seed)
    n, k = U.shape
    kept = []
    for start in range(0, samples, _CHUNK):
        draws = generator.random((2 * min(_CHUNK, samples - start), n))
        if is_fixed_size:
            masks = (draws.argsort(1).argsort(1) < round(keep * n)).astype(np.float64)
        else:
            masks = (draws < keep).astype(np.float64)
        kept.append(np.einsum("lk,tl,lj->tkj", U, masks, U, optimize=True))
    grams = np.concatenate(kept)
    invertible = (np.linalg.eigvalsh(grams)[:, 0] > _SINGULAR).reshape(-1, 2).all(1)
    pairs = grams.reshape(-1, 2, k, k)[invertible]
    if len(pairs) < 2:
        raise Undecided(Reason.SAMPLING, f"{len(pairs)} of {samples} pairs of masks have invertible Gram matrices")
    forms = np.einsum("tsi,tsi->ts", *_solved(pairs, b)) - np.einsum("tsi,tsi->ts", *_solved(pairs, a))
    costs = forms[:, 0] - forms[:, 1]
    shifted = pairs - keep * np.eye(k)
    B = np.outer(a, a) - np.outer(b, b)
    linear = np.einsum("tij,ij->t", shifted[:, 0] - shifted[:, 1], B) / keep**2
    eta = np.abs(np.linalg.eigvalsh(shifted)).max((1, 2))
    close = eta < keep * (1 - 1e-9)
    if not close.any():
        raise Undecided(Reason.SAMPLING, "no pair of sampled masks is close enough to isotropic")
    bound = 2 * eta[close] ** 2 / (keep**2 * (keep - eta[close])) * (a @ a + b @ b)
    rounding = 1e-12 * (1 + np.abs(costs[close]))
    excess = np.maximum(np.abs(costs[close] - linear[close]) - rounding, 0.0) / np.maximum(bound, 1e-300)
    return SwapSpread(_deviation(costs), _deviation(linear), float(excess.max()))


def _solved(pairs: FloatArray, x: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return S⁻¹ x and x for every matrix."""
    right = np.broadcast_to(x, pairs.shape[:-1])
    return np.asarray(np.linalg.solve(pairs, right[..., None])[..., 0], np.float64), right


def _deviation(samples: FloatArray) -> Interval:
    """Return the standard deviation about 0, the mean by symmetry, and four standard errors."""
    square = mean_interval(samples**2)
    value = float(np.sqrt(square.value))
    return Interval(value, square.error / value if value else 0.0)
