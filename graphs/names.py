"""Names of nodes: text, given or counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np

from ..core import InputError

__all__ = ["NumberNames", "as_name", "index_of_names", "some"]

_NAMES_SHOWN = 5


class NumberNames(Sequence[str]):
    """The names ``"0"``, ``"1"``, …, made when asked for: a network of numbered nodes stores none.

    Examples
    --------
    >>> names = NumberNames(3)
    >>> len(names), names[2], names.index("1"), "3" in names
    (3, '2', 1, False)
    """

    def __init__(self, count: int) -> None:
        self._numbers = range(count)

    def __len__(self) -> int:
        return len(self._numbers)

    @overload
    def __getitem__(self, v: int) -> str: ...
    @overload
    def __getitem__(self, v: slice) -> tuple[str, ...]: ...
    def __getitem__(self, v: int | slice) -> str | tuple[str, ...]:
        return tuple(map(str, self._numbers[v])) if isinstance(v, slice) else str(self._numbers[v])

    def __iter__(self) -> Iterator[str]:
        return map(str, self._numbers)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._number(name) is not None

    def index(self, name: str, start: int = 0, stop: int | None = None) -> int:
        """Return the number that `name` is."""
        number = self._number(name)
        if number is None or number not in range(*slice(start, stop).indices(len(self))):
            raise ValueError(f"{name!r} is not a node number below {len(self)}")
        return number

    def _number(self, name: str) -> int | None:
        number = int(name) if name.isascii() and name.isdigit() and len(name) <= len(str(len(self))) else -1
        return number if number in self._numbers and str(number) == name else None

    def __repr__(self) -> str:
        return f"NumberNames({len(self)})"


def as_name(name: Any, field: str) -> str:
    """Return a node name as text; names are strings or integers.

    Raises
    ------
    InputError
        For anything else, naming the `field`, and for text that no file can hold.
    """
    if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)):
        raise InputError(f"{field}: node name {name!r} is neither text nor an integer")
    text = str(name)
    # Half of a surrogate pair is what JSON can write and no file or screen can.
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise InputError(f"{field}: node name {name!r} holds half a character, which cannot be written; rename it")
    return text


def index_of_names(names: Sequence[str]) -> dict[str, int]:
    """Return node numbers by name.

    Raises
    ------
    InputError
        If a name occurs twice.
    """
    index = {name: v for v, name in enumerate(names)}
    if len(index) != len(names):
        twice = next(name for v, name in enumerate(names) if index[name] != v)
        raise InputError(f"names: {twice!r} occurs twice; names are distinct")
    return index


def some(names: Sequence[str]) -> str:
    """Return the first few names, and how many more there are."""
    shown = ", ".join(repr(name) for name in names[:_NAMES_SHOWN])
    return shown + (f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else "")
