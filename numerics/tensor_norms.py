"""Spectral norms of symmetric tensors that act through products: two-sided for matrices, bounds for higher orders.

The norm of a symmetric tensor is attained on equal vectors (Banach), so power iteration on one vector finds lower bounds. For
order 3 and more it is NP-hard in general: what is returned is a lower or an upper bound and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch
from torch import Tensor

from ..core import InputError
from ..graphs.memory import require_memory

__all__ = ["Bracket", "Product", "matrix_norm_bracket", "norm_lower_bound", "unfolding_bracket"]

Product: TypeAlias = "Callable[[Tensor], Tensor]"

FAILURE = 1e-6
_BREAKDOWN = 1e-14


@dataclass(frozen=True)
class Bracket:
    """lower ≤ norm ≤ upper; the upper end may fail with probability `failure`, over the random start."""

    lower: float
    upper: float
    failure: float


def matrix_norm_bracket(
    product: Product, dimension: int, *, steps: int = 32, seed: int = 0, failure: float = FAILURE, device: str = "cpu"
) -> Bracket:
    """Return a bracket of the spectral norm of a symmetric matrix A from products u ↦ A u.

    Lanczos on A² from a uniform random start, reorthogonalized twice: with θ the largest Ritz value after k steps,
    √θ ≤ ‖A‖ ≤ √(θ/(1 − ε)), ε = (log(1.648 √P/δ)/(2k − 1))², failing with probability at most δ (Kuczyński and Woźniakowski
    1992). The upper end is infinite if k is too small for ε < 1.
    """
    lower, upper = _largest_eigenvalue(lambda u: product(product(u)), dimension, steps, seed, failure, device)
    return Bracket(math.sqrt(lower), math.sqrt(upper), failure)


def unfolding_bracket(
    gram: Product, dimension: int, *, steps: int = 32, seed: int = 0, failure: float = FAILURE, device: str = "cpu"
) -> Bracket:
    """Return a bracket of the spectral norm of an unfolding P × P^(D−1) from products with its Gram matrix.

    Its upper end bounds the norm of the tensor from above. The lower end bounds the norm of the unfolding only, which may be
    larger than that of the tensor. For D = 3, G u = Σ_k B_k B_k u with B_k = T(e_k, ·, ·).
    """
    lower, upper = _largest_eigenvalue(gram, dimension, steps, seed, failure, device)
    return Bracket(math.sqrt(lower), math.sqrt(upper), failure)


def norm_lower_bound(
    contraction: Product,
    dimension: int,
    *,
    restarts: int = 20,
    iterations: int = 200,
    shift: float | None = None,
    seed: int = 0,
    device: str = "cpu",
) -> float:
    """Return a lower bound of the norm of a symmetric tensor T from contractions u ↦ T(u, …, u, ·).

    Shifted power iteration u ← ±T(u^(D−1)) + s u from random starts, both signs; every iterate gives the bound |T(u^D)|, and
    the largest is kept. Without `shift`, s is a fifth of the first contraction's length.
    """
    generator = torch.Generator().manual_seed(seed)
    best = 0.0
    for restart in range(restarts):
        u = _direction(dimension, generator, device)
        sign, s = (1.0 if restart % 2 else -1.0), shift
        for _ in range(iterations):
            step = contraction(u)
            best = max(best, abs(float(step @ u)))
            if s is None:
                s = 0.2 * float(step.norm())
            u = sign * step + s * u
            length = float(u.norm())
            if not length > 0:
                break
            u = u / length
    return best


def _largest_eigenvalue(
    gram: Product, dimension: int, steps: int, seed: int, failure: float, device: str
) -> tuple[float, float]:
    if steps < 1 or not 0 < failure < 1:
        raise InputError(f"steps={steps!r}, failure={failure!r}: at least one step, and 0 < failure < 1, are needed")
    require_memory(8 * dimension * (min(steps, dimension) + 4), f"{steps} Lanczos vectors of length {dimension}")
    basis = [_direction(dimension, torch.Generator().manual_seed(seed), device)]
    diagonal: list[float] = []
    beside: list[float] = []
    is_complete = False
    for _ in range(min(steps, dimension)):
        w = gram(basis[-1])
        diagonal.append(float(w @ basis[-1]))
        for _ in range(2):
            for q in basis:
                w = w - (w @ q) * q
        beta = float(w.norm())
        if not beta > _BREAKDOWN * max(diagonal):  # the Krylov space is invariant, or the matrix is zero
            is_complete = True
            break
        beside.append(beta)
        basis.append(w / beta)
    k = len(diagonal)
    tridiagonal = torch.diag(torch.tensor(diagonal, dtype=torch.float64))
    for i in range(k - 1):
        tridiagonal[i, i + 1] = tridiagonal[i + 1, i] = beside[i]
    theta = max(float(torch.linalg.eigvalsh(tridiagonal)[-1]), 0.0)
    # The bound is stated for `steps` products; a space that is invariant earlier gives what more of them would give.
    used = steps if is_complete or k == dimension else k
    epsilon = (math.log(1.648 * math.sqrt(dimension) / failure) / (2 * used - 1)) ** 2
    return theta, theta / (1 - epsilon) if epsilon < 1 else math.inf


def _direction(dimension: int, generator: torch.Generator, device: str) -> Tensor:
    u = torch.randn(dimension, generator=generator, dtype=torch.float64).to(device)
    start: Tensor = u / u.norm()
    return start
