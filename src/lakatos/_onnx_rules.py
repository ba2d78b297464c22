"""The ONNX operators that compute: what each demands of scales, by the rules that all front ends share."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._onnx_moves import MOVES
from ._onnx_values import Call, Known, Operand
from .graphs import scale_rules as rules
from .graphs.network import IntArray
from .graphs.scales import ONE, ZERO, Entries, Value

__all__ = ["RULES"]

RULES: dict[str, Callable[[Call], Any]] = dict(MOVES)


def _rule(names: str) -> Callable[[Callable[[Call], Any]], Callable[[Call], Any]]:
    def register(function: Callable[[Call], Any]) -> Callable[[Call], Any]:
        RULES.update(dict.fromkeys(names.split(), function))
        return function

    return register


@_rule("Relu LeakyRelu PRelu Abs Neg")
def _homogeneous(call: Call) -> IntArray:
    # The slopes of a PRelu are not rescaled, so they take part in no law.
    return call.units(0)


@_rule("Clip")
def _clip(call: Call) -> IntArray:
    low, high = call.number(1, "min"), call.number(2, "max")
    unbounded = high is None or high >= _UNBOUNDED
    units: IntArray = call.units(0) if low == 0 and unbounded else _not_homogeneous(call)
    return units


_UNBOUNDED = float(np.finfo(np.float32).max)


@_rule(
    "Tanh Sigmoid HardSigmoid HardSwish Elu Selu Celu Gelu Mish Softplus Softsign Erf Exp Log Sqrt Pow Reciprocal Sign"
)
@_rule(
    "Softmax LogSoftmax ThresholdedRelu Sin Cos Floor Ceil Round Equal Not And Or ArgMax ArgMin TopK ReduceLogSumExp Hardmax"
)
@_rule("ReduceSumSquare ReduceProd CumProd IsNaN IsInf Mod LpNormalization LRN OneHot NonZero")
def _not_homogeneous(call: Call) -> Any:
    why = f"{call.operator} is not positively homogeneous, so what it is applied to counts as a terminal"
    pinned = [call.scales.pin(call.units(k), why) for k in range(len(call.operands)) if call.has(k)]
    if call.operator in _RESHAPING:
        raise call.refuse("the shape of its result is not known; only models in which it is constant can be read")
    return np.broadcast_to(pinned[0], np.broadcast_shapes(*(units.shape for units in pinned)))


_RESHAPING = frozenset(
    ["ArgMax", "ArgMin", "TopK", "ReduceProd", "ReduceLogSumExp", "ReduceSumSquare", "OneHot", "NonZero"]
)


@_rule("Greater GreaterOrEqual Less LessOrEqual")
def _comparison(call: Call) -> IntArray:
    other = call.operand(1)
    # A positive factor does not change the sign of a number.
    if isinstance(other, Known) and not other.array.any():
        return rules.ones(np.broadcast_shapes(call.shape(0), call.shape(1)))
    units: IntArray = _not_homogeneous(call)
    return units


@_rule("Where")
def _where(call: Call) -> IntArray:
    units = call.scales.units_of(rules.add(call.scales, call.units(1), call.units(2)))
    return np.broadcast_to(units, np.broadcast_shapes(units.shape, call.shape(0)))


@_rule("Add Sub")
def _add(call: Call) -> Value:
    return rules.add(call.scales, *_terms(call, is_sum=True))


@_rule("Mul")
def _multiply(call: Call) -> Value:
    return rules.multiply(call.scales, *_terms(call, is_sum=False))


def _terms(call: Call, *, is_sum: bool) -> tuple[Value, Value]:
    """Return both operands, arrays of the file as trained parameters.

    A single number is a constant, unless it is added to a single unit, whose bias it then is.
    """
    terms: list[Value] = []
    for k in (0, 1):
        value = call.operand(k)
        if isinstance(value, Known):
            other = call.operand(1 - k)
            alone = not isinstance(other, Known) and np.unique(call.units(1 - k)).size == 1
            trained = value.array.size > 1 or (is_sum and value.array.ndim > 0 and alone)
            terms.append(call.weight(k) if trained else call.units(k))
        else:
            terms.append(value)
    return terms[0], terms[1]


@_rule("Div")
def _divide(call: Call) -> IntArray:
    call.scales.pin(call.units(1), "division by a computed tensor, which counts as a terminal")
    return np.broadcast_to(call.units(0), np.broadcast_shapes(call.shape(0), call.shape(1)))


@_rule("Sum Mean Max Min")
def _extremum(call: Call) -> IntArray:
    units = call.units(0)
    for k in range(1, len(call.operands)):
        units = call.scales.units_of(rules.add(call.scales, units, call.units(k)))
    return units


@_rule("MatMul")
def _matmul(call: Call) -> Value:
    x, y = (_matrix(call, k) for k in (0, 1))
    return rules.matmul(call.scales, x, y)


def _matrix(call: Call, k: int) -> Value:
    if len(call.shape(k)) < 2:
        raise call.refuse(f"input {k} has shape {call.shape(k)}; only matrices and stacks of matrices are read")
    return call.weight(k)


@_rule("Gemm")
def _gemm(call: Call) -> Value:
    factors = []
    for k, flag in ((0, "transA"), (1, "transB")):
        value = call.weight(k)
        factors.append(_turned(value) if call.attributes.get(flag, 0) else value)
    product = rules.matmul(call.scales, *factors)
    return rules.add(call.scales, product, call.weight(2)) if call.has(2) else product


def _turned(value: Value) -> Value:
    return (
        Entries(value.parameter, value.index.swapaxes(-1, -2)) if isinstance(value, Entries) else value.swapaxes(-1, -2)
    )


@_rule("Conv")
def _convolution(call: Call) -> Value:
    kernel = call.shape(1)[2:]
    spatial = _windows(call, kernel)
    units = rules.convolve(call.scales, call.units(0), call.weight(1), call.attributes.get("group", 1), spatial)
    return _with_bias(call, units)


@_rule("ConvTranspose")
def _transposed_convolution(call: Call) -> Value:
    kernel, sizes = call.shape(1)[2:], call.shape(0)[2:]
    rank = len(kernel)
    strides, dilations = _each(call, "strides", rank), _each(call, "dilations", rank)
    extra = call.attributes.get("output_padding", [0] * rank)
    spatial = call.attributes.get("output_shape")
    if spatial is None:
        full = [
            s * (n - 1) + e + d * (k - 1) + 1
            for n, k, s, d, e in zip(sizes, kernel, strides, dilations, extra, strict=True)
        ]
        if call.attributes.get("auto_pad", b"NOTSET") in (b"SAME_UPPER", b"SAME_LOWER"):
            spatial = [n * s for n, s in zip(sizes, strides, strict=True)]
        else:
            pads = call.attributes.get("pads", [0] * (2 * rank))
            spatial = [n - pads[k] - pads[k + rank] for k, n in enumerate(full)]
    groups = call.attributes.get("group", 1)
    units = rules.convolve(call.scales, call.units(0), call.weight(1), groups, call.bounded(spatial), transposed=True)
    return _with_bias(call, units)


def _with_bias(call: Call, units: IntArray) -> Value:
    if not call.has(2):
        return units
    bias = call.weight(2)
    shape = (-1, *(1,) * (units.ndim - 2))
    flat = Entries(bias.parameter, bias.index.reshape(shape)) if isinstance(bias, Entries) else bias.reshape(shape)
    return rules.add(call.scales, units, flat)


def _each(call: Call, attribute: str, rank: int) -> Sequence[int]:
    given: Sequence[int] = call.attributes.get(attribute, [1] * rank)
    return given


def _windows(call: Call, kernel: Sequence[int]) -> tuple[int, ...]:
    """Return the spatial shape of what a convolution or pooling makes of operand 0."""
    rank = len(kernel)
    strides, dilations = _each(call, "strides", rank), _each(call, "dilations", rank)
    pads = call.attributes.get("pads", [0] * (2 * rank))
    mode = call.attributes.get("auto_pad", b"NOTSET")
    rounded = math.ceil if call.attributes.get("ceil_mode", 0) else math.floor
    sizes = []
    for k, n in enumerate(call.shape(0)[2:]):
        if mode in (b"SAME_UPPER", b"SAME_LOWER"):
            sizes.append(-(-n // strides[k]))
            continue
        padding = 0 if mode == b"VALID" else pads[k] + pads[k + rank]
        sizes.append(rounded((n + padding - dilations[k] * (kernel[k] - 1) - 1) / strides[k]) + 1)
    if min(sizes) < 1:
        raise ValueError(f"windows of shape {tuple(kernel)} do not fit into {call.shape(0)[2:]}")
    return call.bounded(sizes)


@_rule("MaxPool AveragePool LpPool")
def _pool(call: Call) -> IntArray:
    shape = (*call.shape(0)[:2], *_windows(call, call.attributes["kernel_shape"]))
    return rules.reduce(call.scales, call.units(0), range(2, len(shape)), shape)


@_rule("GlobalAveragePool GlobalMaxPool GlobalLpPool")
def _global_pool(call: Call) -> IntArray:
    old = call.shape(0)
    return rules.reduce(call.scales, call.units(0), range(2, len(old)), (*old[:2], *(1,) * (len(old) - 2)))


@_rule("ReduceMean ReduceSum ReduceMax ReduceMin ReduceL1 ReduceL2")
def _statistic(call: Call) -> IntArray:
    old = call.shape(0)
    axes = call.numbers(1, "axes")
    if not axes:
        if call.attributes.get("noop_with_empty_axes", 0):
            return call.units(0)
        axes = list(range(len(old)))
    chosen = {axis % len(old) for axis in axes}
    kept = call.attributes.get("keepdims", 1)
    shape = [1 if axis in chosen else size for axis, size in enumerate(old) if kept or axis not in chosen]
    return rules.reduce(call.scales, call.units(0), sorted(chosen), shape)


@_rule("CumSum")
def _cumulative(call: Call) -> IntArray:
    return rules.reduce(call.scales, call.units(0), [int(call.known(1))], call.shape(0))


@_rule("Resize Upsample")
def _resize(call: Call) -> IntArray:
    old = call.shape(0)
    last = len(call.operands) - 1
    if call.operator == "Resize" and last == 3:
        new = [int(size) for size in np.ravel(call.known(3))]
    else:
        scales = call.attributes.get("scales") or np.ravel(call.known(min(last, 2)))
        new = [math.floor(n * float(s)) for n, s in zip(old, scales, strict=True)]
    changed = [axis for axis, (a, b) in enumerate(zip(old, new, strict=True)) if a != b]
    return rules.reduce(call.scales, call.units(0), changed, call.bounded(new))


@_rule("BatchNormalization")
def _batch_norm(call: Call) -> Any:
    training = bool(call.attributes.get("training_mode", 0))
    affine = [call.weight(1), call.weight(2)]
    epsilon = call.attributes.get("epsilon", 1e-5)
    result = rules.batch_norm(call.scales, call.units(0), affine, None if training else call.units(3), epsilon)
    return (result, *(rules.ones(call.shape(3)) for _ in call.results[1:])) if len(call.results) > 1 else result


@_rule("InstanceNormalization GroupNormalization")
def _group_norm(call: Call) -> Value:
    groups = call.attributes.get("num_groups", call.shape(0)[1])
    epsilon = call.attributes.get("epsilon", 1e-5)
    if call.shape(1)[0] != call.shape(0)[1]:
        raise call.refuse("a gain per group, as before version 21, is not supported")
    return rules.group_norm(call.scales, call.units(0), groups, epsilon, [call.weight(1), call.weight(2)])


@_rule("LayerNormalization RMSNormalization SimplifiedLayerNormalization")
def _layer_norm(call: Call) -> Value:
    rank = len(call.shape(0))
    axes = range(call.attributes.get("axis", -1) % rank, rank)
    epsilon = call.attributes.get("epsilon", 1e-5)
    return rules.layer_norm(call.scales, call.units(0), axes, epsilon, [call.weight(1), call.optional_weight(2)])


@_rule("LSTM GRU RNN")
def _recurrence(call: Call) -> tuple[IntArray, ...]:
    why = f"{call.operator} is not positively homogeneous, so what it is applied to counts as a terminal"
    values = [call.weight(k) for k in range(len(call.operands)) if call.has(k)]
    rules.opaque(call.scales, values, (), why)
    directions, width = call.shape(2)[0], call.shape(2)[2]
    length, batch = call.shape(0)[:2] if call.attributes.get("layout", 0) == 0 else call.shape(0)[1::-1]
    every, last = (length, directions, batch, width), (directions, batch, width)
    if call.attributes.get("layout", 0):
        every, last = (batch, length, directions, width), (batch, directions, width)
    return rules.ones(every), rules.ones(last), rules.ones(last)


@_rule("Shape")
def _shape(call: Call) -> Known:
    sizes = call.shape(0)[call.attributes.get("start", 0) : call.attributes.get("end", None)]
    return Known.of(call.results[0], np.array(sizes, np.int64))


@_rule("Size")
def _size(call: Call) -> Known:
    return Known.of(call.results[0], np.array(math.prod(call.shape(0)), np.int64))


@_rule("ConstantOfShape")
def _filled(call: Call) -> Operand:
    shape = call.bounded([int(size) for size in np.ravel(call.known(0))])
    value = call.attributes.get("value")
    filling = np.zeros(1, np.float32) if value is None else value
    if filling.dtype.kind == "f":
        return np.full(shape, ONE if filling[0] else ZERO)
    return Known.of(call.results[0], np.full(shape, filling[0]))


@_rule("Range")
def _range(call: Call) -> Known:
    start, limit, step = (call.known(k).item() for k in range(3))
    call.bounded([max(0, math.ceil((limit - start) / step))])
    return Known.of(call.results[0], np.arange(start, limit, step))
