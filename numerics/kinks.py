"""One step of networks with one hidden layer, beside its linearization, at the input of the step and at another one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from .frequencies import Interval, mean_interval
from .jets import activation_value, activation_with_slope

__all__ = ["StepDeviations", "mean", "root_mean_square", "step_deviations"]

_CHUNK = 1 << 22  # neurons at a time


@dataclass(frozen=True)
class StepDeviations:
    """F − F_lin after one step, for each network: at the input of the step (`here`) and at another (`other`)."""

    here: Tensor
    other: Tensor


def step_deviations(
    activation: str,
    width: int,
    networks: int,
    step: float,
    kernel: tuple[float, float, float],
    *,
    seed: int,
    device: str = "cpu",
) -> StepDeviations:
    """Return what one step of descent with ηc = `step` at x leaves to the linearization at x and at x'.

    Weights enter through a_j, z_j = w_j·x/√d0 and z'_j alone: normal, with the covariance `kernel` = (K(x, x), K(x, x'),
    K(x', x')) of the latter two. The step moves a_j by −ηc φ(z_j)/√n, and z_j and z'_j by −ηc K a_j φ'(z_j)/√n, with K(x, x)
    and K(x, x').
    """
    K, cross, other = kernel
    rest = math.sqrt(max(other - cross**2 / K, 0.0))
    size = max(1, _CHUNK // width)
    found: list[list[Tensor]] = [[], []]
    for start in range(0, networks, size):
        rng = np.random.default_rng([seed, width, start])
        draws = rng.standard_normal((3, min(size, networks - start), width))
        a, g, h = (torch.from_numpy(x).to(device) for x in draws)
        z, z_other = math.sqrt(K) * g, cross / math.sqrt(K) * g + rest * h
        phi, slope = activation_with_slope(activation, z)
        move = -step / math.sqrt(width)
        da, dz, dz_other = move * phi, move * K * a * slope, move * cross * a * slope
        for parts, at, change in zip(found, (z, z_other), (dz, dz_other), strict=True):
            value, slope_there = activation_with_slope(activation, at)
            new = (a + da) * activation_value(activation, at + change)
            linear = (a + da) * value + a * slope_there * change
            parts.append((new - linear).sum(1) / math.sqrt(width))
    return StepDeviations(*(torch.cat(parts) for parts in found))


def root_mean_square(values: Tensor) -> Interval:
    """Return the root mean square, with the error of the mean square carried over."""
    square = mean_interval(values.square().cpu().numpy())
    root = math.sqrt(square.value)
    return Interval(root, square.error / (2 * root) if root else math.inf)


def mean(values: Tensor) -> Interval:
    """Return the mean with four standard errors."""
    return mean_interval(values.cpu().numpy())
