"""Penalties that disconnect neurons, on the breast cancer data: ``python -m examples.pruned_classifier``.

Trains a 30-20-1 network without penalty and with L2, L1 and nuclear norm penalties, removes the neurons that each leaves
disconnected, and writes ``pruned_classifier.svg`` (or the file named) with losses and spectra; a table goes to the screen.
``lakatos prune examples.pruned_classifier:nuclear`` shows the same for one of them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from matplotlib.figure import Figure
from torch import nn

from lakatos.numerics.penalized_training import Labeled, PenalizedRun, PenaltySettings, penalized_run

from .breast_cancer import data

__all__ = ["figure", "main", "nuclear", "run"]

SETTINGS = {
    "none": PenaltySettings(penalty="none", strength=0.0),
    "L2 0.001": PenaltySettings(penalty="l2", strength=1e-3),
    "L1 0.005": PenaltySettings(penalty="l1", strength=5e-3),
    "nuclear 0.005": PenaltySettings(penalty="nuclear", strength=5e-3),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Train, print the table, write the figure; return 0."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    runs = {}
    sys.stdout.write("penalty         removed      gap  accuracy  pruned  outputs change by\n")
    for name, settings in SETTINGS.items():
        runs[name] = found = run(settings, seed=0)
        pruning = found.pruning
        sys.stdout.write(
            f"{name:15} {len(pruning.removed):7} {pruning.disconnection.gap:8.3g} {found.accuracy:9.3f}"
            f" {found.pruned_accuracy:7.3f}  {pruning.relative_change:.1e}\n"
        )
    figure(runs).savefig(given[0] if given else "pruned_classifier.svg")
    return 0


def run(settings: PenaltySettings, seed: int) -> PenalizedRun:
    """Return what training with these settings leads to; `seed` draws the split and the initialization."""
    train, test = data(seed)
    return penalized_run(Labeled(*train), Labeled(*test), settings, seed)


def nuclear() -> nn.Sequential:
    """Return the network trained with the nuclear norm penalty."""
    return run(SETTINGS["nuclear 0.005"], seed=0).module


def figure(runs: dict[str, PenalizedRun]) -> Figure:
    """Return the picture: losses side by side, then the singular values of each run."""
    picture = Figure(figsize=(3 * (len(runs) + 1), 3.4), layout="constrained")
    loss, *spectra = picture.subplots(1, len(runs) + 1)
    for axis, (name, found) in zip(spectra, runs.items(), strict=True):
        loss.plot(found.steps, found.losses, label=name)
        axis.plot(found.steps, found.spectra, color="C0", linewidth=0.7)
        axis.set(title=f"singular values, {name}", yscale="log", xlabel="step", ylim=(1e-4, 30))
    loss.set(title="training loss", yscale="log", xlabel="step")
    loss.legend(fontsize=8)
    return picture


if __name__ == "__main__":
    sys.exit(main())
