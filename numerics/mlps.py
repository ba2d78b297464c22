"""Fully connected networks of one activation as plain tensors, many seeds at a time: drawing, passes, tangent kernel.

z_1 = m_1 W_1 x + b_1, z_{l+1} = m_{l+1} W_{l+1} φ(z_l) + b_{l+1}; the outputs are the last z. All tensors may have leading
axes, one entry for each seed. A linear layer with input h (the multiplier m included) and δ = ∂F/∂z has the gradient δ ⊗ h.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from torch import Tensor

from ..core import InputError
from .jets import ACTIVATIONS, activation_value, activation_with_slope

__all__ = ["Architecture", "Mlp", "Parametrization", "Pass", "chunks", "deltas", "draw", "forward", "tangent_kernel"]

Parametrization: TypeAlias = Literal["ntk", "standard", "mean_field"]

_BUDGET = 1 << 30  # bytes of one chunk of seeds
_LARGEST_DEPTH = 16


@dataclass(frozen=True)
class Architecture:
    """A network with equal hidden layers.

    Parameters
    ----------
    inputs, width, hidden, outputs : int
        Length of x, neurons of a layer, number of hidden layers, length of the output.
    activation : str
        One of `lakatos.numerics.jets.ACTIVATIONS`.
    parametrization : str
        ``ntk``: unit normal weights, every layer divided by √fan-in. ``standard``: normal weights of variance 1/fan-in, and
        a rate divided by the width. ``mean_field`` (that is μP): as ``ntk`` with the last layer divided by the width, and a
        rate multiplied by it.
    gamma : float, optional
        Power of the width that divides the last layer in place of 1/2 (``ntk``) or 1; the rate is multiplied by
        n^(2γ − 1).
    bias : bool
        Whether layers have biases: unit normal, zero in the standard parametrization.
    """

    inputs: int
    width: int
    hidden: int = 1
    outputs: int = 1
    activation: str = "tanh"
    parametrization: Parametrization = "ntk"
    gamma: float | None = None
    bias: bool = False

    def __post_init__(self) -> None:
        if min(self.inputs, self.width, self.hidden, self.outputs) < 1 or self.hidden > _LARGEST_DEPTH:
            raise InputError(
                f"inputs={self.inputs!r}, width={self.width!r}, hidden={self.hidden!r}, outputs={self.outputs!r}: "
                f"positive sizes and at most {_LARGEST_DEPTH} hidden layers are needed"
            )
        if self.activation not in ACTIVATIONS:
            raise InputError(f"activation={self.activation!r}: unknown; choose one of {', '.join(ACTIVATIONS)}")
        if self.gamma is not None and self.parametrization != "ntk":
            raise InputError(f"gamma={self.gamma!r}: only with parametrization='ntk'")

    @property
    def sizes(self) -> tuple[int, ...]:
        """Lengths of all layers, from the input to the output."""
        return (self.inputs, *[self.width] * self.hidden, self.outputs)

    @property
    def exponent(self) -> float:
        """γ: the last layer is divided by n^γ."""
        return (
            self.gamma
            if self.gamma is not None
            else {"ntk": 0.5, "standard": 0.5, "mean_field": 1.0}[self.parametrization]
        )

    @property
    def rate_factor(self) -> float:
        """What a rate is multiplied by, so that the outputs of wide networks change at a speed of order 1."""
        return 1 / self.width if self.parametrization == "standard" else self.width ** (2 * self.exponent - 1)

    @property
    def multipliers(self) -> tuple[float, ...]:
        """m_l of every layer."""
        if self.parametrization == "standard":
            return (1.0,) * (self.hidden + 1)
        inner = [1 / math.sqrt(fan_in) for fan_in in self.sizes[:-2]]
        return (*inner, self.width**-self.exponent)

    @property
    def parameters(self) -> int:
        """Number of weights and biases."""
        return sum(m * (n + self.bias) for n, m in zip(self.sizes, self.sizes[1:], strict=False))


@dataclass(frozen=True)
class Mlp:
    """Weights of a network, or of one for each entry of their leading axes.

    Parameters
    ----------
    activation : str
        φ.
    weights : tuple of Tensor (…, out, in)
        W_l.
    biases : tuple of Tensor (…, out)
        b_l; empty for a network without biases.
    multipliers : tuple of float
        m_l.
    """

    activation: str
    weights: tuple[Tensor, ...]
    biases: tuple[Tensor, ...]
    multipliers: tuple[float, ...]

    @property
    def parameters(self) -> tuple[Tensor, ...]:
        """All weights, then all biases."""
        return self.weights + self.biases

    def with_parameters(self, parameters: Sequence[Tensor]) -> Mlp:
        """Return the network with these weights and biases, in the order of `parameters`."""
        depth = len(self.weights)
        return Mlp(self.activation, tuple(parameters[:depth]), tuple(parameters[depth:]), self.multipliers)


@dataclass(frozen=True)
class Pass:
    """What a forward pass leaves: outputs (…, N, k), layer inputs with multipliers, and φ' of hidden layers if asked for."""

    outputs: Tensor
    inputs: tuple[Tensor, ...]
    slopes: tuple[Tensor, ...]


def draw(
    architecture: Architecture, seeds: Sequence[int], *, device: str = "cpu", dtype: torch.dtype = torch.float64
) -> Mlp:
    """Return networks at initialization, one for each of `seeds`; equal seeds at different widths are independent.

    Numbers are drawn on the CPU, one generator for each network.
    """
    sizes = architecture.sizes
    is_standard = architecture.parametrization == "standard"
    shapes = list(zip(sizes[1:], sizes, strict=False))
    weights = [torch.empty(len(seeds), *shape, dtype=dtype) for shape in shapes]
    biases = [torch.zeros(len(seeds), m, dtype=dtype) for m in sizes[1:]] if architecture.bias else []
    for i, seed in enumerate(seeds):
        key = np.random.SeedSequence([seed, *sizes]).generate_state(1, np.uint64)[0]
        generator = torch.Generator().manual_seed(int(key >> np.uint64(1)))
        for W in weights:
            W[i].normal_(0.0, W.shape[-1] ** -0.5 if is_standard else 1.0, generator=generator)
        for b in biases:
            if not is_standard:
                b[i].normal_(generator=generator)
    return Mlp(
        architecture.activation,
        tuple(W.to(device) for W in weights),
        tuple(b.to(device) for b in biases),
        architecture.multipliers,
    )


def chunks(
    seeds: Sequence[int], floats_per_seed: int, *, budget: int | None = None, most: int | None = None
) -> Iterator[Sequence[int]]:
    """Yield `seeds` in parts, at most `most` in each, whose tensors of float64 stay within `budget` bytes (1 GiB)."""
    fitting = (_BUDGET if budget is None else budget) // (8 * max(floats_per_seed, 1))
    size = max(1, fitting if most is None else min(most, fitting))
    for start in range(0, len(seeds), size):
        yield seeds[start : start + size]


def forward(mlp: Mlp, inputs: Tensor, *, slopes: bool = False) -> Pass:
    """Return the pass of rows `inputs`, (N, d) or (…, N, d); with `slopes` it can be followed back by `deltas`."""
    h, layer_inputs, found = inputs, [], []
    last = len(mlp.weights) - 1
    for layer, (W, m) in enumerate(zip(mlp.weights, mlp.multipliers, strict=True)):
        h = m * h
        layer_inputs.append(h)
        z = h @ W.mT
        if mlp.biases:
            z = z + mlp.biases[layer].unsqueeze(-2)
        if layer < last and slopes:
            h, slope = activation_with_slope(mlp.activation, z)
            found.append(slope)
        elif layer < last:
            h = activation_value(mlp.activation, z)
    return Pass(z, tuple(layer_inputs), tuple(found))


def deltas(mlp: Mlp, done: Pass, cotangents: Tensor) -> tuple[Tensor, ...]:
    """Return δ_l of every layer, (…, N, out_l), for `cotangents` (…, N, k) of the outputs of a pass with slopes."""
    found = [cotangents]
    for layer in reversed(range(1, len(mlp.weights))):
        found.append(((mlp.multipliers[layer] * found[-1]) @ mlp.weights[layer]) * done.slopes[layer - 1])
    return tuple(reversed(found))


def tangent_kernel(mlp: Mlp, inputs: Tensor, other: Mlp | None = None, *, layers: slice = slice(None)) -> Tensor:
    """Return ⟨∇F_j(x), ∇F_j'(x')⟩ as a tensor (…, N, k, N, k), without a rate, layer by layer.

    No Jacobian is formed: Σ_l (δ_l · δ_l')(h_{l−1} · h_{l−1}' + 1 if there are biases).

    Parameters
    ----------
    other : Mlp, optional
        The network of the second gradient, if it is another one.
    layers : slice
        Whose weights and biases count; all without it.
    """
    left, units = _gradients(mlp, inputs)
    right = left if other is None else _gradients(other, inputs)[0]
    count, k = inputs.shape[-2], len(units)
    total = torch.zeros((), dtype=units.dtype, device=units.device)
    for (h, delta), (h_other, delta_other) in zip(left[layers], right[layers], strict=True):
        gram = h @ h_other.mT + (1.0 if mlp.biases else 0.0)
        products = delta @ delta_other.mT
        products = products.reshape(*products.shape[:-2], count, k, count, k)
        total = total + products * gram[..., :, None, :, None]
    return total


def _gradients(mlp: Mlp, inputs: Tensor) -> tuple[list[tuple[Tensor, Tensor]], Tensor]:
    """Return (h, δ) of every layer, with a row of δ for each input and output, and the unit vectors of the outputs."""
    done = forward(mlp, inputs, slopes=True)
    units = torch.eye(done.outputs.shape[-1], dtype=done.outputs.dtype, device=done.outputs.device)
    by_output = [deltas(mlp, done, unit.expand_as(done.outputs)) for unit in units]
    stacked = [torch.stack(found, dim=-2).flatten(-3, -2) for found in zip(*by_output, strict=True)]
    return list(zip(done.inputs, stacked, strict=True)), units
