"""Gradient flow θ' = −∇L, integrated by the Dormand-Prince method of order 8 with its step size control (SciPy).

At a kink of ReLU the gradient jumps, and no method keeps its order. The step size control answers by shortening the steps
until the one across the kink is short enough for the tolerance; nothing else has to know where kinks are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import torch
from scipy.integrate import DOP853
from torch import Tensor

from ..core import InputError, Reason, Undecided
from .descent import Objective

__all__ = ["FlowState", "flow"]

_MOST_EVALUATIONS = 1_000_000


@dataclass(frozen=True, eq=False)
class FlowState:
    """The weights, (m,) or (starts, m), at a time; `requested` where the time was asked for, not chosen by the integrator."""

    time: float
    weights: Tensor
    requested: bool


def flow(
    objective: Objective, weights: Tensor, times: Sequence[float], *, tolerance: float = 1e-10
) -> Iterator[FlowState]:
    """Yield the states of gradient flow from `weights`, (m,) or (starts, m), after each step of the integrator.

    The steps end at every one of `times`. The first state is the start, at time 0. All starts share the steps.

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

    state = weights.detach().double().cpu().reshape(-1).numpy().copy()
    yield FlowState(0.0, weights.detach().double().clone(), requested=False)
    evaluations = 0
    for begin, end in pairwise(points):
        solver = DOP853(velocity, begin, state, end, rtol=tolerance, atol=tolerance)
        finished = False
        while not finished:
            solver.step()
            finished = solver.status == "finished"
            if solver.status == "failed" or evaluations + solver.nfev > _MOST_EVALUATIONS:
                raise Undecided(
                    Reason.PRECISION,
                    f"gradient flow could not be followed beyond time {solver.t:.6g} with tolerance {tolerance:.1g}",
                )
            state = solver.y.copy()
            reached = torch.from_numpy(state.copy()).to(device).reshape(shape)
            yield FlowState(float(solver.t), reached, requested=finished)
        evaluations += solver.nfev
