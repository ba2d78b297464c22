"""Whether the invariant set is empty: a point of P, or a closed set of nodes that rules it out."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from .flows import max_flow
from .network import BoolArray, Network
from .structure import every_hidden_node_on_terminal_walk, merged_ends, topological_order

__all__ = ["Side", "Witness", "feasible_point", "witness_of_cut"]

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
    order = topological_order(network)
    if order is not None and every_hidden_node_on_terminal_walk(network):
        return _knot(network, order)
    return _by_flow(network)


def _knot(network: Network, order: npt.NDArray[np.int64]) -> npt.NDArray[Any]:
    """Return the point that pulls demand along the first incoming and pushes supply along the first outgoing edges."""
    c = network.require_balance()
    first_in = np.full(network.node_count, -1)
    first_out = np.full(network.node_count, -1)
    edges = np.arange(network.edge_count)[::-1]
    first_in[network.head[edges]] = edges
    first_out[network.tail[edges]] = edges
    u = [0] * network.edge_count
    tail, head, hidden = network.tail.tolist(), network.head.tolist(), network.hidden.tolist()
    supply = [max(0, -int(x)) for x in c]
    demand = [max(0, int(x)) for x in c]
    walk = [v for v in order.tolist() if hidden[v]]
    for v in walk:
        e = int(first_out[v])
        u[e] += supply[v]
        supply[head[e]] += supply[v]
    for v in reversed(walk):
        e = int(first_in[v])
        u[e] += demand[v]
        demand[tail[e]] += demand[v]
    # The sums telescope along paths and may exceed 64 bits even where the balances do not.
    return np.array(u, dtype=np.int64 if max(u, default=0) < 1 << 62 else object)


def _by_flow(network: Network) -> npt.NDArray[Any] | Witness:
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
    u = np.zeros(network.edge_count, dtype=flow.flow.dtype)
    u[real] = flow.flow[: len(real)]
    return u


def witness_of_cut(network: Network, source_side: BoolArray) -> Witness:
    """Return the hidden side of a cut that no network edge leaves; index ``node_count`` is the merged terminal."""
    with_terminals = bool(source_side[network.node_count])
    inside = network.hidden & (source_side[: network.node_count] != with_terminals)
    nodes = np.flatnonzero(inside).tolist()
    return Witness("in" if with_terminals else "out", tuple(nodes), network.sum_of_balances(nodes))
