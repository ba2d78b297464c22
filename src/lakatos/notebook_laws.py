"""How counts of conservation laws show themselves in notebooks: as HTML, and the laws as LaTeX."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from .markup import Html, details, element, join, table

if TYPE_CHECKING:
    from ._checker_polynomials import Monomial, Number
    from .laws import LawsAnswer

__all__ = ["count_text", "laws_html", "laws_latex"]

_SHOWN = 12
_LONGEST = 40  # terms of a formula in LaTeX
_SPECIAL = re.compile(r"([\\{}$&#_%^~])")
_NAME = re.compile(r"(.*?)\[([0-9,]+)\]")


def count_text(answer: LawsAnswer) -> tuple[str, str]:
    """Return the number of laws, or the numbers between which it lies, and how far it is established.

    Examples
    --------
    >>> from lakatos import laws_of
    >>> count_text(laws_of("relu:1,2,2"))
    ('2', 'certified')
    """
    status = "certified" if answer.certified else "exact bounds" if answer.exact else "numeric"
    count = str(answer.laws) if answer.certified or not answer.exact else f"{answer.at_least} to {answer.laws}"
    return count, status


def laws_html(answer: LawsAnswer) -> str:
    """Return the count, the classical laws as matrices, and the formulas, those of a symmetry first."""
    count, status = count_text(answer)
    head = join([element("strong", f"{count} independent laws"), f" among {answer.parameters} parameters ({status})"])
    parts = [element("p", head)]
    if answer.group is not None:
        new = answer.laws - answer.plain_laws
        at_most = "" if answer.certified or not answer.exact else "at most "
        parts.append(element("p", f"{answer.plain_laws} of all data, {at_most}{new} new under {answer.group}"))
    parts.append(element("p", f"Loss: {answer.loss}. {answer.how[:1].upper()}{answer.how[1:]}."))
    if answer.tensors:
        parts.append(
            element("p", join([Html("Classical: "), join((element("code", t) for t in answer.tensors), "; ")]))
        )
    rows = [(formula, "new") for formula in answer.new]
    rows += [(formula, "") for formula in answer.formulas if formula not in answer.new]
    if rows:
        shown = [(element("code", formula), kind) for formula, kind in rows[:_SHOWN]]
        listed = table(("law", "under the symmetry alone"), shown, label="conservation laws")
        parts.append(details(f"{len(rows)} formulas", listed, is_open=True))
        if len(rows) > _SHOWN:
            parts.append(element("p", f"{len(rows) - _SHOWN} more: .formulas"))
    return Html(element("div", join(parts, "\n")))


def laws_latex(answer: LawsAnswer) -> str | None:
    """Return the laws, one line each, those of a symmetry last; None if no formula is known."""
    laws = (*answer.classical, *answer.of_loss, *answer.added)
    if not laws or not answer.names:
        return None
    lines = [_fraction(p, q, answer.names) for p, q in laws[:_SHOWN] if len(p) + len(q) <= _LONGEST]
    if len(lines) < len(laws):
        lines.append(rf"\text{{and {len(laws) - len(lines)} more}}")
    body = " \\\\\n".join(f"& {line}" for line in lines)
    return f"$$\n\\begin{{aligned}}\n{body}\n\\end{{aligned}}\n$$"


def _fraction(p: Mapping[Monomial, Number], q: Mapping[Monomial, Number], names: tuple[str, ...]) -> str:
    numerator, denominator = _sum(p, names), _sum(q, names)
    return numerator if denominator == "1" else rf"\frac{{{numerator}}}{{{denominator}}}"


def _sum(p: Mapping[Monomial, Number], names: tuple[str, ...]) -> str:
    written = ""
    for monomial in sorted(p, key=lambda m: (len(m), m)):
        coefficient = p[monomial]
        size = abs(coefficient)
        factors = [
            _variable(names[i]) + (f"^{{{exponent}}}" if (exponent := monomial.count(i)) > 1 else "")
            for i in sorted(set(monomial))
        ]
        if size != 1 or not factors:
            numerator, _, denominator = str(size).partition("/")
            factors.insert(0, rf"\tfrac{{{numerator}}}{{{denominator}}}" if denominator else numerator)
        sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
        written += sign + r"\,".join(factors)
    return written or "0"


def _variable(name: str) -> str:
    """``W1[0,2]`` as W1 with indices; names that are no single letter with a number stand upright."""
    match = _NAME.fullmatch(name)
    base, index = (match[1], match[2]) if match else (name, "")
    shown = base if re.fullmatch(r"[A-Za-z]", base) else rf"\mathrm{{{_SPECIAL.sub(_escaped, base)}}}"
    return f"{{{shown}}}_{{{index}}}" if index else f"{{{shown}}}"


def _escaped(match: re.Match[str]) -> str:
    words = {"\\": r"\backslash ", "^": r"\hat{}", "~": r"\sim "}
    return words.get(match[1], "\\" + match[1])
