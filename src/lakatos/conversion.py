"""Plain data into the fields of an instance class and back.

The annotations of the instance class, a frozen dataclass, say what is valid: ``bool``, ``int``, ``str``, ``Fraction``,
``float``, string enumerations, ``Literal``, ``Array``, unions with each other and None, tuples, mappings with text keys,
nested dataclasses. Settings of experiments have floats; instances of theorems have none, since their numbers are exact.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
import re
import reprlib
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union

import numpy as np

from .arrays import Array, ArrayFolder, array_of_lists, array_of_numpy, nearest
from .core import InputError, InternalError
from .exact import exact

__all__ = ["Decimal", "build_instance", "plain_fields", "short_text"]

T = TypeVar("T")
FieldPath: TypeAlias = "tuple[str | int, ...]"


class Decimal(str):
    """A decimal as it is written in a TOML file; which field it belongs to is not known when it is read."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def build_instance(instance_class: type[T], fields: Mapping[str, Any], folder: Path | ArrayFolder | None = None) -> T:
    """Return the instance of `instance_class` with these fields.

    Parameters
    ----------
    instance_class : type
        A dataclass.
    fields : mapping
        Plain data: what TOML and JSON hold, and also Fractions, floats (their exact value), tuples and NumPy arrays.
    folder : Path or ArrayFolder, optional
        Where arrays given as ``{"file": …, "key": …}`` are read; without it they are refused.

    Raises
    ------
    InputError
        Naming the field by its path, such as ``balance.h`` or ``edges[2][0]``.

    Examples
    --------
    >>> from lakatos.graphs.fields import NetworkFields
    >>> build_instance(NetworkFields, {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": "1/2"}}).balance
    {'v': Fraction(1, 2)}
    """
    arrays = folder if isinstance(folder, ArrayFolder) else ArrayFolder(folder)
    return _record(fields, instance_class, (), arrays)


def plain_fields(instance: Any) -> dict[str, Any]:
    """Return the fields of `instance` as JSON data, exact numbers as strings, from which `build_instance` makes an equal one.

    Fields that are None, if that is their default, are left out.

    Examples
    --------
    >>> from lakatos.graphs.fields import LayeredFields
    >>> plain_fields(LayeredFields(widths=(1, 1, 1), balance=((Fraction(1, 2),),)))
    {'widths': [1, 1, 1], 'balance': [['1/2']], 'bias': False}
    """
    values = ((f, getattr(instance, f.name)) for f in dataclasses.fields(instance) if f.init)
    return {f.name: _plain(value) for f, value in values if value is not None or f.default is not None}


@dataclass(frozen=True)
class _ArrayReference:
    """An array in another file."""

    file: str
    key: str


class _Shown(reprlib.Repr):
    """Short texts of values that may be huge."""

    def __init__(self) -> None:
        super().__init__()
        self.maxstring = self.maxother = 60
        self.maxlevel, self.maxlist, self.maxtuple, self.maxdict = 2, 4, 4, 4

    def repr_int(self, x: int, level: int) -> str:
        # Python refuses to write integers of more than 4300 digits.
        return repr(x) if x.bit_length() <= 256 else f"<an integer of {x.bit_length()} bits>"


_SHOWN = _Shown()


def short_text(value: Any) -> str:
    """Return `value` as it is shown in messages, in a few words however large it is."""
    return _SHOWN.repr(value)


class _FieldError(InputError):
    """A value does not fit its field, found `depth` levels below the top."""

    def __init__(self, message: str, depth: int) -> None:
        super().__init__(message)
        self.depth = depth


def _misfit(value: Any, hint: Any, path: FieldPath, note: str = "") -> _FieldError:
    need = f"; {note}" if note else ""
    return _FieldError(f"{_dotted(path)}={short_text(value)}: {_described(hint)} is needed{need}", len(path))


def _record(value: Any, cls: type[T], path: FieldPath, arrays: ArrayFolder) -> T:
    if isinstance(value, cls):
        return value
    if not isinstance(value, Mapping):
        raise _misfit(value, cls, path)
    hints = typing.get_type_hints(cls)
    fields = {f.name: f for f in dataclasses.fields(typing.cast(Any, cls)) if f.init}
    for key in value:
        if key not in fields:
            raise _FieldError(f"{_dotted((*path, key))}: unknown; {nearest(str(key), fields)}", len(path) + 1)
    for name, f in fields.items():
        is_required = f.default is dataclasses.MISSING and f.default_factory is dataclasses.MISSING
        if is_required and name not in value:
            raise _FieldError(f"{_dotted((*path, name))}: missing; {_described(hints[name])} is needed", len(path) + 1)
    converted = {key: _converted(item, hints[key], (*path, key), arrays) for key, item in value.items()}
    try:
        return cls(**converted)
    except InputError as error:  # of the class itself, whose messages start with its own field
        raise _FieldError(f"{_dotted(path)}.{error}" if path else str(error), len(path) + 1) from None


def _converted(value: Any, hint: Any, path: FieldPath, arrays: ArrayFolder) -> Any:
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return value
    if hint is Array:
        return _array(value, path, arrays)
    if origin in (Union, UnionType):
        return _alternative(value, hint, path, arrays)
    if origin is Literal:
        if any(value == arg and type(value) is type(arg) for arg in args):
            return value
        raise _misfit(value, hint, path, nearest(value, map(str, args)) if isinstance(value, str) else "")
    if origin is tuple:
        return _tuple(value, hint, path, arrays)
    if origin is not None and issubclass(origin, Mapping):
        return _mapping(value, hint, path, arrays)
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        return _record(value, hint, path, arrays)
    if hint is Fraction:
        return _fraction(value, path)
    if hint is float:
        return _float(value, path)
    if hint in _SCALARS:
        if _SCALARS[hint](value):
            return operator.index(value) if hint is int else value
        raise _misfit(value, hint, path)
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        if isinstance(value, str) and value in list(hint):
            return hint(value)
        raise _misfit(value, hint, path, nearest(value, hint) if isinstance(value, str) else "")
    raise InternalError(f"{_dotted(path)}: instance classes cannot have fields of type {hint!r}")


_SCALARS: dict[Any, Callable[[Any], bool]] = {
    NoneType: lambda value: value is None,
    bool: lambda value: isinstance(value, bool),
    int: lambda value: isinstance(value, (int, np.integer)) and not isinstance(value, bool),
    str: lambda value: isinstance(value, str) and not isinstance(value, Decimal),
}


def _fraction(value: Any, path: FieldPath) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Fraction, np.integer, np.floating)):
        raise _misfit(value, Fraction, path)
    try:
        return exact(value, _dotted(path))
    except InputError as error:
        raise _FieldError(str(error), len(path)) from None


def _float(value: Any, path: FieldPath) -> float:
    try:
        return float(_fraction(value, path))
    except OverflowError:
        raise _misfit(value, float, path, "beyond the range of floats") from None


def _array(value: Any, path: FieldPath, arrays: ArrayFolder) -> Array:
    if isinstance(value, Array):
        return value
    if isinstance(value, Mapping):
        reference = _record(value, _ArrayReference, path, arrays)
        return arrays.read(reference.file, reference.key, _dotted(path))
    if isinstance(value, (list, tuple)):
        return array_of_lists(value, _dotted(path))
    if hasattr(value, "__array__"):
        return array_of_numpy(np.asarray(value), _dotted(path))
    raise _misfit(value, Array, path)


def _alternative(value: Any, hint: Any, path: FieldPath, arrays: ArrayFolder) -> Any:
    """Return `value` as the first alternative that it fits."""
    errors: list[_FieldError] = []
    for alternative in typing.get_args(hint):
        try:
            return _converted(value, alternative, path, arrays)
        except _FieldError as error:
            errors.append(error)
    # The alternative that fits furthest down is the one that was meant, if there is only one.
    deepest = max(error.depth for error in errors)
    closest = [error for error in errors if error.depth == deepest]
    if len(closest) == 1 or deepest > len(path):
        raise closest[0]
    raise _misfit(value, hint, path)


def _tuple(value: Any, hint: Any, path: FieldPath, arrays: ArrayFolder) -> tuple[Any, ...]:
    args = typing.get_args(hint)
    if isinstance(value, Mapping) and hint in _EXACT_ROWS and "file" in value:
        return tuple(_exact_rows(value, hint, path, arrays))
    if not isinstance(value, (list, tuple)):
        raise _misfit(value, hint, path)
    if len(args) == 2 and args[1] is Ellipsis:
        args = (args[0],) * len(value)
    if len(args) != len(value):
        raise _misfit(value, hint, path)
    pairs = enumerate(zip(value, args, strict=True))
    return tuple(_converted(item, arg, (*path, i), arrays) for i, (item, arg) in pairs)


_EXACT_ROWS: dict[Any, int] = {tuple[Fraction, ...]: 1, tuple[tuple[Fraction, ...], ...]: 2}
"""Fields of exact numbers that may be an array in another file, and their number of axes."""

_MOST_EXACT = 1 << 20  # entries; each is a Python object


def _exact_rows(value: Any, hint: Any, path: FieldPath, arrays: ArrayFolder) -> Any:
    """Return the exact dyadic numbers of an array in another file as (nested) tuples."""
    array = _array(value, path, arrays)
    if len(array.shape) != _EXACT_ROWS[hint] or len(array.entries) > _MOST_EXACT:
        need = (
            f"{_EXACT_ROWS[hint]} axes and at most {_MOST_EXACT} entries are needed; the array has shape {array.shape}"
        )
        raise _misfit(value, hint, path, need)
    return array.fractions()


def _mapping(value: Any, hint: Any, path: FieldPath, arrays: ArrayFolder) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _misfit(value, hint, path)
    names = {key: str(key) for key in value if _SCALARS[str](key) or _SCALARS[int](key)}
    if len(set(names.values())) < len(value):
        raise _misfit(value, hint, path, "keys are distinct texts or integers")
    item_hint = typing.get_args(hint)[1]
    return {names[key]: _converted(item, item_hint, (*path, names[key]), arrays) for key, item in value.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, StrEnum):
        return value.value
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, (Fraction, float)):
        return str(exact(value, "value"))
    if isinstance(value, Array):
        return _plain(value.fractions())
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return plain_fields(value)


def _dotted(path: FieldPath) -> str:
    """Return the path as it is written in messages; names that TOML would quote are quoted."""
    parts = (
        f"[{part}]"
        if isinstance(part, int)
        else f".{part if re.fullmatch('[A-Za-z0-9_-]+', part) else short_text(part)}"
        for part in path
    )
    return "".join(parts).removeprefix(".")


_DESCRIPTIONS: dict[Any, str] = {
    NoneType: "nothing",
    bool: "true or false",
    int: "an integer",
    str: "a text",
    Fraction: "a number (an integer, a decimal or a string 'p/q')",
    float: "a number (an integer, a decimal or a string 'p/q')",
    Array: "an array (nested lists of numbers, or { file = …, key = … })",
    Any: "a value",
}


@functools.cache
def _described(hint: Any) -> str:
    """Return in words what fits `hint`."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in _DESCRIPTIONS:
        return _DESCRIPTIONS[hint]
    if origin in (Union, UnionType):
        return " or ".join(_described(arg) for arg in args if arg is not NoneType)
    if origin is Literal:
        return "one of " + ", ".join(map(repr, args))
    if origin is tuple:
        entries = args[:1] if args[-1] is Ellipsis else args
        return f"a list [{', '.join(map(_described, entries))}{', …' if args[-1] is Ellipsis else ''}]"
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return "one of " + ", ".join(repr(member.value) for member in hint)
    if dataclasses.is_dataclass(hint):
        return "a table with the keys " + ", ".join(f.name for f in dataclasses.fields(hint) if f.init)
    return "a table of name = value"
