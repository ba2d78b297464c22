"""Experiments on linearization: trends in the width, the same rows from any batch, and data that do not fit."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lakatos.core import InputError
from lakatos.numerics.linearization_sweeps import LinearizationSettings, linearization_rows
from lakatos.numerics.registry import load_experiment

SMALL = LinearizationSettings(data="breast_cancer", samples=20, test=10, steps=10)


def exponent(settings: LinearizationSettings, column: str = "deviation") -> float:
    widths, sizes = (32, 128, 512), []
    for n in widths:
        rows = linearization_rows([replace(settings, width=n)] * 20, range(20), "cpu")
        sizes.append(math.sqrt(np.mean([float(row[column]) ** 2 for row in rows])))  # type: ignore[arg-type]
    return float(np.polyfit(np.log(widths), np.log(sizes), 1)[0])


def test_deviation_falls_with_the_width_and_not_in_a_mean_field() -> None:
    assert exponent(SMALL) == pytest.approx(-1, abs=0.35)
    assert exponent(replace(SMALL, parametrization="mean_field")) > -0.4


def test_deviation_falls_with_the_square_of_a_rate_of_few_small_steps() -> None:
    slow = replace(SMALL, rate=0.02, steps=3)
    constant, falling = exponent(slow), exponent(replace(slow, alpha=-0.5))
    assert falling - constant == pytest.approx(-1, abs=0.1)


def test_rows_do_not_depend_on_the_batch() -> None:
    experiment = load_experiment("linearization_error")[0]
    together = experiment.run([SMALL] * 3, [5, 6, 7], "cpu")
    for row, seed in zip(together, (5, 6, 7), strict=True):
        (alone,) = experiment.run([SMALL], [seed], "cpu")
        for name, value in alone.items():
            assert row[name] == pytest.approx(value, rel=experiment.rounding)


@pytest.mark.parametrize(
    ("fields", "message"),
    [({"samples": 0}, "samples=0"), ({"activation": "swish"}, "activation="), ({"rate": 0.0}, "rate=")],
)
def test_bad_settings(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LinearizationSettings(**fields)


def test_data_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there are 569 samples"):
        linearization_rows([replace(SMALL, samples=600)], [0], "cpu")
    with pytest.raises(InputError):
        linearization_rows([replace(SMALL, data=str(tmp_path))], [0], "cpu")
