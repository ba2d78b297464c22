"""Conservation laws that are known in closed form, as candidates: a count uses only those that pass their identity.

A law is a pair of polynomials, numerator and denominator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, pairwise
from typing import Any

from .._checker_architectures import Matrix, dot, transposed
from .._checker_laws import Law
from .._checker_polynomials import Polynomial, added, constant, multiplied, scaled, variable

__all__ = ["balance_laws", "classical_laws", "parameter_matrices"]


def classical_laws(fields: Mapping[str, Any], names: Sequence[str]) -> list[Law]:
    """Return the laws of plain gradient flow (or of the dynamics given) that the theory lists for an architecture.

    Parameters
    ----------
    fields : mapping
        Fields of an instance, see `lakatos._checker_dynamics`.
    names : sequence of str
        Its parameters; matrices are found by their names.
    """
    matrices = parameter_matrices(names)
    dynamics = fields.get("dynamics", "flow")
    architecture = fields.get("architecture")
    if dynamics == "momentum":
        return _polynomial_laws(_momentum(fields, names))
    if dynamics == "mirror":
        w1, w2 = matrices["W1"], matrices["W2"]
        columns = zip(transposed(w1), w2, strict=True)
        return _polynomial_laws(added(*a, *(scaled(p, -1) for p in b)) for a, b in columns)
    laws: list[Polynomial] = []
    if architecture in ("linear", "relu"):
        laws += _layered(matrices, off_diagonal=architecture == "linear")
    if architecture == "softmax-layer" or fields.get("loss") == "logits":
        laws += [added(*column) for column in transposed(matrices["W1"])]
    if architecture == "attention":
        heads = (*fields["sizes"], 1)[2]
        rows = len(matrices["Q"]) // heads
        for left, right in (("Q", "K"), ("V", "O")):
            for h in range(0, rows * heads, rows):
                laws += balance_laws(matrices[left][h : h + rows], matrices[right][h : h + rows])
    if architecture == "lightning":
        columns_of = {name: transposed(matrix) for name, matrix in matrices.items()}
        laws += balance_laws(columns_of["Q"], columns_of["K"])
        if "O" in matrices:
            laws += balance_laws(columns_of["V"], columns_of["O"])
        laws.append(_difference(_squares(matrices["Q"]), _squares(matrices["V"])))
    if architecture == "rope":
        for j in range(0, len(matrices["Q"]), 2):
            laws.append(_difference(_squares(matrices["Q"][j : j + 2]), _squares(matrices["K"][j : j + 2])))
        laws += balance_laws(matrices["V"], matrices["O"])
    if architecture == "gated-experts":
        laws += [added(*column) for column in transposed(matrices["G"])]
    if architecture == "residual":
        for i in range(1, len(matrices) // 2 + 1):
            laws += balance_laws(transposed(matrices[f"U{i}"]), matrices[f"V{i}"], off_diagonal=False)
    if architecture in ("convolution", "swiglu"):
        rows_of = matrices["u"] if architecture == "convolution" else transposed(matrices["A"])
        others = matrices["v"] if architecture == "convolution" else matrices["C"]
        laws += [_difference(_squares([a]), _squares([b])) for a, b in zip(rows_of, others, strict=True)]
    if architecture == "product":
        laws += [{(i, i): 1, (i + 1, i + 1): -1} for i in range(len(names) - 1)]
    if architecture == "power":
        exponent = fields["sizes"][0]
        units = zip(matrices["a"][0], matrices["w"], strict=True)
        laws += [_difference(scaled(_squares([[a]]), exponent), _squares([w])) for a, w in units]
    return _polynomial_laws(laws)


def balance_laws(left: Matrix, right: Matrix, *, off_diagonal: bool = True) -> list[Polynomial]:
    """Return the entries on and above the diagonal (or only on it) of L Lᵀ − R Rᵀ."""
    pairs = [(i, j) for i in range(len(left)) for j in range(i, len(left)) if off_diagonal or i == j]
    return [_difference(dot(left[i], left[j]), dot(right[i], right[j])) for i, j in pairs]


def _layered(matrices: Mapping[str, Matrix], *, off_diagonal: bool) -> list[Polynomial]:
    """W_iᵀW_i − W_{i+1}W_{i+1}ᵀ between layers, minus the square of the bias of a unit."""
    laws: list[Polynomial] = []
    layers = [matrices[f"W{i}"] for i in range(1, sum(name.startswith("W") for name in matrices) + 1)]
    for i, (outgoing, incoming) in enumerate(pairwise(layers), 1):
        entering = incoming
        if f"b{i}" in matrices:
            entering = [[*row, bias] for row, bias in zip(incoming, matrices[f"b{i}"][0], strict=True)]
        laws += balance_laws(transposed(outgoing), entering, off_diagonal=off_diagonal)
    return laws


def _momentum(fields: Mapping[str, Any], names: Sequence[str]) -> list[Polynomial]:
    """e^{τt} times the angular momenta of the rotations that the loss does not see, in the variables (e^t, θ, dθ/dt)."""
    dimension = (len(names) - 1) // 2
    numbers = {name: i for i, name in enumerate(names)}
    velocity = {i: i + dimension for i in range(1, dimension + 1)}
    sizes = list(fields.get("sizes") or ())
    if fields.get("architecture") != "linear" or len(sizes) != 3:
        return []
    n, r, m = sizes
    u = [[numbers[f"W1[{a},{j}]"] for j in range(r)] for a in range(n)]
    v = [[numbers[f"W2[{j},{b}]"] for j in range(r)] for b in range(m)]
    laws = []
    for j, k in combinations(range(r), 2):
        momenta: list[Polynomial] = [
            {tuple(sorted((0, velocity[row[j]], row[k]))): 1, tuple(sorted((0, velocity[row[k]], row[j]))): -1}
            for row in u + v
        ]
        laws.append(added(*momenta))
        if n == m == 1:  # then u·v is also invariant under opposite rotations of u + v and u − v
            (x,), (y,) = u, v
            mixed: list[Polynomial] = [
                {tuple(sorted((0, velocity[a[j]], b[k]))): 1, tuple(sorted((0, velocity[a[k]], b[j]))): -1}
                for a, b in ((x, y), (y, x))
            ]
            laws.append(added(*mixed))
    return laws


def parameter_matrices(names: Sequence[str]) -> dict[str, Matrix]:
    """Return the matrices of parameters by name; a vector is a matrix of one row."""
    found: dict[str, Matrix] = {}
    for i, name in enumerate(names):
        base, bracket, index = name.partition("[")
        if not bracket or "/" in name:
            continue
        row = int(index.rstrip("]").split(",")[0]) if "," in index else 0
        rows = found.setdefault(base, [])
        if row == len(rows):
            rows.append([])
        rows[row].append(variable(i))
    return found


def _polynomial_laws(laws: Iterator[Polynomial] | Sequence[Polynomial]) -> list[Law]:
    return [(law, constant(1)) for law in laws if law]


def _squares(rows: Matrix) -> Polynomial:
    return added(*(multiplied(p, p) for row in rows for p in row))


def _difference(p: Polynomial, q: Polynomial) -> Polynomial:
    return added(p, scaled(q, -1))
