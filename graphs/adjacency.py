"""Arcs grouped by their ends, topological order and reachability, on index arrays and in linear time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order, connected_components

__all__ = ["Adjacency", "digraph", "gathered", "reachable", "spanning_arcs", "topological_order_of"]

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Arcs grouped by one end: those at node v are ``arc[start[v]:start[v + 1]]``."""

    start: _Ints
    arc: npt.NDArray[np.integer[Any]]

    @classmethod
    def by(cls, ends: _Ints, node_count: int) -> Adjacency:
        """Return the arcs grouped by `ends`, in increasing order within a node.

        Examples
        --------
        >>> Adjacency.by(np.array([1, 0, 1]), 2).at(1).tolist()
        [0, 2]
        """
        start = np.zeros(node_count + 1, np.int64)
        np.cumsum(np.bincount(ends, minlength=node_count), out=start[1:])
        if bool((ends[1:] >= ends[:-1]).all()):
            return cls(start, np.arange(len(ends)))
        # Transposing the matrix with the single entry (e, ends[e]) in row e is a counting sort.
        one_each = csr_array((np.ones(len(ends), bool), ends, np.arange(len(ends) + 1)), shape=(len(ends), node_count))
        return cls(start, one_each.tocsc().indices)

    def at(self, v: int) -> npt.NDArray[np.integer[Any]]:
        """Return the arcs at node v."""
        return self.arc[self.start[v] : self.start[v + 1]]

    def at_all(self, nodes: _Ints) -> npt.NDArray[np.integer[Any]]:
        """Return the arcs at any of `nodes`, node by node."""
        if len(nodes) and bool((nodes[1:] == nodes[:-1] + 1).all()):
            return self.arc[self.start[nodes[0]] : self.start[nodes[-1] + 1]]
        begin = self.start[nodes]
        count = self.start[nodes + 1] - begin
        ends = np.cumsum(count)
        places = np.arange(int(ends[-1]) if len(ends) else 0)
        places += np.repeat(begin - ends + count, count)
        return self.arc[places]


def digraph(node_count: int, tail: _Ints, head: _Ints) -> csr_array[Any]:
    """Return the matrix with an entry at (a, b) for every arc from a to b; parallel arcs share one."""
    # The searches of SciPy convert to doubles, and a sum of ones is never 0.
    return csr_array((np.ones(len(tail)), (tail, head)), shape=(node_count, node_count))


def reachable(node_count: int, tail: _Ints, head: _Ints, start: int) -> _Bools:
    """Return which nodes a directed walk from `start` reaches, `start` included; shape (node_count,)."""
    seen = np.zeros(node_count, bool)
    graph = digraph(node_count, tail, head)
    seen[breadth_first_order(graph, start, directed=True, return_predecessors=False)] = True
    return seen


def gathered(nodes: _Ints, following: _Ints, amount: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return for each node the sum of `amount` over itself and all nodes whose walk meets it.

    Parameters
    ----------
    nodes : int64 array, shape (k,)
        The nodes from which walks go on; ``following[i]`` is where the walk goes from ``nodes[i]``. It comes to an end.
    amount : integer array, shape (n,)
        Sums of its entries are returned, also at nodes where walks end.

    Examples
    --------
    >>> gathered(np.array([0, 1]), np.array([1, 2]), np.array([5, 3, 1])).tolist()
    [5, 8, 9]
    """
    total = amount.copy()
    jump = np.full(len(amount), -1)
    jump[nodes] = following
    moving = nodes
    # After k rounds `total` covers all walks of fewer than 2^k steps, and `jump` leads 2^k steps ahead.
    while moving.size:
        target = jump[moving]
        np.add.at(total, target, total[moving])
        jump[moving] = jump[target]
        moving = moving[jump[moving] >= 0]
    return total


def spanning_arcs(leaving: Adjacency, head: _Ints, start: int, avoid: _Bools | None = None) -> _Ints:
    """Return for each node the arc by which a search from `start` reaches it, -1 at `start` and where it does not come.

    Parameters
    ----------
    leaving : Adjacency
        Arcs by tail.
    head : int64 array
        Heads of all arcs.
    avoid : bool array, optional
        Arcs that are used only where all others have led as far as they can.

    Examples
    --------
    >>> leaving = Adjacency.by(np.array([0, 0, 1]), 3)
    >>> spanning_arcs(leaving, np.array([1, 2, 2]), 0, np.array([False, True, False])).tolist()
    [-1, 0, 2]
    """
    count = len(leaving.start) - 1
    reached_by = np.full(count, -1)
    seen = np.zeros(count, bool)
    seen[start] = True
    front = np.array([start])
    avoided: list[npt.NDArray[np.integer[Any]]] = []
    while front.size or avoided:
        if front.size:
            arcs = leaving.at_all(front)
            arcs = arcs[~seen[head[arcs]]]
            if avoid is not None:
                avoided.append(arcs[avoid[arcs]])
                arcs = arcs[~avoid[arcs]]
        else:
            arcs = np.concatenate(avoided)
            arcs = arcs[~seen[head[arcs]]]
            avoided = []
        reached_by[head[arcs]] = arcs
        front = _distinct(head[arcs], count)
        seen[front] = True
    return reached_by


def _distinct(nodes: _Ints, count: int) -> _Ints:
    if 8 * len(nodes) < count:
        return np.unique(nodes)
    met = np.zeros(count, bool)
    met[nodes] = True
    return np.flatnonzero(met)


def topological_order_of(node_count: int, tail: _Ints, head: _Ints) -> _Ints | None:
    """Return the nodes so that every arc points forward, or None if there is a directed cycle (self-loops not counted).

    Examples
    --------
    >>> topological_order_of(3, np.array([0, 2]), np.array([1, 0])).tolist()
    [2, 0, 1]
    """
    if bool((tail < head).all()):
        return np.arange(node_count)
    count, component = connected_components(digraph(node_count, tail, head), connection="strong")
    if count < node_count:
        return None
    # Tarjan's algorithm numbers components backwards; SciPy does not promise that it always will, so it is checked.
    if bool((component[tail] > component[head]).all()):
        order = np.empty(node_count, np.int64)
        order[node_count - 1 - component] = np.arange(node_count)
        return order
    return _by_removing_sources(node_count, tail, head)


def _by_removing_sources(node_count: int, tail: _Ints, head: _Ints) -> _Ints:
    """Return a topological order of an acyclic graph, one node after another."""
    outgoing = Adjacency.by(tail, node_count)
    remaining = np.bincount(head, minlength=node_count)
    order = np.flatnonzero(remaining == 0).tolist()
    for v in order:
        following, met = np.unique(head[outgoing.at(v)], return_counts=True)
        remaining[following] -= met
        order += following[remaining[following] == 0].tolist()
    return np.array(order, np.int64)
