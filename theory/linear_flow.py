"""Gradient flow of a linear model on one batch, by the exponential of its kernel."""

from __future__ import annotations

from collections.abc import Sequence

import mpmath

__all__ = ["batch_flow"]

_DIGITS = 30


def batch_flow(
    kernel: Sequence[Sequence[float]],
    values: Sequence[float],
    batch: Sequence[int],
    offsets: Sequence[float],
    slope: float,
    time: float,
) -> list[float]:
    """Return f at `time` with f' = −K[·, batch] (slope · f + offset)[batch]/|batch| and f(0) = `values`.

    Parameters
    ----------
    kernel : rows of float
        K, for all pairs of inputs.
    offsets : sequence of float
        For each input the loss derivative at f = 0.
    slope : float
        Derivative of the loss derivative in f.

    Examples
    --------
    >>> [round(f, 6) for f in batch_flow([[1.0]], [1.0], [0], [0.0], 1.0, 1.0)]
    [0.367879]
    """
    size = len(values)
    with mpmath.workdps(_DIGITS):
        # f' = A f + b as one linear system with a constant coordinate.
        system = mpmath.zeros(size + 1)
        for i in range(size):
            for b in batch:
                weight = mpmath.mpf(kernel[i][b]) / len(batch)
                system[i, b] -= weight * slope
                system[i, size] -= weight * offsets[b]
        start = mpmath.matrix([*values, 1.0])
        end = mpmath.expm(time * system) * start
        return [float(end[i]) for i in range(size)]
