"""Order, reachability and adjacency of network graphs, on index arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import breadth_first_order

from .network import BoolArray, IntArray, Network

__all__ = [
    "Adjacency",
    "every_hidden_node_on_terminal_walk",
    "is_acyclic",
    "merged_ends",
    "reachable",
    "topological_order",
]


@dataclass(frozen=True, eq=False)
class Adjacency:
    """Arcs grouped by one end: those at node v are ``arc[start[v]:start[v + 1]]``."""

    start: IntArray
    arc: IntArray

    @classmethod
    def by(cls, ends: IntArray, node_count: int) -> Adjacency:
        """Return the arcs grouped by `ends`, in increasing order within a node."""
        order = np.argsort(ends, kind="stable")
        start = np.zeros(node_count + 1, np.int64)
        np.cumsum(np.bincount(ends, minlength=node_count), out=start[1:])
        return cls(start, order)

    def at(self, v: int) -> IntArray:
        """Return the arcs at node v."""
        return self.arc[self.start[v] : self.start[v + 1]]

    def at_all(self, nodes: IntArray) -> IntArray:
        """Return the arcs at any of `nodes`, node by node."""
        count = self.start[nodes + 1] - self.start[nodes]
        offset = np.repeat(self.start[nodes] - np.concatenate([[0], np.cumsum(count)[:-1]]), count)
        return self.arc[offset + np.arange(int(count.sum()))]


def merged_ends(network: Network) -> tuple[IntArray, IntArray]:
    """Return tails and heads after all terminals are merged into one node, numbered ``node_count``.

    The merged node exists even if the network has no terminals.
    """
    node = np.where(network.hidden, np.arange(network.node_count), network.node_count)
    return node[network.tail], node[network.head]


def reachable(node_count: int, tail: IntArray, head: IntArray, start: int) -> BoolArray:
    """Return which nodes a directed walk from `start` reaches, `start` included; shape (node_count,)."""
    # Parallel arcs are summed; 32 bits hold any number of them.
    graph = csr_array((np.ones(len(tail), np.int32), (tail, head)), shape=(node_count, node_count))
    seen = np.zeros(node_count, bool)
    seen[breadth_first_order(graph, start, directed=True, return_predecessors=False)] = True
    return seen


def topological_order(network: Network) -> IntArray | None:
    """Return the nodes so that every edge points forward, or None if there is a directed cycle.

    Examples
    --------
    >>> topological_order(Network.from_edges([("h", "y"), ("x", "h")], balance={"h": 0})).tolist()
    [2, 0, 1]
    """
    outgoing = Adjacency.by(network.tail, network.node_count)
    remaining = network.in_degree.copy()
    front = np.flatnonzero(remaining == 0)
    order = [front]
    while front.size:
        met = network.head[outgoing.at_all(front)]
        if met.size == 0:
            break
        removed = np.bincount(met, minlength=network.node_count)
        remaining -= removed
        front = np.flatnonzero((remaining == 0) & (removed > 0))
        order.append(front)
    result = np.concatenate(order)
    return result if len(result) == network.node_count else None


def is_acyclic(network: Network) -> bool:
    """Return whether the network graph has no directed cycle."""
    if bool((network.tail < network.head).all()):
        return True
    return topological_order(network) is not None


def every_hidden_node_on_terminal_walk(network: Network) -> bool:
    """Return whether every hidden node lies on a directed walk from a terminal to a terminal.

    On an acyclic network this says that every hidden node has an incoming and an outgoing edge.
    """
    if is_acyclic(network):
        both = (network.in_degree > 0) & (network.out_degree > 0)
        return bool(both[network.hidden].all())
    tail, head = merged_ends(network)
    count = network.node_count + 1
    from_terminal = reachable(count, tail, head, network.node_count)
    to_terminal = reachable(count, head, tail, network.node_count)
    return bool((from_terminal & to_terminal)[:-1][network.hidden].all())
