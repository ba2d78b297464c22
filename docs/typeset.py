"""Text with Unicode formulas, as it stands in docstrings, as MyST Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["code_block", "inline", "table"]

_LETTERS = "A-Za-z0-9\u00bc-\u00be\u2150-\u215e\u0370-\u03ff\u2100-\u214f\U0001d400-\U0001d7ff"
_SCRIPT = re.compile(
    rf"(?<=[^\s_^])([_^])(?:\{{([^{{}}]*)\}}|\(([^()]*)\)|([−-]?[{_LETTERS}]+|[*⊥#~+−]))",
)
_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|#$~])")
_BROKEN = re.compile(r"(?<=\w)-\n\s*(?=\w)")  # a hyphen at the end of a line
_CODE = re.compile(r"(``.+?``|`[^`]+`)", re.DOTALL)


def inline(text: str) -> str:
    """Return `text` as Markdown of one line: indices and exponents set as such, code kept, everything else escaped.

    Examples
    --------
    >>> print(inline("Σ_{i ≠ j} a_i² ≥ x^2 for `rank_of` and W*"))
    Σ{sub}`i ≠ j` a{sub}`i`² ≥ x{sup}`2` for `rank_of` and W\\*
    """
    parts = _CODE.split(" ".join(_BROKEN.sub("-", text).split()))
    return "".join(part if i % 2 else _formulas(part) for i, part in enumerate(parts))


def _formulas(text: str) -> str:
    shown, end = [], 0
    for match in _SCRIPT.finditer(text):
        role = "sub" if match[1] == "_" else "sup"
        content = match[2] or match[3] or match[4] or ""
        if role == "sub" and match[3]:
            content = (
                f"({content})"  # an index that is a cycle, as in Δ_(12); around an exponent they only hold it together
            )
        shown += [_escaped(text[end : match.start()]), f"{{{role}}}`{_flat(content)}`"]
        end = match.end()
    return "".join([*shown, _escaped(text[end:])])


def _flat(script: str) -> str:
    """Return what is inside an index: roles cannot be nested, so that its own indices stay in line."""
    return re.sub(r"[_^]", "", script).replace("*", "∗").replace("\\", "")


def _escaped(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", text)


def code_block(language: str, text: str) -> str:
    """Return a block of code, fenced by more backticks than it contains."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table of cells that are Markdown already."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(map(_cell, line)) + " |" for line in lines)


def _cell(text: str) -> str:
    """Return a cell in one line; a bar within it, in code too, would end it."""
    return re.sub(r"(?<!\\)\|", r"\|", text.replace("\n", " "))
