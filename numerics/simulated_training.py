"""Gradient fields for training small networks of any architecture on given data, and lightning attention on rotated data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.func import grad, vmap

from .averaged_training import lightning_moments
from .integrators import Field, Vector
from .layer_losses import cut
from .model_losses import SCOUTED
from .rotation_averages import pairing_average

__all__ = ["KINKED", "SLOPES", "augmented", "is_simulated", "network_field", "rotated_lightning_field", "shapes_of"]

KINKED = frozenset({"relu", "relu-skip", "residual"})
"""Architectures whose gradient field jumps, so that no method follows it to more digits than the jumps allow."""

SLOPES: dict[str, Callable[[Tensor], Tensor]] = {
    "squared": lambda error: 0.5 * error**2,
    "log cosh": lambda error: torch.nn.functional.softplus(2 * error) - error,
}
"""Losses of one output by name, from the error; log cosh up to a constant."""


def is_simulated(architecture: str | None) -> bool:
    """Return whether `network_field` knows the architecture."""
    return architecture in SCOUTED


def shapes_of(
    architecture: str, sizes: Sequence[int], *, bias: bool = False
) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
    """Return the number of parameters and the shapes of one input and of one output."""
    parameters, network, shape = SCOUTED[architecture](sizes, bias)
    zeros = torch.zeros(parameters, dtype=torch.float64), torch.zeros(shape, dtype=torch.float64)
    return parameters, shape, tuple(network(*zeros).shape)


def augmented(x: Vector, y: Vector, elements: Sequence[tuple[Vector, Vector]]) -> tuple[Vector, Vector]:
    """Return the data moved by all elements of a group, which act on the last axes; training on them averages the loss."""
    return np.concatenate([x @ g.T for g, _ in elements]), np.concatenate([y @ h.T for _, h in elements])


def network_field(
    architecture: str, sizes: Sequence[int], x: Vector, y: Vector, *, bias: bool = False, loss: str = "squared"
) -> Field:
    """Return minus the gradient of the mean over samples of the loss, summed over outputs, in the flat parameters.

    Parameters
    ----------
    architecture : str
        A key of `lakatos.numerics.model_losses.SCOUTED`.
    x, y : array
        Samples along the first axis.
    loss : str
        A key of `SLOPES`.
    """
    _, network, _ = SCOUTED[architecture](sizes, bias)
    inputs, labels, of_error = torch.as_tensor(x), torch.as_tensor(y), SLOPES[loss]

    def mean_loss(theta: Tensor) -> Tensor:
        return of_error(vmap(network, in_dims=(None, 0))(theta, inputs) - labels).sum() / len(inputs)

    slope = grad(mean_loss)
    return lambda theta: -slope(torch.as_tensor(theta)).numpy()


def rotated_lightning_field(sizes: Sequence[int], x: Vector) -> Field:
    """Return minus the gradient of the squared loss of X Q Kᵀ XᵀX V, averaged over all rotations of the tokens' coordinates.

    Labels that rotations leave alone drop out, since f is odd.

    Parameters
    ----------
    sizes : sequence of int
        (d, a, c).
    x : array (N, n, d)
    """
    d, a, c = sizes
    moment = torch.as_tensor(pairing_average(lightning_moments(x, np.zeros(x.shape[:2])).a, d))

    def loss(theta: Tensor) -> Tensor:
        q, k, v = cut(theta, [(d, a), (d, a), (d, c)])
        m = torch.einsum("ij,ec->cije", q @ k.T, v).reshape(c, d**3)
        return 0.5 * ((m @ moment) * m).sum()

    slope = grad(loss)
    return lambda theta: -slope(torch.as_tensor(theta)).numpy()
