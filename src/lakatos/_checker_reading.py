"""Reading single pieces of data that may be hostile: exact numbers, names, lists and objects.

Standard library only. What cannot be read exactly is `Invalid`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

__all__ = ["Invalid", "name", "number", "record", "sequence", "show"]

_SHOWN = 60
_LONGEST = 4300  # digits; the most Python converts between text and integers unasked
_BITS = 14_284  # any integer of so many bits has at most 4300 digits
_INTEGER_OR_RATIO = re.compile(rf"[+-]?[0-9]{{1,{_LONGEST}}}(/[0-9]{{1,{_LONGEST}}})?")
# An exponent has at most 4 digits, since 1e999999999 is short to write and has a billion digits.
_DECIMAL = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]{1,4})?")


class Invalid(Exception):
    """A certificate, or what it talks about, does not check; the message says what failed where."""


def show(value: object, limit: int = _SHOWN) -> str:
    """Return `value` for a message: one line of ASCII of about `limit` characters, whatever the value is."""
    if value is None or isinstance(value, (bool, float)):
        return repr(value)
    if isinstance(value, int) and value.bit_length() <= _BITS:
        text = repr(value)
    elif isinstance(value, str):
        text = ascii(value[: limit + 1])
    elif isinstance(value, Fraction) and max(value.numerator.bit_length(), value.denominator.bit_length()) <= _BITS:
        text = str(value)
    else:
        return f"({type(value).__name__})"
    return text if len(text) <= limit else text[:limit] + "..."


def record(
    value: Any, where: str, required: frozenset[str], optional: frozenset[str] = frozenset()
) -> Mapping[str, Any]:
    """Return `value`, an object with all `required` keys and no keys besides those and the `optional` ones."""
    if not isinstance(value, Mapping):
        raise Invalid(f"{where}={show(value)}: an object is needed")
    for key in sorted(required):
        if key not in value:
            raise Invalid(f"{where}: {key} is missing")
    for key in value:
        if key not in required and key not in optional:
            raise Invalid(f"{where}: unknown key {show(key)}")
    return value


def sequence(value: Any, where: str) -> Sequence[Any]:
    """Return `value`, a list or tuple."""
    if not isinstance(value, (list, tuple)):
        raise Invalid(f"{where}={show(value)}: a list is needed")
    return value


def number(value: Any, where: str) -> Fraction:
    """Return an exact number: an integer, a `Fraction`, or text ``"p"``, ``"p/q"`` or a decimal.

    Floats are refused, since they do not tell whether 0.1 means 1/10 or the nearest binary number.
    """
    if isinstance(value, (int, Fraction)) and not isinstance(value, bool):
        if max(value.numerator.bit_length(), value.denominator.bit_length()) <= _BITS:
            return Fraction(value)
    elif isinstance(value, str) and _is_number(value):
        try:
            return Fraction(value)
        except ZeroDivisionError:
            pass
    raise Invalid(f"{where}={show(value)}: an exact number is needed (an integer, 'p/q' or a decimal as text)")


def _is_number(text: str) -> bool:
    if len(text) <= _LONGEST and _DECIMAL.fullmatch(text):
        return True
    return len(text) <= 2 * _LONGEST + 2 and _INTEGER_OR_RATIO.fullmatch(text) is not None


def name(value: Any, where: str) -> str:
    """Return a node name as text; names are text or integers."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() <= _BITS:
        return str(value)
    raise Invalid(f"{where}={show(value)}: a node name is text or an integer")
