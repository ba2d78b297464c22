"""Bounds from above in acyclic networks without dead ends (standard library only, exact).

Notation and identity (*) as in `_checker_sets`; ``m_e = min {u_e : u in P}``. Call a set W of hidden nodes *stable* for e if
e is the only edge that leaves W (out side; on the in side, the only edge that enters W). No edge has a larger minimum than
claimed, and none but the claimed ones is regular-frozen, for these reasons.

1. If P is not empty, m_e is the maximum of 0 and of -sum_W c over the stable sets W. By LP duality m_e is the maximum of c.y
   where y = 0 on terminals, y_head <= y_tail on edges other than e, y_head <= y_tail + 1 on e. Cut y into its level sets
   {y <= -s} and {y >= s}, s > 0: no edge but possibly e leaves the former or enters the latter. A level set that e does not
   cross either contributes at most 0, by (*). The others are stable, and the s with stable level sets have total length at
   most 1.
2. If tail(e) had another outgoing edge and W were stable, walk on along that edge: the walk stays in W, since only e leaves W
   and a walk does not come back to tail(e). It cannot end at a hidden node, nor go on for ever. So a stable set exists only
   if e is the only edge that leaves its tail v, a hidden node. By the same walk every non-empty W is left by some edge.
3. A stable W lies in the funnel A: start with v, add a hidden node whenever all its outgoing edges end in A. For all edges
   that leave a node w of W, w != v, end in W, so by induction in reverse topological order all of W is added.
4. Let phi >= 0 be a flow on edges other than e inside A with in - out <= c_w on A, and <= c_v + m at v. Sum over a stable W:
   sum_W c + m >= phi(edges that enter W) - phi(edges that leave W) = phi(edges that enter W) >= 0. With 1, m_e <= m.
5. Every hidden node is on a path between terminals, so there are regular points. If m_e = 0 and e is regular-frozen, there is
   a stable W with sum_W c = 0: let u be in the relative interior of the face {u in P : u_e = 0}. It is singular, so a
   non-empty set of hidden nodes is cut off at u, hence at all points of the face. A path between terminals through this set
   enters and leaves it, so some edge f != e vanishes on the face. By LP duality there is y, 0 on terminals, with c.y = 0 and
   y_head >= y_tail on edges other than e, strictly on f. Now no edge but possibly e leaves {y >= s} or enters {y <= -s}, so
   on the face (*) gives these level sets sums >= 0 and <= 0; as c.y = 0, all the sums are 0. One of the level sets is not
   empty, some edge leaves (enters) it by 2, and that is e: it is stable.
6. Let m = 0 and suppose sum_W c = 0 in 4. Then no node of W has slack and no flow enters W, so edges other than e inside A,
   and edges with flow backwards, lead from v to nodes of W only. If they lead to a node with slack, there is no such W.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Protocol

from lakatos._checker_network import Subject
from lakatos._checker_reading import Invalid, record, show
from lakatos._checker_sets import Vector, net_inflow, read_vector, seen_from

__all__ = ["Claimed", "bound_by_flows", "topological_order"]

_SIDES = frozenset({"out", "in"})


class Claimed(Protocol):
    """What is claimed of an edge; `above` holds its flows, as in the certificate."""

    @property
    def minimum(self) -> Fraction: ...
    @property
    def regular_frozen(self) -> bool: ...
    @property
    def above(self) -> Any: ...


def bound_by_flows(subject: Subject, entries: Mapping[int, Claimed]) -> None:
    """Check that no minimum is too small and that no further edge is regular-frozen, by 1-6; P is not empty.

    Raises
    ------
    Invalid
        If a flow does not check, or the edges with a flow are not exactly those that 2 allows to have a stable set.
    """
    topological_order(subject)
    for v, hidden in enumerate(subject.hidden):
        if hidden and not (subject.entering[v] and subject.leaving[v]):
            raise Invalid(f"method 'degrees': hidden node {show(subject.names[v])} has no incoming or no outgoing edge")
    for e in range(len(subject.tail)):
        applies = frozenset(side for side in _SIDES if _is_only_exit(seen_from(subject, side), e))
        if (e in entries) != bool(applies):
            raise Invalid(
                f"edge {e}: method 'degrees' lists the only edges out of or into a hidden node, and no others"
            )
        if not applies:
            continue
        flows = record(entries[e].above, f"edge {e}: flows", applies, _SIDES)
        for side, data in flows.items():
            where = f"edge {e}: flows: {side}"
            flow = read_vector(subject, data, where, signed=False)
            if side in applies:
                _check_flow(seen_from(subject, side), e, flow, entries[e], where)
            elif flow:
                raise Invalid(f"{where}: there is no stable set on this side to be bounded")


def _check_flow(view: Subject, e: int, flow: Vector, claimed: Claimed, where: str) -> None:
    v = view.tail[e]
    funnel = _funnel(view, v)
    for f in flow:  # e is not inside: its head is not in the funnel, since there is no cycle
        if view.tail[f] not in funnel or view.head[f] not in funnel:
            raise Invalid(f"{where}: edge {f} is not inside the funnel of {show(view.names[v])}")
    net = net_inflow(view, flow)
    slack = {w: view.c[w] - net[w] for w in funnel}
    slack[v] += claimed.minimum
    for w, left in slack.items():
        if left < 0:
            raise Invalid(f"{where}: at {show(view.names[w])} more flows in than its balance allows")
    if not claimed.regular_frozen and not _reaches_slack(view, v, flow, slack):
        raise Invalid(f"{where}: no slack is reached, so a stable set with sum 0 is not excluded")


def _reaches_slack(view: Subject, v: int, flow: Vector, slack: Mapping[int, Fraction]) -> bool:
    seen, waiting = {v}, [v]
    while waiting:
        w = waiting.pop()
        if slack[w] > 0:
            return True
        ahead = [view.head[f] for f in view.leaving[w]]
        behind = [view.tail[f] for f in view.entering[w] if f in flow]
        for x in ahead + behind:
            if x in slack and x not in seen:
                seen.add(x)
                waiting.append(x)
    return False


def _funnel(view: Subject, v: int) -> set[int]:
    """Return v and the hidden nodes from which every walk comes to v, by peeling backwards from v."""
    funnel, waiting = {v}, [v]
    ends_inside: dict[int, int] = defaultdict(int)
    while waiting:
        for f in view.entering[waiting.pop()]:
            p = view.tail[f]
            ends_inside[p] += 1
            if view.hidden[p] and ends_inside[p] == len(view.leaving[p]):
                funnel.add(p)
                waiting.append(p)
    return funnel


def _is_only_exit(view: Subject, e: int) -> bool:
    return view.hidden[view.tail[e]] and len(view.leaving[view.tail[e]]) == 1


def topological_order(subject: Subject) -> list[int]:
    """Return all nodes, each before its successors; `Invalid` if there is a cycle."""
    missing = [len(edges) for edges in subject.entering]
    order = [v for v, count in enumerate(missing) if count == 0]
    for v in order:
        for e in subject.leaving[v]:
            missing[subject.head[e]] -= 1
            if missing[subject.head[e]] == 0:
                order.append(subject.head[e])
    if len(order) < len(missing):
        raise Invalid("the network has a cycle, which this kind of certificate does not allow")
    return order
