"""What is drawn of the result of a sweep: cells with values, their series, means and fits on logarithmic scales."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .core import InputError
from .sweep_table import Result

__all__ = ["Cells", "FloatArray", "LogFit", "log_fit", "log_means", "series_of"]

FloatArray: TypeAlias = NDArray[np.float64]

_CONFIDENCE = 0.95


@dataclass(frozen=True, eq=False)
class Cells:
    """The finished cells of a result with what is drawn of them: lists of equal length."""

    path: str
    x: list[Any]
    y: list[Any]
    value: list[Any]
    replicates: list[int]

    @classmethod
    def of(cls, result: Result, x: str, y: str, value: str | None = None) -> Cells:
        """Return the finished cells that have x and y.

        Raises
        ------
        InputError
            If there is no such column, or no such cell.
        """
        names = (x, y, value or x, "replicate", "status")
        rows = [
            row[:4] for row in zip(*map(result.column, names), strict=True) if row[4] == "done" and None not in row[:2]
        ]
        if not rows:
            raise InputError(f"{result.path}: no finished cell has {x!r} and {y!r}")
        return cls(str(result.path), *(list(column) for column in zip(*rows, strict=True)))

    def positive(self) -> tuple[FloatArray, FloatArray, NDArray[np.int64]]:
        """Return x, y and replicates of the cells at which both are positive and finite."""
        x, y = _numbers(self.x, self.path, "x"), _numbers(self.y, self.path, "y")
        kept = np.isfinite(x) & np.isfinite(y) & (x > 0) & (y > 0)
        return x[kept], y[kept], np.array(self.replicates, np.int64)[kept]

    def numbers(self, name: str) -> list[float]:
        """Return the values as numbers, NaN where there is none."""
        return [float(v) for v in _numbers(self.value, self.path, name)]

    def curves(self, x: str, y: str) -> list[tuple[list[float], list[float]]]:
        """Return x and y of every cell, which are lists.

        Raises
        ------
        InputError
            If they are none, or of different length.
        """
        pairs = list(zip(self.x, self.y, strict=True))
        if not all(isinstance(a, list) and isinstance(b, list) and len(a) == len(b) for a, b in pairs):
            raise InputError(f"{self.path}: columns {x!r} and {y!r} are no curves; curves are lists of equal length")
        return pairs


def series_of(result: Result, x: str, y: str, series: str | None) -> list[tuple[Any, Cells]]:
    """Return the values of the column `series`, in the order in which they occur, each with its finished cells.

    Raises
    ------
    InputError
        As `Cells.of`.
    """
    if series is None:
        return [(None, Cells.of(result, x, y))]
    every = Cells.of(result, x, y, series)
    groups: dict[Any, list[int]] = {}
    for i, name in enumerate(every.value):
        groups.setdefault(name, []).append(i)

    def chosen(values: Sequence[Any], rows: list[int]) -> list[Any]:
        return [values[i] for i in rows]

    return [
        (name, Cells(every.path, *(chosen(v, rows) for v in (every.x, every.y, every.value, every.replicates))))
        for name, rows in groups.items()
    ]


@dataclass(frozen=True)
class LogFit:
    """log y = intercept + slope · log x; the slope is within `half_width` of its value with a confidence of 95 %."""

    slope: float
    half_width: float
    intercept: float

    def at(self, x: FloatArray) -> FloatArray:
        """Return y at x."""
        return np.exp(self.intercept + self.slope * np.log(x))


def log_fit(x: FloatArray, y: FloatArray, replicates: NDArray[np.int64]) -> LogFit | None:
    """Return the fit of a power law to positive numbers; None if x has one value only.

    Every replicate with at least two different x has a slope; with two or more of them, the interval is that of their mean.
    Otherwise it is that of one regression, and infinite if there are only two points.

    Examples
    --------
    >>> fit = log_fit(np.array([1.0, 2, 4]), np.array([3.0, 12, 48]), np.zeros(3, int))
    >>> round(fit.slope, 9), round(fit.half_width, 9)
    (2.0, 0.0)
    """
    from scipy.stats import t

    if len(set(x)) < 2:
        return None
    a, b = np.log(x), np.log(y)
    slopes = [_slope(a[rows], b[rows]) for r in np.unique(replicates) if np.ptp(a[rows := replicates == r]) > 0]
    if len(slopes) > 1:
        slope = float(np.mean(slopes))
        error, freedom = float(np.std(slopes, ddof=1)) / math.sqrt(len(slopes)), len(slopes) - 1
    else:
        slope, freedom = _slope(a, b), len(a) - 2
        residual = b - b.mean() - slope * (a - a.mean())
        spread = float(((a - a.mean()) ** 2).sum())
        error = math.sqrt(float((residual**2).sum()) / freedom / spread) if freedom else math.inf
    half_width = float(t.ppf((1 + _CONFIDENCE) / 2, freedom)) * error if freedom else math.inf
    return LogFit(slope, half_width, float(b.mean() - slope * a.mean()))


def _slope(a: FloatArray, b: FloatArray) -> float:
    centered = a - a.mean()
    return float(centered @ b / (centered @ centered))


def log_means(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Return the values of x, and at each the geometric mean of y with both ends of its 95 % interval."""
    from scipy.stats import t

    at = np.unique(x)
    middle, width = np.empty(len(at)), np.zeros(len(at))
    for i, value in enumerate(at):
        logs = np.log(y[x == value])
        middle[i] = logs.mean()
        if len(logs) > 1:
            width[i] = t.ppf((1 + _CONFIDENCE) / 2, len(logs) - 1) * logs.std(ddof=1) / math.sqrt(len(logs))
    return at, np.exp(middle), np.exp(middle - width), np.exp(middle + width)


def _numbers(values: Sequence[Any], path: str, name: str) -> FloatArray:
    try:
        return np.array([math.nan if value is None else float(value) for value in values])
    except (TypeError, ValueError):
        raise InputError(f"{path}: {name}: its values are no numbers") from None
