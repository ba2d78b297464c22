"""Whether the invariant set of a network is connected, and which weights keep it apart.

The set H = {θ : Bθ² = c} is connected iff no weight is frozen; it has 2^(number of frozen weights) components. Its regular
part, which gradient flow never leaves, obeys the same count with strict inequalities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from ..core import Certificate
from .bottlenecks import OneSided, one_sided
from .certificates import empty_certificate, point_data, sparse_data, witness_data
from .feasibility import Side, Witness, feasible_point
from .margins import Margin, margin_of
from .network import Network
from .residual import Residual
from .structure import every_hidden_node_on_terminal_walk, is_acyclic

__all__ = ["Connectivity", "EdgeMinimum", "connectivity"]


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


@dataclass(frozen=True, eq=False)
class Connectivity:
    """Everything that was decided about the invariant set of `network`, with its certificate.

    Parameters
    ----------
    feasible : bool
        Whether the set is non-empty; if not, `empty_witness` shows it and nothing else is set.
    edges : tuple of EdgeMinimum
        The edges that were examined one by one; all others are neither frozen nor regular-frozen.
    regular_feasible : bool or None
        Whether the set has a regular point.
    margin : Margin or None
        For float weights: whether the answer survives their rounding.
    """

    network: Network
    feasible: bool
    empty_witness: Witness | None = None
    edges: tuple[EdgeMinimum, ...] = ()
    regular_feasible: bool | None = None
    certificate: Certificate = field(default=Certificate("", {}), repr=False)
    margin: Margin | None = None

    @cached_property
    def frozen_edges(self) -> tuple[int, ...]:
        """Edges whose weight never vanishes on the set; their signs tell the components apart."""
        return tuple(item.edge for item in self.edges if item.minimum > 0)

    @cached_property
    def regular_frozen_edges(self) -> tuple[int, ...]:
        """Edges whose weight never vanishes on the regular part."""
        return tuple(item.edge for item in self.edges if item.regular_frozen)

    @property
    def connected(self) -> bool | None:
        """Whether the set is connected; None if it is empty."""
        return not self.frozen_edges if self.feasible else None

    @property
    def log2_components(self) -> int | None:
        """Logarithm to base 2 of the number of components; None if the set is empty."""
        return len(self.frozen_edges) if self.feasible else None

    @property
    def regular_connected(self) -> bool | None:
        """Whether the regular part is connected; None if it is empty."""
        return not self.regular_frozen_edges if self.regular_feasible else None

    @property
    def regular_log2_components(self) -> int | None:
        """The count for the regular part; None if it is empty."""
        return len(self.regular_frozen_edges) if self.regular_feasible else None

    @cached_property
    def minima(self) -> Mapping[int, Fraction]:
        """Minimum of the squared weight for every frozen edge."""
        return {item.edge: item.minimum for item in self.edges if item.minimum > 0}

    @cached_property
    def out_bottlenecks(self) -> tuple[int, ...]:
        """Hidden nodes with exactly one outgoing edge."""
        return tuple(np.flatnonzero(self.network.hidden & (self.network.out_degree == 1)).tolist())

    @cached_property
    def in_bottlenecks(self) -> tuple[int, ...]:
        """Hidden nodes with exactly one incoming edge."""
        return tuple(np.flatnonzero(self.network.hidden & (self.network.in_degree == 1)).tolist())


def connectivity(network: Network) -> Connectivity:
    """Return whether the invariant set is connected, its frozen weights and their exact minima, with a certificate.

    Raises
    ------
    InputError
        If the network has no balance.

    Examples
    --------
    >>> result = connectivity(Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": -4}))
    >>> result.connected, result.frozen_edges, result.minima[2]
    (False, (2,), Fraction(4, 1))
    """
    point = feasible_point(network)
    if isinstance(point, Witness):
        return Connectivity(network, False, point, certificate=empty_certificate(network, point))
    by_degrees = is_acyclic(network) and every_hidden_node_on_terminal_walk(network)
    if by_degrees:
        singular, edges = None, _by_bottlenecks(network)
    else:
        residual = Residual(network, point)
        singular = residual.singular_witness()
        edges = [
            EdgeMinimum(
                s.edge,
                Fraction(s.minimum, network.denominator),
                s.regular_frozen,
                s.witness,
                {"change": sparse_data(network, s.change)},
            )
            for s in residual.settle(regular=singular is None)
        ]
    return Connectivity(
        network,
        True,
        None,
        tuple(edges),
        singular is None,
        Certificate(
            "connectivity",
            {
                "method": "degrees" if by_degrees else "residual",
                "point": point_data(network, point),
                "edges": [_edge_json(network, item) for item in edges],
                "regular": {
                    "nonempty": singular is None,
                    "witness": None if singular is None else witness_data(network, singular),
                },
            },
        ),
        margin_of(network),
    )


def _by_bottlenecks(network: Network) -> list[EdgeMinimum]:
    sides: dict[int, dict[Side, OneSided]] = {}
    for side in ("out", "in"):
        for result in one_sided(network, side):
            sides.setdefault(result.edge, {})[side] = result
    return [_merge(network, edge, sides[edge]) for edge in sorted(sides)]


def _merge(network: Network, edge: int, sides: Mapping[Side, OneSided]) -> EdgeMinimum:
    """Return the edge's minimum over both sides, with the critical set of the side that attains it."""
    side = max(sides, key=lambda s: (sides[s].minimum, len(sides[s].critical)))
    worst = sides[side]
    witness = None
    if worst.critical:
        witness = Witness(side, worst.critical, network.sum_of_balances(worst.critical))
    flows = {s: sparse_data(network, result.flow) for s, result in sides.items()}
    minimum = Fraction(worst.minimum, network.denominator)
    return EdgeMinimum(edge, minimum, witness is not None, witness, {"flows": flows})


def _edge_json(network: Network, item: EdgeMinimum) -> dict[str, Any]:
    return {
        "edge": item.edge,
        "minimum": str(item.minimum),
        "regular_frozen": item.regular_frozen,
        "witness": None if item.witness is None else witness_data(network, item.witness),
        **item.evidence,
    }
