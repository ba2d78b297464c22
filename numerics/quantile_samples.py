"""Samples of random sequences by name, the exponents of their quantiles in n, and variances of products. NumPy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..core import InputError
from .frequencies import Interval
from .power_laws import exponent_interval, power_law
from .realization import FloatArray

__all__ = ["product_variance_gap", "quantile_exponents", "sequence_samples"]


def sequence_samples(law: str, s: float, n: int, count: int, rng: np.random.Generator) -> FloatArray:
    """Return `count` values of X_n.

    Raises
    ------
    InputError
        For an unknown law.
    """
    values: FloatArray
    if law == "exponential":
        values = n**s * rng.exponential(size=count)
        return values
    if law == "pareto":
        values = n**s * (1 + rng.pareto(2.0, size=count))
        return values
    if law == "uniform_power":
        values = n ** rng.uniform(size=count)
        return values
    if law == "one_or_n":
        return np.where(rng.uniform(size=count) < 0.5, 1.0, float(n))
    raise InputError(f"law={law!r}: unknown")


def quantile_exponents(
    law: str, s: float, levels: Sequence[float], widths: Sequence[int], *, count: int, seed: int, resolution: float
) -> list[Interval]:
    """Return for each level the exponent of that sample quantile in n, from independent samples at each width."""
    samples = [sequence_samples(law, s, n, count, np.random.default_rng([seed, n])) for n in widths]
    laws = [power_law(widths, samples, statistic=f"quantile {level:g}", resamples=200, seed=seed) for level in levels]
    return [exponent_interval(found, resolution) for found in laws]


def product_variance_gap(table: Sequence[tuple[float, float, float]]) -> Interval:
    """Return Var(M₁M₂) − Var M₁ Var M₂ for rows (m₁, m₂, probability), with rounding."""
    x, y, p = np.array(table).T
    moments = [p @ x, p @ y, p @ (x * y), p @ x**2, p @ y**2, p @ (x * y) ** 2]
    gap = moments[5] - moments[2] ** 2 - (moments[3] - moments[0] ** 2) * (moments[4] - moments[1] ** 2)
    size = moments[5] + moments[2] ** 2 + (moments[3] + moments[0] ** 2) * (moments[4] + moments[1] ** 2)
    return Interval(float(gap), float(1e-13 * size))
