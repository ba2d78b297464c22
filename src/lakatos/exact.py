"""Reading one exact number."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from .core import InputError

__all__ = ["exact"]

_LONGEST_NUMBER = 4000
_LARGEST_EXPONENT = 4000
_MOST_BITS = 13_000  # of numerator and denominator together, so that "p/q" is again short enough to be read


def exact(value: Any, field: str) -> Fraction:
    """Return `value` as an exact fraction; strings are ``"p/q"`` or decimals, floats their dyadic value.

    Raises
    ------
    InputError
        Naming `field`, for anything that is not a finite number.

    Examples
    --------
    >>> exact("0.1", "balance"), exact("-7/2", "balance"), exact(0.5, "weight")
    (Fraction(1, 10), Fraction(-7, 2), Fraction(1, 2))
    """
    if hasattr(value, "dtype") and getattr(value, "shape", None) == ():
        value = value.item()
    if isinstance(value, bool) or not isinstance(value, (int, float, str, Fraction)):
        raise InputError(f"{field}={value!r}: a number is needed (an integer, a decimal or a string 'p/q')")
    if isinstance(value, str):
        if len(value) > _LONGEST_NUMBER:
            raise InputError(f"{field}: a number of {len(value)} characters; at most {_LONGEST_NUMBER} are read")
        exponent = re.search(r"[eE]([+-]?\d+)$", value.strip().replace("_", ""))
        if exponent and abs(int(exponent[1])) > _LARGEST_EXPONENT:
            raise InputError(f"{field}={value!r}: exponents beyond ±{_LARGEST_EXPONENT} are not read")
    try:
        number = Fraction(value)
    except (ValueError, OverflowError, ZeroDivisionError):
        raise InputError(f"{field}={value!r}: not a finite number; write an integer, a decimal or 'p/q'") from None
    if (bits := number.numerator.bit_length() + number.denominator.bit_length()) > _MOST_BITS:
        raise InputError(f"{field}: a number of {bits} bits; at most {_MOST_BITS} are read")
    return number
