"""Frozen weights of any network, cycles and dead ends included, from one point of P and its residual graph.

With all terminals merged into one node, the changes δ of a point u ∈ P that keep Bu = c are circulations. So the smallest
value of u_e is u_e − r, where r is the largest flow from tail(e) to head(e) that avoids e, uses edges forwards without limit
and backwards up to their value in u.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .feasibility import Witness, witness_of_cut
from .flows import max_flow
from .network import BoolArray, IntArray, Network
from .structure import Adjacency, merged_ends, reachable

__all__ = ["Residual", "Settled"]


@dataclass(frozen=True)
class Settled:
    """What is known about one edge.

    `minimum` is exact, times the common denominator. `change` added to the point gives a point of P where the edge attains
    it. `witness` proves that it is not smaller, or, for minimum 0, that no regular point has it (None if some has).
    """

    edge: int
    minimum: int
    regular_frozen: bool
    witness: Witness | None
    change: Mapping[int, int] = field(default_factory=dict)


class Residual:
    """The residual graph of a point u of P.

    Parameters
    ----------
    network : Network
    point : integer array, shape (m,)
        Times the common denominator.
    """

    def __init__(self, network: Network, point: npt.NDArray[Any]) -> None:
        self.network = network
        self.point = point
        self.node_count = network.node_count + 1
        self.tail, self.head = merged_ends(network)
        self.outgoing = Adjacency.by(self.tail, self.node_count)

    def singular_witness(self) -> Witness | None:
        """Return a zero-sum closed set if every point of the invariant set is singular, else None."""
        tail, head = self._arcs(self.point)
        merged, hidden = self.network.node_count, self.network.hidden
        onward = reachable(self.node_count, tail, head, merged)
        if not onward[:-1][hidden].all():
            return witness_of_cut(self.network, onward)
        back = reachable(self.node_count, head, tail, merged)
        if not back[:-1][hidden].all():
            return witness_of_cut(self.network, ~back)
        return None

    def settle(self, *, regular: bool) -> list[Settled]:
        """Return every edge that `point` alone does not show to be free, in increasing order.

        With `regular` false (the invariant set has no regular point) no edge counts as regular-frozen.
        """
        listed = []
        fragile = self._possible_bridges() if regular else np.zeros(len(self.point), bool)
        for e in np.flatnonzero((self.point > 0) | fragile).tolist():
            settled = self._settle(e, regular)
            if self.point[e] > 0 or settled.regular_frozen:
                listed.append(settled)
        return listed

    def _settle(self, e: int, regular: bool) -> Settled:
        minimum, change, witness = (0, {}, None) if self.point[e] == 0 else self._minimize(e)
        if witness is not None:
            return Settled(e, minimum, regular, witness, change)
        if regular:
            moved = self.point.copy()
            for f, delta in change.items():
                moved[f] += delta
            tail, head = self._arcs(moved, without=e)
            onward = reachable(self.node_count, tail, head, int(self.tail[e]))
            if not onward[self.head[e]]:
                return Settled(e, 0, True, witness_of_cut(self.network, onward), change)
        return Settled(e, 0, False, None, change)

    def _minimize(self, e: int) -> tuple[int, dict[int, int], Witness | None]:
        """Return the minimum of u_e, the change that attains it, and a witness if it is positive."""
        amount = int(self.point[e])
        path = self._forward_path(int(self.tail[e]), int(self.head[e]), e)
        if path is not None:
            return 0, {e: -amount, **dict.fromkeys(path, amount)}, None
        others = np.arange(len(self.point)) != e
        forward = np.flatnonzero(others & (self.tail != self.head))
        backward = forward[self.point[forward] > 0]
        source = self.node_count
        flow = max_flow(
            self.node_count + 1,
            np.concatenate([[source], self.tail[forward], self.head[backward]]),
            np.concatenate([[self.tail[e]], self.head[forward], self.tail[backward]]),
            np.concatenate([np.array([amount]), np.full(len(forward), amount, self.point.dtype), self.point[backward]]),
            source,
            int(self.head[e]),
        )
        change: dict[int, int] = {e: -flow.value}
        there, back = flow.flow[1 : 1 + len(forward)].tolist(), flow.flow[1 + len(forward) :].tolist()
        for f, x in [
            *zip(forward.tolist(), there, strict=True),
            *zip(backward.tolist(), (-x for x in back), strict=True),
        ]:
            if x:
                change[f] = change.get(f, 0) + x
        change = {f: x for f, x in change.items() if x}
        minimum = amount - flow.value
        witness = witness_of_cut(self.network, flow.source_side[: self.node_count]) if minimum else None
        return minimum, change, witness

    def _forward_path(self, start: int, goal: int, without: int) -> list[int] | None:
        """Return the edges of a directed walk from `start` to `goal` that avoids one edge, or None.

        Breadth first, stopped as soon as the goal is met: in wide networks after a few nodes.
        """
        if start == goal:
            return []
        reached_by = np.full(self.node_count, -1)
        seen = np.zeros(self.node_count, bool)
        seen[start] = True
        front = np.array([start])
        while front.size and not seen[goal]:
            edges = self.outgoing.at_all(front)
            edges = edges[(edges != without) & ~seen[self.head[edges]]]
            front, first = np.unique(self.head[edges], return_index=True)
            reached_by[front] = edges[first]
            seen[front] = True
        if not seen[goal]:
            return None
        path = []
        node = goal
        while node != start:
            path.append(int(reached_by[node]))
            node = int(self.tail[path[-1]])
        return path

    def _arcs(self, point: npt.NDArray[Any], without: int | None = None) -> tuple[IntArray, IntArray]:
        """Return an arc for every edge and a reversed one where the point is positive."""
        forward = np.ones(len(point), bool)
        if without is not None:
            forward[without] = False
        backward = forward & (point > 0)
        return (
            np.concatenate([self.tail[forward], self.head[backward]]),
            np.concatenate([self.head[forward], self.tail[backward]]),
        )

    def _possible_bridges(self) -> BoolArray:
        """Return a set of edges that holds every one whose removal can leave the digraph not strongly connected.

        These are the edges of one tree of walks from the merged terminal and one of walks to it.
        """
        possible = np.zeros(len(self.point), bool)
        ends = self.tail, self.head
        positive = np.flatnonzero(self.point > 0)
        edges = np.concatenate([np.arange(len(self.point)), positive])
        for a, b in (ends, ends[::-1]):
            tail = np.concatenate([a, b[positive]])
            head = np.concatenate([b, a[positive]])
            arcs = Adjacency.by(tail, self.node_count)
            seen = np.zeros(self.node_count, bool)
            front = np.array([self.network.node_count])
            seen[front] = True
            while front.size:
                out = arcs.at_all(front)
                out = out[~seen[head[out]]]
                front, first = np.unique(head[out], return_index=True)
                possible[edges[out[first]]] = True
                seen[front] = True
        return possible
