"""Certificates of kind ``sign_flow``: how many laws the sign of the gradient leaves (standard library only).

For a loss of UVᵀ with error matrix G the gradient is (GV, GᵀU), and every G is the error on some data. Each entry is linear
in G, so that its sign changes across a hyperplane; entries with the same hyperplane change together. The signs of all
gradients therefore lie in the span of as many vectors as there are hyperplanes, and those of the errors listed span at least
their rank::

    D - hyperplanes <= laws <= D - rank
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_orbits import exact_rank
from lakatos._checker_reading import Invalid, number, record, sequence
from lakatos._checker_sets import Fact

__all__ = ["check_sign_flow"]

Rows: TypeAlias = "Sequence[Sequence[Fraction]]"

_MOST_ERRORS = 1000


def check_sign_flow(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Return bounds on the number of laws near the weights of the instance, and the number where they meet."""
    given = sequence(record(certificate, "certificate", frozenset({"kind", "errors"}))["errors"], "errors")
    if not isinstance(fields, Mapping):
        raise Invalid("fields: an object is needed")
    u, v = (_matrix(fields.get(name), name) for name in ("u", "v"))
    if len(u[0]) != len(v[0]):
        raise Invalid("u, v: as many columns are needed, one for each hidden unit")
    if len(given) > _MOST_ERRORS:
        raise Invalid(f"errors: at most {_MOST_ERRORS} are checked")
    found = []
    for i, entry in enumerate(given):
        g = _matrix(entry, f"errors[{i}]")
        if (len(g), len(g[0])) != (len(u), len(v)):
            raise Invalid(f"errors[{i}]: a {len(u)} x {len(v)} matrix is needed")
        signs = _gradient_signs(u, v, g)
        if 0 in signs:
            raise Invalid(f"errors[{i}]: an entry of the gradient vanishes, so that it has no sign")
        found.append(signs)
    dimension = (len(u) + len(v)) * len(u[0])
    at_least, at_most = dimension - _hyperplanes(u, v), dimension - exact_rank(found)
    facts: dict[str, Fact] = {"parameters": dimension, "laws_at_least": at_least, "laws_at_most": at_most}
    return facts | ({"laws": at_least} if at_least == at_most else {})


def _gradient_signs(u: Rows, v: Rows, g: Rows) -> list[int]:
    """Return the signs of GV and GᵀU, row by row."""
    entries = [_dot(row, column) for row in g for column in zip(*v, strict=True)]
    entries += [_dot(row, column) for row in zip(*g, strict=True) for column in zip(*u, strict=True)]
    return [(entry > 0) - (entry < 0) for entry in entries]


def _hyperplanes(u: Rows, v: Rows) -> int:
    """Return the number of different hyperplanes {G : (GV)_ak = 0} and {G : (GᵀU)_bk = 0}.

    Raises
    ------
    Invalid
        If a column vanishes, so that an entry of the gradient is always zero.
    """
    n, m = len(u), len(v)
    normals = set()
    for columns, placed in (
        (zip(*v, strict=True), [[a * m + b for b in range(m)] for a in range(n)]),
        (zip(*u, strict=True), [[a * m + b for a in range(n)] for b in range(m)]),
    ):
        for column in columns:
            lead = next((entry for entry in column if entry), None)
            if lead is None:
                raise Invalid("u, v: a column vanishes, and with it entries of every gradient")
            normal = [Fraction(entry) / lead for entry in column]
            normals |= {tuple((i, x) for i, x in zip(places, normal, strict=True) if x) for places in placed}
    return len(normals)


def _dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    return sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))


def _matrix(value: Any, where: str) -> list[list[Fraction]]:
    rows = [[number(entry, where) for entry in sequence(row, where)] for row in sequence(value, where)]
    if not rows or not rows[0] or any(len(row) != len(rows[0]) for row in rows):
        raise Invalid(f"{where}: rows of one positive length are needed")
    return rows
