"""The independent factors of an invariant set: what hangs together without passing through a terminal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .network import Network

__all__ = ["Factor", "factors"]


@dataclass(frozen=True)
class Factor:
    """Hidden nodes that are connected among themselves, and all edges that touch them; both increasing."""

    nodes: tuple[int, ...]
    edges: tuple[int, ...]


def factors(network: Network) -> tuple[Factor, ...]:
    """Return the factors, by their smallest node.

    No equation of Bu = c involves two factors, so P and the invariant set are their products, times one line for every
    edge between terminals.

    Examples
    --------
    >>> G = Network.from_edges([("x", "a"), ("a", "y"), ("x", "b"), ("b", "y"), ("x", "y")])
    >>> factors(G)
    (Factor(nodes=(1,), edges=(0, 1)), Factor(nodes=(3,), edges=(2, 3)))
    """
    n = network.node_count
    tail, head, hidden = network.tail, network.head, network.hidden
    inner = hidden[tail] & hidden[head]
    arcs = csr_array((np.ones(int(inner.sum()), np.int32), (tail[inner], head[inner])), shape=(n, n))
    part = connected_components(arcs, directed=False)[1]
    nodes: dict[int, list[int]] = {}
    for v in network.hidden_nodes.tolist():
        nodes.setdefault(int(part[v]), []).append(v)
    edges: dict[int, list[int]] = {k: [] for k in nodes}
    touching = np.flatnonzero(hidden[tail] | hidden[head])
    at_end = np.where(hidden[tail[touching]], tail[touching], head[touching])
    for e, k in zip(touching.tolist(), part[at_end].tolist(), strict=True):
        edges[k].append(e)
    return tuple(Factor(tuple(nodes[k]), tuple(edges[k])) for k in nodes)
