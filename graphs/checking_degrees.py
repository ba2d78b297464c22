"""The certificates of method ``degrees`` on arrays: flows bound all stable sets of each bottleneck at once."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from .adjacency import Adjacency, reachable
from .checking_case import Case, Claims, InvalidCertificate, Vector
from .network import BoolArray, IntArray

__all__ = ["check_flows"]


def check_flows(case: Case, claims: Claims) -> None:
    """Check that no minimum is too small and that no further edge is regular-frozen; P is not empty.

    Raises
    ------
    InvalidCertificate
        If a flow does not check, or the listed edges are not exactly those that can have a stable set.
    """
    network = case.network
    order = network.order
    rank = np.empty(network.node_count, np.int64)
    if order is not None:
        rank[order] = np.arange(network.node_count)
    if order is None or not (rank[network.tail] < rank[network.head]).all():
        raise InvalidCertificate("method 'degrees': the network has a cycle")
    if not ((network.in_degree > 0) & (network.out_degree > 0))[network.hidden].all():
        raise InvalidCertificate("method 'degrees': a hidden node has no incoming or no outgoing edge")
    views = {"out": _View(case, reverse=False), "in": _View(case, reverse=True)}
    applies = {side: view.is_only_exit[claims.edges] for side, view in views.items()}
    count = np.count_nonzero(views["out"].is_only_exit | views["in"].is_only_exit)
    if count != len(claims.edges) or not (applies["out"] | applies["in"]).all():
        raise InvalidCertificate("method 'degrees': not exactly the only edges out of or into hidden nodes are listed")
    for i, (e, flows) in enumerate(zip(claims.edges.tolist(), claims.above, strict=True)):
        needed = {side for side in views if applies[side][i]}
        if not isinstance(flows, Mapping) or not needed <= flows.keys() <= views.keys():
            raise InvalidCertificate(f"edge {e}: flows for {sorted(needed)} are needed")
        for side, data in flows.items():
            flow = case.vector(data, f"edge {e}: flows: {side}")
            if side in needed:
                views[side].check(e, flow, claims.minimum[i], bool(claims.regular_frozen[i]))
            elif len(flow.edges):
                raise InvalidCertificate(f"edge {e}: flows: {side}: there is no stable set on this side to be bounded")


class _View:
    """The case as one side sees it: reversed, all edges are turned round and all balances negated."""

    def __init__(self, case: Case, *, reverse: bool) -> None:
        network = case.network
        self.case = case
        self.hidden = network.hidden
        self.tail, self.head = (network.head, network.tail) if reverse else (network.tail, network.head)
        self.degree = network.in_degree if reverse else network.out_degree
        self.c = -case.c if reverse else case.c
        self.entering: Adjacency = network.outgoing if reverse else network.incoming
        self.is_only_exit: BoolArray = (self.hidden & (self.degree == 1))[self.tail]
        self.is_only_head = self._only_heads()
        self.number = np.full(len(self.c), -1)  # of the nodes of one funnel, while it is checked

    def check(self, e: int, flow: Vector, minimum: int, regular_frozen: bool) -> None:
        """Check one flow in the funnel of the tail v of e: by it no stable set of e sums to less than -minimum.

        Summing "inflow - outflow ≤ c, at v plus the minimum" over a stable set W leaves what flows into W, and no edge of the
        funnel leaves W. If W sums to -minimum, all its inequalities are equations and nothing flows into it; so W holds what
        is reached from v along edges, and backwards along flow, and meets no slack.
        """
        v = int(self.tail[e])
        where = f"edge {e}: flow in the funnel of {self.case.network.names[v]!r}"
        if not self.is_only_head[v]:
            if len(flow.edges):
                raise InvalidCertificate(f"{where}: leaves the funnel, which is this node")
            slack = self.c[v] + minimum
            if slack < 0 or (slack == 0 and not regular_frozen):
                raise InvalidCertificate(f"{where}: not enough slack")
            return
        nodes, inner = self._funnel(v)
        number = self.number
        ends = number[self.tail[flow.edges]], number[self.head[flow.edges]]
        ahead, behind = number[self.tail[inner]], number[self.head[inner]]
        number[nodes] = -1
        if (ends[0] < 0).any() or (ends[1] < 0).any():
            raise InvalidCertificate(f"{where}: leaves the funnel")
        net = np.zeros(len(nodes), object)
        np.add.at(net, ends[1], flow.values)
        np.subtract.at(net, ends[0], flow.values)
        slack = self.c[nodes] - net
        slack[0] += minimum
        if (slack < 0).any():
            raise InvalidCertificate(f"{where}: at some node more flows in than its balance allows")
        if regular_frozen:
            return
        tail, head = np.concatenate([ahead, ends[1]]), np.concatenate([behind, ends[0]])
        seen = reachable(len(nodes), tail, head, 0)
        if not (slack[seen] > 0).any():
            raise InvalidCertificate(f"{where}: no slack is reached, so a stable set with sum 0 is not excluded")

    def _only_heads(self) -> BoolArray:
        """Return the nodes that all edges of some hidden node lead to; other nodes are alone in their funnels."""
        one = np.full(len(self.c), -1)
        one[self.tail] = self.head
        others = np.zeros(len(self.c), bool)
        others[self.tail[self.head != one[self.tail]]] = True
        result = np.zeros(len(self.c), bool)
        result[one[self.hidden & ~others & (one >= 0)]] = True
        return result

    def _funnel(self, v: int) -> tuple[IntArray, npt.NDArray[np.int64]]:
        """Return v and the hidden nodes from which every walk comes to v, by peeling, and the edges between them.

        The nodes are numbered in `number`, v with 0.
        """
        inside: dict[int, int] = {}
        nodes, edges = [np.array([v])], []
        while nodes[-1].size:
            entering = self.entering.at_all(nodes[-1])
            entering = entering[self.hidden[self.tail[entering]]]
            edges.append(entering)
            tails, times = np.unique(self.tail[entering], return_counts=True)
            full = []
            for p, k in zip(tails.tolist(), times.tolist(), strict=True):
                inside[p] = inside.get(p, 0) + k
                if inside[p] == self.degree[p]:
                    full.append(p)
            nodes.append(np.array(full, np.int64))
        members = np.concatenate(nodes)
        self.number[members] = np.arange(len(members))
        inner = np.concatenate(edges)
        return members, inner[self.number[self.tail[inner]] >= 0]
