"""Certificates of kind ``conservation_identity`` (standard library only, integers only)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_degrees import topological_order
from lakatos._checker_network import read_subject
from lakatos._checker_reading import Invalid, record, show
from lakatos._checker_sets import Fact

__all__ = ["check_conservation"]

_TERM_LIMIT = 20_000
_TOTAL_LIMIT = 200_000
_LARGEST_DEGREE = 16

# A monomial is its exponents: (edge, exponent) for the weights that occur, by edge.
_Monomials: TypeAlias = set[tuple[tuple[int, int], ...]]


def check_conservation(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Each output is a polynomial; the operator of the law of v multiplies each of its monomials by a number, which is 0.

    That number is (exponents of weights into v) - degree * (exponents of weights out of v). All coefficients are positive, so
    nothing cancels and it suffices to know which exponents of the weights occur; symbols of inputs and slopes are left out,
    since monomials that differ in these alone pass or fail together. A terminal sends on a symbol of its own, and what it
    receives is treated like an output: if all of that is annihilated, so is any function of it, by the chain rule. A hidden
    node without incoming edges has value 0, and one from which no terminal is reached occurs in no polynomial.
    """
    subject = read_subject(fields)
    degree = record(certificate, "certificate", frozenset({"kind", "degree"}))["degree"]
    if type(degree) is not int or not 1 <= degree <= _LARGEST_DEGREE:
        raise Invalid(f"degree={show(degree)}: an integer from 1 to {_LARGEST_DEGREE} is needed")
    order = topological_order(subject)
    matters = [not hidden for hidden in subject.hidden]
    for v in reversed(order):
        matters[v] = matters[v] or any(matters[subject.head[e]] for e in subject.leaving[v])
    sent: dict[int, _Monomials] = {}
    terms = 0
    for v in (v for v in order if matters[v]):
        received: _Monomials = set()
        for e in subject.entering[v]:
            received |= _products({((e, 1),)}, sent[subject.tail[e]])
        sent[v] = {()}
        if subject.hidden[v]:
            for _ in range(degree):
                sent[v] = _products(sent[v], received)
        else:
            for monomial in received:
                _check_monomial(monomial, subject.tail, subject.head, subject.hidden, degree)
        terms += len(received) + len(sent[v])
        if terms > _TOTAL_LIMIT:
            raise Invalid(f"the expansion has more than {_TOTAL_LIMIT} terms in all: not checked")
    hidden_names = (label for label, hidden in zip(subject.names, subject.hidden, strict=True) if hidden)
    return {"degree": degree, **{f"residual[{label}]": Fraction(0) for label in hidden_names}}


def _check_monomial(
    monomial: tuple[tuple[int, int], ...],
    tail: tuple[int, ...],
    head: tuple[int, ...],
    hidden: tuple[bool, ...],
    degree: int,
) -> None:
    factor: dict[int, int] = defaultdict(int)
    for e, exponent in monomial:
        factor[head[e]] += exponent
        factor[tail[e]] -= degree * exponent
    if any(value != 0 and hidden[v] for v, value in factor.items()):
        raise Invalid(f"the law of degree {degree} fails on the monomial with exponents {show(str(monomial))}")


def _products(left: _Monomials, right: _Monomials) -> _Monomials:
    if len(left) * len(right) > _TERM_LIMIT:
        raise Invalid(f"the expansion has a polynomial of more than {_TERM_LIMIT} terms: not checked")
    products: _Monomials = set()
    for a in left:
        for b in right:
            exponents = dict(a)
            for e, exponent in b:
                exponents[e] = exponents.get(e, 0) + exponent
            products.add(tuple(sorted(exponents.items())))
    return products
