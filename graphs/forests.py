"""Spanning forests that join every hidden node to a terminal, for small networks."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from math import comb

from ..core import Reason, Undecided
from .network import Network
from .structure import merged_ends

__all__ = ["forest_sum", "rooted_forests"]

_MOST_CANDIDATES = 20_000


def rooted_forests(network: Network) -> Iterator[tuple[int, ...]]:
    """Yield the sets of h edges that form trees with exactly one terminal each and hold all hidden nodes, directions ignored.

    After merging the terminals these are the spanning trees.

    Raises
    ------
    Undecided
        If there are too many sets of h edges to try.

    Examples
    --------
    >>> list(rooted_forests(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")])))
    [(0, 1), (0, 2), (1, 2)]
    """
    h = len(network.hidden_nodes)
    if (count := comb(network.edge_count, h)) > _MOST_CANDIDATES:
        raise Undecided(
            Reason.INCOMPLETE_METHOD,
            f"{count} sets of {h} of the {network.edge_count} edges; forests are found among at most {_MOST_CANDIDATES}",
        )
    tail, head = (ends.tolist() for ends in merged_ends(network))
    for edges in combinations(range(network.edge_count), h):
        parent: dict[int, int] = {}

        def root(v: int, parent: dict[int, int] = parent) -> int:
            while v in parent:
                v = parent[v]
            return v

        for e in edges:
            a, b = root(tail[e]), root(head[e])
            if a == b:
                break
            parent[a] = b
        else:
            yield edges


def forest_sum(network: Network) -> Fraction:
    """Return Σ Π θ_e² over the rooted forests, which is det(B diag(θ²) Bᵀ), for a network with weights.

    Examples
    --------
    >>> forest_sum(Network.from_edges([("x", "a", 1), ("a", "b", 2), ("b", "y", 3)]))
    Fraction(49, 1)
    """
    squares = [Fraction(w) ** 2 for w in network.weights] if network.weights is not None else []
    total = Fraction(0)
    for edges in rooted_forests(network):
        product = Fraction(1)
        for e in edges:
            product *= squares[e]
        total += product
    return total
