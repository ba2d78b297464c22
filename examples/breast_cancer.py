"""A ReLU network with 20 hidden neurons, before and after training on the breast cancer data of scikit-learn.

``lakatos connectivity examples.breast_cancer:model`` reads the trained network, ``…:untrained`` its initialization, and
``…:large_head`` the network trained from output weights ten times as large, which locks the signs of some of them.
Training takes a few seconds, is deterministic, and stores nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from sklearn.datasets import load_breast_cancer
from torch import nn

__all__ = ["Split", "data", "large_head", "model", "untrained"]

_TRAINING_ROWS = 400
_STEPS = 4000


class Split(NamedTuple):
    """Standardized features (rows, 30) and labels (rows, 1), in float64."""

    features: torch.Tensor
    labels: torch.Tensor


def data(seed: int = 0) -> tuple[Split, Split]:
    """Return 400 rows for training and the other 169 for testing.

    Features are standardized over all rows; `seed` draws the split.
    """
    bunch = load_breast_cancer()
    x = torch.tensor(bunch.data, dtype=torch.float64)
    y = torch.tensor(bunch.target, dtype=torch.float64)[:, None]
    x = (x - x.mean(dim=0)) / x.std(dim=0, correction=0)
    rows = torch.randperm(len(x), generator=torch.Generator().manual_seed(seed))
    train, test = rows[:_TRAINING_ROWS], rows[_TRAINING_ROWS:]
    return Split(x[train], y[train]), Split(x[test], y[test])


def untrained(seed: int = 0) -> nn.Sequential:
    """Return the 30-20-1 network at PyTorch's default initialization, in float64."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(30, 20, dtype=torch.float64), nn.ReLU(), nn.Linear(20, 1, dtype=torch.float64))


def model(seed: int = 0) -> nn.Sequential:
    """Return the network after 4000 full-batch steps of Adam on the cross-entropy, without regularization."""
    return _train(untrained(seed), seed)


def large_head(seed: int = 0) -> nn.Sequential:
    """Return the network trained like `model`, but with output weights that start ten times as large."""
    network = untrained(seed)
    with torch.no_grad():
        network[2].weight *= 10
    return _train(network, seed)


def _train(network: nn.Sequential, seed: int) -> nn.Sequential:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # matrices this small are multiplied faster by one thread than shared among several
    try:
        train, _ = data(seed)
        loss = nn.BCEWithLogitsLoss()
        optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
        for _ in range(_STEPS):
            optimizer.zero_grad()
            loss(network(train.features), train.labels).backward()
            optimizer.step()
        optimizer.zero_grad()
        return network
    finally:
        torch.set_num_threads(threads)
