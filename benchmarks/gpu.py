"""Experiments on a GPU against the same on the CPU: ``python benchmarks/gpu.py [--device cuda] [--full]``.

For each case the same settings and seeds run on both; every number has to agree within what the experiment states for other
devices, and the ratio of the times is printed. Without a GPU both run on the CPU, which says that the comparison works and
nothing about a GPU. A theory adds its experiments to `CASES`.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field
from typing import Any

import torch

from lakatos.numerics.registry import Row, load_experiment


@dataclass(frozen=True)
class Case:
    """An experiment, its settings, and how many runs make one batch: `runs`, or `full` with ``--full``."""

    experiment: str
    runs: int
    full: int
    settings: dict[str, Any] = field(default_factory=dict)


CASES = (
    Case("balance_drift", 64, 16384, {"time": 0.5}),
    Case("balance_drift", 64, 4096, {"time": 0.2, "widths": (30, 64, 64, 10), "samples": 256}),
    Case("toy_obstruction", 16, 64, {"steps": 300}),
    Case("two_neuron_obstruction", 16, 64, {"time": 2.0}),
    Case("coherence_barriers", 1, 4, {"pairs": 8, "epochs": 10}),
    Case("subspace_barriers", 1, 4, {"pairs": 4, "epochs": 3}),
    Case("image_barriers", 1, 2, {"pairs": 4, "epochs": 6}),
)


def timed(case: Case, runs: int, device: str) -> tuple[list[Row], float]:
    """Return the rows of one batch, and the seconds it took after a small run that loads everything."""
    experiment, _ = load_experiment(case.experiment)
    settings = experiment.settings(**case.settings)
    experiment.run([settings], [0], device)
    if device != "cpu":
        torch.cuda.synchronize()
    began = time.perf_counter()
    rows = experiment.run([settings] * runs, list(range(runs)), device)
    if device != "cpu":
        torch.cuda.synchronize()
    return rows, time.perf_counter() - began


def largest_difference(first: list[Row], second: list[Row]) -> tuple[float, str]:
    """Return the largest difference of two numbers, over their size or 1, and the column where it is."""
    worst, where = 0.0, "-"
    for a, b in zip(first, second, strict=True):
        for name, value in a.items():
            other = b[name]
            if isinstance(value, str):
                continue
            x, y = (torch.atleast_1d(torch.tensor(v, dtype=torch.float64)) for v in (value, other))
            apart = torch.where(x == y, 0.0, (x - y).abs() / torch.maximum(x.abs(), y.abs()).clamp(min=1))
            if not float(apart.max()) <= worst:
                worst, where = float(apart.max()), name
    return worst, where


def main() -> int:
    """Compare and print; return 0 if everything agrees."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--full", action="store_true", help="batches of the size that a GPU is made for")
    options = parser.parse_args()
    device = options.device
    if device != "cpu" and not torch.cuda.is_available():
        sys.stdout.write("No GPU here: both columns are the CPU, and the ratios say nothing about a GPU.\n")
        device = "cpu"
    name = torch.cuda.get_device_name(device) if device != "cpu" else "CPU"
    sys.stdout.write(f"torch {torch.__version__}, {name}, {torch.get_num_threads()} CPU threads\n")
    sys.stdout.write(f"{'experiment':24} {'runs':>6} {'cpu s':>8} {'device s':>9} {'ratio':>6}  difference (allowed)\n")
    agree = True
    for case in CASES:
        runs = case.full if options.full else case.runs
        expected, seconds = timed(case, runs, "cpu")
        found, device_seconds = timed(case, runs, device)
        difference, where = largest_difference(expected, found)
        allowed = load_experiment(case.experiment)[0].rounding
        agrees = difference <= allowed
        agree = agree and agrees
        sys.stdout.write(
            f"{case.experiment:24} {runs:6} {seconds:8.2f} {device_seconds:9.2f} {seconds / device_seconds:6.2f}  "
            f"{difference:.1e} in {where} ({allowed:.0e}){'' if agrees else '  DISAGREES'}\n"
        )
        sys.stdout.flush()
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main())
