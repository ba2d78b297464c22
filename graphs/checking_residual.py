"""The certificates of method ``residual`` on arrays: regular points, and for each listed edge a point where it is minimal."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse.csgraph import connected_components

from .adjacency import Adjacency, digraph, spanning_arcs
from .checking_bypasses import Arcs, Bypasses
from .checking_case import Case, Claims, InvalidCertificate, Vector
from .network import BoolArray, IntArray

__all__ = ["check_changes", "has_regular_points"]


def has_regular_points(case: Case, point: Vector, data: Any) -> bool:
    """Return whether there are regular points, as claimed and checked.

    Yes, if with all terminals merged the digraph of all edges, and of reversed edges where the point is positive, is strongly
    connected; no, if a set that no edge leaves sums to 0.
    """
    if not isinstance(data, Mapping) or data.keys() != {"nonempty", "witness"}:
        raise InvalidCertificate("regular: an object with nonempty and witness is needed")
    if data["nonempty"] is True and data["witness"] is None:
        if not _Residual(case, point.edges).is_strongly_connected():
            raise InvalidCertificate("regular: the residual graph of the point is not strongly connected")
        return True
    if data["nonempty"] is not False:
        raise InvalidCertificate("regular: 'nonempty' is true with no witness, or false with a witness")
    if case.sum_over_set(data["witness"], "regular: witness", crossing=[]) != 0:
        raise InvalidCertificate("regular: the sum of the witness is not 0")
    return False


def check_changes(case: Case, point: Vector, claims: Claims, regular: bool) -> None:
    """Check, by a point of P for each edge, that no minimum is too small and that no further edge is regular-frozen.

    The residual graph of the point is strongly connected if there are regular points. It stays so without some of its arcs
    if two trees, out of and into the merged terminal, use none of these, and also if each is replaced by a walk in the rest.

    Raises
    ------
    InvalidCertificate
        If a change leads out of P or not to the minimum, or such a walk is missing.
    """
    is_listed = np.zeros(case.network.edge_count, bool)
    is_listed[claims.edges] = True
    if not is_listed[point.edges].all():
        raise InvalidCertificate(
            f"edge {point.edges[~is_listed[point.edges]][0]}: not listed, but the point is not 0 there"
        )
    values = dict(zip(point.edges.tolist(), point.values.tolist(), strict=True))
    residual = _Residual(case, point.edges)
    trees = residual.trees(is_listed) if regular else []
    pairs = [(tree.inward, tree.outward) for tree in trees]
    bypasses = Bypasses(residual.arcs, residual.terminal, pairs) if regular else None
    for i, e in enumerate(claims.edges.tolist()):
        change = case.vector(claims.above[i], f"edge {e}: change", signed=True)
        steps = dict(zip(change.edges.tolist(), change.values.tolist(), strict=True))
        moved = {f: values.get(f, 0) + step for f, step in steps.items()}
        if min(moved.values(), default=0) < 0 or _is_unbalanced(case, steps):
            raise InvalidCertificate(f"edge {e}: the change leads out of the polyhedron")
        if moved.get(e, values.get(e, 0)) != claims.minimum[i]:
            raise InvalidCertificate(f"edge {e}: the change does not lead to the minimum")
        if not regular or claims.regular_frozen[i]:
            continue
        gone = {e, *(f for f, x in moved.items() if x == 0)} & values.keys()
        if any(tree.lasts(e, gone) for tree in trees):
            continue
        if bypasses is not None and bypasses.replace(e, gone, {f for f, x in moved.items() if x} - values.keys()):
            continue
        positive = np.array(sorted((values.keys() | {f for f, x in moved.items() if x}) - gone), np.int64)
        if not _Residual(case, positive, residual).replaces(e, gone):
            raise InvalidCertificate(f"edge {e}: the change does not show that it vanishes at a regular point")
    if regular:
        doubtful = ~is_listed
        for tree in trees:
            doubtful &= tree.forward
        for e in np.flatnonzero(doubtful).tolist():
            if not residual.replaces(e, set()):
                raise InvalidCertificate(
                    f"edge {e}: not listed, but the point without it is not shown to be near a regular one"
                )


def _is_unbalanced(case: Case, steps: Mapping[int, int]) -> bool:
    """Return whether a change has some net inflow at a hidden node."""
    network = case.network
    net: dict[int, int] = {}
    for e, step in steps.items():
        head, tail = int(network.head[e]), int(network.tail[e])
        net[head] = net.get(head, 0) + step
        net[tail] = net.get(tail, 0) - step
    return any(x and network.hidden[v] for v, x in net.items())


@dataclass(frozen=True, eq=False)
class _Trees:
    """Two spanning trees, out of and into the merged terminal.

    Parameters
    ----------
    forward, backward : bool array, shape (m,)
        Which edges they use in their direction, and which against it.
    outward, inward : int64 array, shape (n + 1,)
        The arc by which each node is reached from the terminal, and the one that leads on towards it.
    """

    forward: BoolArray
    backward: BoolArray
    outward: IntArray
    inward: IntArray

    def lasts(self, e: int, gone: set[int]) -> bool:
        """Return whether the trees do without the arc of e and the reversed arcs of `gone`."""
        return not self.forward[e] and not any(self.backward[f] for f in gone)


class _Residual:
    """The digraph with all terminals merged, an arc for every edge, and a reversed one for edges where a point is positive.

    `like` is another one of the same network, from which all that does not depend on the point is taken over.
    """

    def __init__(self, case: Case, positive: IntArray, like: _Residual | None = None) -> None:
        self.terminal = case.network.node_count
        if like is None:
            node = np.where(case.network.hidden, np.arange(self.terminal), self.terminal)
            self.tail, self.head = node[case.network.tail], node[case.network.head]
            # Entries count parallel edges.
            self.forward = digraph(self.terminal + 1, self.tail, self.head)
            self.hidden = np.append(case.network.hidden, True)
        else:
            self.tail, self.head, self.forward, self.hidden = like.tail, like.head, like.forward, like.hidden
        self.positive = positive
        self._backward = Adjacency.by(self.head[positive], self.terminal + 1)

    def is_strongly_connected(self) -> bool:
        """Return whether the arcs join all hidden nodes and the merged terminal both ways."""
        _, component = connected_components(digraph(self.terminal + 1, *self._arcs), connection="strong")
        return bool((component[self.hidden] == component[self.terminal]).all())

    def trees(self, is_listed: BoolArray) -> list[_Trees]:
        """Return pairs of trees of a strongly connected graph: one that avoids listed edges, one that avoids its edges."""
        m = len(self.tail)
        arcs = self.arcs
        groups = tuple(zip(arcs.groups, (arcs.head, arcs.tail), strict=True))
        avoid = np.concatenate([is_listed, np.ones(len(self.positive), bool)])
        found = []
        for _ in range(2):
            used = np.zeros(len(arcs.tail), bool)
            outward, inward = (spanning_arcs(leaving, ends, self.terminal, avoid) for leaving, ends in groups)
            for tree in (outward, inward):
                used[tree[tree >= 0]] = True
            backward = np.zeros(m, bool)
            backward[self.positive[used[m:]]] = True
            found.append(_Trees(used[:m], backward, outward, inward))
            avoid = used
        return found

    @cached_property
    def arcs(self) -> Arcs:
        """The arcs, grouped by their ends."""
        tail, head = self._arcs
        groups = Adjacency.by(tail, self.terminal + 1), Adjacency.by(head, self.terminal + 1)
        return Arcs(tail, head, len(self.tail), self.positive, groups)

    @property
    def _arcs(self) -> tuple[IntArray, IntArray]:
        back = self.positive
        return np.concatenate([self.tail, self.head[back]]), np.concatenate([self.head, self.tail[back]])

    def replaces(self, e: int, reversed_edges: set[int]) -> bool:
        """Return whether walks without the arc of e replace it and the reversed arcs of `reversed_edges`."""
        a, b = int(self.tail[e]), int(self.head[e])
        lost = {(a, b)} | {(int(self.head[f]), int(self.tail[f])) for f in reversed_edges}
        return all(self._reaches(start, goal, (a, b)) for start, goal in lost)

    def _reaches(self, start: int, goal: int, without: tuple[int, int]) -> bool:
        """Return whether a walk leads from start to goal without one of the edges between the nodes `without`."""
        seen = np.zeros(self.terminal + 1, bool)
        seen[start] = True
        front = np.array([start])
        arcs = Adjacency(self.forward.indptr.astype(np.int64), self.forward.indices)
        while front.size and not seen[goal]:
            ahead = [arcs.at_all(front), self.tail[self.positive[self._backward.at_all(front)]]]
            if without[0] in front and self._is_single(*without):
                others = front[front != without[0]]
                heads = arcs.at(without[0])
                ahead[0] = np.concatenate([arcs.at_all(others), heads[heads != without[1]]])
            reached = np.unique(np.concatenate(ahead))
            front = reached[~seen[reached]]
            seen[front] = True
        return bool(seen[goal])

    def _is_single(self, a: int, b: int) -> bool:
        arcs = slice(self.forward.indptr[a], self.forward.indptr[a + 1])
        at = self.forward.indices[arcs] == b
        return bool(self.forward.data[arcs][at].sum() == 1)
