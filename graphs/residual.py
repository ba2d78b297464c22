"""Frozen weights of any network, cycles and dead ends included, from one point of P and its residual graph.

With all terminals merged into one node, the changes δ of a point u ∈ P that keep Bu = c are circulations. So the smallest
value of u_e is u_e − r, where r is the largest flow from tail(e) to head(e) that avoids e, uses edges forwards without limit
and backwards up to their value in u. If some walk leads from tail(e) to head(e) without e, all of u_e can go that way: then e
is not frozen, nor regular-frozen if there are regular points, since the walk replaces e in both directions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import reachable
from .detours import Detours
from .feasibility import Witness, witness_of_cut
from .merged import Merged
from .network import Network
from .surroundings import Surroundings

__all__ = ["Residual", "Settled"]


@dataclass(frozen=True)
class Settled:
    """What is known about one edge.

    `minimum` is exact, times the common denominator. `change` added to the point gives a point of P where the edge attains
    it. `witness` proves that it is not smaller, or, for minimum 0, that no regular point has it (None if some has).
    """

    edge: int
    minimum: int
    regular_frozen: bool
    witness: Witness | None
    change: Mapping[int, int] = field(default_factory=dict)


class Residual:
    """The residual graph of a point u of P.

    Parameters
    ----------
    network : Network
    point : integer array, shape (m,)
        Times the common denominator.
    """

    def __init__(self, network: Network, point: npt.NDArray[Any]) -> None:
        self.network = network
        self.point = point
        self.positive = np.flatnonzero(point > 0)
        self.merged = Merged(network)

    @cached_property
    def surroundings(self) -> Surroundings:
        """Searches around single edges in this graph."""
        return Surroundings(self.merged, self.positive)

    def singular_witness(self) -> Witness | None:
        """Return a zero-sum closed set if every point of the invariant set is singular, else None."""
        tail, head = self.merged.residual_arcs(self.positive)
        count, terminal, hidden = self.merged.node_count, self.merged.terminal, self.network.hidden
        onward = reachable(count, tail, head, terminal)
        if not onward[:-1][hidden].all():
            return witness_of_cut(self.network, onward)
        back = reachable(count, head, tail, terminal)
        if not back[:-1][hidden].all():
            return witness_of_cut(self.network, ~back)
        return None

    def settle(self, *, regular: bool) -> list[Settled]:
        """Return every edge that `point` alone does not show to be free, in increasing order.

        With `regular` false (the invariant set has no regular point) no edge counts as regular-frozen.
        """
        doubtful = np.zeros(len(self.point), bool)
        if regular:
            doubtful = self.merged.possible_bridges(self.positive)
        doubtful[self.positive] = True
        listed = []
        for e in np.flatnonzero(doubtful).tolist():
            settled = self._settle(e, regular)
            if self.point[e] > 0 or settled.regular_frozen:
                listed.append(settled)
        return listed

    def _settle(self, e: int, regular: bool) -> Settled:
        amount = int(self.point[e])
        walk = self.merged.short_walk(e)
        side = None if walk is not None else self.surroundings.side_of(e)
        if walk is None:
            walk = self.merged.walk(e) if side is None else self.surroundings.walk(e, side)
        if walk is not None:
            change = {f: amount * times for f, times in Counter(walk).items()} if amount else {}
            return Settled(e, 0, False, None, change | {e: -amount} if amount else change)
        minimum, change, witness = self._minimize(e, amount, side) if amount else (0, {}, None)
        if witness is None and regular:
            witness = self._stuck(e, change, side)
            return Settled(e, 0, witness is not None, witness, change)
        return Settled(e, minimum, regular and witness is not None, witness, change)

    def _minimize(self, e: int, amount: int, side: int | None) -> tuple[int, dict[int, int], Witness | None]:
        """Return the minimum of u_e, the change that attains it, and a witness if it is positive."""
        if side is None:
            detours = Detours(self.merged, e, self.positive)
            flow = detours.flow(amount, self.point[detours.backward])
            value, change, cut = flow.value, detours.change(flow), detours.source_side(flow)
        else:
            found = self.surroundings.around(e, side)
            local = self.surroundings.flow(found, amount, self.point[found.backward])
            value, change, cut = local.value, dict(local.change), local.source_side
        if value == amount:
            return 0, change, None
        return amount - value, change, witness_of_cut(self.network, cut)

    def _stuck(self, e: int, change: Mapping[int, int], side: int | None) -> Witness | None:
        """Return a set that shows that u_e vanishes at no regular point; None if it does after the change."""
        lost = frozenset(f for f, step in change.items() if self.point[f] + step == 0)
        gained = frozenset(f for f, step in change.items() if step > 0 and self.point[f] == 0)
        if side is not None:
            found = self.surroundings.around(e, side, lost=lost, gained=tuple(gained), until_outside=True)
            if found.outside.any():
                return None
            met = np.zeros(self.merged.node_count, bool)
            met[found.nodes] = True
            return witness_of_cut(self.network, met if side == 0 else ~met)
        positive = np.array(sorted((set(self.positive.tolist()) | gained) - lost), np.int64)
        tail, head = self.merged.residual_arcs(positive, without=e)
        onward = reachable(self.merged.node_count, tail, head, int(self.merged.tail[e]))
        return None if onward[self.merged.head[e]] else witness_of_cut(self.network, onward)
