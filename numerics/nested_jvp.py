"""Derivative correlations of any function of parameters by nested forward mode, of low order.

Order k costs 2^k evaluations. The direction is computed beforehand and is a constant; what is differentiated is
t ↦ F(θ + t v), so that one nested call gives all orders up to k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TypeAlias

import torch
from torch import Tensor

from ..core import InputError
from .forward_mode import grad, jvp, vjp

__all__ = [
    "LARGEST_ORDER",
    "Function",
    "Parameters",
    "correlation_product",
    "line_coefficients",
    "line_gradient_norms",
    "moved",
]

Parameters: TypeAlias = "Mapping[str, Tensor]"
Function: TypeAlias = "Callable[[dict[str, Tensor]], Tensor]"

LARGEST_ORDER = 4
"""Of derivatives, D + d: beyond it nested forward mode is unaffordable, and Taylor mode is for networks it knows."""


def moved(parameters: Parameters, direction: Parameters, t: Tensor | float) -> dict[str, Tensor]:
    """Return θ + t v."""
    return {name: value + t * direction[name] for name, value in parameters.items()}


def line_coefficients(function: Function, parameters: Parameters, direction: Parameters, order: int) -> list[Tensor]:
    """Return the Taylor coefficients of t ↦ F(θ + t v) at 0, of t⁰ to t^order; times η^d they are C_{0,d}.

    Parameters
    ----------
    function : callable
        From parameters by name to a tensor of outputs.
    parameters, direction : mapping
        θ and v, tensors of the same names and shapes.
    order : int
        At most `LARGEST_ORDER`.

    Raises
    ------
    InputError
        For an order out of range.
    """
    _require_order(order)
    values = _derivatives(lambda t: function(moved(parameters, direction, t)), order)(_origin(parameters))
    return [value / math.factorial(d) for d, value in enumerate(values)]


def line_gradient_norms(function: Function, parameters: Parameters, direction: Parameters, order: int) -> list[Tensor]:
    """Return ‖∇ of Taylor coefficient d‖ for d = 0, …, `order`, for every output; times η^(d + 1/2) they are ‖C_{1,d}‖.

    `order` is at most `LARGEST_ORDER` − 1. One reverse pass for each output.
    """
    _require_order(order + 1)

    def coefficients(free: dict[str, Tensor]) -> tuple[Tensor, ...]:
        found = _derivatives(lambda t: function(moved(free, direction, t)), order)(_origin(free))
        return tuple(value / math.factorial(d) for d, value in enumerate(found))

    values, pullback = vjp(coefficients, dict(parameters))
    norms = []
    for d, value in enumerate(values):
        squares = torch.zeros_like(value).flatten()
        for j in range(squares.numel()):
            cotangents = [torch.zeros_like(other) for other in values]
            cotangents[d].view(-1)[j] = 1.0
            (slopes,) = pullback(tuple(cotangents))
            squares[j] = sum((slope**2).sum() for slope in slopes.values())
        norms.append(squares.sqrt().view_as(value))
    return norms


def correlation_product(
    function: Function, parameters: Parameters, direction: Parameters, d: int, tangent: Parameters
) -> dict[str, Tensor]:
    """Return half the Hessian of Taylor coefficient d of a scalar function times `tangent`; times η^(d+1) it is C_{2,d}."""
    _require_order(d + 2)

    def slope(free: dict[str, Tensor]) -> dict[str, Tensor]:
        def coefficient(inner: dict[str, Tensor]) -> Tensor:
            found = _derivatives(lambda t: function(moved(inner, direction, t)), d)(_origin(inner))
            return found[d].sum() / math.factorial(d)

        slopes: dict[str, Tensor] = grad(coefficient)(free)
        return slopes

    _, product = jvp(slope, (dict(parameters),), (dict(tangent),))
    return {name: part / 2 for name, part in product.items()}


def _derivatives(curve: Callable[[Tensor], Tensor], order: int) -> Callable[[Tensor], tuple[Tensor, ...]]:
    """Return the function t ↦ (f, f', …, f^(order)) of a curve f."""
    if order == 0:
        return lambda t: (curve(t),)
    below = _derivatives(curve, order - 1)

    def derivatives(t: Tensor) -> tuple[Tensor, ...]:
        values, slopes = jvp(below, (t,), (torch.ones_like(t),))
        return (*values, slopes[-1])

    return derivatives


def _origin(parameters: Parameters) -> Tensor:
    some = next(iter(parameters.values()))
    return torch.zeros((), dtype=some.dtype, device=some.device)


def _require_order(order: int) -> None:
    if not 0 <= order <= LARGEST_ORDER:
        raise InputError(
            f"order={order!r}: derivatives of order 0 to {LARGEST_ORDER} are computed by nested forward mode; "
            "higher ones for fully connected networks of a known activation only"
        )
