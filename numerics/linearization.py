"""Any module beside its linearization: correlations at the start, and how far training leaves the linear model.

The linear model F(θ_0) + ∇F(θ_0)·(θ − θ_0) is trained in parameter space with products of the Jacobian at θ_0
(forward and reverse mode); its kernel is never formed. What the second derivatives at θ_0 add to it, to first order,
is trained beside both: that is the predicted deviation, made without a look at the network away from θ_0.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from ..core import InputError
from .forward_mode import jvp, vjp
from .linearized_training import LOSS_DERIVATIVES, LossName
from .mlps import Mlp
from .module_functions import ModuleFunction, Weights
from .module_kinks import kinks, require_differentiable
from .module_mlps import LARGEST_TAYLOR_ORDER, sequential_mlp
from .nested_jvp import LARGEST_ORDER, line_coefficients, line_gradient_norms
from .schedules import record_steps
from .taylor_mode import correlations, first_order_norms, gradient_direction

__all__ = ["Linearization", "Settings", "linearization"]

LINEAR, FEATURES = 0.1, 1 / 3
_PROBE = 4  # samples for which norms of first derivatives are computed, one reverse pass for each output
_RECORDS = 24
_ROUNDING = 1e-11


@dataclass(frozen=True)
class Settings:
    """How the module is trained, and what is computed of it.

    Parameters
    ----------
    loss : str
        ``cross_entropy``, ``squared`` (half the square, summed over outputs) or ``logistic``; the mean over samples.
    rate, steps, batch, seed
        Of gradient descent; `batch` samples drawn anew in each step from `seed`, all if left out.
    train : int, optional
        Samples that are trained on, the first ones; the others are only watched.
    order : int, optional
        Largest d of C_{0,d}; by default 3, or 1 for modules with kinks. Up to 4 by nested forward mode, and up to 16 by
        Taylor mode for sequences of linear layers and one smooth activation (`sequential_mlp`).
    """

    loss: LossName = "cross_entropy"
    rate: float = 0.1
    steps: int = 100
    batch: int | None = None
    seed: int = 0
    train: int | None = None
    order: int | None = None

    def __post_init__(self) -> None:
        if not (self.rate > 0 and math.isfinite(self.rate)) or self.steps < 1:
            raise InputError(
                f"rate={self.rate!r}, steps={self.steps!r}: a positive rate and at least one step are needed"
            )
        if self.loss not in LOSS_DERIVATIVES:
            raise InputError(f"loss={self.loss!r}: choose one of {', '.join(LOSS_DERIVATIVES)}")
        if self.batch is not None and self.batch < 1:
            raise InputError(f"batch={self.batch!r}: at least one sample is needed")
        if self.order is not None and not 1 <= self.order <= LARGEST_TAYLOR_ORDER:
            raise InputError(f"order={self.order!r}: 1 to {LARGEST_TAYLOR_ORDER} can be computed")


@dataclass(frozen=True)
class Linearization:
    """What was found.

    Parameters
    ----------
    parameters, samples, outputs : int
        Sizes.
    kinks : tuple of str
        Operations whose second derivatives say nothing.
    correlations : tuple of float
        Root mean square over samples and outputs of C_{0,d}[x; v^d], d = 0, 1, …, with v the gradient of the loss.
    norms : tuple of float
        The same of ‖C_{1,d}[x; v^d]‖, over the first samples.
    records : tuple of int
        Steps after which the following were recorded.
    losses, linear_losses : tuple of float
        Mean loss of the network and of the linear model on the samples that are trained on.
    movement : tuple of float
        Root mean square of F_lin − F_0.
    measured : tuple of float
        Root mean square of F − F_lin.
    predicted : tuple of float, optional
        The same from second derivatives at the start; None for modules with kinks.
    """

    parameters: int
    samples: int
    outputs: int
    kinks: tuple[str, ...]
    correlations: tuple[float, ...]
    norms: tuple[float, ...]
    records: tuple[int, ...]
    losses: tuple[float, ...]
    linear_losses: tuple[float, ...]
    movement: tuple[float, ...]
    measured: tuple[float, ...]
    predicted: tuple[float, ...] | None

    @property
    def ratios(self) -> tuple[float, ...]:
        """Deviation over movement at every record; NaN where the linear model has not moved beyond rounding."""
        size = max(self.correlations[0], *self.movement)
        return tuple(
            deviation / moved if moved > _ROUNDING * size else math.nan
            for deviation, moved in zip(self.measured, self.movement, strict=True)
        )

    @property
    def ratio(self) -> float:
        """The largest ratio; NaN if there is none."""
        return max((ratio for ratio in self.ratios if not math.isnan(ratio)), default=math.nan)

    @property
    def verdict(self) -> str:
        """``linear regime`` (the linear model is off by 10 % of its movement at most), ``feature learning`` (a third or more)
        or ``undecided``."""
        if self.ratio <= LINEAR:
            return "linear regime"
        return "feature learning" if self.ratio >= FEATURES else "undecided"


def linearization(
    module: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    settings: Settings,
    *,
    device: str = "cpu",
    on_step: Callable[[], None] = lambda: None,
) -> Linearization:
    """Return the comparison of a module, trained by gradient descent on data, with its linearization at the start.

    Parameters
    ----------
    inputs : Tensor (N, …)
        What the module is called with.
    targets : Tensor
        Classes (N,) of integers, or numbers (N,) or (N, k) for the squared and the logistic loss (±1).
    on_step : callable
        Called after each step.

    Raises
    ------
    InputError
        Naming what is not supported in the module, what does not fit the data, or the step at which the loss is not finite.
    """
    require_differentiable(module)
    made = copy.deepcopy(module).double().to(device)
    x = inputs.double().to(device)
    if not bool(torch.isfinite(x).all()):
        raise InputError("data: x holds values that are not finite")
    model = ModuleFunction(made, x)
    y = _targets(targets.to(device), model.outputs.shape, settings.loss)
    train = len(x) if settings.train is None else settings.train
    if not 1 <= train <= len(x):
        raise InputError(f"train={train!r}: 1 to {len(x)} samples can be trained on")
    found = kinks(made, x[:2])
    order = settings.order or (1 if found else 3)
    if order >= 2 and found:
        raise InputError(
            f"order={order!r}: {', '.join(found)} has kinks; automatic differentiation gives its second derivatives as 0 and "
            "misses what a step does there, so that correlations of order 2 and more would say nothing; use order 1"
        )
    mlp = sequential_mlp(made, x.ndim)
    if mlp is None and order > LARGEST_ORDER:
        raise InputError(
            f"order={order!r}: more than {LARGEST_ORDER} only for an nn.Sequential of linear layers, all trained, with "
            f"one of Tanh, Sigmoid, Softplus, GELU or SiLU between them; use order {LARGEST_ORDER}"
        )
    pair = _Pair(model, y, train, settings, has_prediction=not found)
    sizes, norms = pair.at_the_start(order, mlp)
    rows = pair.train(record_steps(settings.steps, _RECORDS), on_step)
    columns = list(zip(*rows, strict=True))
    return Linearization(
        sum(p.numel() for p in model.start.values()),
        len(x),
        model.outputs.shape[1],
        found,
        sizes,
        norms,
        tuple(map(int, columns[0])),
        *_four(columns[1:5]),
        tuple(columns[5]) if not found else None,
    )


_Floats = tuple[float, ...]


def _four(columns: Sequence[_Floats]) -> tuple[_Floats, _Floats, _Floats, _Floats]:
    first, second, third, fourth = columns
    return first, second, third, fourth


class _Pair:
    """The network, the linear model, and the first correction of it, trained side by side."""

    def __init__(
        self, model: ModuleFunction, targets: Tensor, train: int, settings: Settings, *, has_prediction: bool
    ) -> None:
        self.model, self.targets, self.train_rows, self.settings = model, targets, train, settings
        self.has_prediction = has_prediction
        self.derivative = LOSS_DERIVATIVES[settings.loss]
        self.rng = torch.Generator().manual_seed(settings.seed)
        self.everything = torch.arange(len(model.inputs), device=model.inputs.device)

    def at_the_start(self, order: int, mlp: Mlp | None) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Return the sizes of C_{0,d} and ‖C_{1,d}‖ along the gradient of the loss on what is trained on."""
        model, rate = self.model, self.settings.rate
        rows = self.everything[: self.train_rows]
        outputs, pull = vjp(model.on(rows), model.start)
        c = self.derivative(outputs, self.targets[rows]) / len(rows)
        if mlp is not None:
            x = model.inputs.flatten(1)
            direction = gradient_direction(mlp, x[rows], c)
            coefficients = list(correlations(mlp, x, direction, order).unbind(-3))
            norms = list(first_order_norms(mlp, x[:_PROBE], direction, order - 1).unbind(-3))
        else:
            (v,) = pull(c)
            coefficients = line_coefficients(model.on(self.everything), model.start, v, order)
            norms = line_gradient_norms(model.on(self.everything[:_PROBE]), model.start, v, order - 1)
        return (
            tuple(rate**d * _rms(c) for d, c in enumerate(coefficients)),
            tuple(rate ** (d + 0.5) * _rms(n) for d, n in enumerate(norms)),
        )

    def train(self, records: Sequence[int], on_step: Callable[[], None]) -> list[tuple[float, ...]]:
        model, rate = self.model, self.settings.rate
        zeros = {name: torch.zeros_like(p) for name, p in model.start.items()}
        now, moved, bent = dict(model.start), dict(zeros), dict(zeros)
        kept = set(records)
        found = []
        for step in range(1, self.settings.steps + 1):
            rows = self._batch()
            y = self.targets[rows]
            outputs, pull = vjp(model.on(rows), now)
            (slope,) = pull(self.derivative(outputs, y) / len(rows))
            linear_slope, bent_slope = self._linear_slopes(rows, y, moved, bent)
            now = _stepped(now, slope, rate)
            moved, bent = _stepped(moved, linear_slope, rate), _stepped(bent, bent_slope, rate)
            if step in kept or not bool(torch.isfinite(outputs).all()):
                found.append(self._record(step, now, moved, bent))
            on_step()
        return found

    def _batch(self) -> Tensor:
        size = self.settings.batch
        if size is None or size >= self.train_rows:
            return self.everything[: self.train_rows]
        return torch.randperm(self.train_rows, generator=self.rng)[:size].to(self.everything.device)

    def _linear_slopes(self, rows: Tensor, y: Tensor, moved: Weights, bent: Weights) -> tuple[Weights, Weights]:
        """Return the gradient of the linear model, and of what second derivatives add to it in first order."""
        function, start = self.model.on(rows), self.model.start
        outputs, pull = vjp(function, start)
        outputs = outputs + jvp(function, (start,), (moved,))[1]
        c = self.derivative(outputs, y) / len(rows)
        (slope,) = pull(c)
        if not self.has_prediction:
            return slope, slope

        def gradient(weights: Weights) -> Weights:
            found: Weights = vjp(function, weights)[1](c)[0]
            return found

        _, turned = jvp(gradient, (start,), (moved,))
        change = self._bend(function, moved, bent)
        _, dc = jvp(lambda values: self.derivative(values, y) / len(rows), (outputs,), (change,))
        (more,) = pull(dc)
        return slope, {name: turned[name] + more[name] for name in turned}

    def _bend(self, function: Callable[[Weights], Tensor], moved: Weights, bent: Weights) -> Tensor:
        """Return J δ + ½∇²F(Δ, Δ): the predicted deviation of the outputs."""
        start = self.model.start
        second = jvp(lambda w: jvp(function, (w,), (moved,))[1], (start,), (moved,))[1]
        change: Tensor = jvp(function, (start,), (bent,))[1] + second / 2
        return change

    def _record(self, step: int, now: Weights, moved: Weights, bent: Weights) -> tuple[float, ...]:
        model = self.model
        function = model.on(self.everything)
        with torch.no_grad():
            outputs = function(now)
        linear = model.outputs + jvp(function, (model.start,), (moved,))[1]
        loss, linear_loss = (self._loss(values[: self.train_rows]) for values in (outputs, linear))
        if not (math.isfinite(loss) and math.isfinite(linear_loss)):
            which = "network" if not math.isfinite(loss) else "linear model"
            raise InputError(
                f"rate={self.settings.rate!r}: the loss of the {which} is not finite after step {step}; take a smaller rate"
            )
        predicted = _rms(self._bend(function, moved, bent)) if self.has_prediction else math.nan
        return (step, loss, linear_loss, _rms(linear - model.outputs), _rms(outputs - linear), predicted)

    def _loss(self, outputs: Tensor) -> float:
        return float(LOSSES[self.settings.loss](outputs, self.targets[: self.train_rows]).mean())


LOSSES: Mapping[str, Callable[[Tensor, Tensor], Tensor]] = {
    "squared": lambda outputs, y: ((outputs - y) ** 2).sum(1) / 2,
    "logistic": lambda outputs, y: nn.functional.softplus(-y * outputs).sum(1),
    "cross_entropy": lambda outputs, y: -(y * outputs.log_softmax(1)).sum(1),
}
"""Of each sample, with the targets that `LOSS_DERIVATIVES` takes."""


def _targets(targets: Tensor, shape: torch.Size, loss: str) -> Tensor:
    """Return targets of the shape of the outputs: one-hot for classes where there are several outputs."""
    samples, k = shape
    if len(targets) != samples:
        raise InputError(f"data: y has {len(targets)} entries for {samples} samples")
    if targets.is_floating_point() and not bool(torch.isfinite(targets).all()):
        raise InputError("data: y holds values that are not finite")
    if not targets.is_floating_point() and targets.ndim == 1 and k > 1:
        if not 0 <= int(targets.min()) <= int(targets.max()) < k:
            raise InputError(
                f"data: y has classes {int(targets.min())} to {int(targets.max())}; the model has {k} outputs"
            )
        return nn.functional.one_hot(targets.long(), k).double()
    if loss == "cross_entropy":
        raise InputError(
            f"loss={loss!r}: the model has {k} output{'s' * (k > 1)}, and y type {targets.dtype}; classes and two outputs or "
            "more are needed; for one output choose 'squared' or 'logistic'"
        )
    values = targets.double().reshape(len(targets), -1)
    if values.shape[1] != k:
        raise InputError(f"data: y has shape {tuple(targets.shape)}; {k} numbers for each sample are needed")
    if loss == "logistic" and not bool((values.abs() == 1).all()):
        raise InputError("loss='logistic': y has to consist of the labels 1 and -1")
    return values


def _stepped(weights: Weights, slope: Weights, rate: float) -> Weights:
    return {name: p - rate * slope[name] for name, p in weights.items()}


def _rms(values: Tensor) -> float:
    return math.sqrt(float(values.square().mean()))
