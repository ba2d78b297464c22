"""Correlations of a given network with one hidden layer, from the definition: nested forward mode and dense derivatives."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.func import hessian, jacfwd

from .one_hidden import Order
from .polynomials import along, gradient
from .series_residuals import Network
from .tensor_norms import norm_lower_bound

__all__ = ["Reference", "reference_correlations"]


@dataclass(frozen=True)
class Reference:
    """C_{0,d} or the norm of C_{D,d}, for D ≥ 3 only a lower bound of it, and the size of the terms that it is a sum of."""

    value: float
    size: float


def reference_correlations(network: Network, orders: Sequence[Order], *, seed: int = 0) -> dict[Order, Reference]:
    """Return the correlations from derivatives of F at θ along the fixed vector v. Order D + d costs 2^(D+d) evaluations."""
    n, d0 = network.w.shape
    theta = torch.cat([network.a, network.w.flatten()])

    def function(point: Tensor) -> Tensor:
        return network.output(point[:n], point[n:].reshape(n, d0))

    va, vw = network.direction()
    v = torch.cat([va, vw.flatten()])
    found = {}
    for D, d in orders:
        inner = along(function, [v] * d)
        factor = network.rate ** (D / 2 + d) / (math.factorial(D) * math.factorial(d))
        if D == 0:
            value = float(inner(theta))
        elif D == 1:
            value = float(gradient(inner, theta).norm())
        elif D == 2:
            value = float(torch.linalg.matrix_norm(hessian(inner)(theta), 2))
        else:
            tensor = hessian(inner)
            for _ in range(D - 2):
                tensor = jacfwd(tensor)
            value = norm_lower_bound(partial(_contraction, tensor(theta)), len(theta), seed=seed)
        found[D, d] = Reference(factor * value, factor * abs(value) + float(network.closed_form().scales(D + d)))
    return found


def _contraction(tensor: Tensor, u: Tensor) -> Tensor:
    """Return T(u, …, u, ·)."""
    while tensor.dim() > 1:
        tensor = tensor @ u
    return tensor
