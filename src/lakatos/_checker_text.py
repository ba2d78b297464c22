"""Polynomials as text, read without evaluating anything (standard library only).

::

    sum    = ["-"] term {("+" | "-") term}
    term   = factor {("*" | "/") factor}        division by integers only
    factor = atom ["^" integer]                 also "**"
    atom   = integer | name | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from lakatos._checker_architectures import Malformed
from lakatos._checker_polynomials import Polynomial, added, constant, multiplied, scaled, variable

__all__ = ["read_polynomial"]

_TOKEN = re.compile(r"\s*(?:(?P<integer>[0-9]{1,50})|(?P<name>[A-Za-z_][A-Za-z0-9_]{0,50})|(?P<sign>\*\*|[-+*/^()]))")
_LONGEST = 20_000
_DEEPEST = 50
_LARGEST_EXPONENT = 32
_MOST_MONOMIALS = 20_000


def read_polynomial(text: str, names: Sequence[str]) -> Polynomial:
    """Return the polynomial that `text` writes in the variables `names`.

    Raises
    ------
    Malformed
        If it is none, or too large.

    Examples
    --------
    >>> read_polynomial("(u - v)^2/2", ["u", "v"])
    {(0, 0): Fraction(1, 2), (0, 1): Fraction(-1, 1), (1, 1): Fraction(1, 2)}
    """
    if len(text) > _LONGEST:
        raise Malformed(f"a polynomial of {len(text)} characters; at most {_LONGEST} are read")
    reader = _Reader(text, names)
    result = reader.sum(0)
    if reader.peek():
        raise reader.error("an operator or the end is needed")
    return result


class _Reader:
    def __init__(self, text: str, names: Sequence[str]) -> None:
        self.text = text
        self.variables = {name: i for i, name in enumerate(names)}
        self.tokens: list[tuple[str, str]] = []
        end = len(text.rstrip())
        at = 0
        while at < end:
            match = _TOKEN.match(text, at)
            if match is None:
                raise Malformed(f"{text[at : at + 20]!r} in {text[:60]!r} is no part of a polynomial")
            kind = match.lastgroup or ""
            self.tokens.append((kind, match[kind]))
            at = match.end()
        self.at = 0

    def error(self, need: str) -> Malformed:
        found = repr(self.tokens[self.at][1]) if self.at < len(self.tokens) else "the end"
        return Malformed(f"{self.text[:60]!r}: {need}, but there is {found}")

    def peek(self) -> str:
        return self.tokens[self.at][1] if self.at < len(self.tokens) else ""

    def take(self, *signs: str) -> str:
        """Return the next token and go on, if it is one of `signs`; otherwise the empty string."""
        if self.at < len(self.tokens) and self.tokens[self.at][0] == "sign" and self.peek() in signs:
            self.at += 1
            return self.tokens[self.at - 1][1]
        return ""

    def sum(self, depth: int) -> Polynomial:
        if depth > _DEEPEST:
            raise Malformed(f"{self.text[:60]!r}: more than {_DEEPEST} parentheses inside each other")
        sign = self.take("-")
        terms = [scaled(self.term(depth), -1 if sign else 1)]
        while sign := self.take("+", "-"):
            terms.append(scaled(self.term(depth), -1 if sign == "-" else 1))
        return added(*terms)

    def term(self, depth: int) -> Polynomial:
        result = self.factor(depth)
        while sign := self.take("*", "/"):
            if sign == "/":
                kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
                if kind != "integer" or int(token) == 0:
                    raise self.error("a non-zero integer is needed after '/'")
                self.at += 1
                result = scaled(result, Fraction(1, int(token)))
            else:
                result = self.bounded(result, self.factor(depth))
        return result

    def factor(self, depth: int) -> Polynomial:
        base = self.atom(depth)
        if not self.take("^", "**"):
            return base
        kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        if kind != "integer" or int(token) > _LARGEST_EXPONENT:
            raise self.error(f"an exponent from 0 to {_LARGEST_EXPONENT} is needed")
        self.at += 1
        result = constant(1)
        for _ in range(int(token)):
            result = self.bounded(result, base)
        return result

    def atom(self, depth: int) -> Polynomial:
        if self.take("("):
            result = self.sum(depth + 1)
            if not self.take(")"):
                raise self.error("')' is needed")
            return result
        kind, token = self.tokens[self.at] if self.at < len(self.tokens) else ("", "")
        self.at += 1
        if kind == "integer":
            return constant(int(token))
        if kind == "name" and token in self.variables:
            return variable(self.variables[token])
        self.at -= 1
        known = ", ".join(list(self.variables)[:12])
        raise self.error(f"a number, '(' or a parameter ({known}) is needed")

    def bounded(self, p: Polynomial, q: Polynomial) -> Polynomial:
        if len(p) * len(q) > _MOST_MONOMIALS:
            raise Malformed(f"{self.text[:60]!r}: expands to more than {_MOST_MONOMIALS} monomials")
        return multiplied(p, q)
