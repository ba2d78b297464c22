"""One funnel: peeled off the network backwards from its last node, and decided by one maximum flow within it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import gathered
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
    """The minimum of a funnel, its largest critical set and a flow that bounds it, both up to what closed parts add.

    The critical set is `critical_nodes` and the critical sets of `critical_parts`; it is empty unless `tight`. The flow has
    `amounts` on `edges`, and on others what the flows of `parts` have there.
    """

    minimum: int
    tight: bool
    critical_nodes: IntArray
    critical_parts: IntArray
    parts: IntArray
    edges: IntArray
    amounts: npt.NDArray[Any]


def peel(view: View, v: int, remaining: IntArray, closed: BoolArray) -> Funnel:
    """Return the funnel of v.

    Parameters
    ----------
    remaining : int64 array, shape (n,)
        A copy of the degrees, which is the same again afterwards.
    closed : bool array, shape (n,)
        Whether the funnel of a node with a single outgoing edge was found to be closed.
    """
    nodes, parts, edges, touched = [np.array([v])], [], [], []
    while nodes[-1].size:
        entering = view.incoming.at_all(nodes[-1])
        entering = entering[view.network.hidden[view.tail[entering]]]
        tails = view.tail[entering]
        if len(tails) < _WIDE:
            met, times = np.unique(tails, return_counts=True)
        else:
            count = np.bincount(tails, minlength=len(remaining))
            met = np.flatnonzero(count)
            times = count[met]
        remaining[met] -= times
        inside = met[remaining[met] == 0]
        nodes.append(inside[~closed[inside]])
        parts.append(inside[closed[inside]])
        edges.append(entering)
        touched.append(met)
    around = np.concatenate(touched)
    is_closed = not remaining[around].any()
    inner = np.concatenate(edges)
    inner = inner[(remaining[view.tail[inner]] == 0) & ~closed[view.tail[inner]]]
    remaining[around] = view.degree[around]
    return Funnel(np.concatenate(nodes), np.concatenate(parts), inner, is_closed)


def close(view: View, funnel: Funnel, minimum: npt.NDArray[Any], tight: BoolArray) -> Closure:
    """Return what one maximum flow within the funnel says about it.

    A closed part adds its minimum to the supply, since a critical set that meets it may as well hold all of its largest
    critical set; if it has none, it is better left out, and nothing outside needs it.
    """
    # In the order of the network, which the solver of flows likes better than that of peeling.
    nodes, parts = np.sort(funnel.nodes), funnel.parts[tight[funnel.parts]]
    root = int(np.searchsorted(nodes, funnel.nodes[0]))
    k, count = len(nodes), len(nodes) + len(parts)
    number = np.empty(len(minimum), np.int64)  # read at nodes of the funnel only
    number[nodes] = np.arange(k)
    part_edges = view.first[parts]
    edges = np.concatenate([funnel.inner, part_edges])
    tail = np.concatenate([number[view.tail[funnel.inner]], np.arange(k, count)])
    head = number[view.head[edges]]
    c = np.concatenate([view.c[nodes], -minimum[parts]])
    arcs, amounts, unsent, critical = _largest_flow(count, tail, head, c)
    flow = np.zeros(len(edges), c.dtype)
    flow[arcs] = amounts
    excess = 0
    if unsent.any():
        # What no consumer takes goes on to v, along any edges.
        onward = np.zeros(count, np.int64)
        onward[tail] = np.arange(len(edges))
        others = np.delete(np.arange(count), root)
        passed = gathered(others, head[onward[others]], unsent)
        flow[onward[others]] += passed[others]
        excess = int(passed[root])
    used = np.flatnonzero(flow)
    inside = critical[:k]
    return Closure(
        excess,
        bool(inside[root]),
        nodes[inside],
        parts[critical[k:]],
        funnel.parts,
        edges[used],
        flow[used],
    )


def _largest_flow(
    count: int, tail: IntArray, head: IntArray, c: npt.NDArray[Any]
) -> tuple[IntArray, npt.NDArray[Any], npt.NDArray[Any], BoolArray]:
    """Return a largest flow from producers (c < 0) to consumers (c > 0): arcs and amounts, what each node could not send,
    and the nodes that no longer reach a consumer with room.
    """
    producers, consumers = np.flatnonzero(c < 0), np.flatnonzero(c > 0)
    supply = -sum(c[producers].tolist())
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
        return arcs, inner[arcs], unsent, ~flow.sink_side[:count]
    return *hubs.split(inner), unsent, ~flow.sink_side[:count]
