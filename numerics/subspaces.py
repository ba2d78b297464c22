"""Subspaces that data span: bases, dimensions, coherence. Float64, NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ..core import InputError
from .realization import EPS, FloatArray

__all__ = ["Support", "SupportKind", "anisotropy_bound", "coherence", "data_subspace", "random_basis"]

SupportKind: TypeAlias = Literal["linear", "affine"]


def coherence(U: npt.ArrayLike) -> float:
    """Return ν = max_l ‖P e_l‖², the largest squared norm of a row of the orthogonal projection's factor.

    The columns of U may be any basis of the subspace: they are orthonormalized first.
    """
    q = np.linalg.qr(np.asarray(U, np.float64))[0]
    return float((q**2).sum(1).max())


def random_basis(n: int, k: int, seed: int) -> FloatArray:
    """Return an orthonormal basis (n, k) of a uniformly random subspace.

    Raises
    ------
    InputError
        Unless 1 ≤ k ≤ n.
    """
    if not 1 <= k <= n:
        raise InputError(f"k={k!r}: a subspace of dimension 1 to n={n} is needed")
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, k)))[0]


def anisotropy_bound(
    coherence: float, dimension: int, keep: float, failure: float, *, neurons: int = 1, fixed_size: bool = False
) -> float:
    """Return a bound on ‖S − μ1‖₂ that masks keep with probability 1 − failure: (2/3) b ν L + σ √(2 ν L).

    Parameters
    ----------
    coherence, dimension : float, int
        ν and k of the subspace.
    keep : float
        Probability μ that an entry is trainable.
    failure : float
        δ; L = log(2 k neurons/δ).
    fixed_size : bool
        Every mask has the same number of zeros: sampling without replacement has other constants, b = 1, σ² = min(μ, 1 − μ).

    Raises
    ------
    InputError
        For a probability out of range.
    """
    if not (0 <= keep <= 1 and 0 < failure <= 1):
        raise InputError(f"keep={keep!r}, failure={failure!r}: probabilities are needed, and failure is not 0")
    if keep in (0, 1):
        return 0.0
    b, variance = (1.0, min(keep, 1 - keep)) if fixed_size else (max(keep, 1 - keep), keep * (1 - keep))
    scale = coherence * math.log(2 * dimension * neurons / failure)
    return 2 / 3 * b * scale + math.sqrt(2 * variance * scale)


@dataclass(frozen=True)
class Support:
    """The subspace that data were found to lie in, approximately.

    Parameters
    ----------
    basis : array (n, k)
        Orthonormal. For an affine support the direction of the mean, after projection, is the last column.
    kind : str
        ``linear``: through the origin; ``affine``: the mean and the directions of variation around it.
    explained : float
        Share of the (second or central) moments within it.
    gap : float
        Ratio of the k-th to the (k+1)-th singular value: how clear the cut is.
    outside : float
        ‖X − P X‖/‖X‖, what the projection loses of the data.
    """

    basis: FloatArray
    kind: SupportKind
    explained: float
    gap: float
    outside: float

    @property
    def dimension(self) -> int:
        """k."""
        return int(self.basis.shape[1])


def data_subspace(X: npt.ArrayLike, *, kind: SupportKind = "linear", explained: float = 0.9) -> Support:
    """Return the smallest principal subspace of the rows of X (N, n) that holds the share `explained` of their energy.

    Raises
    ------
    InputError
        For NaN or infinity, zero or constant data, or a share out of (0, 1].
    """
    X = np.asarray(X, np.float64)
    if X.ndim != 2 or X.size == 0:
        raise InputError(f"data: shape {X.shape}; rows of numbers are needed")
    if not np.isfinite(X).all():
        bad = tuple(int(i) for i in np.argwhere(~np.isfinite(X))[0])
        raise InputError(f"data{list(bad)}={X[bad]}: not finite; the network diverged or the input is damaged")
    if not 0 < explained <= 1:
        raise InputError(f"explained={explained!r}: a share in (0, 1] is needed")
    mean = X.mean(0)
    centered = X - mean if kind == "affine" else X
    singular, directions = np.linalg.svd(centered, full_matrices=False)[1:]
    energy = singular**2
    total = float(energy.sum())
    if total <= (len(X) * EPS) ** 2 * float((X**2).sum()) or total == 0:
        raise InputError("data: zero or constant, so that they span nothing")
    rank = int((singular > max(X.shape) * EPS * singular[0]).sum())
    # The share is compared with the rounding of a sum of all squares.
    k = min(int(np.searchsorted(np.cumsum(energy), explained * total * (1 - X.size * EPS)) + 1), rank)
    gap = float(singular[k - 1] / singular[k]) if k < len(singular) and singular[k] > 0 else math.inf
    basis = directions[:k].T
    if kind == "affine":
        rest = mean - basis @ (basis.T @ mean)
        if np.linalg.norm(rest) > max(X.shape) * EPS * np.linalg.norm(mean):
            basis = np.column_stack([basis, rest / np.linalg.norm(rest)])
    lost = X - (X @ basis) @ basis.T
    outside = float(np.linalg.norm(lost) / np.linalg.norm(X))
    return Support(basis, kind, float(energy[:k].sum()) / total, gap, outside)
