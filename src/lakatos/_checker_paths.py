"""Certificates about paths and rescalings in invariant sets (standard library only, exact).

Points of H are written as signed squares w = sign(theta) theta**2: the map is a homeomorphism, and H is {w : B|w| = c}.
Notation and identity (*) as in `_checker_sets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

from lakatos._checker_geometry import edges_out, members, network_of, stranded
from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, number, record, sequence, show
from lakatos._checker_sets import WITNESS, Fact, read_point, read_vector, seen_from, sum_over_set

__all__ = ["check_different_components", "check_path", "check_rescaling"]

_ENDS = ("start", "end", "signs")
_GOAL = ("target", "activation")  # the activation decides nothing about the balance


def check_path(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """All knots are in H, and neighbors have no coordinates of opposite signs.

    Then |w| is affine along the segment between neighbors, so B|w| = c on it: the segments are a path in H from the
    first knot to the last. If all knots are regular, so is the path: the support of an inner point of a segment is the
    union of those at its ends, and more non-zero weights do not cut anything off. The field ``start`` is the first
    knot. The last one is the field ``end``, or else it has the signs of the field ``signs``, none of which is 0.
    """
    subject = network_of(fields, *_ENDS)
    record(certificate, "certificate", frozenset({"kind", "knots", "regular"}))
    regular = certificate["regular"]
    if not isinstance(regular, bool):
        raise Invalid(f"regular={show(regular)}: true or false is needed")
    knots = [_knot(subject, data, f"knots[{i}]") for i, data in enumerate(sequence(certificate["knots"], "knots"))]
    if not knots or knots[0] != _point(subject, fields, "start"):
        raise Invalid("knots: the first one is not the start")
    for i, (a, b) in enumerate(pairwise(knots)):
        for e, w in a.items():
            if w * b.get(e, 0) < 0:
                raise Invalid(f"knots: the sign of edge {e} jumps between {i} and {i + 1}")
    if regular and any(stranded(subject, knot) for knot in knots):
        raise Invalid("knots: one of them is singular")
    how = "_regularly" if regular else ""
    if "end" in fields:
        if knots[-1] != _point(subject, fields, "end"):
            raise Invalid("knots: the last one is not the end")
        return {f"joined{how}": True, "residual_along_the_path": Fraction(0)}
    signs = _signs(subject, fields)
    if any(signs[e] * knots[-1].get(e, 0) <= 0 for e in range(len(signs))):
        raise Invalid("knots: the last one does not have the signs that were asked for")
    return {f"reachable{how}": True, "residual_along_the_path": Fraction(0)}


def check_different_components(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """The two ends differ in the sign of a weight that is nowhere 0.

    Only edge e leaves W, so by (*) u_e >= -sum_W c: if that is positive, theta_e has no zero on H. If it is 0, all
    edges that enter W vanish with u_e, so W is cut off and the point is singular: theta_e has no zero at regular
    points.
    """
    subject = network_of(fields, *_ENDS)
    record(certificate, "certificate", frozenset({"kind", "edge", "witness"}))
    e = certificate["edge"]
    if type(e) is not int or not 0 <= e < len(subject.tail):
        raise Invalid(f"edge={show(e)} is no edge number")
    total = sum_over_set(subject, record(certificate["witness"], "witness", WITNESS), "witness", crossing=[e])
    if total > 0:
        raise Invalid("witness: its sum does not keep the weight from vanishing")
    start = _point(subject, fields, "start")
    end: Mapping[int, Fraction | int]
    end = _point(subject, fields, "end") if "end" in fields else dict(enumerate(_signs(subject, fields)))
    if start.get(e, 0) * end.get(e, 0) >= 0:
        raise Invalid(f"edge {e} does not have opposite signs at the two ends")
    quantity = "joined" if "end" in fields else "reachable"
    return {f"{quantity}_regularly": False, **({quantity: False} if total < 0 else {})}


def check_rescaling(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Whether rescaling neurons takes the weights to the balances in the field ``target``.

    Rescaling keeps the support S, and reaches c' iff c' = Bu for some u that is positive exactly on S (then a minimizer
    of a convex function of the scales exists): ``squares`` is such a u. Otherwise, a set W shows that there is none:
    let no edge of S leave it. By (*), c' = Bu makes sum_W c' the sum of u over the edges of S that enter W, which is
    positive if there is such an edge, and 0 if there is none.
    """
    subject = network_of(fields, *_GOAL)
    if subject.weights is None:
        raise Invalid("fields: the edges have no weights")
    support = {e for e, w in enumerate(subject.weights) if w != 0}
    goal = read_subject(
        {
            **{key: fields[key] for key in fields if key not in (*_GOAL, "edges")},
            "edges": [edge[:2] for edge in fields["edges"]],
            "balance": fields.get("target"),
        }
    )
    if "squares" in certificate:
        record(certificate, "certificate", frozenset({"kind", "squares"}))
        if read_point(goal, certificate["squares"], "squares").keys() != support:
            raise Invalid("squares: not positive exactly on the edges with a non-zero weight")
        return {"attained": True}
    data = record(record(certificate, "certificate", frozenset({"kind", "witness"}))["witness"], "witness", WITNESS)
    view = seen_from(goal, data["side"])
    W = members(goal, data["nodes"], "witness: nodes")
    total = sum((view.c[v] for v in W), Fraction(0))
    if number(data["sum"], "witness: sum") != (total if data["side"] == "out" else -total):
        raise Invalid(f"witness: sum={show(data['sum'])} is not the sum of the balances")
    if edges_out(view, W) & support:
        raise Invalid("witness: an edge with a non-zero weight crosses the wrong way")
    fed = bool(edges_out(view.mirror, W) & support)
    if (total > 0) if fed else (total == 0):
        raise Invalid("witness: its sum is one that rescaled weights can have")
    return {"attained": False}


def _knot(subject: Subject, data: Any, where: str) -> dict[int, Fraction]:
    """Return the non-zero signed squares of a point, checked to be in H."""
    knot = read_vector(subject, data, where, signed=True)
    read_point(subject, {str(e): abs(w) for e, w in knot.items()}, where)
    return knot


def _point(subject: Subject, fields: Mapping[str, Any], key: str) -> dict[int, Fraction]:
    listed = sequence(fields.get(key), key)
    if len(listed) != len(subject.tail):
        raise Invalid(f"{key}: {len(listed)} numbers for {len(subject.tail)} edges")
    values = {e: number(text, f"{key}[{e}]") for e, text in enumerate(listed)}
    return _knot(subject, {str(e): w for e, w in values.items()}, key)


def _signs(subject: Subject, fields: Mapping[str, Any]) -> Sequence[int]:
    signs = sequence(fields.get("signs"), "signs")
    if len(signs) != len(subject.tail) or any(type(s) is not int or s not in (-1, 1) for s in signs):
        raise Invalid("signs: 1 or -1 is needed for each edge")
    return signs
