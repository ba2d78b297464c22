"""Frozen weights of acyclic networks whose hidden nodes all have incoming and outgoing edges.

Only a weight that is the single outgoing edge of its tail (an *out-bottleneck*) or the single incoming edge of its head (an
*in-bottleneck*) can be frozen there. Its minimum is decided by one maximum flow among the hidden nodes all of whose forward
(backward) paths meet the bottleneck; most often that is the bottleneck alone and no flow is needed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from .feasibility import Side
from .funnels import Funnels
from .network import BoolArray, IntArray, Network
from .views import View

__all__ = ["Bottlenecks", "OneSided", "one_sided"]


@dataclass(frozen=True)
class OneSided:
    """What one side says about one bottleneck edge.

    Parameters
    ----------
    edge, node : int
        The only outgoing (side ``"out"``) or incoming (``"in"``) edge of the hidden node.
    minimum : int
        Lower bound on the squared weight from this side, exact, times the common denominator.
    critical : tuple of int
        The largest stable set that attains it: its balances sum to ∓minimum. Empty iff all stable sets have
        strictly the right sign; then this side does not freeze the weight even on the regular part.
    flow : mapping from edge to int
        Certifies that no stable set does worse.
    """

    edge: int
    node: int
    minimum: int
    critical: tuple[int, ...]
    flow: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Bottlenecks(Sequence[OneSided]):
    """The result of one side for all its bottlenecks, by increasing node number, as arrays; an entry is made when asked for.

    Parameters
    ----------
    edge, node : int64 arrays, shape (k,)
        The bottleneck edges, and the nodes whose only outgoing (incoming) edges they are.
    minimum : integer array, shape (k,)
        Lower bounds on the squared weights from this side, exact, times the common denominator.
    tight : bool array, shape (k,)
        Whether this side freezes the weight on the regular part.
    """

    edge: IntArray
    node: IntArray
    minimum: npt.NDArray[Any]
    tight: BoolArray
    _funnels: Funnels

    def __len__(self) -> int:
        return len(self.edge)

    @overload
    def __getitem__(self, i: int) -> OneSided: ...
    @overload
    def __getitem__(self, i: slice) -> tuple[OneSided, ...]: ...
    def __getitem__(self, i: int | slice) -> OneSided | tuple[OneSided, ...]:
        if isinstance(i, slice):
            return tuple(self[k] for k in range(*i.indices(len(self))))
        v = int(self.node[i])
        critical, flow = self._funnels.critical_set(v), self._funnels.flow(v)
        return OneSided(int(self.edge[i]), v, int(self.minimum[i]), critical, flow)


def one_sided(network: Network, side: Side, balance: npt.NDArray[Any] | None = None) -> Bottlenecks:
    """Return the result of one side for every bottleneck of that side, by increasing node number.

    Hypotheses (not checked here): acyclic, and every hidden node has an incoming and an outgoing edge.

    Parameters
    ----------
    balance : integer array, shape (n,), optional
        Overrides the balance of the network (same denominator for all nodes).

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": -4})
    >>> [(b.edge, b.minimum, b.critical) for b in one_sided(G, "out")]
    [(2, 4, (1,))]
    """
    c = network.require_balance() if balance is None else balance
    view = View(network, side == "in", c if side == "out" else -c)
    funnels = Funnels(view)
    node = np.flatnonzero(funnels.single)
    return Bottlenecks(view.first[node], node, funnels.minimum[node], funnels.tight[node], funnels)
