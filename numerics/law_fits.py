"""Polynomial conservation laws of a loss that only runs: fitted to its gradients in floating point.

A polynomial Σ c_α m_α is conserved if Σ c_α ⟨∇m_α(θ), ∇ℓ(θ; z)⟩ = 0 for all θ and z. Each random pair (θ, z) is a linear
equation for c; a few more equations than monomials leave the laws and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.func import grad, vmap

from .integrators import Vector
from .law_scout import SMALLEST_GAP, Loss, Sampler

__all__ = ["MOST_PRODUCTS", "Polynomial", "fitted_laws"]

Polynomial: TypeAlias = dict[tuple[int, ...], Fraction]
"""Coefficients by monomial: (i,) is θ_i and (i, j) is θ_i θ_j."""

MOST_PRODUCTS = 40
"""Up to so many parameters products of two of them are tried; beyond, only single ones and squares."""

_SPARE = 20  # equations beyond the number of monomials
_SAMPLES = 3  # of each equation, so that few of its gradients are zero
_ZERO = 1e-9  # relative to the largest singular value
_LARGEST_DENOMINATOR = 24


def fitted_laws(
    loss: Loss, dimension: int, sampler: Sampler, *, known: Sequence[Polynomial] = (), seed: int = 0
) -> list[Polynomial]:
    """Return independent laws of degree one and two beyond those `known`: linear ones, then sums of squares, then all.

    None where the singular values have no gap of 10⁶.

    Parameters
    ----------
    loss, sampler
        As for `lakatos.numerics.law_scout.lie_scout`.
    dimension : int
        Number of parameters.

    Examples
    --------
    >>> fitted_laws(lambda t, z: (t[0] * t[1] - z[0]) ** 2, 2, lambda n, g: (torch.randn(n, 1, generator=g).double()[:, 0],))
    [{(0, 0): Fraction(1, 1), (1, 1): Fraction(-1, 1)}]
    """
    generator = torch.Generator().manual_seed(seed)
    point = torch.randn(dimension, generator=generator, dtype=torch.float64).numpy()
    slopes = [_slope(law, point) for law in known]
    found = []
    for monomials in _stages(dimension):
        for row in _reduced(_null_space(_equations(loss, dimension, monomials, sampler, generator))):
            law = {monomials[k]: _rational(float(row[k])) for k in np.flatnonzero(np.abs(row) > _ZERO)}
            slope = _slope(law, point)
            if np.linalg.matrix_rank(np.array([*slopes, slope]), tol=1e-8) > len(slopes):
                slopes.append(slope)
                found.append(law)
    return found


def _stages(dimension: int) -> Iterator[list[tuple[int, ...]]]:
    linear: list[tuple[int, ...]] = [(i,) for i in range(dimension)]
    yield linear
    squares: list[tuple[int, ...]] = [(i, i) for i in range(dimension)]
    yield squares
    if dimension <= MOST_PRODUCTS:
        yield [*linear, *((i, j) for i in range(dimension) for j in range(i, dimension))]
    else:
        yield linear + squares


def _equations(
    loss: Loss, dimension: int, monomials: Sequence[tuple[int, ...]], sampler: Sampler, generator: torch.Generator
) -> Vector:
    count = len(monomials) + _SPARE
    theta = torch.randn((count, dimension), generator=generator, dtype=torch.float64)
    z = tuple(part.reshape(count, _SAMPLES, *part.shape[1:]) for part in sampler(count * _SAMPLES, generator))

    def total(t: Tensor, some: tuple[Tensor, ...]) -> Tensor:
        return vmap(lambda *one: loss(t, one))(*some).sum()

    slopes = vmap(lambda t, *some: grad(total)(t, some), chunk_size=256)(theta, *z).numpy()
    at = theta.numpy()
    first = [m[0] for m in monomials]
    last = [m[-1] for m in monomials]
    single = np.array([len(m) == 1 for m in monomials])
    products = at[:, first] * slopes[:, last] + at[:, last] * slopes[:, first]
    rows = np.where(single, slopes[:, first], products)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows[norms[:, 0] > 0] / norms[norms[:, 0] > 0], np.float64)


def _null_space(rows: Vector) -> Vector:
    """Return a basis as rows; empty if it is not clear where it begins."""
    count = rows.shape[1]
    if not np.isfinite(rows).all() or len(rows) < count:
        return np.zeros((0, count))
    values, right = np.linalg.svd(rows)[1:]
    rank = int((values > _ZERO * values[0]).sum())
    if rank < count and rank and values[rank - 1] < SMALLEST_GAP * values[rank]:
        return np.zeros((0, count))
    return np.asarray(right[rank:], np.float64)


def _reduced(basis: Vector) -> Vector:
    """Reduced echelon form, in which laws of single neurons stand by themselves."""
    rows = basis.copy()
    done = 0
    for column in range(rows.shape[1]):
        if done == len(rows):
            break
        pivot = done + int(np.abs(rows[done:, column]).argmax())
        if abs(rows[pivot, column]) < 1e-6:
            continue
        rows[[done, pivot]] = rows[[pivot, done]]
        rows[done] /= rows[done, column]
        for i in range(len(rows)):
            if i != done:
                rows[i] -= rows[i, column] * rows[done]
        done += 1
    return rows


def _rational(value: float) -> Fraction:
    simple = Fraction(value).limit_denominator(_LARGEST_DENOMINATOR)
    return simple if abs(float(simple) - value) < 1e-7 else Fraction(value).limit_denominator(10**9)


def _slope(law: Polynomial, point: Vector) -> Vector:
    """Gradient at a point, of length one."""
    slope = np.zeros(len(point))
    for monomial, coefficient in law.items():
        for k, i in enumerate(monomial):
            others = monomial[:k] + monomial[k + 1 :]
            slope[i] += float(coefficient) * float(np.prod(point[list(others)]))
    return np.asarray(slope / np.linalg.norm(slope), np.float64)
