"""The residual graph around one edge, as far as a search goes until the merged terminal is behind what it meets.

Most edges without which nothing leads from their tail to their head are the only way out of a few nodes, or into a few. From
all other nodes two trees lead to the terminal, and from it on to the head. So the search stops there, and flows, walks and
cuts are found among the few.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import Adjacency
from .flows import max_flow
from .merged import Merged
from .network import BoolArray, IntArray

__all__ = ["Around", "LocalFlow", "Surroundings"]

_Edges = npt.NDArray[np.integer[Any]]


@dataclass(frozen=True, eq=False)
class Around:
    """What a search around edge e met.

    Parameters
    ----------
    side : int
        0: the search started at the tail and went along arcs; 1: at the head, against them. In what follows, `start` and
        directions are those of the search.
    nodes : int64 array
        Nodes met that are not known to have a way around e: `start` first.
    forward, backward : integer arrays
        The edges along which the search left these nodes. If `side` is 0, those in `forward` were taken in their own
        direction, those in `backward` against it; mirrored if `side` is 1.
    outside : bool array, shape (n + 1,)
        Nodes met that have a way around e: from there two trees lead by the terminal to the other end of e.
    """

    edge: int
    side: int
    nodes: IntArray
    forward: _Edges
    backward: _Edges
    outside: BoolArray


@dataclass(frozen=True)
class LocalFlow:
    """The value of a largest residual flow, the change of the point that takes it off the edge, and a minimum cut.

    `source_side` are the nodes of the merged graph on the side of the tail.
    """

    value: int
    change: Mapping[int, int]
    source_side: BoolArray


class Surroundings:
    """Searches around edges, in the graph of all arcs and of some edges taken backwards.

    Parameters
    ----------
    merged : Merged
    reversible : integer array
        Edges that can be taken backwards too.
    """

    def __init__(self, merged: Merged, reversible: _Edges) -> None:
        self.merged = merged
        self._reversible = reversible
        self._back = tuple(Adjacency.by(ends[reversible], merged.node_count) for ends in (merged.head, merged.tail))

    def side_of(self, e: int) -> int | None:
        """Return 0 if the trees lead from the terminal to the head of e without e, 1 if from its tail to it, else None."""
        merged = self.merged
        tail, head = np.array([merged.tail[e]]), np.array([merged.head[e]])
        if self._intact(1, head, e).any():
            return 0
        return 1 if self._intact(0, tail, e).any() else None

    def _intact(self, which: int, nodes: IntArray, e: int) -> BoolArray:
        """Return which nodes have a path to the terminal (`which` 0) or from it (1) along one of the two trees without e."""
        at = int((self.merged.tail, self.merged.head)[which][e])
        first, second = (pair[which] for pair in self.merged.paths)
        return first.intact(nodes, e, at) | second.intact(nodes, e, at)

    def around(
        self,
        e: int,
        side: int,
        *,
        lost: frozenset[int] = frozenset(),
        gained: tuple[int, ...] = (),
        only_forward: bool = False,
        until_outside: bool = False,
    ) -> Around:
        """Return what a search around e from one of its ends meets.

        Parameters
        ----------
        lost, gained : edges
            That cannot be taken backwards although they are reversible, and that can although they are not.
        only_forward : bool
            Whether no edge is taken backwards.
        until_outside : bool
            Whether the search may end as soon as it meets a node outside.
        """
        merged = self.merged
        near, far = (merged.tail, merged.head) if side == 0 else (merged.head, merged.tail)
        start, goal = int(near[e]), int(far[e])
        seen, outside = (np.zeros(merged.node_count, bool) for _ in range(2))
        seen[start] = True
        front = np.array([start])
        nodes, forward, backward = [front], [], []
        while front.size:
            ahead = merged.arcs[merged.groups[side].at_all(front)]
            ahead = ahead[ahead != e]
            back: _Edges = np.zeros(0, np.int64)
            if not only_forward:
                back = self._reversible[self._back[side].at_all(front)]
                if lost:
                    back = back[~np.isin(back, list(lost))]
                if gained:
                    more = np.array(gained, np.int64)
                    back = np.concatenate([back, more[np.isin(far[more], front)]])
                # Edge e itself is met backwards only at its other end, where no search goes on.
                back = back[merged.tail[back] != merged.head[back]]
            forward.append(ahead)
            backward.append(back)
            met = np.concatenate([far[ahead], near[back]])
            met = np.unique(met[~seen[met]])
            seen[met] = True
            free = self._intact(side, met, e) | (met == goal)
            outside[met[free]] = True
            if until_outside and free.any():
                break
            front = met[~free]
            nodes.append(front)
        return Around(e, side, np.concatenate(nodes), np.concatenate(forward), np.concatenate(backward), outside)

    def walk(self, e: int, side: int) -> list[int] | None:
        """Return the edges of a walk from the tail of e to its head without e, None if there is none."""
        found = self.around(e, side, only_forward=True)
        if not found.outside.any():
            return None
        near, far = self._ends(side)
        # Back from a node outside: every edge of `forward` leaves a node met before the one it leads to was.
        came: dict[int, int] = {}
        known = {int(near[e])}
        for f in found.forward.tolist():
            if int(far[f]) not in known:
                known.add(int(far[f]))
                came[int(far[f])] = f
        node = int(np.flatnonzero(found.outside)[0])
        beyond = self._beyond(e, side, node)
        path = []
        while node != near[e]:
            path.append(came[node])
            node = int(near[path[-1]])
        return path[::-1] + beyond if side == 0 else beyond + path

    def _ends(self, side: int) -> tuple[IntArray, IntArray]:
        """Return where edges begin and end in the direction of the search."""
        merged = self.merged
        return (merged.tail, merged.head) if side == 0 else (merged.head, merged.tail)

    def _beyond(self, e: int, side: int, node: int) -> list[int]:
        """Return the edges of a walk without e between a node outside and the end of e that the search did not start at."""
        merged = self.merged
        goal = int((merged.head if side == 0 else merged.tail)[e])
        if node == goal:
            return []
        pieces = []
        for which, end in ((side, node), (1 - side, goal)):
            at = int((merged.tail, merged.head)[which][e])
            paths = [pair[which] for pair in merged.paths]
            tree = next(path for path in paths if path.intact(np.array([end]), e, at)[0])
            pieces.append(tree.from_node(end))
        to_terminal, from_terminal = pieces if side == 0 else pieces[::-1]
        return to_terminal + from_terminal[::-1]

    def flow(self, found: Around, amount: int, capacity: npt.NDArray[Any]) -> LocalFlow:
        """Return a largest flow of at most `amount` from the tail of e to its head without e.

        Parameters
        ----------
        found : Around
            Of the search that went on until nothing new was met.
        capacity : integer array
            Of `found.backward`; edges of `found.forward` have no limit.
        """
        near, far = self._ends(found.side)
        forward, backward = found.forward, found.backward
        number = np.full(self.merged.node_count, -1)
        number[found.nodes] = np.arange(2, len(found.nodes) + 2)
        number[found.nodes[0]] = 0
        number[found.outside] = 1
        begin = np.concatenate([near[forward], far[backward]])
        end = np.concatenate([far[forward], near[backward]])
        if len(found.nodes) == 1:
            # Every edge leads outside, so each takes what it can.
            taken = _filled(amount, np.concatenate([np.full(len(forward), amount, object), capacity.astype(object)]))
            value = int(sum(taken.tolist()))
            inside = np.zeros(self.merged.node_count, bool)
            inside[found.nodes] = value < amount
        else:
            wide = amount >= 1 << 62 or capacity.dtype == object
            limits = np.concatenate([[amount], np.full(len(forward), amount), capacity]).astype(
                object if wide else np.int64
            )
            count = len(found.nodes) + 2
            tails, heads = np.concatenate([[count], number[begin]]), np.concatenate([[0], number[end]])
            flow = max_flow(count + 1, tails, heads, limits, count, 1)
            value, taken = flow.value, flow.flow[1:]
            inside = np.zeros(self.merged.node_count, bool)
            inside[found.nodes] = flow.source_side[number[found.nodes]]
        change = {found.edge: -value}
        leaving: dict[int, int] = {}  # by node outside
        for i in np.flatnonzero(taken).tolist():
            step, sign = int(taken[i]), 1 if i < len(forward) else -1
            f = int(forward[i]) if sign > 0 else int(backward[i - len(forward)])
            change[f] = change.get(f, 0) + sign * step
            if found.outside[end[i]]:
                leaving[int(end[i])] = leaving.get(int(end[i]), 0) + step
        for node, step in leaving.items():
            for f in self._beyond(found.edge, found.side, node):
                change[f] = change.get(f, 0) + step
        side = inside if found.side == 0 else ~inside
        return LocalFlow(value, {f: x for f, x in change.items() if x}, side)


def _filled(amount: int, limits: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return how much each of some vessels takes when they are filled one after the other."""
    taken, left = [], amount
    for limit in limits.tolist():
        taken.append(min(left, limit))
        left -= taken[-1]
    return np.array(taken, object)
