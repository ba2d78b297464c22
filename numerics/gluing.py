"""Components of small invariant sets by gluing sign pieces, exactly, and minima over vertices.

H is the union of 2^m pieces, one for each sign vector s: {s * sqrt(u) : u in P}, a copy of the convex set P. Two pieces meet
iff P has a point that vanishes wherever their signs differ, which is read off the generators of P = {u >= 0 : Bu = c}.
Sets of edges are bit masks.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..graphs.network import Network
from .polyhedra import Polyhedron

__all__ = ["LARGEST", "components", "minima", "regular_components", "sign_changes"]

LARGEST = 9
"""Most edges that are glued: the work is 4^m."""


def components(network: Network) -> int:
    """Return the number of connected components of the invariant set; 0 if it is empty.

    Raises
    ------
    ValueError
        If the network has more than `LARGEST` edges.

    Examples
    --------
    >>> components(Network.from_edges([("x", "a"), ("a", "y")], balance={"a": 1}))
    2
    """
    polyhedron = _polyhedron(network)
    faces = [D for D in range(1 << polyhedron.size) if polyhedron.support(D) is not None]
    return _glue(polyhedron.size, faces)


def regular_components(network: Network) -> int | None:
    """Return the number of connected components of the regular part of the invariant set, or None if that is empty.

    A point is regular iff its support joins every hidden node to a terminal. Supports only grow under convex combination, so
    the regular part of a piece is convex in u, and a face has a regular point iff its largest support is regular.

    Raises
    ------
    ValueError
        If the network has more than `LARGEST` edges.

    Examples
    --------
    >>> regular_components(Network.from_edges([("x", "a"), ("a", "y")], balance={"a": 0}))
    4
    """
    polyhedron = _polyhedron(network)
    supports = [polyhedron.support(D) for D in range(1 << polyhedron.size)]
    regular = {S: polyhedron.is_regular(S) for S in set(supports) if S is not None}
    return _glue(polyhedron.size, [D for D, S in enumerate(supports) if S is not None and regular[S]]) or None


def minima(network: Network) -> tuple[Fraction, ...] | None:
    """Return min u_e over P for every edge, exactly, or None if P is empty: a vertex attains it.

    Raises
    ------
    ValueError
        If the network has more than `LARGEST` edges.
    """
    polyhedron = _polyhedron(network)
    if not polyhedron.vertices:
        return None
    return tuple(
        Fraction(min(u.get(e, 0) for u in polyhedron.vertices.values()), network.denominator)
        for e in range(polyhedron.size)
    )


def sign_changes(network: Network) -> frozenset[int]:
    """Return the sets of signs (bit masks of edges) that can be changed within a component of the invariant set.

    Raises
    ------
    ValueError
        If the network has more than `LARGEST` edges.

    Examples
    --------
    >>> sorted(sign_changes(Network.from_edges([("x", "a"), ("a", "y")], balance={"a": 1})))
    [0, 2]
    """
    polyhedron = _polyhedron(network)
    faces = [D for D in range(1 << polyhedron.size) if polyhedron.support(D) is not None]
    seen = np.zeros(1 << polyhedron.size, bool)
    if faces:
        _reach(0, np.array(faces, np.int64), seen)
    return frozenset(np.flatnonzero(seen).tolist())


def _polyhedron(network: Network) -> Polyhedron:
    if network.edge_count > LARGEST:
        raise ValueError(f"edges={network.edge_count!r}: gluing takes 4^edges steps; at most {LARGEST} edges are glued")
    return Polyhedron.of(network)


def _glue(size: int, faces: list[int]) -> int:
    """Return the number of classes of the 2^size sign vectors when s meets s ^ D for every D in `faces`; 0 without faces.

    The empty set D is among `faces` unless there are none.
    """
    if not faces:
        return 0
    meets = np.array(faces, np.int64)
    seen = np.zeros(1 << size, bool)
    count = 0
    for start in range(1 << size):
        if seen[start]:
            continue
        count += 1
        _reach(start, meets, seen)
    return count


def _reach(start: int, meets: npt.NDArray[np.int64], seen: npt.NDArray[np.bool_]) -> None:
    """Mark in `seen` all sign vectors in the class of `start`."""
    seen[start] = True
    front = [start]
    while front:
        met = meets ^ front.pop()
        new = met[~seen[met]]
        seen[new] = True
        front += new.tolist()
