"""ONNX operators that move entries around, on arrays of any kind: units, indices of parameters, known numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ._onnx_values import Call, Known, Operand
from .graphs.scales import ONE, ZERO

__all__ = ["MOVES"]

_Array: TypeAlias = "npt.NDArray[Any]"
MOVES: dict[str, Callable[[Call], Any]] = {}


def _move(names: str) -> Callable[[Callable[[Call], Any]], Callable[[Call], Any]]:
    def register(function: Callable[[Call], Any]) -> Callable[[Call], Any]:
        MOVES.update(dict.fromkeys(names.split(), function))
        return function

    return register


@_move("Identity Dropout Cast CastLike")
def _same(call: Call) -> Operand:
    value = call.operand(0)
    if call.operator == "Cast" and isinstance(value, Known):
        return _cast(value, int(call.attributes["to"]))
    return value


def _cast(value: Known, kind: int) -> Known:
    from onnx import helper

    dtype = helper.tensor_dtype_to_np_dtype(kind)
    return Known(value.name, value.array.astype(dtype), value.index, value.tensor)


@_move("Reshape")
def _reshape(call: Call) -> Operand:
    old = call.shape(0)
    wanted = [int(size) for size in np.ravel(call.known(1))]
    if not call.attributes.get("allowzero", 0):
        wanted = [old[axis] if size == 0 else size for axis, size in enumerate(wanted)]
    return call.moved(0, lambda array: array.reshape(wanted))


@_move("Flatten")
def _flatten(call: Call) -> Operand:
    axis = call.attributes.get("axis", 1)
    rows = int(np.prod(call.shape(0)[:axis], dtype=np.int64))
    return call.moved(0, lambda array: array.reshape(rows, -1))


@_move("Transpose")
def _transpose(call: Call) -> Operand:
    return call.moved(0, lambda array: array.transpose(call.attributes.get("perm")))


@_move("Squeeze")
def _squeeze(call: Call) -> Operand:
    axes = call.numbers(1, "axes")
    return call.moved(0, lambda array: array.squeeze(None if axes is None else tuple(axes)))


@_move("Unsqueeze")
def _unsqueeze(call: Call) -> Operand:
    axes = tuple(call.numbers(1, "axes") or ())
    return call.moved(0, lambda array: np.expand_dims(array, axes))


@_move("Expand")
def _expand(call: Call) -> Operand:
    wanted = [int(size) for size in np.ravel(call.known(1))]
    shape = call.bounded(np.broadcast_shapes(call.shape(0), tuple(wanted)))
    return call.moved(0, lambda array: np.broadcast_to(array, shape))


@_move("Tile")
def _tile(call: Call) -> Operand:
    repeats = [int(count) for count in np.ravel(call.known(1))]
    call.bounded([size * count for size, count in zip(call.shape(0), repeats, strict=True)])
    return call.moved(0, lambda array: np.tile(array, repeats))


@_move("Slice")
def _slice(call: Call) -> Operand:
    starts, ends = call.numbers(1, "starts") or [], call.numbers(2, "ends") or []
    axes = call.numbers(3, "axes") or list(range(len(starts)))
    steps = call.numbers(4, "steps") or [1] * len(starts)
    cut = [slice(None)] * len(call.shape(0))
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        # Backwards, an end before the first entry means "to the beginning", which Python writes None.
        cut[axis] = slice(start, None if step < 0 and end < -call.shape(0)[axis] else end, step)
    return call.moved(0, lambda array: array[tuple(cut)])


@_move("Split")
def _split(call: Call) -> tuple[Operand, ...]:
    axis = call.attributes.get("axis", 0)
    size, parts = call.shape(0)[axis], len(call.results)
    lengths = call.numbers(1, "split")
    if lengths is None:
        each = -(-size // parts)
        lengths = [min(each, size - k * each) for k in range(parts)]
    bounds = np.cumsum([0, *lengths])

    def part(k: int) -> Callable[[_Array], _Array]:
        return lambda array: array.take(range(bounds[k], bounds[k + 1]), axis)

    return tuple(call.moved(0, part(k)) for k in range(parts))


@_move("Concat")
def _concat(call: Call) -> Operand:
    axis = call.attributes["axis"]
    operands = [call.operand(k) for k in range(len(call.operands))]
    if all(isinstance(value, Known) for value in operands):
        return Known.of(call.results[0], np.concatenate([call.known(k) for k in range(len(operands))], axis))
    return np.concatenate([call.units(k) for k in range(len(operands))], axis)


@_move("Pad")
def _pad(call: Call) -> Operand:
    rank = len(call.shape(0))
    pads = call.numbers(1, "pads") or call.numbers(1, "paddings") or []
    axes = call.numbers(3, "no attribute") or list(range(rank))
    width = [(0, 0)] * rank
    for k, axis in enumerate(axes):
        width[axis] = (pads[k], pads[k + len(axes)])
    call.bounded([size + sum(ends) for size, ends in zip(call.shape(0), width, strict=True)])
    mode = call.attributes.get("mode", b"constant").decode()
    if mode != "constant":
        return call.moved(0, lambda array: np.pad(array, width, "wrap" if mode == "wrap" else mode))
    filling = ONE if call.number(2, "value") else ZERO
    return np.pad(call.units(0), width, constant_values=filling)


@_move("DepthToSpace SpaceToDepth")
def _blocks(call: Call) -> Operand:
    b = call.attributes["blocksize"]
    n, c, h, w = call.shape(0)
    if call.operator == "SpaceToDepth":
        return call.moved(
            0,
            lambda a: (
                a.reshape(n, c, h // b, b, w // b, b).transpose(0, 3, 5, 1, 2, 4).reshape(n, c * b * b, h // b, w // b)
            ),
        )
    if call.attributes.get("mode", b"DCR") == b"DCR":
        order, shape = (0, 3, 4, 1, 5, 2), (n, b, b, c // (b * b), h, w)
    else:
        order, shape = (0, 1, 4, 2, 5, 3), (n, c // (b * b), b, b, h, w)
    return call.moved(0, lambda a: a.reshape(shape).transpose(order).reshape(n, c // (b * b), h * b, w * b))


@_move("Gather")
def _gather(call: Call) -> Operand:
    axis = call.attributes.get("axis", 0)
    table, chosen = call.operand(0), call.operand(1)
    if isinstance(chosen, Known):
        return call.moved(0, lambda array: array.take(chosen.array, axis))
    from .graphs import scale_rules as rules

    if isinstance(table, Known) and axis == 0 and table.array.ndim == 2:
        return rules.lookup(call.scales, call.weight(0), call.shape(1))
    call.scales.pin(call.units(1), "what chooses entries is not differentiable and counts as a terminal")
    units = rules.collapse(call.scales, call.units(0), [axis])
    axis %= units.ndim
    rank = len(call.shape(1))
    units = np.expand_dims(units.squeeze(axis), tuple(range(axis, axis + rank)))
    return np.broadcast_to(units, (*units.shape[:axis], *call.shape(1), *units.shape[axis + rank :]))
