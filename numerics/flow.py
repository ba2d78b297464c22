"""Gradient flow θ' = −∇L, integrated by the Dormand-Prince method of order 8 with its step size control (SciPy).

At a kink of ReLU the gradient jumps, and no method keeps its order. The step size control answers by shortening the steps
until the one across the kink is short enough for the tolerance; nothing else has to know where kinks are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from scipy.integrate import DOP853
from torch import Tensor

from ..core import InputError, Reason, Undecided
from .descent import Objective

__all__ = ["FlowState", "Observed", "flow", "observed"]

_MOST_EVALUATIONS = 100_000


@dataclass(frozen=True, eq=False)
class FlowState:
    """The weights, (m,) or (starts, m), at a time; `requested` where the time was asked for, not chosen by the integrator."""

    time: float
    weights: Tensor
    requested: bool


def flow(
    objective: Objective, weights: Tensor, times: Sequence[float], *, tolerance: float = 1e-10
) -> Iterator[FlowState]:
    """Yield the states of gradient flow from `weights`, (m,) or (starts, m): the start, after each step, and at each of `times`.

    Between steps the interpolant of the method is used. All starts share the steps.

    Parameters
    ----------
    times : sequence of float
        Increasing, positive; the flow ends at the last.
    tolerance : float
        Relative and absolute tolerance of each step.

    Raises
    ------
    InputError
        For times that do not increase.
    Undecided
        If the integrator gives up: the tolerance cannot be met, or takes too many steps (precision).

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

    def velocity(_: float, flat: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        theta = torch.from_numpy(flat).to(device).reshape(shape)
        slope: npt.NDArray[np.float64] = -objective.value_and_gradient(theta)[1].reshape(-1).cpu().numpy()
        return slope

    def state(time: float, flat: npt.NDArray[np.float64], requested: bool) -> FlowState:
        return FlowState(time, torch.from_numpy(flat.copy()).to(device).reshape(shape), requested)

    begin = weights.detach().double().cpu().reshape(-1).numpy().copy()
    yield state(0.0, begin, requested=False)
    solver = DOP853(velocity, 0.0, begin, points[-1], rtol=tolerance, atol=tolerance)
    waiting = points[1:]
    while waiting:
        solver.step()
        if solver.status == "failed" or solver.nfev > _MOST_EVALUATIONS:
            raise Undecided(
                Reason.PRECISION,
                f"gradient flow could not be followed beyond time {solver.t:.6g} with tolerance {tolerance:.1g}",
            )
        if waiting[0] < solver.t:
            within = solver.dense_output()
            while waiting and waiting[0] < solver.t:
                time = waiting.pop(0)
                yield state(time, within(time), requested=True)
        reached = bool(waiting) and waiting[0] == solver.t
        if reached:
            waiting.pop(0)
        yield state(float(solver.t), solver.y, requested=reached)


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

    The flow is integrated twice, the second time with a tolerance a hundred times as large. Their difference is nearly all
    error of the second, so it bounds the error of the first, which is returned.

    Raises
    ------
    InputError, Undecided
        As `flow`.
    """
    fine, coarse = (
        [quantity(state.weights) for state in flow(objective, weights, times, tolerance=used) if state.requested]
        for used in (tolerance, 100 * tolerance)
    )
    error = max(float((a - b).abs().max()) if a.numel() else 0.0 for a, b in zip(fine, coarse, strict=True))
    return Observed(tuple(tuple(row.tolist()) for row in fine), error)
