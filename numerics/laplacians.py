"""The Laplacian L = B diag(θ²) Bᵀ of a network with grounded terminals, and the norms of weights that it carries.

L is the Laplacian of the undirected graph with weights θ² and grounded terminals: L_vv is the sum of θ_e² over all edges
at v, and L_vw minus that over the edges between v and w. With J = 2B diag(θ), JJᵀ = 4L, so the singular values of J are
twice the roots of the eigenvalues of L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from scipy.sparse import coo_array, diags_array
from torch import Tensor

from ..core import InputError, Reason, Undecided
from ..graphs.network import Network

__all__ = [
    "LanczosEstimate",
    "Laplacian",
    "MeasuredNorm",
    "jacobian",
    "lanczos_nuclear_norm",
    "measured_norm",
    "singular_values",
]

_LARGEST_BYTES = 4 << 30
_DENSE_COPIES = 4  # the matrix, its eigenvectors and work space


class Laplacian:
    """The map from weights (m,) to L (h, h), and what is needed around it; rows are the hidden nodes in order.

    Examples
    --------
    >>> L = Laplacian(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]))
    >>> L.dense(torch.tensor([1.0, 2.0, 3.0])).tolist()
    [[5.0, -4.0], [-4.0, 13.0]]
    """

    def __init__(self, network: Network, device: str | torch.device = "cpu") -> None:
        row = np.full(network.node_count, len(network.hidden_nodes))
        row[network.hidden_nodes] = np.arange(len(network.hidden_nodes))
        self.size = len(network.hidden_nodes)
        self.tail = torch.from_numpy(row[network.tail]).to(device)
        self.head = torch.from_numpy(row[network.head]).to(device)

    def dense(self, weights: Tensor) -> Tensor:
        """Return L, (h, h).

        Raises
        ------
        Undecided
            If it would need too much memory.
        """
        needed = _DENSE_COPIES * (self.size + 1) ** 2 * weights.element_size()
        if needed > _LARGEST_BYTES:
            raise Undecided(
                Reason.MEMORY,
                f"{self.size} hidden nodes take about {needed >> 20} MiB; use `lanczos_nuclear_norm` for so many",
            )
        # Terminals share one more row and column, which is dropped.
        n = self.size + 1
        square = weights**2
        flat = square.new_zeros(n * n)
        for a, b, sign in ((self.tail, self.tail, 1), (self.head, self.head, 1), (self.tail, self.head, -1)):
            flat.index_add_(0, a * n + b, sign * square)
        flat.index_add_(0, self.head * n + self.tail, -square)
        return flat.reshape(n, n)[:-1, :-1]

    def times(self, weights: Tensor, vectors: Tensor) -> Tensor:
        """Return L @ vectors for vectors (h, k), without the matrix, in O(m k)."""
        grounded = torch.cat([vectors, vectors.new_zeros(1, vectors.shape[1])])
        flow = (weights**2)[:, None] * (grounded[self.head] - grounded[self.tail])
        result: Tensor = torch.zeros_like(grounded).index_add(0, self.head, flow).index_add(0, self.tail, -flow)
        return result[:-1]

    def operator(self, weights: Tensor) -> Callable[[Tensor], Tensor]:
        """Return the map from vectors (h, k) to L @ vectors, prepared for many uses: a sparse matrix on the CPU."""
        if weights.device.type != "cpu":
            return partial(self.times, weights)
        tail, head, square = self.tail.numpy(), self.head.numpy(), (weights.detach() ** 2).numpy()
        # Terminals share one more row and column, which is dropped.
        shape = (self.size + 1, self.size + 1)
        beside = coo_array((square, (tail, head)), shape=shape).tocsr()[:-1, :-1]
        diagonal = np.bincount(tail, square, self.size + 1) + np.bincount(head, square, self.size + 1)
        matrix = diags_array(diagonal[:-1]) - beside - beside.T
        return lambda vectors: torch.from_numpy(matrix @ vectors.numpy())

    def along_edges(self, matrix: Tensor) -> Tensor:
        """Return b_eᵀ X b_e for every edge, (m,), where b_e is its column of B and X = `matrix` (h, h) is symmetric."""
        grounded = torch.nn.functional.pad(matrix, (0, 1, 0, 1))
        diagonal = grounded.diagonal()
        return diagonal[self.tail] + diagonal[self.head] - 2 * grounded[self.tail, self.head]


def singular_values(network: Network, weights: Tensor) -> Tensor:
    """Return the singular values of J = 2B diag(θ), decreasing, (min(h, m),), by a decomposition of J itself.

    Unlike roots of eigenvalues of L, small ones keep an absolute accuracy of rounding times the largest.

    Raises
    ------
    Undecided
        If J would need too much memory.
    """
    if (needed := 2 * len(network.hidden_nodes) * network.edge_count * 8) > _LARGEST_BYTES:
        raise Undecided(Reason.MEMORY, f"the Jacobian takes about {needed >> 20} MiB; use roots of eigenvalues instead")
    values: Tensor = torch.linalg.svdvals(jacobian(network, weights))
    return values


def jacobian(network: Network, weights: Tensor) -> Tensor:
    """Return J = 2B diag(θ), dense, (h, m)."""
    edges = torch.arange(network.edge_count, device=weights.device)
    J = weights.new_zeros(network.node_count, network.edge_count)
    for nodes, sign in ((network.head, 2), (network.tail, -2)):
        J = J.index_put((torch.from_numpy(nodes).to(weights.device), edges), sign * weights, accumulate=True)
    return J[torch.from_numpy(network.hidden_nodes).to(weights.device)]


@dataclass(frozen=True)
class MeasuredNorm:
    """‖J‖_* and its gradient from a decomposition of J, with bounds on their rounding (infinite where J is singular)."""

    value: float
    error: float
    gradient: tuple[float, ...]
    gradient_error: float


def measured_norm(network: Network, weights: Tensor) -> MeasuredNorm:
    """Return the sum of the singular values of J and its derivative by automatic differentiation.

    Decompositions are backward stable: a singular value is off by no more than a multiple of rounding times the largest,
    a singular vector by the same divided by the smallest.

    Raises
    ------
    Undecided
        If J would need too much memory.
    """
    theta = weights.detach().clone().requires_grad_()
    values = singular_values(network, theta)
    (gradient,) = torch.autograd.grad(values.sum(), theta, materialize_grads=True)
    values = values.detach()
    rounding = 8 * max(1, network.edge_count) * torch.finfo(theta.dtype).eps
    largest, least = (float(values[0]), float(values[-1])) if len(values) else (0.0, 1.0)
    return MeasuredNorm(
        value=float(values.sum()),
        error=rounding * len(values) * largest,
        gradient=tuple(gradient.tolist()),
        gradient_error=rounding * len(values) * largest / least if least else math.inf,
    )


@dataclass(frozen=True)
class LanczosEstimate:
    """An estimate of ‖J‖_* with its standard error over probes, and its change over the last third of the Lanczos steps."""

    value: float
    standard_error: float
    truncation: float


def lanczos_nuclear_norm(
    laplacian: Laplacian, weights: Tensor, *, probes: int = 8, steps: int = 30, seed: int = 0
) -> LanczosEstimate:
    """Return an estimate of 2 tr √L by stochastic Lanczos quadrature, in O(probes · steps · (m + steps h)).

    Parameters
    ----------
    probes : int
        Random vectors of signs, at least 2, drawn on the CPU from a generator with this `seed`.
    steps : int
        Lanczos steps of each, at least 3.

    Raises
    ------
    InputError
        For too few probes or steps.

    Examples
    --------
    >>> L = Laplacian(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]))
    >>> round(lanczos_nuclear_norm(L, torch.ones(3, dtype=torch.float64)).value, 4)
    5.4641
    """
    if probes < 2 or steps < 3:
        raise InputError(f"probes={probes!r}, steps={steps!r}: at least 2 probes and 3 steps are needed")
    n = laplacian.size
    if n == 0:
        return LanczosEstimate(0.0, 0.0, 0.0)
    generator = torch.Generator().manual_seed(seed)
    signs = 2 * torch.randint(0, 2, (n, probes), generator=generator, dtype=torch.int64) - 1
    v = signs.to(weights.device, weights.dtype) / n**0.5
    multiply = laplacian.operator(weights)
    basis = [v]
    diagonal: list[Tensor] = []
    off: list[Tensor] = []
    last = torch.zeros_like(v)
    for k in range(min(steps, n)):
        w = multiply(v)
        diagonal.append((w * v).sum(0))
        w = w - diagonal[-1] * v - (off[-1] * last if off else 0)
        for _ in range(2):  # once leaves errors of the first pass
            for q in basis:
                w = w - (w * q).sum(0) * q
        norm = torch.linalg.vector_norm(w, dim=0)
        # A probe whose space is exhausted goes on with zeros, which add nothing.
        alive = norm > 1e-12 * diagonal[0].abs()
        off.append(torch.where(alive, norm, 0.0))
        last, v = v, torch.where(alive, w / norm, 0.0)
        if k + 1 < min(steps, n):
            basis.append(v)
    shorter = _quadrature(diagonal[: max(1, 2 * len(diagonal) // 3)], off, n)
    samples = _quadrature(diagonal, off, n)
    error = float(samples.std() / probes**0.5)
    return LanczosEstimate(float(samples.mean()), error, abs(float(samples.mean() - shorter.mean())))


def _quadrature(diagonal: list[Tensor], off: list[Tensor], n: int) -> Tensor:
    """Return 2 n e₁ᵀ √T e₁ for the tridiagonal T of each probe."""
    T = torch.diag_embed(torch.stack(diagonal, -1))
    if len(diagonal) > 1:
        beside = torch.stack(off[: len(diagonal) - 1], -1)
        T = T + torch.diag_embed(beside, 1) + torch.diag_embed(beside, -1)
    values, vectors = torch.linalg.eigh(T)
    return torch.sum(2 * n * vectors[:, 0] ** 2 * values.clamp(min=0).sqrt(), -1)
