"""Gradient flow θ' = −∇L, integrated by the Dormand-Prince method of order 8 with its step size control (SciPy).

At a kink of ReLU the gradient jumps, and no method keeps its order. The step size control answers by shortening the steps
until the one across the kink is short enough for the tolerance; nothing else has to know where kinks are. Where the gradients
on both sides push the weights back to the kink, the flow slides along it. Then the steps stay short, and explicit Euler steps
take over for a while, which follow the slide with an error proportional to their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count, pairwise
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import torch
from scipy.integrate import DOP853
from torch import Tensor

from ..core import InputError, Reason, Undecided
from .descent import Objective

Vector: TypeAlias = npt.NDArray[np.float64]

__all__ = ["FlowState", "Observed", "fine_and_coarse", "flow", "observed"]

_MOST_EVALUATIONS = 20_000  # some ten seconds
_WINDOW = 24  # steps; a flow slides if these together get no further than as many sliding steps
_FIRST_SLIDE = 32  # Euler steps


@dataclass(frozen=True, eq=False)
class FlowState:
    """The weights, (m,) or (starts, m), at a time; `requested` where the time was asked for, not chosen by the integrator."""

    time: float
    weights: Tensor
    requested: bool


def flow(
    objective: Objective,
    weights: Tensor,
    times: Sequence[float],
    *,
    tolerance: float = 1e-10,
    sliding_step: float | None = None,
) -> Iterator[FlowState]:
    """Yield gradient flow from `weights`, (m,) or (starts, m): the start, the state after each step, and at each of `times`.

    Between steps the interpolant of the method is used. All starts share the steps.

    Parameters
    ----------
    times : sequence of float
        Increasing, positive; the flow ends at the last.
    tolerance : float
        Relative and absolute tolerance of each step.
    sliding_step : float, optional
        Size of the Euler steps where the flow slides along a kink; 1/2048 of the time if left out.

    Raises
    ------
    InputError
        For times that do not increase.
    Undecided
        If the integrator gives up (precision).

    Examples
    --------
    >>> square = Objective(lambda weights, data: weights * data, torch.ones(1), torch.zeros(1))
    >>> *_, end = flow(square, torch.tensor([1.0], dtype=torch.float64), [0.5])
    >>> round(end.weights.item(), 9), round(float(np.exp(-1)), 9)
    (0.367879441, 0.367879441)
    """
    points = [0.0, *map(float, times)]
    if len(points) < 2 or not all(a < b for a, b in pairwise(points)):
        raise InputError(f"times={list(times)!r}: positive and increasing times are needed")
    shape, device = weights.shape, weights.device

    def velocity(_: float, flat: Vector) -> Vector:
        theta = torch.from_numpy(flat).to(device).reshape(shape)
        slope: Vector = -objective.value_and_gradient(theta)[1].reshape(-1).cpu().numpy()
        return slope

    def state(time: float, flat: Vector, requested: bool) -> FlowState:
        return FlowState(time, torch.from_numpy(flat.copy()).to(device).reshape(shape), requested)

    begin = weights.detach().double().cpu().reshape(-1).numpy().copy()
    yield state(0.0, begin, requested=False)
    waiting = points[1:]
    for time, flat, within in _steps(velocity, begin, points[-1], tolerance, sliding_step or points[-1] / 2048):
        while waiting and waiting[0] < time:
            requested = waiting.pop(0)
            yield state(requested, within(requested), requested=True)
        reached = bool(waiting) and waiting[0] == time
        if reached:
            waiting.pop(0)
        yield state(time, flat, requested=reached)


def _steps(
    velocity: Callable[[float, Vector], Vector], start: Vector, end: float, tolerance: float, sliding_step: float
) -> Iterator[tuple[float, Vector, Callable[[float], Vector]]]:
    """Yield time and state after each step, with the interpolant within it; the last time is `end`."""
    time, state, euler_steps = 0.0, start, _FIRST_SLIDE
    evaluations = 0
    while time < end:
        solver = DOP853(velocity, time, state, end, rtol=tolerance, atol=tolerance)
        window = time
        for k in count(1):
            solver.step()
            if solver.status == "failed" or evaluations + solver.nfev > _MOST_EVALUATIONS:
                raise _given_up(float(solver.t), tolerance)
            time, state = float(solver.t), solver.y.copy()
            yield time, state, partial(_interpolated, solver)
            if time >= end:
                return
            if k % _WINDOW == 0:
                if time - window < _WINDOW * sliding_step:
                    break
                window, euler_steps = time, _FIRST_SLIDE
        evaluations += solver.nfev + euler_steps
        for _ in range(euler_steps):
            last, before, slope = time, state, velocity(time, state)
            time = min(end, time + sliding_step)
            state = before + (time - last) * slope
            if not np.isfinite(state).all():
                raise _given_up(last, tolerance)
            yield time, state, partial(_on_line, last, before, slope)
            if time >= end:
                return
        # The longer the flow slides, the longer before the step size control is tried again.
        euler_steps *= 2


def _given_up(time: float, tolerance: float) -> Undecided:
    explanation = f"gradient flow could not be followed beyond time {time:.6g} with tolerance {tolerance:.1g}"
    return Undecided(Reason.PRECISION, explanation)


def _interpolated(solver: DOP853[np.float64], time: float) -> Vector:
    """Return the state at a time within the step just made."""
    state: Vector = solver.dense_output()(time)
    return state


def _on_line(start: float, state: Vector, slope: Vector, time: float) -> Vector:
    return state + (time - start) * slope


def fine_and_coarse(
    objective: Objective, weights: Tensor, times: Sequence[float], tolerance: float
) -> tuple[Iterator[FlowState], Iterator[FlowState]]:
    """Return two integrations of one flow: the second with a hundred times the tolerance and twice the sliding step.

    Local errors follow the tolerance and those of slides the step, so the difference of a quantity between the two is no
    less than the error that is left in the first.
    """
    return (
        flow(objective, weights, times, tolerance=tolerance, sliding_step=times[-1] / 2048),
        flow(objective, weights, times, tolerance=100 * tolerance, sliding_step=times[-1] / 1024),
    )


@dataclass(frozen=True)
class Observed:
    """Values of a quantity at each requested time, and the largest difference to those of a coarser integration."""

    values: tuple[tuple[float, ...], ...]
    error: float


def observed(
    objective: Objective,
    weights: Tensor,
    times: Sequence[float],
    quantity: Callable[[Tensor], Tensor],
    *,
    tolerance: float = 1e-11,
) -> Observed:
    """Return a quantity of the weights along gradient flow from `weights` (m,).

    The flow is integrated twice, the second time with a tolerance a hundred times as large and sliding steps twice as long.
    Their difference bounds the error of the first, whose values are returned.

    Raises
    ------
    InputError, Undecided
        As `flow`.
    """
    fine, coarse = (
        [quantity(state.weights) for state in states if state.requested]
        for states in fine_and_coarse(objective, weights, times, tolerance)
    )
    error = max(float((a - b).abs().max()) if a.numel() else 0.0 for a, b in zip(fine, coarse, strict=True))
    return Observed(tuple(tuple(row.tolist()) for row in fine), error)
