"""One operation of a traced module, with its tensors replaced by the units of their entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import torch
from torch._ops import OpOverload

from ..core import InputError
from ..graphs.network import IntArray
from ..graphs.scale_rules import ones
from ..graphs.scales import ONE, ZERO, Entries, Scales, Value

__all__ = ["Call", "Rule", "is_value", "like_result", "rearranged", "values_in"]

Operator: TypeAlias = "OpOverload[..., Any]"


@dataclass(frozen=True, eq=False)
class Call:
    """An ATen operation, its arguments as units or parameter entries, and an example of its result (shape and dtype)."""

    scales: Scales
    operator: Operator
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    result: Any

    @cached_property
    def name(self) -> str:
        """The operation without overload and without the underscore of its in-place variant."""
        return str(self.operator.overloadpacket.__name__).rstrip("_")

    @cached_property
    def arguments(self) -> Mapping[str, Any]:
        """All arguments by the names of the operation's schema."""
        schema = self.operator._schema.arguments
        given = dict(zip((argument.name for argument in schema), self.args, strict=False))
        return {argument.name: argument.default_value for argument in schema} | given | dict(self.kwargs)

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def units(self, name: str) -> IntArray:
        """Return an argument as units; a number is a constant."""
        value = self[name]
        return self.scales.units_of(value) if is_value(value) else np.array(ZERO if value == 0 else ONE)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the result, or of its first part."""
        first = self.result[0] if isinstance(self.result, (tuple, list)) else self.result
        return tuple(first.shape)

    @property
    def values(self) -> list[Value]:
        """All tensors among the arguments."""
        return values_in(self.arguments)

    def refuse(self, reason: str) -> InputError:
        """Return the error that names the place, the operation and the reason."""
        return InputError(f"{self.scales.where}: {self.operator}: {reason}")


Rule: TypeAlias = Callable[[Call], Any]


def is_value(item: Any) -> bool:
    """Return whether an argument is a tensor, as units or entries."""
    return isinstance(item, (np.ndarray, Entries))


def values_in(items: Any) -> list[Value]:
    """Return the tensors in nested sequences and mappings."""
    if isinstance(items, Mapping):
        items = list(items.values())
    if isinstance(items, (list, tuple)):
        return [value for item in items for value in values_in(item)]
    return [items] if is_value(items) else []


def like_result(example: Any) -> Any:
    """Return constants in the place of the tensors of a result."""
    if isinstance(example, torch.Tensor):
        return ones(example.shape)
    return tuple(map(like_result, example)) if isinstance(example, (tuple, list)) else example


def rearranged(call: Call, **replaced: Any) -> Any:
    """Return the units of an operation that moves entries around, found by running it on the units themselves."""
    values = call.values
    entries = values[0] if len(values) == 1 and isinstance(values[0], Entries) else None

    def as_tensor(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return type(item)(map(as_tensor, item))
        if not is_value(item):
            return item
        numbers = item.index if isinstance(item, Entries) and item is entries else call.scales.units_of(item)
        # Not all operations know integers; doubles hold unit numbers exactly.
        return torch.tensor(numbers, dtype=torch.float64)

    def as_value(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return tuple(map(as_value, item))
        numbers = item.numpy().astype(np.int64)
        return numbers if entries is None else Entries(entries.parameter, numbers)

    arguments = {name: as_tensor(replaced.get(name, item)) for name, item in call.arguments.items()}
    return as_value(call.operator(**arguments))
