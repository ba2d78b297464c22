"""One funnel: peeled off the network backwards from its last node, and decided by one maximum flow within it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import gathered, reachable
from .flows import max_flow
from .hubs import with_hubs
from .network import BoolArray, IntArray
from .views import View

__all__ = ["Closure", "Funnel", "close", "peel"]

_DENSE = 16  # inner edges per node from which on looking for dense blocks pays off
_LARGE = 1 << 12  # inner edges below which it never does
_WIDE = 1 << 10  # edges at a time from which on counting at all nodes beats sorting


@dataclass(frozen=True, eq=False)
class Funnel:
    """The hidden nodes whose every walk meets v, those in closed parts left out.

    Parameters
    ----------
    nodes : int64 array
        v first.
    parts : int64 array
        Last nodes of the closed parts: funnels of other nodes that no hidden node outside them leads into.
    inner : integer array
        The edges between `nodes`.
    closed : bool
        Whether no hidden node outside the funnel leads into it.
    """

    nodes: IntArray
    parts: IntArray
    inner: npt.NDArray[np.integer[Any]]
    closed: bool


@dataclass(frozen=True, eq=False)
class Closure:
    """The minimum of a funnel, and a flow that bounds it from above, up to what the flows of closed `parts` have elsewhere.

    Parameters
    ----------
    nodes : int64 array
        The nodes of the funnel outside closed parts, increasing; the first to be peeled is `last`.
    supply : mapping from node to integer
        Minima of the closed parts that some critical set meets. Such a part adds its minimum to the supply, since a critical
        set that meets it may as well hold all of its largest critical set; any other is better left out, and nothing outside
        needs it.
    edges, amounts : integer arrays
        The flow: what no consumer takes is carried to `last`, where `minimum` arrives.
    """

    view: View
    last: int
    nodes: IntArray
    parts: IntArray
    supply: Mapping[int, int]
    minimum: int
    edges: IntArray
    amounts: npt.NDArray[Any]

    @cached_property
    def is_tight(self) -> bool:
        """Whether there is a critical set."""
        # What arrives at `last` comes from nodes that cannot send it to any consumer, so neither can `last`.
        return self.minimum > 0 or self.last in self._critical[0]

    @property
    def critical_nodes(self) -> IntArray:
        """The largest critical set, which is these and the critical sets of `critical_parts`; empty unless tight."""
        return self._critical[0] if self.is_tight else self.nodes[:0]

    @property
    def critical_parts(self) -> IntArray:
        """The closed parts whose critical sets belong to the largest one of the funnel."""
        return self._critical[1] if self.is_tight else self.parts[:0]

    @cached_property
    def _critical(self) -> tuple[IntArray, IntArray]:
        """The nodes and the parts from which the flow cannot be changed so that a consumer gets more."""
        view = self.view
        parts = np.array(sorted(self.supply), np.int64)
        members = np.concatenate([self.nodes, parts])
        k, count = len(self.nodes), len(members)
        number = np.full(len(view.degree), -1)
        number[members] = np.arange(count)
        entering = view.incoming.at_all(self.nodes)
        tail, head = number[view.tail[entering]], number[view.head[entering]]
        tail, head = tail[tail >= 0], head[tail >= 0]
        used_tail, used_head = number[view.tail[self.edges]], number[view.head[self.edges]]
        room = np.append(view.c[self.nodes], np.array([-self.supply[v] for v in parts.tolist()], view.c.dtype))
        np.subtract.at(room, used_head, self.amounts)
        np.add.at(room, used_tail, self.amounts)
        short = np.flatnonzero(room > 0)
        start = np.full(len(short), count)
        arcs = np.concatenate([head, used_tail, start]), np.concatenate([tail, used_head, short])
        stuck = ~reachable(count + 1, *arcs, count)[:count]
        return self.nodes[stuck[:k]], parts[stuck[k:]]


def peel(view: View, v: int, remaining: IntArray, closed: BoolArray) -> Funnel:
    """Return the funnel of v.

    Parameters
    ----------
    remaining : int64 array, shape (n,)
        A copy of the degrees, which is the same again afterwards.
    closed : bool array, shape (n,)
        Whether the funnel of a node with a single outgoing edge was found to be closed.
    """
    nodes, parts, edges, leaving, touched = [np.array([v])], [], [], [], []
    while nodes[-1].size:
        entering = view.incoming.at_all(nodes[-1])
        tails = view.tail[entering]
        if not (hidden := view.network.hidden[tails]).all():
            entering, tails = entering[hidden], tails[hidden]
        if len(tails) < _WIDE:
            met, times = np.unique(tails, return_counts=True)
        else:
            count = np.bincount(tails, minlength=len(remaining))
            met = np.flatnonzero(count > 0)
            times = count[met]
        remaining[met] -= times
        inside = met[remaining[met] == 0]
        nodes.append(inside[~closed[inside]])
        parts.append(inside[closed[inside]])
        edges.append(entering)
        leaving.append(tails)
        touched.append(met)
    around = np.concatenate(touched)
    is_closed = not remaining[around].any()
    inner, tail = np.concatenate(edges), np.concatenate(leaving)
    closed_parts = np.concatenate(parts)
    if not is_closed:
        inner, tail = inner[remaining[tail] == 0], tail[remaining[tail] == 0]
    if len(closed_parts):
        inner = inner[~closed[tail]]
    remaining[around] = view.degree[around]
    return Funnel(np.concatenate(nodes), closed_parts, inner, is_closed)


def close(view: View, funnel: Funnel, minimum: npt.NDArray[Any], tight: BoolArray) -> Closure:
    """Return what one maximum flow within the funnel says about it."""
    # In the order of the network, which the solver of flows likes better than that of peeling.
    nodes, parts = np.sort(funnel.nodes), funnel.parts[tight[funnel.parts]]
    edges = np.sort(np.concatenate([funnel.inner, view.first[parts]]))
    last, count = int(funnel.nodes[0]), len(nodes) + len(parts)
    number = np.empty(len(minimum), np.int64)  # read at these nodes only
    number[np.concatenate([nodes, parts])] = np.arange(count)
    tail, head = number[view.tail[edges]], number[view.head[edges]]
    c = np.concatenate([view.c[nodes], -minimum[parts]])
    arcs, amounts, unsent = _largest_flow(count, tail, head, c)
    flow = np.zeros(len(edges), c.dtype)
    flow[arcs] = amounts
    excess = 0
    if unsent.any():
        # What no consumer takes goes on to the last node, along any edges.
        root = int(number[last])
        onward = np.zeros(count, np.int64)
        onward[tail] = np.arange(len(edges))
        others = np.delete(np.arange(count), root)
        passed = gathered(others, head[onward[others]], unsent)
        flow[onward[others]] += passed[others]
        excess = int(passed[root])
    used = np.flatnonzero(flow)
    supply = dict(zip(parts.tolist(), minimum[parts].tolist(), strict=True))
    return Closure(view, last, nodes, funnel.parts, supply, excess, edges[used], flow[used])


def _largest_flow(
    count: int, tail: IntArray, head: IntArray, c: npt.NDArray[Any]
) -> tuple[IntArray, npt.NDArray[Any], npt.NDArray[Any]]:
    """Return a largest flow from producers (c < 0) to consumers (c > 0): arcs, amounts, and what each node could not send."""
    producers, consumers = np.flatnonzero(c < 0), np.flatnonzero(c > 0)
    supply = -int(c[producers].sum())  # 64 bits hold all balances together, or they are Python integers
    hubs = with_hubs(tail, head, count) if len(tail) > max(_LARGE, _DENSE * count) else None
    inner_tail, inner_head = (tail, head) if hubs is None else (hubs.tail, hubs.head)
    source = count if hubs is None else count + len(hubs.blocks)
    sink = source + 1
    flow = max_flow(
        sink + 1,
        np.concatenate([np.full(len(producers), source), inner_tail, consumers]),
        np.concatenate([producers, inner_head, np.full(len(consumers), sink)]),
        np.concatenate([-c[producers], np.full(len(inner_tail), supply + 1, dtype=c.dtype), c[consumers]]),
        source,
        sink,
    )
    sent, inner = flow.flow[: len(producers)], flow.flow[len(producers) : len(producers) + len(inner_tail)]
    unsent = np.zeros(count, c.dtype)
    unsent[producers] = -c[producers] - sent
    if hubs is None:
        arcs = np.flatnonzero(inner)
        return arcs, inner[arcs], unsent
    return *hubs.split(inner), unsent
