"""Layers with a normalization: their laws come from scale and shift invariance and are counted in floating point."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from .law_scout import Scout, lie_scout

__all__ = ["LAYERS", "normalized_scout"]

_BATCH = 3

Layer = Callable[[Tensor, Tensor, int, int, float], Tensor]
"""Flat parameters, inputs, units, inputs' dimension and eps to outputs."""


def normalized_scout(layer: str, units: int, inputs: int, eps: float, *, seed: int = 0) -> Scout:
    """Return the floating-point count of laws of a normalized layer under the squared loss.

    Raises
    ------
    Undecided
        If the rank is not clear.
    """
    forward, parameters, batched = LAYERS[layer]
    size = parameters(units, inputs)
    generator = torch.Generator().manual_seed(seed)
    theta = torch.randn(size, generator=generator, dtype=torch.float64)
    shape = (_BATCH, inputs) if batched else (inputs,)
    outputs = forward(theta, torch.zeros(shape, dtype=torch.float64), units, inputs, 1.0).shape

    def loss(t: Tensor, z: tuple[Tensor, ...]) -> Tensor:
        return 0.5 * ((forward(t, z[0], units, inputs, eps) - z[1]) ** 2).sum()

    def sampler(count: int, g: torch.Generator) -> tuple[Tensor, ...]:
        draw = [torch.randn((count, *s), generator=g, dtype=torch.float64) for s in (shape, tuple(outputs))]
        return draw[0], draw[1]

    return lie_scout(loss, theta, sampler, seed=seed)


def _layer_norm(z: Tensor, eps: float) -> Tensor:
    centered = z - z.mean(-1, keepdim=True)
    return centered / torch.sqrt((centered**2).mean(-1, keepdim=True) + eps)


def _rms_norm(z: Tensor, eps: float) -> Tensor:
    return z / torch.sqrt((z**2).mean(-1, keepdim=True) + eps)


def _layer(theta: Tensor, x: Tensor, n: int, m: int, eps: float) -> Tensor:
    return _layer_norm(theta.reshape(n, m) @ x, eps)


def _rms(theta: Tensor, x: Tensor, n: int, m: int, eps: float) -> Tensor:
    return _rms_norm(theta.reshape(n, m) @ x, eps)


def _batch(theta: Tensor, x: Tensor, n: int, m: int, eps: float) -> Tensor:
    """Each unit is normalized over the batch."""
    return _layer_norm((x @ theta.reshape(n, m).T).transpose(-1, -2), eps)


def _mlp(theta: Tensor, x: Tensor, n: int, m: int) -> Tensor:
    u, v = theta[: m * n].reshape(m, n), theta[m * n :].reshape(n, m)
    return u @ torch.relu(v @ x)


def _pre_norm(theta: Tensor, x: Tensor, n: int, m: int, eps: float) -> Tensor:
    return _mlp(theta, _layer_norm(x, eps), n, m)


def _post_norm(theta: Tensor, x: Tensor, n: int, m: int, eps: float) -> Tensor:
    return _layer_norm(_mlp(theta, x, n, m), eps)


def _post_rms(theta: Tensor, x: Tensor, n: int, m: int, eps: float) -> Tensor:
    return _rms_norm(_mlp(theta, x, n, m), eps)


LAYERS: dict[str, tuple[Layer, Callable[[int, int], int], bool]] = {
    "layer_norm": (_layer, lambda n, m: n * m, False),
    "rms_norm": (_rms, lambda n, m: n * m, False),
    "batch_norm": (_batch, lambda n, m: n * m, True),
    "pre_layer_norm_relu": (_pre_norm, lambda n, m: 2 * n * m, False),
    "relu_layer_norm": (_post_norm, lambda n, m: 2 * n * m, False),
    "relu_rms_norm": (_post_rms, lambda n, m: 2 * n * m, False),
}
"""Layer, number of parameters, and whether it sees a batch. ReLU nets have n hidden units and m inputs and outputs."""
