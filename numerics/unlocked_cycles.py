"""Sets of neurons that lock a sign at a balance, for networks with directed cycles.

There no list of bottlenecks is known in advance; whether a sign is locked, and by which set, is decided exactly.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..graphs.connectivity import connectivity
from ..graphs.feasibility import Side
from ..graphs.network import Network

__all__ = ["locking_sets"]

_BITS = 40  # balances in units of 2^-40 of the largest: what is closer to a tie than that counts as locked or free by chance


def locking_sets(
    network: Network, balance: npt.NDArray[np.float64], volume: npt.NDArray[np.float64]
) -> Iterator[tuple[Side, tuple[int, ...], float]]:
    """Yield each set that locks a sign at this balance: its side, its nodes, and the volume at the end of the weight in it.

    Parameters
    ----------
    balance : float array, shape (n,)
        At most 1 in absolute value.
    volume : float array, shape (n,)
        Incoming plus outgoing squared weights.
    """
    numerators = np.array([int(Fraction(x) * (1 << _BITS)) for x in balance.tolist()], np.int64)
    result = connectivity(network.with_balance(numerators))
    for item in result.edges:
        if item.witness is not None:
            ends = network.tail if item.witness.side == "out" else network.head
            yield item.witness.side, item.witness.nodes, float(volume[ends[item.edge]])
