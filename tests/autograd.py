"""The conservation law of every neuron of a model, measured on gradients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from lakatos.graphs.models import ModelNetwork

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Laws:
    """Σ_in θg − Σ_out θg of every hidden node, and the same sum of absolute values."""

    residual: Floats
    scale: Floats

    @property
    def relative(self) -> float:
        """The largest |residual| / scale; nan if no neuron has a gradient, so that nothing was tested."""
        live = self.scale > 0
        return float((abs(self.residual[live]) / self.scale[live]).max()) if live.any() else float("nan")


def products(module: nn.Module, network: ModelNetwork) -> Floats:
    """Return θ_e g_e of every edge, after the loss was differentiated."""
    parameters = dict(module.named_parameters())
    parts = []
    for block in network.blocks:
        parameter = parameters[block.name]
        gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
        values = (parameter.detach() * gradient).double().numpy().ravel()
        parts.append(values if block.entries is None else values[block.entries])
    return np.concatenate(parts)


def laws(module: nn.Module, network: ModelNetwork, loss: torch.Tensor) -> Laws:
    """Return the laws after differentiating `loss`."""
    module.zero_grad()
    loss.backward()
    terms = products(module, network)
    residual, scale = np.zeros(network.node_count), np.zeros(network.node_count)
    np.add.at(residual, network.head, terms)
    np.subtract.at(residual, network.tail, terms)
    np.add.at(scale, network.head, abs(terms))
    np.add.at(scale, network.tail, abs(terms))
    return Laws(residual[network.hidden], scale[network.hidden])


def random_loss(module: nn.Module, *inputs: torch.Tensor, seed: int = 0) -> torch.Tensor:
    """Return the mean of squared errors against random targets, over all outputs of floats."""
    outputs = module(*inputs)
    generator = torch.Generator().manual_seed(seed)
    total = torch.zeros((), dtype=torch.float64)
    for output in outputs if isinstance(outputs, tuple) else (outputs,):
        target = torch.randn(output.shape, generator=generator, dtype=torch.float64)
        total = total + ((output - target) ** 2).mean()
    return total
