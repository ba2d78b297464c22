"""Instances as the text of an instance file, which `lakatos.instance.read_instance` reads back."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from fractions import Fraction
from typing import Any

from .arrays import Array
from .core import InternalError, Outcome

__all__ = ["instance_text", "short_fields"]

_WIDEST = 120


def instance_text(
    theorem: str,
    instance: Any,
    *,
    variant: str | None = None,
    title: str = "",
    expect: Outcome | None = None,
    seed: int = 0,
) -> str:
    """Return the TOML of an instance file; what is left out has its default.

    Examples
    --------
    >>> from lakatos.graphs.fields import NetworkFields
    >>> instance = NetworkFields(edges=(("x", "v"), ("v", "y")), balance={"v": -1})
    >>> print(instance_text("invariant_set_nonempty_iff_closed_sums_have_sign", instance, expect=Outcome.PROVED), end="")
    theorem = "invariant_set_nonempty_iff_closed_sums_have_sign"
    expect = "proved"
    <BLANKLINE>
    [instance]
    edges = [["x", "v"], ["v", "y"]]
    balance = { v = -1 }
    """
    top = {
        "theorem": theorem,
        "variant": variant,
        "title": title or None,
        "expect": None if expect is None else expect.value,
        "seed": seed or None,
    }
    lines = [*_lines({key: value for key, value in top.items() if value is not None}), "", "[instance]"]
    return "\n".join([*lines, *_lines(short_fields(instance))]) + "\n"


def short_fields(instance: Any) -> dict[str, Any]:
    """Return the fields of `instance` as plain data, without those that have their default; whole numbers are integers.

    Examples
    --------
    >>> from lakatos.graphs.fields import LayeredFields
    >>> short_fields(LayeredFields(widths=(1, 1, 1), balance=((2,),)))
    {'widths': [1, 1, 1], 'balance': [[2]]}
    """
    given = ((f, getattr(instance, f.name)) for f in dataclasses.fields(instance) if f.init)
    return {f.name: _plain(value) for f, value in given if not _is_default(f, value)}


def _is_default(f: dataclasses.Field[Any], value: Any) -> bool:
    default = f.default if f.default_factory is dataclasses.MISSING else f.default_factory()
    return bool(value == default)


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else str(value)
    if isinstance(value, Array):
        return _plain(value.fractions())
    if isinstance(value, tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    return short_fields(value) if dataclasses.is_dataclass(value) else value


def _lines(table: Mapping[str, Any]) -> Iterator[str]:
    for key, value in table.items():
        line = f"{_key(key)} = {_value(value)}"
        if len(line) <= _WIDEST or not isinstance(value, list):
            yield line
        else:
            yield f"{_key(key)} = ["
            yield from (f"    {_value(entry)}," for entry in value)
            yield "]"


def _value(value: Any) -> str:
    """Return `value` on one line: TOML 1.0 has no line breaks in inline tables."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        entries = ", ".join(f"{_key(key)} = {_value(entry)}" for key, entry in value.items())
        return f"{{ {entries} }}" if entries else "{}"
    raise InternalError(f"{value!r} has no place in an instance file: TOML knows nothing like it")


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but for the one control character that JSON leaves as it is.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
