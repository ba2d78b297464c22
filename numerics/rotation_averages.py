"""Averages of tensors over all rotations, by pairings of their indices, and over finite groups that are designs."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from .integrators import Vector

__all__ = ["icosian_average", "icosian_rotations", "icosians", "pairing_average", "rotation_average"]


def rotation_average(tensor: Vector, d: int) -> Vector:
    """Return the average over O(d), which acts on the first d coordinates of every axis and leaves the others alone.

    On s axes it is the orthogonal projection on the (s − 1)!! tensors δ_{..}…δ_{..} that pair the axes, and 0 for odd s. The
    average over SO(d) is the same for s < d.

    Parameters
    ----------
    tensor : array
        Axes of length at least d.
    """
    total = np.zeros(tensor.shape)
    for turning in itertools.product((True, False), repeat=tensor.ndim):
        block = tuple(slice(0, d) if turns else slice(d, None) for turns in turning)
        axes = [axis for axis, turns in enumerate(turning) if turns]
        part = np.moveaxis(tensor[block], axes, range(len(axes)))
        if not part.size or len(axes) % 2:
            continue
        pairings = _orthonormal_pairings(len(axes), d)
        flat = part.reshape(d ** len(axes), -1)
        total[block] = np.moveaxis((pairings.T @ (pairings @ flat)).reshape(part.shape), range(len(axes)), axes)
    return total


def pairing_average(a: Vector, d: int) -> Vector:
    """Return the average of A ∈ (ℝᵈ)^{⊗6}, as a d³ × d³ matrix, over O(d)."""
    return rotation_average(a.reshape((d,) * 6), d).reshape(a.shape)


def icosians() -> Vector:
    """Return the 120 unit icosians as quaternions (1, i, j, k), one per row."""
    phi = (1 + 5**0.5) / 2
    units = [sign * row for row in np.eye(4) for sign in (1.0, -1.0)]
    halves = [np.array(signs) / 2 for signs in itertools.product((1.0, -1.0), repeat=4)]
    golden = []
    for order in itertools.permutations(range(4)):
        if _is_even(order):
            for a, b, c in itertools.product((1.0, -1.0), repeat=3):
                values = (a * phi / 2, b / 2, c / (2 * phi), 0.0)
                golden.append(np.array([values[i] for i in order]))
    return np.array(units + halves + golden)


def icosian_average(a: Vector, power: int) -> Vector:
    """Return the average of A ∈ End((ℝ⁴)^{⊗power}) over the 7200 rotations x ↦ p x q̄ of icosians p, q.

    The two factors commute, so that averaging over one and then over the other is enough. Exact for the average over SO(4) up
    to degree 11 in the entries of a rotation.
    """
    for matrices in (_left(icosians()), _right(icosians())):
        total = np.zeros_like(a)
        for g in matrices:
            lifted = g
            for _ in range(power - 1):
                lifted = np.kron(lifted, g)
            total += lifted @ a @ lifted.T
        a = total / len(matrices)
    return a


def icosian_rotations() -> Vector:
    """Return the 7200 rotations x ↦ p x q̄, one of each pair (p, q), (−p, −q)."""
    quaternions = icosians()
    leading = quaternions[np.arange(len(quaternions)), (quaternions != 0).argmax(axis=1)]
    products = _left(quaternions)[:, None] @ _right(quaternions[leading > 0])
    return np.asarray(products.reshape(-1, 4, 4), np.float64)


def _left(p: Vector) -> Vector:
    """Matrices of x ↦ p x."""
    a, b, c, d = p.T
    rows = [[a, -b, -c, -d], [b, a, -d, c], [c, d, a, -b], [d, -c, b, a]]
    return np.asarray(np.array(rows).transpose(2, 0, 1), np.float64)


def _right(q: Vector) -> Vector:
    """Matrices of x ↦ x q̄."""
    a, b, c, d = q.T
    rows = [[a, b, c, d], [-b, a, -d, c], [-c, d, a, -b], [-d, -c, b, a]]
    return np.asarray(np.array(rows).transpose(2, 0, 1), np.float64)


def _orthonormal_pairings(s: int, d: int) -> Vector:
    """Orthonormal basis of the span of pairings of s axes, as flat tensors; they are dependent for s > 2d."""
    if s == 0:
        return np.ones((1, 1))
    tensors = np.array([_pairing_tensor(pairs, s, d).ravel() for pairs in _pairings(list(range(s)))])
    _, values, vectors = np.linalg.svd(tensors, full_matrices=False)
    return np.asarray(vectors[values > 1e-9 * values[0]], np.float64)


def _pairings(items: list[int]) -> list[list[tuple[int, int]]]:
    if not items:
        return [[]]
    return [
        [(items[0], items[i]), *rest] for i in range(1, len(items)) for rest in _pairings(items[1:i] + items[i + 1 :])
    ]


def _pairing_tensor(pairs: Sequence[tuple[int, int]], s: int, d: int) -> Vector:
    """The tensor of ones where paired indices agree."""
    tensor = np.zeros((d,) * s)
    place = [0] * s
    for values in np.ndindex(*(d,) * len(pairs)):
        for value, (i, j) in zip(values, pairs, strict=True):
            place[i] = place[j] = value
        tensor[tuple(place)] = 1.0
    return tensor


def _is_even(order: Sequence[int]) -> bool:
    return sum(a > b for a, b in itertools.combinations(order, 2)) % 2 == 0
