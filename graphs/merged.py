"""A network with all its terminals merged into one node, for searches that avoid one edge."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import breadth_first_order

from .adjacency import Adjacency, digraph, spanning_arcs
from .network import BoolArray, IntArray, Network
from .structure import merged_ends
from .tree_paths import TreePaths

__all__ = ["Merged"]

_Edges = npt.NDArray[np.integer[Any]]


class Merged:
    """The digraph of a network whose terminals are one node; of parallel edges only the first is an arc.

    Attributes
    ----------
    terminal : int
        Number of the merged terminal, which is there even if the network has none; `node_count` is one more.
    tail, head : int64 arrays, shape (m,)
        Merged ends of every edge of the network.
    arcs : integer array
        The edges that are arcs: the first from a node to another one.
    twin : integer array, shape (m,)
        Another edge with the same merged ends, -1 without one.
    groups : pair of Adjacency
        Places in `arcs`, by tail and by head.
    """

    def __init__(self, network: Network) -> None:
        self.terminal = network.node_count
        self.node_count = network.node_count + 1
        self.tail, self.head = merged_ends(network)
        order = Adjacency.by(self.head, self.node_count).arc
        order = order[Adjacency.by(self.tail[order], self.node_count).arc]
        first = np.ones(len(order), bool)
        first[1:] = (np.diff(self.tail[order]) != 0) | (np.diff(self.head[order]) != 0)
        self.twin = np.full(len(order), -1)
        later = np.flatnonzero(~first)
        self.twin[order[later - 1]] = order[later]
        self.twin[order[later]] = order[later - 1]
        self.arcs: _Edges = order[first & (self.tail[order] != self.head[order])]
        self._ends = self.tail[self.arcs], self.head[self.arcs]
        self.groups = tuple(Adjacency.by(ends, self.node_count) for ends in self._ends)

    def walk(self, e: int) -> list[int] | None:
        """Return the edges of a walk from the tail of edge e to its head that avoids e, or None if there is none.

        The walk may use an edge twice.
        """
        walk = self.short_walk(e)
        return self._searched_walk(e) if walk is None else walk

    def short_walk(self, e: int) -> list[int] | None:
        """Return such a walk if the trees give one; None does not mean that there is none."""
        if self.tail[e] == self.head[e]:
            return []
        if self.twin[e] >= 0:
            return [int(self.twin[e])]
        for to_terminal, from_terminal in self._trees:
            there = self._along(to_terminal, self.head, int(self.tail[e]), e)
            back = None if there is None else self._along(from_terminal, self.tail, int(self.head[e]), e)
            if there is not None and back is not None:
                return there + back
        return None

    def _searched_walk(self, e: int) -> list[int] | None:
        edge = self.search(e, stop=True)
        node, goal = int(self.head[e]), int(self.tail[e])
        if edge[node] < 0:
            return None
        path = []
        while node != goal:
            path.append(int(edge[node]))
            node = int(self.tail[path[-1]])
        return path[::-1]

    @cached_property
    def _trees(self) -> list[tuple[IntArray, IntArray]]:
        """Two pairs of trees, of edges to the merged terminal and from it; the second pair avoids the first if it can."""
        trees = []
        avoid = np.zeros(len(self.arcs), bool)
        for _ in range(2):
            arcs = [spanning_arcs(self.groups[side], self._ends[1 - side], self.terminal, avoid) for side in (1, 0)]
            trees.append((self._edges(arcs[0]), self._edges(arcs[1])))
            used = np.concatenate(arcs)
            avoid[used[used >= 0]] = True
        return trees

    @cached_property
    def paths(self) -> list[tuple[TreePaths, TreePaths]]:
        """The same pairs of trees, as paths to the merged terminal and (backwards) from it."""
        return [
            (TreePaths(to, self.head, self.terminal), TreePaths(from_, self.tail, self.terminal))
            for to, from_ in self._trees
        ]

    def _edges(self, arcs: IntArray) -> IntArray:
        return np.where(arcs >= 0, self.arcs[arcs], -1) if len(self.arcs) else arcs

    def _along(self, tree: IntArray, onward: IntArray, node: int, e: int) -> list[int] | None:
        """Return the edges of `tree` from `node` to the merged terminal, None if they do not lead there or include e."""
        edges = []
        while node != self.terminal:
            edges.append(int(tree[node]))
            if edges[-1] in (-1, e):
                return None
            node = int(onward[edges[-1]])
        return edges

    def search(self, e: int, *, backwards: bool = False, stop: bool = False) -> IntArray:
        """Return for each node the edge by which a search that avoids e has reached it, -1 where it has not.

        The search starts at the tail of e and ends when it has met all or, with `stop`, the head; `backwards` it starts
        at the head and follows edges from their heads. Where it started counts as not reached.
        """
        side = 1 if backwards else 0
        leaving, ends = self.groups[side], self._ends[1 - side]
        start, goal = (int(end[e]) for end in ((self.head, self.tail) if backwards else (self.tail, self.head)))
        edge = np.full(self.node_count, -1)
        seen = np.zeros(self.node_count, bool)
        seen[start] = True
        front = np.array([start])
        while front.size and not (stop and seen[goal]):
            arcs = leaving.at_all(front)
            arcs = arcs[~seen[ends[arcs]]]
            arcs = arcs[self.arcs[arcs] != e]
            front, place = np.unique(ends[arcs], return_index=True)
            edge[front] = self.arcs[arcs[place]]
            seen[front] = True
        return edge

    def residual_arcs(self, positive: _Edges, without: int | None = None) -> tuple[IntArray, IntArray]:
        """Return an arc for every edge, and a reversed one for every edge in `positive`; parallel ones may be left out."""
        forward = self.arcs if without is None or self.twin[without] >= 0 else self.arcs[self.arcs != without]
        backward = positive if without is None else positive[positive != without]
        return (
            np.concatenate([self.tail[forward], self.head[backward]]),
            np.concatenate([self.head[forward], self.tail[backward]]),
        )

    def possible_bridges(self, positive: _Edges) -> BoolArray:
        """Return a set of edges that holds every one without which some residual arc is not on a closed walk.

        Those are edges of one tree of walks from the merged terminal, or of one of walks to it, and all edges at nodes that
        either does not span; never an edge with a twin.
        """
        possible = np.zeros(len(self.tail), bool)
        tail, head = self.residual_arcs(positive)
        for a, b, ends in ((tail, head, (self.tail, self.head)), (head, tail, (self.head, self.tail))):
            _, before = breadth_first_order(digraph(self.node_count, a, b), self.terminal)
            spanned = before >= 0
            spanned[self.terminal] = True
            arcs = ~spanned[self.tail] | ~spanned[self.head]
            arcs |= before[ends[1]] == ends[0]
            possible |= arcs
            possible[positive] |= before[ends[0][positive]] == ends[1][positive]
        possible &= (self.twin < 0) & (self.tail != self.head)
        return possible
