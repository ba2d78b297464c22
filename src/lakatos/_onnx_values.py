"""What an ONNX graph computes with: known arrays, units, parameter entries; and its nodes as calls."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from .core import InputError
from .graphs.network import IntArray
from .graphs.scales import Entries, Parameter, Scales, Value, constant

__all__ = ["Call", "Known", "Operand", "rounding_of"]

_LARGEST = 1 << 28
_ROUNDING_BFLOAT16 = 2.0**-8


@dataclass(frozen=True, eq=False)
class Known:
    """An array of the file or computed from such, e.g. a shape; `index` says which entries of the tensor `name` it holds."""

    name: str
    array: npt.NDArray[Any]
    index: IntArray
    tensor: npt.NDArray[Any]

    @classmethod
    def of(cls, name: str, array: npt.NDArray[Any]) -> Known:
        """Return the whole of a tensor."""
        return cls(name, array, np.arange(array.size).reshape(array.shape), array)


Operand: TypeAlias = "Known | Value"


@dataclass(frozen=True, eq=False)
class Call:
    """A node: its operator, operands (None where left out), attributes, and the names of its results."""

    scales: Scales
    operator: str
    operands: Sequence[Operand | None]
    attributes: Mapping[str, Any]
    results: Sequence[str]
    parameters: dict[str, Parameter]

    def has(self, k: int) -> bool:
        """Return whether operand k is given."""
        return k < len(self.operands) and self.operands[k] is not None

    def operand(self, k: int) -> Operand:
        """Return operand k, which has to be there."""
        value = self.operands[k] if k < len(self.operands) else None
        if value is None:
            raise self.refuse(f"input {k} is missing")
        return value

    def units(self, k: int) -> IntArray:
        """Return operand k as units; known numbers are constants."""
        value = self.operand(k)
        return constant(value.array) if isinstance(value, Known) else self.scales.units_of(value)

    def weight(self, k: int) -> Value:
        """Return operand k as a trained parameter if it is an array of floats in the file."""
        value = self.operand(k)
        if not isinstance(value, Known) or not _is_float(value.array.dtype):
            return self.units(k)
        if value.name not in self.parameters:
            tensor = value.tensor.astype(np.float64)
            rounding = rounding_of(value.tensor.dtype)
            self.parameters[value.name] = Parameter(value.name, tensor.shape, tensor.ravel(), rounding)
        parameter = self.parameters[value.name]
        self.scales.add_parameter(parameter)
        return Entries(parameter, value.index)

    def optional_weight(self, k: int) -> Value | None:
        """Return operand k as `weight` does, or None if it is left out."""
        return self.weight(k) if self.has(k) else None

    def numbers(self, k: int, attribute: str) -> list[int] | None:
        """Return integers that are an attribute in old versions of an operator and operand k in new ones."""
        if attribute in self.attributes:
            value = self.attributes[attribute]
            return [int(number) for number in (value if isinstance(value, Sequence) else [value])]
        return [int(number) for number in np.ravel(self.known(k))] if self.has(k) else None

    def known(self, k: int) -> npt.NDArray[Any]:
        """Return the array that operand k is, whatever the input of the model."""
        value = self.operand(k)
        if not isinstance(value, Known):
            raise self.refuse(
                f"input {k} depends on the data; only what is computed from shapes and constants can be read"
            )
        return value.array

    def number(self, k: int, attribute: str) -> float | None:
        """Return a number that is an attribute in old versions of an operator and operand k in new ones."""
        if attribute in self.attributes:
            return float(self.attributes[attribute])
        return float(np.ravel(self.known(k))[0]) if self.has(k) else None

    def moved(self, k: int, change: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Operand:
        """Return operand k with its entries moved around by `change`."""
        value = self.operand(k)
        if isinstance(value, Known):
            return replace(value, array=change(value.array), index=change(value.index))
        return Entries(value.parameter, change(value.index)) if isinstance(value, Entries) else change(value)

    def shape(self, k: int) -> tuple[int, ...]:
        """Return the shape of operand k."""
        value = self.operand(k)
        return (value.array if isinstance(value, Known) else value.index if isinstance(value, Entries) else value).shape

    def bounded(self, shape: Sequence[int]) -> tuple[int, ...]:
        """Return a shape, unless an array of it would not fit into memory."""
        if np.prod(shape, dtype=np.float64) > _LARGEST:
            raise self.refuse(f"a result of shape {tuple(shape)} is too large")
        return tuple(shape)

    def refuse(self, reason: str) -> InputError:
        """Return the error that names the node, its operator and the reason."""
        return InputError(f"{self.scales.where}: {self.operator}: {reason}")


def rounding_of(dtype: np.dtype[Any]) -> float:
    """Return half a unit in the last place of a floating-point dtype."""
    return float(np.finfo(dtype).eps) / 2 if dtype.kind == "f" else _ROUNDING_BFLOAT16


def _is_float(dtype: np.dtype[Any]) -> bool:
    return dtype.kind == "f" or dtype.name == "bfloat16"
