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

_Arcs = npt.NDArray[np.integer[Any]]

_FEWEST = 64  # arcs in a block below which a hub is not worth its bookkeeping


@dataclass(frozen=True, eq=False)
class _Block:
    """Tails and heads of a block; the arc from ``tails[i]`` to ``heads[j]`` is number ``arcs[j, i]`` originally."""

    tails: IntArray
    heads: IntArray
    arcs: _Arcs


@dataclass(frozen=True, eq=False)
class Hubs:
    """The graph with hubs, numbered after all other nodes, and without parallel arcs: arcs `tail`, `head`.

    The first of these are the original arcs `plain`; then, block by block, those from its tails to its hub and from there to
    its heads.
    """

    plain: _Arcs
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
            arcs.append(block.arcs[j[pieces > 0], i[pieces > 0]])
            amounts.append(pieces[pieces > 0])
            count += both
        return np.concatenate(arcs), np.concatenate(amounts)


def with_hubs(tail: IntArray, head: IntArray, node_count: int) -> Hubs:
    """Return the graph with a hub for every block of at least 64 arcs whose heads have the same set of tails.

    Examples
    --------
    >>> tail, head = np.repeat(np.arange(20), 10), np.tile(np.arange(20, 30), 20)
    >>> hubs = with_hubs(tail, head, 30)
    >>> len(hubs.tail), hubs.head[:3].tolist()
    (30, [30, 30, 30])
    """
    order = _sorted_by_head_and_tail(tail, head, node_count)
    t, h = tail[order], head[order]
    distinct = np.ones(len(order), bool)
    distinct[1:] = (t[1:] != t[:-1]) | (h[1:] != h[:-1])
    if not distinct.all():
        order, t, h = order[distinct], t[distinct], h[distinct]
    blocks = _blocks(order, t, h)
    left = np.ones(len(tail), bool)
    for block in blocks:
        left[block.arcs] = False
    plain = order[left[order]]
    tails, heads = [tail[plain]], [head[plain]]
    for i, block in enumerate(blocks):
        hub = node_count + i
        tails += [block.tails, np.full(len(block.heads), hub)]
        heads += [np.full(len(block.tails), hub), block.heads]
    return Hubs(plain, tuple(blocks), np.concatenate(tails), np.concatenate(heads))


def _sorted_by_head_and_tail(tail: IntArray, head: IntArray, node_count: int) -> _Arcs:
    rising = (head[1:] > head[:-1]) | ((head[1:] == head[:-1]) & (tail[1:] >= tail[:-1]))
    if rising.all():
        return np.arange(len(tail))
    order = Adjacency.by(tail, node_count).arc
    by_both: _Arcs = order[Adjacency.by(head[order], node_count).arc]
    return by_both


def _blocks(order: _Arcs, tail: IntArray, head: IntArray) -> list[_Block]:
    """Return the blocks among rows of arcs with the same head; arc ``order[i]`` is the i-th by head and tail."""
    if not len(tail):
        return []
    start = np.append(0, np.flatnonzero(head[1:] != head[:-1]) + 1)
    degree = np.diff(start, append=len(tail))
    # Rows with equal sets of tails have equal sums of random numbers; whether the sets are equal is then looked at.
    random = np.random.default_rng(0).integers(1 << 63, size=int(tail.max()) + 1, dtype=np.uint64)
    signature = np.add.reduceat(random[tail], start)
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
        same = (tail[places] == tail[places[0]]).all(axis=1)
        if same.sum() > 1:
            places = places[same]
            blocks.append(_Block(tail[places[0]], head[places[:, 0]], order[places]))
    return blocks
