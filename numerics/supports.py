"""Which weights vanish along a trajectory, and the rank of the Jacobian of the balances there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..graphs.network import Network
from ..graphs.rank import jacobian_rank, terminal_free_components

__all__ = ["Supports", "detached_edges", "supports_along"]


@dataclass(frozen=True)
class Supports:
    """Extremes over a trajectory; zero means exactly zero.

    Parameters
    ----------
    least_rank, largest_rank : int
        Of the Jacobian of the balances.
    largest_detached_weight : float
        Largest absolute value of the weights on the boundary of sets of hidden nodes that were detached at the start.
    """

    least_rank: int
    largest_rank: int
    largest_detached_weight: float


def detached_edges(network: Network, weights: Tensor) -> tuple[int, ...]:
    """Return the edges between a set of hidden nodes that no weight joins to a terminal, and the rest: their weights are 0.

    Examples
    --------
    >>> G = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")])
    >>> detached_edges(G, torch.tensor([0.0, 1.0, 0.0]))
    (0, 2)
    """
    part = np.full(network.node_count, -1)
    for i, nodes in enumerate(terminal_free_components(network, weights.cpu().numpy())):
        part[list(nodes)] = i
    return tuple(np.flatnonzero(part[network.tail] != part[network.head]).tolist())


def supports_along(network: Network, start: Tensor, later: Iterable[Tensor]) -> Supports:
    """Return the extremes over `start` (m,) and the weights (m,) that come `later`."""
    detached = torch.tensor(detached_edges(network, start), dtype=torch.int64, device=start.device)
    least = largest = jacobian_rank(network, start.cpu().numpy())
    weight = 0.0
    for theta in later:
        rank = jacobian_rank(network, theta.cpu().numpy())
        least, largest = min(least, rank), max(largest, rank)
        weight = max(weight, float(theta[detached].abs().max()) if len(detached) else 0.0)
    return Supports(least, largest, weight)
