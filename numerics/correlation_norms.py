"""Norms of C_{D,d} of networks for D ≥ 2: a two-sided bracket for D = 2, a lower and an upper bound for D ≥ 3.

The tensors act through derivatives of Taylor coefficients; nothing of the size of a derivative tensor is formed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor

from ..core import InputError
from .forward_mode import grad, jvp
from .mlps import Mlp
from .taylor_mode import Direction, correlation_hessian_product, correlations
from .tensor_norms import FAILURE, Bracket, matrix_norm_bracket, norm_lower_bound, unfolding_bracket

__all__ = ["NormBounds", "correlation_norm_bounds"]

_LARGEST_UNFOLDING = 2000  # parameters: each product with the Gram matrix takes as many products of order 2


@dataclass(frozen=True)
class NormBounds:
    """lower ≤ ‖C_{D,d}‖ ≤ upper; only the upper end may enter a certificate.

    Parameters
    ----------
    kind : str
        ``bracket``: both ends close in on the norm with more steps (D = 2). ``bounds``: the lower end comes from a local
        search, the upper one from an unfolding, and the norm may be anywhere between (D = 3). ``lower bound``: nothing is
        known from above, and upper is infinite.
    failure : float
        Probability, over random starts, that the upper end fails.
    """

    lower: float
    upper: float
    kind: Literal["bracket", "bounds", "lower bound"]
    failure: float

    def __str__(self) -> str:
        if self.kind == "lower bound":
            return f">= {self.lower:.4g}"
        return f"in [{self.lower:.4g}, {self.upper:.4g}]"


def correlation_norm_bounds(
    mlp: Mlp,
    x: Tensor,
    direction: Direction,
    D: int,
    d: int,
    *,
    rate: float = 1.0,
    steps: int = 32,
    restarts: int = 20,
    iterations: int = 100,
    seed: int = 0,
) -> NormBounds:
    """Return bounds of ‖C_{D,d}[x; v^d]‖ of a network with one output and no leading axes.

    Parameters
    ----------
    x : Tensor (1, d0)
        The input.
    D : int
        2: Lanczos with `steps` products. 3: shifted power iteration and an unfolding, whose Gram matrix is applied with P
        products, for at most 2000 parameters. More: the lower bound alone.

    Raises
    ------
    InputError
        For D below 2 (`lakatos.numerics.taylor_mode.first_order_norms` is exact) or beyond 4.
    Undecided
        If the vectors do not fit in memory.
    """
    if not 2 <= D <= 4 or d < 0:
        raise InputError(f"D={D!r}, d={d!r}: D from 2 to 4 and d >= 0 are needed; for D = 1 the norm is exact")
    size = sum(p.numel() for p in mlp.parameters)
    device = str(mlp.weights[0].device)
    if D == 2:

        def product(u: Tensor) -> Tensor:
            found = correlation_hessian_product(mlp, x, direction, d, _split(mlp, u), rate=rate)
            return torch.cat([part.flatten() for part in found])

        bracket = matrix_norm_bracket(product, size, steps=steps, seed=seed, device=device)
        return NormBounds(bracket.lower, bracket.upper, "bracket", bracket.failure)
    contraction = _contraction(mlp, x, direction, D, d, rate)
    lower = norm_lower_bound(
        lambda u: contraction([u] * (D - 1)), size, restarts=restarts, iterations=iterations, seed=seed, device=device
    )
    if D > 3 or size > _LARGEST_UNFOLDING:
        return NormBounds(lower, math.inf, "lower bound", 0.0)
    upper = _unfolding(contraction, size, steps, seed, device).upper
    return NormBounds(lower, upper, "bounds", FAILURE)


def _unfolding(contraction: Callable[[list[Tensor]], Tensor], size: int, steps: int, seed: int, device: str) -> Bracket:
    """Return the bracket of the unfolding P × P² by G u = Σ_k B_k B_k u, B_k = T(e_k, ·, ·)."""
    units = torch.eye(size, dtype=torch.float64, device=device)

    def gram(u: Tensor) -> Tensor:
        total = torch.zeros_like(u)
        for unit in units:
            total = total + contraction([unit, contraction([unit, u])])
        return total

    return unfolding_bracket(gram, size, steps=min(steps, size), seed=seed, device=device)


def _contraction(
    mlp: Mlp, x: Tensor, direction: Direction, D: int, d: int, rate: float
) -> Callable[[list[Tensor]], Tensor]:
    """Return (u_1, …, u_(D−1)) ↦ C_{D,d}(u_1, …, u_(D−1), ·) on flat vectors: nested forward mode, one reverse pass."""
    theta = torch.cat([p.flatten() for p in mlp.parameters])
    factor = rate ** (D / 2 + d) / math.factorial(D)

    def coefficient(flat: Tensor) -> Tensor:
        return correlations(mlp.with_parameters(_split(mlp, flat)), x, direction, d)[d].sum()

    def contracted(vectors: list[Tensor]) -> Tensor:
        function: Callable[[Tensor], Tensor] = coefficient
        for u in vectors:
            function = _along(function, u)
        value: Tensor = factor * grad(function)(theta)
        return value

    return contracted


def _along(function: Callable[[Tensor], Tensor], u: Tensor) -> Callable[[Tensor], Tensor]:
    def derivative(at: Tensor) -> Tensor:
        slope: Tensor = jvp(function, (at,), (u,))[1]
        return slope

    return derivative


def _split(mlp: Mlp, flat: Tensor) -> tuple[Tensor, ...]:
    sizes = [p.numel() for p in mlp.parameters]
    parts = torch.split(flat, sizes)
    return tuple(part.reshape(p.shape) for part, p in zip(parts, mlp.parameters, strict=True))
