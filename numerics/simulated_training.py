"""Gradient fields for training small networks on given data, and a flow that stops rather than run on for hours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from itertools import pairwise
from typing import TypeAlias

import numpy as np
import torch
from scipy.integrate import solve_ivp
from torch import Tensor
from torch.func import grad, vmap
from torch.fx.experimental.proxy_tensor import make_fx
from torch.nn import functional

from ..core import Reason, Undecided
from .integrators import Field, Vector
from .layer_losses import Network
from .simulated_networks import trainable

__all__ = ["LOSSES", "augmented", "compiled", "followed", "loss_field", "network_field"]

SampleLoss: TypeAlias = Callable[[Tensor, Tensor], Tensor]

LOSSES: dict[str, SampleLoss] = {
    "squared": lambda outputs, labels: 0.5 * ((outputs - labels) ** 2).sum(),
    "log cosh": lambda outputs, labels: (functional.softplus(2 * (outputs - labels)) - (outputs - labels)).sum(),
    "cross-entropy": lambda outputs, labels: -(labels * functional.log_softmax(outputs, dim=-1)).sum(),
}
"""Losses of one sample by name; log cosh up to a constant, labels of cross-entropy are probabilities."""

_MOST_EVALUATIONS = 8000  # a smooth flow takes some 600, and each kink some 50


def augmented(x: Vector, y: Vector, elements: Sequence[tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """Return the data moved by all elements of a group, which act on the last axes; training on them averages the loss."""
    return np.concatenate([x @ g.T for g, _ in elements]), np.concatenate([y @ h.T for _, h in elements])


def network_field(
    architecture: str, sizes: Sequence[int], x: Vector, y: Vector, *, bias: bool = False, loss: str = "squared"
) -> Field:
    """Return `loss_field` of an architecture by name, see `lakatos.numerics.simulated_networks.trainable`."""
    return loss_field(trainable(architecture, sizes, bias=bias).network, x, y, loss=loss)


def loss_field(network: Network, x: Vector, y: Vector, *, loss: str = "squared") -> Field:
    """Return minus the gradient of the mean over samples of the loss, summed over outputs, in the flat parameters.

    Parameters
    ----------
    network : callable
        Outputs from parameters and one input.
    x, y : array
        Samples along the first axis.
    loss : str
        A key of `LOSSES`.
    """
    inputs, labels, of_sample = torch.as_tensor(x), torch.as_tensor(y), LOSSES[loss]

    def mean_loss(theta: Tensor) -> Tensor:
        return vmap(of_sample)(vmap(network, in_dims=(None, 0))(theta, inputs), labels).mean()

    return compiled(mean_loss)


def compiled(loss: Callable[[Tensor], Tensor]) -> Field:
    """Return minus the gradient of a loss of flat parameters, its operations recorded at the first call and then repeated.

    That is what the loss computes as long as it takes the same branches everywhere, as losses have to that `torch.func.vmap`
    maps over samples; a third of the time or less. What cannot be recorded is called as it is.
    """
    slope: Callable[[Tensor], Tensor] | None = None

    def field(theta: Vector) -> Vector:
        nonlocal slope
        at = torch.as_tensor(theta)
        if slope is None:
            slope = grad(loss)
            with suppress(Exception):
                slope = make_fx(grad(loss))(at)
        return np.asarray(-slope(at).detach().numpy(), np.float64)

    return field


def followed(
    field: Field,
    start: Vector,
    times: Sequence[float],
    *,
    rtol: float,
    on_stretch: Callable[[], None] = lambda: None,
) -> list[Vector]:
    """Return the flow from `start` at each of `times`, by DOP853 with atol = rtol/1000; the first time is that of `start`.

    `on_stretch` is called when a time is reached.

    Raises
    ------
    Undecided
        If it cannot be followed: it leaves all bounds, or slides along the kinks of ReLU, where steps become ever shorter.
    """
    evaluations = 0

    def velocity(time: float, theta: Vector) -> Vector:
        nonlocal evaluations
        evaluations += 1
        value = field(theta)
        # NaN would make the step size control go round in circles.
        if evaluations > _MOST_EVALUATIONS or not np.isfinite(value).all():
            raise _given_up(time, times[-1], rtol)
        return value

    path, at = [start], start
    for begin, end in pairwise(times):
        # Each stretch ends in a step: ends of steps are more accurate than the interpolant between them.
        solution = solve_ivp(velocity, (begin, end), at, method="DOP853", rtol=rtol, atol=rtol / 1000)
        if not solution.success:
            raise _given_up(float(solution.t[-1]), times[-1], rtol)
        at = np.asarray(solution.y[:, -1], np.float64)
        path.append(at)
        on_stretch()
    return path


def _given_up(time: float, end: float, rtol: float) -> Undecided:
    return Undecided(
        Reason.PRECISION,
        f"gradient flow could not be followed beyond time {time:.3g} of {end:g} with a relative error of {rtol:g} in each "
        "step: it diverges, or slides along kinks; try another seed or other data",
    )
