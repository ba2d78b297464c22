"""What a sweep sweeps: an experiment with settings, or a theorem with an instance, whose fields the grid changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from typing import Any

from .sweep_fields import FieldSet, canonical, with_value
from .sweep_task import JobKind

__all__ = ["Axes", "Subject"]

Axes = Sequence[Sequence[Mapping[str, Any]]]
"""For each axis its choices: what each gives to fields, by dotted path."""


@dataclass(frozen=True, eq=False)
class Subject:
    """An experiment or a theorem, with the fields that every cell has and those that the axes give.

    Parameters
    ----------
    kind, name, variant : str
        What is run.
    fieldset : FieldSet
        Of its settings or its instance class.
    base : dict
        Fields as plain data, before the axes change any.
    axes : sequence
        The axes of the grid.
    code : str
        Version of the code behind it.
    varying, batch : tuple of str, int
        As in `lakatos.numerics.registry.Experiment`.
    file, expect : str or None
        Of an instance file.

    Raises
    ------
    InputError
        If an axis changes no field of this subject, or gives it a value that does not fit.
    """

    kind: JobKind
    name: str
    fieldset: FieldSet
    base: Mapping[str, Any]
    axes: Axes
    code: str
    variant: str | None = None
    varying: tuple[str, ...] = ()
    batch: int = 1
    file: str | None = None
    expect: str | None = None

    def __post_init__(self) -> None:
        assert self._tables is not None  # made at once, so that bad values are told before anything runs

    @cached_property
    def _tables(self) -> tuple[_Table, ...]:
        touching: dict[str, list[int]] = {}
        for a, choices in enumerate(self.axes):
            for path in dict.fromkeys(path for choice in choices for path in choice):
                members = touching.setdefault(path.partition(".")[0], [])
                if a not in members:
                    members.append(a)
        return tuple(self._table(name, tuple(members)) for name, members in touching.items())

    def _table(self, name: str, members: tuple[int, ...]) -> _Table:
        self.fieldset.require(name, "grid.")
        plains = {}
        for indices in product(*(range(len(self.axes[a])) for a in members)):
            value = self.base.get(name)
            for a, i in zip(members, indices, strict=True):
                for path, given in self.axes[a][i].items():
                    head, *rest = path.split(".")
                    if head == name:
                        value = with_value(value, rest, given, f"grid.{path}")
            plains[indices] = self.fieldset.plain(name, value, "grid.")
        return _Table(name, members, plains)

    def separates(self, a: int) -> bool:
        """Whether cells that differ on this axis cannot be computed in one batch."""
        return not all(path in self.varying for choice in self.axes[a] for path in choice)

    def fields(self, choice: tuple[int, ...]) -> dict[str, Any]:
        """Return all fields of a cell as plain data."""
        changed = {table.name: table.plain(choice) for table in self._tables}
        return {name: value for name, value in {**self.base, **changed}.items() if value is not None}

    def text_of(self) -> Callable[[Sequence[int]], str]:
        """Return the function from a choice to the text that identifies its settings.

        The text is the same whether axes, settings or defaults give a field its value.
        """
        names = sorted({*self.base, *(table.name for table in self._tables)})
        parts = [_text(name, self.base.get(name)) for name in names]
        alone = [
            (names.index(table.name), table.axes[0], {i: text for (i,), text in table.texts.items()})
            for table in self._tables
            if len(table.axes) == 1
        ]
        joint = [(names.index(table.name), table.axes, table.texts) for table in self._tables if len(table.axes) > 1]
        head = f"{self.kind}\0{self.name}\0"

        def text(choice: Sequence[int]) -> str:  # called for up to millions of choices
            for position, axis, text_at in alone:
                parts[position] = text_at[choice[axis]]
            for position, axes, texts in joint:
                parts[position] = texts[tuple([choice[a] for a in axes])]
            return head + ",".join(parts)

        return text

    def columns(self, choice: tuple[int, ...]) -> dict[str, Any]:
        """Return the values of a cell for the result: every field of an experiment, of a theorem what the axes change."""
        fields = self.fields(choice)
        varied = [path for choices in self.axes for one in choices for path in one]
        shown = dict.fromkeys([*fields, *varied] if self.kind == "experiment" else varied)
        return {path: self._shown(path.split("."), fields) for path in shown}

    def _shown(self, path: Sequence[str], fields: Mapping[str, Any]) -> Any:
        value: Any = fields.get(path[0])
        for part in path[1:]:
            value = value[int(part)] if isinstance(value, list) else value.get(part)
        if isinstance(value, str) and (len(path) > 1 or self.fieldset.is_number(path[0])):
            try:
                return float(Fraction(value))
            except (ValueError, OverflowError):
                return value
        return json.dumps(value) if isinstance(value, (list, dict)) else value


@dataclass(frozen=True, eq=False)
class _Table:
    """One field that axes change: its values by the positions on these axes."""

    name: str
    axes: tuple[int, ...]
    plains: Mapping[tuple[int, ...], Any]

    def plain(self, choice: tuple[int, ...]) -> Any:
        return self.plains[tuple([choice[a] for a in self.axes])]

    @cached_property
    def texts(self) -> dict[tuple[int, ...], str]:
        return {indices: _text(self.name, plain) for indices, plain in self.plains.items()}


def _text(name: str, plain: Any) -> str:
    return "" if plain is None else f"{canonical(name)}:{canonical(plain)}"
