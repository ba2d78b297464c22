"""The rank of the Jacobian J(θ) = 2B diag(θ) of θ ↦ Bθ², read off the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .network import BoolArray, Network
from .structure import merged_ends

__all__ = ["is_regular", "jacobian_rank", "terminal_free_components"]


def terminal_free_components(
    network: Network, weights: Sequence[Any] | npt.NDArray[Any]
) -> tuple[tuple[int, ...], ...]:
    """Return the sets of hidden nodes that non-zero weights join to each other, but to no terminal, directions ignored.

    Parameters
    ----------
    weights : sequence of numbers or booleans, length m
        Only whether an entry is zero counts, exactly.

    Examples
    --------
    >>> G = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")])
    >>> terminal_free_components(G, [0, 1, 0]), terminal_free_components(G, [1, 1, 0])
    (((1, 2),), ())
    """
    nonzero = _nonzero(weights)
    tail, head = merged_ends(network)
    count = network.node_count + 1
    arcs = coo_array((np.ones(int(nonzero.sum()), np.int32), (tail[nonzero], head[nonzero])), shape=(count, count))
    part = connected_components(arcs.tocsr(), directed=False)[1]
    cut_off = network.hidden & (part[:-1] != part[-1])
    nodes = np.flatnonzero(cut_off)
    groups: dict[int, list[int]] = {}
    for v, k in zip(nodes.tolist(), part[nodes].tolist(), strict=True):
        groups.setdefault(k, []).append(v)
    return tuple(tuple(group) for group in groups.values())


def jacobian_rank(network: Network, weights: Sequence[Any] | npt.NDArray[Any]) -> int:
    """Return the rank of J(θ): the number of hidden nodes minus the number of terminal-free components.

    diag(θ) only deletes columns of B, the incidence matrix of an undirected graph with the rows of terminals left out.
    A component with k hidden nodes contributes k, or k − 1 if it has no terminal (then its rows sum to zero).

    Examples
    --------
    >>> G = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")])
    >>> jacobian_rank(G, [0, 1, 0]), jacobian_rank(G, [1, 1, 0])
    (1, 2)
    """
    return len(network.hidden_nodes) - len(terminal_free_components(network, weights))


def is_regular(network: Network, weights: Sequence[Any] | npt.NDArray[Any]) -> bool:
    """Return whether J(θ) has full rank.

    Examples
    --------
    >>> is_regular(Network.from_edges([("x", "v"), ("v", "y")]), [0, 1])
    True
    """
    return not terminal_free_components(network, weights)


def _nonzero(weights: Sequence[Any] | npt.NDArray[Any]) -> BoolArray:
    if isinstance(weights, np.ndarray):
        return np.asarray(weights != 0, bool)
    return np.array([w != 0 for w in weights], bool)
