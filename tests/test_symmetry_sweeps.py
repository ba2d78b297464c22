"""Experiments on symmetric data: exact averages conserve to rounding, anything else does not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lakatos.core import InputError
from lakatos.numerics.ranges import EPSILON
from lakatos.numerics.registry import load_experiment
from lakatos.numerics.symmetry_sweeps import CyclicSettings, RotationSettings, attention_range, cyclic_direction


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
        (RotationSettings, {"dimension": 3}, "dimension=3"),
        (RotationSettings, {"rotations": 0}, "rotations=0"),
        (RotationSettings, {"average": "fresh", "method": "rk4"}, "method='rk4'"),
    ],
)
def test_settings_that_make_no_sense_are_named(make: Any, fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make(**fields)


@pytest.mark.parametrize("name", ["cyclic_direction", "attention_range"])
def test_they_are_registered(name: str) -> None:
    experiment, _ = load_experiment(name)
    rows = experiment.run([experiment.settings(), experiment.settings()], [0, 0], "cpu")
    assert rows[0] == rows[1]
