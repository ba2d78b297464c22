"""Observed frequencies and samples against laws, with exact error rates. NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from ..core import InputError
from .realization import FloatArray

__all__ = [
    "FALSE_ALARM_RATE",
    "Interval",
    "clopper_pearson",
    "kolmogorov_smirnov",
    "least_interval",
    "mean_interval",
    "mean_of_shares",
]

FALSE_ALARM_RATE = 1e-3
"""Declared chance that an interval misses the true value."""

_STANDARD_ERRORS = 4.0  # a mean of many samples is further off with probability 6e-5


@dataclass(frozen=True)
class Interval:
    """An estimate and a bound on its distance from the truth, which fails with probability `FALSE_ALARM_RATE` at most."""

    value: float
    error: float


def clopper_pearson(successes: int, trials: int) -> Interval:
    """Return the observed frequency, with the larger side of the exact two-sided interval as its error.

    Raises
    ------
    InputError
        Unless 0 ≤ successes ≤ trials and trials > 0.
    """
    if not 0 <= successes <= trials or trials == 0:
        raise InputError(f"successes={successes!r}, trials={trials!r}: 0 <= successes <= trials is needed")
    half = FALSE_ALARM_RATE / 2
    low = float(stats.beta.ppf(half, successes, trials - successes + 1)) if successes else 0.0
    high = float(stats.beta.isf(half, successes + 1, trials - successes)) if successes < trials else 1.0
    frequency = successes / trials
    return Interval(frequency, max(frequency - low, high - frequency))


def mean_interval(samples: FloatArray) -> Interval:
    """Return the mean of independent samples and four standard errors."""
    spread = float(np.std(samples, ddof=1))
    return Interval(float(np.mean(samples)), _STANDARD_ERRORS * spread / float(np.sqrt(len(samples))))


def mean_of_shares(samples: FloatArray) -> Interval:
    """Return the mean of independent numbers in [0, 1], with Hoeffding's bound on its error."""
    half_width = float(np.sqrt(np.log(2 / FALSE_ALARM_RATE) / (2 * len(samples))))
    return Interval(float(np.mean(samples)), half_width)


def least_interval(intervals: Sequence[Interval]) -> Interval:
    """Return the minimum of what was estimated: its ends are the minima of the ends. NaN in any of them stays."""
    ends = np.array([[i.value - i.error, i.value, i.value + i.error] for i in intervals])
    low, value, high = (float(end) for end in ends.min(axis=0))
    return Interval(value, max(value - low, high - value))


def kolmogorov_smirnov(samples: FloatArray, cdf: Callable[[FloatArray], FloatArray]) -> Interval:
    """Return sup |F_N − F| for samples against a continuous law, and its quantile at 1 − `FALSE_ALARM_RATE` as error."""
    n = len(samples)
    law = cdf(np.sort(samples))
    steps = np.arange(n + 1) / n
    distance = float(max((steps[1:] - law).max(), (law - steps[:-1]).max()))
    return Interval(distance, float(stats.kstwo.isf(FALSE_ALARM_RATE, n)))
