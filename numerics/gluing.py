"""Components of small invariant sets by gluing sign pieces, exactly, and minima over vertices.

H is the union of 2^m pieces, one for each sign vector s: {s * sqrt(u) : u in P}, a copy of the convex set P. Two pieces meet
iff P has a point that vanishes wherever their signs differ. Which sets of edges vanish together is read off the generators
of P = {u >= 0 : Bu = c}: the vertices (solved on forests) and the directed cycles through the merged terminals, which span
the recession cone. Integers throughout; sets of edges are bit masks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..graphs.network import Network

__all__ = ["LARGEST", "components", "minima", "regular_components"]

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
    polyhedron = _Polyhedron.of(network)
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
    polyhedron = _Polyhedron.of(network)
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
    polyhedron = _Polyhedron.of(network)
    if not polyhedron.vertices:
        return None
    return tuple(
        Fraction(min(u.get(e, 0) for u in polyhedron.vertices.values()), network.denominator)
        for e in range(polyhedron.size)
    )


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
        seen[start] = True
        front = [start]
        while front:
            met = meets ^ front.pop()
            new = met[~seen[met]]
            seen[new] = True
            front += new.tolist()
    return count


@dataclass(frozen=True)
class _Polyhedron:
    """P by its generators, with the terminals merged into one node.

    Parameters
    ----------
    size, hidden : int
        Number of edges and of hidden nodes; hidden nodes are 0..hidden-1 and the merged terminal is number `hidden`.
    ends : list of (tail, head)
        After merging. Edges between terminals are loops.
    vertices : mapping from support to {edge: positive numerator}
        Over the common denominator of the balance.
    cycles : list of int
        Supports of the extreme rays.
    """

    size: int
    hidden: int
    ends: list[tuple[int, int]]
    vertices: dict[int, dict[int, int]]
    cycles: list[int]

    @classmethod
    def of(cls, network: Network) -> _Polyhedron:
        size = network.edge_count
        if size > LARGEST:
            raise ValueError(f"edges={size!r}: gluing takes 4^edges steps; at most {LARGEST} edges are glued")
        number = {v: i for i, v in enumerate(network.hidden_nodes.tolist())}
        hidden = len(number)
        pairs = zip(network.tail.tolist(), network.head.tolist(), strict=True)
        ends = [(number.get(a, hidden), number.get(b, hidden)) for a, b in pairs]
        balance = [int(network.require_balance()[v]) for v in number]
        solutions = {S: _positive_solution(S, ends, balance) for S in range(1 << size)}
        vertices = {S: u for S, u in solutions.items() if u is not None}
        return cls(size, hidden, ends, vertices, [S for S in range(1, 1 << size) if _is_cycle(S, ends)])

    def support(self, D: int) -> int | None:
        """Return all edges that are positive somewhere on the face u = 0 on D, or None if that face is empty.

        P contains no line, so a non-empty face is generated by the vertices and rays of P that it contains.
        """
        corners = [S for S in self.vertices if not S & D]
        if not corners:
            return None
        union = 0
        for S in corners:
            union |= S
        for S in self.cycles:
            if not S & D:
                union |= S
        return union

    def is_regular(self, support: int) -> bool:
        """Return whether the support joins every hidden node to the terminal, directions ignored."""
        joined = 1 << self.hidden
        edges = [1 << a | 1 << b for e, (a, b) in enumerate(self.ends) if support >> e & 1]
        while grown := [both for both in edges if joined & both and both & ~joined]:
            for both in grown:
                joined |= both
        return joined == (2 << self.hidden) - 1


def _positive_solution(support: int, ends: list[tuple[int, int]], balance: list[int]) -> dict[int, int] | None:
    """Return the solution of Bu = c that is positive exactly on `support`, if that is a forest; otherwise None.

    Leaves are solved first. Columns of B are dependent iff their edges contain an undirected cycle of the merged graph.
    """
    terminal = len(balance)
    missing = [*balance, 0]
    left = {e: ends[e] for e in range(len(ends)) if support >> e & 1}
    solution = {}
    while left:
        degree = [0] * (terminal + 1)
        for a, b in left.values():
            degree[a] += 1
            degree[b] += 1
        leaf = next((v for v in range(terminal) if degree[v] == 1), None)
        if leaf is None:
            return None
        e, (a, b) = next((e, pair) for e, pair in left.items() if leaf in pair)
        value = missing[leaf] if b == leaf else -missing[leaf]
        if value <= 0:
            return None
        solution[e] = value
        missing[a] += value
        missing[b] -= value
        del left[e]
    return solution if not any(missing[:terminal]) else None


def _is_cycle(edges: int, ends: list[tuple[int, int]]) -> bool:
    """Return whether the edges form one simple directed cycle (a loop is one)."""
    chosen = [ends[e] for e in range(len(ends)) if edges >> e & 1]
    successor = dict(chosen)
    start = chosen[0][0]
    node: int | None = start
    for steps in range(1, len(chosen) + 1):
        node = None if node is None else successor.get(node)
        if node == start:
            return steps == len(chosen)
    return False
