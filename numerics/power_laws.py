"""Exponents of random quantities in the width, with an honest uncertainty, and what they say about a claimed exponent.

The exponent is the least-squares slope of log(statistic over seeds) against log(width). Its uncertainty has three parts: the
standard error over seeds (bootstrap, every width on its own, since equal seeds at different widths are not paired), widened
by the lack of fit; and the `band`, by which the upper half of the widths disagrees beyond its noise. NumPy only.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..core import InputError, Relation
from .frequencies import Interval
from .realization import FloatArray

__all__ = [
    "STATISTICS",
    "PowerLaw",
    "exponent_interval",
    "exponent_verdict",
    "planned_seeds",
    "power_law",
    "predicted_standard_error",
]

Decision: TypeAlias = Literal["supported", "refuted", "inconclusive"]


def _quantile(p: float, values: FloatArray, axis: int) -> FloatArray:
    found: FloatArray = np.quantile(np.abs(values), p, axis=axis)
    return found


STATISTICS: Mapping[str, Callable[[FloatArray, int], FloatArray]] = MappingProxyType(
    {
        "rms": lambda values, axis: np.sqrt(np.mean(values**2, axis=axis)),
        "mean": lambda values, axis: np.abs(np.mean(values, axis=axis)),
        "median": lambda values, axis: np.median(np.abs(values), axis=axis),
        **{f"quantile {p:g}": partial(_quantile, p) for p in (0.75, 0.9, 0.97)},
    }
)
"""What is fitted: of the values over seeds, along an axis. The median of |values| is robust where tails are heavy."""

LEAST_WIDTHS = 6
_SUPPORT = 1.96  # two-sided 5 %
_CONTRADICTION = 3.29  # two-sided 0.1 %
_ROUNDING = 100 * np.finfo(np.float64).eps
_CHUNK = 1 << 22  # resampled values at a time


@dataclass(frozen=True)
class PowerLaw:
    """A fitted exponent with everything that its uncertainty consists of.

    Parameters
    ----------
    exponent, standard_error : float
        Slope, and its standard deviation over resampled seeds. NaN where nothing can be fitted.
    low, high : float
        95 % bootstrap interval, for tables; it knows nothing of lack of fit.
    lack_of_fit : float
        χ² per degree of freedom of the statistics about the line.
    band : float
        Systematic part: what |exponent − exponent of the upper half of the widths| exceeds 1.96 of its standard deviations.
    widths, values : tuple
        What was fitted, after widths whose statistic is rounding were left out.
    upper : PowerLaw, optional
        The fit of the upper half of the widths alone.
    """

    exponent: float
    standard_error: float
    low: float
    high: float
    lack_of_fit: float
    band: float
    widths: tuple[int, ...]
    values: tuple[float, ...]
    upper: PowerLaw | None = None

    @property
    def spread(self) -> float:
        """Standard error, widened where the points lie off the line by more than their noise."""
        return self.standard_error * math.sqrt(max(1.0, self.lack_of_fit))

    @property
    def half_width(self) -> float:
        """An exponent within this distance can be supported: 1.96 `spread` + `band`."""
        return _SUPPORT * self.spread + self.band

    @property
    def reach(self) -> float:
        """Only an exponent farther away than this can be refuted: 3.29 `spread` + `band`."""
        return _CONTRADICTION * self.spread + self.band


def power_law(
    widths: Sequence[int],
    samples: Sequence[npt.ArrayLike],
    *,
    statistic: str = "rms",
    scales: Sequence[float] | None = None,
    log_power: float = 0.0,
    resamples: int = 2000,
    seed: int = 0,
) -> PowerLaw:
    """Return the exponent of a statistic of `samples` in the width.

    Parameters
    ----------
    widths : sequence of int
        At least six, increasing, about geometric.
    samples : sequence of arrays
        For each width the values over independent seeds.
    statistic : str
        Key of `STATISTICS`.
    scales : sequence of float, optional
        For each width the size of the terms that a value is a sum of. Widths whose statistic is below 100 eps of it are
        rounding and left out.
    log_power : float
        p, to fit statistic/(log n)^p.

    Raises
    ------
    InputError
        For fewer widths, fewer than two seeds, or an unknown statistic.

    Examples
    --------
    >>> widths = [2**k for k in range(4, 12)]
    >>> law = power_law(widths, [np.array([1.0, -1.0, 1.0]) / n for n in widths])
    >>> round(law.exponent, 12), law.half_width < 1e-12
    (-1.0, True)
    """
    arrays = [np.asarray(values, np.float64) for values in samples]
    _require_samples(widths, arrays, statistic)
    function = STATISTICS[statistic]
    values = np.array([float(function(array, 0)) for array in arrays])
    kept = [True] * len(widths)
    if scales is not None:
        kept = [not value <= _ROUNDING * scale for value, scale in zip(values, scales, strict=True)]
    kept_widths = tuple(int(n) for n, keep in zip(widths, kept, strict=True) if keep)
    nan = math.nan
    nothing = PowerLaw(nan, nan, nan, nan, nan, nan, kept_widths, tuple(values[kept].tolist()))
    if len(kept_widths) < LEAST_WIDTHS or not (np.isfinite(values[kept]) & (values[kept] > 0)).all():
        return nothing
    streams = np.random.SeedSequence(seed).spawn(len(widths))
    resampled = np.array(
        [
            _resampled(array, function, resamples, np.random.default_rng(stream))
            for array, stream, keep in zip(arrays, streams, kept, strict=True)
            if keep
        ]
    )
    shift = log_power * np.log(np.log(np.array(kept_widths, np.float64)))
    if not (np.isfinite(resampled) & (resampled > 0)).all():
        return nothing
    return _fit(kept_widths, values[kept], np.log(values[kept]) - shift, np.log(resampled) - shift[:, None])


def exponent_verdict(law: PowerLaw, exponent: float, relation: Relation, resolution: float) -> Decision:
    """Return what `law` says about the claim that the exponent is `exponent`, or at most that (an upper bound).

    Refuted only if the fit over all widths and that of their upper half both lie beyond their `reach`; equality is supported
    if exponent and claim are within `half_width`, and that within `resolution`; an upper bound, if exponent + half_width
    exceeds it by at most `resolution`. Anything NaN is inconclusive.

    Parameters
    ----------
    relation : Relation
        ``EQUAL``, or ``AT_MOST``: the statistic is O(n^exponent), and a steeper one is fine.
    resolution : float
        Fixed before measuring.
    """
    if _is_beyond(law, exponent, relation) and (law.upper is None or _is_beyond(law.upper, exponent, relation)):
        return "refuted"
    if relation is Relation.EQUAL:
        is_supported = abs(law.exponent - exponent) <= law.half_width <= resolution
    else:
        is_supported = law.exponent + law.half_width <= exponent + resolution
    return "supported" if is_supported else "inconclusive"


def exponent_interval(law: PowerLaw, resolution: float) -> Interval:
    """Return the exponent with an error for `lakatos.judge`, which adds the resolution of a claim before it contradicts.

    The error is the half-width, or more where that together with `resolution` would not cover the reach of both fits: nothing
    is refuted that `exponent_verdict` does not refute. The upper half needs five widths or so for a reach that leaves
    the error below the resolution, and a claim to be supported.
    """
    reach = law.reach
    if law.upper is not None:
        reach = max(reach, abs(law.upper.exponent - law.exponent) + law.upper.reach)
    error = max(law.half_width, reach - resolution)
    return Interval(law.exponent, math.nan if math.isnan(law.exponent) or math.isnan(reach) else error)


def planned_seeds(pilot: PowerLaw, seeds: int, resolution: float) -> int | None:
    """Return how many seeds give a half-width of `resolution`, from a pilot with `seeds` seeds.

    None if no number does: the systematic part already exceeds it, and larger widths are needed.
    """
    room = resolution - pilot.band
    if not room > 0:
        return None
    # Lack of fit is systematic: with more seeds it grows as they do, so that its part of the spread stays.
    excess = max(0.0, pilot.lack_of_fit - 1) / seeds
    systematic = _SUPPORT * pilot.standard_error * math.sqrt(seeds * excess)
    if not systematic < room:
        return None
    noise = _SUPPORT * pilot.standard_error * math.sqrt(seeds)
    return max(2, math.ceil((noise**2) / (room**2 - systematic**2)))


def predicted_standard_error(seeds: int, doublings: int) -> float:
    """Return the standard error of the exponent of a Gaussian quantity over `doublings` widths, each twice the last.

    Heavy tails make it two to four times larger.

    Raises
    ------
    InputError
        For fewer than two seeds or doublings.

    Examples
    --------
    >>> round(predicted_standard_error(60, 8), 4)
    0.0203
    """
    if seeds < 2 or doublings < 2:
        raise InputError(f"seeds={seeds!r}, doublings={doublings!r}: at least two of both are needed")
    return 1 / math.sqrt(2 * seeds) / (math.log(2) * math.sqrt(doublings * (doublings**2 - 1) / 12))


def _require_samples(widths: Sequence[int], samples: Sequence[FloatArray], statistic: str) -> None:
    if statistic not in STATISTICS:
        raise InputError(f"statistic={statistic!r}: choose one of {', '.join(STATISTICS)}")
    if len(widths) < LEAST_WIDTHS or list(widths) != sorted(set(widths)) or widths[0] < 2:
        raise InputError(f"widths={list(widths)!r}: {LEAST_WIDTHS} increasing widths or more are needed, from 2 on")
    if len(samples) != len(widths) or any(array.ndim != 1 or len(array) < 2 for array in samples):
        raise InputError("samples: for each width a list of the values of at least two seeds is needed")


def _resampled(
    values: FloatArray, function: Callable[[FloatArray, int], FloatArray], resamples: int, rng: np.random.Generator
) -> FloatArray:
    """Return the statistic of `resamples` draws with replacement."""
    rows = max(1, _CHUNK // len(values))
    counts = [min(rows, resamples - start) for start in range(0, resamples, rows)]
    return np.concatenate([function(values[rng.integers(0, len(values), (k, len(values)))], 1) for k in counts])


def _fit(widths: tuple[int, ...], values: FloatArray, y: FloatArray, resampled: FloatArray) -> PowerLaw:
    """Return the fit of logarithms `y`, with `resampled` ones (widths, resamples), and that of the upper half."""
    x = np.log(np.array(widths, np.float64))
    half = len(widths) // 2
    slope, slopes = _slope(x, y), _slope(x, resampled)
    noise = resampled.std(axis=1)
    residual = y - y.mean() - slope * (x - x.mean())
    noisy = noise > 0
    chi_square = float(((residual[noisy] / noise[noisy]) ** 2).sum()) / max(len(widths) - 2, 1)
    low, high = (float(edge) for edge in np.percentile(slopes, [2.5, 97.5]))
    band, upper = 0.0, None
    if len(widths) >= LEAST_WIDTHS:
        drift = slope - _slope(x[half:], y[half:])
        drift_noise = (slopes - _slope(x[half:], resampled[half:])).std()
        excess = float(np.abs(drift) - _SUPPORT * drift_noise)
        band = excess if math.isnan(excess) else max(0.0, excess)
        upper = _fit(widths[half:], values[half:], y[half:], resampled[half:])
    error = float(slopes.std())
    return PowerLaw(float(slope), error, low, high, chi_square, band, widths, tuple(values.tolist()), upper)


def _slope(x: FloatArray, y: FloatArray) -> FloatArray:
    """Return the least-squares slope of `y` (points, ...) against `x` (points,)."""
    centered = x - x.mean()
    slopes: FloatArray = (centered @ y) / (centered @ centered)
    return slopes


def _is_beyond(law: PowerLaw, exponent: float, relation: Relation) -> bool:
    distance = law.exponent - exponent
    return (abs(distance) if relation is Relation.EQUAL else distance) > law.reach
