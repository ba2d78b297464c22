"""The residual flow that replaces one edge without which no walk leads from its tail to its head."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import gathered
from .flows import Flow, max_flow
from .merged import Merged
from .network import BoolArray

__all__ = ["Detours"]


class Detours:
    """The graph for residual flows from the tail of edge e to its head without e, with what costs nothing contracted.

    Forward edges have no limit. So all nodes that they reach from the tail form one node, the source, and all from which
    they reach the head another, the sink; no node is in both. Backward edges lead from the former to the latter, perhaps
    through other nodes.

    Attributes
    ----------
    backward : integer array
        The edges that can be used against their direction; capacities are given for these.
    """

    def __init__(self, merged: Merged, e: int, positive: npt.NDArray[np.integer[Any]]) -> None:
        self._merged = merged
        self._edge = e
        self._from_tail = merged.search(e)
        self._to_head = merged.search(e, backwards=True)
        number = np.full(merged.node_count, -1)
        number[self._from_tail >= 0] = number[merged.tail[e]] = 0
        number[self._to_head >= 0] = number[merged.head[e]] = 1
        between = np.flatnonzero(number < 0)
        self._count = 2 + len(between)
        number[between] = np.arange(2, self._count)
        self._number = number
        tail, head = number[merged.tail], number[merged.head]
        inner = (tail[merged.arcs] > 1) & (head[merged.arcs] > 1)
        self._forward = merged.arcs[inner]
        # Against its direction an edge is of no use into the source or out of the sink.
        useful = (head[positive] != 1) & (tail[positive] != 0) & (head[positive] != tail[positive]) & (positive != e)
        self.backward = positive[useful]
        self._tail = np.concatenate([[self._count], tail[self._forward], head[self.backward]])
        self._head = np.concatenate([[0], head[self._forward], tail[self.backward]])

    def flow(self, amount: int, capacity: npt.NDArray[Any]) -> Flow:
        """Return a largest flow of at most `amount`, with these capacities on `backward`."""
        unlimited = np.full(1 + len(self._forward), amount, dtype=object if amount >= 1 << 62 else capacity.dtype)
        capacities = np.concatenate([unlimited, capacity])
        return max_flow(self._count + 1, self._tail, self._head, capacities, self._count, 1)

    def source_side(self, flow: Flow) -> BoolArray:
        """Return the source side of a minimum cut as a set of nodes of the merged graph."""
        side: BoolArray = flow.source_side[self._number]
        return side

    def change(self, flow: Flow) -> dict[int, int]:
        """Return the circulation that takes `flow` off edge e, by edge; its parts in source and sink follow search trees."""
        merged, e = self._merged, self._edge
        there = flow.flow[1 : 1 + len(self._forward)]
        back = flow.flow[1 + len(self._forward) :]
        change = {e: -flow.value}
        change.update((int(f), int(x)) for f, x in zip(self._forward, there, strict=True) if x)
        for f, x in zip(self.backward.tolist(), back.tolist(), strict=True):
            if x:
                change[f] = change.get(f, 0) - x
        used = np.flatnonzero(back)
        edges, amounts = self.backward[used], back[used]
        for number, ends, tree, onward in (
            (0, merged.head[edges], self._from_tail, merged.tail),
            (1, merged.tail[edges], self._to_head, merged.head),
        ):
            at = self._number[ends] == number
            needed = np.zeros(merged.node_count, back.dtype)
            np.add.at(needed, ends[at], amounts[at])
            nodes = np.flatnonzero(tree >= 0)
            passed = gathered(nodes, onward[tree[nodes]], needed)[nodes]
            for f, x in zip(tree[nodes].tolist(), passed.tolist(), strict=True):
                if x:
                    change[f] = change.get(f, 0) + x
        return {f: x for f, x in change.items() if x}
