"""The nuclear norm ‖J‖_* = 2 tr √L of a network as a differentiable penalty: it drives neurons to be disconnected.

For one hidden layer it is twice the group lasso over neurons: the sum of the norms of all weights at a neuron. Its gradient
is 2 θ_e q_e with q_e = b_eᵀ L^{−1/2} b_e, an adaptive weight decay of every edge.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from ..core import InputError
from ..graphs.models import ModelNetwork
from .laplacians import LanczosEstimate, Laplacian, lanczos_nuclear_norm
from .modules import network_of

__all__ = ["NuclearNorm", "edge_weights", "nuclear_norm"]


def nuclear_norm(laplacian: Laplacian, weights: Tensor, *, ridge: float = 0.0) -> Tensor:
    """Return 2 tr √(L + ridge), a scalar that is differentiable once in `weights` (m,).

    Where L is singular and `ridge` is 0, the gradient is the smallest subgradient: eigenvalues that are zero up to rounding
    are left out. Roots magnify rounding, so singular values of J below 10⁻⁸ of the largest are not told from 0.

    Parameters
    ----------
    laplacian : Laplacian
        Of the network whose edges the weights are on.
    ridge : float
        Added to the diagonal of L, not negative; it bounds the gradient near singular points.

    Raises
    ------
    InputError
        For a negative ridge.
    Undecided
        If L would need too much memory; see `lanczos_nuclear_norm`.

    Examples
    --------
    >>> from ..graphs.network import Network
    >>> L = Laplacian(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]))
    >>> round(nuclear_norm(L, torch.ones(3, dtype=torch.float64)).item(), 4)
    5.4641
    """
    if not ridge >= 0:
        raise InputError(f"ridge={ridge!r}: a number that is not negative is needed")
    value: Tensor = _NuclearNorm.apply(weights, laplacian, ridge)  # type: ignore[no-untyped-call]
    return value


class _NuclearNorm(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weights: Tensor, laplacian: Laplacian, ridge: float) -> Tensor:
        values, vectors = torch.linalg.eigh(laplacian.dense(weights))
        ctx.save_for_backward(weights, values, vectors)
        ctx.laplacian, ctx.ridge = laplacian, ridge
        return 2 * torch.sum((values.clamp(min=0) + ridge).sqrt())

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None, None]:
        weights, values, vectors = ctx.saved_tensors
        q = ctx.laplacian.along_edges(_inverse_root(values, vectors, ctx.ridge))
        return grad * 2 * weights * q, None, None


def _inverse_root(values: Tensor, vectors: Tensor, ridge: float) -> Tensor:
    """Return (L + ridge)^{−1/2} on the range of L + ridge, from the eigenvalues and eigenvectors of L."""
    shifted = values.clamp(min=0) + ridge
    largest = float(shifted.max()) if len(shifted) else 0.0
    is_zero = shifted <= len(values) * torch.finfo(values.dtype).eps * largest
    root = torch.where(is_zero, 0.0, shifted.rsqrt())
    return (vectors * root) @ vectors.T


def edge_weights(network: ModelNetwork, module: nn.Module) -> Tensor:
    """Return the weights of the edges of a module's network, (m,), in float64, differentiable in the parameters."""
    parameters = dict(module.named_parameters(remove_duplicate=False))
    parts = []
    for block in network.blocks:
        flat = parameters[block.name].double().flatten()
        parts.append(flat if block.entries is None else flat[torch.from_numpy(block.entries).to(flat.device)])
    return torch.cat(parts) if parts else torch.zeros(0, dtype=torch.float64)


class NuclearNorm:
    """The nuclear norm of a module as a penalty: add ``strength * penalty()`` to the loss, then call ``backward``.

    Parameters
    ----------
    module : nn.Module
        Any that `network_of` reads. Its network is made once, so the architecture may not change afterwards.
    ridge : float
        See `nuclear_norm`.
    refresh : int
        With 1 the value and the gradient are exact. With K > 1 the matrix L^{−1/2} is computed at every K-th call only, and
        between the penalty is tr(XL) + tr X^{−1} for the last X: an upper bound of the norm that touches it where X
        was computed, with the cost of weight decay.
    inputs : optional
        Example arguments of the module, see `network_of`.

    Raises
    ------
    InputError
        As `network_of`; also for a negative ridge and a `refresh` below 1, and for `refresh` > 1 without a ridge.

    Examples
    --------
    >>> module = nn.Sequential(nn.Linear(2, 3, bias=False), nn.ReLU(), nn.Linear(3, 1, bias=False)).double()
    >>> penalty = NuclearNorm(module)
    >>> weights = [parameter.detach() for parameter in module.parameters()]
    >>> group_lasso = 2 * (weights[0].square().sum(1) + weights[1].square().sum(0)).sqrt().sum()
    >>> torch.allclose(penalty(), group_lasso)
    True
    """

    def __init__(self, module: nn.Module, *, ridge: float = 0.0, refresh: int = 1, inputs: Any = None) -> None:
        if refresh < 1:
            raise InputError(f"refresh={refresh!r}: a positive number of calls is needed")
        if not ridge >= 0 or (refresh > 1 and ridge == 0):
            raise InputError(f"ridge={ridge!r}: not negative, and positive for refresh={refresh!r} > 1; try 1e-10")
        self.module = module
        self.network = network_of(module, inputs)
        self._ridge, self._refresh = ridge, refresh
        self._laplacian: Laplacian | None = None
        self._calls = 0
        self._q = torch.zeros(0)
        self._constant = 0.0

    def __call__(self) -> Tensor:
        """Return the penalty at the current parameters, a scalar in float64."""
        weights = edge_weights(self.network, self.module)
        laplacian = self._on(weights.device)
        if self._refresh == 1:
            return nuclear_norm(laplacian, weights, ridge=self._ridge)
        if self._calls % self._refresh == 0:
            with torch.no_grad():
                values, vectors = torch.linalg.eigh(laplacian.dense(weights))
                X = _inverse_root(values, vectors, self._ridge)
                self._q = laplacian.along_edges(X)
                self._constant = float((values.clamp(min=0) + self._ridge).sqrt().sum() + self._ridge * X.trace())
        self._calls += 1
        return (weights**2 * self._q).sum() + self._constant

    def estimate(self, *, probes: int = 8, steps: int = 30, seed: int = 0) -> LanczosEstimate:
        """Return an estimate of the norm (without ridge) that needs no matrix; see `lanczos_nuclear_norm`.

        Parameters
        ----------
        probes : int
            Random vectors, drawn with `seed`.
        steps : int
            Lanczos iterations for each.
        """
        weights = edge_weights(self.network, self.module).detach()
        return lanczos_nuclear_norm(self._on(weights.device), weights, probes=probes, steps=steps, seed=seed)

    def _on(self, device: torch.device) -> Laplacian:
        if self._laplacian is None or self._laplacian.tail.device != device:
            self._laplacian = Laplacian(self.network, device)
        return self._laplacian
