"""Two small networks on the digits of scikit-learn that share fixed weights: do they merge without alignment?

``python -m examples.digits FOLDER`` trains two from different initializations and writes what `lakatos identify` reads::

    python -m examples.digits out --kind w_asymmetric --sigma 1
    lakatos identify out/first.pt out/second.pt --model examples.digits:w_asymmetric --data out/digits.npz

Training takes a few seconds and is deterministic.
"""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

import numpy as np
import torch
from sklearn.datasets import load_digits
from torch import nn
from torch.nn import functional

from lakatos.cli_boundary import progress
from lakatos.numerics.masked import Asymmetry, asymmetric

__all__ = ["additive", "data", "network", "sparse", "standard", "train", "w_asymmetric"]

WIDTH = 64
FIXED_SHARE = 0.125
_TRAINING_ROWS = 1400


def data() -> tuple[torch.Tensor, torch.Tensor]:
    """Return the 1797 images as rows of 64 numbers in [0, 1], and their classes."""
    bunch = load_digits()
    return torch.tensor(bunch.data / 16, dtype=torch.float64), torch.tensor(bunch.target)


def network(kind: Asymmetry, seed: int = 0, *, sigma: float = 1.0) -> nn.Sequential:
    """Return an untrained 64-64-64-10 ReLU network; `seed` draws the initialization, fixed weights and masks are the same."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = nn.Sequential(
            nn.Linear(64, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 10)
        ).double()
    asymmetric(made, kind, fixed_share=FIXED_SHARE, sigma=sigma, seed=0)
    return made


standard = partial(network, "standard")
w_asymmetric = partial(network, "w_asymmetric")
sparse = partial(network, "sparse")
additive = partial(network, "additive")


def train(made: nn.Sequential, seed: int = 0, *, epochs: int = 30, weight_decay: float = 1e-2) -> nn.Sequential:
    """Return the network after AdamW on the first 1400 images; `seed` draws the order of the batches."""
    inputs, targets = (x[:_TRAINING_ROWS] for x in data())
    optimizer = torch.optim.AdamW(made.parameters(), lr=1e-3, weight_decay=weight_decay)
    generator = torch.Generator().manual_seed(seed)
    for _ in range(epochs):
        for rows in torch.randperm(len(inputs), generator=generator).split(50):
            optimizer.zero_grad()
            functional.cross_entropy(made(inputs[rows]), targets[rows]).backward()
            optimizer.step()
    return made


def main() -> None:
    """Train two networks and write their checkpoints and the test data."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=("standard", "w_asymmetric", "sparse", "additive"), default="w_asymmetric")
    parser.add_argument("--sigma", type=float, default=1.0)
    parser.add_argument("--epochs", type=int, default=30)
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    with progress("training", 2) as advance:
        for seed, name in ((1, "first"), (2, "second")):
            trained = train(network(options.kind, seed, sigma=options.sigma), seed, epochs=options.epochs)
            torch.save(trained.state_dict(), options.folder / f"{name}.pt")
            advance()
    inputs, targets = (x[_TRAINING_ROWS:].numpy() for x in data())
    np.savez(options.folder / "digits.npz", x=inputs, y=targets)


if __name__ == "__main__":
    main()
