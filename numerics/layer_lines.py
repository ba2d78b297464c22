"""Taylor coefficients of a deep network of identity or (leaky) ReLU layers along its own gradient, by nested forward mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from .forward_mode import grad
from .polynomials import along

__all__ = ["line_coefficients"]

Matrix = Sequence[Sequence[float]]

_ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "identity": lambda z: z,
    "relu": lambda z: torch.where(z > 0, z, 0.0 * z),
    "leaky_relu": lambda z: torch.where(z > 0, z, 0.5 * z),
}


def line_coefficients(
    layers: Sequence[Matrix],
    output: Sequence[float],
    u: Sequence[float],
    activation: str,
    *,
    order: int,
    device: str = "cpu",
) -> tuple[list[float], list[float]]:
    """Return the coefficients of t ↦ g(θ + t∇g), of t⁰ to t^order, and the sums of the absolute values of their terms.

    g(θ) = a·φ(W_L φ(… φ(W_1 u))). The second are the same for the absolute values of all weights, with φ the identity.
    """
    exact = _coefficients(layers, output, u, _ACTIVATIONS[activation], order, device)
    absolute = [[[abs(w) for w in row] for row in W] for W in layers]
    sizes = _coefficients(
        absolute, [abs(a) for a in output], [abs(x) for x in u], _ACTIVATIONS["identity"], order, device
    )
    return exact, sizes


def _coefficients(
    layers: Sequence[Matrix],
    output: Sequence[float],
    u: Sequence[float],
    phi: Callable[[Tensor], Tensor],
    order: int,
    device: str,
) -> list[float]:
    matrices = [torch.tensor(W, dtype=torch.float64, device=device) for W in layers]
    a = torch.tensor(output, dtype=torch.float64, device=device)
    x = torch.tensor(u, dtype=torch.float64, device=device)
    shapes = [W.shape for W in matrices]
    theta = torch.cat([*(W.flatten() for W in matrices), a])

    def g(point: Tensor) -> Tensor:
        h, at = x, 0
        for rows, columns in shapes:
            h = phi(point[at : at + rows * columns].reshape(rows, columns) @ h)
            at += rows * columns
        return (point[at:] * h).sum()

    v = grad(g)(theta)
    return [float(along(g, [v] * d)(theta)) / math.factorial(d) for d in range(order + 1)]
