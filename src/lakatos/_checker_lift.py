"""Certificates of kind ``lift_group`` (standard library only).

For orthogonal actions ρ on inputs and ρ_Y on labels of a group given by generators::

    end   X with Xρ(g) = ρ(g)X              (and Xξ = ξX for a basis of the Lie algebra)
    sym   the symmetric ones among them
    hom   B with ρ_Y(g)B = Bρ(g)
    lie   X skew with XA = AX for all A in sym and BX = 0 for all B in hom: the Lie algebra of the lift group

Each is the solution space of a linear system. The certificate lists a rational basis of each. That its elements are solutions
is checked exactly and that they are independent modulo a prime, which bounds the dimension from below; the rank of the system
modulo the prime, a lower bound of its rank, bounds it from above.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_architectures import Malformed
from lakatos._checker_dynamics import group_action
from lakatos._checker_groups import Action, Square
from lakatos._checker_laws import PRIME, independent_rows
from lakatos._checker_polynomials import residue
from lakatos._checker_reading import Invalid, number, record, sequence
from lakatos._checker_sets import Fact
from lakatos._checker_surds import Entry, Surd

__all__ = ["LARGEST_CHECKED", "SPACES", "Equation", "check_lift_group", "commuting", "lift_equations", "residue_of"]

LARGEST_CHECKED = 14
"""Largest dimension of inputs for which a certificate is made and checked: the systems have its square of unknowns."""

SPACES = ("end", "sym", "hom", "lie")

Equation: TypeAlias = "dict[int, Entry]"
"""Coefficients by unknown; entry (i, j) of an unknown matrix with n columns is unknown i·n + j."""

_ROOTS = {
    radicand: next((r for r in (pow(radicand, (PRIME + 1) // 4, PRIME),) if r * r % PRIME == radicand), None)
    for radicand in (3, 5)
}


def check_lift_group(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the dimensions of the commutant, its symmetric part, the intertwiners and the Lie algebra of the lift group."""
    bases = record(certificate, "certificate", frozenset({"kind", "bases"}))["bases"]
    record(bases, "bases", frozenset(SPACES))
    if not isinstance(fields, Mapping) or not isinstance(fields.get("group"), Mapping):
        raise Invalid("fields: an object with a group is needed")
    try:
        labels = fields.get("labels", 1)
        act = group_action(fields, labels if isinstance(labels, int) and 0 < labels <= LARGEST_CHECKED else 1)
    except Malformed as error:
        raise Invalid(str(error)) from error
    n, q = act.inputs, act.labels
    if n > LARGEST_CHECKED:
        raise Invalid(f"group: inputs of dimension {n}; at most {LARGEST_CHECKED} are checked")
    solutions: dict[str, list[list[Fraction]]] = {}
    facts: dict[str, Fact] = {}
    for space in SPACES:
        unknowns = (q if space == "hom" else n) * n
        basis = [
            _vector(matrix, unknowns, f"bases.{space}[{i}]") for i, matrix in enumerate(sequence(bases[space], space))
        ]
        equations = list(lift_equations(act, space, solutions.get("sym", ()), solutions.get("hom", ())))
        for i, vector in enumerate(basis):
            if any(_value(equation, vector) for equation in equations):
                raise Invalid(f"bases.{space}[{i}]: no solution")
        if len(independent_rows([[residue(x, PRIME) for x in vector] for vector in basis])) < len(basis):
            raise Invalid(f"bases.{space}: dependent")
        rows = [[residue_of(equation.get(i, 0)) for i in range(unknowns)] for equation in equations]
        if len(independent_rows(rows)) + len(basis) != unknowns:
            raise Invalid(f"bases.{space}: {len(basis)} elements do not span all solutions")
        solutions[space] = basis
        facts[f"dim_{space}"] = len(basis)
    return facts


def lift_equations(
    act: Action, space: str, sym: Sequence[Sequence[Fraction]] = (), hom: Sequence[Sequence[Fraction]] = ()
) -> Iterator[Equation]:
    """Yield the linear equations of a space; those of ``lie`` need bases of ``sym`` and ``hom`` as flat matrices."""
    n = act.inputs
    if space in ("sym", "lie"):
        sign = -1 if space == "sym" else 1
        for i in range(n):
            for j in range(i + (space == "sym"), n):
                yield {i * n + j: 1, j * n + i: sign} if i != j else {i * n + i: 1}
    if space == "lie":
        for a in sym:
            matrix = tuple(tuple(a[i * n : (i + 1) * n]) for i in range(n))
            yield from commuting(matrix, matrix)
        for b in hom:
            for row in range(len(b) // n):
                for j in range(n):
                    yield {k * n + j: b[row * n + k] for k in range(n) if b[row * n + k]}
        return
    for x, y in (*act.generators, *act.lie):
        yield from commuting(y if space == "hom" else x, x)


def commuting(left: Square, right: Square) -> Iterator[Equation]:
    """Yield left·X = X·right, entry by entry."""
    rows, n = len(left), len(right)
    for i in range(rows):
        for j in range(n):
            equation: Equation = {}
            for k in range(rows):
                if left[i][k]:
                    equation[k * n + j] = left[i][k]
            for k in range(n):
                if right[k][j]:
                    equation[i * n + k] = equation.get(i * n + k, 0) - right[k][j]
            yield {unknown: entry for unknown, entry in equation.items() if entry}


def residue_of(entry: Entry) -> int:
    """Return an entry modulo the prime, which has square roots of 3 and 5.

    Raises
    ------
    Invalid
        For other square roots.
    """
    if not isinstance(entry, Surd):
        return residue(entry, PRIME)
    root = _ROOTS.get(entry.radicand)
    if root is None:
        raise Invalid(f"group: √{entry.radicand} is not handled")
    return (residue(entry.rational, PRIME) + residue(entry.coefficient, PRIME) * root) % PRIME


def _value(equation: Equation, vector: Sequence[Fraction]) -> Entry:
    total: Entry = 0
    for unknown, entry in equation.items():
        if vector[unknown]:
            total = entry * vector[unknown] + total
    return total


def _vector(matrix: Any, length: int, where: str) -> list[Fraction]:
    flat = [number(entry, where) for row in sequence(matrix, where) for entry in sequence(row, where)]
    if len(flat) != length:
        raise Invalid(f"{where}: {length} entries are needed")
    return flat
