"""Experiments without mathematics for tests of sweeps, registered as those of a plug-in: workers find them by name."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from lakatos.core import InputError, Reason, Undecided
from lakatos.numerics.registry import Experiment, Row

__all__ = ["EXPERIMENTS", "install"]

Behavior = Literal["fine", "input", "undecided", "bug", "die", "alone"]


@dataclass(frozen=True)
class Settings:
    """`behavior` says how a cell ends; ``alone``: only in a batch of its own."""

    x: float = 0.0
    k: int = 1
    behavior: Behavior = "fine"
    seconds: float = 0.0

    def __post_init__(self) -> None:
        if self.k < 0:
            raise InputError(f"k={self.k!r}: not negative")


def run(settings: Sequence[Settings], seeds: Sequence[int], device: str) -> list[Row]:
    """Return a row of random numbers for each cell."""
    rows = []
    for one, seed in zip(settings, seeds, strict=True):
        time.sleep(one.seconds)
        match one.behavior:
            case "input":
                raise InputError("behavior: refused")
            case "undecided":
                raise Undecided(Reason.PRECISION, "too close")
            case "bug":
                raise ZeroDivisionError("division by zero")
            case "die":
                os._exit(3)
            case "alone" if len(settings) > 1:
                raise ValueError("not in company")
        numbers = np.random.default_rng(seed).standard_normal(3)
        # Together with others a number may come out differently in its last digits.
        value = one.x + one.k * float(numbers[0]) * (1 + 1e-15 * len(settings))
        rows.append(
            {
                "value": value,
                "count": one.k,
                "name": f"seed {seed}",
                "infinite": float("inf") if one.k == 0 else 0.0,
                "curve": tuple(numbers.tolist()),
                "together": len(settings),
            }
        )
    return rows


EXPERIMENTS: Mapping[str, Experiment] = {
    "fake": Experiment("random numbers", Settings, run, varying=("x", "behavior"), batch=4, rounding=1e-14),
    "fake_alone": Experiment("random numbers, one by one", Settings, run),
}


def install(folder: Path) -> list[str]:
    """Make `folder` a place where Python finds the plug-in; return what has to be on its path."""
    information = folder / "sweep_fakes-1.dist-info"
    information.mkdir()
    (information / "METADATA").write_text("Metadata-Version: 2.1\nName: sweep-fakes\nVersion: 1\n")
    lines = "".join(f"{name} = sweep_fakes\n" for name in EXPERIMENTS)
    (information / "entry_points.txt").write_text(f"[lakatos.experiments]\n{lines}")
    return [str(folder), str(Path(__file__).parent)]
