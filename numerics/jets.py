"""Taylor coefficients of activations along a curve, in torch: from those of z(t) to those of φ(z(t)).

A jet is a list of tensors of one shape, the coefficients of t⁰, t¹, …. Every rule is a recursion that differentiates nothing,
costs O(k²) products for order k, and can itself be differentiated by autograd and by `torch.func`; in
`torch.inference_mode` sums are made in place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from types import MappingProxyType
from typing import TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from ..core import InputError

__all__ = ["ACTIVATIONS", "ENTIRE", "KINKED", "Jet", "activation_jet", "activation_value", "activation_with_slope"]

Jet: TypeAlias = "list[Tensor]"


def _plus(total: Tensor, a: Tensor, b: Tensor, value: float = 1.0) -> Tensor:
    """Return total + value·a·b for a temporary `total`: in place where no transform is looking on."""
    if torch.is_inference_mode_enabled():
        return total.addcmul_(a, b, value=value)
    return torch.addcmul(total, a, b, value=value)


def _convolved(a: Sequence[Tensor], b: Sequence[Tensor], k: int) -> Tensor:
    """Return Σ a_i b_{k−i}."""
    first, *rest = range(max(0, k - len(b) + 1), min(k, len(a) - 1) + 1)
    total = a[first] * b[k - first]
    for i in rest:
        total = _plus(total, a[i], b[k - i])
    return total


def _convolved_square(a: Sequence[Tensor], k: int) -> Tensor:
    """Return Σ a_i a_{k−i}, whose terms come in pairs."""
    pairs = range(max(0, k - len(a) + 1), (k + 1) // 2)
    if k % 2 == 0:
        total = a[k // 2] ** 2
    else:
        total, pairs = 2 * (a[pairs[0]] * a[k - pairs[0]]), pairs[1:]
    for i in pairs:
        total = _plus(total, a[i], a[k - i], 2)
    return total


def _multiplied(a: Sequence[Tensor], b: Sequence[Tensor], order: int) -> Jet:
    return [_convolved(a, b, k) for k in range(min(order, len(a) + len(b) - 2) + 1)]


def _integrated(z: Sequence[Tensor], slope: Sequence[Tensor], k: int) -> Tensor:
    """Return coefficient k ≥ 1 of y, where y' = slope · z'; z moves, so that it has a term."""
    last = min(k, len(z) - 1)
    total = z[last] * slope[k - last]
    if last < k:
        total = total * (last / k)
    for i in range(max(1, k - len(slope) + 1), last):
        total = _plus(total, z[i], slope[k - i], i / k)
    return total


def _identity(z: Sequence[Tensor], order: int) -> Jet:
    return list(z)


def _square(z: Sequence[Tensor], order: int) -> Jet:
    return [_convolved_square(z, k) for k in range(min(order, 2 * len(z) - 2) + 1)]


def _cubic(z: Sequence[Tensor], order: int) -> Jet:
    cube = _multiplied(_square(z, order), z, order)
    return [x - z[k] if k < len(z) else x for k, x in enumerate(cube)]


def _tanh(z: Sequence[Tensor], order: int) -> Jet:
    y = [torch.tanh(z[0])]
    slope = [1 - y[0] ** 2]
    for k in range(1, order + 1):
        y.append(_integrated(z, slope, k))
        if k < order:
            slope.append(-_convolved_square(y, k))
    return y


def _sigmoid(z: Sequence[Tensor], order: int) -> Jet:
    y = [torch.sigmoid(z[0])]
    slope = [y[0] * (1 - y[0])]
    for k in range(1, order + 1):
        y.append(_integrated(z, slope, k))
        if k < order:
            slope.append(y[k] - _convolved_square(y, k))
    return y


def _softplus(z: Sequence[Tensor], order: int) -> Jet:
    # logaddexp, since `softplus` of PyTorch switches to the identity above 20.
    value = torch.logaddexp(z[0], torch.zeros_like(z[0]))
    return _integral(value, z, _sigmoid(z, max(order - 1, 0)), order)


def _integral(value: Tensor, z: Sequence[Tensor], slope: Sequence[Tensor], order: int) -> Jet:
    """Return the jet of y from y_0 = `value` and y' = slope · z'."""
    return [value, *(_integrated(z, slope, k) for k in range(1, order + 1))]


def _gaussian(z: Sequence[Tensor], rate: float, order: int) -> Jet:
    """Return the jet of exp(−rate · z²)."""
    exponent = [-rate * square for square in _square(z, order)]
    y = [torch.exp(exponent[0])]
    for k in range(1, order + 1):
        y.append(_integrated(exponent, y, k))
    return y


def _erf(z: Sequence[Tensor], order: int) -> Jet:
    slope = [2 / math.sqrt(math.pi) * value for value in _gaussian(z, 1.0, max(order - 1, 0))]
    return _integral(torch.erf(z[0]), z, slope, order)


def _sin(z: Sequence[Tensor], order: int) -> Jet:
    s, c = [torch.sin(z[0])], [torch.cos(z[0])]
    for k in range(1, order + 1):
        s_k = _integrated(z, c, k)
        c.append(-_integrated(z, s, k))
        s.append(s_k)
    return s


def _gelu(z: Sequence[Tensor], order: int) -> Jet:
    half = [coefficient / 2 for coefficient in _erf([x / math.sqrt(2) for x in z], order)]
    half[0] = half[0] + 0.5
    return _multiplied(z, half, order)


def _silu(z: Sequence[Tensor], order: int) -> Jet:
    return _multiplied(z, _sigmoid(z, order), order)


def _relu(z: Sequence[Tensor], order: int) -> Jet:
    """As automatic differentiation has it: the mask does not move."""
    mask = (z[0] > 0).to(z[0].dtype)
    return [x * mask for x in z]


ACTIVATIONS = MappingProxyType[str, Callable[[Sequence[Tensor], int], Jet]](
    {
        "identity": _identity,
        "square": _square,
        "cubic": _cubic,
        "sin": _sin,
        "erf": _erf,
        "tanh": _tanh,
        "sigmoid": _sigmoid,
        "softplus": _softplus,
        "gelu": _gelu,
        "silu": _silu,
        "relu": _relu,
    }
)
"""By name; ``cubic`` is z³ − z."""

KINKED = frozenset({"relu"})
"""Not differentiable everywhere: jets follow the convention of automatic differentiation and miss the kinks."""

ENTIRE = frozenset({"identity", "square", "cubic", "sin", "erf", "gelu"})
"""Analytic in the whole complex plane: their Taylor series converge for every displacement."""


def activation_jet(name: str, z: Sequence[Tensor], order: int | None = None) -> Jet:
    """Return the Taylor coefficients of φ(z(t)) up to t^`order` from those of z(t), by default as many as there are of z.

    Coefficients that are left out at the end are 0, in `z` and in what is returned.

    Raises
    ------
    InputError
        For an activation that is not in `ACTIVATIONS`.
    """
    if name not in ACTIVATIONS:
        raise InputError(f"activation={name!r}: unknown; choose one of {', '.join(ACTIVATIONS)}")
    last = len(z) - 1 if order is None else order
    # What does not move has no further coefficients.
    return ACTIVATIONS[name](z[: last + 1], last if len(z) > 1 else 0)


def activation_value(name: str, z: Tensor) -> Tensor:
    """Return φ(z) entry by entry."""
    return _VALUES[name](z) if name in _VALUES else activation_jet(name, [z])[0]


def activation_with_slope(name: str, z: Tensor) -> tuple[Tensor, Tensor]:
    """Return φ(z) and φ'(z) entry by entry; the slope is 0 at the kink of ReLU."""
    value, slope = activation_jet(name, [z, torch.ones_like(z)], 1)
    return value, slope


_VALUES: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "silu": functional.silu, "gelu": functional.gelu}
