"""Polynomial hypotheses in torch: values, and derivatives along several vectors by nested forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import torch
from torch import Tensor

from .forward_mode import grad, jvp

__all__ = [
    "Function",
    "Terms",
    "along",
    "as_matrix",
    "as_vector",
    "derivative_along",
    "gradient",
    "polynomial",
    "taylor_model",
    "trained",
]

Function: TypeAlias = Callable[[Tensor], Tensor]
Terms: TypeAlias = Sequence[tuple[Fraction, tuple[int, ...]]]


def as_vector(values: Sequence[Fraction], device: str = "cpu") -> Tensor:
    """Return exact numbers as floats (P,)."""
    return torch.tensor([float(value) for value in values], dtype=torch.float64, device=device)


def polynomial(terms: Terms, device: str = "cpu", *, majorant: bool = False) -> Function:
    """Return θ ↦ Σ c_k Π_i θ_i^(e_ki), from θ (..., P) to (...,).

    With `majorant`, coefficients have their absolute values: at |θ| and along |v| the result bounds the sum of the absolute
    values of all terms, and rounding is relative to it.
    """
    if not terms:
        return lambda theta: theta[..., 0] * 0.0
    coefficients = as_vector([abs(c) if majorant else c for c, _ in terms], device)
    factors = [[i for i, e in enumerate(exponents) for _ in range(e)] for _, exponents in terms]

    def function(theta: Tensor) -> Tensor:
        total = theta[..., 0] * 0.0
        for c, variables in zip(coefficients, factors, strict=True):
            value = c
            for i in variables:
                value = value * theta[..., i]
            total = total + value
        return total

    return function


def gradient(function: Function, theta: Tensor) -> Tensor:
    """Return ∇F (P,)."""
    slopes: Tensor = grad(function)(theta)
    return slopes


def along(function: Function, vectors: Sequence[Tensor]) -> Function:
    """Return θ ↦ ∇^k F(θ)(v_1, …, v_k) for fixed vectors (P,), by k nested calls of forward mode."""

    def once(inner: Function, v: Tensor) -> Function:
        return lambda point: jvp(inner, (point,), (v,))[1]

    for v in vectors:
        function = once(function, v)
    return function


def derivative_along(function: Function, theta: Tensor, vectors: Sequence[Tensor]) -> float:
    """Return ∇^k F(θ)(v_1, …, v_k)."""
    return float(along(function, vectors)(theta))


def as_matrix(rows: Sequence[Sequence[Fraction]], device: str = "cpu") -> Tensor:
    """Return rows of exact numbers as floats."""
    return torch.tensor([[float(value) for value in row] for row in rows], dtype=torch.float64, device=device)


def taylor_model(function: Function, theta: Tensor) -> Function:
    """Return θ ↦ F(θ_0) + ∇F(θ_0)·(θ − θ_0)."""
    value, slope = function(theta), gradient(function, theta)
    return lambda point: value + slope @ (point - theta)


def trained(
    functions: Sequence[Function],
    theta: Tensor,
    loss_slope: Function,
    labels: Sequence[float],
    batches: Sequence[Sequence[int]],
    rate: float,
) -> list[float]:
    """Return all functions after gradient descent from `theta` (P,), one batch per step.

    `loss_slope` takes (f, y) and returns the derivative of the loss in f; it is averaged over the batch.
    """
    targets = torch.tensor(labels, dtype=theta.dtype, device=theta.device)
    for batch in batches:
        step = torch.zeros_like(theta)
        for b in batch:
            c = loss_slope(torch.stack([functions[b](theta), targets[b]]))
            step = step + c * gradient(functions[b], theta) / len(batch)
        theta = theta - rate * step
    return [float(function(theta)) for function in functions]
