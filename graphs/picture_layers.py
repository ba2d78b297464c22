"""The picture of a large network: a row for every layer, with the share of the weights into it whose sign is locked."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .layers import Layer, Layers, layers_of
from .picture import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from .connectivity import Connectivity

__all__ = ["draw", "size"]

STYLE = Style()
_ROW = 0.34  # inches
_BOX = 2.5
_BAR = 1.5
_GAP = 0.25
_NUMBERS = 0.85
_THICKEST = 2.6  # points
_THINNEST = 0.6
_VISIBLE = 0.03  # inches: the least that a bar shows of what is not 0
_NAME_SHOWN = 26


@lru_cache(maxsize=4)
def _layers(result: Connectivity) -> Layers:
    return layers_of(result)


def size(result: Connectivity) -> tuple[float, float]:
    """Return width and height of the figure in inches."""
    found = _layers(result)
    return _reach(found) + _BOX + _GAP + _NUMBERS + _GAP + _BAR + 1.9, _ROW * len(found.layers) + 1.5


def _reach(found: Layers) -> float:
    """Return how far to the left arcs bend, in inches."""
    return max((_bend(abs(b - a)) for a, b, _, _ in found.links if b != a + 1), default=0.0) + 0.2


def _bend(rows: int) -> float:
    return 0.22 + 0.2 * float(np.sqrt(rows))


def draw(result: Connectivity, ax: Axes) -> list[tuple[Artist, str]]:
    """Draw everything and return the entries of the legend."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch, Rectangle

    found = _layers(result)
    layers = found.layers
    numbers_at, bar_at = _BOX + _GAP + _NUMBERS, _BOX + _GAP + _NUMBERS + _GAP
    for i, layer in enumerate(layers):
        y = -_ROW * i
        fill = STYLE.terminal if not layer.neurons else STYLE.paper
        edge = STYLE.ink if layer.neurons else STYLE.faint
        ax.add_patch(Rectangle((0, y - 0.11), _BOX, 0.22, facecolor=fill, edgecolor=edge, linewidth=0.9, zorder=3))
        _text(ax, 0.07, y, _shortened(layer.name), "left", 7.5, STYLE.ink)
        _text(ax, _BOX - 0.07, y, f"{layer.neurons or layer.terminals:,}", "right", 7.5, STYLE.ink)
        if layer.weights:
            _text(ax, numbers_at, y, f"{layer.weights:,}", "right", 7.5, STYLE.ink)
            _bar(ax, bar_at, y, layer)
    _heads(ax, numbers_at, bar_at)
    most = max((weights for *_, weights, _ in found.links), default=1)
    for a, b, weights, locked in found.links:
        _arc(ax, a, b, weights / most, locked > 0)
    ax.set_xlim(-_reach(found), bar_at + _BAR + 1.75)
    ax.set_ylim(-_ROW * (len(layers) - 1) - 0.3, 0.62)
    ax.set_aspect("equal")
    found_entries: list[tuple[Artist, str]] = [
        (Line2D([], [], color=STYLE.free, linewidth=1.6), "weights between layers (thicker: more)")
    ]
    if any(locked for *_, locked in found.links):
        found_entries.append((Line2D([], [], color=STYLE.locked, linewidth=2.2), "… some of them locked"))
    if any(layer.locked for layer in layers):
        found_entries.append((Patch(color=STYLE.locked), "share of weights whose sign is locked"))
    if any(layer.regular for layer in layers):
        hatched = Patch(facecolor=STYLE.paper, edgecolor=STYLE.regular, hatch="////")
        found_entries.append((hatched, "… locked under gradient flow only"))
    if any(layer.terminals and not layer.neurons for layer in layers):
        found_entries.append(
            (Patch(facecolor=STYLE.terminal, edgecolor=STYLE.faint), "terminals: inputs, outputs, data")
        )
    return found_entries


def _shortened(name: str) -> str:
    return name if len(name) <= _NAME_SHOWN else f"…{name[1 - _NAME_SHOWN :]}"


def _text(ax: Axes, x: float, y: float, text: str, ha: str, size: float, color: str) -> None:
    ax.text(x, y, text, ha=ha, va="center", fontsize=size, color=color, zorder=5, parse_math=False)


def _heads(ax: Axes, numbers_at: float, bar_at: float) -> None:
    for x, text, ha in (
        (0.07, "layer", "left"),
        (_BOX - 0.07, "nodes", "right"),
        (numbers_at, "weights in", "right"),
        (bar_at, "of these locked", "left"),
    ):
        _text(ax, x, 0.36, text, ha, 7.5, STYLE.faint)


def _bar(ax: Axes, x: float, y: float, layer: Layer) -> None:
    from matplotlib.patches import Rectangle

    ax.add_patch(
        Rectangle((x, y - 0.07), _BAR, 0.14, facecolor=STYLE.paper, edgecolor=STYLE.free, linewidth=0.6, zorder=2)
    )
    start = x
    for part, color, hatch in ((layer.locked, STYLE.locked, ""), (layer.regular, STYLE.regular, "//////")):
        if part:
            width = max(_VISIBLE, _BAR * part / layer.weights)
            piece = Rectangle((start, y - 0.07), width, 0.14, facecolor=color, linewidth=0.0, zorder=3)
            if hatch:
                piece.set(facecolor=STYLE.paper, edgecolor=color, linewidth=0.8, hatch=hatch)
            ax.add_patch(piece)
            start += width
    total = layer.locked + layer.regular
    share = total / layer.weights
    percent = "0" if not total else f"{total:,} ({share:.0%})" if share >= 0.005 else f"{total:,} (<1%)"
    strong = STYLE.ink if total else STYLE.faint
    _text(ax, x + _BAR + 0.1, y, percent, "left", 7.5, strong)


def _arc(ax: Axes, a: int, b: int, share: float, locked: bool) -> None:
    """Draw weights from layer a to layer b: straight down to the next, else around the boxes between."""
    from matplotlib.patches import FancyArrowPatch
    from matplotlib.path import Path

    color = STYLE.locked if locked else STYLE.free
    width = _THINNEST + (_THICKEST - _THINNEST) * np.sqrt(share)
    if b == a + 1:
        x = _BOX / 2
        path = Path([(x, -_ROW * a - 0.11), (x, -_ROW * b + 0.11)])
    elif a == b:
        path = Path(
            [(0, -_ROW * a + 0.06), (-0.3, -_ROW * a + 0.1), (-0.3, -_ROW * a - 0.1), (0, -_ROW * a - 0.06)], _CURVE
        )
    else:
        start, end, out = -_ROW * a - 0.04, -_ROW * b + 0.04, -_bend(abs(b - a)) * 4 / 3
        path = Path([(0, start), (out, start), (out, end), (0, end)], _CURVE)
    ax.add_patch(
        FancyArrowPatch(
            path=path,
            arrowstyle="-|>",
            mutation_scale=7,
            linewidth=width,
            color=color,
            shrinkA=0,
            shrinkB=0,
            zorder=2 if locked else 1,
        )
    )


_CURVE = (1, 4, 4, 4)  # codes of a path: move, and one cubic curve
