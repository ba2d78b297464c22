"""Certificates about ranks, singular points and weights that vanish together (standard library only, exact).

Notation and identity (*) as in `_checker_sets`. J = 2 B diag(theta) is the Jacobian; a point is singular if rank J is
less than the number of hidden nodes. diag(theta) only deletes columns of B, the incidence matrix of the undirected
graph of non-zero weights without the rows of terminals. Rows of a component with k hidden nodes have rank k if it has a
terminal (solve along a spanning tree that is rooted there), and k - 1 if it has none (they sum to 0, and no other
combination does). So the rank is the number of hidden nodes minus the number of components without terminal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from itertools import chain
from math import lcm
from typing import Any

from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, number, record, sequence, show
from lakatos._checker_sets import WITNESS, Fact, read_point, seen_from

__all__ = ["LARGEST_ENUMERATION", "check_no_singular_point", "check_rank", "check_singular_point"]
__all__ += ["check_vanishing", "edges_out", "hidden_parts", "members", "network_of", "obstruction", "stranded"]

LARGEST_ENUMERATION = 20


def check_rank(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """The listed sets are the components of the non-zero weights without terminal; then the rank is as above."""
    subject = read_subject(fields)
    record(certificate, "certificate", frozenset({"kind", "components"}))
    if subject.weights is None:
        raise Invalid("fields: the edges have no weights")
    listed = [members(subject, nodes, "components") for nodes in sequence(certificate["components"], "components")]
    nonzero = {e for e, w in enumerate(subject.weights) if w != 0}
    found = stranded(subject, nonzero)
    if sorted(map(sorted, listed)) != sorted(map(sorted, found)):
        raise Invalid("components: not the terminal-free components of the non-zero weights")
    rank = sum(subject.hidden) - len(found)
    return {"rank": rank, "regular": not found}


def check_singular_point(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """A point of P vanishes on all edges across the boundary of W: some component of its support inside W has no terminal."""
    subject = read_subject(fields)
    record(certificate, "certificate", frozenset({"kind", "nodes", "squares"}))
    point = read_point(subject, certificate["squares"], "squares")
    W = members(subject, certificate["nodes"], "nodes")
    for e in point:
        if (subject.tail[e] in W) != (subject.head[e] in W):
            raise Invalid(f"squares: edge {e} crosses the boundary of the nodes, but is not 0")
    return {"feasible": True, "singular": True}


def check_no_singular_point(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """No boundary of hidden nodes can vanish, by a sum of the wrong sign for each set that could be cut off.

    If a point is singular, some connected W has a boundary that vanishes (a component of its support without terminal),
    and then sum_W c = 0 by (*). W lies in one connected part of the hidden nodes; so all subsets of each part are
    summed, where balances of one sign need no sums. For each connected W with sum 0 one of the listed sets V has a sum
    of the wrong sign although the edges that leave V (or enter it) are all in the boundary of W: by (*) that boundary
    cannot vanish.
    """
    subject = read_subject(fields)
    record(certificate, "certificate", frozenset({"kind", "obstructions"}))
    found = [
        obstruction(subject, data, f"obstructions[{i}]")
        for i, data in enumerate(sequence(certificate["obstructions"], "obstructions"))
    ]
    if frozenset() not in found:
        for part in hidden_parts(subject):
            _check_part(subject, part, list(dict.fromkeys(found)))
    return {"singular": False}


def check_vanishing(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """What vanishes where the weights of the field ``vanishing`` do.

    Either they never vanish together: a set V has a sum of the wrong sign, although only some of them leave (or enter)
    it. Or ``squares`` vanishes on them, and the other edges on which it vanishes are forced to: for each there is a set
    V with sum 0 that it enters (leaves), while only edges of the field leave (enter) V. By (*) the edges that enter sum
    to 0 then.
    """
    if not isinstance(fields, Mapping) or "vanishing" not in fields:
        raise Invalid("fields: vanishing is missing")
    subject = network_of(fields, "vanishing")
    given = _edges(subject, fields["vanishing"], "vanishing")
    if "obstruction" in certificate:
        record(certificate, "certificate", frozenset({"kind", "obstruction"}))
        if not obstruction(subject, certificate["obstruction"], "obstruction") <= given:
            raise Invalid("obstruction: an edge other than the given ones crosses")
        return {"vanish_together": False, "zero_set": None}
    record(certificate, "certificate", frozenset({"kind", "squares", "forced"}))
    point = read_point(subject, certificate["squares"], "squares")
    if not given.isdisjoint(point):
        raise Invalid("squares: not 0 on all of the given edges")
    zero = frozenset(range(len(subject.tail))) - point.keys()
    forced: set[int] = set()
    for i, data in enumerate(sequence(certificate["forced"], "forced")):
        where = f"forced[{i}]"
        leaving, entering, total = _closed_set(subject, record(data, where, WITNESS), where)
        if total != 0 or not leaving <= given:
            raise Invalid(f"{where}: its sum is not 0, or an edge other than the given ones crosses the wrong way")
        forced |= entering
    if zero - given - forced:
        raise Invalid(f"forced: nothing shows that edge {min(zero - given - forced)} has to vanish")
    return {"vanish_together": True, "zero_set": tuple(sorted(zero))}


def network_of(fields: Any, *extra: str) -> Subject:
    """Return the network in `fields`, which may have the further keys `extra`."""
    if not isinstance(fields, Mapping):
        raise Invalid(f"fields={show(fields)}: an object is needed")
    return read_subject({key: fields[key] for key in fields if key not in extra})


def members(subject: Subject, labels: Any, where: str) -> frozenset[int]:
    """Return a non-empty set of hidden nodes, each listed once, by number."""
    nodes: set[int] = set()
    for label in sequence(labels, where):
        v = subject.index.get(label) if isinstance(label, str) else None
        if v is None or not subject.hidden[v] or v in nodes:
            raise Invalid(f"{where}: {show(label)} is not a hidden node, or is listed twice")
        nodes.add(v)
    if not nodes:
        raise Invalid(f"{where}: the set of nodes is empty")
    return frozenset(nodes)


def edges_out(view: Subject, nodes: Iterable[int]) -> frozenset[int]:
    """Return the edges that leave `nodes`."""
    inside = frozenset(nodes)
    return frozenset(e for v in inside for e in view.leaving[v] if view.head[e] not in inside)


def obstruction(subject: Subject, data: Any, where: str) -> frozenset[int]:
    """Return edges that do not vanish together on P: those that leave a set whose sum is negative, or the mirror image."""
    leaving, _, total = _closed_set(subject, record(data, where, WITNESS), where)
    if total >= 0:
        raise Invalid(f"{where}: the sign of the sum is no contradiction")
    return leaving


def hidden_parts(subject: Subject) -> list[list[int]]:
    """Return the connected components, undirected, of the hidden nodes without the terminals."""
    inner = {e for e in range(len(subject.tail)) if subject.hidden[subject.tail[e]] and subject.hidden[subject.head[e]]}
    return _components(subject, inner, [v for v, hidden in enumerate(subject.hidden) if hidden])


def stranded(subject: Subject, support: Iterable[int]) -> list[list[int]]:
    """Return the connected components, undirected, of the edges in `support` that contain no terminal."""
    parts = _components(subject, frozenset(support), range(len(subject.names)))
    return [part for part in parts if all(subject.hidden[v] for v in part)]


def _closed_set(
    subject: Subject, data: Mapping[str, Any], where: str
) -> tuple[frozenset[int], frozenset[int], Fraction]:
    """Return what leaves a set, what enters it, and its sum, as seen from its side; the stated sum is checked."""
    view = seen_from(subject, data["side"])
    nodes = members(subject, data["nodes"], f"{where}: nodes")
    leaving, entering = edges_out(view, nodes), edges_out(view.mirror, nodes)
    total = sum((view.c[v] for v in nodes), Fraction(0))
    if number(data["sum"], f"{where}: sum") != (total if data["side"] == "out" else -total):
        raise Invalid(f"{where}: sum={show(data['sum'])} is not the sum of the balances")
    return leaving, entering, total


def _components(subject: Subject, edges: frozenset[int] | set[int], nodes: Iterable[int]) -> list[list[int]]:
    seen: set[int] = set()
    parts = []
    for start in nodes:
        if start in seen:
            continue
        seen.add(start)
        part = [start]
        for v in part:
            for e in chain(subject.leaving[v], subject.entering[v]):
                for w in (subject.tail[e], subject.head[e]) if e in edges else ():
                    if w not in seen:
                        seen.add(w)
                        part.append(w)
        parts.append(part)
    return parts


def _check_part(subject: Subject, part: list[int], obstructions: list[frozenset[int]]) -> None:
    balances = [subject.c[v] for v in part]
    if all(c > 0 for c in balances) or all(c < 0 for c in balances):
        return
    if len(part) > LARGEST_ENUMERATION:
        raise Invalid(
            f"{len(part)} hidden nodes hang together; subsets of at most {LARGEST_ENUMERATION} are enumerated"
        )
    scale = lcm(*(c.denominator for c in balances))
    sums = [0]
    for c in balances:
        step = int(c * scale)
        sums += [total + step for total in sums]
    bit = {v: 1 << i for i, v in enumerate(part)}
    near = sorted({e for v in part for e in chain(subject.leaving[v], subject.entering[v])})
    flag = {e: 1 << i for i, e in enumerate(near)}
    touching = [(bit.get(subject.tail[e], 0), bit.get(subject.head[e], 0), flag[e]) for e in near]
    masks = [sum(flag[e] for e in edges) for edges in obstructions if edges <= flag.keys()]
    for W in range(1, len(sums)):
        if sums[W] == 0 and _is_connected(W, touching):
            boundary = sum(e for a, b, e in touching if bool(a & W) != bool(b & W))
            if not any(mask & ~boundary == 0 for mask in masks):
                nodes = ", ".join(show(subject.names[v]) for v in part if bit[v] & W)
                raise Invalid(f"obstructions: none keeps the boundary of {nodes} from vanishing")


def _is_connected(W: int, arcs: list[tuple[int, int, int]]) -> bool:
    joined = W & -W
    inner = [a | b for a, b, _ in arcs if a & W and b & W]
    while grown := [pair for pair in inner if pair & joined and pair & ~joined]:
        for pair in grown:
            joined |= pair
    return joined == W


def _edges(subject: Subject, data: Any, where: str) -> frozenset[int]:
    edges = sequence(data, where)
    for e in edges:
        if type(e) is not int or not 0 <= e < len(subject.tail):
            raise Invalid(f"{where}: {show(e)} is no edge number")
    return frozenset(edges)
