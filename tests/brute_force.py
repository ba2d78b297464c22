"""A second, independent and exact account of invariant sets, for small multigraphs.

Everything is done by enumeration from the definitions, in integers and fractions: vertices of ``P = {u >= 0 : Bu = c}`` from
all bases, closed sets from all subsets, components by gluing all sign pieces. Nothing is shared with the engines under test.
Good for about 9 edges; `components` and `regular_components` cost 4^edges.

Sets of edges are bit masks: edge e is in `mask` iff ``mask >> e & 1``.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lakatos import Network

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Graph:
    """A directed multigraph (cycles and parallel edges allowed) with a balance for every hidden node."""

    edges: tuple[tuple[int, int], ...]
    hidden: tuple[int, ...]
    balance: dict[int, Fraction]

    @property
    def size(self) -> int:
        """Number of edges."""
        return len(self.edges)

    @cached_property
    def incidence(self) -> list[list[int]]:
        """B: one row per hidden node, +1 where an edge enters, -1 where it leaves."""
        return [[(b == v) - (a == v) for a, b in self.edges] for v in self.hidden]

    @cached_property
    def vertices(self) -> tuple[Point, ...]:
        """All vertices of P; empty iff P is empty, as P contains no line."""
        return tuple(_vertices(self))

    @cached_property
    def faces(self) -> frozenset[int]:
        """All sets D of edges (masks) that vanish together somewhere on P; a non-empty face contains a vertex of P."""
        zeros = {mask_of(e for e, x in enumerate(u) if x == 0) for u in self.vertices}
        return frozenset(D for D in range(1 << self.size) if any(D & ~Z == 0 for Z in zeros))

    @cached_property
    def regular_faces(self) -> frozenset[int]:
        """All sets D of edges (masks) that vanish together at some regular point."""
        support = {D: face_support(self, D) for D in self.faces}
        full = {S for S in set(support.values()) if support_rank(self, S) == len(self.hidden)}
        return frozenset(D for D in self.faces if support[D] in full)


def graph_of(network: Network) -> Graph:
    """Return the plain graph of a network with balances; nodes and edges keep their numbers."""
    hidden = tuple(network.hidden_nodes.tolist())
    edges = tuple(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    return Graph(edges, hidden, {v: network.sum_of_balances([v]) for v in hidden})


def mask_of(edges: Iterable[int]) -> int:
    """Return the bit mask of a set of edges."""
    return sum(1 << e for e in set(edges))


def _vertices(graph: Graph) -> Iterator[Point]:
    """Yield u for every set of independent columns on which Bu = c has a positive solution."""
    scale = math.lcm(*(graph.balance[v].denominator for v in graph.hidden))
    tableau = [[*row, int(graph.balance[v] * scale)] for row, v in zip(graph.incidence, graph.hidden, strict=True)]

    def extend(e: int, rows: list[list[int]], basis: dict[int, int]) -> Iterator[Point]:
        # `rows` is reduced with respect to `basis` (edge -> its pivot row), so the last column holds the basic solution.
        if e == graph.size:
            solved = all(row[-1] == 0 for i, row in enumerate(rows) if i not in basis.values())
            if solved and all(rows[i][-1] > 0 for i in basis.values()):
                yield tuple(Fraction(rows[basis[f]][-1] if f in basis else 0, scale) for f in range(graph.size))
            return
        yield from extend(e + 1, rows, basis)
        pivot = next((i for i, row in enumerate(rows) if row[e] and i not in basis.values()), None)
        if pivot is not None:
            yield from extend(e + 1, _pivot(rows, pivot, e), {**basis, e: pivot})

    return extend(0, tableau, {})


def _pivot(rows: list[list[int]], pivot: int, column: int) -> list[list[int]]:
    # Incidence matrices are totally unimodular: pivots are 1 or -1, so multiplying divides and all stays integral.
    unit = rows[pivot][column]
    base = [unit * x for x in rows[pivot]]
    return [
        base if i == pivot else [x - row[column] * y for x, y in zip(row, base, strict=True)]
        for i, row in enumerate(rows)
    ]


def feasible(graph: Graph) -> bool:
    """Return whether P is non-empty."""
    return bool(graph.vertices)


def subsets(items: Sequence[int]) -> Iterator[frozenset[int]]:
    """Yield all non-empty subsets, small ones first."""
    for size in range(1, len(items) + 1):
        yield from map(frozenset, combinations(items, size))


def violating_closed_sets(graph: Graph) -> list[tuple[str, frozenset[int]]]:
    """Return all ("out" | "in", W): no edge leaves (enters) W, yet the balances of W sum to less (more) than 0."""
    found = []
    for W in subsets(graph.hidden):
        total = sum(graph.balance[v] for v in W)
        if total < 0 and not leaving(graph, W):
            found.append(("out", W))
        if total > 0 and not entering(graph, W):
            found.append(("in", W))
    return found


def leaving(graph: Graph, W: Collection[int]) -> list[int]:
    """Return the edges that leave W."""
    return [e for e, (a, b) in enumerate(graph.edges) if a in W and b not in W]


def entering(graph: Graph, W: Collection[int]) -> list[int]:
    """Return the edges that enter W."""
    return [e for e, (a, b) in enumerate(graph.edges) if a not in W and b in W]


def minima(graph: Graph) -> list[Fraction]:
    """Return m_e = min {u_e : u in P} for every edge: P lies in the orthant, so a vertex attains it.

    Raises
    ------
    ValueError
        If P is empty.
    """
    if not graph.vertices:
        raise ValueError("P is empty: no minimum is attained; ask `feasible` first")
    return [min(u[e] for u in graph.vertices) for e in range(graph.size)]


def minima_by_stable_sets(graph: Graph) -> list[Fraction]:
    """Return max(0, -sum over W in S(e), sum over W in P(e)) for every edge, by enumeration of all W.

    This is m_e where P is non-empty.
    """
    result = [Fraction(0)] * graph.size
    for W in subsets(graph.hidden):
        total = sum((graph.balance[v] for v in W), Fraction(0))
        for boundary, value in ((leaving(graph, W), -total), (entering(graph, W), total)):
            if len(boundary) == 1:
                result[boundary[0]] = max(result[boundary[0]], value)
    return result


def frozen(graph: Graph) -> tuple[int, ...]:
    """Return the edges that are positive on all of P; none if P is empty."""
    return tuple(e for e, m in enumerate(minima(graph)) if m > 0) if feasible(graph) else ()


def regular_frozen(graph: Graph) -> tuple[int, ...]:
    """Return the edges that vanish at no regular point; none if there is no regular point."""
    if not graph.regular_faces:
        return ()
    return tuple(e for e in range(graph.size) if 1 << e not in graph.regular_faces)


def components(graph: Graph) -> int:
    """Return the number of connected components of H (0 if empty), gluing sign pieces along all non-empty faces."""
    return _glued_pieces(graph.size, graph.faces)


def regular_components(graph: Graph) -> int:
    """Return the number of connected components of the regular part of H, 0 if it is empty.

    The regular part of a piece is convex in u = theta^2, as supports only grow under convex combination. Two pieces meet
    inside the regular part iff the edges in which their signs differ vanish together at a regular point.
    """
    return _glued_pieces(graph.size, graph.regular_faces)


def _glued_pieces(size: int, faces: Collection[int]) -> int:
    """Return the number of classes of sign vectors when s and s ^ D are one for every D in `faces`."""
    unseen = set(range(1 << size)) if faces else set()
    classes = 0
    while unseen:
        classes += 1
        reached = [unseen.pop()]
        while reached:
            s = reached.pop()
            neighbors = {s ^ D for D in faces} & unseen
            unseen -= neighbors
            reached += neighbors
    return classes


def face_support(graph: Graph, D: int) -> int:
    """Return the edges (mask) that are positive somewhere on the face {u in P : u = 0 on D}, which must not be empty.

    A face is the convex hull of its vertices plus its recession cone, which circulations through the merged terminals span.
    """
    support = 0
    for u in graph.vertices:
        positive = mask_of(e for e, x in enumerate(u) if x > 0)
        if positive & D == 0:
            support |= positive
    arcs = [(e, *ends) for e, ends in enumerate(_merged_edges(graph)) if not D >> e & 1]
    for e, a, b in arcs:
        if a in _reached(b, [(s, t) for _, s, t in arcs]):
            support |= 1 << e
    return support


def _merged_edges(graph: Graph) -> list[tuple[int, int]]:
    """Return the edges with all terminals replaced by one node, -1."""
    hidden = set(graph.hidden)
    return [(a if a in hidden else -1, b if b in hidden else -1) for a, b in graph.edges]


def _reached(start: int, arcs: Collection[tuple[int, int]]) -> set[int]:
    reached = {start}
    while new := {b for a, b in arcs if a in reached} - reached:
        reached |= new
    return reached


def rank(rows: Sequence[Sequence[Fraction | int]]) -> int:
    """Return the rank of an exact matrix by elimination."""
    remaining = [list(map(Fraction, row)) for row in rows]
    count = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in remaining if row[column]), None)
        if pivot is None:
            continue
        count += 1
        remaining.remove(pivot)
        remaining = [
            [x - row[column] / pivot[column] * y for x, y in zip(row, pivot, strict=True)] for row in remaining
        ]
    return count


def jacobian_rank(graph: Graph, theta: Sequence[Fraction | int]) -> int:
    """Return the rank of J = 2 B diag(theta)."""
    return rank([[2 * b * t for b, t in zip(row, theta, strict=True)] for row in graph.incidence])


def support_rank(graph: Graph, support: int) -> int:
    """Return the rank of J at any point that is non-zero exactly on `support` (a mask)."""
    return jacobian_rank(graph, [support >> e & 1 for e in range(graph.size)])


def terminal_free_components(graph: Graph, support: int) -> int:
    """Return the number of connected components, undirected, of the support (a mask) that contain no terminal."""
    arcs = [ends for e, ends in enumerate(_merged_edges(graph)) if support >> e & 1]
    undirected = arcs + [(b, a) for a, b in arcs]
    return len({frozenset(_reached(v, undirected)) for v in graph.hidden if -1 not in _reached(v, undirected)})


def has_singular_point(graph: Graph) -> bool:
    """Return whether some non-empty set of hidden nodes has all its boundary edges zero at a point of P."""
    boundaries = (mask_of(leaving(graph, W) + entering(graph, W)) for W in subsets(graph.hidden))
    return any(D in graph.faces for D in boundaries)


def betti_numbers(graph: Graph) -> tuple[int, ...]:
    """Return the Betti numbers of H over the field with two elements, without trailing zeros; () if H is empty.

    b_k(H) is the sum, over all sets J of edges, of the reduced Betti numbers of degree k - 1 of the complex of faces in J.
    """
    betti = [0] * (graph.size + 1)
    for J in range(1 << graph.size):
        by_size: list[list[int]] = [[] for _ in range(graph.size + 2)]
        for D in graph.faces:
            if D & ~J == 0:
                by_size[D.bit_count()].append(D)
        ranks = [0, *(_boundary_rank(by_size[k], by_size[k - 1]) for k in range(1, graph.size + 2))]
        for k in range(graph.size + 1):
            betti[k] += len(by_size[k]) - ranks[k] - ranks[k + 1]
    while betti and betti[-1] == 0:
        betti.pop()
    return tuple(betti)


def _boundary_rank(simplices: list[int], facets: list[int]) -> int:
    """Return the rank mod 2 of the boundary map; all facets of the simplices (masks) are among `facets`."""
    index = {D: i for i, D in enumerate(facets)}
    basis: dict[int, int] = {}
    for D in simplices:
        row = sum(1 << index[D & ~(1 << e)] for e in range(D.bit_length()) if D >> e & 1)
        while row and row.bit_length() in basis:
            row ^= basis[row.bit_length()]
        if row:
            basis[row.bit_length()] = row
    return len(basis)


def satisfies_hypothesis_a(graph: Graph) -> bool:
    """Return whether every hidden node lies on a directed walk from a terminal to a terminal."""
    arcs = _merged_edges(graph)
    backwards = [(b, a) for a, b in arcs]
    return all(-1 in _reached(v, arcs) and -1 in _reached(v, backwards) for v in graph.hidden)
