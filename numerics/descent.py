"""Discrete training: gradient descent, momentum, weight decay, Adam and others, step by step, for one start or many.

The weights are a flat vector (m,), or a stack (starts, m) that is trained in one go: gradients are mapped over the stack
with `torch.func.vmap`, and the optimizers are those of PyTorch, which treat all entries alike. `descend` is a generator,
so no history is kept: what is wanted of a trajectory is collected from its steps as they pass, and the loop may be left
after any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import get_args

import torch
from torch import Tensor
from torch.func import grad_and_value, vmap

from ..core import InputError, Reason, Undecided
from ..graphs.training_fields import MethodName
from .forward import LOSSES

__all__ = ["METHODS", "Method", "Objective", "Step", "descend"]

METHODS: tuple[str, ...] = get_args(MethodName)
"""Names of the methods; what they do is said at `Method`."""


@dataclass(frozen=True, eq=False)
class Objective:
    """A loss on data plus a penalty, as a function of the weights.

    Parameters
    ----------
    function : callable
        Weights (m,) and data (samples, inputs) to outputs (samples, outputs); see `lakatos.numerics.forward`.
    data, targets : Tensor
        The samples; for `per_start`, those of each start, stacked.
    loss : callable or str
        Of outputs and targets, or a key of `LOSSES`.
    penalty : callable, optional
        Weights (m,) to a number that is added to the loss.
    batch : int, optional
        Step k uses this many samples, those that follow the ones of step k − 1, cyclically. All samples if left out.
    per_start : bool
        Whether every start has data and targets of its own.
    chunk_size : int, optional
        How many starts are evaluated at once; all if left out.

    Raises
    ------
    InputError
        For an unknown loss and an empty batch.

    Examples
    --------
    >>> square = Objective(lambda weights, data: weights * data, torch.ones(1), torch.zeros(1))
    >>> square.value_and_gradient(torch.tensor([3.0]))
    (tensor(9.), tensor([6.]))
    """

    function: Callable[[Tensor, Tensor], Tensor]
    data: Tensor
    targets: Tensor
    loss: Callable[[Tensor, Tensor], Tensor] | str = "mse"
    penalty: Callable[[Tensor], Tensor] | None = None
    batch: int | None = None
    per_start: bool = False
    chunk_size: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.loss, str) and self.loss not in LOSSES:
            raise InputError(f"loss={self.loss!r}: not known; choose one of {', '.join(LOSSES)}")
        if self.batch is not None and self.batch < 1:
            raise InputError(f"batch={self.batch!r}: at least one sample is needed; leave it out for all of them")

    def value_and_gradient(self, weights: Tensor, step: int = 0) -> tuple[Tensor, Tensor]:
        """Return the objective and its gradient at weights (m,), or at each of the weights (starts, m).

        `step` chooses the batch.
        """
        data, targets = self._samples(step)
        if weights.dim() == 1:
            theta = weights.detach().requires_grad_()
            value = self._value(theta, data, targets)
            # Much faster than `grad_and_value` for a single start; a constant objective has gradient 0.
            (gradient,) = torch.autograd.grad(value, theta, materialize_grads=True)
            return value.detach(), gradient
        of_start = 0 if self.per_start else None
        at_each = vmap(grad_and_value(self._value), in_dims=(0, of_start, of_start), chunk_size=self.chunk_size)
        gradient, value = at_each(weights, data, targets)
        return value, gradient

    def _value(self, weights: Tensor, data: Tensor, targets: Tensor) -> Tensor:
        loss = LOSSES[self.loss] if isinstance(self.loss, str) else self.loss
        value = loss(self.function(weights, data), targets)
        return value if self.penalty is None else value + self.penalty(weights)

    def _samples(self, step: int) -> tuple[Tensor, Tensor]:
        if self.batch is None:
            return self.data, self.targets
        axis = 1 if self.per_start else 0
        count = self.data.shape[axis]
        rows = (torch.arange(self.batch, device=self.data.device) + step * self.batch) % count
        return self.data.index_select(axis, rows), self.targets.index_select(axis, rows)


@dataclass(frozen=True)
class Method:
    """How weights θ are changed, given the gradient g.

    ========================  ================================================================================
    ``gd``                    θ ← (1 − rate·decay) θ − rate g
    ``heavy_ball``            v ← momentum v + (g + decay θ), θ ← θ − rate v, with v = 0 at the start
    ``adam``, ``adamw``,      as in `torch.optim`, with its defaults; decay as there
    ``rmsprop``
    ``sign``                  θ ← θ − rate sign(g)
    ``clip_entries``          ``gd`` with every entry of g brought into [−clip, clip]
    ``clip_norm``             ``gd`` with g scaled down to Euclidean norm `clip` where it is longer
    ========================  ================================================================================

    Raises
    ------
    InputError
        For an unknown name, and for numbers that are negative or not finite.
    """

    name: MethodName = "gd"
    rate: float = 0.01
    momentum: float = 0.0
    decay: float = 0.0
    clip: float = 1.0

    def __post_init__(self) -> None:
        if self.name not in METHODS:
            raise InputError(f"method={self.name!r}: not known; choose one of {', '.join(METHODS)}")
        for field in ("rate", "momentum", "decay", "clip"):
            value = getattr(self, field)
            if not 0 <= value < float("inf"):
                raise InputError(f"{field}={value!r}: a finite number that is not negative is needed")


@dataclass(frozen=True, eq=False)
class Step:
    """One step from `before` to `after`, both (m,) or (starts, m), with the gradient and the objective at `before`.

    `index` counts from 1: after step k, k steps have been made.
    """

    index: int
    before: Tensor
    after: Tensor
    gradient: Tensor
    loss: Tensor


def descend(objective: Objective, weights: Tensor, method: Method, steps: int) -> Iterator[Step]:
    """Yield the steps of `method` from `weights`, (m,) or (starts, m), which are not changed.

    Parameters
    ----------
    steps : int
        How many to make. Leaving the loop earlier makes no further ones.

    Raises
    ------
    Undecided
        If the weights are no longer finite (precision).

    Examples
    --------
    >>> square = Objective(lambda weights, data: weights * data, torch.ones(1), torch.zeros(1))
    >>> [step.after.item() for step in descend(square, torch.tensor([8.0]), Method("gd", rate=0.25), 3)]
    [4.0, 2.0, 1.0]
    """
    theta = weights.detach().clone()
    optimizer = _optimizer(theta, method)
    for k in range(steps):
        before = theta.clone()
        loss, gradient = objective.value_and_gradient(before, k)
        theta.grad = _prepared(gradient, method)
        optimizer.step()
        if not theta.isfinite().all():
            raise Undecided(
                Reason.PRECISION, f"the weights are not finite after {k + 1} steps; a smaller rate is needed"
            )
        yield Step(k + 1, before, theta.clone(), gradient, loss)


def _optimizer(theta: Tensor, method: Method) -> torch.optim.Optimizer:
    match method.name:
        case "adam":
            return torch.optim.Adam([theta], lr=method.rate, weight_decay=method.decay)
        case "adamw":
            return torch.optim.AdamW([theta], lr=method.rate, weight_decay=method.decay)
        case "rmsprop":
            return torch.optim.RMSprop([theta], lr=method.rate, weight_decay=method.decay)
        case "heavy_ball":
            return torch.optim.SGD([theta], lr=method.rate, momentum=method.momentum, weight_decay=method.decay)
        case _:
            return torch.optim.SGD([theta], lr=method.rate, weight_decay=method.decay)


def _prepared(gradient: Tensor, method: Method) -> Tensor:
    match method.name:
        case "sign":
            return gradient.sign()
        case "clip_entries":
            return gradient.clamp(-method.clip, method.clip)
        case "clip_norm":
            norm = torch.linalg.vector_norm(gradient, dim=-1, keepdim=True)
            # Where the norm is 0 the quotient is infinite, and the factor is 1.
            return torch.mul(gradient, (method.clip / norm).clamp(max=1.0))
        case _:
            return gradient.clone()
