"""Experiments on symmetric data: exact averages conserve to rounding, anything else does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lakatos.core import InputError
from lakatos.numerics.ranges import EPSILON
from lakatos.numerics.registry import load_experiment
from lakatos.numerics.symmetry_sweeps import (
    CyclicSettings,
    NetworkSettings,
    RotationSettings,
    attention_range,
    cyclic_direction,
    symmetrized_network,
)


@pytest.mark.parametrize("method", ["gd", "heavy_ball", "rk4"])
def test_linear_methods_conserve_under_exact_averages(method: Any) -> None:
    for seed in range(3):
        row = attention_range(RotationSettings(method=method), seed)
        assert row["drift"] <= row["rounding"]
        direction = cyclic_direction(CyclicSettings(method=method, outputs=3), seed)
        assert direction["drift"] <= 100 * EPSILON * max(1.0, 1 / float(direction["norm_ratio"]))


def test_adam_and_missing_averages_do_not_conserve() -> None:
    for seed in range(3):
        assert attention_range(RotationSettings(method="adam"), seed)["drift"] > 1e-3
        assert attention_range(RotationSettings(average="none"), seed)["drift"] > 1e-3
        for average in ("half", "labels", "none"):
            assert cyclic_direction(CyclicSettings(average=average, outputs=3), seed)["drift"] > 1e-3


def test_averaging_brings_no_law_of_relu_networks() -> None:
    """The centered rows of linear units keep their direction under the averaged squared loss; all else turns, at any step."""
    steps = (0.02, 0.01)  # so small that ReLU units do not jump over their kinks
    linear = [symmetrized_network(NetworkSettings(activation="linear", step=step, width=2), 0) for step in steps]
    assert max(row["turn"] for row in linear) > 1e-3  # the range of two rows is conserved, not each of them
    alone = [symmetrized_network(NetworkSettings(activation="linear", step=step), 0)["turn"] for step in steps]
    assert max(alone) < 1e-14
    for fields in ({"activation": "relu"}, {"activation": "tanh"}, {"loss": "log cosh"}, {"average": "none"}):
        settings = [NetworkSettings(**{"activation": "linear", "step": step, **fields}) for step in steps]
        coarse, fine = (
            np.mean([float(symmetrized_network(one, seed)["turn"]) for seed in range(5)]) for one in settings
        )
        assert fine > 1e-4
        assert 0.8 < coarse / fine < 1.25


@pytest.mark.parametrize(("activation", "is_law"), [("relu", True), ("linear", True), ("tanh", False)])
def test_balances_of_units_move_with_the_step_where_they_are_laws(activation: Any, is_law: bool) -> None:
    coarse, fine = (
        np.mean(
            [
                float(symmetrized_network(NetworkSettings(activation=activation, step=step), seed)["balance_drift"])
                for seed in range(5)
            ]
        )
        for step in (0.05, 0.025)
    )
    # Gradient descent has order one.
    assert coarse / fine == pytest.approx(2.0 if is_law else 1.0, rel=0.2)


@pytest.mark.parametrize("average", ["fixed", "fresh"])
def test_more_rotations_drift_less(average: Any) -> None:
    """Sixteen times the rotations, a quarter of the drift: means of ten seeds are off by a third at most."""
    few, many = (
        np.mean([attention_range(RotationSettings(average=average, rotations=n), seed)["drift"] for seed in range(10)])
        for n in (16, 256)
    )
    assert 1 / 8 < many / few < 1 / 2


@pytest.mark.parametrize(
    ("make", "fields", "message"),
    [
        (CyclicSettings, {"step": 0.0}, "step=0.0"),
        (CyclicSettings, {"outputs": 0}, "outputs=0"),
        (CyclicSettings, {"average": "labels"}, "outputs=1: 3 are needed"),
        (NetworkSettings, {"step": 3.0}, "step=3.0"),
        (NetworkSettings, {"width": 0}, "width=0"),
        (RotationSettings, {"dimension": 3}, "dimension=3"),
        (RotationSettings, {"rotations": 0}, "rotations=0"),
        (RotationSettings, {"average": "fresh", "method": "rk4"}, "method='rk4'"),
    ],
)
def test_settings_that_make_no_sense_are_named(make: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**fields)


@pytest.mark.parametrize("name", ["cyclic_direction", "symmetrized_network", "attention_range"])
def test_they_are_registered(name: str) -> None:
    experiment, _ = load_experiment(name)
    rows = experiment.run([experiment.settings(), experiment.settings()], [0, 0], "cpu")
    assert rows[0] == rows[1]
