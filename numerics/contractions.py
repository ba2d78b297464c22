"""Contractions of small tensors and their norms, by grids on spheres and singular values. torch, float64."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from .frequencies import Interval

__all__ = ["contraction_norm", "equal_vectors_norm", "product_norm"]

_STEPS = 900


def contraction_norm(M: Sequence[Sequence[float]], N: Sequence[Sequence[Sequence[float]]], shared: int) -> Interval:
    """Return the norm of M·N, contracted over one index pair (M_{ai} N_{ijk}) or two (M_{ij} N_{ijk}).

    With one pair the result has three indices: the norm is the largest over a grid of the first, off by 1 − cos of its step.
    """
    left, right = torch.tensor(M, dtype=torch.float64), torch.tensor(N, dtype=torch.float64)
    if shared == 2:
        return Interval(float(torch.einsum("ij,ijk->k", left, right).norm()), 1e-12 * float(left.norm() * right.norm()))
    result = torch.einsum("ai,ijk->ajk", left, right)
    grid, distance = _circle_or_sphere(len(left))
    largest = float(torch.linalg.svdvals(torch.einsum("ga,ajk->gjk", grid, result))[:, 0].max())
    return Interval(largest, largest * (1 / math.cos(distance) - 1) + 1e-12 * float(left.norm() * right.norm()))


def product_norm(M: Sequence[Sequence[float]], N: Sequence[Sequence[float]]) -> Interval:
    """Return the norm of M⊗N for two matrices: its Kronecker matrix has it, since that is attained on products of vectors."""
    left, right = torch.tensor(M, dtype=torch.float64), torch.tensor(N, dtype=torch.float64)
    value = float(torch.linalg.matrix_norm(torch.kron(left, right), 2))
    return Interval(value, 1e-12 * (1 + value))


def equal_vectors_norm(M: Sequence[Sequence[float]]) -> Interval:
    """Return the supremum of |u·Mu| over a grid of unit vectors in at most three dimensions."""
    matrix = torch.tensor(M, dtype=torch.float64)
    grid, distance = _circle_or_sphere(len(matrix))
    largest = float(torch.einsum("gi,ij,gj->g", grid, matrix, grid).abs().max())
    # Moving u by an angle δ changes u·Mu by at most (2 sin δ) ‖M‖, and only by its square at the maximum.
    return Interval(largest, 2 * distance**2 * float(matrix.norm()) + 1e-12)


def _circle_or_sphere(dimension: int) -> tuple[Tensor, float]:
    """Return unit vectors that come, up to sign, within the returned angle of all others."""
    if dimension == 1:
        return torch.ones(1, 1, dtype=torch.float64), 0.0
    angles = torch.arange(_STEPS, dtype=torch.float64) * (math.pi / _STEPS)
    if dimension == 2:
        return torch.stack([torch.cos(angles), torch.sin(angles)], 1), math.pi / _STEPS / 2
    polar, azimuth = torch.meshgrid(
        angles[: _STEPS // 2 : 3], torch.cat([angles, angles + math.pi])[::3], indexing="ij"
    )
    sphere = torch.stack(
        [torch.sin(polar) * torch.cos(azimuth), torch.sin(polar) * torch.sin(azimuth), torch.cos(polar)], -1
    )
    equator = torch.stack([torch.cos(angles), torch.sin(angles), torch.zeros_like(angles)], 1)
    return torch.cat([sphere.reshape(-1, 3), equator]), 3 * math.pi / _STEPS * math.sqrt(0.5)
