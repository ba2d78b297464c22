"""What every experiment that can be swept owes, what the small sweeps show, and the version of the code behind them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.code_version import code_version, modules_behind
from lakatos.core import InputError, Undecided
from lakatos.numerics import registry
from lakatos.numerics.registry import Experiment, Row, load_experiment
from lakatos.numerics.training_sweeps import DriftSettings, LawSettings, balance_drifts, linear_law_drift
from lakatos.sweep_folder import Sweep, open_sweep
from lakatos.sweep_summary import summary_of
from lakatos.sweep_table import read_result
from lakatos.sweep_task import row_from_json

SPECS = sorted((Path(__file__).parents[1] / "experiments").glob("*.toml"))

# Settings at which every experiment takes moments.
QUICK: Mapping[str, dict[str, Any]] = {
    "toy_obstruction": {"samples": 10, "steps": 8},
    "two_neuron_obstruction": {"samples": 10, "time": 0.1},
    "balance_drift": {"time": 0.1},
    "linear_law_drift": {"time": 0.2},
    "penalized_training": {"hidden": (3,), "steps": 3},
    "coherence_barriers": {"pairs": 1, "epochs": 1, "samples": 64},
    "subspace_barriers": {"pairs": 1, "epochs": 1, "samples": 100},
    "image_barriers": {"pairs": 1, "epochs": 1, "samples": 100},
    "one_hidden_correlations": {"width": 16},
}
KNOWN = [name for name in registry.HOMES if name in QUICK]


def quick(name: str, seeds: list[int]) -> tuple[Experiment, list[Row]]:
    experiment, _ = load_experiment(name)
    settings = experiment.settings(**QUICK[name])
    return experiment, experiment.run([settings] * len(seeds), seeds, "cpu")


@pytest.mark.parametrize("name", KNOWN)
def test_rows_depend_on_settings_and_seed_within_rounding(name: str) -> None:
    experiment, together = quick(name, [3, 4, 5])
    _, alone = quick(name, [4])
    assert differences(together[1], alone[0]) <= experiment.rounding
    assert differences(together[1], quick(name, [3, 4, 5])[1][1]) == 0
    assert differences(together[0], together[1]) > 0


def differences(first: Row, second: Row) -> float:
    assert first.keys() == second.keys()
    worst = 0.0
    for name, value in first.items():
        if not isinstance(value, str):
            a, b = np.atleast_1d(np.array(value, float)), np.atleast_1d(np.array(second[name], float))
            scale = np.maximum(1, np.maximum(np.abs(a), np.abs(b)))
            worst = max(worst, float(np.where(a == b, 0, np.abs(a - b) / scale).max()))
    return worst


@pytest.mark.parametrize("name", KNOWN)
def test_columns_of_results_are_not_those_of_settings(name: str) -> None:
    experiment, (row,) = quick(name, [0])
    taken = {field.name for field in dataclasses.fields(experiment.settings)}
    assert not row.keys() & (taken | {"key", "replicate", "seed", "device", "status", "error", "theorem", "instance"})
    assert all(isinstance(value, (bool, int, float, str, tuple)) for value in row.values())
    experiment.settings()  # everything has a default


def test_wrong_registrations_are_refused() -> None:
    with pytest.raises(InputError, match=r"experiment='toy'.*toy_obstruction"):
        load_experiment("toy")
    with pytest.raises(ValueError, match=r"\['y'\] are no fields of LawSettings"):
        Experiment("", LawSettings, lambda *_: [], varying=("y",))
    with pytest.raises(ValueError, match="batch=0"):
        Experiment("", LawSettings, lambda *_: [], batch=0)


# Trends --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_descriptions_are_valid(path: Path, tmp_path: Path) -> None:
    sweep = open_sweep(path, tmp_path)
    assert sweep.plan.cell_count > 1
    assert sweep.spec.title
    assert sweep.spec.plots


def ran(name: str, tmp_path: Path, **columns: str) -> Mapping[str, list[Any]]:
    """The columns of the result of a small sweep, computed in this process."""
    (path,) = [path for path in SPECS if path.stem == name]
    sweep: Sweep = open_sweep(path, tmp_path / "out")
    with sweep.held():
        with ThreadPoolExecutor(1) as executor:
            sweep.run(executor)
        sweep.consolidate()
    assert summary_of(sweep).failed == 0
    return read_result(sweep.store.result).columns


def test_methods_of_order_p_keep_laws_to_order_p(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from lakatos.plot_data import log_fit, series_of
    from lakatos.sweep_table import Result

    columns = ran("linear_law_drift_small", tmp_path)
    orders = {"gd": 1, "heavy_ball": 1, "ab2": 2, "rk4": 4, "adam": 0}
    for method, cells in series_of(Result(tmp_path, columns, {}), "step", "drift", "method"):
        fit = log_fit(*cells.positive())
        assert fit is not None
        assert abs(fit.slope - orders[method]) < 0.25, (method, fit)
    assert set(columns["method"]) == set(orders)


def test_a_theorem_is_swept_over_its_balances(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    columns = ran("locked_signs_small", tmp_path)
    # Each neuron is the only way out for its inputs: its outgoing weight is locked if the balance is negative.
    expected = [(a < 0) + (b < 0) for a, b in zip(columns["balance.a"], columns["balance.b"], strict=True)]
    assert columns["predicted.log2_components"] == expected
    assert columns["outcome"] == ["proved"] * 25


@pytest.mark.slow
@pytest.mark.parametrize("name", [path.stem for path in SPECS if path.stem.endswith("_small")])
def test_small_sweeps_show_what_they_say(name: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    columns = ran(name, tmp_path)

    def mean(value: str, **where: Any) -> float:
        rows = [i for i in range(len(columns["key"])) if all(columns[k][i] == v for k, v in where.items())]
        return float(np.mean([columns[value][i] for i in rows]))

    match name:
        case "toy_obstruction_small":
            for frozen, ratio in zip(columns["last_weight_minimum"], columns["loss_over_zero_loss"], strict=True):
                assert ratio > 0.99 or frozen == 0
        case "balance_drift_small":
            for method, order in (("gd", 1), ("heavy_ball", 1), ("adam", 0)):
                ratio = mean("drift", method=method, rate=0.04) / mean("drift", method=method, rate=0.005)
                assert abs(math.log(ratio, 8) - order) < 0.35
        case "penalized_training_small":
            assert mean("defect", penalty="none") == mean("defect", penalty="l2") == 0
            assert min(mean("defect", penalty="l1"), mean("defect", penalty="nuclear")) > 2
        case "coherence_small":
            assert mean("barrier", active=10) > mean("barrier", active=1)
        case "subspace_small":
            assert mean("barrier", dimension=2, sigma=1.0) > mean("barrier", dimension=2, sigma=0.0)
        case "correlations_small":
            for column, exponent in (("C02", -1), ("C11", -0.5)):
                ratio = mean(column, activation="tanh", width=1024) / mean(column, activation="tanh", width=64)
                assert abs(math.log(ratio, 16) - exponent) < 0.25
            assert mean("C03", activation="identity") == 0
        case "digits_small":
            assert mean("barrier", sigma=3.0) > mean("barrier", sigma=0.0)


# Experiments of this folder ----------------------------------------------------------------------------------------


def test_drift_halves_with_the_rate_and_balances_are_those_of_the_network() -> None:
    drifts = [balance_drifts([DriftSettings(rate=rate, time=0.4)], [7])[0]["drift"] for rate in (0.02, 0.01, 0.005)]
    assert all(1.9 < a / b < 2.1 for a, b in pairwise(drifts))  # type: ignore[operator]
    (smooth,) = balance_drifts([DriftSettings(rate=0.005, time=0.4, activation="tanh")], [7])
    assert smooth["drift"] > 10 * drifts[-1]  # type: ignore[operator]


def test_the_midpoint_rule_keeps_quadratic_laws() -> None:
    assert linear_law_drift(LawSettings(method="midpoint"), 0)["drift"] < 1e-12  # type: ignore[operator]
    assert linear_law_drift(LawSettings(method="gd"), 0)["drift"] > 1e-3  # type: ignore[operator]


def test_runs_that_diverge_say_so() -> None:
    with pytest.raises(Undecided, match="not finite"):
        balance_drifts([DriftSettings(rate=100.0, time=10000.0, activation="identity")], [0])
    with pytest.raises(InputError, match="equal settings"):
        balance_drifts([DriftSettings(), DriftSettings(rate=0.1)], [0, 1])


def test_rows_survive_json() -> None:
    assert row_from_json({"a": {"float": "inf"}, "b": [1.0, {"float": "nan"}], "c": "inf"})["a"] == math.inf
    row = row_from_json({"b": [1.0, {"float": "-inf"}], "c": "inf", "d": 2})
    assert row == {"b": [1.0, -math.inf], "c": "inf", "d": 2}


# Versions of the code ------------------------------------------------------------------------------------------------


def test_code_behind_an_experiment_is_what_it_imports() -> None:
    behind = modules_behind("lakatos.numerics.training_sweeps")
    assert {"lakatos.numerics.descent", "lakatos.numerics.integrators", "lakatos.graphs.connectivity"} <= behind.keys()
    others = ("lakatos.numerics.registry", "lakatos.numerics.penalized_training", "lakatos.judge", "lakatos.cli")
    assert not behind.keys() & set(others)


def test_code_behind_a_theorem_has_both_sides_though_they_load_lazily() -> None:
    behind = modules_behind("lakatos.theorems.balance_drift_exact_of_discrete_step", "lakatos.verification")
    assert {"lakatos.theory.steps", "lakatos.numerics.drift", "lakatos.judge", "lakatos.checker"} <= behind.keys()
    assert "lakatos.theorems.linear_model_law_count" not in behind


def test_versions_change_with_any_source_and_not_with_comments_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "versioned_plug_in"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "main.py").write_text(
        "from typing import TYPE_CHECKING\nfrom . import used\nif TYPE_CHECKING:\n    from . import typing_only\n"
        "def f():\n    from .late import g\n    return g\n"
    )
    for name in ("used", "late", "typing_only", "other"):
        (package / f"{name}.py").write_text("g = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    module = "versioned_plug_in.main"

    def version() -> str:
        code_version.cache_clear()
        return code_version(module)

    assert {name.rpartition(".")[2] for name in modules_behind(module)} == {"main", "used", "late"}
    first = version()
    (package / "other.py").write_text("g = 2\n")
    (package / "typing_only.py").write_text("g = 2\n")
    assert version() == first
    (package / "late.py").write_text("g = 2\n")
    assert version() != first
