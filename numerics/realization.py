"""Realization costs in float64: the least squared norm of the trainable weights with which a neuron has a feature.

Two ways that share no formula: `realization_costs` for many neurons and features at once, from Gram matrices S_i = Uᵀ
diag(d_i²) U, and `least_norm_costs`, a least-squares problem in the weights for every pair.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..core import InputError, Reason, Undecided
from .floats import FloatArray, floats

__all__ = [
    "Costs",
    "FloatArray",
    "Ridge",
    "floats",
    "is_free",
    "least_norm_costs",
    "least_norm_weights",
    "realization_costs",
    "require_decided",
    "ridge",
    "ridge_limit",
    "swap_costs",
]


EPS = 2.0**-52
FEASIBLE, INFEASIBLE = 1e-11, 1e-7  # residuals of feasible features stay below 1e-13; in between nothing is decided
SAFETY = 64.0  # the largest factor seen on 20 000 random instances is 2.9
GAP = 1e3  # between a singular value and the rank cut
_CHUNK_BYTES = 128 << 20


@dataclass(frozen=True)
class Costs:
    """Realization costs, row = neuron and column = feature.

    Parameters
    ----------
    values : array (m, p)
        C_ij; infinite where neuron i cannot have feature j.
    errors : array (m, p)
        Bounds on the rounding error; infinite where it was not decided whether the cost is finite.
    witness : array (m, p) of int
        Where the cost is infinite, the coordinate of U's frame in which the feature is furthest out of reach; −1 elsewhere.
    """

    values: FloatArray
    errors: FloatArray
    witness: npt.NDArray[np.int64]

    @property
    def undecided(self) -> npt.NDArray[np.bool_]:
        """Where rounding does not allow to tell a finite cost from an infinite one."""
        return np.isinf(self.errors)


def realization_costs(
    F: npt.ArrayLike, D: npt.ArrayLike, U: npt.ArrayLike, A: npt.ArrayLike, *, device: str = "cpu"
) -> Costs:
    """Return the costs of all features in all neurons, C_ij = (a_j − v_i)ᵀ S_i† (a_j − v_i) or infinity.

    Neurons are handled in chunks of about 128 MiB. Well-conditioned S_i are factored (Cholesky). For others diag(d_i) U is
    decomposed: singular values up to max(n, k)·eps·σ_max count as zero, and one that exceeds this by less than a factor of
    1000 leaves the row undecided.

    Parameters
    ----------
    F, D : (m, n)
        Fixed weights; scales or masks of the trainable ones.
    U : (n, k)
        Orthonormal basis of the data.
    A : (p, k)
        Features.
    device : str
        Where to compute.

    Raises
    ------
    InputError
        For shapes that do not fit, numbers that are not finite, or a basis that is not orthonormal.
    """
    f, d, u, a = _layer(F, D, U, A, device)
    m, n, k, p = len(f), len(u), u.shape[1], len(a)
    centers = f @ u
    values = torch.empty(m, p, dtype=torch.float64)
    errors = torch.empty(m, p, dtype=torch.float64)
    witness = torch.full((m, p), -1, dtype=torch.int64)
    chunk = max(1, _CHUNK_BYTES // (8 * (n * k + 3 * k * k + 2 * k * p)))
    for start in range(0, m, chunk):
        rows = slice(start, start + chunk)
        scaled = d[rows, :, None] * u
        found = _chunk_costs(scaled, centers[rows], a)
        for whole, part in zip((values, errors, witness), found, strict=True):
            whole[rows] = part.cpu()
    return Costs(values.numpy(), errors.numpy(), witness.numpy())


def _chunk_costs(scaled: Tensor, v: Tensor, a: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return costs, errors and witnesses for the matrices diag(d_i) U of some neurons."""
    S, k = scaled.mT @ scaled, scaled.shape[-1]
    factor, info = torch.linalg.cholesky_ex(S)
    unit = torch.eye(k, dtype=S.dtype, device=S.device).expand_as(S)
    inverted = torch.linalg.solve_triangular(factor, unit, upper=False)
    trace = S.diagonal(dim1=-2, dim2=-1).sum(-1)  # λ_max is at most that, and 1/λ_min at most the trace of S⁻¹
    condition = trace * inverted.square().sum((-2, -1))
    fine = (info == 0) & (condition < 1 / (GAP * k * EPS))
    b = a[None] - v[:, None]
    values = (b @ inverted.mT).square().sum(-1)
    scale = (torch.linalg.vector_norm(a, dim=-1)[None] + torch.linalg.vector_norm(v, dim=-1)[:, None]).square()
    # With λ_max ≥ trace/k the scale of T1, (‖a‖ + ‖v‖)²/λ_max, is at most this.
    errors = SAFETY * k * EPS * condition[:, None] * (2 * values + scale * (k / trace)[:, None])
    witness = torch.full(values.shape, -1, dtype=torch.int64, device=S.device)
    for i in torch.nonzero(~fine).flatten().tolist():
        values[i], errors[i], witness[i] = _singular_costs(scaled[i], b[i], scale[i])
    return values, errors, witness


def _singular_costs(scaled: Tensor, b: Tensor, scale: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return costs, errors and witnesses of one neuron from the singular values of diag(d) U.

    Rounding leaves eps times the largest in these, as it does in the eigenvalues of S, which are their squares: a rank that S
    hides shows here.
    """
    n, k = scaled.shape
    _, singular, adjoint = torch.linalg.svd(scaled, full_matrices=True)
    values = torch.zeros(k, dtype=scaled.dtype, device=scaled.device)
    values[: len(singular)] = singular
    frame, largest = adjoint.mT, float(values[0])
    cut = max(n, k) * EPS * largest
    kept = values > cut
    eigenvalues = values**2
    coordinates = b @ frame
    outside = coordinates * ~kept
    residual = torch.linalg.vector_norm(outside, dim=-1) / scale.sqrt().clamp_min(torch.finfo(scaled.dtype).tiny)
    infeasible, feasible = residual >= INFEASIBLE, residual <= FEASIBLE
    costs = (coordinates.square() * kept / eigenvalues.where(kept, torch.ones_like(eigenvalues))).sum(-1)
    condition = largest**2 / float(eigenvalues[kept].min()) if bool(kept.any()) else 1.0
    errors = SAFETY * k * EPS * condition * (2 * costs + scale / (largest**2 or 1.0))
    costs = costs.masked_fill(~feasible, math.inf)
    errors = errors.masked_fill(infeasible, 0.0)
    if bool((kept & (values < cut * GAP)).any()):
        errors = torch.full_like(errors, math.inf)  # the rank itself is in doubt
    errors = errors.masked_fill(~(feasible | infeasible), math.inf)
    furthest = ((outside @ frame.mT).abs()).argmax(-1)
    return costs, errors, torch.where(infeasible, furthest, -1)


def least_norm_costs(F: npt.ArrayLike, D: npt.ArrayLike, U: npt.ArrayLike, A: npt.ArrayLike) -> Costs:
    """Return the costs as squared norms of minimum-norm least-squares solutions, one pair at a time.

    U is any matrix (n, k) here: its columns may be a basis, or data points with the wanted outputs as features.

    Raises
    ------
    InputError
        As `realization_costs`, but for a basis that is not orthonormal.
    """
    f, d, u, a = (x.numpy() for x in _layer(F, D, U, A, "cpu", is_orthonormal=False))
    values, errors = np.empty((len(f), len(a))), np.empty((len(f), len(a)))
    for i in range(len(f)):
        M = (d[i][:, None] * u).T
        v = f[i] @ u
        terms = np.linalg.norm(
            np.abs(f[i]) @ np.abs(u)
        )  # the sums in v may cancel, and then v is smaller than its rounding
        singular = np.linalg.svd(M, compute_uv=False)
        cut = max(M.shape) * EPS * singular[0]
        kept = singular[singular > cut]
        doubtful = bool((kept < cut * GAP).any())
        # Costs carry the square of the condition number of M, which is that of S.
        condition = float((kept[0] / kept[-1]) ** 2) if len(kept) else 1.0
        for j in range(len(a)):
            w = least_norm_weights(M, a[j] - v)
            scale = float((np.linalg.norm(a[j]) + np.linalg.norm(v)) ** 2)
            residual = float(np.linalg.norm(M @ w - (a[j] - v))) / (math.sqrt(scale) or 1.0)
            cost = float(w @ w)
            size = float((np.linalg.norm(a[j]) + terms) ** 2)
            error = SAFETY * len(v) * EPS * condition * (2 * cost + size / (float(singular[0]) ** 2 or 1.0))
            is_decided = (residual <= FEASIBLE or residual >= INFEASIBLE) and not doubtful
            values[i, j] = cost if residual <= FEASIBLE else math.inf
            errors[i, j] = (error if residual <= FEASIBLE else 0.0) if is_decided else math.inf
    return Costs(values, errors, np.where(np.isinf(values), 0, -1))


def least_norm_weights(M: FloatArray, b: FloatArray) -> FloatArray:
    """Return the w of least norm that minimizes ‖M w − b‖."""
    return np.asarray(np.linalg.lstsq(M, b, rcond=max(M.shape) * EPS)[0], np.float64)


def swap_costs(costs: FloatArray) -> FloatArray:
    """Return the matrix of Δ_(ij) = C_ij + C_ji − C_ii − C_jj; the diagonal is 0, and negative entries are possible.

    Raises
    ------
    InputError
        If a neuron does not realize its own feature.
    """
    own = np.diagonal(costs)
    if not np.isfinite(own).all():
        bad = int(np.flatnonzero(~np.isfinite(own))[0])
        raise InputError(f"costs[{bad}, {bad}]={own[bad]}: a neuron has to realize its own feature; leave it out")
    swaps: FloatArray = costs + costs.T - own[:, None] - own[None]
    np.fill_diagonal(swaps, 0.0)
    return swaps


def is_free(F: FloatArray, D: FloatArray, U: FloatArray, *, seed: int) -> bool:
    """Return whether no swap of two neurons costs anything, for random features that the neurons can have.

    Features at which a swap that costs something for others costs nothing have probability 0.

    Raises
    ------
    Undecided
        If rounding does not tell.
    """
    A = (F + D * np.random.default_rng(seed).standard_normal(F.shape)) @ U
    costs = least_norm_costs(F, D, U, A)
    require_decided(costs)
    own, errors = np.diagonal(costs.values), costs.errors + costs.errors.T
    swaps = costs.values + costs.values.T - own[:, None] - own[None]
    rounding = errors + np.diagonal(costs.errors)[:, None] + np.diagonal(costs.errors)[None]
    if bool((np.abs(swaps) > 1e6 * rounding).any()):
        return False
    if bool((np.abs(swaps) > rounding).any()):
        raise Undecided(Reason.PRECISION, "the costs of swaps are as small as their rounding")
    return True


@dataclass(frozen=True)
class Ridge:
    """The minimum of ‖w‖² + β⁻¹ E(⟨a, z⟩ − ⟨v + M w, z⟩)², the squared norm there, and a bound on the error of both."""

    value: float
    squared_norm: float
    error: float


def ridge(M: FloatArray, b: FloatArray, covariance: FloatArray, beta: float) -> Ridge:
    """Return the ridge problem solved as least squares in w: rows w, and Lᵀ(b − M w)/√β with L Lᵀ = covariance.

    Raises
    ------
    InputError
        If the covariance is not positive definite.
    """
    try:
        root = np.linalg.cholesky(covariance)
    except np.linalg.LinAlgError:
        raise InputError("covariance: not positive definite; restrict the data to its range first") from None
    n = M.shape[1]
    system = np.vstack([np.eye(n), root.T @ M / math.sqrt(beta)])
    right = np.concatenate([np.zeros(n), root.T @ b / math.sqrt(beta)])
    w = np.linalg.lstsq(system, right, rcond=None)[0]
    rest = right - system @ w
    value, squared_norm = float(rest @ rest), float(w @ w)
    condition = float(np.linalg.cond(system))
    return Ridge(value, squared_norm, SAFETY * n * EPS * condition * (1 + float(right @ right)))


def ridge_limit(M: FloatArray, b: FloatArray, covariance: FloatArray) -> tuple[float, float]:
    """Return the limit of β · value for β → 0 and a bound on the error: extrapolated from β, β/2 and β/4.

    β · value is a rational function of β without a pole at 0: two steps of Richardson's extrapolation leave O(β³).
    """
    step = 1e-4 * float(np.linalg.norm(covariance, 2))
    scaled = [step / 2**i * ridge(M, b, covariance, step / 2**i).value for i in range(3)]
    once = [2 * scaled[1] - scaled[0], 2 * scaled[2] - scaled[1]]
    twice = (4 * once[1] - once[0]) / 3
    return twice, abs(twice - once[1]) + 1e-9 * float(
        b @ covariance @ b
    )  # least squares with weights 1/β: 1e-9 is rounding


def _layer(
    F: npt.ArrayLike, D: npt.ArrayLike, U: npt.ArrayLike, A: npt.ArrayLike, device: str, *, is_orthonormal: bool = True
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    arrays = {name: np.asarray(x, np.float64) for name, x in (("F", F), ("D", D), ("U", U), ("A", A))}
    for name, array in arrays.items():
        if array.ndim != 2 or array.size == 0:
            raise InputError(f"{name}: shape {array.shape}; a matrix is needed")
        if not np.isfinite(array).all():
            bad = tuple(int(x) for x in np.argwhere(~np.isfinite(array))[0])
            raise InputError(f"{name}{list(bad)}={array[bad]}: numbers must be finite")
    f, d, u, a = arrays.values()
    n, k = u.shape
    if f.shape != d.shape or f.shape[1] != n or a.shape[1] != k:
        raise InputError(
            f"F {f.shape}, D {d.shape}, U {u.shape}, A {a.shape}: (m, n), (m, n), (n, k), (p, k) are needed"
        )
    if is_orthonormal:
        if k > n:
            raise InputError(f"U: k={k} columns of length n={n}; at most n can be orthonormal")
        defect = float(np.abs(u.T @ u - np.eye(k)).max())
        if not defect <= 1e-10:  # what a QR or singular value decomposition leaves is below 1e-13
            raise InputError(
                f"U: UᵀU differs from 1 by {defect:.2g}; orthonormalize the basis, e.g. by numpy.linalg.qr"
            )
    return tuple(torch.from_numpy(np.ascontiguousarray(x)).to(device) for x in (f, d, u, a))  # type: ignore[return-value]


def require_decided(costs: Costs) -> None:
    """Raise Undecided if rounding does not allow to tell which costs are finite.

    Raises
    ------
    Undecided
        Naming the pair.
    """
    if costs.undecided.any():
        i, j = (int(x) for x in np.argwhere(costs.undecided)[0])
        raise Undecided(Reason.PRECISION, f"cost[{i},{j}]: rounding does not tell whether it is finite")
