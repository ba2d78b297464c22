"""What `lakatos identify` found: for someone who merges models, on a terminal and as JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .numerics.barriers import Barrier
    from .numerics.identification import Identification, LayerIdentification

__all__ = ["HEADER", "LEGEND", "barrier_lines", "cells", "identification_json", "print_identification", "verdict_of"]

HEADER = ("layer", "m", "k", "share", "ν", "β mid", "β max", "margin", "by cost", "by act.", "chord ≤", "chord")
LEGEND = (
    "m neurons; inputs in k dimensions with that share of their energy, of coherence ν; β: trained over fixed part of the "
    "pre-activation; margin of a neuron's own feature against other assignments; whether matching the runs by cost and by "
    "activation keeps every neuron in its place; chord deviation at the middle, bound (inf: none, as β max > 1) and measured."
)


def verdict_of(found: Identification) -> str:
    """Return in a few sentences whether the two networks merge unaligned, and if not, which layer stands out."""
    height = f"{found.unaligned.value:.3g} nats above the chord at {found.unaligned.at:.2f}"
    if found.merges:
        return f"These networks merge without alignment: the loss between them stays low ({height})."
    sentences = [f"These networks do not merge without alignment ({height})."]
    worst = max(found.layers, key=lambda layer: layer.measured_deviation, default=None)
    if worst is not None:
        sentences.append(
            f"Layer {worst.name} contributes most: {_state(worst)}, and its output at the middle is "
            f"{worst.measured_deviation:.3g} off the chord."
        )
    if found.aligned is not None:
        helps = found.aligned.value < found.unaligned.value / 2
        effect = "lowers that to" if helps else "does not help much:"
        sentences.append(f"A heuristic alignment {effect} {found.aligned.value:.3g} nats.")
    return " ".join(sentences)


def _state(layer: LayerIdentification) -> str:
    if not np.isfinite(layer.center_dominance).any():
        return "its neurons have no fixed part and are interchangeable but for their masks"
    largest = _short(float(np.max(layer.center_dominance)))
    return f"its neurons moved up to {largest} times as far as their fixed parts reach"


def identification_json(found: Identification) -> dict[str, Any]:
    """Return the answer of ``lakatos identify --json``; infinities are text, what was not decided is null."""
    return {
        "schema": "lakatos/identify/1",
        "layers": [_layer_json(layer) for layer in found.layers],
        "barrier": {
            "definition": found.unaligned.definition,
            "predicted_bound": _number(found.predicted_bound),
            "measured_unaligned": _number(found.unaligned.value),
            "measured_aligned": None if found.aligned is None else _number(found.aligned.value),
        },
        "left_out": dict(found.left_out),
        "accuracy": {"first": found.accuracies[0], "second": found.accuracies[-1], "least": found.accuracies.min()},
        "verdict": verdict_of(found),
    }


def _layer_json(layer: LayerIdentification) -> dict[str, Any]:
    return {
        "name": layer.name,
        "neurons": layer.neurons,
        "dimension": layer.support.dimension,
        "support": {
            "kind": layer.support.kind,
            "explained": layer.support.explained,
            "gap": _number(layer.support.gap),
            "outside": layer.support.outside,
        },
        "coherence": layer.coherence,
        "center_dominance": [_number(float(x)) for x in layer.center_dominance],
        "margin": _number(layer.margin),
        "identity_optimal": layer.activation_matching_identity,
        "identity_optimal_by_cost": layer.cost_matching_identity,
        "predicted_deviation": _number(layer.predicted_deviation),
        "measured_deviation": layer.measured_deviation,
    }


def _number(x: float) -> float | str | None:
    if math.isnan(x):
        return None
    return str(x) if math.isinf(x) else x


def _short(x: float) -> str:
    return "—" if math.isnan(x) else f"{x:.3g}"


def cells(layer: LayerIdentification) -> tuple[str, ...]:
    """Return the row of a layer, for the columns of `HEADER`."""
    yes = {True: "yes", False: "no"}
    return (
        layer.name,
        str(layer.neurons),
        str(layer.support.dimension),
        f"{layer.support.explained:.0%}",
        f"{layer.coherence:.2f}",
        _short(float(np.median(layer.center_dominance))),
        _short(float(layer.center_dominance.max())),
        _short(layer.margin),
        yes[layer.cost_matching_identity],
        yes[layer.activation_matching_identity],
        _short(layer.predicted_deviation),
        _short(layer.measured_deviation),
    )


def barrier_lines(found: Identification) -> list[str]:
    """Return a line for each measured barrier, one for the accuracies, and one for each layer that was left out."""

    def line(name: str, barrier: Barrier | None) -> str:
        return (
            f"{name}: not supported for this architecture" if barrier is None else f"{name}: {barrier.value:.4g} nats"
        )

    return [
        line("barrier, unaligned", found.unaligned)
        + f" (at most {found.predicted_bound:.4g} by the chord of the logits)",
        line("barrier, aligned by a heuristic", found.aligned),
        f"accuracy: {found.accuracies[0]:.1%} and {found.accuracies[-1]:.1%} at the ends, "
        f"{found.accuracies.min():.1%} at least between",
        *(f"not compared: {name}, {reason}" for name, reason in found.left_out.items()),
    ]


def print_identification(console: Console, found: Identification) -> None:
    """Print the verdict, the layers and the barriers."""
    console.print(Text(verdict_of(found), style="bold"), overflow="fold")
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for i, name in enumerate(HEADER):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for layer in found.layers:
        table.add_row(*map(Text, cells(layer)))
    console.print(table)
    console.print(Text(LEGEND, style="dim"), overflow="fold")
    for line in barrier_lines(found):
        console.print(Text(line), overflow="fold")
