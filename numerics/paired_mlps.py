"""Pairs of perceptrons that share fixed weights: trained as one batch, aligned, followed along the segments between them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor
from torch.nn import functional

from .alignment import correlations
from .barriers import BarrierName, barrier
from .masked_batches import FixedLayer, MlpShape, Optimizer, hidden_outputs, logits, mixed, parts_of

__all__ = ["Segments", "aligned_second", "segments", "trained_pairs"]

Weights = list[list[Tensor]]

_EVALUATED_ROWS = 2000  # at once
_MATCHED_ROWS = 2000  # activations that neurons are matched by


def trained_pairs(
    shape: MlpShape,
    layers: Sequence[FixedLayer],
    data: tuple[Tensor, Tensor],
    *,
    pairs: int,
    epochs: int,
    batch: int,
    generator: torch.Generator,
    rate: float = 1e-3,
    decay: float = 1e-2,
) -> tuple[Weights, Weights]:
    """Return the weights of `pairs` first and as many second networks after AdamW on the cross-entropy.

    Initializations and the order of the rows are each network's own; rows that fill no batch are left out of an epoch.

    Parameters
    ----------
    data : pair of Tensor
        Inputs (N, n) and classes (N,).
    """
    inputs, classes = data
    networks, count = 2 * pairs, len(classes)
    batch = min(batch, count)
    parts = parts_of(shape, layers, networks, generator)
    optimizer = Optimizer([part for own in parts for part in own], rate=rate, decay=decay)
    weights = [[part.values for part in own] for own in parts]
    for _ in range(epochs):
        order = torch.rand(networks, count, generator=generator).argsort(1).to(inputs.device)
        for rows in torch.split(order[:, : count - count % batch], batch, dim=1):
            outputs = logits(shape, weights, inputs[rows])
            optimizer.step(
                functional.cross_entropy(outputs.flatten(0, 1), classes[rows].flatten(), reduction="none")
                .reshape(rows.shape)
                .mean(1)
            )
    first, second = ([[tensor.detach()[i::2] for tensor in own] for own in weights] for i in (0, 1))
    return first, second


@dataclass(frozen=True)
class Segments:
    """What was measured along the segments between networks.

    Parameters
    ----------
    losses, accuracies : Tensor (points, pairs)
        At equally spaced points from the first network to the second.
    """

    losses: Tensor
    accuracies: Tensor

    def barriers(self, definition: BarrierName) -> tuple[float, ...]:
        """Return the barrier of every pair, of accuracies for ``relative_accuracy``, else of losses."""
        curves = self.accuracies if definition == "relative_accuracy" else self.losses
        return tuple(barrier(curve, definition).value for curve in curves.T.double().numpy())

    @property
    def end_accuracies(self) -> tuple[float, ...]:
        """Mean of both ends, of every pair."""
        return tuple(((self.accuracies[0] + self.accuracies[-1]) / 2).tolist())

    @property
    def mean_accuracies(self) -> tuple[float, ...]:
        """Mean over the pairs at each point."""
        return tuple(self.accuracies.mean(1).tolist())


def segments(
    shape: MlpShape, first: Weights, second: Weights, data: tuple[Tensor, Tensor], *, points: int = 21
) -> Segments:
    """Return losses and accuracies on the data along the segments between the networks of every pair."""
    inputs, classes = data
    losses, accuracies = [], []
    with torch.no_grad():
        for t in np.linspace(0, 1, points).tolist():
            weights = mixed(first, second, t)
            loss = hits = torch.zeros(len(weights[0][0]), dtype=torch.float64, device=inputs.device)
            for x, y in zip(torch.split(inputs, _EVALUATED_ROWS), torch.split(classes, _EVALUATED_ROWS), strict=True):
                outputs = logits(shape, weights, x.expand(len(weights[0][0]), *x.shape)).double()
                every = y.expand(outputs.shape[:2])
                entropy = functional.cross_entropy(outputs.flatten(0, 1), every.flatten(), reduction="none")
                loss = loss + entropy.reshape(every.shape).sum(1)
                hits = hits + (outputs.argmax(-1) == every).double().sum(1)
            losses.append(loss / len(classes))
            accuracies.append(hits / len(classes))
    return Segments(torch.stack(losses).cpu(), torch.stack(accuracies).cpu())


def aligned_second(
    shape: MlpShape, first: Weights, second: Weights, inputs: Tensor
) -> tuple[Weights, tuple[float, ...]]:
    """Return the second networks with hidden neurons permuted towards the first, and the shares of neurons that stayed.

    Neurons are matched by correlation of what they pass on, on the first of the inputs: a heuristic. No network changes its
    function. The shares are means over hidden layers, one for each pair.
    """
    x = inputs[:_MATCHED_ROWS].expand(len(first[0][0]), -1, -1)
    with torch.no_grad():
        ends = [hidden_outputs(shape, weights, x) for weights in (first, second)]
    moved = [[tensor.clone() for tensor in own] for own in second]
    stayed = np.zeros(len(first[0][0]))
    for layer, (a, b) in enumerate(zip(*ends, strict=True)):
        for pair in range(len(a)):
            order = linear_sum_assignment(-correlations(a[pair].cpu(), b[pair].cpu()))[1]
            stayed[pair] += float((order == np.arange(len(order))).mean()) / len(ends[0])
            index = torch.from_numpy(np.ascontiguousarray(order)).to(inputs.device)
            for tensor in moved[layer]:
                tensor[pair] = tensor[pair][..., index]
            following = moved[layer + 1][0]
            following[pair] = following[pair][index]
    return moved, tuple(stayed.tolist())
