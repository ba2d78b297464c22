"""Ranks of sampled gradients of margin losses averaged over a finite group, in floating point."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core import Reason, Undecided
from .integrators import Vector

__all__ = ["SLOPES", "model_values", "plain_rank", "sampled_rank"]

_GAP = 1e5  # between what counts and what does not; the least that counts decays like the powers of the label

SLOPES: dict[str, Callable[[Vector], Vector]] = {
    "logistic": lambda z: -1 / (1 + np.exp(z)),
    "exponential": lambda z: -np.exp(-z),
    "sigmoid": lambda z: -1 / (4 * np.cosh(z / 2) ** 2),
    "squared": lambda z: z - 1,
}
"""φ' by the name of the loss; ``polynomial-m`` is (1 − z)^m."""


def slope(loss: str) -> Callable[[Vector], Vector]:
    """Return φ' of a loss."""
    if loss.startswith("polynomial-"):
        m = int(loss.removeprefix("polynomial-"))
        return lambda z: -m * (1 - z) ** (m - 1)
    return SLOPES[loss]


def sampled_rank(
    model: str,
    sizes: Sequence[int],
    weights: Vector,
    inputs: Vector,
    elements: Sequence[tuple[Vector, int]],
    loss: str,
) -> int:
    """Return the rank of the averaged gradients at all `inputs` and many labels in an interval around 0.

    Raises
    ------
    Undecided
        If the singular values leave the rank open.
    """
    derivative = slope(loss)
    rows = []
    for x in inputs:
        values, gradients = _orbit(model, sizes, weights, x, elements)
        # Labels reach as far as the Taylor series of the loss converges fast, which keeps all its terms visible.
        reach = 2.0 / max(1e-9, float(np.abs(values).max()))
        for y in reach * np.cos(np.linspace(0.0, np.pi, 4 * len(values) + 6)):
            rows.append(y * derivative(y * values) @ gradients / len(values))
    return _rank(np.array(rows))


def plain_rank(
    model: str, sizes: Sequence[int], weights: Vector, inputs: Vector, elements: Sequence[tuple[Vector, int]]
) -> int:
    """Return the rank of the gradients of the model along all orbits.

    Raises
    ------
    Undecided
        If the singular values leave the rank open.
    """
    return _rank(np.concatenate([_orbit(model, sizes, weights, x, elements)[1] for x in inputs]))


def _orbit(
    model: str, sizes: Sequence[int], weights: Vector, x: Vector, elements: Sequence[tuple[Vector, int]]
) -> tuple[Vector, Vector]:
    pairs = [model_values(model, sizes, weights, g @ x) for g, _ in elements]
    signs = np.array([sign for _, sign in elements], np.float64)
    return signs * np.array([f for f, _ in pairs]), signs[:, None] * np.array([gradient for _, gradient in pairs])


def model_values(model: str, sizes: Sequence[int], weights: Vector, x: Vector) -> tuple[Any, Vector]:
    """Return value and gradient of a scalar model; its parameters are output weights first, then the rows of hidden units.

    Arrays of objects give what the arithmetic of these objects gives.
    """
    if model == "linear":
        return weights @ x, x
    r = sizes[-2]
    inputs = np.append(x, 1) if model.endswith("-bias") else x
    a, w = weights[:r], weights[r:].reshape(r, -1)
    z = w @ inputs
    if model.startswith("relu"):
        value, derivative = np.maximum(z, 0), np.where(z > 0, 1, 0).astype(z.dtype)
    else:
        value, derivative = z ** sizes[0], sizes[0] * z ** (sizes[0] - 1)
    return a @ value, np.concatenate([value, ((a * derivative)[:, None] * inputs).ravel()])


def _rank(rows: Vector) -> int:
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    largest = float(norms.max(initial=0.0))
    kept = norms[:, 0] > 1e-12 * largest  # a gradient that cancels over the orbit is rounding
    if largest < 1e-300 or not kept.any():
        return 0
    values = np.linalg.svd(rows[kept] / norms[kept], compute_uv=False)
    rank = int((values > 1e-10 * values[0]).sum())
    if rank < len(values) and values[rank - 1] < _GAP * values[rank]:
        gap = values[rank - 1] / values[rank]
        raise Undecided(Reason.PRECISION, f"rank {rank} of sampled gradients has a gap of only {gap:.1e}")
    return rank
