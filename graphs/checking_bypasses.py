"""Walks that replace arcs that are missing, looked for near their ends and along trees of the whole graph.

Each step of such a walk is looked at, so that it is there whatever the trees are good for.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property

from .adjacency import Adjacency
from .network import IntArray

__all__ = ["Arcs", "Bypasses"]

_NEAR = 64  # nodes around an end of a missing arc, and arcs at each of them, that are looked at


@dataclass(frozen=True, eq=False)
class Arcs:
    """All edges as arcs, followed by reversed arcs of the edges `positive`; grouped by tail and by head."""

    tail: IntArray
    head: IntArray
    edge_count: int
    positive: IntArray
    groups: tuple[Adjacency, Adjacency]

    @cached_property
    def reversed_arc(self) -> dict[int, int]:
        """The reversed arc of each edge that has one."""
        return {f: self.edge_count + i for i, f in enumerate(self.positive.tolist())}


@dataclass(frozen=True, eq=False)
class Bypasses:
    """Trees that lead from all nodes to the terminal, and from it to all nodes.

    Parameters
    ----------
    trees : sequence of (int64 array, int64 array)
        For each node the arc that leads on towards the terminal, and the one by which it is reached from there; -1 for none.
    """

    arcs: Arcs
    terminal: int
    trees: Sequence[tuple[IntArray, IntArray]]

    def replace(self, e: int, gone: Collection[int], gained: Collection[int]) -> bool:
        """Return whether walks are found that replace the arc of e and the reversed arcs of `gone`; False says nothing.

        Parameters
        ----------
        gained : edges
            That can be taken backwards beside those of the arcs.
        """
        arcs = self.arcs
        missing = {e, *(arcs.reversed_arc[f] for f in gone)}
        more = [(int(arcs.head[f]), int(arcs.tail[f])) for f in gained]
        ends = {(int(arcs.tail[arc]), int(arcs.head[arc])) for arc in missing}
        return all(self._meets(a, 0, missing, more) and self._meets(b, 1, missing, more) for a, b in ends)

    def _meets(self, start: int, side: int, missing: set[int], more: Sequence[tuple[int, int]]) -> bool:
        """Return whether `start` leads to the terminal (`side` 0), or the terminal to it (1)."""
        arcs = self.arcs
        ends = (arcs.head, arcs.tail)[side]
        front, seen = [start], {start}
        for node in front:  # which grows on the way
            if any(self._is_path(node, tree[side], ends, missing) for tree in self.trees):
                return True
            if len(seen) > _NEAR:
                continue
            met = [int(ends[arc]) for arc in arcs.groups[side].at(node)[:_NEAR].tolist() if arc not in missing]
            met += [pair[1 - side] for pair in more if pair[side] == node]
            front += [v for v in dict.fromkeys(met) if v not in seen]
            seen.update(met)
        return False

    def _is_path(self, node: int, tree: IntArray, ends: IntArray, missing: set[int]) -> bool:
        """Return whether the arcs of a tree lead from a node to the terminal and none is missing."""
        while node != self.terminal:
            arc = int(tree[node])
            if arc < 0 or arc in missing:
                return False
            node = int(ends[arc])
        return True
