"""Order and walks of network graphs."""

from __future__ import annotations

import numpy as np

from .adjacency import Adjacency, reachable
from .network import IntArray, Network

__all__ = [
    "Adjacency",
    "every_hidden_node_on_terminal_walk",
    "is_acyclic",
    "merged_ends",
    "reachable",
    "topological_order",
]


def merged_ends(network: Network) -> tuple[IntArray, IntArray]:
    """Return tails and heads after all terminals are merged into one node, numbered ``node_count``.

    The merged node exists even if the network has no terminals.
    """
    node = np.where(network.hidden, np.arange(network.node_count), network.node_count)
    return node[network.tail], node[network.head]


def topological_order(network: Network) -> IntArray | None:
    """Return the nodes so that every edge points forward, or None if there is a directed cycle.

    Examples
    --------
    >>> topological_order(Network.from_edges([("h", "y"), ("x", "h")], balance={"h": 0})).tolist()
    [2, 0, 1]
    """
    return network.order


def is_acyclic(network: Network) -> bool:
    """Return whether the network graph has no directed cycle."""
    return network.order is not None


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
