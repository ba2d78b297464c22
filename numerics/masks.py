"""Random masks: how far the Gram matrix of what stays trainable is from isotropic. NumPy and SciPy."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.stats import binom

from .frequencies import FALSE_ALARM_RATE, Interval
from .realization import EPS, FloatArray

__all__ = ["anisotropy_quantile"]

_MOST_ENUMERATED = 12  # coordinates; 4096 masks
_CHUNK = 1000


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
