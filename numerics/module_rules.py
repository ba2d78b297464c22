"""The operations that a module may consist of: one small function each, which says what it demands of scales.

Keys of `RULES` are names of ATen operations without overload and in-place underscore. An operation that has no rule is
accepted only if it computes with constants alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..graphs import scale_rules as rules
from ..graphs.network import IntArray
from ..graphs.scales import ONE, ZERO, Entries, Value
from .module_calls import Call, Rule, is_value, like_result, rearranged

__all__ = ["RULES"]

RULES: dict[str, Rule] = {}


def _rule(names: str) -> Callable[[Rule], Rule]:
    def register(function: Rule) -> Rule:
        RULES.update(dict.fromkeys(names.split(), function))
        return function

    return register


@_rule("relu leaky_relu rrelu prelu abs neg positive dropout feature_dropout native_dropout")
def _homogeneous(call: Call) -> Any:
    # The slope of a PReLU is not rescaled, so it takes part in no law.
    units = call.scales.units_of(next(iter(call.arguments.values())))
    return (units, rules.ones(units.shape)) if isinstance(call.result, tuple) else units


@_rule("clamp clamp_min")
def _clamp(call: Call) -> Any:
    low, high = call["min"], call.arguments.get("max")
    return call.units("self") if not is_value(low) and low == 0 and high is None else _not_homogeneous(call)


@_rule("gelu silu mish elu selu celu softplus tanh sigmoid hardswish hardsigmoid hardtanh relu6 softsign log_sigmoid")
@_rule(
    "softmax _softmax log_softmax _log_softmax exp expm1 log log1p erf sin cos atan sqrt rsqrt pow square reciprocal"
)
@_rule(
    "threshold hardshrink softshrink tanhshrink logsumexp var std alpha_dropout argmax argmin eq ne sign round floor ceil"
)
@_rule("lstm gru rnn_tanh cosine_similarity remainder prod cumprod bilinear")
def _not_homogeneous(call: Call) -> Any:
    why = f"{call.name.strip('_')} is not positively homogeneous, so what it is applied to counts as a terminal"
    rules.opaque(call.scales, call.values, (), why)
    first = call.values[0]
    # Keeping the units of an activation keeps the names of its neurons.
    return first if isinstance(first, np.ndarray) and first.shape == _shape(call) else like_result(call.result)


def _shape(call: Call) -> tuple[int, ...] | None:
    return None if isinstance(call.result, (tuple, list)) else call.shape


@_rule("gt ge lt le")
def _comparison(call: Call) -> Any:
    # A positive factor does not change the sign of a number.
    other = call["other"]
    return rules.ones(call.shape) if not is_value(other) and other == 0 else _not_homogeneous(call)


@_rule("detach")
def _detach(call: Call) -> IntArray:
    # Gradient flow treats the result as data.
    return rules.ones(call.shape)


@_rule("_assert_tensor_metadata")
def _no_result(call: Call) -> None:
    return None


@_rule("zeros zeros_like new_zeros")
def _zeros(call: Call) -> IntArray:
    return np.full(call.shape, ZERO)


@_rule("full full_like new_full")
def _full(call: Call) -> IntArray:
    return np.full(call.shape, ZERO if call["fill_value"] == 0 else ONE)


@_rule("add sub rsub maximum minimum fmax fmin")
def _add(call: Call) -> Value:
    first, second = call["self"], call["other"]
    if call.name in ("add", "sub", "rsub") and is_value(first) and is_value(second):
        return rules.add(call.scales, first, second)
    return rules.add(call.scales, call.units("self"), call.units("other"))


@_rule("where")
def _where(call: Call) -> IntArray:
    return _choice(call, call.units("self"), call.units("other"))


@_rule("masked_fill")
def _masked_fill(call: Call) -> IntArray:
    return _choice(call, call.units("self"), call.units("value"))


def _choice(call: Call, x: IntArray, y: IntArray) -> IntArray:
    units: IntArray = np.broadcast_to(call.scales.units_of(rules.add(call.scales, x, y)), call.shape)
    return units


@_rule("mul")
def _multiply(call: Call) -> Value:
    first, second = (value if is_value(value) else call.units(name) for name, value in _factors(call))
    return rules.multiply(call.scales, first, second)


def _factors(call: Call) -> list[tuple[str, Any]]:
    return [(name, call[name]) for name in ("self", "other")]


@_rule("div true_divide")
def _divide(call: Call) -> IntArray:
    call.scales.pin(call.units("other"), "division by a computed tensor, which counts as a terminal")
    return np.broadcast_to(call.units("self"), call.shape)


@_rule("matmul mm bmm mv dot")
def _matmul(call: Call) -> Value:
    x, y = (value for value in call.arguments.values() if is_value(value))
    rows, columns = _rank(x) == 1, _rank(y) == 1
    product = rules.matmul(
        call.scales,
        _changed(x, lambda index: index[None, :]) if rows else x,
        _changed(y, lambda index: index[:, None]) if columns else y,
    )
    return product.reshape(call.shape) if rows or columns else product


@_rule("addmm baddbmm")
def _addmm(call: Call) -> Value:
    factors = [value for name, value in call.arguments.items() if name in ("mat1", "mat2", "batch1", "batch2")]
    return rules.add(call.scales, rules.matmul(call.scales, *factors), call["self"])


@_rule("linear")
def _linear(call: Call) -> Value:
    x, weight = call["input"], _changed(call["weight"], lambda index: index.swapaxes(0, 1))
    flat = _rank(x) == 1
    product = rules.matmul(call.scales, _changed(x, lambda index: index[None, :]) if flat else x, weight)
    return _biased(call, product[0] if flat else product, call["bias"])


@_rule("conv1d conv2d conv3d conv_transpose1d conv_transpose2d conv_transpose3d")
def _convolution(call: Call) -> Value:
    rank = int(call.name[-2])
    if _rank(call["input"]) != rank + 2:
        raise call.refuse(f"its input has shape {_index(call['input']).shape}; give it a batch axis")
    units = rules.convolve(
        call.scales,
        call["input"],
        call["weight"],
        call["groups"],
        call.shape[2:],
        transposed="transpose" in call.name,
    )
    bias = call["bias"]
    return _biased(call, units, None if bias is None else _changed(bias, lambda b: b.reshape(-1, *(1,) * rank)))


def _biased(call: Call, x: Value, bias: Value | None) -> Value:
    return x if bias is None else rules.add(call.scales, x, bias)


def _index(value: Value) -> IntArray:
    return value.index if isinstance(value, Entries) else value


def _rank(value: Value) -> int:
    return _index(value).ndim


def _changed(value: Value, change: Callable[[IntArray], IntArray]) -> Value:
    return Entries(value.parameter, change(value.index)) if isinstance(value, Entries) else change(value)


@_rule("embedding")
def _embedding(call: Call) -> IntArray:
    return rules.lookup(call.scales, call["weight"], _index(call["indices"]).shape)


@_rule("batch_norm native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_functional")
def _batch_norm(call: Call) -> Any:
    mean = None if call["training"] or call["running_mean"] is None else call.units("running_mean")
    affine = [call["weight"], call["bias"]]
    result = rules.batch_norm(call.scales, call["input"], affine, mean, call["eps"])
    return (result, *like_result(call.result)[1:]) if isinstance(call.result, (tuple, list)) else result


@_rule("instance_norm group_norm")
def _group_norm(call: Call) -> Value:
    channels = call.shape[1]
    if not call.arguments.get("use_input_stats", True):
        affine = [call["weight"], call["bias"]]
        return rules.batch_norm(call.scales, call["input"], affine, call.units("running_mean"), call["eps"])
    groups = call.arguments.get("num_groups", channels)
    return rules.group_norm(call.scales, call["input"], groups, call["eps"], [call["weight"], call["bias"]])


@_rule("layer_norm rms_norm")
def _layer_norm(call: Call) -> Value:
    axes = range(-len(call["normalized_shape"]), 0)
    # Without ε, a root mean square is normalized with that of the dtype.
    epsilon = 1.0 if call["eps"] is None else call["eps"]
    return rules.layer_norm(call.scales, call["input"], axes, epsilon, [call["weight"], call.arguments.get("bias")])


@_rule("scaled_dot_product_attention")
def _attention(call: Call) -> IntArray:
    query, key, value = (call.units(name) for name in ("query", "key", "value"))
    if call["enable_gqa"]:
        key, value = (np.repeat(part, query.shape[-3] // part.shape[-3], axis=-3) for part in (key, value))
    if is_value(call["attn_mask"]):
        call.scales.pin(call.units("attn_mask"), "an attention mask that is computed counts as a terminal")
    return rules.attention(call.scales, query, key, value)


@_rule("rnn_relu")
def _rnn_relu(call: Call) -> Any:
    x, states = call.units("input"), call.units("hx")
    directions, biased = 2 if call["bidirectional"] else 1, call["has_biases"]
    sequence = x.swapaxes(0, 1) if call["batch_first"] else x
    weights, step = call["params"], 4 if biased else 2
    last = []
    for layer in range(call["num_layers"]):
        parts = []
        for direction in range(directions):
            k = layer * directions + direction
            mine = weights[k * step : (k + 1) * step]
            parts.append(rules.relu_recurrence(call.scales, sequence, states[k], mine[:2], mine[2:]))
            last.append(parts[-1][0])
        sequence = np.concatenate(parts, axis=-1)
    return (sequence.swapaxes(0, 1) if call["batch_first"] else sequence), np.stack(last)


@_rule("max_pool1d max_pool2d max_pool3d avg_pool1d avg_pool2d avg_pool3d lp_pool2d")
@_rule("max_pool1d_with_indices max_pool2d_with_indices max_pool3d_with_indices")
@_rule("adaptive_avg_pool1d adaptive_avg_pool2d adaptive_avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d")
@_rule("adaptive_max_pool1d adaptive_max_pool2d adaptive_max_pool3d")
def _pool(call: Call) -> Any:
    rank = next(int(part[0]) for part in call.name.split("pool")[1:])
    return _reduced(call, next(iter(call.arguments.values())), range(-rank, 0))


@_rule(
    "upsample_nearest1d upsample_nearest2d upsample_bilinear2d upsample_bicubic2d upsample_nearest3d upsample_trilinear3d"
)
@_rule("upsample_linear1d")
def _resample(call: Call) -> Any:
    x = next(iter(call.arguments.values()))
    return _reduced(call, x, range(2, _rank(x)))


@_rule("mean sum amax amin max min norm linalg_vector_norm median nansum")
def _statistic(call: Call) -> Any:
    if is_value(call.arguments.get("other")):
        return _add(call)
    axes = call.arguments.get("dim")
    axes = range(_rank(call["self"])) if axes is None or axes == [] else [axes] if isinstance(axes, int) else axes
    return _reduced(call, call["self"], axes)


@_rule("cumsum")
def _cumulative(call: Call) -> Any:
    return _reduced(call, call["self"], [call["dim"]])


def _reduced(call: Call, value: Value, axes: Any) -> Any:
    result = rules.reduce(call.scales, value, list(axes), call.shape)
    return (result, *like_result(call.result)[1:]) if isinstance(call.result, (tuple, list)) else result


@_rule("index index_select gather take_along_dim")
def _index_some(call: Call) -> IntArray:
    """Which entries are chosen is not known; along the axes of the choice they have one factor."""
    units = call.units("self")
    chosen = call.arguments.get("indices")
    axes = [call["dim"]] if chosen is None else [axis for axis, index in enumerate(chosen) if index is not None]
    units = rules.collapse(call.scales, units, axes)
    if call.name == "index":
        # The chosen axes come first, or at their place if they are neighbors.
        place = axes[0] if axes == list(range(axes[0], axes[-1] + 1)) else 0
        rank = len(call.shape) - (units.ndim - len(axes))
        units = np.expand_dims(np.squeeze(units, tuple(axes)), tuple(range(place, place + rank)))
    return np.broadcast_to(units, call.shape)


@_rule("to _to_copy type_as float double half bfloat16")
def _cast(call: Call) -> Any:
    return _kept(call) if call.result.is_floating_point() else _not_homogeneous(call)


@_rule("clone contiguous alias lift_fresh_copy")
def _kept(call: Call) -> Value:
    value: Value = next(iter(call.arguments.values()))
    return value


@_rule("view reshape view_as reshape_as _unsafe_view flatten unflatten squeeze unsqueeze")
def _reshaped(call: Call) -> Value:
    return _changed(call["self"], lambda index: index.reshape(call.shape))


@_rule(
    "permute transpose t T mT numpy_T movedim swapaxes select slice narrow diagonal unfold unbind split split_with_sizes"
)
@_rule("expand expand_as broadcast_to")
@_rule("chunk tensor_split cat concat stack repeat tile repeat_interleave flip roll pixel_shuffle pixel_unshuffle")
@_rule(
    "channel_shuffle select_scatter slice_scatter reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d"
)
def _moved(call: Call) -> Any:
    return rearranged(call)


@_rule("pad constant_pad_nd")
def _padded(call: Call) -> Any:
    if call.arguments.get("mode", "constant") != "constant":
        return rearranged(call)
    return rearranged(call, self=call.units("self"), value=float(ONE if call["value"] else ZERO))
