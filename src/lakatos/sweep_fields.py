"""Fields of settings or instances one by one: their types, their canonical text, and values put into nested ones."""

from __future__ import annotations

import copy
import dataclasses
import json
import typing
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from .arrays import ArrayFolder, nearest
from .conversion import build_instance, plain_fields, short_text
from .core import InputError

__all__ = ["FieldSet", "canonical", "with_value"]


class FieldSet:
    """The fields of a dataclass, each converted on its own, without what the class demands of all of them together."""

    def __init__(self, cls: type[Any], arrays: ArrayFolder) -> None:
        self.cls = cls
        self._arrays = arrays
        self._fields = {f.name: f for f in dataclasses.fields(cls) if f.init}
        self._hints = typing.get_type_hints(cls)
        self._alone: dict[str, Any] = {}

    def require(self, name: str, where: str) -> None:
        """Raise InputError unless there is a field `name`."""
        if name not in self._fields:
            raise InputError(f"{where}{short_text(name)}: unknown; {nearest(name, self._fields)}")

    def plain(self, name: str, value: Any, where: str) -> Any:
        """Return `value` of the field `name` as JSON data with exact numbers; None if it is left out.

        Raises
        ------
        InputError
            Starting with `where`, if there is no such field or the value does not fit it.
        """
        self.require(name, where)
        if name not in self._alone:
            self._alone[name] = dataclasses.make_dataclass("Alone", [(name, self._hints[name])], frozen=True)
        try:
            return plain_fields(build_instance(self._alone[name], {name: value}, self._arrays)).get(name)
        except InputError as error:
            raise InputError(f"{where}{error}") from None

    def complete(self, given: Mapping[str, Any], later: frozenset[str], where: str) -> dict[str, Any]:
        """Return all fields as plain data: those `given`, and defaults; those in `later` may be missing.

        Raises
        ------
        InputError
            As `plain`, and if a field is missing that has no default.
        """
        for name in given:
            self.require(name, where)
        complete = {}
        for name, f in self._fields.items():
            if name in given:
                value = given[name]
            elif f.default is not dataclasses.MISSING:
                value = f.default
            elif f.default_factory is not dataclasses.MISSING:
                value = f.default_factory()
            elif name in later:
                continue
            else:
                raise InputError(f"{where}{name}: missing, and no axis of the grid gives it")
            complete[name] = self.plain(name, value, where)
        return complete

    def is_number(self, name: str) -> bool:
        """Whether texts in the plain form of this field are numbers."""
        return self._hints[name] in (float, Fraction, float | None, Fraction | None)


def canonical(value: Any) -> str:
    """Return plain data as text: equal data have equal texts."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def with_value(data: Any, path: Sequence[str], value: Any, where: str) -> Any:
    """Return a copy of `data` with `value` at `path`: keys of tables and positions in lists.

    Raises
    ------
    InputError
        Starting with `where`, if the path leads through something else, or beyond the end of a list.

    Examples
    --------
    >>> with_value({"h": [1, 2]}, ["h", "1"], 3, "grid.balance.h.1")
    {'h': [1, 3]}
    """
    if not path:
        return value
    head, rest = path[0], path[1:]
    changed = copy.copy(data)
    if isinstance(data, dict):
        changed[head] = with_value(data.get(head, {} if rest else None), rest, value, where)
    elif isinstance(data, list) and head.isdecimal() and int(head) < len(data):
        changed[int(head)] = with_value(data[int(head)], rest, value, where)
    else:
        raise InputError(f"{where}: {head!r} is neither a key of a table nor a position in a list here")
    return changed
