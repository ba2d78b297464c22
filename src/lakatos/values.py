"""Claimed and measured values as text for people."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

__all__ = ["value_text"]

_ENTRIES_SHOWN = 6


def value_text(value: Any) -> str:
    """Return a claimed or measured value as text: exact numbers in full, floats with six digits, long tuples cut."""
    if isinstance(value, bool) or value is None:
        return {True: "true", False: "false", None: "none"}[value]
    if isinstance(value, (int, Fraction, str)):
        return str(value)
    if isinstance(value, float):
        return f"{value:.6g}"
    shown = [value_text(item) for item in value[:_ENTRIES_SHOWN]]
    return "(" + ", ".join([*shown, *(["…"] if len(value) > len(shown) else [])]) + ")"
