"""The picture of a small network: a circle for every neuron, a line for every weight."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from .layout import FloatArray, Layout, layered_layout
from .network import Network
from .picture import Style
from .words import shown_number

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

    from .connectivity import Connectivity
    from .picture_marks import State

__all__ = ["draw", "size"]

STYLE = Style()
_BIAS = re.compile(r"(.*\.)?bias|b\d*|1")
_ROOMY = 12  # nodes in a column, up to which they are large
_MOST_NUMBERS = 24  # balances that are written, and bounds
_SIDE_BY_SIDE = 3  # parallel weights that are drawn one by one
_ARROWS = 80  # lines, up to which all have an arrow
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class Scene:
    """What is drawn where: nodes, bias terminals once per layer they feed, and bundles of parallel edges.

    Parameters
    ----------
    node : tuple of int
        Network node of each drawn one.
    bundles : mapping from (drawn tail, drawn head) to edges
    layout : Layout
        Of the drawn nodes; its routes are in the order of `bundles`.
    """

    node: tuple[int, ...]
    bundles: Mapping[tuple[int, int], tuple[int, ...]]
    layout: Layout = field(repr=False)

    @property
    def tallest(self) -> int:
        """Number of nodes in the fullest column, or the height of the layout if that is more."""
        most = int(np.bincount(self.layout.layer).max(initial=1))
        return max(most, round(float(np.ptp(self.layout.height))) + 1)

    @property
    def gaps(self) -> tuple[float, float, float]:
        """Distance between columns, between nodes of a column, and radius of a node, in inches."""
        return (1.9, 0.85, 0.2) if self.tallest <= _ROOMY else (3.0, 0.3, 0.085)


@lru_cache(maxsize=4)
def scene(network: Network) -> Scene:
    """Return the scene of a network."""
    merged: dict[tuple[int, int], list[int]] = {}
    for e, (a, b) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        merged.setdefault((a, b), []).append(e)
    biases = {v for v in network.inputs.tolist() if network.in_degree[v] == 0 and _BIAS.fullmatch(network.names[v])}
    rest = [(a, b) for a, b in merged if a not in biases]
    layer = layered_layout(network.node_count, rest, last=_sinks(network)).layer
    node = list(range(network.node_count))
    copies: dict[tuple[int, int], int] = {}  # of a bias in front of a layer
    bundles: dict[tuple[int, int], tuple[int, ...]] = {}
    for (a, b), edges in merged.items():
        drawn = a
        if a in biases:
            place = (a, int(layer[b]))
            if place not in copies:
                copies[place] = a if all(v != a for v, _ in copies) else len(node)
                if copies[place] == len(node):
                    node.append(a)
            drawn = copies[place]
        bundles[drawn, b] = tuple(edges)
    layout = layered_layout(len(node), list(bundles), floating=list(copies.values()), last=_sinks(network))
    return Scene(tuple(node), bundles, layout)


def _sinks(network: Network) -> list[int]:
    return np.flatnonzero(~network.hidden & (network.out_degree == 0) & (network.in_degree > 0)).tolist()


def size(result: Connectivity) -> tuple[float, float]:
    """Return width and height of the figure in inches."""
    drawn = scene(result.network)
    across, down, _ = drawn.gaps
    columns = int(drawn.layout.layer.max(initial=0)) + 1
    return max(5.2, across * (columns - 1) + 2.2), max(2.6, down * drawn.tallest + 1.6)


def draw(result: Connectivity, ax: Axes) -> list[tuple[Artist, str]]:
    """Draw everything and return the entries of the legend."""
    from .picture_marks import Marker, entries

    network, drawn = result.network, scene(result.network)
    across, down, radius = drawn.gaps
    at = np.column_stack([drawn.layout.layer * across, drawn.layout.height * down])
    marker = Marker(ax, radius)
    sets = witness_sets(result)
    locked, regular = set(result.frozen_edges), set(result.regular_frozen_edges)
    minima, letters = result.minima, _letters(sets)
    many = len(drawn.bundles) > _ARROWS
    labels = len(locked | regular) <= _MOST_NUMBERS
    for (a, b), route in zip(drawn.bundles, drawn.layout.routes, strict=True):
        points, edges = route * [across, down], drawn.bundles[a, b]
        singles: Sequence[int | None] = edges if len(edges) <= _SIDE_BY_SIDE else [None]
        for i, e in enumerate(singles):
            state: State = "locked" if e in locked else "regular" if e in regular else "free"
            bend = (i - (len(singles) - 1) / 2 + ((b, a) in drawn.bundles)) * radius
            curve = marker.line(_bent(points, bend, radius), state, thin=many)
            if e is not None and state != "free" and labels:
                text = f"w² ≥ {shown_number(minima[e])}" if e in locked else "w² > 0"
                letter = letters.get(sets.get(e, ()), "")
                marker.note(curve, f"{letter}: {text}" if letter else text, state, dense=drawn.tallest > _ROOMY)
        if len(edges) > _SIDE_BY_SIDE:
            marker.note(_bent(points, 0.0, radius), f"{len(edges)} weights", "free", dense=many)
    members = {v for nodes in sets.values() for v in nodes} | set(
        result.empty_witness.nodes if result.empty_witness else ()
    )
    bottlenecks = {*result.out_bottlenecks, *result.in_bottlenecks}
    numbers = network.numerators is not None and len(network.hidden_nodes) <= _MOST_NUMBERS and drawn.tallest <= _ROOMY
    columns = int(drawn.layout.layer.max(initial=0))
    for i, v in enumerate(drawn.node):
        tags = "".join(letter for nodes, letter in letters.items() if v in nodes)
        marker.node(
            at[i],
            network.names[v],
            hidden=bool(network.hidden[v]),
            witness=v in members,
            bottleneck=v in bottlenecks,
            side="left" if drawn.layout.layer[i] == 0 else "right" if drawn.layout.layer[i] == columns else "below",
            balance=_balance(network, v) if numbers and network.hidden[v] else "",
            tags=tags,
        )
    marker.finish()
    return entries(
        result, drawn, members=bool(members), bottlenecks=bool(bottlenecks), numbers=numbers, letters=bool(letters)
    )


def witness_sets(result: Connectivity) -> dict[int, tuple[int, ...]]:
    """Return for each locked edge the set of neurons that keeps it from zero."""
    return {item.edge: item.witness.nodes for item in result.edges if item.witness is not None}


def _letters(sets: Mapping[int, tuple[int, ...]]) -> dict[tuple[int, ...], str]:
    """Return a letter for each set of several neurons; single ones are seen at the line itself."""
    distinct = list(dict.fromkeys(nodes for nodes in sets.values() if len(nodes) > 1))
    return dict(zip(distinct, _LETTERS, strict=False)) if len(distinct) <= len(_LETTERS) else {}


def _balance(network: Network, v: int) -> str:
    c = network.require_balance()
    return f"c = {shown_number(Fraction(int(c[v]), network.denominator))}".replace("-", "−")


def _bent(points: FloatArray, bend: float, radius: float) -> FloatArray:
    """Return the route from rim to rim, moved sideways by `bend` in the middle."""
    route = points.copy()
    if len(route) == 2 and bend:
        along = route[1] - route[0]
        normal = np.array([-along[1], along[0]]) / np.hypot(*along)
        route = np.array([route[0], route.mean(axis=0) + bend * normal, route[1]])
    for end, inner in ((0, 1), (-1, -2)):
        along = route[inner] - route[end]
        route[end] = route[end] + along / np.hypot(*along) * radius * 1.15
    return route
