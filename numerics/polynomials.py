"""Polynomial hypotheses in torch: values, and derivatives along several vectors by nested forward mode."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TypeAlias

import torch
from torch import Tensor

from .forward_mode import grad, jvp

__all__ = ["Function", "Terms", "along", "as_matrix", "as_vector", "derivative_along", "gradient", "polynomial"]

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
