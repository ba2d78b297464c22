"""Random centers: how close the nearest are, and how far a re-indexing of inputs moves them. NumPy and SciPy."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import pdist
from scipy.stats import chi2

from .frequencies import Interval, clopper_pearson, kolmogorov_smirnov, mean_interval, mean_of_shares
from .realization import FloatArray

__all__ = [
    "close_masked_centers",
    "closer_than",
    "input_shift_law",
    "input_shifts",
    "median_interval",
    "nearest_distances",
    "separation_law",
]

_CHUNK = 1000  # replicates at once
_NORMAL_QUANTILE = 3.29  # two-sided at 1e-3


def nearest_distances(m: int, k: int, *, sigma: float, replicates: int, seed: int) -> FloatArray:
    """Return the smallest distance among m centers N(0, σ²1_k), for each replicate."""
    generator = np.random.default_rng(seed)
    return np.array([pdist(sigma * generator.standard_normal((m, k))).min() for _ in range(replicates)])


def closer_than(distances: FloatArray, r: float) -> Interval:
    """Return the frequency of a nearest distance of at most r."""
    return clopper_pearson(int((distances <= r).sum()), len(distances))


def median_interval(samples: FloatArray) -> Interval:
    """Return the logarithm of the sample median, and its distance to the far order statistic that bounds the true one."""
    ordered = np.sort(samples)
    n = len(ordered)
    reach = int(np.ceil(_NORMAL_QUANTILE * np.sqrt(n) / 2)) + 1  # ranks: the count below the median is Binomial(n, 1/2)
    low, high = ordered[max(n // 2 - reach, 0)], ordered[min(n // 2 + reach, n - 1)]
    middle = float(np.log(np.median(ordered)))
    return Interval(middle, max(middle - float(np.log(low)), float(np.log(high)) - middle))


def separation_law(distances: FloatArray, m: int, k: int, sigma: float) -> Interval:
    """Return the Kolmogorov-Smirnov distance of the mean numbers λ(r_min) of closer pairs from Exp(1)."""
    close = m * (m - 1) / 2 * chi2.cdf((distances / sigma) ** 2 / 2, k)
    return kolmogorov_smirnov(close, lambda x: -np.expm1(-x))


def close_masked_centers(
    U: FloatArray, D: FloatArray, *, radius: float, sigma: float, replicates: int, seed: int
) -> tuple[Interval, Interval]:
    """Return the mean share of pairs of centers Uᵀ(σ(1 − d_i) ⊙ g_i) at most `radius` apart, and how often there is one.

    D is m × n with entries 0 and 1; the g_i are normal.
    """
    generator = np.random.default_rng(seed)
    shares = np.empty(replicates)
    for start in range(0, replicates, _CHUNK):
        count = min(_CHUNK, replicates - start)
        V = (sigma * (1 - D) * generator.standard_normal((count, *D.shape))) @ U
        i, j = np.triu_indices(len(D), 1)
        shares[start : start + count] = (np.linalg.norm(V[:, i] - V[:, j], axis=-1) <= radius).mean(1)
    return mean_of_shares(shares), clopper_pearson(int((shares > 0).sum()), replicates)


def input_shifts(
    U: FloatArray, a: int, b: int, m: int, *, sigma: float, replicates: int, seed: int, keep: float = 1.0
) -> FloatArray:
    """Return ‖F (P_τ − 1) U‖² for the exchange τ of inputs a and b, for each replicate.

    F is m × n with independent entries: N(0, σ²) with probability `keep`, otherwise 0.
    """
    exchanged = U.copy()
    exchanged[[a, b]] = U[[b, a]]
    generator = np.random.default_rng(seed)
    shape = (m, len(U))
    shifts = []
    for _ in range(replicates):
        F = sigma * generator.standard_normal(shape) * (generator.random(shape) < keep)
        shifts.append(float(((F @ (exchanged - U)) ** 2).sum()))
    return np.array(shifts)


def input_shift_law(shifts: FloatArray, scale: float, m: int) -> tuple[Interval, Interval]:
    """Return the mean, and the Kolmogorov-Smirnov distance of shifts/scale from χ²_m."""
    return mean_interval(shifts), kolmogorov_smirnov(shifts / scale, lambda x: chi2.cdf(x, m))
