"""What `lakatos identify` found: for someone who merges models, as JSON, and as a page with maps of swap costs."""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from .numerics.barriers import Barrier
    from .numerics.identification import Identification, LayerIdentification

__all__ = ["identification_json", "identification_page", "print_identification", "verdict_of"]

_MAP_CELLS = 64  # larger maps are averaged over blocks
_STYLE = """
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 70rem; margin: 2rem auto; padding: 0 1rem; }
table { border-collapse: collapse; } th, td { text-align: right; padding: .3rem .8rem; border-bottom: 1px solid #8884; }
th:first-child, td:first-child { text-align: left; } .verdict { font-size: 1.2rem; font-weight: 600; }
figure { display: inline-block; margin: 1rem 2rem 1rem 0; } figcaption { max-width: 22rem; font-size: .9rem; }
"""
_HEADER = ("layer", "m", "k", "share", "ν", "β mid", "β max", "margin", "by cost", "by act.", "chord ≤", "chord")
_LEGEND = (
    "m neurons; inputs in k dimensions with that share of their energy, of coherence ν; β: trained over fixed part of the "
    "pre-activation; margin of a neuron's own feature against other assignments; whether matching the runs by cost and by "
    "activation keeps every neuron in its place; chord deviation at the middle, bound and measured."
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


def _cells(layer: LayerIdentification) -> tuple[str, ...]:
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


def _barrier_lines(found: Identification) -> list[str]:
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
    ]


def print_identification(console: Console, found: Identification) -> None:
    """Print the verdict, the layers and the barriers."""
    console.print(Text(verdict_of(found), style="bold"), overflow="fold")
    table = Table(box=None, padding=(0, 1, 0, 0), pad_edge=False, header_style="dim")
    for i, name in enumerate(_HEADER):
        table.add_column(name, justify="left" if i == 0 else "right", overflow="fold")
    for layer in found.layers:
        table.add_row(*map(Text, _cells(layer)))
    console.print(table)
    console.print(Text(_LEGEND, style="dim"), overflow="fold")
    for line in _barrier_lines(found):
        console.print(Text(line), overflow="fold")


def identification_page(found: Identification, definition: str) -> str:
    """Return the page: the verdict, the table, the losses along the segment, and a map of swap costs for every layer."""
    heads = "".join(f"<th>{escape(name)}</th>" for name in _HEADER)
    rows = "\n".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in _cells(layer)) + "</tr>" for layer in found.layers
    )
    maps = "\n".join(_figure(layer) for layer in found.layers)
    lines = "".join(f"<p>{escape(line)}</p>" for line in _barrier_lines(found))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>lakatos: identify</title>\n'
        f"<style>{_STYLE}</style>\n</head>\n<body>\n<h1>Will they merge?</h1>\n"
        f'<p class="verdict">{escape(verdict_of(found))}</p>\n'
        f"<table>\n<thead><tr>{heads}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>\n<p>{escape(_LEGEND)}</p>\n{lines}\n"
        f"<p>Barrier: {escape(definition)}.</p>\n{_curve(found)}\n<h2>Swap costs</h2>\n{maps}\n</body>\n</html>\n"
    )


def _curve(found: Identification) -> str:
    width, height = 480, 160
    losses = found.losses
    low, high = float(losses.min()), float(losses.max())
    scale = (high - low) or 1.0
    points = " ".join(
        f"{width * i / (len(losses) - 1):.1f},{height - (height - 10) * (float(x) - low) / scale - 5:.1f}"
        for i, x in enumerate(losses)
    )
    return (
        f'<figure><svg width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">'
        f'<polyline fill="none" stroke="#0969da" stroke-width="2" points="{points}"/></svg>'
        f"<figcaption>Loss from the first network (left) to the second: {low:.3g} to {high:.3g} nats.</figcaption></figure>"
    )


def _figure(layer: LayerIdentification) -> str:
    if not np.isfinite(layer.swaps).any():
        return f"<p>{escape(layer.name)}: no map; some neuron does not realize its own feature.</p>"
    roots = np.sign(layer.swaps) * np.sqrt(np.abs(layer.swaps))
    block = math.ceil(len(roots) / _MAP_CELLS)
    edges = np.arange(0, len(roots), block)
    shown = np.array([[_mean(roots[i : i + block, j : j + block]) for j in edges] for i in edges])
    finite = np.abs(shown[np.isfinite(shown)])
    largest = float(finite.max(initial=0.0)) or 1.0
    size = max(4, 320 // len(shown))
    cells = "".join(
        f'<rect x="{size * j}" y="{size * i}" width="{size}" height="{size}" fill="{_color(float(x) / largest)}"/>'
        for i, row in enumerate(shown)
        for j, x in enumerate(row)
    )
    side = size * len(shown)
    average = f", averaged over blocks of {block}" if block > 1 else ""
    return (
        f'<figure><svg width="{side}" height="{side}" viewBox="0 0 {side} {side}" role="img">{cells}</svg>'
        f"<figcaption>Layer {escape(layer.name)}: signed root of the swap cost of neurons i, j, from {-largest:.3g} (red: "
        f"swapping saves weight) by 0 (white) to {largest:.3g} (blue: swapping is dear); black: impossible{average}."
        "</figcaption></figure>"
    )


def _mean(block: Any) -> float:
    finite = block[np.isfinite(block)]
    return float(finite.mean()) if finite.size else math.inf


def _color(x: float) -> str:
    if not math.isfinite(x):
        return "#000"
    light = round(255 * (1 - min(abs(x), 1.0)))
    return f"rgb({light},{light},255)" if x >= 0 else f"rgb(255,{light},{light})"
