"""How far a subspace or a direction has moved."""

from __future__ import annotations

import math

import numpy as np

from .integrators import Vector

__all__ = ["EPSILON", "direction_drift", "range_drift", "range_tolerance"]

EPSILON = float(np.finfo(np.float64).eps)


def range_drift(before: Vector, after: Vector) -> float:
    """Return the sine of the largest principal angle between the ranges of two matrices of full column rank."""
    a, b = np.linalg.qr(before)[0], np.linalg.qr(after)[0]
    return float(np.linalg.norm(a - b @ (b.T @ a), 2))


def range_tolerance(before: Vector, after: Vector) -> float:
    """Return what rounding may move a range by: 100 ε σ_max(before)/σ_min(after); infinite if `after` has collapsed.

    A matrix whose smallest singular value decays carries the same absolute error in an ever shorter column.
    """
    largest = float(np.linalg.norm(before, 2))
    smallest = float(np.linalg.svd(after, compute_uv=False)[-1])
    # Below 1e-12 nothing is left of the last column but rounding.
    return 100 * EPSILON * largest / smallest if smallest >= 1e-12 else math.inf


def direction_drift(before: Vector, after: Vector) -> float:
    """Return the distance between two arrays divided by their norms."""
    return float(np.linalg.norm(before / np.linalg.norm(before) - after / np.linalg.norm(after)))
