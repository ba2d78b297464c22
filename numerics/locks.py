"""What a trajectory says about locked signs: the least squared weights, the drift of the balances, the least loss."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import chain

import torch
from torch import Tensor

from ..graphs.network import Network
from .balances import Balances
from .descent import Method, Objective, descend
from .flow import fine_and_coarse

__all__ = ["Extremes", "extremes_of_descent", "extremes_of_flow"]

_GRID = 64  # times at which a flow is looked at


@dataclass(frozen=True)
class Extremes:
    """Extremes over a trajectory, its start included.

    Parameters
    ----------
    least_squares : tuple of float
        Per edge, the smallest squared weight.
    kept_signs : tuple of bool
        Per edge, whether its sign was the same all along; a weight that was 0 at some time has kept none.
    drift : float
        Largest sum over hidden nodes of the changes of balances.
    least_loss, least_output : float
        Smallest loss, and smallest output on any sample.
    error : float
        Bound on what the integration of a flow may have changed in these numbers; 0 for discrete steps.
    """

    least_squares: tuple[float, ...]
    kept_signs: tuple[bool, ...]
    drift: float
    least_loss: float
    least_output: float
    error: float = 0.0


def extremes_of_flow(
    network: Network, objective: Objective, start: Tensor, duration: float, *, tolerance: float = 1e-10
) -> Extremes:
    """Return the extremes of gradient flow from `start` (m,), at equally spaced times.

    The flow is integrated twice, see `lakatos.numerics.flow.fine_and_coarse`.

    Raises
    ------
    Undecided
        As `lakatos.numerics.flow.flow`.
    """
    times = [duration * k / _GRID for k in range(1, _GRID + 1)]

    fine, coarse = (
        _extremes(network, objective, start, (state.weights for state in states if state.requested))
        for states in fine_and_coarse(objective, start, times, tolerance)
    )
    return replace(fine, error=max(abs(a - b) for a, b in zip(_numbers(fine), _numbers(coarse), strict=True)))


def extremes_of_descent(network: Network, objective: Objective, start: Tensor, method: Method, steps: int) -> Extremes:
    """Return the extremes over `steps` steps of `method` from `start` (m,).

    Raises
    ------
    Undecided
        As `lakatos.numerics.descent.descend`.
    """
    made = descend(objective, start, method, steps)
    return _extremes(network, objective, start, (step.after for step in made))


def _numbers(found: Extremes) -> tuple[float, ...]:
    return (*found.least_squares, found.drift, found.least_loss, found.least_output)


def _extremes(network: Network, objective: Objective, start: Tensor, later: Iterable[Tensor]) -> Extremes:
    B = Balances(network, device=start.device)
    squares, signs, drift = start**2, start.sign(), 0.0
    kept = signs != 0
    loss = output = math.inf
    for theta in chain([start], later):
        squares = torch.minimum(squares, theta**2)
        kept = kept & (theta.sign() == signs)
        drift = max(drift, float((B(theta**2) - B(start**2)).abs().sum()))
        loss = min(loss, float(objective.value_and_gradient(theta)[0]))
        output = min(output, float(objective.function(theta, objective.data).min()))
    return Extremes(tuple(squares.tolist()), tuple(kept.tolist()), drift, loss, output)
