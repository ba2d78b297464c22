"""Certificates about layers of partly fixed neurons (standard library only, exact).

The fields of the instance are F, D (m x n), U (n x k), features A (rows of length k) and perhaps points ``data`` (rows of
length n). Neuron i has center v = U^T f_i and the matrix M = U^T diag(d_i); it realizes a feature a with weights w iff
M w = b, where b = a - v. With ``of = "data_cost"`` the matrix of all data points takes the place of U, and the outputs that
U a has on them the place of a.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_reading import Invalid, number, record, sequence, show
from lakatos._checker_sets import Fact

__all__ = ["check_assignment_margin", "check_coherence", "check_realization_costs"]

Vector: TypeAlias = "tuple[Fraction, ...]"
Matrix: TypeAlias = "tuple[Vector, ...]"
Cost: TypeAlias = "Fraction | float"

_MOST_ENTRIES = 1_000_000


def check_realization_costs(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """For each neuron i and feature a_j there is a multiplier mu or an obstruction y.

    With S = M M^T: if S mu = b, then w = M^T mu realizes the feature, and any other w' that does has M (w' - w) = 0, so
    w . (w' - w) = mu . M (w' - w) = 0 and |w'|^2 = |w|^2 + |w' - w|^2. The least squared norm is |w|^2 = mu . S mu = mu . b.
    If S y = 0, then |M^T y|^2 = y . S y = 0, so y . M w = 0 for all w; with y . b != 0 no weights realize the feature.

    If the instance has a ``permutation``, its ``sensitivity`` is the sum of C[i, pi(i)] - C[i, i].
    """
    kind = _table_of(certificate)
    costs = _costs(fields, certificate, kind)
    facts: dict[str, Fact] = {}
    for i, row in enumerate(costs):
        for j, cost in enumerate(row):
            facts[f"{kind}[{i},{j}]"] = cost
            facts[f"{kind} is finite[{i},{j}]"] = not math.isinf(cost)
    permutation = fields.get("permutation")
    if permutation is not None and kind == "cost":
        facts["sensitivity"] = _sensitivity(costs, _permutation(permutation, len(costs), "permutation"))
    return facts


def check_assignment_margin(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """No assignment but the identity costs less than ``margin`` more, and ``second`` costs just that.

    Let arc i -> j weigh d[i, j] = C[i, j] - C[i, i]. A permutation is a union of cycles and costs the weight of its cycles
    more than the identity. ``distances[i]`` is a potential p with p[i] = 0 and p[j] <= d[j, l] + p[l] for all j and l: summed
    along a path from j to i it shows that the path weighs at least p[j]. (No path has to be simple, so p[i] = 0 <= d[i, l] +
    p[l] shows that no cycle through i is negative.) Hence a cycle through the arc i -> j weighs at least d[i, j] + p[j]; the
    least of these, over all i and j, bounds every cycle, and so every permutation but the identity, from below.
    """
    record(certificate, "certificate", frozenset({"kind", "costs", "second", "distances"}))
    costs_certificate = certificate["costs"]
    if not isinstance(costs_certificate, Mapping):
        raise Invalid(f"costs={show(costs_certificate)}: a certificate of kind realization_costs is needed")
    facts = check_realization_costs(fields, costs_certificate)
    costs = _costs(fields, costs_certificate, _table_of(costs_certificate))
    m = len(costs)
    arcs = _arcs(costs)
    rows = sequence(certificate["distances"], "distances")
    if len(rows) != m:
        raise Invalid(f"distances: {len(rows)} rows; {m} are needed")
    least: Cost = math.inf
    for i, row in enumerate(rows):
        p = [_cost(x, f"distances[{i}][{j}]") for j, x in enumerate(_of_length(row, m, f"distances[{i}]"))]
        if p[i] != 0:
            raise Invalid(f"distances[{i}][{i}] is not 0")
        for j in range(m):
            for k in range(m):
                if j != k and not p[j] <= _plus(arcs[j][k], p[k]):
                    raise Invalid(f"distances[{i}][{j}] exceeds the way by {k}")
        least = min([least, *(_plus(arcs[i][j], p[j]) for j in range(m) if j != i)])
    second = certificate["second"]
    if second is None:
        attained: Cost = math.inf
    else:
        permutation = _permutation(second, m, "second")
        if all(i == j for i, j in enumerate(permutation)):
            raise Invalid("second is the identity")
        attained = _sensitivity(costs, permutation)
    if attained != least:
        raise Invalid("second does not attain the bound")
    return {**facts, "margin": least, "identity is the unique optimum": least > 0}


def check_coherence(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """U^T U = 1, and the coherence is read off its rows; the certificate itself is empty.

    The projection on the image is U U^T, so |P e_l| = |U u_l| = |u_l|: e_l is in the image iff |u_l| = 1.
    """
    record(certificate, "certificate", frozenset({"kind"}))
    U = _matrix(fields, "U")
    k = len(U[0])
    for i in range(k):
        for j in range(k):
            if sum((row[i] * row[j] for row in U), Fraction(0)) != (i == j):
                raise Invalid(f"columns {i} and {j} of U are not orthonormal")
    norms = [_dot(row, row) for row in U]
    coherence = max(norms)
    return {
        "coherence": coherence,
        "a coordinate vector is in the subspace": coherence == 1,
        "all rows have equal norm": len(set(norms)) == 1,
    }


def _table_of(certificate: Mapping[str, Any]) -> str:
    record(certificate, "certificate", frozenset({"kind", "of", "rows"}))
    kind = certificate["of"]
    if kind not in ("cost", "data_cost"):
        raise Invalid(f"of={show(kind)}: 'cost' or 'data_cost' is needed")
    return str(kind)


def _costs(fields: Any, certificate: Mapping[str, Any], kind: str) -> list[list[Cost]]:
    F, D, U, A = (_matrix(fields, key) for key in ("F", "D", "U", "A"))
    n, k = len(U), len(U[0])
    _require(len(F[0]) == n and len(D[0]) == n and len(F) == len(D), "F and D have a row of length n for each neuron")
    _require(len(A[0]) == k, "features have length k")
    if kind == "data_cost":
        data = _matrix(fields, "data")
        _require(len(data[0]) == n, "data points have length n")
        A = tuple(tuple(_dot(_times(U, a), x) for x in data) for a in A)
        U = tuple(zip(*data, strict=True))
        k = len(data)
    table = sequence(certificate["rows"], "rows")
    _require(len(table) == len(F), "rows has one row for each neuron")
    result = []
    for i, row in enumerate(table):
        center = tuple(_dot(F[i], column) for column in zip(*U, strict=True))
        proofs = _of_length(row, len(A), f"rows[{i}]")
        result.append(
            [
                _proved_cost(U, D[i], tuple(x - y for x, y in zip(a, center, strict=True)), proof, f"rows[{i}][{j}]")
                for j, (a, proof) in enumerate(zip(A, proofs, strict=True))
            ]
        )
    return result


def _proved_cost(U: Matrix, d: Vector, b: Vector, proof: Any, where: str) -> Cost:
    if not isinstance(proof, Mapping) or len(proof) != 1:
        raise Invalid(f"{where}={show(proof)}: an object with a multiplier or an obstruction is needed")
    ((way, values),) = proof.items()
    if way not in ("multiplier", "obstruction"):
        raise Invalid(f"{where}: unknown key {show(way)}")
    x = tuple(number(entry, f"{where}: {way}") for entry in _of_length(values, len(b), f"{where}: {way}"))
    # S x = U^T (d^2 * U x), without S.
    inner = [scale * scale * _dot(u, x) for scale, u in zip(d, U, strict=True)]
    image = tuple(_dot(column, inner) for column in zip(*U, strict=True))
    if way == "multiplier":
        _require(image == b, f"{where}: the multiplier solves S x = b")
        return _dot(x, b)
    _require(not any(image), f"{where}: the obstruction is in the kernel of S")
    _require(_dot(x, b) != 0, f"{where}: the obstruction is not orthogonal to b")
    return math.inf


def _arcs(costs: Sequence[Sequence[Cost]]) -> list[list[Cost]]:
    m = len(costs)
    for i, row in enumerate(costs):
        _require(len(row) == m, "there is one feature for each neuron")
        _require(not math.isinf(row[i]), f"neuron {i} realizes its own feature")
    return [[_plus(costs[i][j], -costs[i][i]) for j in range(m)] for i in range(m)]


def _sensitivity(costs: Sequence[Sequence[Cost]], permutation: Sequence[int]) -> Cost:
    arcs = _arcs(costs)
    total: Cost = Fraction(0)
    for i, j in enumerate(permutation):
        total = _plus(total, arcs[i][j])
    return total


def _permutation(value: Any, m: int, where: str) -> tuple[int, ...]:
    entries = tuple(_of_length(value, m, where))
    if any(type(entry) is not int for entry in entries) or sorted(entries) != list(range(m)):
        raise Invalid(f"{where}: a permutation of 0 to {m - 1} is needed")
    return entries


def _matrix(fields: Any, key: str) -> Matrix:
    if not isinstance(fields, Mapping) or key not in fields:
        raise Invalid(f"fields: {key} is missing")
    rows = sequence(fields[key], key)
    if not rows or not all(isinstance(row, (list, tuple)) and row for row in rows):
        raise Invalid(f"{key}: a list of rows is needed")
    if sum(map(len, rows)) > _MOST_ENTRIES:
        raise Invalid(f"{key}: more than {_MOST_ENTRIES} numbers")
    _require(len(set(map(len, rows))) == 1, f"{key} has rows of one length")
    return tuple(tuple(number(x, f"{key}[{i}]") for x in row) for i, row in enumerate(rows))


def _of_length(value: Any, length: int, where: str) -> Sequence[Any]:
    entries = sequence(value, where)
    if len(entries) != length:
        raise Invalid(f"{where}: {len(entries)} entries; {length} are needed")
    return entries


def _require(holds: bool, what: str) -> None:
    if not holds:
        raise Invalid(f"it does not hold that {what}")


def _cost(value: Any, where: str) -> Cost:
    return math.inf if value == "inf" else number(value, where)


def _plus(x: Cost, y: Cost) -> Cost:
    """Return the sum; infinity is a name and never meets floating-point arithmetic."""
    return math.inf if math.inf in (x, y) else Fraction(x) + Fraction(y)


def _times(matrix: Matrix, x: Vector) -> Vector:
    return tuple(_dot(row, x) for row in matrix)


def _dot(x: Sequence[Fraction], y: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(x, y, strict=True)), Fraction(0))
