"""Whether an invariant set has a singular point, a point where the Jacobian of θ ↦ Bθ² loses rank.

A point is singular iff all edges that cross the boundary of some non-empty set W of hidden nodes vanish; W can be taken
connected, and Σ_W c = 0 is necessary. So the sets of balances that sum to zero are enumerated, and for each it is
decided whether its boundary can vanish. Subset sum makes this NP-hard: large instances are scouted, and perhaps left
undecided.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import Certificate, Reason
from .certificates import point_data, witness_data
from .faces import crossing_edges, face_point
from .factors import Factor, factors
from .feasibility import Witness, feasible_point
from .network import Network
from .points import squares_of_weights
from .rank import terminal_free_components
from .singular_scout import scouted_set

__all__ = ["LARGEST_ENUMERATION", "SingularPoint", "singular_point"]

LARGEST_ENUMERATION = 20
"""Most hidden nodes of a factor whose subsets are enumerated."""

_MOST_SETS = 100_000  # connected zero-sum sets tested one by one, about a millisecond each at worst


@dataclass(frozen=True, eq=False)
class SingularPoint:
    """Whether a singular point exists, and why.

    Parameters
    ----------
    exists : bool or None
        None if undecided, for the `reason` given.
    nodes : tuple of int
        If one exists: hidden nodes that are cut off, i.e. all edges across their boundary vanish at `point`.
    point : integer array, shape (m,), or None
        Its squares, times the common denominator of the balance.
    certificate : Certificate or None
        None if undecided.
    """

    exists: bool | None
    nodes: tuple[int, ...] = ()
    point: npt.NDArray[Any] | None = None
    certificate: Certificate | None = field(default=None, repr=False)
    reason: Reason | None = None
    explanation: str = ""


def singular_point(network: Network) -> SingularPoint:
    """Return whether the invariant set has a singular point, with one, or with a proof that there is none.

    Factors of up to `LARGEST_ENUMERATION` hidden nodes are decided by enumeration. Larger ones are searched by
    heuristics and a mixed-integer program, whose answers count only where they are verified exactly: these can find a
    point, but not exclude one.

    Raises
    ------
    InputError
        If the network has no balance.

    Examples
    --------
    >>> edges = [("x", "a"), ("a", "b"), ("b", "y")]
    >>> singular_point(Network.from_edges(edges, balance={"a": -1, "b": 1})).nodes
    (1, 2)
    >>> singular_point(Network.from_edges(edges, balance={"a": 1, "b": -1})).exists
    False
    """
    point = feasible_point(network)
    if isinstance(point, Witness):
        return _none(network, [point])
    for u in (point, squares_of_weights(network)):
        if u is not None and (cut_off := terminal_free_components(network, u)):
            return _found(network, cut_off[0], u)
    obstructions: list[Witness] = []
    open_factors: list[Factor] = []
    for factor in factors(network):
        if len(factor.nodes) > LARGEST_ENUMERATION and not _one_sign(network, factor):
            open_factors.append(factor)
            continue
        found = _enumerated(network, factor, obstructions)
        if isinstance(found, SingularPoint):
            return found
    for factor in open_factors:
        W = scouted_set(network, factor)
        if W and not isinstance(point := face_point(network, crossing_edges(network, W)), Witness):
            return _found(network, W, point)
    if open_factors:
        largest = max(len(factor.nodes) for factor in open_factors)
        return SingularPoint(
            None,
            reason=Reason.INCOMPLETE_METHOD,
            explanation=f"{largest} hidden neurons hang together; sets of at most {LARGEST_ENUMERATION} are enumerated, "
            "and the search among more found nothing, which proves nothing",
        )
    return _none(network, obstructions)


def _found(network: Network, W: tuple[int, ...], point: npt.NDArray[Any]) -> SingularPoint:
    data = {"nodes": [network.names[v] for v in W], "squares": point_data(network, point)}
    return SingularPoint(True, W, point, Certificate("singular_point", data))


def _none(network: Network, obstructions: list[Witness]) -> SingularPoint:
    data = {"obstructions": [witness_data(network, witness) for witness in obstructions]}
    return SingularPoint(False, certificate=Certificate("no_singular_point", data))


def _one_sign(network: Network, factor: Factor) -> bool:
    """Return whether all balances are positive or all negative, so that no subset sums to zero."""
    c = network.require_balance()[list(factor.nodes)]
    return bool((c > 0).all() or (c < 0).all())


def _enumerated(network: Network, factor: Factor, obstructions: list[Witness]) -> SingularPoint | None:
    """Return a singular point with a cut-off set in this factor, or None after adding an obstruction for each candidate.

    A set V of the wrong sign that only edges of the boundary of W leave keeps that boundary from vanishing; the same V
    often does so for many W.
    """
    known: list[frozenset[int]] = []
    for count, W in enumerate(_connected_zero_sets(network, factor)):
        boundary = crossing_edges(network, W)
        crossed = frozenset(boundary.tolist())
        if any(edges <= crossed for edges in known):
            continue
        point = face_point(network, boundary)
        if not isinstance(point, Witness):
            return _found(network, W, point)
        obstructions.append(point)
        known.append(_way_out(network, point))
        if count >= _MOST_SETS:
            return SingularPoint(
                None, reason=Reason.TIMEOUT, explanation=f"more than {_MOST_SETS} sets of balances sum to zero"
            )
    return None


def _way_out(network: Network, witness: Witness) -> frozenset[int]:
    """Return the edges that leave (side ``"out"``) or enter (``"in"``) the nodes of `witness`."""
    inside = np.zeros(network.node_count, bool)
    inside[list(witness.nodes)] = True
    a, b = (network.tail, network.head) if witness.side == "out" else (network.head, network.tail)
    return frozenset(np.flatnonzero(inside[a] & ~inside[b]).tolist())


def _connected_zero_sets(network: Network, factor: Factor) -> Iterator[tuple[int, ...]]:
    """Yield the connected sets of nodes of the factor whose balances sum to zero, small ones first."""
    if _one_sign(network, factor):
        return
    nodes = factor.nodes
    sums = np.zeros(1, network.require_balance().dtype)
    for v in nodes:
        sums = np.concatenate([sums, sums + network.require_balance()[v]])
    masks = np.flatnonzero(sums == 0)[1:].tolist()
    bit = {v: 1 << i for i, v in enumerate(nodes)}
    beside = dict.fromkeys(bit.values(), 0)
    for e in factor.edges:
        a, b = bit.get(int(network.tail[e]), 0), bit.get(int(network.head[e]), 0)
        if a and b:
            beside[a] |= b
            beside[b] |= a
    for mask in sorted(masks, key=int.bit_count):
        if _is_connected(mask, beside):
            yield tuple(v for v in nodes if mask & bit[v])


def _is_connected(mask: int, beside: dict[int, int]) -> bool:
    seen = front = mask & -mask
    while front:
        bit = front & -front
        front ^= bit
        new = beside[bit] & mask & ~seen
        seen |= new
        front |= new
    return seen == mask
