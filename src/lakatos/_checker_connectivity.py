"""Certificates of kind ``connectivity`` (standard library only, exact); notation and identity (*) as in `_checker_sets`.

``m_e = min {u_e : u in P}``. An edge is frozen if m_e > 0, and regular-frozen if the set H has regular points and none of
them has weight 0 on e. A point is regular if its support joins every hidden node to a terminal.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, NamedTuple

from lakatos._checker_degrees import bound_by_flows
from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, number, record, sequence, show
from lakatos._checker_sets import WITNESS, Fact, Vector, net_inflow, read_point, read_vector, sum_over_set

__all__ = ["check_connectivity"]

_KEYS = frozenset({"kind", "method", "point", "edges", "regular"})


class _Entry(NamedTuple):
    minimum: Fraction
    regular_frozen: bool
    above: Any


def check_connectivity(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Settle m_e and regular-frozenness of every edge e; then the components are counted.

    The components of H are told apart by the signs of the frozen weights, those of its regular part by the signs of the
    regular-frozen ones, and all signs occur. Indeed each of the two sets consists of one copy per sign pattern of a convex
    set: P, or the points of P with a support as above, which a sum of two points inherits. Two copies that differ in the sign
    of e alone meet if some point of the convex set has u_e = 0; otherwise the sign of e is constant on components.
    """
    subject = read_subject(fields)
    record(certificate, "certificate", _KEYS)
    point = read_point(subject, certificate["point"], "point")
    regular = _has_regular_points(subject, point, certificate["regular"])
    method = certificate["method"]
    if method not in ("degrees", "residual"):
        raise Invalid(f"method={show(method)}: 'degrees' or 'residual' is needed")
    above = "flows" if method == "degrees" else "change"
    keys = frozenset({"edge", "minimum", "regular_frozen", "witness", above})
    entries: dict[int, _Entry] = {}
    for i, data in enumerate(sequence(certificate["edges"], "certificate: edges")):
        where = f"certificate: edges[{i}]"
        e = record(data, where, keys)["edge"]
        if type(e) is not int or not 0 <= e < len(subject.tail) or e in entries:
            raise Invalid(f"{where}: edge={show(e)} is no edge number, or is listed twice")
        minimum, regular_frozen = _bounded_below(subject, e, data, regular, where)
        entries[e] = _Entry(minimum, regular_frozen, data[above])
    if method == "degrees":
        bound_by_flows(subject, entries)
    else:
        _bound_by_points(subject, point, entries, regular)
    minima = {e: entries[e].minimum if e in entries else Fraction(0) for e in range(len(subject.tail))}
    frozen = tuple(e for e, minimum in minima.items() if minimum > 0)
    regular_frozen_edges = tuple(e for e in sorted(entries) if entries[e].regular_frozen)
    return {
        "feasible": True,
        "connected": not frozen,
        "log2_components": len(frozen),
        "frozen": frozen,
        **{f"minimum[{e}]": minimum for e, minimum in minima.items()},
        "regular_frozen": regular_frozen_edges,
        "regular_connected": not regular_frozen_edges if regular else None,
        "regular_log2_components": len(regular_frozen_edges) if regular else None,
    }


def _has_regular_points(subject: Subject, point: Vector, data: Any) -> bool:
    """Return whether there are regular points, as claimed and checked.

    Yes: merge all terminals to one node (there even if there is no terminal); an arc a -> b for every edge, and b -> a where
    u > 0, is a direction in which u can change. If these arcs are strongly connected, every edge with u_e = 0 is on a cycle
    of arcs that does not use it backwards; moving u a little along the cycle stays in P and makes u_e positive. The mean of
    all these points is positive on every edge, and the edges join all hidden nodes to the merged terminal.
    No: no edge leaves W and sum_W c = 0, so by (*) all edges that enter W are 0 on all of P: W is always cut off.
    """
    record(data, "regular", frozenset({"nonempty", "witness"}))
    if data["nonempty"] is True and data["witness"] is None:
        if _spanning_edges(subject, point) is None:
            raise Invalid("regular: the residual graph of the point is not strongly connected")
        return True
    if data["nonempty"] is not False:
        raise Invalid("regular: 'nonempty' is true with no witness, or false with a witness")
    witness = record(data["witness"], "regular: witness", WITNESS)
    if sum_over_set(subject, witness, "regular: witness", crossing=[]) != 0:
        raise Invalid("regular: the sum of the witness is not 0")
    return False


def _bounded_below(
    subject: Subject, e: int, data: Mapping[str, Any], regular: bool, where: str
) -> tuple[Fraction, bool]:
    """Return the claimed minimum, checked not to be too large, and whether e is regular-frozen, checked if true.

    Let e be the only edge that leaves W. By (*), u_e >= -sum_W c on P. If the sum is 0, then u_e = 0 makes all edges that
    enter W vanish, so W is cut off and the point is singular: e vanishes at no regular point. An edge with m_e > 0 vanishes
    nowhere, so it has to be called regular-frozen if there are regular points; without them no edge may be.
    """
    minimum = number(data["minimum"], f"{where}: minimum")
    regular_frozen = data["regular_frozen"]
    if minimum < 0 or not isinstance(regular_frozen, bool):
        raise Invalid(
            f"{where}: minimum={show(minimum)} is negative, or regular_frozen={show(regular_frozen)} no boolean"
        )
    if (regular_frozen and not regular) or (minimum > 0 and regular and not regular_frozen):
        raise Invalid(f"{where}: regular_frozen={regular_frozen} contradicts the minimum or the regular part")
    if minimum > 0 or regular_frozen:
        witness = record(data["witness"], f"{where}: witness", WITNESS)
        if sum_over_set(subject, witness, f"{where}: witness", crossing=[e]) != -minimum:
            raise Invalid(f"{where}: the sum of the witness does not give minimum={show(minimum)}")
    elif data["witness"] is not None:
        raise Invalid(f"{where}: a witness where nothing is claimed that it could show")
    return minimum, regular_frozen


def _bound_by_points(subject: Subject, point: Vector, entries: Mapping[int, _Entry], regular: bool) -> None:
    """Check, by a point of P for each edge, that no minimum is too small and that no further edge is regular-frozen.

    A point with u_e = 0 shows that the network without e has a regular point just as in `_has_regular_points`. One search
    settles this for many edges, since its trees survive whatever they do not use: removing an edge with u_e = 0 (it is a
    single arc), and going on to another point if no edge of the trees becomes 0. Edges that two such searches leave doubtful
    get one of their own.
    """
    doubtful = frozenset(range(len(subject.tail))).difference(entries) if regular else frozenset[int]()
    while doubtful:
        trees = _spanning_edges(subject, point, avoid=doubtful)
        if trees is None or doubtful <= trees:
            break
        doubtful &= trees
    lasting = _spanning_edges(subject, point, avoid=frozenset(entries)) if regular else None
    for e in range(len(subject.tail)):
        if e not in entries:
            if e in point:
                raise Invalid(f"edge {e} is not listed, but the point is not 0 there")
            if e in doubtful and _spanning_edges(subject, point, without=e) is None:
                raise Invalid(f"edge {e} is not listed, but the point without it is not shown to be near a regular one")
            continue
        change = read_vector(subject, entries[e].above, f"edge {e}: change", signed=True)
        moved = {f: point.get(f, Fraction(0)) + step for f, step in change.items()}
        net = net_inflow(subject, change)
        if any(square < 0 for square in moved.values()) or any(subject.hidden[v] and net[v] != 0 for v in net):
            raise Invalid(f"edge {e}: the change leads out of the polyhedron")
        if moved.get(e, point.get(e, Fraction(0))) != entries[e].minimum:
            raise Invalid(f"edge {e}: the change does not lead to minimum={show(entries[e].minimum)}")
        if not regular or entries[e].regular_frozen:
            continue
        lost = {e, *(f for f, square in moved.items() if square == 0)}
        if lasting is not None and lasting.isdisjoint(lost):
            continue
        if _spanning_edges(subject, {**point, **moved}, without=e) is None:
            raise Invalid(f"edge {e}: the change does not show that it vanishes at a regular point")


def _spanning_edges(
    subject: Subject, point: Vector, without: int | None = None, avoid: frozenset[int] = frozenset()
) -> frozenset[int] | None:
    """Return the edges of two trees, out of and into the merged terminal, that span all hidden nodes; None without such.

    Edges in `avoid` are used only where all others have led as far as they can.
    """
    terminal = len(subject.names)
    node = [v if hidden else terminal for v, hidden in enumerate(subject.hidden)]
    forwards: list[list[tuple[int, int]]] = [[] for _ in range(terminal + 1)]
    backwards: list[list[tuple[int, int]]] = [[] for _ in range(terminal + 1)]
    for e, (tail, head) in enumerate(zip(subject.tail, subject.head, strict=True)):
        if e == without:
            continue
        a, b = node[tail], node[head]
        forwards[a].append((b, e))
        backwards[b].append((a, e))
        if point.get(e, 0) > 0:
            forwards[b].append((a, e))
            backwards[a].append((b, e))
    used: set[int] = set()
    for arcs in (forwards, backwards):
        seen, waiting = {terminal}, [terminal]
        avoided: list[tuple[int, int]] = []
        while waiting or avoided:
            if waiting:
                ahead = arcs[waiting.pop()]
                avoided += [arc for arc in ahead if arc[1] in avoid]
                ahead = [arc for arc in ahead if arc[1] not in avoid]
            else:
                ahead = [avoided.pop()]
            for b, e in ahead:
                if b not in seen:
                    seen.add(b)
                    used.add(e)
                    waiting.append(b)
        if len(seen) <= sum(subject.hidden):
            return None
    return frozenset(used)
