"""Stochastic gradient descent of two-layer linear nets, many runs at once, and how far their balances move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .integrators import Vector

__all__ = ["StochasticRuns", "stochastic_runs"]


@dataclass(frozen=True)
class StochasticRuns:
    """What runs of K steps τ_i with gradients g_i did to the balances h_j = |u_j|² − |v_j|² of the hidden units.

    Parameters
    ----------
    drifts : array, runs × units
        h(θ_K) − h(θ_0).
    sums : array, runs × units
        Σ τ_i² h(g_i).
    square_norms : array, K
        Mean over the runs of ‖g_i‖².
    scale : float
        Mean of ‖θ_0‖² + ‖θ_K‖², against which drifts are rounded.
    """

    drifts: Vector
    sums: Vector
    square_norms: Vector
    scale: float


def stochastic_runs(
    x: Vector,
    y: Vector,
    u: Vector,
    v: Vector,
    *,
    steps: Sequence[float],
    batch: int,
    momentum: float = 0.0,
    generator: np.random.Generator,
) -> StochasticRuns:
    """Return what happens to f = UVᵀx under the squared loss, each step on a batch drawn anew for each run.

    Parameters
    ----------
    x, y : arrays, samples × m and samples × n
        Data, common to all runs.
    u, v : arrays, runs × n × r and runs × m × r
        Starts.
    steps : sequence of float
        τ_i.
    momentum : float
        With μ > 0 the step is along Σ μ^k g_{i−k}.
    """
    start = _balances(u, v)
    size = float((u**2).sum() + (v**2).sum())
    velocity_u, velocity_v = np.zeros_like(u), np.zeros_like(v)
    sums, square_norms = np.zeros_like(start), []
    for step in steps:
        chosen = generator.integers(0, len(x), (len(u), batch))
        inputs, labels = x[chosen], y[chosen]
        hidden = inputs @ v
        errors = (hidden @ u.transpose(0, 2, 1) - labels) / batch
        along_u, along_v = errors.transpose(0, 2, 1) @ hidden, inputs.transpose(0, 2, 1) @ (errors @ u)
        sums += step**2 * _balances(along_u, along_v)
        square_norms.append(float((along_u**2).sum() + (along_v**2).sum()) / len(u))
        velocity_u, velocity_v = momentum * velocity_u + along_u, momentum * velocity_v + along_v
        u, v = u - step * velocity_u, v - step * velocity_v
    scale = (size + float((u**2).sum() + (v**2).sum())) / len(u)
    return StochasticRuns(_balances(u, v) - start, sums, np.array(square_norms), scale)


def _balances(u: Vector, v: Vector) -> Vector:
    return np.asarray((u**2).sum(axis=1) - (v**2).sum(axis=1), np.float64)
