"""What the operations of a model demand of the factors of their units.

One function per operation, for any front end. Each takes the scale classes first, states its demand, and returns the units
of the result. An operation that is positively homogeneous of degree 1 in the entries it combines needs them to have one
factor, and hands it on; any other operation needs the factor 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from .network import IntArray
from .scales import ONE, ZERO, Entries, Scales, Value

__all__ = [
    "add",
    "attention",
    "batch_norm",
    "collapse",
    "convolve",
    "group_norm",
    "layer_norm",
    "lookup",
    "matmul",
    "multiply",
    "ones",
    "opaque",
    "reduce",
    "relu_recurrence",
]

_PRODUCT = (
    "a product of two computed tensors: the first counts as a terminal, so its laws, if it is homogeneous, are left out"
)
_SCORES = (
    "a product of two computed matrices, as of queries and keys: both would have to be rescaled against each other, so the "
    "first counts as a terminal, and its laws are left out"
)
_SHIFT = "a sum with data or constants, which cannot be rescaled, so its other terms count as terminals"
_EPSILON = "a normalization with ε > 0, so the scale of what it normalizes obeys no exact law and counts as a terminal"
_SOFTMAX = "softmax is not positively homogeneous, so what it is applied to counts as a terminal"


def ones(shape: Sequence[int]) -> IntArray:
    """Return the units of a constant of this shape."""
    return np.broadcast_to(np.int64(ONE), tuple(shape))


def collapse(scales: Scales, units: IntArray, axes: Sequence[int]) -> IntArray:
    """Join all entries along `axes` and return one unit for them; these axes keep length 1.

    Examples
    --------
    >>> scales = Scales()
    >>> collapse(scales, scales.inputs(4).reshape(2, 2), [1]).tolist()
    [[2], [4]]
    """
    axes = tuple(axis % units.ndim for axis in axes)
    # Along an axis of stride 0 all entries are the same.
    alike = [axis in axes and units.strides[axis] == 0 and units.shape[axis] > 1 for axis in range(units.ndim)]
    units = units[tuple(slice(0, 1) if same else slice(None) for same in alike)]
    # ZERO is the smallest number, so the representative is a unit if there is one.
    result: IntArray = units.max(axis=axes, keepdims=True, initial=ZERO)
    scales.join(units, result)
    return result


def reduce(scales: Scales, value: Value, axes: Sequence[int], shape: Sequence[int]) -> IntArray:
    """Sum, mean, maximum, norm or pooling along `axes`: one factor for all that may meet; `shape` is that of the result."""
    units = collapse(scales, scales.units_of(value), axes)
    return np.broadcast_to(units if len(shape) == units.ndim else units.reshape(shape), tuple(shape))


def add(scales: Scales, x: Value, y: Value) -> Value:
    """Sum, difference or elementwise maximum: the terms have one factor, so an identity skip joins what it connects.

    Entries of a parameter that are added are edges from a source, hence biases.
    """
    if isinstance(x, Entries):
        x, y = y, x
    if isinstance(x, Entries):
        x = scales.units_of(x)
    shape = np.broadcast_shapes(x.shape, (y.index if isinstance(y, Entries) else y).shape)
    x = np.broadcast_to(x, shape)
    if isinstance(y, Entries):
        if not ((x == ONE) | (x == ZERO)).any():
            scales.connect(y, np.array(ONE), x)
            return x
        y = scales.units_of(y)
    present = (x != ZERO) & (y != ZERO)
    if (present & (scales.is_pinned(x) != scales.is_pinned(y))).any():
        scales.note(_SHIFT)
    scales.join(x, y)
    return np.where(x == ZERO, y, x) if (x == ZERO).any() else x


def multiply(scales: Scales, x: Value, y: Value) -> Value:
    """Elementwise product: entries of a parameter are edges; of two computed factors the first is pinned."""
    if isinstance(x, Entries):
        x, y = y, x
    if isinstance(x, Entries):
        x = scales.units_of(x)
    if isinstance(y, Entries):
        return _scale(scales, x, y)
    x, y = np.broadcast_arrays(x, y)
    both = ~scales.is_pinned(x) & ~scales.is_pinned(y)
    if both.any():
        scales.pin(x[both], _PRODUCT)
    zero = (x == ZERO) | (y == ZERO)
    result: IntArray = np.where(zero, ZERO, np.where(scales.is_pinned(x), y, x))
    return result


def _scale(scales: Scales, x: IntArray, weight: Entries) -> IntArray:
    shape = np.broadcast_shapes(x.shape, weight.index.shape)
    index = weight.index.reshape((1,) * (len(shape) - weight.index.ndim) + weight.index.shape)
    x = np.broadcast_to(x, shape)
    tail = collapse(scales, x, [axis for axis in range(len(shape)) if index.shape[axis] == 1])
    distinct, position = np.unique(index, return_inverse=True)
    head = scales.layer(weight.parameter, distinct.size)[position].reshape(index.shape)
    scales.connect(Entries(weight.parameter, index), tail, head)
    head = np.broadcast_to(head, shape)
    return np.where(x == ZERO, ZERO, head) if (x == ZERO).any() else head


def matmul(scales: Scales, x: Value, y: Value) -> IntArray:
    """Matrix product (…, I, K) × (…, K, J): what is summed has one factor.

    The entries of a parameter are edges from the K columns of the other factor, whose rows all use the same parameter. A
    constant factor (a fixed weight) contracts the ends of its non-zero entries.
    """
    if isinstance(y, Entries):
        return _dense(scales, scales.units_of(x), y)
    if isinstance(x, Entries):
        flipped = Entries(x.parameter, x.index.swapaxes(-1, -2))
        return _dense(scales, y.swapaxes(-1, -2), flipped).swapaxes(-1, -2)
    if not (scales.is_pinned(x).all() or scales.is_pinned(y).all()):
        x = scales.pin(x, _SCORES)
    if not scales.is_pinned(y).all():
        return _mix(scales, y.swapaxes(-1, -2), x.swapaxes(-1, -2)).swapaxes(-1, -2)
    return _mix(scales, x, y)


def _dense(scales: Scales, x: IntArray, weight: Entries) -> IntArray:
    index = weight.index
    lead = (1,) * max(0, x.ndim - index.ndim)
    index = index.reshape(*lead, *index.shape)
    x = x.reshape((1,) * (index.ndim - x.ndim) + x.shape)
    shared = [axis for axis in range(x.ndim - 2) if index.shape[axis] == 1]
    tail = collapse(scales, x, [*shared, -2]).swapaxes(-1, -2)
    batch, width = index.shape[:-2], index.shape[-1]
    head = scales.layer(weight.parameter, math.prod(batch) * width).reshape(*batch, 1, width)
    scales.connect(Entries(weight.parameter, index), tail, head)
    return np.broadcast_to(head, (*np.broadcast_shapes(x.shape[:-2], batch), x.shape[-2], width))


def _mix(scales: Scales, x: IntArray, y: IntArray) -> IntArray:
    """Return the units of x·y where y is pinned: a sum over the entries of x where y is not zero."""
    batch = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    shape = (*batch, x.shape[-2], y.shape[-1])
    if y.ndim > 2 or not (y == ZERO).any():
        return np.broadcast_to(collapse(scales, x, [-1]), shape)
    columns = collapse(scales, x, range(x.ndim - 1)).reshape(-1, 1)
    return np.broadcast_to(collapse(scales, np.where(y == ZERO, ZERO, columns), [0])[0], shape)


def convolve(
    scales: Scales, x: Value, weight: Value, groups: int, spatial: Sequence[int], *, transposed: bool = False
) -> IntArray:
    """Convolution of (N, C, …): a channel is one unit, a kernel between two channels as many parallel edges as taps.

    `weight` has shape (O, C/groups, …), or (C, O/groups, …) if `transposed`; `spatial` is the shape of the result beyond its
    channels.

    Examples
    --------
    >>> from .scales import Parameter
    >>> scales, kernel = Scales(), Parameter("conv.weight", (4, 1, 3), np.ones(12), 2.0**-53)
    >>> y = convolve(scales, scales.inputs(10).reshape(1, 2, 5), scales.add_parameter(kernel), 2, [3])
    >>> y.shape, y[0, :, 0].tolist(), scales.ends[kernel].tail[::3].tolist()
    ((1, 4, 3), [11, 12, 13, 14], [5, 5, 10, 10])
    """
    units = scales.units_of(x)
    channels = collapse(scales, units, [axis for axis in range(units.ndim) if axis != 1]).reshape(groups, 1, -1)
    shape = (weight.index if isinstance(weight, Entries) else weight).shape
    taps = (1,) * (len(shape) - 2)
    grouped = (groups, shape[0] // groups, shape[1])
    tail = np.broadcast_to(channels.swapaxes(1, 2) if transposed else channels, grouped).reshape(*shape[:2], *taps)
    count = groups * shape[1] if transposed else shape[0]
    if isinstance(weight, Entries):
        out = scales.layer(weight.parameter, count)
        head = out.reshape(groups, 1, -1) if transposed else out.reshape(groups, -1, 1)
        scales.connect(weight, tail, np.broadcast_to(head, grouped).reshape(*shape[:2], *taps))
    else:
        if not scales.is_pinned(weight).all():
            weight = scales.pin(weight, _PRODUCT)
        terms = np.where(weight == ZERO, ZERO, tail).reshape(*grouped, -1)
        out = collapse(scales, terms, [1, 3] if transposed else [2, 3]).reshape(-1)
    return np.broadcast_to(out.reshape(1, -1, *(1,) * len(spatial)), (units.shape[0], count, *spatial))


def lookup(scales: Scales, table: Value, shape: Sequence[int]) -> IntArray:
    """Embedding: rows of a table, chosen by data of this shape; an entry is an edge from a source to its feature."""
    if isinstance(table, Entries):
        features = scales.layer(table.parameter, table.index.shape[-1])
        scales.connect(table, np.array(ONE), features)
    else:
        features = collapse(scales, table, [0])[0]
    return np.broadcast_to(features, (*shape, features.size))


def layer_norm(scales: Scales, x: Value, axes: Sequence[int], epsilon: float, affine: Sequence[Value | None]) -> Value:
    """Normalization along `axes`, then gain and bias if given.

    The normalized tensor has the factor 1. What it normalizes has any factor, the same along `axes`, if ε is 0; no class is
    kept for it if ε > 0, unless the scale classes take ε to vanish.
    """
    units = scales.units_of(x)
    if epsilon == 0 or scales.vanishing_epsilon:
        collapse(scales, units, axes)
    else:
        scales.pin(units, _EPSILON)
    return _affine(scales, ones(units.shape), affine)


def group_norm(scales: Scales, x: Value, groups: int, epsilon: float, affine: Sequence[Value | None]) -> Value:
    """Normalization of the channels (axis 1) in groups, over all positions; with one channel a group, of instances."""
    units = scales.units_of(x)
    split = units.reshape(units.shape[0], groups, -1)
    layer_norm(scales, split, [2], epsilon, ())
    return _affine(scales, ones(units.shape), [_per_channel(value, units.ndim) for value in affine])


def batch_norm(
    scales: Scales, x: Value, affine: Sequence[Value | None], mean: IntArray | None, epsilon: float
) -> Value:
    """Normalization of each channel (axis 1) by the statistics of the batch, or by constants if a `mean` is given.

    With constants it is an affine map: what it normalizes keeps its class only where the mean is zero.
    """
    units = scales.units_of(x)
    gains = [_per_channel(value, units.ndim) for value in affine]
    if mean is None:
        return layer_norm(scales, units, [0, *range(2, units.ndim)], epsilon, gains)
    shifted = add(scales, units, mean.reshape(-1, *(1,) * (units.ndim - 2)))
    return _affine(scales, shifted, gains)


def _per_channel(value: Value | None, ndim: int) -> Value | None:
    if value is None:
        return None
    shape = (-1, *(1,) * (ndim - 2))
    return Entries(value.parameter, value.index.reshape(shape)) if isinstance(value, Entries) else value.reshape(shape)


def _affine(scales: Scales, x: Value, affine: Sequence[Value | None]) -> Value:
    for operation, value in zip((multiply, add), affine, strict=False):
        x = x if value is None else operation(scales, x, value)
    return x


def attention(scales: Scales, query: IntArray, key: IntArray, value: IntArray) -> IntArray:
    """Softmax attention (…, positions, features): queries and keys are terminals, values keep their factors."""
    scores = scales.pin(matmul(scales, query, key.swapaxes(-1, -2)), _SOFTMAX)
    return matmul(scales, scores, value)


def relu_recurrence(
    scales: Scales, x: IntArray, state: IntArray, weights: Sequence[Entries], biases: Sequence[Entries]
) -> IntArray:
    """ReLU recurrence h ← relu(W_x x + W_h h + biases) along axis 0 of x (T, N, I): W_h leads from h to h.

    `weights` are W_x (H, I) and W_h (H, H); the result has shape (T, N, H).
    """
    into, across = weights
    tail = collapse(scales, x, [0, 1]).reshape(1, -1)
    hidden = scales.layer(into.parameter, into.index.shape[0])
    scales.join(state, hidden)
    scales.connect(into, tail, hidden[:, None])
    scales.connect(across, hidden[None, :], hidden[:, None])
    for bias in biases:
        scales.connect(bias, np.array(ONE), hidden)
    return np.broadcast_to(hidden, (*x.shape[:2], hidden.size))


def opaque(scales: Scales, values: Sequence[Value], shape: Sequence[int], why: str) -> IntArray:
    """Any function that is not homogeneous: data and result are terminals, its parameters lead from terminal to terminal."""
    for value in values:
        if isinstance(value, Entries):
            head = scales.pin(scales.layer(value.parameter, 1), why)
            scales.connect(value, np.array(ONE), head)
        else:
            scales.pin(value, why)
    return ones(shape)
