"""Many perceptrons of one shape that share fixed weights F and masks D, trained as one batch by AdamW.

What is stored and trained are the effective weights E = F + D ⊙ W, with inputs before outputs, so that a gradient comes out
of its matrix product in the layout it is needed in; decay pulls E towards F, which is decay of W. Nothing else is kept but
the gradient and the two moments.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import torch
from torch import Tensor
from torch.nn import functional

from ..core import InputError
from .masked import Asymmetry, draw_fixed

__all__ = [
    "FixedLayer",
    "MlpShape",
    "Optimizer",
    "Part",
    "drawn_layers",
    "hidden_outputs",
    "logits",
    "mixed",
    "parts_of",
]

Activation: TypeAlias = Literal["relu", "gelu"]

_ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {"relu": torch.relu, "gelu": functional.gelu}


@dataclass(frozen=True)
class MlpShape:
    """Widths from the inputs to the outputs, and what hidden layers do with their pre-activations.

    Parameters
    ----------
    layer_norm : bool
        Pre-activations of hidden layers are normalized, with trainable gain and shift.
    """

    widths: tuple[int, ...]
    activation: Activation = "relu"
    layer_norm: bool = False

    def __post_init__(self) -> None:
        if len(self.widths) < 2 or min(self.widths) < 1:
            raise InputError(f"widths={self.widths!r}: two or more positive widths are needed")
        if self.activation not in _ACTIVATIONS:
            raise InputError(f"activation={self.activation!r}: choose one of {', '.join(_ACTIVATIONS)}")

    @property
    def depth(self) -> int:
        """Number of weight matrices."""
        return len(self.widths) - 1


@dataclass(frozen=True)
class FixedLayer:
    """F and D of a layer, (inputs, outputs); D consists of zeros and ones."""

    F: Tensor
    D: Tensor


@dataclass(frozen=True)
class Part:
    """A tensor of the networks (P, …) that is trained, and towards what it decays.

    Parameters
    ----------
    values : Tensor
        A leaf that requires a gradient.
    layer : FixedLayer or None
        For effective weights; others decay to 0.
    decays : bool
    """

    values: Tensor
    layer: FixedLayer | None = None
    decays: bool = True


class Optimizer:
    """AdamW on the trainable parts W of effective weights F + D ⊙ W: what `torch.optim.AdamW` does to W itself."""

    def __init__(self, parts: Sequence[Part], *, rate: float, decay: float) -> None:
        self._parts, self._decay = parts, rate * decay
        self._adam = torch.optim.AdamW([part.values for part in parts], lr=rate, weight_decay=0.0, fused=True)
        self._masked = [(part, part.layer) for part in parts if part.layer is not None]

    def step(self, losses: Tensor) -> None:
        """Descend the losses of all networks, whose parameters are their own: their sum has the gradient of each."""
        self._adam.zero_grad()
        torch.autograd.backward(losses.sum())
        with torch.no_grad():
            for part, layer in self._masked:
                assert part.values.grad is not None
                part.values.grad.mul_(layer.D)
            for part in self._parts:
                if not part.decays:
                    continue
                if part.layer is None:
                    part.values.mul_(1 - self._decay)
                else:
                    part.values.lerp_(part.layer.F, self._decay)
        self._adam.step()


def drawn_layers(
    shape: MlpShape, kind: Asymmetry, shares: Sequence[float], sigmas: Sequence[float], seed: int, device: str = "cpu"
) -> list[FixedLayer]:
    """Return F and D of every layer, float32: fixed entries are a share of each row of weights; layer l uses ``seed + l``.

    Raises
    ------
    InputError
        Unless there is a share in [0, 1] and a standard deviation for every layer.
    """
    if len(shares) != shape.depth or not all(0 <= share <= 1 for share in shares):
        raise InputError(f"shares={tuple(shares)!r}: one in [0, 1] is needed for each of {shape.depth} layers")
    if len(sigmas) != shape.depth or not all(0 <= sigma < math.inf for sigma in sigmas):
        raise InputError(f"sigmas={tuple(sigmas)!r}: one of at least 0 is needed for each of {shape.depth} layers")
    made = []
    for i, (share, sigma) in enumerate(zip(shares, sigmas, strict=True)):
        n, m = shape.widths[i : i + 2]
        parts = draw_fixed((m, n), kind, fixed_entries=round(share * n), sigma=sigma, seed=seed + i)
        made.append(FixedLayer(*(part.T.float().contiguous().to(device) for part in parts)))
    return made


def parts_of(
    shape: MlpShape, layers: Sequence[FixedLayer], networks: int, generator: torch.Generator
) -> list[list[Part]]:
    """Return the parts of `networks` untrained perceptrons, layer by layer: E, bias, and gain and shift of hidden layers.

    W is normal with variance 1/inputs, biases and shifts are 0, gains are 1.
    """
    made = []
    for i, layer in enumerate(layers):
        n, m = shape.widths[i : i + 2]
        W = torch.randn(networks, n, m, generator=generator) / math.sqrt(n)
        E = torch.addcmul(layer.F, layer.D, W.to(layer.F.device))
        own = [Part(E.requires_grad_(), layer), Part(E.new_zeros(networks, 1, m).requires_grad_())]
        if shape.layer_norm and i < shape.depth - 1:
            own += [
                Part(E.new_ones(networks, 1, m).requires_grad_()),
                Part(E.new_zeros(networks, 1, m).requires_grad_()),
            ]
        made.append(own)
    return made


def logits(shape: MlpShape, weights: Sequence[Sequence[Tensor]], rows: Tensor) -> Tensor:
    """Return the outputs (P, N, classes) of the networks with these tensors, layer by layer, on their rows (P, N, n)."""
    for outputs in _layers(shape, weights, rows):
        last = outputs
    return last


def hidden_outputs(shape: MlpShape, weights: Sequence[Sequence[Tensor]], rows: Tensor) -> list[Tensor]:
    """Return what every hidden layer passes on, (P, N, width) each."""
    return list(_layers(shape, weights, rows))[:-1]


def _layers(shape: MlpShape, weights: Sequence[Sequence[Tensor]], rows: Tensor) -> Iterator[Tensor]:
    h = rows
    for i, (E, bias, *affine) in enumerate(weights):
        h = torch.baddbmm(bias, h, E)
        if i < shape.depth - 1:
            if shape.layer_norm:
                gain, shift = affine
                h = torch.addcmul(shift, gain, functional.layer_norm(h, h.shape[-1:]))
            h = _ACTIVATIONS[shape.activation](h)
        yield h


def mixed(first: Sequence[Sequence[Tensor]], second: Sequence[Sequence[Tensor]], weight: float) -> list[list[Tensor]]:
    """Return (1 − λ)·first + λ·second, tensor by tensor, at λ = `weight`."""
    return [[torch.lerp(a, b, weight) for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)]
