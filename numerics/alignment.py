"""Aligning one network to another by a permutation of hidden neurons: a heuristic, layer by layer."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from .masked import MaskedLinear, effective_weight, partly_fixed_layers
from .realization import FloatArray

__all__ = ["aligned", "correlations"]

_ELEMENTWISE = (nn.ReLU, nn.LeakyReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Dropout, nn.Identity)
_PER_NEURON = (nn.BatchNorm1d, nn.LayerNorm)


def correlations(first: Tensor, second: Tensor) -> FloatArray:
    """Return Pearson's ρ of the activations of neuron i of the first and j of the second network; 0 for constant ones."""
    a, b = (x.double() - x.double().mean(0) for x in (first, second))
    norms = torch.linalg.vector_norm(a, dim=0)[:, None] * torch.linalg.vector_norm(b, dim=0)[None]
    found: FloatArray = torch.where(norms > 0, a.T @ b / norms.clamp_min(torch.finfo(norms.dtype).tiny), 0.0).numpy()
    return found


def aligned(
    first: nn.Module, second: nn.Module, seen: Sequence[Mapping[str, tuple[Tensor, Tensor]]]
) -> tuple[nn.Module, nn.Module] | None:
    """Return both networks with dense effective weights, the second with its hidden neurons permuted towards the first.

    Neurons are matched by correlation of their pre-activations. The function of the second network does not change.

    Parameters
    ----------
    seen : two mappings
        Inputs and pre-activations of every layer of the two networks, as rows.

    Returns
    -------
    pair of modules, or None
        None unless the networks are sequences of linear layers, elementwise activations and normalizations.
    """
    if not isinstance(first, nn.Sequential) or not isinstance(second, nn.Sequential):
        return None
    made = []
    for network in (first, second):
        parts: list[nn.Module] = []
        for part in network:
            dense = _dense(part)
            if dense is None:
                return None
            parts.append(dense)
        made.append(nn.Sequential(*parts).double().eval())
    names = [name for name, _ in partly_fixed_layers(first)]
    linear = [part for part in made[1] if isinstance(part, nn.Linear)]
    order: Tensor | None = None
    positions = iter(zip(names, linear, strict=True))
    with torch.no_grad():
        for part in made[1]:
            if isinstance(part, nn.Linear):
                name, _ = next(positions)
                if order is not None:
                    part.weight.copy_(part.weight[:, order])
                if name == names[-1]:
                    break
                matched = linear_sum_assignment(-correlations(seen[0][name][1], seen[1][name][1]))[1]
                order = torch.from_numpy(np.ascontiguousarray(matched))
                part.weight.copy_(part.weight[order])
                if part.bias is not None:
                    part.bias.copy_(part.bias[order])
            elif isinstance(part, _PER_NEURON) and order is not None:
                for tensor in (*part.parameters(), *part.buffers()):
                    if tensor.ndim == 1:
                        tensor.copy_(tensor[order])
    return made[0], made[1]


def _dense(part: nn.Module) -> nn.Module | None:
    """Return a layer without fixed parts that computes the same, or None for one that cannot be permuted."""
    if isinstance(part, (*_ELEMENTWISE, *_PER_NEURON, nn.Flatten)):
        return copy.deepcopy(part)
    if not isinstance(part, (MaskedLinear, nn.Linear)):
        return None
    F, D, W = effective_weight(part)
    bias = part.bias
    layer = nn.Linear(F.shape[1], F.shape[0], bias=bias is not None, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_(F + D * W)
        if bias is not None:
            layer.bias.copy_(bias.detach())
    return layer
