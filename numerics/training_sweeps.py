"""Experiments on training for sweeps: obstructed networks, and the drift of conserved quantities with the step size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from ..core import InputError
from ..graphs.layered import layered_network
from ..graphs.training_fields import ActivationName, MethodName
from .averaged_training import averaged_moments, deep_linear_field
from .balances import Balances
from .descent import Method, Objective, descend
from .forward import NetworkFunction
from .integrators import METHODS, Vector
from .obstruction_experiments import NeuronSettings, Runs, ToySettings, toy_runs, two_neuron_runs
from .registry import Experiment, Row

__all__ = ["EXPERIMENTS", "DriftSettings", "LawSettings", "balance_drifts", "linear_law_drift"]

_CURVE = 40


def _toy_rows(settings: Sequence[ToySettings], seeds: Sequence[int], device: str) -> list[Row]:
    return _rows(toy_runs(settings, seeds, records=_CURVE, device=device))


def _two_neuron_rows(settings: Sequence[NeuronSettings], seeds: Sequence[int], device: str) -> list[Row]:
    return _rows(two_neuron_runs(settings, seeds, records=_CURVE, device=device))


def _rows(runs: Runs) -> list[Row]:
    last = runs.losses[:, -1].tolist()
    ratio = (runs.losses[:, -1] / runs.mean_squares).tolist()
    smallest = runs.singular_values[:, -1, -1].tolist()
    return [
        {
            "loss": last[i],
            "zero_loss": float(runs.mean_squares[i]),
            "loss_over_zero_loss": ratio[i],
            "frozen": sum(minimum > 0 for minimum in runs.minima[i]),
            "last_weight": float(runs.weights[i, -1, -1]),
            "last_weight_minimum": runs.minima[i][-1],
            "smallest_singular_value": smallest[i],
            "drift": float(runs.drifts[i]),
            "recorded_steps": tuple(map(float, runs.steps)),
            "losses": tuple(runs.losses[i].tolist()),
        }
        for i in range(len(last))
    ]


@dataclass(frozen=True)
class DriftSettings:
    """A perceptron trained on normal data with normal targets, and how far its balances drift.

    Parameters
    ----------
    widths : tuple of int
        From the inputs to the outputs; no biases.
    method : str
        As in `lakatos.numerics.descent.Method`.
    rate, momentum, decay, clip : float
        Of the method.
    time : float
        The method makes time/rate steps, so that runs at all rates reach the same time.
    activation : str
        One of `lakatos.numerics.forward.ACTIVATIONS`; positively homogeneous ones of degree 1 conserve.
    scale : float
        Weights at the start are normal with this standard deviation, divided by the root of the inputs of the layer.
    samples : int
        Rows of data.
    """

    widths: tuple[int, ...] = (3, 5, 4, 2)
    method: MethodName = "gd"
    rate: float = 0.01
    momentum: float = 0.0
    decay: float = 0.0
    clip: float = 1.0
    time: float = 2.0
    activation: ActivationName = "relu"
    scale: float = 1.0
    samples: int = 20

    def __post_init__(self) -> None:
        if len(self.widths) < 3 or min(self.widths) < 1 or self.samples < 1:
            raise InputError(f"widths={self.widths!r}: inputs, hidden layers and outputs of positive width are needed")
        if not (self.rate > 0 and self.time >= self.rate):
            raise InputError(f"rate={self.rate!r}: a positive rate of at most time={self.time!r} is needed")

    @property
    def steps(self) -> int:
        """Number of steps."""
        return round(self.time / self.rate)


def balance_drifts(settings: Sequence[DriftSettings], seeds: Sequence[int], device: str = "cpu") -> list[Row]:
    """Return for each seed how far the balances are from those of the start, at the end and on the way.

    All runs train as one batch. ``drift`` is the largest change of a balance at the end, ``relative_drift`` the same over
    the largest sum of squares that a balance is made of.

    Raises
    ------
    InputError
        If the settings are not all equal.
    Undecided
        If the weights of some run do not stay finite.

    Examples
    --------
    >>> coarse, fine = (
    ...     balance_drifts([DriftSettings(rate=rate, time=0.4)], [0])[0]["drift"] for rate in (0.02, 0.01)
    ... )
    >>> 1.9 < coarse / fine < 2.1
    True
    """
    if len(set(settings)) != 1 or len(settings) != len(seeds):
        raise InputError(
            f"{len(settings)} settings and {len(seeds)} seeds: equal settings, one for each seed, are needed"
        )
    one = settings[0]
    network = layered_network(list(one.widths))
    data, targets, starts = (
        torch.stack(parts).to(device) for parts in zip(*(_drawn(one, s) for s in seeds), strict=True)
    )
    function = NetworkFunction(network, one.activation, torch.device(device))
    objective = Objective(function, data, targets, per_start=True)
    method = Method(one.method, one.rate, one.momentum, one.decay, one.clip)
    B = Balances(network, device=device)
    balances, sizes = B(starts**2), B.sizes(starts**2).amax(-1)
    every = max(1, one.steps // _CURVE)
    times, curves, losses = [0.0], [torch.zeros(len(seeds), dtype=torch.float64, device=device)], []
    for step in descend(objective, starts, method, one.steps):
        if step.index % every == 0 or step.index == one.steps:
            times.append(step.index * one.rate)
            curves.append((B(step.after**2) - balances).abs().amax(-1))
        losses.append(step.loss)
    drifts = torch.stack(curves, 1)
    return [
        {
            "steps": one.steps,
            "drift": float(drifts[i, -1]),
            "relative_drift": float(drifts[i, -1] / sizes[i]),
            "loss": float(losses[-1][i]),
            "times": tuple(times),
            "drifts": tuple(drifts[i].tolist()),
        }
        for i in range(len(seeds))
    ]


def _drawn(one: DriftSettings, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Data, targets and weights, in the order of edges of a layered network."""
    generator = torch.Generator().manual_seed(seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    data, targets = normal(one.samples, one.widths[0]), normal(one.samples, one.widths[-1])
    layers = [one.scale / a**0.5 * normal(a, b) for a, b in pairwise(one.widths)]
    return data, targets, torch.cat([layer.flatten() for layer in layers])


@dataclass(frozen=True)
class LawSettings:
    """A deep linear net on normal data under a method of some order.

    Parameters
    ----------
    widths : tuple of int
        From the output to the input.
    method : str
        ``gd``, ``heavy_ball``, ``ab2``, ``rk4``, ``midpoint`` or ``adam`` of `lakatos.numerics.integrators`.
    step, time : float
        time/step steps are made.
    samples : int
        Rows of data.
    scale : float
        Standard deviation of the weights at the start.
    """

    widths: tuple[int, ...] = (2, 3, 4)
    method: Literal["gd", "heavy_ball", "ab2", "rk4", "midpoint", "adam"] = "gd"
    step: float = 0.05
    time: float = 1.0
    samples: int = 20
    scale: float = 0.6

    def __post_init__(self) -> None:
        if len(self.widths) < 3 or min(self.widths) < 1 or self.samples < 1:
            raise InputError(f"widths={self.widths!r}: output, hidden layers and input of positive width are needed")
        if not (self.step > 0 and self.time >= self.step):
            raise InputError(f"step={self.step!r}: a positive step of at most time={self.time!r} is needed")


def linear_law_drift(settings: LawSettings, seed: int) -> Row:
    """Return how far the laws Wᵢᵀ Wᵢ − Wᵢ₊₁ Wᵢ₊₁ᵀ of f = W₁ … W_q x drift: their largest change at time T.

    Examples
    --------
    >>> linear_law_drift(LawSettings(method="midpoint", time=0.2), 0)["drift"] < 1e-12
    True
    """
    generator = np.random.default_rng(seed)
    shapes = list(pairwise(settings.widths))
    x = generator.standard_normal((settings.samples, settings.widths[-1]))
    y = generator.standard_normal((settings.samples, settings.widths[0]))
    start = settings.scale * generator.standard_normal(sum(a * b for a, b in shapes))
    field = deep_linear_field(averaged_moments(x, y), shapes)
    steps = round(settings.time / settings.step)
    end = METHODS[settings.method](field, start, settings.step, steps)
    change = np.abs(_laws(end, shapes) - _laws(start, shapes)).max()
    return {"steps": steps, "drift": float(change), "distance": float(np.linalg.norm(end - start))}


def _laws(theta: Vector, shapes: Sequence[tuple[int, int]]) -> Vector:
    ends = np.cumsum([a * b for a, b in shapes])
    layers = [part.reshape(shape) for part, shape in zip(np.split(theta, ends[:-1]), shapes, strict=True)]
    return np.concatenate([(v.T @ v - w @ w.T).ravel() for v, w in pairwise(layers)])


def _law_rows(settings: Sequence[LawSettings], seeds: Sequence[int], _: str) -> list[Row]:
    return [linear_law_drift(one, seed) for one, seed in zip(settings, seeds, strict=True)]


EXPERIMENTS: Mapping[str, Experiment] = {
    "toy_obstruction": Experiment(
        "loss of a network with one out-bottleneck, for a target that needs its last weight negative",
        ToySettings,
        _toy_rows,
        varying=("output_weight",),
        batch=64,
        rounding=1e-9,
    ),
    "two_neuron_obstruction": Experiment(
        "loss of two hidden neurons, for a target that needs both output weights negative",
        NeuronSettings,
        _two_neuron_rows,
        varying=("start",),
        batch=64,
        rounding=1e-9,
    ),
    "balance_drift": Experiment(
        "drift of the balances of a perceptron under a method of discrete training",
        DriftSettings,
        balance_drifts,
        batch=64,
        rounding=1e-9,
    ),
    "linear_law_drift": Experiment(
        "drift of the conservation laws of a deep linear net under a method of some order", LawSettings, _law_rows
    ),
}
