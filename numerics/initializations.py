"""Random networks with one hidden layer and one output, counted by how many of their units are locked."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import torch
from scipy.stats import binomtest
from torch import Tensor

from ..core import InputError

__all__ = ["LockCounts", "Proportion", "lock_counts", "proportion"]

_CHUNK = 1 << 22  # weights drawn at a time


@dataclass(frozen=True)
class Proportion:
    """An unknown probability lies within `value` ± `error` with the stated confidence."""

    value: float
    error: float


@dataclass(frozen=True)
class LockCounts:
    """How many of `networks` random networks have so many units locked, (hidden + 1, hidden + 1).

    ``counts[i, j]`` of them have i units locked with a negative output weight, j with a positive one.
    """

    networks: int
    counts: Tensor


def lock_counts(
    inputs: int,
    hidden: int,
    scheme: Literal["kaiming_normal", "xavier_normal", "torch_default"],
    *,
    bias: bool = False,
    networks: int = 200_000,
    seed: int = 0,
    device: str = "cpu",
) -> LockCounts:
    """Return the counts over `networks` networks, drawn on the CPU from a generator with this seed.

    A unit is locked if its squared output weight exceeds the sum of its squared incoming weights, the bias included.

    Raises
    ------
    InputError
        For a bias with normal weights, and for numbers that are not positive.
    """
    if bias and scheme != "torch_default":
        raise InputError(f"bias={bias!r}: {scheme} says nothing about biases; leave them out or choose 'torch_default'")
    if min(inputs, hidden, networks) < 1:
        raise InputError(f"inputs={inputs!r}, hidden={hidden!r}, networks={networks!r}: positive integers are needed")
    generator = torch.Generator().manual_seed(seed)

    def draw(fan_in: int, fan_out: int, *shape: int) -> Tensor:
        if scheme == "torch_default":
            unit = 2 * torch.rand(*shape, generator=generator, dtype=torch.float64) - 1
            return unit.to(device) / math.sqrt(fan_in)
        variance = 2 / fan_in if scheme == "kaiming_normal" else 2 / (fan_in + fan_out)
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(device) * math.sqrt(variance)

    counts = torch.zeros((hidden + 1) ** 2, dtype=torch.int64)
    width = inputs + bias
    chunk = max(1, _CHUNK // (hidden * (width + 1)))
    for begin in range(0, networks, chunk):
        size = min(chunk, networks - begin)
        w = draw(inputs, hidden, size, hidden, width)
        v = draw(hidden, 1, size, hidden)
        locked = (w**2).sum(-1) < v**2
        negative, positive = (locked & (v < 0)).sum(-1), (locked & (v > 0)).sum(-1)
        counts += torch.bincount(negative * (hidden + 1) + positive, minlength=len(counts)).cpu()
    return LockCounts(networks, counts.reshape(hidden + 1, hidden + 1))


def proportion(successes: int, trials: int, *, confidence: float) -> Proportion:
    """Return the interval of Clopper and Pearson for the probability of success, which is exact for every sample size.

    Examples
    --------
    >>> interval = proportion(0, 10, confidence=0.95)
    >>> round(interval.value - interval.error, 6), round(interval.value + interval.error, 6)
    (0.0, 0.308497)
    """
    interval = binomtest(successes, trials).proportion_ci(confidence_level=confidence, method="exact")
    return Proportion(float(interval.low + interval.high) / 2, float(interval.high - interval.low) / 2)
