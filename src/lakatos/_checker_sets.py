"""Sets of hidden nodes, points and flows, as certificates write them (standard library only, exact).

Notation. ``c_v`` is the balance of the hidden node v, ``B`` the incidence matrix (incoming minus outgoing) on hidden nodes,
``P = {u >= 0 : Bu = c}`` the squares of the invariant set H. For a set W of hidden nodes and u in P, summing Bu = c over W
gives the identity (*) that all certificates about P rest on::

    (*)   sum_W c = u(edges that enter W) - u(edges that leave W).

Arguments are written for the *out* side. The *in* side is the out side of the mirror image, which has the same P.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, number, record, sequence, show

__all__ = ["WITNESS", "Fact", "Vector", "check_empty", "check_point", "net_inflow", "read_point"]
__all__ += ["read_vector", "seen_from", "sum_over_set"]

Fact: TypeAlias = "bool | int | Fraction | float | str | tuple[Fact, ...] | None"
"""What a certificate establishes about a quantity; a float is one of the two infinities, as a name."""
Vector: TypeAlias = dict[int, Fraction]

WITNESS = frozenset({"side", "nodes", "sum"})

_EDGE_NUMBER = re.compile(r"0|[1-9][0-9]{0,9}")


def check_empty(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """No edge leaves W, so by (*) sum_W c >= 0 at every point of P; a negative sum leaves no point."""
    subject = read_subject(fields)
    record(certificate, "certificate", WITNESS | {"kind"})
    if sum_over_set(subject, certificate, "certificate", crossing=[]) >= 0:
        raise Invalid("certificate: the sign of the sum is no contradiction")
    nothing = dict.fromkeys(("connected", "log2_components", "regular_connected", "regular_log2_components"))
    return {"feasible": False, "frozen": (), "regular_frozen": (), **nothing}


def check_point(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """The point is in P, by substitution."""
    subject = read_subject(fields)
    read_point(subject, record(certificate, "certificate", frozenset({"kind", "squares"}))["squares"], "squares")
    return {"feasible": True}


def seen_from(subject: Subject, side: Any) -> Subject:
    """Return the network as the side ``"out"`` or ``"in"`` sees it."""
    if side not in ("out", "in"):
        raise Invalid(f"side={show(side)}: 'out' or 'in' is needed")
    return subject if side == "out" else subject.mirror


def sum_over_set(subject: Subject, data: Mapping[str, Any], where: str, *, crossing: list[int]) -> Fraction:
    """Return the sum over W = ``data["nodes"]`` as seen from ``data["side"]``; checked are its edges and the stated sum.

    From the out side exactly the edges `crossing` have to leave W; for [e] that makes tail(e) a member and head(e) none.
    """
    view = seen_from(subject, data["side"])
    nodes: set[int] = set()
    for label in sequence(data["nodes"], f"{where}: nodes"):
        v = view.index.get(label) if isinstance(label, str) else None
        # A node that is counted twice would falsify the sum.
        if v is None or not view.hidden[v] or v in nodes:
            raise Invalid(f"{where}: {show(label)} is not a hidden node, or is listed twice")
        nodes.add(v)
    if not nodes:
        raise Invalid(f"{where}: the set of nodes is empty")
    if [e for v in nodes for e in view.leaving[v] if view.head[e] not in nodes] != crossing:
        raise Invalid(f"{where}: the edges that cross on side {show(data['side'])} are not {crossing}")
    total = sum((view.c[v] for v in nodes), Fraction(0))
    if number(data["sum"], f"{where}: sum") != (total if data["side"] == "out" else -total):
        raise Invalid(f"{where}: sum={show(data['sum'])} is not the sum of the balances")
    return total


def read_vector(subject: Subject, data: Any, where: str, *, signed: bool) -> Vector:
    """Return the non-zero entries of a sparse vector over the edges, whose keys are edge numbers as text."""
    if not isinstance(data, Mapping):
        raise Invalid(f"{where}={show(data)}: an object from edge numbers to numbers is needed")
    vector: Vector = {}
    for key, text in data.items():
        # Only the plain form: '7', '07' and '+7' must not be three entries of one edge.
        if not isinstance(key, str) or not _EDGE_NUMBER.fullmatch(key):
            raise Invalid(f"{where}: {show(key)} is no edge number")
        value = number(text, f"{where}[{key}]")
        if int(key) >= len(subject.tail) or (value < 0 and not signed):
            raise Invalid(f"{where}[{key}]={show(value)}: no such edge, or negative")
        if value != 0:
            vector[int(key)] = value
    return vector


def net_inflow(subject: Subject, vector: Vector) -> defaultdict[int, Fraction]:
    """Return incoming minus outgoing at every node, terminals included; 0 where nothing flows."""
    net: defaultdict[int, Fraction] = defaultdict(Fraction)
    for e, value in vector.items():
        net[subject.head[e]] += value
        net[subject.tail[e]] -= value
    return net


def read_point(subject: Subject, data: Any, where: str) -> Vector:
    """Return the positive coordinates of a point, checked to be in P."""
    point = read_vector(subject, data, where, signed=False)
    net = net_inflow(subject, point)
    for v, hidden in enumerate(subject.hidden):
        if hidden and net[v] != subject.c[v]:
            raise Invalid(
                f"{where}: the balance of {show(subject.names[v])} is {show(net[v])}, not {show(subject.c[v])}"
            )
    return point
