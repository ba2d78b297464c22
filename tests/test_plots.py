"""Fits and pictures of results: slopes against known ones, what is drawn where, files that open."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.core import InputError
from lakatos.plot_data import log_fit, log_means
from lakatos.sweep_spec import PlotRequest
from lakatos.sweep_table import Result

pytest.importorskip("matplotlib")

from lakatos import plots

RATES = [0.1, 0.2, 0.4]


def result(**columns: list[Any]) -> Result:
    count = len(next(iter(columns.values())))
    return Result(Path("r"), {"status": ["done"] * count, "replicate": [0] * count, **columns}, {"title": "drift"})


def powers(order: float, replicates: int = 4) -> Result:
    """y = c · x^order, with a factor c for each replicate."""
    cells = [(x, r) for x in RATES for r in range(replicates)]
    return result(
        x=[x for x, _ in cells],
        y=[(1 + r) * x**order for x, r in cells],
        replicate=[r for _, r in cells],
        method=["gd" if r % 2 else "sgd" for _, r in cells],
    )


@given(st.floats(-3, 4), st.floats(-5, 5), st.integers(1, 5))
def test_power_laws_are_found(slope: float, intercept: float, replicates: int) -> None:
    x = np.tile([0.1, 0.3, 1.0, 2.0], replicates)
    factors = np.repeat(np.arange(1.0, replicates + 1), 4)
    fit = log_fit(x, math.exp(intercept) * factors * x**slope, np.repeat(np.arange(replicates), 4))
    assert fit is not None
    assert fit.slope == pytest.approx(slope, abs=1e-9)
    assert fit.half_width < 1e-7
    assert fit.at(np.ones(1)) == pytest.approx(math.exp(intercept + np.log(np.arange(1, replicates + 1)).mean()))


def test_intervals_of_slopes_hold_the_truth_as_often_as_they_say() -> None:
    generator = np.random.default_rng(0)
    x, replicates = np.tile([1.0, 2.0, 4.0], 6), np.repeat(np.arange(6), 3)
    hits = {"replicates": 0, "regression": 0}
    for _ in range(600):
        y = x**1.5 * np.exp(0.2 * generator.standard_normal(18))
        for name, groups in (("replicates", replicates), ("regression", np.zeros(18, int))):
            fit = log_fit(x, y, groups)
            assert fit is not None
            hits[name] += abs(fit.slope - 1.5) <= fit.half_width
    assert all(549 <= count <= 591 for count in hits.values()), hits  # 570 ± 4 standard deviations


def test_means_are_geometric_with_intervals_of_student() -> None:
    at, means, low, high = log_means(np.array([1.0, 1, 2]), np.array([1.0, 4, 5]))
    assert at.tolist() == [1, 2]
    assert means == pytest.approx([2, 5])
    half = 12.7062 * math.log(2)  # t quantile of one degree of freedom, times the standard error of log 1 and log 4
    assert np.log(high / means) == pytest.approx([half, 0], abs=1e-4)
    assert np.log(means / low) == pytest.approx([half, 0], abs=1e-4)


def test_two_points_have_no_interval_and_one_no_slope() -> None:
    fit = log_fit(np.array([1.0, 2]), np.array([1.0, 8]), np.zeros(2, int))
    assert fit is not None
    assert (fit.slope, fit.half_width) == (pytest.approx(3), math.inf)
    assert log_fit(np.ones(3), np.ones(3), np.zeros(3, int)) is None


def test_slopes_are_told_with_the_theory_through_the_center() -> None:
    ax = plots.slope(powers(2.0), "x", "y", series="method", theory={"gd": 2})
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert [label.split(",")[0] for label in labels] == ["sgd", "gd"]
    assert all("slope 2.000 ± " in label for label in labels)
    assert [label.endswith("theory 2") for label in labels] == [False, True]
    (theory,) = [line for line in ax.lines if line.get_linewidth() == 4]
    y = [np.exp(np.log([2, 4]).mean()) * x**2 for x in RATES]
    assert theory.get_ydata() == pytest.approx(y)
    assert (ax.get_xscale(), ax.get_yscale()) == ("log", "log")


def test_cells_that_failed_or_are_not_positive_are_counted_not_drawn() -> None:
    table = result(x=[1.0, 2, 4, 8], y=[1.0, 2, 0.0, math.inf], status=["done", "done", "done", "done"])
    ax = plots.slope(table, "x", "y")
    assert [text.get_text() for text in ax.texts] == ["2 cells that failed or are not positive are left out"]
    with pytest.raises(InputError, match="positive 'x' and 'y'"):
        plots.slope(result(x=[1.0], y=[-1.0]), "x", "y")


def test_maps_show_means_where_they_belong() -> None:
    table = result(a=[1, 2, 1, 1], b=[0.5, 0.5, 2.0, 2.0], z=[1.0, 2.0, 3.0, 5.0])
    ax = plots.phase(table, "a", "b", "z")
    (mesh,) = ax.collections
    values = mesh.get_array()
    assert values.tolist() == [[1, 2], [4, None]]
    assert [tick.get_text() for tick in ax.get_xticklabels()] == ["1", "2"]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == ["0.5", "2"]
    assert [text.get_text() for text in ax.texts] == ["1", "2", "4"]


def test_lightness_of_maps_rises_with_the_value() -> None:
    from matplotlib import colormaps

    lightness = colormaps[plots._MAP](np.linspace(0, 1, 50))[:, :3] @ [0.299, 0.587, 0.114]
    assert (np.diff(lightness) > 0).all()


def test_curves_have_a_median_and_a_band() -> None:
    table = result(t=[[0.0, 1.0]] * 3, d=[[0.0, 1.0], [0.0, 3.0], [0.0, 8.0]])
    ax = plots.drift(table, "t", "d")
    (line,) = ax.lines
    assert line.get_ydata()[1] == 3
    (band,) = ax.collections
    assert band.get_paths()[0].vertices[:, 1].max() == 8
    apart = result(t=[[0.0, 1.0], [0.0, 2.0]], d=[[1.0, 1.0], [1.0, 3.0]])
    assert len(plots.drift(apart, "t", "d").lines) == 2
    with pytest.raises(InputError, match="are no curves"):
        plots.drift(powers(1), "x", "y")


@pytest.mark.parametrize("ending", ["svg", "png", "pdf"])
@pytest.mark.parametrize("kind", ["slope", "phase"])
def test_files_repeat(ending: str, kind: Any, tmp_path: Path) -> None:
    request = PlotRequest(kind, "x", "y" if kind == "slope" else "replicate", value="y", series="method", theory=1.0)
    for name in ("a", "b"):
        plots.draw(powers(1.0), request, tmp_path / f"{name}.{ending}")
    first, second = (tmp_path / f"{name}.{ending}" for name in ("a", "b"))
    assert first.read_bytes() == second.read_bytes()
    assert first.stat().st_size > 2000


def test_what_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no column 'yy'; did you mean 'y'"):
        plots.slope(powers(1), "x", "yy")
    with pytest.raises(InputError, match="method: its values are no numbers"):
        plots.phase(powers(1), "x", "replicate", "method")
    with pytest.raises(InputError, match="unknown format; pictures end in"):
        plots.draw(powers(1), PlotRequest("slope", "x", "y"), tmp_path / "a.gif")
