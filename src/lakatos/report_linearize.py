"""What `lakatos linearize` prints, writes as JSON and draws."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .core import InputError
from .results import write_atomically

if TYPE_CHECKING:
    from rich.console import Console

    from .numerics.linearization import Linearization, Settings

__all__ = ["linearization_json", "print_linearization", "require_picture", "write_picture"]

_FORMATS = (".svg", ".png", ".pdf")


def linearization_json(found: Linearization, settings: Settings, seconds: float) -> dict[str, Any]:
    """Return the answer as the schema ``lakatos/linearize/1`` has it; ratios that are not defined are null."""
    return {
        "schema": "lakatos/linearize/1",
        "parameters": found.parameters,
        "samples": found.samples,
        "outputs": found.outputs,
        "loss": settings.loss,
        "rate": settings.rate,
        "kinks": list(found.kinks),
        "correlations": list(found.correlations),
        "norms": list(found.norms),
        "steps": list(found.records),
        "losses": list(found.losses),
        "linear_losses": list(found.linear_losses),
        "movement": list(found.movement),
        "measured_deviation": list(found.measured),
        "predicted_deviation": None if found.predicted is None else list(found.predicted),
        "ratio": None if math.isnan(found.ratio) else found.ratio,
        "verdict": found.verdict,
        "seconds": seconds,
    }


def print_linearization(console: Console, found: Linearization, settings: Settings) -> None:
    """Print the verdict, the correlations at the start, and the course of training."""
    from rich.table import Table

    console.print(_headline(found))
    console.print(
        f"{found.parameters} parameters, {found.samples} samples, {found.outputs} outputs; {settings.loss}, rate "
        f"{settings.rate:g}, {found.records[-1]} steps"
    )
    console.print()
    console.print("At the start, along the gradient v of the loss (root mean squares; the rate is in them):")
    table = Table(box=None, pad_edge=False)
    for name in ("d", "C_{0,d}", "‖C_{1,d}‖"):
        table.add_column(name, justify="right")
    for d, value in enumerate(found.correlations):
        table.add_row(str(d), f"{value:.3g}", f"{found.norms[d]:.3g}" if d < len(found.norms) else "")
    console.print(table)
    if found.kinks:
        console.print(
            f"No higher ones: {', '.join(found.kinks)} has kinks, where derivatives say nothing about a step.",
            markup=False,
        )
    console.print()
    console.print("Training (root mean squares over samples and outputs):")
    table = Table(box=None, pad_edge=False)
    for name in ("step", "loss", "linear loss", "F_lin − F_0", "F − F_lin", "predicted", "ratio"):
        table.add_column(name, justify="right")
    chosen = sorted({round(k * (len(found.records) - 1) / 5) for k in range(6)})
    for i in chosen:
        predicted = "" if found.predicted is None else f"{found.predicted[i]:.3g}"
        ratio = found.ratios[i]
        table.add_row(
            str(found.records[i]),
            f"{found.losses[i]:.4g}",
            f"{found.linear_losses[i]:.4g}",
            f"{found.movement[i]:.3g}",
            f"{found.measured[i]:.3g}",
            predicted,
            "" if math.isnan(ratio) else f"{ratio:.3f}",
        )
    console.print(table)


def _headline(found: Linearization) -> str:
    from .numerics.linearization import FEATURES, LINEAR

    if math.isnan(found.ratio):
        return "Undecided: the linear model has not moved beyond rounding; take more steps or a larger rate."
    share = f"{100 * found.ratio:.3g} % of its movement"
    if found.verdict == "linear regime":
        return f"Linear regime: training deviates from the linear model by at most {share}."
    if found.verdict == "feature learning":
        return f"Feature learning: training deviates from the linear model by up to {share}."
    return (
        f"Undecided: training deviates from the linear model by up to {share}; up to {100 * LINEAR:.0f} % is called linear, "
        f"{100 * FEATURES:.0f} % and more feature learning."
    )


def require_picture(path: Path) -> None:
    """Raise InputError unless a picture can be written to `path`, before anything is computed."""
    from importlib.util import find_spec

    if path.suffix.lower() not in _FORMATS:
        raise InputError(f"picture={path.name!r}: choose a name that ends in {', '.join(_FORMATS)}")
    if not path.absolute().parent.is_dir():
        raise InputError(f"{path}: the folder {path.absolute().parent} does not exist")
    if find_spec("matplotlib") is None:
        raise InputError(f"picture={path.name!r}: needs matplotlib; pip install 'lakatos[plot]'")


def write_picture(path: Path, found: Linearization, title: str) -> None:
    """Draw deviation and movement, losses, and the correlations at the start."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.8), layout="constrained")
    FigureCanvasAgg(figure)
    course, losses, start = figure.subplots(1, 3)
    course.plot(found.records, found.movement, "k-", label="movement F_lin − F_0")
    course.plot(found.records, found.measured, "C1o-", markersize=3, label="deviation F − F_lin")
    if found.predicted is not None:
        course.plot(found.records, found.predicted, "C0--", label="predicted at the start")
    course.set(xscale="log", yscale="log", xlabel="step", ylabel="root mean square")
    course.legend(fontsize=8)
    losses.plot(found.records, found.losses, "C1-", label="network")
    losses.plot(found.records, found.linear_losses, "k--", label="linear model")
    losses.set(xscale="log", xlabel="step", ylabel="loss")
    losses.legend(fontsize=8)
    orders = range(1, len(found.correlations))
    start.plot(orders, [found.correlations[d] for d in orders], "C0o-", label="$C_{0,d}$")
    start.plot(range(len(found.norms)), found.norms, "C2s-", label="$\\|C_{1,d}\\|$")
    start.set(xlabel="d", ylabel="size at the start")
    if min([*found.norms, *found.correlations[1:]]) > 0:
        start.set_yscale("log")
    start.legend(fontsize=8)
    figure.suptitle(f"{title}: {found.verdict}", fontsize=10)
    written = io.BytesIO()
    figure.savefig(written, format=path.suffix.lower()[1:], metadata={"Date": None} if path.suffix == ".svg" else None)
    write_atomically(path, written.getvalue())
