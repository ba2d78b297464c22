"""Random masks: how often the Gram matrix of what stays trainable is far from isotropic. NumPy."""

from __future__ import annotations

from itertools import product

import numpy as np

from .frequencies import Interval, clopper_pearson
from .realization import EPS, FloatArray

__all__ = ["excess_probability"]

_MOST_ENUMERATED = 12  # coordinates; 4096 masks
_CHUNK = 1000


def excess_probability(U: FloatArray, keep: float, bound: float, *, samples: int, seed: int) -> tuple[Interval, bool]:
    """Return P(‖S − keep·1‖₂ > bound) over independent masks, and whether all masks were listed.

    With at most 12 coordinates every mask is listed with its probability; otherwise the frequency among `samples` masks.
    """
    n = len(U)
    slack = 8 * n * EPS  # rounding of S and of its eigenvalues, all at most 1
    if n <= _MOST_ENUMERATED:
        masks = np.array(list(product((0.0, 1.0), repeat=n)))
        chances = np.prod(np.where(masks == 1, keep, 1 - keep), axis=1)
        return Interval(float(chances[_anisotropy(U, masks, keep) > bound + slack].sum()), n * EPS), True
    generator = np.random.default_rng(seed)
    exceeded = 0
    for start in range(0, samples, _CHUNK):
        masks = (generator.random((min(_CHUNK, samples - start), n)) < keep).astype(np.float64)
        exceeded += int((_anisotropy(U, masks, keep) > bound + slack).sum())
    return clopper_pearson(exceeded, samples), False


def _anisotropy(U: FloatArray, masks: FloatArray, keep: float) -> FloatArray:
    """Return ‖Uᵀ diag(mask) U − keep·1‖₂ for each mask."""
    k = U.shape[1]
    grams = np.einsum("lk,tl,lj->tkj", U, masks, U, optimize=True)
    found: FloatArray = np.abs(np.linalg.eigvalsh(grams - keep * np.eye(k))).max(1)
    return found
