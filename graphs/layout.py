"""Where to draw the nodes of a digraph in layers, and along which points its arcs run.

Layers by longest paths, arcs over several layers bent around the nodes between (Sugiyama, Tagawa and Toda 1981), the order
within a layer by barycenters, heights as close to the neighbors as the spacing allows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .network import BoolArray, IntArray

__all__ = ["Layout", "layered_layout"]

_SWEEPS = 12
_STRAIGHTEN = 4.0  # weight of bends beside nodes: long arcs should be straight
_NO_TURN = 1e-9

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Layout:
    """Coordinates of nodes and routes of arcs.

    Parameters
    ----------
    layer : int array, shape (n,)
        Column of each node, from 0.
    height : float array, shape (n,)
        Position within the column, upwards; nodes of one column are at least 1 apart.
    routes : tuple of float arrays, each of shape (k, 2)
        For each arc the points it runs through, tail and head included.
    """

    layer: IntArray
    height: FloatArray
    routes: tuple[FloatArray, ...]


def layered_layout(
    count: int,
    arcs: Sequence[tuple[int, int]],
    *,
    floating: Sequence[int] = (),
    last: Sequence[int] = (),
) -> Layout:
    """Return a layered layout of the digraph with nodes 0..count-1.

    Parameters
    ----------
    arcs : sequence of (tail, head)
        Without loops. Those that close a cycle are drawn backwards.
    floating : sequence of int
        Sources that stand at the bottom of the column right before the first node they lead to.
    last : sequence of int
        Sinks that stand in the last column.

    Examples
    --------
    >>> layout = layered_layout(4, [(0, 1), (1, 2), (0, 2), (3, 2)], floating=[3])
    >>> layout.layer.tolist()
    [0, 1, 2, 1]
    """
    forward = [(a, b) if ahead else (b, a) for (a, b), ahead in zip(arcs, _is_ahead(count, arcs), strict=True)]
    layer = _layers(count, forward, floating, last)
    chains = _chains(count, forward, layer)
    total = max([count, *(node + 1 for chain in chains for node in chain)])
    columns_of = np.zeros(total, np.int64)
    columns_of[:count] = layer
    for chain in chains:
        for step, node in enumerate(chain):
            columns_of[node] = columns_of[chain[0]] + step
    neighbors: list[list[int]] = [[] for _ in range(total)]
    for chain in chains:
        for a, b in pairwise(chain):
            neighbors[a].append(b)
            neighbors[b].append(a)
    sinking = np.zeros(total, bool)
    sinking[list(floating)] = True
    columns = _ordered(columns_of, neighbors, sinking)
    height = _heights(columns, neighbors, count)
    routes = []
    for (a, b), chain in zip(arcs, chains, strict=True):
        ends = chain if (chain[0], chain[-1]) == (a, b) else chain[::-1]
        routes.append(np.array([[columns_of[v], height[v]] for v in ends], np.float64))
    return Layout(layer, height[:count], tuple(routes))


def _is_ahead(count: int, arcs: Sequence[tuple[int, int]]) -> list[bool]:
    """Return for each arc whether a depth-first search from the sources does not meet it as one that closes a cycle."""
    leaving: list[list[int]] = [[] for _ in range(count)]
    is_source = np.ones(count, bool)
    for i, (a, b) in enumerate(arcs):
        leaving[a].append(i)
        is_source[b] = False
    ahead = [True] * len(arcs)
    state = np.zeros(count, np.int64)  # 1 while on the stack, 2 when done
    for root in [*np.flatnonzero(is_source).tolist(), *range(count)]:
        if state[root]:
            continue
        state[root] = 1
        stack = [(root, iter(leaving[root]))]
        while stack:
            node, rest = stack[-1]
            i = next(rest, -1)
            if i < 0:
                state[node] = 2
                stack.pop()
            elif state[arcs[i][1]] == 1:
                ahead[i] = False
            elif state[arcs[i][1]] == 0:
                state[arcs[i][1]] = 1
                stack.append((arcs[i][1], iter(leaving[arcs[i][1]])))
    return ahead


def _layers(count: int, arcs: Sequence[tuple[int, int]], floating: Sequence[int], last: Sequence[int]) -> IntArray:
    layer = np.zeros(count, np.int64)
    entering = np.zeros(count, np.int64)
    leaving: list[list[int]] = [[] for _ in range(count)]
    for a, b in arcs:
        entering[b] += 1
        leaving[a].append(b)
    ready = np.flatnonzero(entering == 0).tolist()
    while ready:
        a = ready.pop()
        for b in leaving[a]:
            layer[b] = max(layer[b], layer[a] + 1)
            entering[b] -= 1
            if entering[b] == 0:
                ready.append(b)
    layer[list(last)] = layer.max(initial=0)
    for v in floating:
        layer[v] = min((int(layer[b]) - 1 for b in leaving[v]), default=0)
    return layer


def _chains(count: int, arcs: Sequence[tuple[int, int]], layer: IntArray) -> list[list[int]]:
    """Return for each arc its tail, a new node for every layer in between, and its head."""
    chains, fresh = [], count
    for a, b in arcs:
        between = max(0, int(layer[b] - layer[a]) - 1)
        chains.append([a, *range(fresh, fresh + between), b])
        fresh += between
    return chains


def _ordered(columns_of: IntArray, neighbors: Sequence[Sequence[int]], sinking: BoolArray) -> list[IntArray]:
    """Return the nodes of each column from top to bottom, with few crossings; ties keep the order of numbers."""
    columns = [np.flatnonzero(columns_of == k) for k in range(int(columns_of.max(initial=0)) + 1)]
    columns = [nodes[np.argsort(sinking[nodes], kind="stable")] for nodes in columns]
    best, fewest = list(columns), _crossings(columns, neighbors)
    for sweep in range(_SWEEPS):
        rank = _ranks(columns, len(columns_of))
        order = range(1, len(columns)) if sweep % 2 == 0 else range(len(columns) - 2, -1, -1)
        for k in order:
            side = k - 1 if sweep % 2 == 0 else k + 1
            nodes = columns[k]
            wish = np.array([_mean(rank, neighbors[v], columns_of, side, float(rank[v])) for v in nodes.tolist()])
            columns[k] = nodes[np.lexsort((rank[nodes], np.round(wish, 9), sinking[nodes]))]
            rank[columns[k]] = _spread(len(nodes))
        crossings = _crossings(columns, neighbors)
        if crossings < fewest:
            best, fewest = list(columns), crossings
        if fewest == 0:
            break
    return best


def _ranks(columns: Sequence[IntArray], total: int) -> FloatArray:
    rank = np.zeros(total)
    for nodes in columns:
        rank[nodes] = _spread(len(nodes))
    return rank


def _spread(size: int) -> FloatArray:
    return np.arange(size, dtype=np.float64) - (size - 1) / 2


def _mean(rank: FloatArray, neighbors: Sequence[int], columns_of: IntArray, side: int, default: float) -> float:
    found = [rank[u] for u in neighbors if columns_of[u] == side]
    return float(np.mean(found)) if found else default


def _crossings(columns: Sequence[IntArray], neighbors: Sequence[Sequence[int]]) -> int:
    crossings = 0
    for left, right in pairwise(columns):
        place = {int(v): i for i, v in enumerate(right)}
        below = np.zeros(len(right), np.int64)  # arcs so far, by where they end
        for v in left:
            ends = sorted(place[u] for u in neighbors[v] if u in place)
            crossings += sum(int(below[end + 1 :].sum()) for end in ends)
            for end in ends:
                below[end] += 1
    return crossings


def _heights(columns: Sequence[IntArray], neighbors: Sequence[Sequence[int]], count: int) -> FloatArray:
    """Return heights: first evenly spread, then near the mean of the neighbors, kept apart within each column."""
    total = sum(map(len, columns))
    height = np.zeros(total)
    for nodes in columns:
        height[nodes] = -_spread(len(nodes))
    for _ in range(_SWEEPS):
        for nodes in columns:
            wish = np.array([height[list(neighbors[v])].mean() if neighbors[v] else height[v] for v in nodes])
            weight = np.where(nodes >= count, _STRAIGHTEN, 1.0)
            height[nodes] = -_apart(-wish, weight)
    centered: FloatArray = height - (height[:count].max(initial=0) + height[:count].min(initial=0)) / 2
    return centered


def _apart(wish: FloatArray, weight: FloatArray) -> FloatArray:
    """Return the closest increasing heights that are 1 apart (pool adjacent violators on wish minus place)."""
    place = np.arange(len(wish))
    blocks: list[tuple[float, float, int]] = []  # mean, weight, size
    for value, w in zip(wish - place, weight, strict=True):
        mean, heavy, size = float(value), float(w), 1
        while blocks and blocks[-1][0] > mean - _NO_TURN:
            before, other, length = blocks.pop()
            mean = (mean * heavy + before * other) / (heavy + other)
            heavy, size = heavy + other, size + length
        blocks.append((mean, heavy, size))
    return np.concatenate([np.full(size, mean) for mean, _, size in blocks]) + place if blocks else np.zeros(0)
