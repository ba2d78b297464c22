"""Derivative correlations of fully connected networks by Taylor mode with directions in factored form.

The direction v = Σ_b Σ_j c_bj ∇F_j(x_b) is kept as factors Σ_b δ_l[b] ⊗ h_{l−1}[b] of every layer, and is a constant: it is
never differentiated and never formed. Moving along it, the coefficients of t⁰, …, t^k of F(θ + t v) take one pass through the
network with k + 1 rows for each input; times η^d, coefficient d is C_{0,d}[x; v^d].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from ..core import InputError
from .forward_mode import grad, jvp
from .jets import KINKED, activation_jet
from .mlps import Mlp, deltas, forward

__all__ = [
    "Direction",
    "correlation_hessian_product",
    "correlations",
    "first_order_norms",
    "gradient_direction",
    "require_smooth",
]


@dataclass(frozen=True)
class Direction:
    """A direction of weights, Σ_b δ_l[b] ⊗ h_l[b] at layer l and Σ_b δ_l[b] for its bias.

    Parameters
    ----------
    inputs, deltas : tuple of Tensor (…, B, in_l) and (…, B, out_l)
        h_l, and δ_l with the weights c_b in it.
    """

    inputs: tuple[Tensor, ...]
    deltas: tuple[Tensor, ...]

    def dense(self, has_bias: bool) -> tuple[Tensor, ...]:
        """Return the direction written out, in the order of `Mlp.parameters`; for checks on small networks."""
        weights = tuple(delta.mT @ h for delta, h in zip(self.deltas, self.inputs, strict=True))
        return weights + tuple(delta.sum(-2) for delta in self.deltas) * has_bias


def gradient_direction(mlp: Mlp, inputs: Tensor, cotangents: Tensor) -> Direction:
    """Return Σ_b Σ_j c_bj ∇F_j(x_b) for rows `inputs` (…, B, d) and `cotangents` c (…, B, k)."""
    done = forward(mlp, inputs)
    return Direction(done.inputs, deltas(mlp, done, cotangents.expand_as(done.outputs)))


def correlations(mlp: Mlp, inputs: Tensor, direction: Direction, order: int, *, rate: float = 1.0) -> Tensor:
    """Return C_{0,d}[x; v^d] for d = 0, …, `order`, as a tensor (…, order + 1, N, k).

    Parameters
    ----------
    inputs : Tensor (N, d) or (…, N, d)
        Where F is evaluated.
    direction : Direction
        v.
    order : int
        Largest d.
    rate : float
        η.

    Raises
    ------
    InputError
        For a negative order.
    """
    if order < 0:
        raise InputError(f"order={order!r}: 0 or more is needed")
    coefficients = _coefficients(mlp, inputs, direction, order)
    powers = [rate**d for d in range(order + 1)]
    return torch.stack([p * c for p, c in zip(powers, coefficients, strict=True)], dim=-3)


def first_order_norms(mlp: Mlp, inputs: Tensor, direction: Direction, order: int, *, rate: float = 1.0) -> Tensor:
    """Return ‖C_{1,d}[x; v^d]‖ for d = 0, …, `order`, as a tensor (…, order + 1, N, k): Euclidean norms.

    A reverse pass through the coefficients of all layers. The gradient of coefficient d in W_l is Σ_i g_i ⊗ h[i] with the
    gradients g_i in the coefficients of z_l and the coefficients h[i] of the input of the layer; its norm needs the Gram
    matrices of these k + 1 vectors only.
    """
    trace: list[tuple[list[Tensor], list[Tensor]]] = []
    coefficients = _coefficients(mlp, inputs, direction, order, trace)
    outputs = coefficients[0].shape[-1]
    rows = []
    for d, coefficient in enumerate(coefficients):
        squares = []
        for j in range(outputs):
            slopes = torch.autograd.grad(
                coefficient[..., j].sum(),
                [c for z, _ in trace for c in z],
                retain_graph=True,
                allow_unused=True,
                materialize_grads=True,
            )
            squares.append(_squared_norm(mlp, trace, slopes))
        rows.append(rate ** (d + 0.5) * torch.stack(squares, dim=-1).sqrt())
    return torch.stack(rows, dim=-3)


def _squared_norm(mlp: Mlp, trace: Sequence[tuple[list[Tensor], list[Tensor]]], slopes: Sequence[Tensor]) -> Tensor:
    length = len(trace[0][0])
    total: Tensor | float = 0.0
    for layer, (_, h) in enumerate(trace):
        g = torch.stack(list(slopes[layer * length : (layer + 1) * length]), dim=-2)
        rows = torch.stack([x.detach() for x in h], dim=-2)
        total = total + ((g @ g.mT) * (rows @ rows.mT)).sum((-2, -1))
        if mlp.biases:  # the input of a bias is the constant 1
            total = total + (g[..., 0, :] ** 2).sum(-1)
    assert isinstance(total, Tensor)
    return total


def correlation_hessian_product(
    mlp: Mlp, inputs: Tensor, direction: Direction, d: int, tangents: Sequence[Tensor], *, rate: float = 1.0
) -> tuple[Tensor, ...]:
    """Return C_{2,d}[x; v^d] times a vector of weights: half the Hessian of coefficient d times `tangents`, times η^(d+1).

    `inputs` is one row and the network has one output and no leading axes.
    """

    def coefficient(parameters: tuple[Tensor, ...]) -> Tensor:
        return _coefficients(mlp.with_parameters(parameters), inputs, direction, d)[d].sum()

    _, product = jvp(grad(coefficient), (mlp.parameters,), (tuple(tangents),))
    return tuple(rate ** (d + 1) / 2 * part for part in product)


def _coefficients(
    mlp: Mlp,
    inputs: Tensor,
    direction: Direction,
    order: int,
    trace: list[tuple[list[Tensor], list[Tensor]]] | None = None,
) -> list[Tensor]:
    """Return the coefficients of the outputs; `trace` collects those of every z_l and of the input of layer l."""
    h = [inputs, *[torch.zeros_like(inputs)] * order]
    last = len(mlp.weights) - 1
    for layer, (W, m) in enumerate(zip(mlp.weights, mlp.multipliers, strict=True)):
        h = [m * x for x in h]
        z = _linear(mlp, layer, W, h, direction)
        if trace is not None:
            if layer == 0:
                z = [x.detach().requires_grad_() for x in z]
            trace.append((z, h))
        if layer < last:
            h = activation_jet(mlp.activation, z)
    return z


def _linear(mlp: Mlp, layer: int, W: Tensor, h: list[Tensor], direction: Direction) -> list[Tensor]:
    """Return the coefficients of (W + tV)h(t) + b + t·Σδ, all orders in one product with W."""
    order, count = len(h) - 1, h[0].shape[-2]
    # The input of the first layer does not move: its rows of zeros are not multiplied.
    moving = 1 if layer == 0 else order + 1
    rows = torch.cat(h[:moving], dim=-2) @ W.mT
    z = list(torch.split(rows, count, dim=-2)) + [torch.zeros_like(rows[..., :count, :])] * (order + 1 - moving)
    if order:
        along = torch.cat(h[: min(moving, order)], dim=-2) @ direction.inputs[layer].mT
        shifts = list(torch.split(along @ direction.deltas[layer], count, dim=-2))
        for i, shift in enumerate(shifts):
            z[i + 1] = z[i + 1] + shift
    if mlp.biases:
        z[0] = z[0] + mlp.biases[layer].unsqueeze(-2)
        if order:
            z[1] = z[1] + direction.deltas[layer].sum(-2, keepdim=True)
    return z


def require_smooth(activation: str, order: int) -> None:
    """Raise InputError if derivatives of this order say nothing about the activation."""
    if order >= 2 and activation in KINKED:
        raise InputError(
            f"activation={activation!r}, order={order!r}: it has kinks, and automatic differentiation gives its second "
            "derivative as 0, so that correlations of order 2 and more miss what a step does; use order 1 or a smooth one"
        )
