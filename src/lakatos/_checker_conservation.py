"""Certificates of kind ``conservation_identity`` (standard library only, integers only)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, TypeAlias

from lakatos._checker_degrees import topological_order
from lakatos._checker_network import Subject, read_subject
from lakatos._checker_reading import Invalid, record, show
from lakatos._checker_sets import Fact

__all__ = ["Monomial", "annihilated", "check_conservation"]

_TERM_LIMIT = 20_000
_TOTAL_LIMIT = 200_000
_LARGEST_DEGREE = 16

Monomial: TypeAlias = tuple[tuple[int, int], ...]
"""The weights that occur with their exponents, increasing."""


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
    sent: dict[int, set[Monomial]] = {}
    terms = 0
    for v in (v for v in order if matters[v]):
        received: set[Monomial] = set()
        for e in subject.entering[v]:
            received |= _products({((e, 1),)}, sent[subject.tail[e]])
        sent[v] = {()}
        if subject.hidden[v]:
            for _ in range(degree):
                sent[v] = _products(sent[v], received)
        elif not all(annihilated(monomial, subject, degree) for monomial in received):
            raise Invalid(f"the law of degree {degree} fails at {show(subject.names[v])}")
        terms += len(received) + len(sent[v])
        if terms > _TOTAL_LIMIT:
            raise Invalid(f"the expansion has more than {_TOTAL_LIMIT} terms in all: not checked")
    hidden_names = (label for label, hidden in zip(subject.names, subject.hidden, strict=True) if hidden)
    return {"degree": degree, **{f"residual[{label}]": Fraction(0) for label in hidden_names}}


def annihilated(monomial: Monomial, subject: Subject, degree: int) -> bool:
    """Return whether the operators of all hidden nodes multiply this monomial by 0."""
    factor: dict[int, int] = defaultdict(int)
    for e, exponent in monomial:
        factor[subject.head[e]] += exponent
        factor[subject.tail[e]] -= degree * exponent
    return not any(value != 0 and subject.hidden[v] for v, value in factor.items())


def _products(left: set[Monomial], right: set[Monomial]) -> set[Monomial]:
    if len(left) * len(right) > _TERM_LIMIT:
        raise Invalid(f"the expansion has a polynomial of more than {_TERM_LIMIT} terms: not checked")
    products: set[Monomial] = set()
    for a in left:
        for b in right:
            exponents = dict(a)
            for e, exponent in b:
                exponents[e] = exponents.get(e, 0) + exponent
            products.add(tuple(sorted(exponents.items())))
    return products
