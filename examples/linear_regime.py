"""Digits of scikit-learn and networks that stay near their linearization, or do not: ``lakatos linearize``.

``python -m examples.linear_regime FOLDER`` writes the data::

    python -m examples.linear_regime out
    lakatos linearize examples.linear_regime:wide --data out/digits.npz --rate 1 --picture wide.svg
    lakatos linearize examples.linear_regime:mean_field --data out/digits.npz --rate 400
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from .digits import data

__all__ = ["ScaledMlp", "kinked", "mean_field", "narrow", "network", "wide"]

_SAMPLES = 200


class ScaledMlp(nn.Module):
    """A network with one hidden layer, unit normal weights, and divisors in place of small weights.

    Parameters
    ----------
    width : int
        n, hidden neurons.
    gamma : float
        Outputs are divided by n^gamma: 1/2 in the NTK parametrization, 1 for a mean field.
    """

    def __init__(self, width: int, gamma: float, activation: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.inner = nn.Parameter(torch.randn(width, 64))
        self.outer = nn.Parameter(torch.randn(10, width))
        self.divisor, self.activation = width**gamma, activation

    def forward(self, x: Tensor) -> Tensor:
        """Return logits (N, 10) of rows (N, 64)."""
        return self.activation(x @ self.inner.T / math.sqrt(64)) @ self.outer.T / self.divisor


def network(
    width: int, gamma: float = 0.5, activation: Callable[[Tensor], Tensor] = torch.tanh, seed: int = 0
) -> ScaledMlp:
    """Return an untrained network; `seed` draws its weights."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return ScaledMlp(width, gamma, activation)


wide = partial(network, 1024)
narrow = partial(network, 8)
mean_field = partial(network, 1024, 1.0)
kinked = partial(network, 1024, 0.5, torch.relu)


def main() -> None:
    """Write images and classes as `lakatos linearize` reads them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--samples", type=int, default=_SAMPLES)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    inputs, targets = (part[: options.samples].numpy() for part in data())
    np.savez(options.folder / "digits.npz", x=inputs, y=targets)


if __name__ == "__main__":
    main()
