"""Dense blocks of arcs as stars: k tails that all lead to the same l heads take k + l arcs through a hub instead of k·l.

Without limits on the arcs this changes neither which sets are closed nor which amounts can flow, and a flow through a hub is
split up again with at most k + l - 1 positive arcs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import Adjacency
from .network import IntArray

__all__ = ["Hubs", "with_hubs"]

_FEWEST = 64  # arcs in a block below which a hub is not worth its bookkeeping


@dataclass(frozen=True, eq=False)
class _Block:
    """Tails and heads of a block; the arc from ``tails[i]`` to ``heads[j]`` is ``arcs[i, j]`` of the original arcs."""

    tails: IntArray
    heads: IntArray
    arcs: npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Hubs:
    """The graph with hubs: nodes ``node_count`` and above are hubs, and parallel arcs are dropped."""

    node_count: int
    plain: npt.NDArray[np.integer[Any]]
    blocks: tuple[_Block, ...]
    tail: IntArray
    head: IntArray

    def split(self, flow: npt.NDArray[Any]) -> tuple[IntArray, npt.NDArray[Any]]:
        """Return original arcs and positive amounts on them that carry the same flow without hubs."""
        count = len(self.plain)
        positive = flow[:count] > 0
        arcs, amounts = [self.plain[positive]], [flow[:count][positive]]
        for block in self.blocks:
            k, both = len(block.tails), len(block.tails) + len(block.heads)
            ends = np.cumsum(flow[count : count + k]), np.cumsum(flow[count + k : count + both])
            # Cut the amount through the hub at the bounds of all shares, of the tails and of the heads.
            cuts = np.unique(np.concatenate(ends))
            pieces = np.diff(cuts, prepend=cuts[:1] * 0)
            i, j = (np.searchsorted(shares, cuts) for shares in ends)
            arcs.append(block.arcs[i[pieces > 0], j[pieces > 0]])
            amounts.append(pieces[pieces > 0])
            count += both
        return np.concatenate(arcs), np.concatenate(amounts)


def with_hubs(tail: IntArray, head: IntArray, node_count: int) -> Hubs:
    """Return the graph with a hub for every block of at least 64 arcs whose tails have the same set of heads.

    Examples
    --------
    >>> tail, head = np.repeat(np.arange(20), 10), np.tile(np.arange(20, 30), 20)
    >>> hubs = with_hubs(tail, head, 30)
    >>> len(hubs.tail), hubs.head[:3].tolist()
    (30, [30, 30, 30])
    """
    order = Adjacency.by(head, node_count).arc
    order = order[Adjacency.by(tail[order], node_count).arc]
    t, h = tail[order], head[order]
    distinct = np.ones(len(order), bool)
    distinct[1:] = (t[1:] != t[:-1]) | (h[1:] != h[:-1])
    order, t, h = order[distinct], t[distinct], h[distinct]
    start = np.flatnonzero(np.diff(t, prepend=-1))
    blocks = _blocks(order, t, h, start, np.diff(start, append=len(t)))
    left = np.ones(len(tail), bool)
    for block in blocks:
        left[block.arcs] = False
    plain = order[left[order]]
    tails, heads = [tail[plain]], [head[plain]]
    for i, block in enumerate(blocks):
        hub = node_count + i
        tails += [block.tails, np.full(len(block.heads), hub)]
        heads += [np.full(len(block.tails), hub), block.heads]
    return Hubs(node_count, plain, tuple(blocks), np.concatenate(tails), np.concatenate(heads))


def _blocks(
    order: npt.NDArray[np.integer[Any]], tail: IntArray, head: IntArray, start: IntArray, degree: IntArray
) -> list[_Block]:
    """Return the blocks among rows of sorted arcs; row r is the arcs from ``start[r]`` on, all with the same tail."""
    if not len(tail):
        return []
    # Rows with equal sets of heads have equal sums of random numbers; whether the sets are equal is then looked at.
    random = np.random.default_rng(0).integers(1 << 63, size=int(head.max()) + 1, dtype=np.uint64)
    signature = np.add.reduceat(random[head], start)
    _, group, size = np.unique(signature, return_inverse=True, return_counts=True)
    rows_by_group = Adjacency.by(group, len(size))
    blocks = []
    for g in np.flatnonzero((size > 1) & (size * degree.max() >= _FEWEST)).tolist():
        rows = rows_by_group.at(g)
        width = int(degree[rows[0]])
        rows = rows[degree[rows] == width]
        if width < 2 or len(rows) * width < _FEWEST:
            continue
        places = start[rows][:, None] + np.arange(width)
        same = (head[places] == head[places[0]]).all(axis=1)
        if same.sum() > 1:
            places = places[same]
            blocks.append(_Block(tail[places[:, 0]], head[places[0]], order[places]))
    return blocks
