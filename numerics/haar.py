"""Random orthogonal matrices: of O(d), and of the lift group of a finite group; symmetries found by averaging.

The lift group H consists of the orthogonal h that commute with all symmetric matrices in the commutant of the group and fix
all intertwiners to the labels from the right. The orthogonal part of a Gaussian element of a *-algebra of matrices is
Haar-distributed on its orthogonal elements, since a Gaussian is invariant under them: O, U and Sp need not be told apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core import Reason, Undecided
from .integrators import Vector

__all__ = ["Symmetries", "haar_of_lift_group", "haar_orthogonal", "symmetries"]

_GAP = 1e6


@dataclass(frozen=True)
class Symmetries:
    """Orthonormal bases of the spaces that decide the lift group, as arrays of matrices.

    Parameters
    ----------
    commutant, symmetric : arrays, dimension × n × n
        What commutes with the group, and its symmetric part.
    intertwiners : array, dimension × q × n
        B with ρ_Y(g)B = Bρ(g).
    algebra : array, dimension × n × n
        What commutes with the symmetric part.
    fixed : array, n × n
        Projector on the components that occur in the labels, where the lift group is trivial.
    """

    commutant: Vector
    symmetric: Vector
    intertwiners: Vector
    algebra: Vector
    fixed: Vector

    @property
    def lie(self) -> Vector:
        """Basis of the Lie algebra of the lift group: skew elements of the algebra away from the labels."""
        free = np.eye(len(self.fixed)) - self.fixed
        inside = free @ self.algebra @ free
        return _basis(inside - inside.transpose(0, 2, 1))


def symmetries(elements: Sequence[tuple[Vector, Vector]]) -> Symmetries:
    """Return the symmetries of a finite group, given by all its elements as matrices on inputs and labels.

    Raises
    ------
    Undecided
        If a dimension is not clear in floating point.
    """
    on_inputs, on_labels = (np.array(matrices) for matrices in zip(*elements, strict=True))
    n = on_inputs.shape[1]
    commutant = _averages(on_inputs, on_inputs)
    intertwiners = _averages(on_labels, on_inputs)
    symmetric = _basis(commutant + commutant.transpose(0, 2, 1))
    # X commutes with all A iff Σ ‖AX − XA‖² = 0, a quadratic form in X.
    one = np.eye(n)
    maps = [np.kron(a, one) - np.kron(one, a.T) for a in symmetric]
    form = np.sum([m.T @ m for m in maps], axis=0)
    algebra = _kernel(form).reshape(-1, n, n)
    rows = intertwiners.reshape(-1, n)
    fixed = np.zeros((n, n))
    if len(rows):
        span = _basis(rows[:, None, :])[:, 0]
        fixed = span.T @ span
    return Symmetries(commutant, symmetric, intertwiners, algebra, fixed)


def haar_of_lift_group(found: Symmetries, generator: np.random.Generator, count: int) -> Vector:
    """Return `count` Haar-distributed elements of the lift group, count × n × n."""
    n = len(found.fixed)
    free = np.eye(n) - found.fixed
    gaussian = np.tensordot(generator.standard_normal((count, len(found.algebra))), found.algebra, 1)
    u, _, v = np.linalg.svd(free @ gaussian @ free + found.fixed)
    return np.asarray(u @ v, np.float64)


def haar_orthogonal(generator: np.random.Generator, d: int, count: int) -> Vector:
    """Return `count` Haar-distributed orthogonal d × d matrices."""
    q, r = np.linalg.qr(generator.standard_normal((count, d, d)))
    return np.asarray(q * np.sign(np.einsum("nii->ni", r))[:, None, :], np.float64)


def _averages(left: Vector, right: Vector) -> Vector:
    """Basis of the matrices X with left(g) X right(g)ᵀ = X for all g: averaging is the projector on them."""
    q, n = left.shape[1], right.shape[1]
    projector = np.einsum("gab,gcd->acbd", left, right).reshape(q * n, q * n) / len(left)
    values, vectors = np.linalg.eigh((projector + projector.T) / 2)
    # Eigenvalues are 0 and 1; anything between would be no projector, so no group.
    if ((values > 1e-6) & (values < 1 - 1e-6)).any():
        raise Undecided(Reason.PRECISION, "averaging is no projector: the matrices given are no group")
    return np.asarray(vectors[:, values > 0.5].T.reshape(-1, q, n), np.float64)


def _basis(matrices: Vector) -> Vector:
    """Orthonormal basis of the span of matrices."""
    _, *shape = matrices.shape
    if not len(matrices):
        return matrices
    _, values, vectors = np.linalg.svd(matrices.reshape(len(matrices), -1), full_matrices=False)
    return vectors[: _rank(values, max(1.0, float(values[0])))].reshape(-1, *shape)


def _kernel(form: Vector) -> Vector:
    values, vectors = np.linalg.eigh(form)
    return np.asarray(vectors[:, : len(values) - _rank(values[::-1], max(1.0, float(values[-1])))].T, np.float64)


def _rank(values: Vector, scale: float) -> int:
    """Number of values that are not rounding, in decreasing order; the step down to rounding has to be clear."""
    rank = int((values > 1e-9 * scale).sum())
    if 0 < rank < len(values) and not values[rank - 1] > _GAP * max(float(values[rank]), 1e-300):
        raise Undecided(
            Reason.PRECISION, f"a dimension of {rank} is not clear: {values[rank - 1]:.1e}, {values[rank]:.1e}"
        )
    return rank
