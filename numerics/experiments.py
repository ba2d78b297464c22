"""Experiments on neuron identifiability as functions of settings and a seed: all pairs of networks train as one batch."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ..core import InputError
from .barriers import BarrierName
from .masked import Asymmetry
from .masked_batches import FixedLayer, MlpShape, Optimizer, Part, drawn_layers
from .paired_mlps import segments, trained_pairs
from .realization import realization_costs, swap_costs

__all__ = [
    "CoherenceSettings",
    "Outcomes",
    "SubspaceSettings",
    "coherence_barriers",
    "subspace_barriers",
]

_TEST_SAMPLES = 2000


@dataclass(frozen=True)
class Outcomes:
    """What an experiment measured for every pair of networks.

    Parameters
    ----------
    barriers : tuple of float
        By `definition`.
    ends : tuple of float
        Mean of the metric at the two ends: a barrier says little about networks that have learned little.
    metric : str
        ``loss`` or ``accuracy``.
    notes : dict
        What else was measured or the setting fixes: coherence, share of neurons that can have every feature.
    """

    barriers: tuple[float, ...]
    ends: tuple[float, ...]
    definition: BarrierName
    metric: Literal["loss", "accuracy"]
    notes: Mapping[str, float | tuple[float, ...]]

    @property
    def mean(self) -> float:
        """Mean barrier."""
        return sum(self.barriers) / len(self.barriers)


@dataclass(frozen=True)
class CoherenceSettings:
    """A teacher on two latent coordinates, seen through copies: coherence 1/active.

    Parameters
    ----------
    active : int
        Active copies of each latent coordinate, scaled by 1/√active.
    copies : int
        All copies; the others are zero.
    frames : bool
        Each copy is rotated by a random angle and the coordinates are permuted, in place of exact copies.
    width, keep, pairs, epochs, samples : int or float
        Neurons, probability that a weight is trainable, pairs of networks, epochs and training samples.
    """

    active: int = 1
    copies: int = 10
    frames: bool = False
    width: int = 128
    keep: float = 0.15
    pairs: int = 10
    epochs: int = 100
    samples: int = 1024

    def __post_init__(self) -> None:
        if not 1 <= self.active <= self.copies:
            raise InputError(f"active={self.active!r}: 1 to copies={self.copies!r} is needed")
        if min(self.width, self.pairs, self.epochs, self.samples) < 1 or not 0 < self.keep <= 1:
            raise InputError(f"{self!r}: positive sizes and a probability keep in (0, 1] are needed")


def coherence_barriers(settings: CoherenceSettings, seed: int, *, device: str = "cpu") -> Outcomes:
    """Return the midpoint barriers of pairs of masked students without fixed weights, trained on the same data.

    Teacher relu(z₁ + z₂), z ~ N(0, 1). Student Σ relu((D ⊙ W) x + b). AdamW with learning rate and weight decay (of weights)
    1e−2, batches of 512. The barrier is that of the mean squared error on 2048 new samples.
    """
    generator = torch.Generator().manual_seed(seed)
    embedding = _embedding(settings, generator).to(device)
    n, width, networks = 2 * settings.copies, settings.width, 2 * settings.pairs
    D = torch.bernoulli(torch.full((n, width), settings.keep), generator=generator).to(device)
    z = torch.randn(settings.samples, 2, generator=generator).to(device)
    z_test = torch.randn(2048, 2, generator=generator).to(device)
    layer = FixedLayer(torch.zeros_like(D), D)
    W = (D * (0.05 * torch.randn(networks, n, width, generator=generator)).to(device)).requires_grad_()
    b = torch.zeros(networks, 1, width, device=device, requires_grad=True)
    optimizer = Optimizer([Part(W, layer), Part(b, decays=False)], rate=1e-2, decay=1e-2)
    inputs, targets = z @ embedding.T, torch.relu(z.sum(1))
    for _ in range(settings.epochs):
        order = torch.rand(networks, settings.samples, generator=generator).argsort(1).to(device)
        for rows in torch.split(order, 512, dim=1):
            optimizer.step((_student(W, b, inputs[rows]) - targets[rows]).square().mean(1))
    with torch.no_grad():
        x, y = (z_test @ embedding.T).expand(settings.pairs, -1, -1), torch.relu(z_test.sum(1))

        def loss(t: float) -> Tensor:
            weights, biases = (torch.lerp(part[0::2], part[1::2], t) for part in (W, b))
            return (_student(weights, biases, x) - y).square().mean(1)

        start, middle, end = loss(0.0), loss(0.5), loss(1.0)
        eigenvalues = torch.linalg.eigvalsh(torch.einsum("lk,lw,lj->wkj", embedding, D, embedding))
    return Outcomes(
        tuple((middle - torch.maximum(start, end)).tolist()),
        tuple(((start + end) / 2).tolist()),
        "midpoint_above_worse",
        "loss",
        {
            "coherence": float((embedding**2).sum(1).max()),
            "full_rank": float(
                (eigenvalues[:, 0] > 1e-6).double().mean()
            ),  # float32: eigenvalues are 0 or at least 1/10
        },
    )


def _student(weights: Tensor, biases: Tensor, inputs: Tensor) -> Tensor:
    return torch.relu(torch.baddbmm(biases, inputs, weights)).sum(-1)


def _embedding(settings: CoherenceSettings, generator: torch.Generator) -> Tensor:
    scale = 1 / math.sqrt(settings.active)
    rows = torch.zeros(2 * settings.copies, 2)
    for copy in range(settings.active):
        angle = float(torch.rand((), generator=generator)) * math.pi if settings.frames else 0.0
        rotation = torch.tensor([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
        rows[2 * copy : 2 * copy + 2] = scale * rotation
    return rows[torch.randperm(len(rows), generator=generator)] if settings.frames else rows


@dataclass(frozen=True)
class SubspaceSettings:
    """A Gaussian mixture in a random subspace, and pairs of ReLU networks.

    Parameters
    ----------
    dimension, inputs, classes : int
        k, n and the number of classes.
    separation : float
        Standard deviation of the class means, in units of the spread within a class.
    rotated : bool
        Within a class the spread along k directions, drawn for each class, is that of k standard normal numbers, which all
        classes share; otherwise it is 1 in every direction.
    kind, sigma, fixed_share : str, float, float
        Of the fixed weights of hidden layers; ``w_asymmetric`` with sigma 0 is the control.
    width, hidden : int
        Neurons of a hidden layer, and how many of these there are.
    layer_norm : bool
        Pre-activations are normalized.
    pairs, epochs, samples : int
    """

    dimension: int = 8
    inputs: int = 128
    classes: int = 10
    separation: float = 3.0
    rotated: bool = False
    kind: Asymmetry = "w_asymmetric"
    sigma: float = 1.0
    fixed_share: float = 0.125
    width: int = 64
    hidden: int = 1
    layer_norm: bool = False
    pairs: int = 4
    epochs: int = 20
    samples: int = 4000

    def __post_init__(self) -> None:
        if not 1 <= self.dimension <= self.inputs:
            raise InputError(f"dimension={self.dimension!r}: 1 to inputs={self.inputs!r} is needed")
        if min(self.classes, self.width, self.hidden, self.pairs, self.epochs, self.samples) < 1:
            raise InputError(f"{self!r}: positive sizes are needed")


def subspace_barriers(settings: SubspaceSettings, seed: int, *, device: str = "cpu") -> Outcomes:
    """Return the drop of accuracy along the segment between networks that share fixed weights and differ in initialization.

    AdamW, learning rate 1e−3, weight decay 1e−2, batches of 100; accuracy on 2000 new samples at 21 points. The outputs have
    no fixed weights. Notes, on the first layer of the first network: ``center_dominance``, the median of ‖ε‖/‖v‖ of neurons;
    of the signed roots of all swap costs the extremes, the 10 %, 50 % and 90 % points (``swap_10``, …), and how many are
    negative.
    """
    generator = torch.Generator().manual_seed(seed)
    k, n = settings.dimension, settings.inputs
    U = torch.linalg.qr(torch.randn(n, k, generator=generator))[0]
    z, classes = _mixture(settings, generator)
    x, classes = (z @ U.T).to(device), classes.to(device)
    train, test = ((x[rows], classes[rows]) for rows in (slice(settings.samples), slice(settings.samples, None)))
    shape = MlpShape((n, *[settings.width] * settings.hidden, settings.classes), "relu", settings.layer_norm)
    shares, sigmas = ([one] * settings.hidden + [0.0] for one in (settings.fixed_share, settings.sigma))
    layers = drawn_layers(shape, settings.kind, shares, sigmas, seed, device)
    first, second = trained_pairs(
        shape, layers, train, pairs=settings.pairs, epochs=settings.epochs, batch=100, generator=generator
    )
    found = segments(shape, first, second, test)
    return Outcomes(
        found.barriers("relative_accuracy"),
        found.end_accuracies,
        "relative_accuracy",
        "accuracy",
        {"coherence": float((U**2).sum(1).max()), **_swap_notes(U, layers[0], first[0][0][0])},
    )


def _mixture(settings: SubspaceSettings, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Return latent coordinates (N + 2000, k) and classes."""
    k, total = settings.dimension, settings.samples + 2000
    means = settings.separation * torch.randn(settings.classes, k, generator=generator)
    classes = torch.randint(settings.classes, (total,), generator=generator)
    z = torch.randn(total, k, generator=generator)
    if settings.rotated:
        scales = torch.randn(k, generator=generator)
        rotations = torch.linalg.qr(torch.randn(settings.classes, k, k, generator=generator))[0]
        z = ((scales * z)[:, None] @ rotations[classes].mT)[:, 0]
    return means[classes] + z, classes


def _swap_notes(U: Tensor, layer: FixedLayer, E: Tensor) -> dict[str, float]:
    """Return what the swap costs of a layer with effective weights E (n, m) are like."""
    basis = np.linalg.qr(U.double().numpy())[0]
    F, D, effective = (x.double().cpu().numpy().T for x in (layer.F, layer.D, E))
    centers, features = F @ basis, effective @ basis
    lengths = np.linalg.norm(centers, axis=1)
    moved = np.linalg.norm(features - centers, axis=1)
    ratios = np.divide(moved, lengths, out=np.full_like(moved, math.inf), where=lengths > 0)
    swaps = swap_costs(realization_costs(F, D, basis, features).values)
    above = swaps[np.triu_indices(len(swaps), 1)]
    roots = np.sign(above) * np.sqrt(np.abs(above))
    return {
        "center_dominance": float(np.median(ratios)),
        **{f"swap_{p}": float(np.percentile(roots, p, method="nearest")) for p in (0, 10, 50, 90, 100)},
        "negative_swaps": float((roots < 0).mean()),
    }
