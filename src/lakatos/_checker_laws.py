"""Certificates of kind ``law_count`` (standard library only).

Near a generic point the number of independent conservation laws is D minus the rank r of the Lie algebra that the vector
fields of the system generate. Both sides of the count are certified::

    r >= rank      some generators and iterated brackets, evaluated at an integer point modulo a prime, are independent:
                   a minor that is not 0 modulo a prime is not 0
    N >= laws      functions p/q with q <chi, grad p> = p <chi, grad q> as polynomials for every generator chi, whose
                   gradients at the same point are independent modulo the prime

so that laws <= N <= D - rank. A bracket is written as a word: (i, j, k) is [[chi_i, chi_j], chi_k]; a letter -s < 0 is the
combination of all generators with coefficients 1, s, s², …

The algebra of brackets at a point is done with nilpotent numbers: a list of 2^L integers, entry S being the coefficient of
the product of the eps_i, i in S, with eps_i² = 0.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_architectures import Malformed
from lakatos._checker_dynamics import System, systems
from lakatos._checker_polynomials import (
    Monomial,
    Number,
    Polynomial,
    VectorField,
    added,
    constant,
    gradient,
    multiplied,
    residue,
    scaled,
    value_and_gradient,
)
from lakatos._checker_reading import Invalid, number, record, sequence, show
from lakatos._checker_sets import Fact

__all__ = [
    "LONGEST_WORD",
    "PRIME",
    "Law",
    "broken_by",
    "check_law_count",
    "components",
    "independent_rows",
    "law_slope",
    "word_value",
]

PRIME = 67108859
"""2²⁶ − 5. It is fixed, so that nobody chooses it; it has square roots of 3 and of 5."""

LONGEST_WORD = 9
_MOST_TERMS = 20_000

Law: TypeAlias = "tuple[Polynomial, Polynomial]"
"""Numerator and denominator."""

Nilpotent: TypeAlias = "list[int]"


def check_law_count(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Return bounds on the number of laws, and the number where they meet; with a group also those of plain training."""
    given = record(certificate, "certificate", frozenset({"kind", "systems"}))["systems"]
    if not isinstance(fields, Mapping) or not isinstance(given, Mapping):
        raise Invalid("fields, systems: objects are needed")
    try:
        expected = systems(fields)
        facts: dict[str, Fact] = {"parameters": len(expected["plain"].names)}
        for name, data in given.items():
            if name not in expected:
                raise Invalid(f"systems: {show(name)} is no system of this instance; there are {', '.join(expected)}")
            prefix = "plain_" if name == "plain" and len(expected) > 1 else ""
            facts |= {prefix + key: fact for key, fact in _bounds(expected[name], data, f"systems.{name}").items()}
    except (Malformed, ValueError, TypeError, OverflowError, RecursionError) as error:
        raise Invalid(f"fields: {error}") from error
    if "laws" in facts and "plain_laws" in facts:
        laws, plain = facts["laws"], facts["plain_laws"]
        assert isinstance(laws, int)
        assert isinstance(plain, int)
        facts["new_laws"] = laws - plain
    return facts


def _bounds(system: System, data: Any, where: str) -> dict[str, Fact]:
    record(data, where, frozenset({"point", "generators", "brackets", "laws"}))
    d = system.dimension
    point = [_integer(value, f"{where}.point") % PRIME for value in sequence(data["point"], f"{where}.point")]
    if len(point) != d:
        raise Invalid(f"{where}.point: {d} integers are needed")
    words: list[tuple[int, ...]] = [
        (_letter(g, system, f"{where}.generators"),) for g in sequence(data["generators"], f"{where}.generators")
    ]
    for i, word in enumerate(sequence(data["brackets"], f"{where}.brackets")):
        letters = sequence(word, f"{where}.brackets[{i}]")
        if not 2 <= len(letters) <= LONGEST_WORD:
            raise Invalid(f"{where}.brackets[{i}]: between 2 and {LONGEST_WORD} letters are needed")
        words.append(tuple(_letter(g, system, f"{where}.brackets[{i}]") for g in letters))
    if len(words) > d:
        raise Invalid(f"{where}: more than {d} vectors cannot be independent")
    rows = [word_value(system.fields, word, point) for word in words]
    if len(independent_rows(rows)) < len(rows):
        raise Invalid(f"{where}: the generators and brackets are dependent at the point")
    laws = [_law(law, d, f"{where}.laws[{i}]") for i, law in enumerate(sequence(data["laws"], f"{where}.laws"))]
    index = components(system.fields)
    for i, law in enumerate(laws):
        if (j := broken_by(law, system.fields, index)) is not None:
            raise Invalid(f"{where}.laws[{i}]: not conserved along generator {j}")
    if len(laws) > d or len(independent_rows([law_slope(law, point, d) for law in laws])) < len(laws):
        raise Invalid(f"{where}: the gradients of the laws are dependent at the point")
    # A single vector field can be straightened near a generic point, which leaves D - 1 laws.
    at_least = max(len(laws), d - 1 if len(system.fields) == 1 else 0)
    facts: dict[str, Fact] = {"laws_at_least": at_least, "laws_at_most": d - len(rows)}
    if at_least == d - len(rows):
        facts["laws"] = at_least
    return facts


def components(fields: Sequence[VectorField]) -> dict[int, list[int]]:
    """Return for each variable the numbers of the fields with that component."""
    index: dict[int, list[int]] = {}
    for j, field in enumerate(fields):
        for i in field:
            index.setdefault(i, []).append(j)
    return index


def broken_by(law: Law, fields: Sequence[VectorField], index: Mapping[int, Sequence[int]]) -> int | None:
    """Return the number of a field along which p/q changes, or None.

    It does not if q ⟨∇p, field⟩ − p ⟨∇q, field⟩ is the zero polynomial. `index` is `components` of the fields, so that
    fields far from the law cost nothing.
    """
    p, q = law
    slopes_p, slopes_q = gradient(p), gradient(q)
    for j in sorted({j for i in (*slopes_p, *slopes_q) for j in index.get(i, ())}):
        change = _along(fields[j], slopes_p)
        if slopes_q:
            of_q = _along(fields[j], slopes_q)
            if _grow_alike(p, change, q, of_q):
                continue
            change = added(multiplied(q, change), scaled(multiplied(p, of_q), -1))
        if change:
            return j
    return None


def _grow_alike(p: Polynomial, change_p: Polynomial, q: Polynomial, change_q: Polynomial) -> bool:
    """Whether both change by one constant factor, as determinants along linear fields do; this saves large products."""
    monomial = next(iter(q))
    factor = Fraction(change_q.get(monomial, 0)) / q[monomial]
    return change_q == scaled(q, factor) and change_p == scaled(p, factor)


def _along(field: VectorField, slopes: VectorField) -> Polynomial:
    total: dict[Monomial, Number] = {}
    for i in field if len(field) < len(slopes) else slopes:
        if i not in slopes or i not in field:
            continue
        for a, ca in field[i].items():
            for b, cb in slopes[i].items():
                monomial = tuple(sorted(a + b))
                total[monomial] = total.get(monomial, 0) + ca * cb
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def law_slope(law: Law, point: Sequence[int], dimension: int) -> list[int]:
    """Return q² times the gradient of p/q at an integer point, modulo the prime.

    Raises
    ------
    Invalid
        If the denominator vanishes there.
    """
    (p, slopes_p), (q, slopes_q) = (value_and_gradient(part, point, PRIME) for part in law)
    if q == 0:
        raise Invalid("laws: a denominator vanishes at the point")
    return [(q * slopes_p.get(i, 0) - p * slopes_q.get(i, 0)) % PRIME for i in range(dimension)]


def word_value(fields: Sequence[VectorField], word: Sequence[int], point: Sequence[int]) -> list[int]:
    """Return the value at an integer point of the iterated bracket that `word` writes, modulo the prime."""
    letters = [_combination(fields, letter) for letter in word]
    value = _bracket(letters, [[x % PRIME] for x in point])
    return [component[0] for component in value]


def _bracket(letters: Sequence[VectorField], point: list[Nilpotent]) -> list[Nilpotent]:
    """[F, H](x) = DH·F − DF·H; the derivative of H along f is the new half of H(x + eps f)."""
    *first, last = letters
    if not first:
        return _value(last, point)
    f, h = _bracket(first, point), _value(last, point)
    half = len(point[0])
    along_f = _value(last, [x + dx for x, dx in zip(point, f, strict=True)])
    along_h = _bracket(first, [x + dx for x, dx in zip(point, h, strict=True)])
    return [
        [(a - b) % PRIME for a, b in zip(p[half:], q[half:], strict=True)]
        for p, q in zip(along_f, along_h, strict=True)
    ]


def _value(field: VectorField, point: list[Nilpotent]) -> list[Nilpotent]:
    size = len(point[0])
    value = [[0] * size for _ in point]
    for i, component in field.items():
        total = value[i]
        for monomial, coefficient in component.items():
            term = [residue(coefficient, PRIME)] + [0] * (size - 1)
            for j in monomial:
                term = _times(term, point[j])
            for s, entry in enumerate(term):
                total[s] += entry
        value[i] = [entry % PRIME for entry in total]
    return value


def _times(a: Nilpotent, b: Nilpotent) -> Nilpotent:
    if len(a) == 1:
        return [a[0] * b[0] % PRIME]
    total = []
    for s in range(len(a)):
        entry, t = 0, s
        while True:
            entry += a[t] * b[s ^ t]
            if t == 0:
                break
            t = (t - 1) & s
        total.append(entry % PRIME)
    return total


def _combination(fields: Sequence[VectorField], letter: int) -> VectorField:
    if letter >= 0:
        return fields[letter]
    total: dict[int, list[Polynomial]] = {}
    factor = 1
    for field in fields:
        for i, component in field.items():
            total.setdefault(i, []).append({m: residue(c, PRIME) * factor % PRIME for m, c in component.items()})
        factor = factor * -letter % PRIME
    return {i: added(*parts) for i, parts in total.items()}


def independent_rows(rows: Sequence[Sequence[int]]) -> list[int]:
    """Return the numbers of the rows that are no combination of earlier ones, modulo the prime."""
    echelon: list[tuple[int, list[int]]] = []
    kept = []
    for number_, row in enumerate(rows):
        rest = [entry % PRIME for entry in row]
        for pivot, other in echelon:
            if factor := rest[pivot]:
                rest = [(a - factor * b) % PRIME for a, b in zip(rest, other, strict=True)]
        pivot = next((i for i, entry in enumerate(rest) if entry), -1)
        if pivot >= 0:
            inverse = pow(rest[pivot], -1, PRIME)
            echelon.append((pivot, [entry * inverse % PRIME for entry in rest]))
            kept.append(number_)
    return kept


def _integer(value: Any, where: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise Invalid(f"{where}={show(value)}: an integer is needed")
    return value


def _letter(value: Any, system: System, where: str) -> int:
    letter = _integer(value, where)
    if not -PRIME < letter < len(system.fields):
        raise Invalid(f"{where}={show(value)}: there are {len(system.fields)} generators")
    return letter


def _law(data: Any, dimension: int, where: str) -> Law:
    record(data, where, frozenset({"numerator"}), frozenset({"denominator"}))
    denominator = _polynomial(data["denominator"], dimension, where) if "denominator" in data else constant(1)
    return _polynomial(data["numerator"], dimension, where), denominator


def _polynomial(data: Any, dimension: int, where: str) -> Polynomial:
    terms = sequence(data, where)
    if len(terms) > _MOST_TERMS:
        raise Invalid(f"{where}: more than {_MOST_TERMS} terms are not checked")
    parts: list[Polynomial] = []
    for term in terms:
        pair = sequence(term, where)
        if len(pair) != 2:
            raise Invalid(f"{where}: pairs of a coefficient and a list of variables are needed")
        monomial = tuple(sorted(_integer(i, where) for i in sequence(pair[1], where)))
        if len(monomial) > 64 or any(not 0 <= i < dimension for i in monomial):
            raise Invalid(f"{where}: variables are numbered from 0 to {dimension - 1}")
        coefficient = number(pair[0], where)
        parts.append({monomial: coefficient.numerator if coefficient.denominator == 1 else coefficient})
    return added(*parts)
