"""Certificates of kind ``betti_numbers`` (standard library only, exact); notation as in `_checker_sets`.

H is glued from a copy of the convex set P for each vector of signs, two copies along the face where the signs differ.
It is the basic construction of the group (Z/2)^edges over P with mirrors {u_e = 0}, so its homology is the sum over all
sets J of edges of the homology of P relative to the union of the mirrors in J. P and all non-empty intersections of
mirrors are convex, so that union has the homology of its nerve K_J, the sets D in J of edges that vanish together:
b_k(H) = sum_J b~_(k-1)(K_J).
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from itertools import chain, combinations
from typing import Any

from lakatos._checker_geometry import hidden_parts, obstruction
from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, record, sequence, show
from lakatos._checker_sets import Fact, net_inflow, read_vector

__all__ = ["LARGEST_FACTOR", "check_betti"]

LARGEST_FACTOR = 10


def check_betti(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """For each connected part of the hidden nodes it is shown which of its edges vanish together; then ranks are computed.

    No equation of Bu = c involves two parts, so P is a product (times a half-line for each edge between terminals,
    along which nothing happens), H is one too, and Poincare polynomials multiply.
    """
    subject = read_subject(fields)
    listed = sequence(record(certificate, "certificate", frozenset({"kind", "factors"}))["factors"], "factors")
    parts = hidden_parts(subject)
    if len(listed) != len(parts):
        raise Invalid(f"factors: {len(listed)} are listed, but {len(parts)} parts of the hidden nodes are connected")
    polynomial = [1]
    for i, (part, data) in enumerate(zip(parts, listed, strict=True)):
        factor = _factor(subject, part, data, f"factors[{i}]")
        product = [0] * (len(polynomial) + len(factor) - 1)
        for j, a in enumerate(polynomial):
            for k, b in enumerate(factor):
                product[j + k] += a * b
        polynomial = product
    return {"feasible": True, "betti": tuple(polynomial)}


def _factor(subject: Subject, part: list[int], data: Any, where: str) -> list[int]:
    record(data, where, frozenset({"edges", "points", "obstructions"}))
    edges = sorted({e for v in part for e in chain(subject.leaving[v], subject.entering[v])})
    if list(sequence(data["edges"], f"{where}: edges")) != edges or any(type(e) is not int for e in data["edges"]):
        raise Invalid(f"{where}: edges={show(str(data['edges']))} are not those of the part")
    if len(edges) > LARGEST_FACTOR:
        raise Invalid(f"{where}: {len(edges)} edges; at most {LARGEST_FACTOR} are checked")
    bit = {e: 1 << i for i, e in enumerate(edges)}
    faces = [
        _zeros(subject, part, bit, point, f"{where}: points[{i}]")
        for i, point in enumerate(sequence(data["points"], f"{where}: points"))
    ]
    if not faces:
        raise Invalid(f"{where}: no point shows that the set is not empty")
    others = [
        _mask(bit, obstruction(subject, witness, f"{where}: obstructions[{i}]"))
        for i, witness in enumerate(sequence(data["obstructions"], f"{where}: obstructions"))
    ]
    K = set()
    for D in range(1 << len(edges)):
        if any(D & ~face == 0 for face in faces):
            K.add(D)
        elif not any(other is not None and other & ~D == 0 for other in others):
            raise Invalid(
                f"{where}: neither a point nor an obstruction decides whether a set of edges vanishes together"
            )
    return _betti(len(edges), K)


def _zeros(subject: Subject, part: list[int], bit: Mapping[int, int], data: Any, where: str) -> int:
    """Return the edges of a part that vanish at a point of its factor of P."""
    point = read_vector(subject, data, where, signed=False)
    if not point.keys() <= bit.keys():
        raise Invalid(f"{where}: an edge of another part")
    net = net_inflow(subject, point)
    for v in part:
        if net.get(v, Fraction(0)) != subject.c[v]:
            raise Invalid(f"{where}: the balance of {show(subject.names[v])} is not met")
    return sum(flag for e, flag in bit.items() if e not in point)


def _mask(bit: Mapping[int, int], edges: frozenset[int]) -> int | None:
    return sum(bit[e] for e in edges) if edges <= bit.keys() else None


def _betti(size: int, K: set[int]) -> list[int]:
    """Return sum_J b~_(k-1)(K_J) without trailing zeros.

    An edge in no face is no vertex of K and makes no difference to K_J: it doubles the sum, and J ranges over the others.
    """
    vertices = [1 << e for e in range(size) if 1 << e in K]
    total = [0] * (size + 1)
    for count in range(len(vertices) + 1):
        for chosen in combinations(vertices, count):
            J = sum(chosen)
            by_size: list[list[int]] = [[] for _ in range(count + 2)]
            for D in _below(J):
                if D in K:
                    by_size[D.bit_count()].append(D)
            ranks = [0, *(_rank(by_size[k], by_size[k - 1]) for k in range(1, count + 2))]
            for k in range(count + 1):
                total[k] += len(by_size[k]) - ranks[k] - ranks[k + 1]
    while total and total[-1] == 0:
        total.pop()
    return [b << (size - len(vertices)) for b in total]


def _below(J: int) -> list[int]:
    subsets = [0]
    while J:
        flag = J & -J
        J ^= flag
        subsets += [D | flag for D in subsets]
    return subsets


def _rank(simplices: list[int], boundary: list[int]) -> int:
    """Return the rank mod 2 of the boundary map, by elimination on rows of bits."""
    place = {D: i for i, D in enumerate(boundary)}
    pivots: dict[int, int] = {}
    for D in simplices:
        row = 0
        rest = D
        while rest:
            flag = rest & -rest
            rest ^= flag
            row ^= 1 << place[D ^ flag]
        while row:
            top = row.bit_length()
            if top not in pivots:
                pivots[top] = row
                break
            row ^= pivots[top]
    return len(pivots)
