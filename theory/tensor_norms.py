"""Upper bounds of spectral norms of small tensors: the supremum over unit vectors on every index."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from .matrices import Rows

__all__ = ["matrix_norm", "slices_norm_bound"]

_STEPS = 600


def matrix_norm(rows: Rows) -> float:
    """Return the largest singular value.

    Examples
    --------
    >>> from fractions import Fraction
    >>> matrix_norm(((Fraction(3), Fraction(0)), (Fraction(0), Fraction(-4))))
    4.0
    """
    return float(np.linalg.svd(_floats(rows), compute_uv=False)[0])


def slices_norm_bound(slices: Sequence[Rows]) -> float:
    """Return an upper bound of the norm of the tensor N with N[i] = slices[i], up to three of them, off by at most 1e-4.

    With u on a grid of the sphere, Σ u_i N[i] has a largest singular value of at least cos δ ‖N‖ for the u closest to the
    best one, δ the distance of the grid: the trilinear form is linear in u.

    Examples
    --------
    >>> from fractions import Fraction
    >>> one, zero = Fraction(1), Fraction(0)
    >>> N = [((one, zero), (zero, zero)), ((zero, zero), (zero, one))]
    >>> 1 <= slices_norm_bound(N) < 1.0001
    True
    """
    tensor = np.array([_floats(rows) for rows in slices])
    grid, distance = _half_sphere(len(slices))
    largest = float(np.linalg.svd(np.einsum("gi,ijk->gjk", grid, tensor), compute_uv=False)[:, 0].max())
    return largest / math.cos(distance)


def _half_sphere(dimension: int) -> tuple[npt.NDArray[np.float64], float]:
    """Return unit vectors, one of which or its negative is within the returned angle of any other."""
    if dimension == 1:
        return np.ones((1, 1)), 0.0
    angles = np.linspace(0, math.pi, _STEPS, endpoint=False)
    step = math.pi / _STEPS
    if dimension == 2:
        return np.stack([np.cos(angles), np.sin(angles)], 1), step / 2
    polar, azimuth = np.meshgrid(
        angles[: _STEPS // 2 : 2], np.concatenate([angles, angles + math.pi])[::2], indexing="ij"
    )
    sphere = np.stack([np.sin(polar) * np.cos(azimuth), np.sin(polar) * np.sin(azimuth), np.cos(polar)], -1)
    equator = np.stack([np.cos(angles), np.sin(angles), 0 * angles], 1)
    # Half a step in each of two orthogonal directions.
    return np.concatenate([sphere.reshape(-1, 3), equator]), 2 * step * math.sqrt(0.5)


def _floats(rows: Rows) -> npt.NDArray[np.float64]:
    return np.array([[float(entry) for entry in row] for row in rows])
