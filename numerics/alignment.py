"""Aligning one network to another by a permutation of hidden neurons: a heuristic, layer by layer."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn

from .layer_rows import LayerRows
from .masked import MaskedConv2d, MaskedLinear, effective_weight, partly_fixed_layers
from .realization import FloatArray

__all__ = ["aligned", "correlations"]

_ELEMENTWISE = (nn.ReLU, nn.LeakyReLU, nn.GELU, nn.SiLU, nn.Tanh, nn.Sigmoid, nn.Dropout, nn.Dropout2d, nn.Identity)
_PER_CHANNEL = (nn.MaxPool2d, nn.AvgPool2d, nn.AdaptiveAvgPool2d, nn.AdaptiveMaxPool2d, nn.Flatten)
_PER_NEURON = (nn.BatchNorm1d, nn.BatchNorm2d)


def correlations(first: Tensor, second: Tensor) -> FloatArray:
    """Return Pearson's ρ of the activations of neuron i of the first and j of the second network; 0 for constant ones."""
    a, b = (x.double() - x.double().mean(0) for x in (first, second))
    norms = torch.linalg.vector_norm(a, dim=0)[:, None] * torch.linalg.vector_norm(b, dim=0)[None]
    found: FloatArray = torch.where(norms > 0, a.T @ b / norms.clamp_min(torch.finfo(norms.dtype).tiny), 0.0).numpy()
    return found


def aligned(
    first: nn.Module, second: nn.Module, seen: Sequence[Mapping[str, LayerRows]]
) -> tuple[nn.Module, nn.Module] | None:
    """Return both networks with dense effective weights, the second with its hidden neurons permuted towards the first.

    Neurons (channels of a convolution) are matched by correlation of their pre-activations. The function of the second
    network does not change.

    Parameters
    ----------
    seen : two mappings
        Rows of every layer of the two networks.

    Returns
    -------
    pair of modules, or None
        None unless the networks are sequences of linear layers, convolutions without groups, elementwise activations, pooling
        and normalizations, with as many rows seen of each layer.
    """
    parts = [_parts(network) for network in (first, second)]
    names = [name for name, _ in partly_fixed_layers(first)]
    if parts[0] is None or parts[1] is None or not all(name in rows for rows in seen for name in names):
        return None
    positions = iter(names)
    order: Tensor | None = None
    with torch.no_grad():
        for part in parts[1]:
            if isinstance(part, (nn.Linear, nn.Conv2d)):
                name = next(positions)
                if order is not None:
                    # After a convolution each channel is as many inputs of a linear layer as it has positions.
                    block = torch.arange(part.weight.shape[1]).reshape(len(order), -1)
                    part.weight.copy_(part.weight[:, block[order].flatten()])
                if name == names[-1]:
                    break
                matched = linear_sum_assignment(-correlations(*(rows[name].outputs for rows in seen)))[1]
                order = torch.from_numpy(np.ascontiguousarray(matched))
                part.weight.copy_(part.weight[order])
                if part.bias is not None:
                    part.bias.copy_(part.bias[order])
            elif order is not None and not isinstance(part, (*_ELEMENTWISE, *_PER_CHANNEL)):
                for tensor in (*part.parameters(), *part.buffers()):
                    if tensor.ndim == 1:
                        tensor.copy_(tensor[order])
    return nn.Sequential(*parts[0]).eval(), nn.Sequential(*parts[1]).eval()


def _parts(network: nn.Module) -> list[nn.Module] | None:
    """Return the layers of a (nested) sequence in order, dense and in float64, or None if one of them is of another kind."""
    if not isinstance(network, nn.Sequential):
        dense = _dense(network)
        return None if dense is None else [dense.double()]
    found: list[nn.Module] = []
    for part in network:
        inner = _parts(part)
        if inner is None:
            return None
        found += inner
    return found


def _dense(part: nn.Module) -> nn.Module | None:
    """Return a layer without fixed parts that computes the same, or None for one that cannot be permuted."""
    if isinstance(part, (*_ELEMENTWISE, *_PER_NEURON, *_PER_CHANNEL)):
        return copy.deepcopy(part)
    if isinstance(part, nn.LayerNorm) and len(part.normalized_shape) == 1:  # over neurons, not over positions too
        return copy.deepcopy(part)
    if isinstance(part, nn.GroupNorm) and part.num_groups == 1:
        return copy.deepcopy(part)
    if not isinstance(part, (MaskedLinear, MaskedConv2d, nn.Linear, nn.Conv2d)):
        return None
    F, D, W = effective_weight(part)
    bias = part.bias
    layer: nn.Linear | nn.Conv2d
    if isinstance(part, (MaskedConv2d, nn.Conv2d)):
        if part.groups != 1 or (isinstance(part, nn.Conv2d) and part.padding_mode != "zeros"):
            return None
        m, n, *kernel = part.weight.shape
        options: dict[str, Any] = {"stride": part.stride, "padding": part.padding, "dilation": part.dilation}
        layer = nn.Conv2d(n, m, (kernel[0], kernel[1]), bias=bias is not None, **options).double()
    else:
        layer = nn.Linear(F.shape[1], F.shape[0], bias=bias is not None, dtype=torch.float64)
    with torch.no_grad():
        layer.weight.copy_((F + D * W).reshape(layer.weight.shape))
        if bias is not None:
            assert layer.bias is not None
            layer.bias.copy_(bias.detach())
    return layer
