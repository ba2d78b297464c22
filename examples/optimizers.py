"""What optimizers do to the balances of a 3-5-4-2 network: ``python -m examples.optimizers``.

Prints the drift of the balances and the first-order defect of the steps, which is rounding where a law holds, and writes
``optimizers.svg`` (or the file named) with the drift over time.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import cycle

from matplotlib.figure import Figure

from lakatos.cli_boundary import progress
from lakatos.numerics.descent import Method
from lakatos.numerics.reference import OptimizerRun, optimizer_runs

__all__ = ["METHODS", "figure", "main"]

METHODS = (
    Method("gd", 0.005),
    Method("clip_norm", 0.005, clip=0.1),
    Method("heavy_ball", 0.0005, momentum=0.9),
    Method("clip_entries", 0.005, clip=0.01),
    Method("sign", 0.005),
    Method("adam", 0.005),
    Method("adamw", 0.005, decay=0.1),
    Method("rmsprop", 0.005),
)
_STEPS = 800


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table, write the figure; return 0."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    runs = []
    with progress("training", len(METHODS)) as advance:
        for method in METHODS:
            runs += optimizer_runs([(method, _STEPS)])
            advance()
    sys.stdout.write("method           drift  first-order defect: first step, largest\n")
    for run in runs:
        sys.stdout.write(
            f"{run.method.name:13} {run.drifts[-1]:8.2e}  {run.first_step_defect:.1e}, {run.largest_defect:.1e}\n"
        )
    figure(runs).savefig(given[0] if given else "optimizers.svg")
    return 0


def figure(runs: Sequence[OptimizerRun]) -> Figure:
    """Return the picture: drift of the balances and loss against the number of steps."""
    picture = Figure(figsize=(9, 3.6), layout="constrained")
    drift, loss = picture.subplots(1, 2)
    for run, marker in zip(runs, cycle("osD^vPX*"), strict=False):
        style = {"linestyle": "-" if run.largest_defect < 1e-9 else "--", "marker": marker, "markevery": 0.13}
        drift.plot(run.steps[1:], run.drifts[1:], label=run.method.name, markersize=5, **style)
        loss.plot(run.steps, run.losses, label=run.method.name, markersize=5, **style)
    drift.set(title="largest change of a balance (solid: lawful steps)", yscale="log", xlabel="step")
    loss.set(title="loss", yscale="log", xlabel="step")
    loss.legend(fontsize=8)
    return picture


if __name__ == "__main__":
    sys.exit(main())
