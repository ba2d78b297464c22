"""Training a classifier with a penalty that disconnects neurons, as a function of data, settings and seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, TypeAlias

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from ..core import InputError
from .forward import as_floats
from .laplacians import singular_values
from .modules import network_of
from .nuclear import NuclearNorm
from .pruning import Pruning, prune

__all__ = ["Labeled", "PenalizedRun", "PenaltyName", "PenaltySettings", "accuracy", "classifier", "penalized_run"]

PenaltyName: TypeAlias = Literal["none", "l2", "l1", "nuclear"]

_RIDGE = 1e-10
_SMALL = 0.01  # of the largest singular value: what counts as a defect of the rank


@dataclass(frozen=True, eq=False)
class Labeled:
    """Features (rows, inputs) and labels (rows, 1), 0 or 1, in float64."""

    features: Tensor
    labels: Tensor


@dataclass(frozen=True)
class PenaltySettings:
    """What to train, and how.

    Parameters
    ----------
    hidden : tuple of int
        Widths of the hidden layers.
    penalty : str
        ``l2``: sum of squares of all parameters; ``l1``: of absolute values; ``nuclear``: the nuclear norm of the Jacobian
        of the balances, with ridge 10⁻¹⁰.
    strength : float
        Factor of the penalty.
    rate, steps : float, int
        Of Adam, on all rows.
    refresh : int
        Of `NuclearNorm`.
    """

    hidden: tuple[int, ...] = (20,)
    penalty: PenaltyName = "nuclear"
    strength: float = 5e-3
    rate: float = 2e-3
    steps: int = 4000
    refresh: int = 1


@dataclass(frozen=True, eq=False)
class PenalizedRun:
    """A trained classifier and the same without its disconnected neurons.

    Parameters
    ----------
    defect : int
        Number of singular values below 1 % of the largest.
    accuracy, pruned_accuracy : float
        On the test rows, before and after.
    steps, losses : tuple
        Training loss without penalty, at recorded numbers of steps.
    spectra : tuple of rows
        Singular values there.
    """

    module: nn.Sequential
    pruning: Pruning
    defect: int
    accuracy: float
    pruned_accuracy: float
    steps: tuple[int, ...]
    losses: tuple[float, ...]
    spectra: tuple[tuple[float, ...], ...]


def classifier(inputs: int, hidden: Sequence[int], seed: int) -> nn.Sequential:
    """Return a ReLU network with one output at PyTorch's default initialization, in float64.

    Examples
    --------
    >>> [tuple(parameter.shape) for parameter in classifier(2, [3], 0).parameters()]
    [(3, 2), (3,), (1, 3), (1,)]
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [nn.Linear(a, b, dtype=torch.float64) for a, b in pairwise([inputs, *hidden, 1])]
    parts: list[nn.Module] = []
    for layer in layers:
        parts += [layer, nn.ReLU()]
    return nn.Sequential(*parts[:-1])


def penalized_run(
    train: Labeled, test: Labeled, settings: PenaltySettings, seed: int, *, records: int = 40
) -> PenalizedRun:
    """Return what training from the initialization with this seed leads to.

    Parameters
    ----------
    records : int
        About how many times the loss and the spectrum are recorded.

    Raises
    ------
    InputError
        For an unknown penalty.
    """
    module = classifier(train.features.shape[1], settings.hidden, seed)
    penalty = _penalty(module, settings)
    optimizer = torch.optim.Adam(module.parameters(), lr=settings.rate)
    every = max(1, settings.steps // records)
    steps: list[int] = []
    losses: list[float] = []
    spectra: list[tuple[float, ...]] = []
    for step in range(settings.steps + 1):
        optimizer.zero_grad()
        loss = binary_cross_entropy_with_logits(module(train.features), train.labels)
        if step % every == 0 or step == settings.steps:
            steps.append(step)
            losses.append(float(loss.detach()))
            spectra.append(_spectrum(module))
        if step < settings.steps:
            (loss + settings.strength * penalty()).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
    optimizer.zero_grad()
    pruning = prune(module, data=test.features)
    return PenalizedRun(
        module=module,
        pruning=pruning,
        defect=sum(value < _SMALL * spectra[-1][0] for value in spectra[-1]),
        accuracy=accuracy(module, test),
        pruned_accuracy=accuracy(pruning.module, test),
        steps=tuple(steps),
        losses=tuple(losses),
        spectra=tuple(spectra),
    )


def accuracy(module: nn.Module, rows: Labeled) -> float:
    """Return the share of rows whose label is 1 exactly where the output is positive."""
    with torch.no_grad():
        return float(((module(rows.features) > 0) == (rows.labels > 0.5)).double().mean())


def _penalty(module: nn.Sequential, settings: PenaltySettings) -> Callable[[], Tensor]:
    parameters = list(module.parameters())
    match settings.penalty:
        case "nuclear":
            return NuclearNorm(module, ridge=_RIDGE, refresh=settings.refresh)
        case "l1":
            return lambda: torch.stack([parameter.abs().sum() for parameter in parameters]).sum()
        case "l2":
            return lambda: torch.stack([parameter.square().sum() for parameter in parameters]).sum()
        case "none":
            return lambda: torch.zeros((), dtype=torch.float64)
    raise InputError(f"penalty={settings.penalty!r}: not known; choose none, l2, l1 or nuclear")


def _spectrum(module: nn.Sequential) -> tuple[float, ...]:
    network = network_of(module)
    return tuple(singular_values(network, as_floats(network)).tolist())
