"""Frozen weights of acyclic networks whose hidden nodes all have incoming and outgoing edges.

Only a weight that is the single outgoing edge of its tail (an *out-bottleneck*) or the single incoming edge of its head (an
*in-bottleneck*) can be frozen there. Its minimum is decided by one maximum flow among the hidden nodes all of whose forward
(backward) paths meet the bottleneck; most often that is the bottleneck alone and no flow is needed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from .feasibility import Side
from .flows import max_flow
from .network import BoolArray, IntArray, Network
from .structure import Adjacency

__all__ = ["OneSided", "one_sided"]


@dataclass(frozen=True)
class OneSided:
    """What one side says about one bottleneck edge.

    Parameters
    ----------
    edge, node : int
        The only outgoing (side ``"out"``) or incoming (``"in"``) edge of the hidden node.
    minimum : int
        Lower bound on the squared weight from this side, exact, times the common denominator.
    critical : tuple of int
        The largest stable set that attains it: its balances sum to ∓minimum. Empty iff all stable sets have
        strictly the right sign; then this side does not freeze the weight even on the regular part.
    flow : mapping from edge to int
        Certifies that no stable set does worse.
    """

    edge: int
    node: int
    minimum: int
    critical: tuple[int, ...]
    flow: Mapping[int, int] = field(default_factory=dict)


def one_sided(network: Network, side: Side, balance: npt.NDArray[Any] | None = None) -> list[OneSided]:
    """Return the result of one side for every bottleneck of that side, by increasing node number.

    Hypotheses (not checked here): acyclic, and every hidden node has an incoming and an outgoing edge.

    Parameters
    ----------
    balance : integer array, shape (n,), optional
        Overrides the balance of the network (same denominator for all nodes).

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": -4})
    >>> [(b.edge, b.minimum, b.critical) for b in one_sided(G, "out")]
    [(2, 4, (1,))]
    """
    c = network.require_balance() if balance is None else balance
    if side == "out":
        graph = _Directed(network.tail, network.head, network.hidden, network.out_degree, c)
    else:
        graph = _Directed(network.head, network.tail, network.hidden, network.in_degree, -c)
    return graph.bottlenecks()


@dataclass(frozen=True, eq=False)
class _Directed:
    """The network seen from one side: for ``"in"`` all edges are reversed and the balance is negated."""

    tail: IntArray
    head: IntArray
    hidden: BoolArray
    degree: IntArray
    c: npt.NDArray[Any]

    def bottlenecks(self) -> list[OneSided]:
        nodes = np.flatnonzero(self.hidden & (self.degree == 1))
        edge = np.empty(len(self.hidden), np.int64)
        edge[self.tail] = np.arange(len(self.tail))
        alone = ~self._only_child_of_some_node()[nodes]
        results = [
            OneSided(int(edge[v]), int(v), max(0, -int(self.c[v])), (int(v),) if self.c[v] <= 0 else ())
            for v in nodes[alone]
        ]
        if not alone.all():
            incoming = Adjacency.by(self.head, len(self.hidden))
            results += [self._by_flow(int(v), int(edge[v]), incoming) for v in nodes[~alone]]
            results.sort(key=lambda result: result.node)
        return results

    def _only_child_of_some_node(self) -> BoolArray:
        """Return which nodes are the only successor of some hidden node; only those have others behind them."""
        last = np.full(len(self.hidden), -1)
        last[self.tail] = self.head
        several = np.zeros(len(self.hidden), bool)
        several[self.tail[self.head != last[self.tail]]] = True
        parents = self.hidden & (last >= 0) & ~several
        result = np.zeros(len(self.hidden), bool)
        result[last[parents]] = True
        return result

    def _caught(self, v: int, incoming: Adjacency) -> IntArray:
        """Return the hidden nodes all of whose forward paths meet v, v first, each before those it leads to."""
        missing: dict[int, int] = {}
        accepted = [np.array([v])]
        while accepted[-1].size:
            parents, count = np.unique(self.tail[incoming.at_all(accepted[-1])], return_counts=True)
            front = []
            for p, k in zip(parents.tolist(), count.tolist(), strict=True):
                if self.hidden[p]:
                    missing[p] = missing.get(p, int(self.degree[p])) - k
                    if missing[p] == 0:
                        front.append(p)
            accepted.append(np.array(front, np.int64))
        return np.concatenate(accepted)

    def _by_flow(self, v: int, e: int, incoming: Adjacency) -> OneSided:
        nodes = self._caught(v, incoming)
        k = len(nodes)
        local = {node: i for i, node in enumerate(nodes.tolist())}
        edges = incoming.at_all(nodes)
        inner = edges[[a in local for a in self.tail[edges].tolist()]]
        tail = np.array([local[a] for a in self.tail[inner].tolist()], np.int64)
        head = np.array([local[b] for b in self.head[inner].tolist()], np.int64)
        c = self.c[nodes]
        producers, consumers = np.flatnonzero(c < 0), np.flatnonzero(c > 0)
        supply = -sum(c[producers].tolist())
        unlimited = np.full(len(inner), supply + 1, dtype=c.dtype)
        source, sink = k, k + 1
        flow = max_flow(
            k + 2,
            np.concatenate([np.full(len(producers), source), tail, consumers]),
            np.concatenate([producers, head, np.full(len(consumers), sink)]),
            np.concatenate([-c[producers], unlimited, c[consumers]]),
            source,
            sink,
        )
        minimum = supply - flow.value
        inner_flow = flow.flow[len(producers) : len(producers) + len(inner)].tolist()
        if minimum:
            unsent = dict(zip(producers.tolist(), (-c[producers] - flow.flow[: len(producers)]).tolist(), strict=True))
            self._send_to_root(unsent, tail.tolist(), head.tolist(), inner_flow)
        return OneSided(
            e,
            v,
            minimum,
            tuple(sorted(nodes[~flow.sink_side[:k]].tolist())),
            {int(f): int(x) for f, x in zip(inner, inner_flow, strict=True) if x},
        )

    @staticmethod
    def _send_to_root(unsent: dict[int, int], tail: list[int], head: list[int], flow: list[int]) -> None:
        """Push what no consumer took along inner edges to local node 0, the bottleneck.

        Nodes are numbered so that every inner edge leads to a smaller number.
        """
        way = dict(zip(tail, range(len(tail)), strict=True))
        for node in range(max(unsent, default=0), 0, -1):
            if amount := unsent.get(node, 0):
                edge = way[node]
                flow[edge] += amount
                unsent[head[edge]] = unsent.get(head[edge], 0) + amount
