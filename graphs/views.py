"""A network seen from one of its two sides."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import Adjacency
from .network import IntArray, Network

__all__ = ["View"]


@dataclass(frozen=True, eq=False)
class View:
    """The network seen from one side: for ``"in"`` all edges are reversed and the balance `c` is negated."""

    network: Network
    reversed: bool
    c: npt.NDArray[Any]

    @property
    def tail(self) -> IntArray:
        """Where edges come from."""
        return self.network.head if self.reversed else self.network.tail

    @property
    def head(self) -> IntArray:
        """Where edges lead to."""
        return self.network.tail if self.reversed else self.network.head

    @property
    def degree(self) -> IntArray:
        """Number of edges out of each node."""
        return self.network.in_degree if self.reversed else self.network.out_degree

    @property
    def first(self) -> IntArray:
        """The first edge out of each node."""
        return self.network.first_in_edge if self.reversed else self.network.first_out_edge

    @property
    def incoming(self) -> Adjacency:
        """Edges grouped by where they lead to."""
        return self.network.outgoing if self.reversed else self.network.incoming

    @cached_property
    def rank(self) -> IntArray:
        """Position of each node in an order in which all edges lead forward."""
        order = self.network.order
        assert order is not None  # a hypothesis of `one_sided`
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))[::-1] if self.reversed else np.arange(len(order))
        return rank
