"""How far training on real data is from linear, swept over width, depth and the scaling of the rate."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor

from ..core import InputError
from .datasets import digits, labeled
from .image_files import read_images
from .linearized_training import Runs, Schedule, ensemble_runs
from .mlps import Architecture, Parametrization
from .registry import Experiment, Row

__all__ = ["EXPERIMENTS", "LinearizationSettings", "linearization_rows"]


@dataclass(frozen=True)
class LinearizationSettings:
    """Squared loss, full batch, a fully connected network.

    Parameters
    ----------
    data : str
        ``digits`` (64 inputs, 10 outputs), ``breast_cancer`` (30 inputs, one output), or a folder with IDX files (MNIST and
        its kin) or binary CIFAR-10.
    samples, test : int
        Trained on, and only watched.
    width, hidden, activation, parametrization
        Of the network.
    rate, alpha, base : float, float, int
        The rate is rate · (width/base)^alpha, times the power of the width that the parametrization needs.
    steps : int
        Of gradient descent.
    """

    data: str = "digits"
    samples: int = 100
    test: int = 50
    width: int = 256
    hidden: int = 1
    activation: str = "tanh"
    parametrization: Parametrization = "ntk"
    rate: float = 1.0
    alpha: float = 0.0
    base: int = 64
    steps: int = 50

    def __post_init__(self) -> None:
        if min(self.samples, self.test, self.base) < 1:
            raise InputError(f"samples={self.samples!r}, test={self.test!r}, base={self.base!r}: positive numbers")
        self.schedule(1.0)
        self.architecture(1, 1)

    def architecture(self, inputs: int, outputs: int) -> Architecture:
        """Return the network for data of this size."""
        return Architecture(inputs, self.width, self.hidden, outputs, self.activation, self.parametrization)

    def schedule(self, factor: float) -> Schedule:
        """Return the schedule with the rate multiplied by `factor`."""
        return Schedule(self.rate * (self.width / self.base) ** self.alpha * factor, self.steps)


def linearization_rows(settings: Sequence[LinearizationSettings], seeds: Sequence[int], device: str) -> list[Row]:
    """Return one row for each pair; settings of one call are equal, so that all seeds train as one batch on the same data."""
    one = settings[0]
    inputs, targets = _data(one)
    architecture = one.architecture(inputs.shape[1], targets.shape[1])
    runs = ensemble_runs(architecture, seeds, inputs, targets, one.schedule(architecture.rate_factor), device=device)
    return [_row(runs, i, one.samples) for i in range(len(seeds))]


def _row(runs: Runs, i: int, train: int) -> Row:
    deviation, movement = runs.deviation[-1, i], runs.linear[-1, i] - runs.start[i]
    test = _rms(deviation[train:])
    return {
        "deviation": test,
        "deviation_train": _rms(deviation[:train]),
        "mean_square_deviation": test**2,
        "movement": _rms(movement[train:]),
        "relative_deviation": test / _rms(movement[train:]),
    }


def _rms(values: Tensor) -> float:
    return float(values.square().mean().sqrt())


def _data(settings: LinearizationSettings) -> tuple[Tensor, Tensor]:
    """Return inputs with |x|² = d on average, those of training first, and targets in {0, 1} or one-hot."""
    if settings.data == "breast_cancer":
        train, rest = labeled("breast_cancer", 0)
        x, y = torch.cat([train.features, rest.features]), torch.cat([train.labels, rest.labels])
    elif settings.data == "digits":
        x, classes = digits()
        y = torch.nn.functional.one_hot(classes, 10)
    else:
        found = read_images(Path(settings.data), "train", limit=settings.samples + settings.test)
        x, y = found.scaled().flatten(1), torch.nn.functional.one_hot(found.classes)
    count = settings.samples + settings.test
    if len(x) < count:
        raise InputError(f"samples={settings.samples!r}, test={settings.test!r}: there are {len(x)} samples")
    x, y = x[:count].double(), y[:count].double()
    return x / x.square().mean().sqrt(), y[: settings.samples]


EXPERIMENTS: Mapping[str, Experiment] = {
    "linearization_error": Experiment(
        "distance of trained networks from their linearization, by width and scaling of the rate",
        LinearizationSettings,
        linearization_rows,
        batch=64,
        rounding=1e-6,
    ),
}
