"""Training that cannot reach its target, because a weight cannot change its sign: ``python -m examples.obstructed_training``.

Writes ``obstructed_training.svg`` (or the file named): loss, last weight and smallest singular value of the Jacobian of the
balances while a network with one out-bottleneck trains from four starts, on a target that needs the last weight negative. In
the dotted runs that weight is frozen: it stays above the root of its minimum, and the loss above that of the zero function.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from matplotlib.figure import Figure

from lakatos.cli_boundary import progress
from lakatos.numerics.obstruction_experiments import Runs, ToySettings, toy_runs

__all__ = ["figure", "main"]

_STARTS = (0.3, 0.6, 1.2, 2.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the figure; return 0."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    settings = [ToySettings(output_weight=start) for start in _STARTS]
    with progress("training", settings[0].steps) as advance:
        runs = toy_runs(settings, [0] * len(_STARTS), on_step=advance)
    figure(runs).savefig(given[0] if given else "obstructed_training.svg")
    return 0


def figure(runs: Runs) -> Figure:
    """Return the picture of `runs`, one line for each."""
    picture = Figure(figsize=(12, 3.6), layout="constrained")
    loss, weight, spectrum = picture.subplots(1, 3)
    for i, start in enumerate(runs.weights[:, 0, -1].tolist()):
        minimum = runs.minima[i][-1]
        style = {"label": f"start {start:g}", "color": f"C{i}", "linestyle": ":" if minimum > 0 else "-"}
        loss.plot(runs.steps, runs.losses[i].clamp(min=1e-12), **style)
        weight.plot(runs.steps, runs.weights[i, :, -1], **style)
        spectrum.plot(runs.steps, runs.singular_values[i, :, -1], **style)
        if minimum > 0:
            weight.axhline(minimum**0.5, color=f"C{i}", linewidth=0.5)
    loss.axhline(float(runs.mean_squares[0]), color="black", linewidth=0.5)
    weight.axhline(0, color="black", linewidth=0.5)
    loss.set(title="loss (thin: zero function)", yscale="log", xlabel="step", ylim=(1e-6, None))
    weight.set(title="last weight (thin: root of its minimum)", xlabel="step")
    spectrum.set(title="smallest singular value", xlabel="step", ylim=(0, None))
    weight.legend(fontsize=8, loc=(0.6, 0.2))
    return picture


if __name__ == "__main__":
    sys.exit(main())
