"""The edges that may be frozen, one by one: their minima as arrays, their witnesses and evidence when asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt

from .bottlenecks import Bottlenecks
from .certificates import sparse_data
from .feasibility import Side, Witness
from .network import BoolArray, IntArray, Network
from .residual import Settled

__all__ = ["ByDegrees", "ByResidual", "EdgeMinimum", "Examined"]


@dataclass(frozen=True)
class EdgeMinimum:
    """The smallest squared value of one weight on the invariant set.

    `witness` is the set of hidden nodes that keeps the weight away from zero: on the whole set if `minimum` is positive, on
    its regular part if `minimum` is 0 and `regular_frozen`; otherwise None.
    """

    edge: int
    minimum: Fraction
    regular_frozen: bool
    witness: Witness | None
    evidence: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def size(self) -> int:
        """Roughly how many nodes and numbers are listed here."""
        vectors = self.evidence["flows"].values() if "flows" in self.evidence else self.evidence.values()
        return 8 + sum(map(len, vectors)) + (len(self.witness.nodes) if self.witness else 0)


class Examined(Protocol):
    """Edges in increasing order; all others are neither frozen nor regular-frozen."""

    @property
    def method(self) -> Literal["degrees", "residual"]:
        """How the minima are certified."""
        ...

    @property
    def edges(self) -> IntArray:
        """The edges that were examined, shape (k,)."""
        ...

    @property
    def minimum(self) -> npt.NDArray[Any]:
        """Their minima, times the common denominator of the balance."""
        ...

    @property
    def regular_frozen(self) -> BoolArray:
        """Whether they vanish at no regular point."""
        ...

    def item(self, i: int) -> EdgeMinimum:
        """Return everything about edge number i of `edges`."""
        ...


class ByDegrees:
    """The bottleneck edges of both sides of an acyclic network."""

    method: Literal["degrees"] = "degrees"

    def __init__(self, network: Network, sides: Mapping[Side, Bottlenecks]) -> None:
        self._network = network
        self._sides = sides
        self.edges: IntArray = np.unique(np.concatenate([side.edge for side in sides.values()]))
        self.minimum: npt.NDArray[Any] = np.zeros(len(self.edges), network.require_balance().dtype)
        self.regular_frozen = np.zeros(len(self.edges), bool)
        self._places: dict[Side, IntArray] = {}
        for name, side in sides.items():
            at = np.searchsorted(self.edges, side.edge)
            self.minimum[at] = np.maximum(self.minimum[at], side.minimum)
            self.regular_frozen[at] |= side.tight
            self._places[name] = np.full(len(self.edges), -1)
            self._places[name][at] = np.arange(len(side))

    def item(self, i: int) -> EdgeMinimum:
        """Return the minimum over both sides, with the critical set of the side that attains it."""
        network = self._network
        found = {name: self._sides[name][int(place[i])] for name, place in self._places.items() if place[i] >= 0}
        side = max(found, key=lambda name: (found[name].minimum, len(found[name].critical)))
        worst = found[side]
        witness = None
        if worst.critical:
            witness = Witness(side, worst.critical, network.sum_of_balances(worst.critical))
        flows = {name: sparse_data(network, result.flow) for name, result in found.items()}
        minimum = Fraction(worst.minimum, network.denominator)
        return EdgeMinimum(int(self.edges[i]), minimum, witness is not None, witness, {"flows": flows})


class ByResidual:
    """The edges that one point of P did not show to be free."""

    method: Literal["residual"] = "residual"

    def __init__(self, network: Network, settled: Sequence[Settled]) -> None:
        self._network = network
        self._settled = settled

    @cached_property
    def edges(self) -> IntArray:
        """The edges, increasing."""
        return np.array([s.edge for s in self._settled], np.int64)

    @cached_property
    def minimum(self) -> npt.NDArray[Any]:
        """Their minima, times the common denominator of the balance."""
        return np.array([s.minimum for s in self._settled], object)

    @cached_property
    def regular_frozen(self) -> BoolArray:
        """Whether they vanish at no regular point."""
        return np.array([s.regular_frozen for s in self._settled], bool)

    def item(self, i: int) -> EdgeMinimum:
        """Return the minimum with the change of the point that attains it."""
        s = self._settled[i]
        minimum = Fraction(s.minimum, self._network.denominator)
        evidence = {"change": sparse_data(self._network, s.change)}
        return EdgeMinimum(s.edge, minimum, s.regular_frozen, s.witness, evidence)
