"""Whether the frozen weights stay the same when float weights move within their rounding error."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from .bottlenecks import one_sided
from .feasibility import Side
from .flows import max_flow
from .network import Network
from .structure import every_hidden_node_on_terminal_walk, is_acyclic, merged_ends, reachable

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
    inverse = round(1 / rounding)
    c = [int(x) for x in network.require_balance()]
    volume = _volumes(network)
    shifted = {
        sign: np.array([(inverse**2 + 1) * x + sign * 2 * inverse * y for x, y in zip(c, volume, strict=True)], object)
        for sign in (-1, 1)
    }
    possible: set[int] = set()
    certain: set[int] = set()
    sides: tuple[tuple[Side, int], ...] = (("out", -1), ("in", 1))
    for side, favorable in sides:
        possible |= {b.edge for b in one_sided(network, side, shifted[favorable]) if b.minimum}
        certain |= {b.edge for b in one_sided(network, side, shifted[-favorable]) if b.minimum}
    return sorted(possible - certain)


def _volumes(network: Network) -> list[int]:
    """Return Σ θ² over all edges at each hidden node, times the denominator of the balance; 0 on terminals."""
    volume = [0] * network.node_count
    hidden = network.hidden.tolist()
    for a, b, square in zip(network.tail.tolist(), network.head.tolist(), _squares(network), strict=True):
        if hidden[a]:
            volume[a] += square
        if hidden[b]:
            volume[b] += square
    return volume


def _squares(network: Network) -> list[int]:
    """Return θ² times the denominator of the balance (which is a square) as integers."""
    assert network.weights is not None
    weights = network.weights.tolist() if isinstance(network.weights, np.ndarray) else network.weights
    return [int(Fraction(w) ** 2 * network.denominator) for w in weights]


def _by_residual_flows(network: Network, rounding: float) -> list[int]:
    """Decide every edge on the point u = θ² with residual capacities at both ends of their intervals."""
    inverse = round(1 / rounding)
    low, high = (inverse - 1) ** 2, (inverse + 1) ** 2
    u = np.array(_squares(network), object)
    tail, head = merged_ends(network)
    count = network.node_count + 1
    sensitive = []
    for e in np.flatnonzero((u > 0) & (tail != head)).tolist():
        others = (np.arange(len(u)) != e) & (tail != head)
        if reachable(count, tail[others], head[others], int(tail[e]))[head[e]]:
            continue
        forward = np.flatnonzero(others)
        backward = forward[u[forward] > 0]
        frozen = []
        for back, demand in ((low, int(u[e]) * high), (high, int(u[e]) * low)):
            flow = max_flow(
                count + 1,
                np.concatenate([[count], tail[forward], head[backward]]),
                np.concatenate([[tail[e]], head[forward], tail[backward]]),
                np.concatenate([np.array([demand, *[demand] * len(forward)], object), u[backward] * back]),
                count,
                int(head[e]),
            )
            frozen.append(flow.value < demand)
        if frozen[0] != frozen[1]:
            sensitive.append(e)
    return sensitive
