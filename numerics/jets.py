"""Taylor coefficients of activations along a curve, in torch: from those of z(t) to those of φ(z(t)).

A jet is a list of tensors of one shape, the coefficients of t⁰, t¹, …. Every rule is a recursion that differentiates nothing,
costs O(k²) products for order k, and can itself be differentiated by autograd and by `torch.func`.
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

__all__ = ["ACTIVATIONS", "ENTIRE", "KINKED", "Jet", "activation_jet", "activation_slope", "activation_value"]

Jet: TypeAlias = "list[Tensor]"


def _convolved(a: Sequence[Tensor], b: Sequence[Tensor], k: int) -> Tensor:
    total = a[0] * b[k]
    for i in range(1, k + 1):
        total = total + a[i] * b[k - i]
    return total


def _multiplied(a: Sequence[Tensor], b: Sequence[Tensor]) -> Jet:
    return [_convolved(a, b, k) for k in range(len(a))]


def _integrated(z: Sequence[Tensor], slope: Sequence[Tensor], k: int) -> Tensor:
    """Return coefficient k ≥ 1 of y, where y' = slope · z'."""
    total = k * z[k] * slope[0]
    for i in range(1, k):
        total = total + i * z[i] * slope[k - i]
    return total / k


def _identity(z: Sequence[Tensor]) -> Jet:
    return list(z)


def _square(z: Sequence[Tensor]) -> Jet:
    return _multiplied(z, z)


def _cubic(z: Sequence[Tensor]) -> Jet:
    return [cube - linear for cube, linear in zip(_multiplied(_square(z), z), z, strict=True)]


def _tanh(z: Sequence[Tensor]) -> Jet:
    y = [torch.tanh(z[0])]
    slope = [1 - y[0] ** 2]
    for k in range(1, len(z)):
        y.append(_integrated(z, slope, k))
        slope.append(-_convolved(y, y, k))
    return y


def _sigmoid(z: Sequence[Tensor]) -> Jet:
    y = [torch.sigmoid(z[0])]
    slope = [y[0] * (1 - y[0])]
    for k in range(1, len(z)):
        y.append(_integrated(z, slope, k))
        slope.append(y[k] - _convolved(y, y, k))
    return y


def _softplus(z: Sequence[Tensor]) -> Jet:
    slope = _sigmoid(z)
    # logaddexp, since `softplus` of PyTorch switches to the identity above 20.
    return [torch.logaddexp(z[0], torch.zeros_like(z[0]))] + [_integrated(z, slope, k) for k in range(1, len(z))]


def _gaussian(z: Sequence[Tensor], rate: float) -> Jet:
    """Return the jet of exp(−rate · z²)."""
    exponent = [-rate * square for square in _square(z)]
    y = [torch.exp(exponent[0])]
    for k in range(1, len(z)):
        y.append(_integrated(exponent, y, k))
    return y


def _erf(z: Sequence[Tensor]) -> Jet:
    slope = _gaussian(z, 1.0)
    factor = 2 / math.sqrt(math.pi)
    return [torch.erf(z[0])] + [factor * _integrated(z, slope, k) for k in range(1, len(z))]


def _sin_cos(z: Sequence[Tensor]) -> tuple[Jet, Jet]:
    s, c = [torch.sin(z[0])], [torch.cos(z[0])]
    for k in range(1, len(z)):
        s_k, c_k = _integrated(z, c, k), -_integrated(z, s, k)
        s.append(s_k)
        c.append(c_k)
    return s, c


def _gelu(z: Sequence[Tensor]) -> Jet:
    half = [coefficient / 2 for coefficient in _erf([x / math.sqrt(2) for x in z])]
    half[0] = half[0] + 0.5
    return _multiplied(z, half)


def _silu(z: Sequence[Tensor]) -> Jet:
    return _multiplied(z, _sigmoid(z))


def _relu(z: Sequence[Tensor]) -> Jet:
    """As automatic differentiation has it: the mask does not move."""
    mask = (z[0] > 0).to(z[0].dtype)
    return [x * mask for x in z]


ACTIVATIONS = MappingProxyType[str, Callable[[Sequence[Tensor]], Jet]](
    {
        "identity": _identity,
        "square": _square,
        "cubic": _cubic,
        "sin": lambda z: _sin_cos(z)[0],
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


def activation_jet(name: str, z: Sequence[Tensor]) -> Jet:
    """Return the Taylor coefficients of φ(z(t)) from those of z(t).

    Raises
    ------
    InputError
        For an activation that is not in `ACTIVATIONS`.
    """
    if name not in ACTIVATIONS:
        raise InputError(f"activation={name!r}: unknown; choose one of {', '.join(ACTIVATIONS)}")
    return ACTIVATIONS[name](z)


def activation_value(name: str, z: Tensor) -> Tensor:
    """Return φ(z) entry by entry."""
    return _VALUES[name](z) if name in _VALUES else activation_jet(name, [z])[0]


def activation_slope(name: str, z: Tensor) -> Tensor:
    """Return φ'(z) entry by entry; 0 at the kink of ReLU."""
    return activation_jet(name, [z, torch.ones_like(z)])[1]


_VALUES: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "silu": functional.silu, "gelu": functional.gelu}
