"""Fragments of HTML and MathML from plain text: everything is escaped that is not marked as `Html`.

The standard library is enough here, so that records of the vocabulary can show themselves in notebooks.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from html import escape

__all__ = [
    "Html",
    "details",
    "element",
    "heading",
    "identifier",
    "join",
    "math",
    "name",
    "number",
    "operator",
    "row",
    "squared",
    "sub",
    "table",
]


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def _safe(content: str) -> str:
    return content if isinstance(content, Html) else escape(content)


def join(parts: Iterable[str], between: str = "") -> Html:
    """Return the parts one after the other; `between` is markup."""
    return Html(between.join(map(_safe, parts)))


def element(tag: str, content: str = "", **attributes: str | int | None) -> Html:
    """Return an element; a trailing underscore in an attribute's name is dropped, others become hyphens.

    Examples
    --------
    >>> element("a", "a < b", href="#x", class_="wide", aria_label=None)
    '<a href="#x" class="wide">a &lt; b</a>'
    """
    given = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(str(value))}"'
        for name, value in attributes.items()
        if value is not None
    )
    return Html(f"<{tag}{given}>{_safe(content)}</{tag}>")


def name(text: str) -> Html:
    """Return an identifier as code that may break after its underscores and dots."""
    return element("code", Html(escape(text).replace("_", "_<wbr>").replace(".", ".<wbr>")))


def heading(level: int, content: str, *, anchor: str | None = None) -> Html:
    """Return a heading, with a name that links can lead to."""
    return element(f"h{level}", content, id=anchor)


def details(summary: str, content: str, *, is_open: bool = False) -> Html:
    """Return content that is folded away below a summary."""
    inner = join([element("summary", summary), content], "\n")
    return element("details", inner, open="" if is_open else None)


def table(
    header: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    label: str,
    numbers: Container[int] = (),
    optional: Container[int] = (),
    kind: str = "",
    row_attributes: Sequence[dict[str, str]] = (),
) -> Html:
    """Return a table that scrolls sideways within a narrow page.

    Parameters
    ----------
    label : str
        What it lists, for readers that cannot see it.
    numbers, optional : container of int
        Columns of numbers, and columns that narrow pages leave out.
    kind : str
        ``"sortable"`` adds controls for order and filter where scripts run; ``""`` does not.
    row_attributes : sequence of dict
        Of each row, e.g. what a filter goes by.
    """

    def style(i: int) -> str | None:
        return " ".join(name for name, columns in (("number", numbers), ("optional", optional)) if i in columns) or None

    def cells(tag: str, texts: Sequence[str]) -> Html:
        scope = "col" if tag == "th" else None
        return join(element(tag, text, scope=scope, class_=style(i)) for i, text in enumerate(texts))

    def attributes(i: int) -> dict[str, str]:
        return row_attributes[i] if row_attributes else {}

    head = element("thead", element("tr", cells("th", header)))
    lines = [element("tr", cells("td", cells_), **attributes(i)) for i, cells_ in enumerate(rows)]
    body = element("tbody", join(lines, "\n"))
    inner = element("table", join([head, body], "\n"), class_=kind or None)
    return element("div", inner, class_="scroll", role="region", aria_label=label, tabindex=0)


def math(*parts: str, block: bool = False) -> Html:
    """Return a formula made of MathML parts."""
    return element("math", join(parts), display="block" if block else None)


def identifier(name: str) -> Html:
    """Return a variable of a formula."""
    return element("mi", name)


def number(text: str) -> Html:
    """Return a number in a formula; ``p/q`` becomes a fraction, ``-`` a minus sign."""
    sign, digits = (operator("−"), text[1:]) if text.startswith("-") else (Html(""), text)
    numerator, slash, denominator = digits.partition("/")
    value = (
        element("mfrac", join([element("mn", numerator), element("mn", denominator)]))
        if slash
        else element("mn", digits)
    )
    return row(sign, value) if sign else value


def operator(sign: str) -> Html:
    """Return an operator or relation in a formula."""
    return element("mo", sign)


def row(*parts: str) -> Html:
    """Return parts of a formula as one."""
    return element("mrow", join(parts))


def sub(base: str, index: str) -> Html:
    """Return a base with an index."""
    return element("msub", join([base, index]))


def squared(base: str, index: str | None = None) -> Html:
    """Return the square of a base, perhaps with an index."""
    two = element("mn", "2")
    return element("msup", join([base, two])) if index is None else element("msubsup", join([base, index, two]))
