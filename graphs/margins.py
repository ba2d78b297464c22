"""Whether the frozen weights stay the same when float weights move within their rounding error."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .balances import volume_of_weights
from .bottlenecks import one_sided
from .detours import Detours
from .feasibility import Side
from .merged import Merged
from .network import Network
from .structure import every_hidden_node_on_terminal_walk, is_acyclic
from .surroundings import Surroundings

__all__ = ["Margin", "margin_of"]


@dataclass(frozen=True)
class Margin:
    """Stability of the answer under |θ' − θ| ≤ rounding·|θ| on every weight.

    `robust` is True only if the set of frozen weights is the same for all such θ'. `sensitive_edges` are the edges for which
    that could not be shown; they may still be stable, since the bounds are taken node by node.
    """

    rounding: float
    robust: bool
    sensitive_edges: tuple[int, ...]


def margin_of(network: Network) -> Margin | None:
    """Return the margin of a network with float weights, None for other networks."""
    if network.rounding is None or network.weights is None:
        return None
    if is_acyclic(network) and every_hidden_node_on_terminal_walk(network):
        sensitive = _by_bottlenecks(network, network.rounding)
    else:
        sensitive = _by_residual_flows(network, network.rounding)
    return Margin(network.rounding, not sensitive, tuple(sensitive))


def _by_bottlenecks(network: Network, rounding: float) -> list[int]:
    """Decide every bottleneck once with the balances that favor freezing and once with those that oppose it.

    θ'² lies in [(1−r)²θ², (1+r)²θ²], so the balance of a node lies within (1+r²)c ± 2r(Σ_in θ² + Σ_out θ²). Scaled by 1/r²,
    which is a power of two, these are integers. The bounds cover (1−r)² and (1+r)² because both are 1+r² ∓ 2r.
    """
    if not (network.hidden & ((network.out_degree == 1) | (network.in_degree == 1))).any():
        return []
    inverse = round(1 / rounding)
    assert network.weights is not None
    volume = volume_of_weights(network.tail, network.head, network.hidden, network.weights).astype(object)
    center, radius = (inverse**2 + 1) * network.require_balance().astype(object), 2 * inverse * volume
    possible, certain = (np.zeros(network.edge_count, bool) for _ in range(2))
    sides: tuple[tuple[Side, int], ...] = (("out", -1), ("in", 1))
    for side, favorable in sides:
        for found, sign in ((possible, favorable), (certain, -favorable)):
            result = one_sided(network, side, center + sign * radius)
            found[result.edge[result.minimum > 0]] = True
    return np.flatnonzero(possible & ~certain).tolist()


def _by_residual_flows(network: Network, rounding: float) -> list[int]:
    """Decide every edge that can be frozen at all on the point u = θ², with capacities at both ends of their intervals."""
    inverse = round(1 / rounding)
    low, high = (inverse - 1) ** 2, (inverse + 1) ** 2
    merged = Merged(network)
    weights = network.weights
    assert isinstance(weights, np.ndarray)  # other weights have no rounding
    flows = _ReplacingFlows(network, merged)
    sensitive = []
    for e in np.flatnonzero(merged.possible_bridges(np.zeros(0, np.int64)) & (weights != 0)).tolist():
        replaces = flows.around(e)
        if replaces is None:
            continue
        (amount,) = _squares(network, np.array([e])).tolist()
        frozen = [not replaces(back, amount * demand) for back, demand in ((low, high), (high, low))]
        if frozen[0] != frozen[1]:
            sensitive.append(e)
    return sensitive


class _ReplacingFlows:
    """Residual flows around single edges on the point u = θ²."""

    def __init__(self, network: Network, merged: Merged) -> None:
        self._network, self._merged = network, merged
        assert isinstance(network.weights, np.ndarray)
        self._nonzero = np.flatnonzero(network.weights != 0)
        self._surroundings = Surroundings(merged, self._nonzero)

    def around(self, e: int) -> Callable[[int, int], bool] | None:
        """Return a function of a factor and an amount; None if some walk replaces e.

        The function returns whether edges taken backwards, each up to its square times the factor, let that amount flow from
        the tail of e to its head without e.
        """
        merged, surroundings = self._merged, self._surroundings
        if merged.short_walk(e) is not None:
            return None
        side = surroundings.side_of(e)
        if side is None:
            return None if merged.walk(e) is not None else self._by_detours(e)
        if surroundings.walk(e, side) is not None:
            return None
        found = surroundings.around(e, side)
        if len(found.nodes) == 1 and found.nodes[0] != merged.terminal:
            # All edges that enter the node (leave it, if it is the head of e) lead outside, so their squares just add up.
            total = int(self._sums[side][found.nodes[0]])
            return lambda factor, amount: factor * total >= amount
        squares = _squares(self._network, found.backward)
        return lambda factor, amount: surroundings.flow(found, amount, squares * factor).value == amount

    def _by_detours(self, e: int) -> Callable[[int, int], bool]:
        detours = Detours(self._merged, e, self._nonzero)
        squares = _squares(self._network, detours.backward)
        return lambda factor, amount: detours.flow(amount, squares * factor).value == amount

    @cached_property
    def _sums(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Squares that enter and that leave each hidden node, times the denominator of the balance."""
        network = self._network
        assert isinstance(network.weights, np.ndarray)
        volume = volume_of_weights(network.tail, network.head, network.hidden, network.weights).astype(object)
        balance = network.require_balance().astype(object)
        return (volume + balance) // 2, (volume - balance) // 2


def _squares(network: Network, edges: npt.NDArray[np.integer[Any]]) -> npt.NDArray[Any]:
    """Return θ² of these edges times the denominator of the balance (which clears all squares), as integers."""
    assert isinstance(network.weights, np.ndarray)
    return np.array([int(Fraction(w) ** 2 * network.denominator) for w in network.weights[edges].tolist()], object)
