"""Gradient descent of many networks beside their linearizations: the same steps, rate, loss and batches.

The linearized model is trained in function space, F_lin(s+1) = F_lin(s) − η Θ_0(·, x_s) 𝒞'(F_lin(s)(x_s), y_s), which is
exactly what discrete descent does to F(θ_0) + ∇F(θ_0)·(θ − θ_0); no flow takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from ..core import InputError
from .mlps import Architecture, Mlp, chunks, deltas, draw, forward, tangent_kernel

__all__ = [
    "LOSS_DERIVATIVES",
    "LossDerivative",
    "LossName",
    "Runs",
    "Schedule",
    "Targets",
    "ensemble_runs",
    "runs_beside_linearization",
]

LossName: TypeAlias = Literal["squared", "logistic", "cross_entropy"]
LossDerivative: TypeAlias = "Callable[[Tensor, Tensor], Tensor]"
Targets: TypeAlias = "Callable[[int, Tensor], Tensor]"
"""From the number of a step and the targets (…, B, k) of its batch to those used in it."""

LOSS_DERIVATIVES: Mapping[str, LossDerivative] = MappingProxyType(
    {
        "squared": lambda outputs, targets: outputs - targets,
        "logistic": lambda outputs, targets: -targets * torch.sigmoid(-targets * outputs),
        "cross_entropy": lambda outputs, targets: functional.softmax(outputs, dim=-1) - targets,
    }
)
"""𝒞'(F, y) of |F − y|²/2, of log(1 + e^(−yF)) for y = ±1, and of the cross-entropy of logits for one-hot y."""

_COPIES = 4  # of the weights, while one step is taken
_ROWS = 8  # of activations per input and neuron


@dataclass(frozen=True)
class Schedule:
    """How networks are trained.

    Parameters
    ----------
    rate : float
        η, with all powers of the width.
    steps : int
        Number of steps.
    batch : int, optional
        Samples of each step, drawn anew for each network without replacement; all if left out.
    loss : str
        Key of `LOSS_DERIVATIVES`.
    trained : str
        ``all`` layers, or the ``last`` one: a model linear in its parameters.
    random_labels : bool
        Whether each step draws targets ±1 anew: contradictory labels.
    """

    rate: float
    steps: int
    batch: int | None = None
    loss: LossName = "squared"
    trained: Literal["all", "last"] = "all"
    random_labels: bool = False

    def __post_init__(self) -> None:
        if self.steps < 1 or not self.rate > 0 or (self.batch is not None and self.batch < 1):
            raise InputError(
                f"rate={self.rate!r}, steps={self.steps!r}, batch={self.batch!r}: a positive rate and at least one step "
                "and sample are needed"
            )
        if self.loss not in LOSS_DERIVATIVES:
            raise InputError(f"loss={self.loss!r}: choose one of {', '.join(LOSS_DERIVATIVES)}")


@dataclass(frozen=True)
class Runs:
    """What was recorded, for R recorded steps and S networks.

    Parameters
    ----------
    steps : tuple of int
        When: after so many steps.
    start : Tensor (S, N, k)
        F(θ_0).
    outputs, linear : Tensor (R, S, N, k)
        F(θ_s) and F_lin(s) at all inputs, those of training first.
    kernel_drift, gradient_drift : Tensor (R, S)
        max |Θ_s − Θ_0| over pairs of inputs, and √η max ‖∇F(θ_s)(x) − ∇F(θ_0)(x)‖ over inputs; empty unless asked for.
    """

    steps: tuple[int, ...]
    start: Tensor
    outputs: Tensor
    linear: Tensor
    kernel_drift: Tensor
    gradient_drift: Tensor

    @property
    def deviation(self) -> Tensor:
        """F(θ_s) − F_lin(s), (R, S, N, k)."""
        return self.outputs - self.linear


def ensemble_runs(
    architecture: Architecture,
    seeds: Sequence[int],
    inputs: Tensor,
    targets: Tensor,
    schedule: Schedule,
    *,
    records: Sequence[int] | None = None,
    drifts: bool = False,
    device: str = "cpu",
) -> Runs:
    """Return the runs of networks drawn from `seeds`, as one batch, or several where memory asks for it.

    Parameters
    ----------
    inputs : Tensor (N, d)
        The first rows are those of training, as many as there are `targets`.
    targets : Tensor (M, k)
        M ≤ N.
    records : sequence of int, optional
        Steps after which to record; the last alone without it.
    drifts : bool
        Whether to record how far the kernel and the gradients moved.
    """
    neurons = sum(architecture.sizes)
    cost = _COPIES * architecture.parameters + _ROWS * len(inputs) * neurons * (1 + architecture.outputs)
    parts = [
        runs_beside_linearization(
            draw(architecture, part, device=device),
            inputs.to(device),
            targets.to(device),
            schedule,
            batch_seeds=part,
            records=records,
            drifts=drifts,
        )
        for part in chunks(seeds, cost)
    ]
    if len(parts) == 1:
        return parts[0]
    joined = [torch.cat([getattr(run, name) for run in parts], dim=1) for name in ("outputs", "linear")]
    drifted = [torch.cat([getattr(run, name) for run in parts], dim=1) for name in ("kernel_drift", "gradient_drift")]
    return Runs(parts[0].steps, torch.cat([run.start for run in parts]), *joined, *drifted)


def runs_beside_linearization(
    mlp: Mlp,
    inputs: Tensor,
    targets: Tensor,
    schedule: Schedule,
    *,
    batch_seeds: Sequence[int] = (0,),
    records: Sequence[int] | None = None,
    drifts: bool = False,
) -> Runs:
    """Return the runs of networks with one leading axis, that of seeds; see `ensemble_runs`.

    Raises
    ------
    InputError
        If `records` holds steps that the schedule does not make.
    """
    kept = (schedule.steps,) if records is None else tuple(sorted(set(records)))
    if not kept or not 1 <= kept[0] <= kept[-1] <= schedule.steps:
        raise InputError(f"records={list(kept)!r}: steps from 1 to {schedule.steps} are needed")
    train, rate = len(targets), schedule.rate
    layers = slice(-1, None) if schedule.trained == "last" else slice(None)
    # As one matrix for each network, laid out once: every step multiplies by it.
    kernel = (rate * tangent_kernel(mlp, inputs, layers=layers)[..., :train, :]).flatten(-2).flatten(-3, -2)
    now = mlp.with_parameters([p.clone() for p in mlp.parameters])
    start = forward(now, inputs).outputs
    linear = start.clone()
    derivative = LOSS_DERIVATIVES[schedule.loss]
    batches = _Batches(schedule, targets, batch_seeds)
    outputs, linears, kernel_drifts, gradient_drifts = [], [], [], []
    for step in range(1, schedule.steps + 1):
        rows, wanted = batches.next()
        size = rows.shape[-1]
        done = forward(now, inputs[rows], slopes=True)
        c = derivative(done.outputs, wanted) / size
        c_linear = derivative(_gathered(linear, rows), wanted) / size
        _descend(now, done.inputs, deltas(now, done, c), rate, layers)
        spread = torch.zeros_like(linear[..., :train, :]).scatter_add_(
            -2, rows[..., None].expand_as(c_linear), c_linear
        )
        linear = linear - (kernel @ spread.flatten(-2).unsqueeze(-1)).reshape_as(linear)
        if step in kept:
            outputs.append(forward(now, inputs).outputs)
            linears.append(linear)
            if drifts:
                k, g = _drifts(mlp, now, inputs, rate, layers)
                kernel_drifts.append(k)
                gradient_drifts.append(g)
    stacked = [torch.stack(found) if found else torch.empty(0) for found in (kernel_drifts, gradient_drifts)]
    return Runs(kept, start, torch.stack(outputs), torch.stack(linears), *stacked)


class _Batches:
    """Rows and targets of each step, for every network."""

    def __init__(self, schedule: Schedule, targets: Tensor, seeds: Sequence[int]) -> None:
        self.schedule, self.targets = schedule, targets
        self.generators = [np.random.default_rng([seed, 7]) for seed in seeds]
        self.everything = torch.arange(len(targets), device=targets.device).expand(len(seeds), -1)

    def next(self) -> tuple[Tensor, Tensor]:
        size, count = self.schedule.batch, len(self.targets)
        rows = self.everything
        if size is not None and size < count:
            drawn = np.array([rng.permutation(count)[:size] for rng in self.generators])
            rows = torch.from_numpy(drawn).to(self.targets.device)
        if self.schedule.random_labels:
            shape = (rows.shape[-1], self.targets.shape[-1])
            signs = np.array([2.0 * rng.integers(0, 2, shape) - 1 for rng in self.generators])
            return rows, torch.from_numpy(signs).to(self.targets)
        return rows, self.targets[rows]


def _gathered(values: Tensor, rows: Tensor) -> Tensor:
    return values.gather(-2, rows[..., None].expand(*rows.shape, values.shape[-1]))


def _descend(mlp: Mlp, inputs: Sequence[Tensor], found: Sequence[Tensor], rate: float, layers: slice) -> None:
    """Take one step in place."""
    for W, h, delta in list(zip(mlp.weights, inputs, found, strict=True))[layers]:
        W.baddbmm_(delta.mT, h.expand(len(W), -1, -1), alpha=-rate)
    if mlp.biases:
        for b, delta in list(zip(mlp.biases, found, strict=True))[layers]:
            b.sub_(rate * delta.sum(-2))


def _drifts(start: Mlp, now: Mlp, inputs: Tensor, rate: float, layers: slice) -> tuple[Tensor, Tensor]:
    before, after = (rate * tangent_kernel(mlp, inputs, layers=layers) for mlp in (start, now))
    cross = rate * tangent_kernel(start, inputs, now, layers=layers)
    square = torch.einsum("...njnj->...nj", before + after - 2 * cross).clamp(min=0)
    return (after - before).abs().amax((-4, -3, -2, -1)), square.sqrt().amax((-2, -1))
