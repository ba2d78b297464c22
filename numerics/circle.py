"""Correlations without differentiation: one step with complex loss derivatives on a circle, and a Fourier transform."""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from ..core import InputError
from .jets import activation_value
from .mlps import Mlp
from .polynomials import Terms, gradient, polynomial
from .taylor_mode import Direction

__all__ = [
    "COMPLEX",
    "CircleCoefficients",
    "PolynomialSteps",
    "circle_coefficients",
    "circle_values",
    "complex_step",
    "polynomial_steps",
]

COMPLEX = frozenset({"identity", "square", "cubic", "sin", "tanh", "sigmoid"})
"""Activations that torch evaluates at complex arguments."""

_POINTS = 64


@dataclass(frozen=True)
class CircleCoefficients:
    """C_{0,d} for d = 0, … (each a tensor N × k), with bounds on their errors, and the largest deviation on the circle.

    Parameters
    ----------
    errors : tuple of float
        Rounding, and what coefficients beyond the number of points alias into the lower ones, estimated by the decay of the
        upper half of the transform. Large where the circle comes close to a singularity.
    largest_deviation : Tensor (N, k)
        max |f(t)| over the points of the circle, with f(t) = F(θ − ηt v) − F(θ) + ηt ∇F·v.
    """

    values: tuple[Tensor, ...]
    errors: tuple[float, ...]
    largest_deviation: Tensor


def complex_step(mlp: Mlp, inputs: Tensor, direction: Direction, steps: Tensor) -> Tensor:
    """Return F(θ − s v; x) for complex (or real) numbers `steps` s, (M,), as a tensor (M, N, k).

    No weights are formed: W h − s Σ_b δ[b](h_in[b] · h).

    Raises
    ------
    InputError
        For an activation without complex values.
    """
    if mlp.activation not in COMPLEX and steps.is_complex():
        raise InputError(
            f"activation={mlp.activation!r}: torch has no complex values of it; choose one of {', '.join(sorted(COMPLEX))}"
        )
    s = steps[:, None, None]
    h = inputs.to(steps.dtype).expand(len(steps), *inputs.shape)
    last = len(mlp.weights) - 1
    for layer, (W, m) in enumerate(zip(mlp.weights, mlp.multipliers, strict=True)):
        h = m * h
        delta, given = (x.to(steps.dtype) for x in (direction.deltas[layer], direction.inputs[layer]))
        z = h @ W.to(steps.dtype).mT - s * ((h @ given.mT) @ delta)
        if mlp.biases:
            z = z + mlp.biases[layer] - s * delta.sum(-2)
        h = activation_value(mlp.activation, z) if layer < last else z
    return h


def circle_values(mlp: Mlp, inputs: Tensor, direction: Direction, *, radius: float, rate: float = 1.0) -> Tensor:
    """Return F after one step with loss derivative ρe^{2πik/M}, k = 0, …, M − 1, as a complex tensor (M, N, k)."""
    angles = 2 * math.pi * torch.arange(_POINTS, dtype=torch.float64, device=inputs.device) / _POINTS
    return complex_step(mlp, inputs, direction, rate * radius * torch.exp(1j * angles))


def circle_coefficients(
    mlp: Mlp, inputs: Tensor, direction: Direction, order: int, *, radius: float, rate: float = 1.0
) -> CircleCoefficients:
    """Return C_{0,d}[x; v^d] for d = 0, …, `order` from values on the circle |t| = `radius`.

    f(t) = Σ (−t)^d C_{0,d}, so C_{0,d} = (−1)^d ρ^{−d} times coefficient d of the discrete Fourier transform.

    Raises
    ------
    InputError
        For an order of half the number of points or more, a radius that is not positive, or an activation without complex
        values.
    """
    if not 0 <= order < _POINTS // 2:
        raise InputError(f"order={order!r}: 0 to {_POINTS // 2 - 1} are resolved by {_POINTS} points")
    if not 0 < radius < math.inf:
        raise InputError(f"radius={radius!r}: a positive number is needed")
    values = circle_values(mlp, inputs, direction, radius=radius, rate=rate)
    transform = torch.fft.fft(values, dim=0) / _POINTS
    coefficients = tuple((-1) ** d * radius**-d * transform[d].real for d in range(order + 1))
    size = float(values.abs().max())
    tail = float(transform[_POINTS // 2 :].abs().max())
    errors = tuple((tail + 64 * 2.0**-52 * size) * radius**-d for d in range(order + 1))
    angles = 2 * math.pi * torch.arange(_POINTS, dtype=torch.float64, device=inputs.device) / _POINTS
    t = radius * torch.exp(1j * angles)[:, None, None]
    deviation = (values - transform[0] - t * transform[1] / radius).abs().amax(0)
    return CircleCoefficients(coefficients, errors, deviation)


@dataclass(frozen=True)
class PolynomialSteps:
    """What steps of a polynomial model show of its correlations C_{0,d}, d = 2, …, g.

    Parameters
    ----------
    correlations : tuple of float
        By the transform.
    over_circle, over_interval : tuple of float
        |C_{0,d}| t_0^d over the largest |f| on the circle, and over that at the extremal points of T_g and T_(g−1); 0 where f
        vanishes.
    error, relative_error : float
        Bounds of the rounding of correlations and of ratios.
    """

    correlations: tuple[float, ...]
    over_circle: tuple[float, ...]
    over_interval: tuple[float, ...]
    error: float
    relative_error: float


def polynomial_steps(terms: Terms, theta: Tensor, rate: float, radius: float, degree: int) -> PolynomialSteps:
    """Return what steps θ − ηt∇F show, for t on the circle and in the interval of this radius; `degree` ≤ 16."""
    function, majorant = polynomial(terms), polynomial(terms, majorant=True)
    slope = gradient(function, theta)
    angles = 2 * math.pi * torch.arange(_POINTS, dtype=torch.float64) / _POINTS
    circle = radius * torch.exp(1j * angles)
    nodes = [radius * math.cos(math.pi * k / g) for g in (degree, max(degree - 1, 1)) for k in range(g + 1)]
    interval = torch.tensor(nodes, dtype=torch.float64)

    def rest(t: Tensor) -> Tensor:
        moved = theta.to(t.dtype) - rate * t[:, None] * slope.to(t.dtype)
        return function(moved) - function(theta) + rate * t * (slope @ slope)

    on_circle, on_interval = rest(circle), rest(interval)
    size = float(majorant(theta.abs() + rate * radius * slope.abs()) + rate * radius * (slope @ slope))
    rounding = 1e3 * 2.0**-52 * size
    transform = (torch.fft.fft(on_circle) / _POINTS).real.tolist()
    scaled = [transform[d] for d in range(2, degree + 1)]
    largest, real = float(on_circle.abs().max()), float(on_interval.abs().max())
    return PolynomialSteps(
        tuple((-1) ** d * c * radius**-d for d, c in enumerate(scaled, 2)),
        tuple(abs(c) / largest if largest > rounding else 0.0 for c in scaled),
        tuple(abs(c) / real if real > rounding else 0.0 for c in scaled),
        rounding * max(radius**-degree, 1.0),
        rounding / min(largest, real) if min(largest, real) > rounding else 0.0,
    )
