"""``lakatos identify --html``: whether two networks merge, with the losses between them and maps of swap costs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .html_page import figure, page
from .markup import Html, element, heading, join, table
from .report_identify import HEADER, LEGEND, barrier_lines, cells, verdict_of

if TYPE_CHECKING:
    from .numerics.identification import Identification, LayerIdentification

__all__ = ["identification_page"]

_MAP_CELLS = 64  # larger maps are averaged over blocks
_MAP_SIDE = 320
_DEAR, _SAVES, _IMPOSSIBLE = (10, 90, 148), (184, 66, 12), "#000000"
_SCALE_STEPS = 64
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 560, 270, 64, 40, 26
_TICKS = 4


def identification_page(found: Identification, definition: str) -> str:
    """Return the page: the verdict, the losses along the segment, the layers, and a map of swap costs for each.

    Parameters
    ----------
    definition : str
        Of the barrier, in words.
    """
    maps = element("div", join((_map(layer) for layer in found.layers), "\n"), class_="figures")
    rows = [cells(layer) for layer in found.layers]
    verdict, stop, rest = verdict_of(found).partition(". ")
    parts = [
        heading(1, "Will they merge?"),
        element("p", verdict + stop.strip(), class_=f"verdict {'yes' if found.merges else 'no'}"),
        element("p", rest),
        element("ul", join(element("li", line) for line in barrier_lines(found))),
        heading(2, "Loss between the networks"),
        _curve(found),
        element("p", f"Barrier: {definition}.", class_="soft"),
        heading(2, "Layers"),
        table(HEADER, rows, label="layers", numbers=range(1, len(HEADER)), kind="sortable"),
        element("p", LEGEND, class_="soft"),
        heading(2, "Swap costs"),
        maps,
    ]
    return page("lakatos: identify", parts)


def _curve(found: Identification) -> Html:
    losses = [float(x) for x in found.losses]
    low, high = min(losses), max(losses)
    span = (high - low) or 1.0
    low, high = low - 0.08 * span, high + 0.08 * span

    def x(t: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - 16) * t

    def y(loss: float) -> float:
        return _ABOVE + (_HEIGHT - _ABOVE - _BELOW) * (high - loss) / (high - low)

    along = [i / (len(losses) - 1) for i in range(len(losses))]
    parts = []
    for i in range(_TICKS + 1):
        loss = low + (high - low) * i / _TICKS
        parts.append(_line(x(0), y(loss), x(1), y(loss), "#d8d8d8", 0.7))
        parts.append(_text(x(0) - 8, y(loss) + 4, f"{loss:.3f}", "end"))
        parts.append(_text(x(i / _TICKS), _HEIGHT - _BELOW + 18, f"{i / _TICKS:.2g}", "middle"))
    parts.append(_line(x(0), y(losses[0]), x(1), y(losses[-1]), "#595959", 1.2, dash="5 4"))
    points = " ".join(f"{x(t):.1f},{y(loss):.1f}" for t, loss in zip(along, losses, strict=True))
    parts.append(element("polyline", points=points, fill="none", stroke="#0a5a94", stroke_width="2.2"))
    at = found.unaligned.at
    chord = losses[0] + (losses[-1] - losses[0]) * at
    top = float(np.interp(at, along, losses))
    parts.append(_line(x(at), y(chord), x(at), y(top), "#b8420c", 2.0))
    # Beside the line, on the side where there is more room.
    side, anchor = (6, "start") if at < 0.7 else (-6, "end")
    parts.append(_text(x(at) + side, (y(chord) + y(top)) / 2 + 4, f"{found.unaligned.value:.3g}", anchor, "#b8420c"))
    parts.append(_text(x(0.5), _HEIGHT - 4, "from the first network (0) to the second (1)", "middle"))
    parts.append(_text(12, _ABOVE - 13, "loss in nats", "start"))
    caption = (
        "Solid: the loss of weights on the segment between the networks. Dashed: the chord. Vertical: the barrier."
    )
    label = f"loss along the segment, from {min(losses):.3g} to {max(losses):.3g} nats"
    return figure(_svg(_WIDTH, _HEIGHT, parts), caption, label=label)


def _map(layer: LayerIdentification) -> Html:
    if not np.isfinite(layer.swaps).any():
        return element("p", f"{layer.name}: no map; some neuron does not realize its own feature.")
    roots = np.sign(layer.swaps) * np.sqrt(np.abs(layer.swaps))
    block = math.ceil(len(roots) / _MAP_CELLS)
    starts = np.arange(0, len(roots), block)
    shown = np.array([[_mean(roots[i : i + block, j : j + block]) for j in starts] for i in starts])
    largest = float(np.abs(shown[np.isfinite(shown)]).max(initial=0.0)) or 1.0
    size = max(4, _MAP_SIDE // len(shown))
    parts = [
        element("rect", x=size * j, y=size * i, width=size, height=size, fill=_color(float(value) / largest))
        for i, row in enumerate(shown)
        for j, value in enumerate(row)
    ]
    side = size * len(shown)
    parts += _scale(side, largest)
    average = f" Averaged over blocks of {block}." if block > 1 else ""
    caption = (
        f"Layer {layer.name}: signed root of the swap cost of neurons i (down) and j (across). Blue: swapping is dear; "
        f"orange: swapping saves weight; black: impossible.{average}"
    )
    return figure(_svg(side, side + 40, parts), caption, label=f"swap costs of layer {layer.name}")


def _scale(side: int, largest: float) -> list[Html]:
    """Return the scale of colors below a map of this side."""
    step = side / _SCALE_STEPS
    bars = [
        # A path, since rectangles are the cells of the map.
        element(
            "path",
            d=f"M{step * k:.2f} {side + 10}h{step + 0.5:.2f}v10h-{step + 0.5:.2f}z",
            fill=_color(2 * (k + 0.5) / _SCALE_STEPS - 1),
        )
        for k in range(_SCALE_STEPS)
    ]
    marks = ((0, f"{-largest:.3g}", "start"), (side / 2, "0", "middle"), (side, f"{largest:.3g}", "end"))
    return bars + [_text(at, side + 34, words.replace("-", "−"), anchor) for at, words, anchor in marks]


def _mean(block: Any) -> float:
    finite = block[np.isfinite(block)]
    return float(finite.mean()) if finite.size else math.inf


def _color(value: float) -> str:
    if not math.isfinite(value):
        return _IMPOSSIBLE
    strength = min(abs(value), 1.0)
    channels = _DEAR if value >= 0 else _SAVES
    return "#" + "".join(f"{round(255 + (channel - 255) * strength):02x}" for channel in channels)


def _line(x: float, y: float, to_x: float, to_y: float, color: str, width: float, *, dash: str | None = None) -> Html:
    ends = {"x1": f"{x:.1f}", "y1": f"{y:.1f}", "x2": f"{to_x:.1f}", "y2": f"{to_y:.1f}"}
    return element("line", stroke=color, stroke_width=str(width), stroke_dasharray=dash, **ends)


def _text(x: float, y: float, words: str, anchor: str, color: str = "#1c1c1c") -> Html:
    return element("text", words, x=f"{x:.1f}", y=f"{y:.1f}", text_anchor=anchor, font_size="12", fill=color)


def _svg(width: int, height: int, parts: list[Html]) -> Html:
    view = f"0 0 {width} {height}"
    return element(
        "svg", join(parts, "\n"), width=width, height=height, viewBox=view, shape_rendering="geometricPrecision"
    )
