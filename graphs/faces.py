"""Faces of P = {u ≥ 0 : Bu = c}: which weights can vanish together, and which others vanish with them.

The face F_D of a set D of edges is {u ∈ P : u_e = 0 for e ∈ D}, which is P of the network without D.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from .feasibility import Witness, feasible_point
from .network import BoolArray, IntArray, Network
from .structure import Adjacency, merged_ends

__all__ = ["crossing_edges", "face_point", "face_support", "interior_point", "zero_set"]


def face_point(network: Network, zero: Iterable[int]) -> npt.NDArray[Any] | Witness:
    """Return a point of the face that vanishes on the edges `zero`, or a witness that they never vanish together.

    The point is an integer array of shape (m,), times the common denominator of the balance. The witness is a set of
    hidden nodes that no edge outside `zero` leaves (side ``"out"``) or enters (``"in"``), with a sum of the wrong sign.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": 1})
    >>> face_point(G, [0, 2]).tolist()
    [0, 1, 0]
    >>> face_point(G, [0, 1])
    Witness(side='in', nodes=(1,), sum=Fraction(1, 1))
    """
    kept = np.ones(network.edge_count, bool)
    kept[list(zero)] = False
    part = replace(network, tail=network.tail[kept], head=network.head[kept], weights=None, rounding=None)
    point = feasible_point(part)
    if isinstance(point, Witness):
        return point
    full = np.zeros(network.edge_count, point.dtype)
    full[kept] = point
    return full


def face_support(network: Network, point: npt.NDArray[Any], zero: Iterable[int] = ()) -> BoolArray:
    """Return the edges that are positive somewhere on the face of `zero`, given one point of it; shape (m,).

    With all terminals merged, take an arc a → b for every edge outside `zero`, and b → a where the point is positive:
    these are the directions in which the point can move inside the face. Edge e can be positive iff its ends are
    strongly connected.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": 0})
    >>> face_support(G, np.zeros(2, int)).tolist(), face_support(G, np.zeros(2, int), [0]).tolist()
    ([True, True], [False, False])
    """
    tail, head = merged_ends(network)
    free = np.ones(network.edge_count, bool)
    free[list(zero)] = False
    part = _strong_parts(network, point, free)
    support: BoolArray = free & (part[tail] == part[head])
    return support


def zero_set(network: Network, zero: Iterable[int]) -> tuple[int, ...] | None:
    """Return all edges that vanish wherever those in `zero` do, or None if these never vanish together.

    A set of weights is exactly the zero set of some point of the invariant set iff it is its own `zero_set`.

    Examples
    --------
    >>> zero_set(Network.from_edges([("x", "v"), ("v", "y")], balance={"v": 0}), [0])
    (0, 1)
    """
    edges = tuple(zero)
    point = face_point(network, edges)
    if isinstance(point, Witness):
        return None
    return tuple(np.flatnonzero(~face_support(network, point, edges)).tolist())


def interior_point(
    network: Network, point: npt.NDArray[Any], zero: Iterable[int] = ()
) -> tuple[npt.NDArray[np.object_], int]:
    """Return a point of the face of `zero` that is positive wherever some point of it is.

    The result (p, q) stands for p / (q · denominator of the balance). `point` is any point of the face, times that
    denominator.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": 1})
    >>> p, q = interior_point(G, np.array([0, 1, 0]))
    >>> p.tolist(), q
    ([1, 1, 1], 1)
    """
    tail, head = merged_ends(network)
    free = np.ones(network.edge_count, bool)
    free[list(zero)] = False
    part = _strong_parts(network, point, free)
    inner = free & (part[tail] == part[head])
    forward, backward = np.flatnonzero(inner), np.flatnonzero(inner & (point > 0))
    arc_tail = np.concatenate([tail[forward], head[backward]])
    arc_head = np.concatenate([head[forward], tail[backward]])
    flow = _positive_circulation(arc_tail, arc_head, part)
    change = np.zeros(network.edge_count, object)
    change[forward] += flow[: len(forward)]
    change[backward] -= flow[len(forward) :]
    u = point.astype(object)
    # Half of the largest step that stays inside keeps what is positive; a vanishing edge only has its forward arc.
    falling = np.flatnonzero(change < 0)
    q = 1 + max((-(int(change[e]) // int(u[e])) for e in falling), default=0)
    moved: npt.NDArray[np.object_] = u * q + change
    return moved, q


def crossing_edges(network: Network, nodes: Iterable[int]) -> IntArray:
    """Return the edges with exactly one end among `nodes`, increasing."""
    inside = np.zeros(network.node_count, bool)
    inside[list(nodes)] = True
    return np.flatnonzero(inside[network.tail] != inside[network.head])


def _strong_parts(network: Network, point: npt.NDArray[Any], free: BoolArray) -> IntArray:
    """Return the number of the strong component of every node, the merged terminal included."""
    tail, head = merged_ends(network)
    back = free & (point > 0)
    rows = np.concatenate([tail[free], head[back]])
    columns = np.concatenate([head[free], tail[back]])
    count = network.node_count + 1
    arcs = csr_array((np.ones(len(rows), np.int32), (rows, columns)), shape=(count, count))
    part: IntArray = connected_components(arcs, directed=True, connection="strong")[1].astype(np.int64)
    return part


def _positive_circulation(tail: IntArray, head: IntArray, part: IntArray) -> npt.NDArray[np.object_]:
    """Return a circulation that is positive on every arc, as Python integers; all arcs join strongly connected nodes.

    One unit on every arc leaves some nodes with too much and some with too little; what is missing comes from a root of
    their strong component along a tree, and what is left over goes to it along another.
    """
    count = len(part)
    flow = np.ones(len(tail), object)
    excess = np.bincount(head, minlength=count) - np.bincount(tail, minlength=count)
    for a, b, amount in ((tail, head, np.maximum(-excess, 0)), (head, tail, np.maximum(excess, 0))):
        order, arc_to = _trees(a, b, part)
        need = amount.tolist()
        for v in reversed(order):
            e = arc_to[v]
            if e >= 0 and need[v]:
                flow[e] += need[v]
                need[int(a[e])] += need[v]
    return flow


def _trees(tail: IntArray, head: IntArray, part: IntArray) -> tuple[list[int], list[int]]:
    """Return the nodes breadth first from one root in each strong component, and the arc that reached each (or -1)."""
    arcs = Adjacency.by(tail, len(part))
    arc_to = [-1] * len(part)
    order: list[int] = []
    front = np.unique(part, return_index=True)[1]
    seen = np.zeros(len(part), bool)
    seen[front] = True
    while front.size:
        order += front.tolist()
        out = arcs.at_all(front)
        out = out[~seen[head[out]]]
        front, first = np.unique(head[out], return_index=True)
        seen[front] = True
        for v, e in zip(front.tolist(), out[first].tolist(), strict=True):
            arc_to[v] = e
    return order, arc_to
