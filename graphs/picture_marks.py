"""The marks of pictures of small networks: lines, circles and squares, what is written at them, and the legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from .layout import FloatArray
from .picture import Style

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from .connectivity import Connectivity
    from .picture_nodes import Scene

__all__ = ["Marker", "State", "entries"]

State = Literal["locked", "regular", "free"]
Dash: TypeAlias = Literal["solid"] | tuple[float, Sequence[float]]
STYLE = Style()
_COLOR = {"locked": STYLE.locked, "regular": STYLE.regular, "free": STYLE.free}
_WIDTH = {"locked": 2.6, "regular": 2.0, "free": 1.0}
_DASH: dict[State, Dash] = {"locked": "solid", "regular": (0, (4, 2)), "free": "solid"}
_SHORT = 3  # characters that fit into a circle


class Marker:
    """Draws on axes whose unit is an inch, with nodes of this radius."""

    def __init__(self, ax: Axes, radius: float) -> None:
        self._ax = ax
        self._radius = radius
        self._corners: list[FloatArray] = []

    def line(self, route: FloatArray, state: State, *, thin: bool) -> FloatArray:
        """Draw a weight along a route and return the curve drawn."""
        from matplotlib.patches import FancyArrowPatch
        from matplotlib.path import Path

        curve = _smooth(route)
        faint = thin and state == "free"
        self._ax.add_patch(
            FancyArrowPatch(
                path=Path(curve),
                arrowstyle="-" if faint else "-|>",
                mutation_scale=9 if thin or state == "free" else 13,
                shrinkA=0,
                shrinkB=0,
                linewidth=0.5 if faint else _WIDTH[state],
                linestyle=_DASH[state],
                color=_COLOR[state],
                alpha=0.6 if faint else 1.0,
                joinstyle="miter",
                capstyle="butt",
                zorder=1 if state == "free" else 2,
            )
        )
        self._corners.append(curve)
        return curve

    def note(self, curve: FloatArray, text: str, state: State, *, dense: bool) -> None:
        """Write beside a line: near its tail where lines run together, else at its middle."""
        steps = np.r_[0, np.cumsum(np.hypot(*np.diff(curve, axis=0).T))]
        at = steps[-1] * (0.18 if dense else 0.5)
        x, y = (float(np.interp(at, steps, curve[:, k])) for k in (0, 1))
        self._ax.annotate(
            text,
            (x, y),
            ha="center",
            va="center",
            fontsize=6.5 if dense else 8,
            color=STYLE.faint if state == "free" else _COLOR[state],
            bbox={"boxstyle": "round,pad=0.15", "facecolor": STYLE.paper, "edgecolor": "none", "alpha": 0.9},
            zorder=4,
        )

    def node(
        self,
        at: FloatArray,
        name: str,
        *,
        hidden: bool,
        witness: bool,
        bottleneck: bool,
        side: Literal["left", "right", "below"],
        balance: str,
        tags: str,
    ) -> None:
        """Draw a neuron (circle) or terminal (square) with what is known about it."""
        from matplotlib.patches import Circle, Rectangle

        x, y, r = float(at[0]), float(at[1]), self._radius
        fill = STYLE.witness if witness else STYLE.paper if hidden else STYLE.terminal
        width = 2.2 if bottleneck else 1.0
        edge = STYLE.ink if hidden else STYLE.faint
        shape = (
            Circle((x, y), r, facecolor=fill, edgecolor=edge, linewidth=width, zorder=3)
            if hidden
            else Rectangle((x - r, y - r), 2 * r, 2 * r, facecolor=fill, edgecolor=edge, linewidth=width, zorder=3)
        )
        self._ax.add_patch(shape)
        self._corners.append(np.array([[x - 1.5 * r, y - 1.5 * r], [x + 1.5 * r, y + 1.5 * r]]))
        large = r > 0.1
        if large and len(name) <= _SHORT:
            self._text(x, y, name, "center", "center", 9, STYLE.ink)
            below = balance
        elif side == "below" and large:
            below = "\n".join(filter(None, [name, balance]))
        elif side == "below":
            self._text(x, y + 1.8 * r, name, "center", "center", 5.5, STYLE.ink, boxed=True)
            below = ""
        else:
            away = 1.35 * r if side != "left" else -1.35 * r
            lines = "\n".join(filter(None, [name, balance]))
            self._text(
                x + away, y, lines, "right" if side == "left" else "left", "center", 8 if large else 6, STYLE.ink
            )
            below = ""
        if below:
            self._text(x, y - 1.2 * r, below, "center", "top", 7.5, STYLE.faint)
        if tags:
            self._text(x + r, y + r, tags, "left", "bottom", 8, STYLE.locked)

    def _text(
        self, x: float, y: float, text: str, ha: str, va: str, size: float, color: str, *, boxed: bool = False
    ) -> None:
        box = (
            {"boxstyle": "round,pad=0.1", "facecolor": STYLE.paper, "edgecolor": "none", "alpha": 0.85}
            if boxed
            else None
        )
        self._ax.text(x, y, text, ha=ha, va=va, fontsize=size, color=color, zorder=5, parse_math=False, bbox=box)

    def finish(self) -> None:
        """Set limits so that an inch is an inch wherever there is room."""
        points = np.concatenate(self._corners) if self._corners else np.zeros((1, 2))
        low, high = points.min(axis=0), points.max(axis=0)
        self._ax.set_xlim(low[0] - 0.6, high[0] + 0.6)
        self._ax.set_ylim(low[1] - 0.3, high[1] + 0.25)
        self._ax.set_aspect("equal")


def entries(
    result: Connectivity, drawn: Scene, *, members: bool, bottlenecks: bool, numbers: bool, letters: bool
) -> list[tuple[Artist, str]]:
    """Return the entries of the legend, for what occurs in the picture."""
    from matplotlib.lines import Line2D

    network = result.network
    locked, regular = set(result.frozen_edges), set(result.regular_frozen_edges)

    def line(state: State) -> Line2D:
        return Line2D([], [], color=_COLOR[state], linewidth=_WIDTH[state], linestyle=_DASH[state])

    def dot(fill: str, width: float, marker: str = "o", edge: str = STYLE.ink) -> Line2D:
        return Line2D(
            [],
            [],
            linestyle="none",
            marker=marker,
            markersize=9,
            markerfacecolor=fill,
            markeredgecolor=edge,
            markeredgewidth=width,
        )

    found: list[tuple[Artist, str]] = []
    if locked:
        found.append((line("locked"), "sign locked: w² ≥ m > 0"))
    if regular - locked:
        found.append((line("regular"), "sign locked under gradient flow: w² > 0"))
    if len(locked | regular) < network.edge_count:
        free = "weight" if result.empty_witness is not None else "weight that can change sign"
        found.append((line("free"), free))
    if members:
        why = "neurons that rule all weights out" if result.empty_witness is not None else "neurons that keep w² from 0"
        found.append((dot(STYLE.witness, 1.0), why))
    if bottlenecks:
        found.append((dot(STYLE.paper, 2.2), "neuron with one weight in or out"))
    if not network.hidden.all():
        found.append((dot(STYLE.terminal, 1.0, "s", STYLE.faint), "input, output or bias"))
    if letters:
        found.append((Line2D([], [], linestyle="none"), "A: a set, and its only weight in or out"))
    if numbers and network.hidden.any():
        found.append((Line2D([], [], linestyle="none"), "c: squared weights in − out"))
    return found


def _smooth(route: FloatArray) -> FloatArray:
    """Return points on a curve through the route that leaves bends of long arcs round."""
    if len(route) == 2:
        return route
    # Catmull-Rom: through every point, in the direction of the chord of its neighbors.
    padded = np.concatenate([2 * route[:1] - route[1:2], route, 2 * route[-1:] - route[-2:-1]])
    t = np.linspace(0, 1, 12)[:, None]
    pieces = []
    for a, b, c, d in zip(padded, padded[1:], padded[2:], padded[3:], strict=False):
        pieces.append(0.5 * (2 * b + (c - a) * t + (2 * a - 5 * b + 4 * c - d) * t**2 + (3 * b - a - 3 * c + d) * t**3))
    curve: FloatArray = np.concatenate(pieces)
    return curve[np.r_[True, np.hypot(*np.diff(curve, axis=0).T) > 0]]
