"""Docstrings for reStructuredText: bars, stars and indices of formulas are no markup."""

from __future__ import annotations

import re
from typing import Any

__all__ = ["escape_docstring", "escaped"]

_CODE = re.compile(r"(``.+?``|`[^`]+`)")
_MARKUP = re.compile(r"(?<!\\)([|*]|(?<=\w)_(?!\w)|(?<=\w)_(?=\W|$))")
_FIELD = re.compile(r"\*{0,2}[\w, *]+( : .*)?$")


def escaped(lines: list[str]) -> list[str]:
    """Return the lines of a docstring with ``|``, ``*`` and trailing ``_`` escaped outside code, examples and tables.

    Examples
    --------
    >>> escaped(["The sum of |x| and W_* x.", "", ">>> a * b", "|x|"])
    ['The sum of \\\\|x\\\\| and W\\\\_\\\\* x.', '', '>>> a * b', '|x|']
    """
    shown, is_example, literal_until = [], False, -1
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip())
        if not line.strip():
            is_example = False
        elif line.lstrip().startswith(">>>"):
            is_example = True
        elif literal_until >= 0 and indent <= literal_until:
            literal_until = -1
        is_header = i + 1 < len(lines) and _is_rule(lines[i + 1])
        if is_example or literal_until >= 0 or is_header or _is_rule(line) or _is_parameter(lines, i):
            shown.append(line)
        else:
            bullet = "* " if line.lstrip().startswith("* ") else ""
            head = line[:indent] + bullet
            parts = _CODE.split(line[len(head) :])
            text = (part if k % 2 else _MARKUP.sub(r"\\\1", part) for k, part in enumerate(parts))
            shown.append(head + "".join(text))
        if line.rstrip().endswith("::") and literal_until < 0:
            literal_until = indent
    return shown


def _is_rule(line: str) -> bool:
    text = line.strip()
    return len(text) > 2 and set(text) <= {"-", "=", " "}


def _is_parameter(lines: list[str], i: int) -> bool:
    """Whether a line heads an entry of a numpydoc section, which is not text: the next one is indented."""
    line, after = lines[i], lines[i + 1] if i + 1 < len(lines) else ""
    deeper = len(after) - len(after.lstrip()) > len(line) - len(line.lstrip())
    return deeper and bool(after.strip()) and _FIELD.match(line.strip()) is not None


def escape_docstring(app: Any, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Escape what Sphinx is about to read; connected to ``autodoc-process-docstring``, before napoleon."""
    lines[:] = escaped(lines)
