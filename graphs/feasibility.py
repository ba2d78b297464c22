"""Whether the invariant set is empty: a point of P, or a closed set of nodes that rules it out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.sparse.csgraph import breadth_first_order

from .adjacency import digraph, gathered
from .flows import max_flow
from .network import BoolArray, IntArray, Network
from .structure import every_hidden_node_on_terminal_walk, is_acyclic, merged_ends

__all__ = ["Side", "SparsePoint", "Witness", "feasible_point", "sparse_point", "witness_of_cut"]

Side = Literal["out", "in"]


@dataclass(frozen=True)
class Witness:
    """A set of hidden nodes and the exact sum of its balances.

    `side` says which way the set is closed: ``"out"`` if no edge leaves it (but for the edge in question), ``"in"`` if no
    edge enters it (but for that edge).
    """

    side: Side
    nodes: tuple[int, ...]
    sum: Fraction


@dataclass(frozen=True, eq=False)
class SparsePoint:
    """A point u of P: ``u[edges[i]] = values[i]``, positive and times the common denominator; 0 on all other edges."""

    edges: IntArray
    values: npt.NDArray[Any]

    def items(self) -> Iterator[tuple[int, int]]:
        """Yield the edges where u is positive, increasing, with its value."""
        order = np.argsort(self.edges)
        return zip(self.edges[order].tolist(), self.values[order].tolist(), strict=True)

    def dense(self, edge_count: int) -> npt.NDArray[Any]:
        """Return the point as an array with an entry for every edge."""
        u = np.zeros(edge_count, self.values.dtype)
        u[self.edges] = self.values
        return u


def feasible_point(network: Network) -> npt.NDArray[Any] | Witness:
    """Return a point u of P, times the common denominator of the balance, or a witness that P is empty.

    P = {u ≥ 0 : Bu = c} is non-empty iff Σ_W c ≥ 0 for every set W of hidden nodes that no edge leaves and Σ_W c ≤ 0 for
    every set that no edge enters. The point is an integer array of shape (m,); the witness is one of these sets with the
    wrong sign.

    Examples
    --------
    >>> feasible_point(Network.from_edges([("x", "v"), ("v", "y")], balance={"v": -1})).tolist()
    [0, 1]
    >>> feasible_point(Network.from_edges([("x", "v")], inputs=["x"], outputs=[], balance={"v": -1}))
    Witness(side='out', nodes=(1,), sum=Fraction(-1, 1))
    """
    point = sparse_point(network)
    return point if isinstance(point, Witness) else point.dense(network.edge_count)


def sparse_point(network: Network) -> SparsePoint | Witness:
    """Return what `feasible_point` does, in the memory that a few numbers per node take wherever no flow is needed."""
    if not every_hidden_node_on_terminal_walk(network):
        return _by_flow(network)
    if is_acyclic(network):
        return _knot(network, network.first_in_edge, network.first_out_edge)
    return _knot(network, *_shortest_walks(network))


def _knot(network: Network, into: IntArray, out_of: IntArray) -> SparsePoint:
    """Return the point that pulls demand along the edges `into` nodes and pushes supply along the edges `out_of` nodes.

    Followed from node to node, either kind of edges ends in a terminal.
    """
    c, nodes = network.require_balance(), network.hidden_nodes
    supply, demand = out_of[nodes], into[nodes]
    pushed = gathered(nodes, network.head[supply], np.maximum(-c, 0))
    pulled = gathered(nodes, network.tail[demand], np.maximum(c, 0))
    # An edge may be both, and then counts once, with both amounts, among those of `supply`.
    end = network.head[supply]
    both = network.hidden[end] & (into[end] == supply)
    # Each sum collects every balance at most once, so 64 bits hold it wherever they hold the balances.
    forth = pushed[nodes]
    forth[both] += pulled[end[both]]
    begin = network.tail[demand]
    alone = ~network.hidden[begin] | (out_of[begin] != demand)
    edges = np.concatenate([supply, demand[alone]])
    values = np.concatenate([forth, pulled[nodes[alone]]])
    return SparsePoint(edges[values > 0], values[values > 0])


def _shortest_walks(network: Network) -> tuple[IntArray, IntArray]:
    """Return for each node the last edge of a shortest walk from a terminal, and the first one of a shortest walk to one."""
    tail, head = merged_ends(network)
    merged = network.node_count
    edges = []
    for a, b in ((tail, head), (head, tail)):
        _, before = breadth_first_order(digraph(merged + 1, a, b), merged)
        used = np.flatnonzero(before[b] == a)
        edge = np.full(merged + 1, -1)
        edge[b[used]] = used
        edges.append(edge[:-1])
    return edges[0], edges[1]


def _by_flow(network: Network) -> SparsePoint | Witness:
    c = network.require_balance()
    n = network.node_count
    merged, source, sink = n, n + 1, n + 2
    tail, head = merged_ends(network)
    real = np.flatnonzero(tail != head)
    producers, consumers = np.flatnonzero(c < 0), np.flatnonzero(c > 0)
    supply, demand = -sum(c[producers].tolist()), sum(c[consumers].tolist())
    total = supply + demand
    wide = total >= 1 << 62
    capacity = np.concatenate(
        [
            np.full(len(real), total, dtype=object if wide else np.int64),
            -c[producers],
            c[consumers],
            np.array([demand, supply], dtype=object if wide else np.int64),
        ]
    )
    flow = max_flow(
        n + 3,
        np.concatenate([tail[real], np.full(len(producers), source), consumers, [source, merged]]),
        np.concatenate([head[real], producers, np.full(len(consumers), sink), [merged, sink]]),
        capacity,
        source,
        sink,
    )
    if flow.value < total:
        return witness_of_cut(network, flow.source_side)
    positive = np.flatnonzero(flow.flow[: len(real)] > 0)
    return SparsePoint(real[positive], flow.flow[positive])


def witness_of_cut(network: Network, source_side: BoolArray) -> Witness:
    """Return the hidden side of a cut that no network edge leaves; index ``node_count`` is the merged terminal."""
    with_terminals = bool(source_side[network.node_count])
    inside = network.hidden & (source_side[: network.node_count] != with_terminals)
    nodes = np.flatnonzero(inside).tolist()
    return Witness("in" if with_terminals else "out", tuple(nodes), network.sum_of_balances(nodes))
