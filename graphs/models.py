"""Networks whose edges are the entries of the parameters of a model."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from .network import IntArray, Network

__all__ = ["ModelNetwork", "ParameterBlock"]


@dataclass(frozen=True, eq=False)
class ParameterBlock:
    """Consecutive edges, from edge `start`, that are entries of one parameter, in the order of its flat indices.

    Parameters
    ----------
    name : str
        Of the parameter, e.g. ``layer1.0.conv1.weight``.
    start : int
        Number of the first edge.
    shape : tuple of int
        Of the parameter.
    entries : int64 array or None
        Flat (row-major) index of each edge; None if they are all entries.
    """

    name: str
    start: int
    shape: tuple[int, ...]
    entries: IntArray | None = None

    def index(self, e: int) -> tuple[int, ...]:
        """Return the position of edge `e` in the parameter."""
        flat = e - self.start if self.entries is None else int(self.entries[e - self.start])
        return tuple(int(k) for k in np.unravel_index(flat, self.shape))

    def entry(self, e: int) -> str:
        """Return the entry that edge `e` of this block is, e.g. ``2.weight[0, 7]``."""
        return f"{self.name}[{', '.join(map(str, self.index(e)))}]" if self.shape else self.name


@dataclass(frozen=True, eq=False, repr=False)
class ModelNetwork(Network):
    """The network of a model, which remembers the parameter behind every edge.

    Parameters
    ----------
    blocks : tuple of ParameterBlock
        Together they hold every edge once, in order.

    Examples
    --------
    >>> blocks = (ParameterBlock("0.weight", 0, (1, 1)), ParameterBlock("2.weight", 1, (1, 1)))
    >>> ends = [np.array(numbers) for numbers in ([0, 1], [1, 2], [False, True, False], [0], [2])]
    >>> ModelNetwork(("x0", "h1.0", "y0"), *ends, blocks=blocks).describe_edge(1)
    'h1.0→y0 (2.weight[0, 0])'
    """

    blocks: tuple[ParameterBlock, ...] = ()

    def parameter(self, e: int) -> str:
        """Return the parameter entry that edge `e` is, e.g. ``layer1.0.conv1.weight[3, 5, 0, 2]``."""
        return self.blocks[bisect_right(self.blocks, e, key=lambda block: block.start) - 1].entry(e)

    def describe_edge(self, e: int) -> str:
        """Return ``tail→head`` by names, followed by the parameter entry."""
        return f"{super().describe_edge(e)} ({self.parameter(e)})"
