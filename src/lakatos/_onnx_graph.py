"""Reading an ONNX graph node by node into scale classes. Nothing of the model is executed but arithmetic on its shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from ._onnx_rules import RULES
from ._onnx_values import Call, Known, Operand
from .core import InputError
from .graphs.scales import Parameter, Scales

__all__ = ["GraphReader"]

_FOLDED_ENTRIES = 1 << 20

# Arithmetic that models do on shapes and other constants.
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    **{"Add": np.add, "Sub": np.subtract, "Mul": np.multiply, "Neg": np.negative, "Abs": np.abs, "Pow": np.power},
    **{"Equal": np.equal, "Greater": np.greater, "Less": np.less, "GreaterOrEqual": np.greater_equal, "Mod": np.mod},
    **{
        "LessOrEqual": np.less_equal,
        "Not": np.logical_not,
        "And": np.logical_and,
        "Or": np.logical_or,
        "Xor": np.logical_xor,
    },
    **{"Floor": np.floor, "Ceil": np.ceil, "Sqrt": np.sqrt, "Max": np.maximum, "Min": np.minimum, "Where": np.where},
    **{"Reciprocal": np.reciprocal, "Exp": np.exp, "Log": np.log, "Sign": np.sign},
}


class GraphReader:
    """Values by name while a graph is read."""

    def __init__(self, scales: Scales, arrays: Callable[[Any], npt.NDArray[Any]]) -> None:
        self.scales = scales
        self.arrays = arrays
        self.parameters: dict[str, Parameter] = {}

    def run(self, graph: Any, values: Mapping[str, Operand]) -> list[Operand]:
        """Return the outputs of a graph; `values` are its inputs and what encloses it."""
        known = dict(values)
        for tensor in graph.initializer:
            known[tensor.name] = Known.of(tensor.name, self.arrays(tensor))
        if len(graph.sparse_initializer):
            raise InputError(
                f"initializer {graph.sparse_initializer[0].values.name!r}: sparse tensors are not supported"
            )
        for node in graph.node:
            self.scales.where = f"node {node.name or node.output[0]}"
            results = self._results(node, known)
            known.update(zip(node.output, results, strict=False))
        return [known[output.name] for output in graph.output]

    def _results(self, node: Any, known: Mapping[str, Operand]) -> tuple[Any, ...]:
        from onnx import TensorProto, helper

        given = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        attributes = {
            name: self.arrays(value) if isinstance(value, TensorProto) else value for name, value in given.items()
        }
        if node.op_type == "Constant":
            return (self._constant(node, attributes),)
        if undefined := [name for name in node.input if name and name not in known]:
            raise InputError(f"{self.scales.where}: {node.op_type}: input {undefined[0]!r} is not defined before it")
        operands = [known[name] if name else None for name in node.input]
        if node.op_type == "If":
            return self._branch(operands[0], attributes, known)
        call = Call(self.scales, node.op_type, operands, attributes, list(node.output), self.parameters)
        if node.domain not in ("", "ai.onnx"):
            raise call.refuse(f"operators of the domain {node.domain!r} are not supported")
        folded = self._folded(call)
        if folded is not None:
            return (folded,)
        rule = RULES.get(node.op_type)
        if rule is None:
            raise call.refuse("this operator is not supported")
        result = rule(call)
        return result if isinstance(result, tuple) else (result,)

    def _constant(self, node: Any, attributes: Mapping[str, Any]) -> Known:
        ((kind, value),) = attributes.items()
        if kind == "value":
            return Known.of(node.output[0], value)
        dtype = {"value_float": np.float32, "value_floats": np.float32, "value_int": np.int64, "value_ints": np.int64}
        if kind not in dtype:
            raise InputError(f"{self.scales.where}: Constant: {kind} is not supported")
        return Known.of(node.output[0], np.array(value, dtype[kind]))

    def _branch(
        self, condition: Operand | None, attributes: Mapping[str, Any], known: Mapping[str, Operand]
    ) -> tuple[Operand, ...]:
        if not isinstance(condition, Known):
            raise InputError(f"{self.scales.where}: If: its condition depends on the data, so the graph does as well")
        branch = attributes["then_branch" if condition.array.reshape(-1)[0] else "else_branch"]
        return tuple(self.run(branch, known))

    def _folded(self, call: Call) -> Known | None:
        """Return the result of arithmetic on known arrays, None for everything else."""
        operands = [value for value in call.operands if isinstance(value, Known)]
        if not operands or len(operands) < len(call.operands):
            return None
        arrays = [value.array for value in operands]
        if sum(array.size for array in arrays) > _FOLDED_ENTRIES:
            return None
        operation = _ARITHMETIC.get(call.operator)
        if call.operator == "ReduceProd":
            keep = bool(call.attributes.get("keepdims", 1))
            return Known.of(call.results[0], np.prod(arrays[0], keepdims=keep, dtype=arrays[0].dtype))
        if operation is None:
            return None
        call.bounded(np.broadcast_shapes(*(array.shape for array in arrays)))
        with np.errstate(all="ignore"):
            result = operation(*arrays) if call.operator == "Where" or len(arrays) == 1 else reduce(operation, arrays)
        return Known.of(call.results[0], np.asarray(result))


def _quotient(a: npt.NDArray[Any], b: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Division as ONNX defines it: that of integers truncates."""
    integer = a.dtype.kind in "iu" and b.dtype.kind in "iu"
    result: npt.NDArray[Any] = np.trunc(np.divide(a, b)).astype(a.dtype) if integer else np.divide(a, b)
    return result


_ARITHMETIC["Div"] = _quotient
