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
    "NEURONS_AT_ONCE",
    "Direction",
    "correlation_hessian_product",
    "correlations",
    "first_order_norms",
    "gradient_direction",
    "require_smooth",
]


NEURONS_AT_ONCE = 1 << 15
"""Of a layer, over all networks of a batch: with more, the coefficients of an activation leave the cache of a processor."""


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
    done = forward(mlp, inputs, slopes=True)
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
        if not coefficient.requires_grad:  # it vanishes identically
            rows.append(torch.zeros_like(coefficient))
            continue
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
    return torch.stack(rows, dim=-3).detach()  # zeros for unused inputs have asked for gradients (PyTorch 2.6)


def _squared_norm(mlp: Mlp, trace: Sequence[tuple[list[Tensor], list[Tensor]]], slopes: Sequence[Tensor]) -> Tensor:
    total: Tensor | float = 0.0
    rest = iter(slopes)
    for m, (z, h) in zip(mlp.multipliers, trace, strict=True):
        by_order = [next(rest) for _ in z]
        # Coefficient i of the input of a layer enters coefficient i of z.
        g = torch.stack(by_order[: len(h)], dim=-2)
        rows = torch.stack([x.detach() for x in h], dim=-2)
        total = total + m**2 * ((g @ g.mT) * (rows @ rows.mT)).sum((-2, -1))
        if mlp.biases:  # the input of a bias is the constant 1
            total = total + (by_order[0] ** 2).sum(-1)
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
    """Return the coefficients of the outputs; `trace` collects those of every z_l and of the input of layer l.

    Inside, coefficients at the end that vanish are left out: the input does not move, and z_1 is linear in t.
    """
    h = [inputs]
    last = len(mlp.weights) - 1
    for layer in range(last + 1):
        z = _linear(mlp, layer, h, direction, order)
        if trace is not None:
            if layer == 0:
                z = [x.detach().requires_grad_() for x in z]
            trace.append((z, h))
        if layer < last:
            h = activation_jet(mlp.activation, z, order)
    return z + [torch.zeros_like(z[0])] * (order + 1 - len(z))


def _linear(mlp: Mlp, layer: int, h: list[Tensor], direction: Direction, order: int) -> list[Tensor]:
    """Return the coefficients of m(W + tV)h(t) + b + t·Σδ, all orders in one product with W."""
    count, m = h[0].shape[-2], mlp.multipliers[layer]
    rows = torch.cat(h, dim=-2)
    W = mlp.weights[layer].mT
    # The multiplier goes to the shorter side: inputs are few, and so are outputs.
    z = list(torch.split((m * rows) @ W if layer == 0 else m * (rows @ W), count, dim=-2))
    if order:
        along = m * (rows[..., : order * count, :] @ direction.inputs[layer].mT)
        shifts = torch.split(along @ direction.deltas[layer], count, dim=-2)
        z = [z[0], *(x + y for x, y in zip(z[1:], shifts, strict=False)), *shifts[len(z) - 1 :]]
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
