"""Pictures of the result of a sweep: slopes with intervals, phase maps, drift curves; each is drawn on Axes and returned.

Colors are those of Okabe and Ito, and every line has its own dashes and marks, so that all of it can be told apart in grey
and by color-blind readers. Maps use ``cividis``, whose lightness rises with the value.
"""

from __future__ import annotations

import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from .conversion import short_text
from .core import InputError
from .plot_data import Cells, LogFit, log_fit, log_means, series_of
from .results import write_atomically
from .sweep_spec import PlotRequest
from .sweep_table import Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["draw", "drift", "phase", "slope"]

_COLORS = ("#000000", "#d55e00", "#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9")
_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)), (0, (3, 1)), (0, (6, 2, 1, 2, 1, 2)))
_MARKS = ("o", "s", "^", "D", "v", "P", "X")
_MAP = "cividis"
_DECADES = 300.0  # of values, from which on colors are logarithmic
_MOST_NUMBERS = 150  # in the fields of a map
_TITLE = 58  # characters in a line of a heading
_FORMATS = (".svg", ".png", ".pdf")


def slope(
    result: Result,
    x: str,
    y: str,
    *,
    series: str | None = None,
    theory: float | Mapping[str, float] | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Draw y against x on logarithmic axes with fitted slopes, and return the axes.

    Marks are geometric means over the cells at one x, bars their 95 % intervals. The slope is the mean of those of the
    replicates, with its 95 % interval; of a single replicate it is that of the regression.

    Parameters
    ----------
    series : str, optional
        Column whose values get lines of their own.
    theory : float or mapping, optional
        The slope that is expected, for all series or by the value of the series; drawn through the center of the marks.

    Raises
    ------
    InputError
        If there is no such column, or no cell with positive x and y.
    """
    ax = _axes(ax)
    skipped = 0
    for i, (name, cells) in enumerate(series_of(result, x, y, series)):
        xs, ys, replicates = cells.positive()
        skipped += len(cells.x) - len(xs)
        if not len(xs):
            continue
        at, means, low, high = log_means(xs, ys)
        style = _style(i)
        fit = log_fit(xs, ys, replicates)
        expected = theory.get(str(name)) if isinstance(theory, Mapping) else theory
        label = _slope_label(name, fit, expected)
        bars = np.array([means - low, high - means])
        ax.errorbar(
            at, means, bars, label=label, capsize=3, linewidth=1, markersize=5, **{**style, "linestyle": "none"}
        )
        if fit is not None:
            ax.plot(at, fit.at(at), color=style["color"], linestyle=style["linestyle"], linewidth=1.3)
        if expected is not None:
            line = np.exp(np.log(means).mean() + expected * (np.log(at) - np.log(at).mean()))
            ax.plot(at, line, color="0.45", linewidth=4, alpha=0.35, zorder=0)
    if not ax.lines:
        raise InputError(f"{result.path}: no finished cell with positive {x!r} and {y!r}; logarithmic axes need both")
    ax.set(xscale="log", yscale="log", xlabel=x, ylabel=y)
    _finish(ax, title, f"{skipped} cells that failed or are not positive are left out" if skipped else "")
    return ax


def phase(result: Result, x: str, y: str, value: str, *, title: str = "", ax: Axes | None = None) -> Axes:
    """Draw the mean of a column over x and y as a map, and return the axes; fields without a finished cell are hatched.

    The values of x and y are evenly spaced, whatever their distances. Truth values are shown as a share. Colors are
    logarithmic if the values are positive and range over more than a factor of 300.

    Raises
    ------
    InputError
        If there is no such column, or its values are no numbers.
    """
    from matplotlib.colors import LogNorm, Normalize

    ax = _axes(ax)
    cells = Cells.of(result, x, y, value)
    columns, rows = _sorted(cells.x), _sorted(cells.y)
    total = np.zeros((len(rows), len(columns)))
    count = np.zeros_like(total)
    for a, b, z in zip(cells.x, cells.y, cells.numbers(value), strict=True):
        if not math.isnan(z):
            total[rows.index(b), columns.index(a)] += z
            count[rows.index(b), columns.index(a)] += 1
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = np.ma.masked_invalid(total / count)
    ax.patch.set(hatch="///", edgecolor="0.6", facecolor="white")
    low, high = (float(mean.min()), float(mean.max())) if mean.count() else (0.0, 0.0)
    norm = LogNorm(low, high) if low > 0 and high / low > _DECADES else Normalize(low, high)
    image = ax.pcolormesh(mean, cmap=_MAP, norm=norm, edgecolors="white", linewidth=0.5)
    bar = ax.figure.colorbar(image, ax=ax, label=value)
    bar.outline.set_visible(False)
    ax.set_xticks(np.arange(len(columns)) + 0.5, [_short(v) for v in columns], rotation=45 if len(columns) > 8 else 0)
    ax.set_yticks(np.arange(len(rows)) + 0.5, [_short(v) for v in rows])
    if mean.size <= _MOST_NUMBERS and mean.count():
        for (r, c), number in np.ndenumerate(mean):
            if math.isfinite(number):
                color = "black" if norm(number) > 0.5 else "white"
                ax.text(c + 0.5, r + 0.5, f"{number:.2g}", ha="center", va="center", fontsize=7, color=color)
    ax.set(xlabel=x, ylabel=y)
    ax.tick_params(length=0)
    _finish(ax, title, "")
    return ax


def drift(
    result: Result, x: str, y: str, *, series: str | None = None, title: str = "", ax: Axes | None = None
) -> Axes:
    """Draw curves, columns of lists, on a logarithmic scale, and return the axes.

    Of cells with the same x, the median is drawn, and a band from the smallest to the largest; otherwise every curve.

    Raises
    ------
    InputError
        If there is no such column, or its values are no lists.
    """
    ax = _axes(ax)
    for i, (name, cells) in enumerate(series_of(result, x, y, series)):
        curves = cells.curves(x, y)
        style = {key: value for key, value in _style(i).items() if key != "marker"}
        label = "" if name is None else f"{series} = {_short(name)}"
        if len({tuple(a) for a, _ in curves}) == 1:
            at = np.array(curves[0][0])
            values = np.array([b for _, b in curves], float)
            ax.plot(at, _positive(np.median(values, 0)), label=label, **style)
            if len(values) > 1:
                low, high = _positive(values.min(0)), _positive(values.max(0))
                ax.fill_between(at, low, high, color=style["color"], alpha=0.18, linewidth=0)
        else:
            for k, (times, heights) in enumerate(curves):
                ax.plot(times, _positive(np.array(heights)), label="" if k else label, linewidth=0.8, **style)
    ax.set(yscale="log", xlabel=x, ylabel=y)
    _finish(ax, title, "")
    return ax


def draw(result: Result, plot: PlotRequest, output: Path) -> None:
    """Draw the picture that was asked for into the file `output`.

    Raises
    ------
    InputError
        As the function for this kind of picture; for an unknown ending of the file, and if it cannot be written.
    """
    if output.suffix not in _FORMATS:
        raise InputError(f"{output}: unknown format; pictures end in {', '.join(_FORMATS)}")
    import matplotlib as mpl
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    ax = figure.subplots()
    title = plot.title or str(result.metadata.get("title", ""))
    if plot.kind == "slope":
        slope(result, plot.x, plot.y, series=plot.series, theory=plot.theory, title=title, ax=ax)
    elif plot.kind == "phase":
        phase(result, plot.x, plot.y, str(plot.value), title=title, ax=ax)
    else:
        drift(result, plot.x, plot.y, series=plot.series, title=title, ax=ax)
    sink = io.BytesIO()
    # The same result gives the same bytes.
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(output.suffix, {})
    with mpl.rc_context({"svg.hashsalt": "lakatos"}):
        figure.savefig(sink, format=output.suffix[1:], dpi=150, metadata=metadata)
    write_atomically(output, sink.getvalue())


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    from matplotlib.figure import Figure

    return Figure(layout="constrained").subplots()


def _style(i: int) -> dict[str, Any]:
    return {
        "color": _COLORS[i % len(_COLORS)],
        "linestyle": _DASHES[i % len(_DASHES)],
        "marker": _MARKS[i % len(_MARKS)],
    }


def _finish(ax: Axes, title: str, note: str) -> None:
    ax.set_title("\n".join(wrap(title, _TITLE)), fontsize=11)
    if note:
        ax.annotate(note, (0.99, 0.01), xycoords="axes fraction", ha="right", fontsize=7, color="0.3")
    if any(ax.get_legend_handles_labels()[1]):
        ax.legend(fontsize=8, frameon=False, handlelength=3.5)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _slope_label(name: Any, fit: LogFit | None, expected: float | None) -> str:
    parts = [] if name is None else [_short(name)]
    if fit is not None:
        parts.append(f"slope {fit.slope:.3f}" + (f" ± {fit.half_width:.2g}" if math.isfinite(fit.half_width) else ""))
    if expected is not None:
        parts.append(f"theory {expected:g}")
    return ", ".join(parts)


def _positive(values: Any) -> Any:
    return np.where(values > 0, values, np.nan)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else short_text(value).strip("'")


def _sorted(values: Sequence[Any]) -> list[Any]:
    distinct = set(values)
    return sorted(distinct, key=str) if {type(v) for v in distinct} - {int, float, bool} else sorted(distinct)
