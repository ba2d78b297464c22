"""Experiments on obstructed training, as functions of settings and seeds; all runs of one call train as one batch.

* A network with one out-bottleneck: x1, x2 → a, b → v → y, ReLU at a, b, v, all weights positive at the start, and a target
  that needs the last one negative. Whether it can change sign is decided by the balances before training begins.
* Two hidden neurons and one output, for a target that needs both output weights negative.

In both, the outputs of a network with locked positive output weights are not negative, so its loss never falls below that of
the zero function, the mean of the squared targets.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from ..core import InputError
from ..graphs.connectivity import connectivity
from ..graphs.network import Network
from .balances import Balances
from .descent import Method, Objective, descend
from .forward import NetworkFunction
from .laplacians import jacobian

__all__ = [
    "TOY_NETWORK",
    "TWO_NEURONS",
    "NeuronSettings",
    "Runs",
    "Start",
    "ToySettings",
    "toy_runs",
    "two_neuron_runs",
]

TOY_NETWORK = Network.from_edges(
    [("x1", "a"), ("x2", "a"), ("x1", "b"), ("x2", "b"), ("a", "v"), ("b", "v"), ("v", "y")]
)
TWO_NEURONS = Network.from_edges([("x1", "a"), ("x2", "a"), ("x1", "b"), ("x2", "b"), ("a", "y"), ("b", "y")])

_TOY_TEACHER = (1.0, 0.5, -0.5, 1.0, 1.0, 1.0, -1.0)
_TWO_NEURON_TEACHER = (1.0, 0.5, -0.5, 1.0, -1.0, -1.0)

Start: TypeAlias = Literal["good", "one_locked", "both_locked"]


@dataclass(frozen=True)
class ToySettings:
    """Settings of the network with one out-bottleneck.

    Parameters
    ----------
    output_weight : float
        The last weight at the start; the others are 0.4|z| + 0.2 for normal z.
    samples, steps : int
        Of the data, normal, and of gradient descent.
    rate : float
        Of gradient descent.
    """

    output_weight: float = 0.6
    samples: int = 200
    rate: float = 0.01
    steps: int = 6000


@dataclass(frozen=True)
class NeuronSettings:
    """Settings of the network with two hidden neurons.

    Parameters
    ----------
    start : str
        ``good``: both balances are 0.91; ``one_locked``: 0.91 and −0.91; ``both_locked``: −0.91.
    samples, rate, time : int, float, float
        Of the data, and of gradient descent, which makes time/rate steps.
    """

    start: Start = "both_locked"
    samples: int = 200
    rate: float = 0.005
    time: float = 50.0


@dataclass(frozen=True, eq=False)
class Runs:
    """What was recorded of R runs at K steps; the network has m weights and h hidden nodes.

    Parameters
    ----------
    steps : tuple of int
        The K numbers of steps.
    losses : Tensor (R, K)
        Mean squared error.
    weights : Tensor (R, K, m)
        All weights.
    singular_values : Tensor (R, K, h)
        Of the Jacobian of the balances.
    balances : Tensor (R, h)
        At the start.
    drifts : Tensor (R,)
        Largest change of a balance at any step.
    minima : tuple of tuple of float
        For each run and each weight, the exact minimum of its square on the invariant set of the start.
    mean_squares : Tensor (R,)
        Mean of the squared targets: the loss of the zero function.
    """

    steps: tuple[int, ...]
    losses: Tensor
    weights: Tensor
    singular_values: Tensor
    balances: Tensor
    drifts: Tensor
    minima: tuple[tuple[float, ...], ...]
    mean_squares: Tensor


def toy_runs(
    settings: Sequence[ToySettings],
    seeds: Sequence[int],
    *,
    records: int = 120,
    device: str = "cpu",
    on_step: Callable[[], object] = lambda: None,
) -> Runs:
    """Return the runs of the network with one out-bottleneck, one for each pair of settings and seed.

    Parameters
    ----------
    settings : sequence of ToySettings
        Equal in samples, rate and steps.
    seeds : sequence of int
        As many as settings.
    records : int
        About how many steps are recorded.
    on_step : callable
        Called after every step, to show how far training is.

    Raises
    ------
    InputError
        If settings cannot train together.
    """
    _require_alike(settings, seeds, lambda one: (one.samples, one.rate, one.steps))
    first = settings[0]
    data, starts = [], []
    for one, seed in zip(settings, seeds, strict=True):
        generator = torch.Generator().manual_seed(seed)
        data.append(torch.randn(one.samples, 2, generator=generator, dtype=torch.float64))
        weights = 0.4 * torch.randn(7, generator=generator, dtype=torch.float64).abs() + 0.2
        weights[6] = one.output_weight
        starts.append(weights)
    method = Method("gd", first.rate)
    batch = torch.stack(data), torch.stack(starts)
    return _runs(TOY_NETWORK, _TOY_TEACHER, *batch, method, first.steps, records, device, on_step)


def two_neuron_runs(
    settings: Sequence[NeuronSettings],
    seeds: Sequence[int],
    *,
    records: int = 120,
    device: str = "cpu",
    on_step: Callable[[], object] = lambda: None,
) -> Runs:
    """Return the runs of the network with two hidden neurons, one for each pair of settings and seed.

    The weights at the start depend on the settings alone; the data on the seed. Parameters and errors as `toy_runs`.
    """
    _require_alike(settings, seeds, lambda one: (one.samples, one.rate, one.time))
    first = settings[0]
    data = []
    for seed in seeds:
        generator = torch.Generator().manual_seed(seed)
        data.append(torch.randn(first.samples, 2, generator=generator, dtype=torch.float64))
    starts = torch.stack([neuron_start(one.start) for one in settings])
    method, steps = Method("gd", first.rate), round(first.time / first.rate)
    return _runs(TWO_NEURONS, _TWO_NEURON_TEACHER, torch.stack(data), starts, method, steps, records, device, on_step)


def neuron_start(start: Start) -> Tensor:
    """Return the weights (6,) of two neurons at angles 0.3 and 1.9, incoming norms and output weights 1 or 0.3."""
    incoming, outgoing = {"good": ((1, 1), (0.3, 0.3)), "one_locked": ((1, 0.3), (0.3, 1))}.get(
        start, ((0.3, 0.3), (1, 1))
    )
    rows = [(norm * math.cos(angle), norm * math.sin(angle)) for norm, angle in zip(incoming, (0.3, 1.9), strict=True)]
    return torch.tensor([*rows[0], *rows[1], *outgoing], dtype=torch.float64)


def _runs(
    network: Network,
    teacher: Sequence[float],
    data: Tensor,
    starts: Tensor,
    method: Method,
    steps: int,
    records: int,
    device: str,
    on_step: Callable[[], object],
) -> Runs:
    function = NetworkFunction(network, "relu", device)
    data, starts = data.to(device), starts.to(device)
    weights = torch.tensor(teacher, dtype=torch.float64, device=device)
    targets = torch.stack([function(weights, rows) for rows in data])
    objective = Objective(function, data, targets, per_start=True)
    B = Balances(network, device=device)
    balances = B(starts**2)
    drifts = torch.zeros(len(starts), dtype=torch.float64, device=device)
    every = max(1, steps // records)
    kept, losses, snapshots = [0], [objective.value_and_gradient(starts)[0]], [starts]
    for step in descend(objective, starts, method, steps):
        drifts = torch.maximum(drifts, (B(step.after**2) - balances).abs().amax(-1))
        if step.index % every == 0 or step.index == steps:
            kept.append(step.index)
            losses.append(objective.value_and_gradient(step.after)[0])
            snapshots.append(step.after)
        on_step()
    recorded = torch.stack(snapshots, 1)
    return Runs(
        steps=tuple(kept),
        losses=torch.stack(losses, 1),
        weights=recorded,
        singular_values=torch.stack(
            [torch.stack([torch.linalg.svdvals(jacobian(network, theta)) for theta in run]) for run in recorded]
        ),
        balances=balances,
        drifts=drifts,
        minima=tuple(_minima(network, run) for run in starts.cpu()),
        mean_squares=(targets**2).mean((1, 2)),
    )


def _minima(network: Network, weights: Tensor) -> tuple[float, ...]:
    started = Network.from_arrays(
        network.tail, network.head, inputs=network.inputs, outputs=network.outputs, weights=weights.numpy()
    )
    minima = connectivity(started).minima
    return tuple(float(minima.get(e, 0)) for e in range(network.edge_count))


def _require_alike(settings: Sequence[object], seeds: Sequence[int], key: Callable[..., object]) -> None:
    if not settings or len(settings) != len(seeds):
        raise InputError(
            f"{len(settings)} settings and {len(seeds)} seeds: one seed for each of the settings is needed"
        )
    if len({key(one) for one in settings}) > 1:
        raise InputError("settings: those of one call train as one batch, so they differ in the start alone")
