"""Certificates of law counts: what is true checks, and no edit of it establishes anything false."""

from __future__ import annotations

import copy
import json
from contextlib import suppress
from fractions import Fraction
from typing import Any

import pytest
import sympy
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos._checker_architectures import Malformed
from lakatos._checker_laws import PRIME, independent_rows, word_value
from lakatos._checker_polynomials import added, along, gradient, multiplied, power, text, value_and_gradient
from lakatos._checker_text import read_polynomial
from lakatos.checker import Invalid, check_certificate
from lakatos.theory.law_count import law_count
from lakatos.theory.lie_rank import CompiledFields, lie_rank
from lakatos.theory.lift_group import lift_group
from lakatos.theory.model_fields import GroupFields
from lakatos.theory.modular import Echelon, fraction_of, null_space, rank

NAMES = ["u", "v", "w"]
SYMBOLS = sympy.symbols(NAMES)

monomials = st.lists(st.integers(0, 2), max_size=4).map(lambda m: tuple(sorted(m)))
polynomials = st.dictionaries(monomials, st.integers(-5, 5).filter(bool), max_size=5)


def symbolic(p: dict[tuple[int, ...], Any]) -> sympy.Expr:
    """The polynomial as SymPy knows it."""
    return sympy.Add(*(sympy.Rational(c) * sympy.Mul(*(SYMBOLS[i] for i in m)) for m, c in p.items()))


@given(polynomials, polynomials)
def test_polynomial_arithmetic(p: Any, q: Any) -> None:
    assert sympy.expand(symbolic(added(p, q)) - symbolic(p) - symbolic(q)) == 0
    assert sympy.expand(symbolic(multiplied(p, q)) - symbolic(p) * symbolic(q)) == 0
    change = sum(sympy.diff(symbolic(q), x) * sympy.diff(symbolic(p), x) for x in SYMBOLS)
    assert sympy.expand(symbolic(along(gradient(p), q)) - change) == 0


@given(polynomials)
def test_text_is_read_back(p: Any) -> None:
    assert read_polynomial(text(p, NAMES), NAMES) == p


@given(polynomials, st.lists(st.integers(1, 50), min_size=3, max_size=3))
def test_values_modulo_the_prime(p: Any, point: list[int]) -> None:
    at = dict(zip(SYMBOLS, point, strict=True))
    value, slopes = value_and_gradient(p, point, PRIME)
    assert value == int(symbolic(p).subs(at)) % PRIME
    for i, x in enumerate(SYMBOLS):
        assert slopes.get(i, 0) == int(sympy.diff(symbolic(p), x).subs(at)) % PRIME


@given(st.text(max_size=30))
def test_any_text_is_a_polynomial_or_refused(hostile: str) -> None:
    with suppress(Malformed):
        read_polynomial(hostile, NAMES)


@pytest.mark.parametrize(
    "bomb", ["(" * 5000, "(u+v+w+1)^32^32", "9" * 10_000, "u^99999999999", "__import__('os')", "1/0", "u/v"]
)
def test_hostile_text_is_refused_quickly(bomb: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        read_polynomial(bomb, NAMES)


def symbolic_bracket(f: list[sympy.Expr], g: list[sympy.Expr]) -> list[sympy.Expr]:
    """DG·F − DF·G by definition."""
    return [
        sympy.expand(sum(sympy.diff(g[i], x) * f[j] - sympy.diff(f[i], x) * g[j] for j, x in enumerate(SYMBOLS)))
        for i in range(len(SYMBOLS))
    ]


@settings(max_examples=30, deadline=None)
@given(st.lists(polynomials, min_size=2, max_size=3), st.lists(st.integers(0, 1), min_size=2, max_size=3))
def test_brackets_three_ways(potentials: list[Any], word: list[int]) -> None:
    """Symbols, lists of integers in the checker, arrays in the search."""
    fields = [gradient(p) for p in potentials]
    point = [3, 5, 11]
    symbols = [[sympy.diff(symbolic(p), x) for x in SYMBOLS] for p in potentials]
    value = symbols[word[0]]
    for letter in word[1:]:
        value = symbolic_bracket(value, symbols[letter])
    at = dict(zip(SYMBOLS, point, strict=True))
    expected = [
        int(sympy.Integer(component.subs(at))) % PRIME if component != 0 else 0
        for component in map(sympy.sympify, value)
    ]
    assert word_value(fields, word, point) == expected
    compiled = CompiledFields(fields, 3)
    if compiled.count:
        assert compiled.values(_words([word]), point)[0].tolist() == expected


def test_dense_letters_agree() -> None:
    fields = [gradient(p) for p in ({(0, 0, 1): 1}, {(1, 2): 3}, {(0, 2, 2): -2})]
    for word in ([-7], [-7, -11], [0, -5, -123456]):
        assert CompiledFields(fields, 3).values(_words([word]), [2, 3, 5])[0].tolist() == word_value(
            fields, word, [2, 3, 5]
        )


def _words(words: list[list[int]]) -> Any:
    import numpy as np

    return np.array(words, np.int64)


def test_rank_of_the_lie_algebra_by_symbols() -> None:
    """All brackets up to depth three of u², uv + w and w³, ranked at a rational point."""
    potentials = [{(0, 0): 1}, {(0, 1): 1, (2,): 1}, {(2, 2, 2): 1}]
    symbols = [[sympy.diff(symbolic(p), x) for x in SYMBOLS] for p in potentials]
    level, everything = symbols, list(symbols)
    for _ in range(2):
        level = [symbolic_bracket(f, g) for f in level for g in symbols]
        everything += level
    at = dict(zip(SYMBOLS, (2, 7, 3), strict=True))
    expected = sympy.Matrix([[sympy.sympify(e).subs(at) for e in f] for f in everything]).rank()
    assert lie_rank([gradient(p) for p in potentials], 3).rank == expected


@given(st.lists(st.lists(st.integers(-4, 4), min_size=4, max_size=4), min_size=1, max_size=6))
def test_linear_algebra_modulo_the_prime(matrix: list[list[int]]) -> None:
    expected = sympy.Matrix(matrix).rank()
    assert rank(matrix) == len(independent_rows(matrix)) == expected
    kernel = null_space(matrix)
    assert len(kernel) == 4 - expected
    assert all(sum(a * int(b) for a, b in zip(row, x, strict=True)) % PRIME == 0 for row in matrix for x in kernel)
    echelon = Echelon(4)
    assert len(echelon.add(matrix)) == echelon.rank == expected


@given(st.fractions(max_denominator=2000).filter(lambda f: abs(f.numerator) < 2000))
def test_fractions_are_recovered(number: Fraction) -> None:
    assert fraction_of(number.numerator * pow(number.denominator, -1, PRIME)) == number


# Edits of a valid certificate -------------------------------------------------------------------------------------------


FIELDS: dict[str, Any] = {"architecture": "linear", "sizes": [2, 2, 2]}
CERTIFICATE = law_count(FIELDS).certificate.to_json()


def edited(change: Any) -> dict[str, Any]:
    """A copy of the certificate, changed."""
    certificate = copy.deepcopy(CERTIFICATE)
    change(certificate["systems"]["plain"])
    return certificate


def test_the_certificate_is_valid_after_a_trip_through_json() -> None:
    assert check_certificate(FIELDS, json.loads(json.dumps(CERTIFICATE)))["laws"] == 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["laws"][0]["numerator"][0].__setitem__(0, "2"), "not conserved"),
        (lambda c: c["laws"].append(c["laws"][0]), "dependent"),
        (lambda c: c["laws"].append({"numerator": [["5", []]]}), "dependent"),
        (lambda c: c["generators"].append(c["generators"][0]), "dependent"),
        (lambda c: c["brackets"].append([0, 0]), "dependent"),
        (lambda c: c["brackets"].append([0]), "letters"),
        (lambda c: c["brackets"].append([0] * 30), "letters"),
        (lambda c: c["generators"].append(99), "generators"),
        (lambda c: c["generators"].append(True), "an integer"),
        (lambda c: c["point"].pop(), "8 integers"),
        (lambda c: c.__setitem__("point", [0] * 8), "dependent"),
        (lambda c: c["laws"][0]["numerator"].append(["1", [8]]), "numbered from 0 to 7"),
        (lambda c: c["laws"][0]["numerator"].append(["1", [-1]]), "numbered from 0 to 7"),
        (lambda c: c["laws"][0].__setitem__("denominator", []), "denominator vanishes"),
        (lambda c: c.__setitem__("prime", 2), "unknown key"),
        (lambda c: c.pop("laws"), "missing"),
    ],
)
def test_edits_are_refused(change: Any, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check_certificate(FIELDS, edited(change))


def test_leaving_something_out_weakens_the_facts() -> None:
    fewer = check_certificate(FIELDS, edited(lambda c: c["laws"].pop()))
    assert (fewer["laws_at_least"], fewer["laws_at_most"]) == (2, 3)
    assert "laws" not in fewer
    fewer = check_certificate(FIELDS, edited(lambda c: c["brackets"].clear()))
    assert (fewer["laws_at_least"], fewer["laws_at_most"]) == (3, 4)


def test_the_certificate_is_of_this_model_alone() -> None:
    for fields in (
        {**FIELDS, "architecture": "relu"},
        {**FIELDS, "sizes": [2, 2, 3]},
        {**FIELDS, "dynamics": "momentum"},
    ):
        with pytest.raises(Invalid):
            check_certificate(fields, CERTIFICATE)


hostile = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["plain", "point", "laws", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.sampled_from(["point", "generators", "brackets", "laws"]), hostile)
def test_hostile_parts_are_refused_or_harmless(key: str, value: Any) -> None:
    certificate = edited(lambda c: c.__setitem__(key, value))
    try:
        facts = check_certificate(FIELDS, certificate)
    except Invalid:
        return
    assert facts["laws_at_least"] <= 3 <= facts["laws_at_most"]


@given(st.sampled_from(["architecture", "sizes", "bias", "dynamics", "group", "potentials", "parameters"]), hostile)
def test_hostile_fields_are_refused_or_harmless(key: str, value: Any) -> None:
    try:
        facts = check_certificate({**FIELDS, key: value}, CERTIFICATE)
    except Invalid:
        return
    assert facts["laws_at_least"] <= facts["laws_at_most"]


def test_lift_certificates_are_refused_when_edited() -> None:
    fields = {"group": {"name": "C3"}}
    certificate = lift_group(GroupFields(name="C3").action(1)).certificate
    assert certificate is not None
    assert check_certificate(fields, certificate.to_json())["dim_lie"] == 1
    for space in ("end", "sym", "hom", "lie"):
        fewer = copy.deepcopy(certificate.to_json())
        fewer["bases"][space].pop()
        with pytest.raises(Invalid):
            check_certificate(fields, fewer)
        twice = copy.deepcopy(certificate.to_json())
        twice["bases"][space].append(twice["bases"][space][0])
        with pytest.raises(Invalid, match="dependent"):
            check_certificate(fields, twice)
        wrong = copy.deepcopy(certificate.to_json())
        wrong["bases"][space][0][0][0] = "17"
        with pytest.raises(Invalid):
            check_certificate(fields, wrong)


def test_powers() -> None:
    assert power({(0,): 1, (): 1}, 2) == {(0, 0): 1, (0,): 2, (): 1}
