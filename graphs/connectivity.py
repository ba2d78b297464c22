"""Whether the invariant set of a network is connected, and which weights keep it apart.

The set H = {θ : Bθ² = c} is connected iff no weight is frozen; it has 2^(number of frozen weights) components. Its regular
part, which gradient flow never leaves, obeys the same count with strict inequalities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import Certificate, Reason, Undecided
from .bottlenecks import Bottlenecks, one_sided
from .certificates import empty_certificate, sparse_data, witness_data
from .examined import ByDegrees, ByResidual, EdgeMinimum, Examined
from .feasibility import Side, SparsePoint, Witness, sparse_point
from .margins import Margin, margin_of
from .memory import available_memory, require_memory
from .network import Network
from .residual import Residual
from .structure import every_hidden_node_on_terminal_walk, is_acyclic

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Connectivity", "EdgeMinimum", "connectivity"]

_LARGE = 1 << 20  # edges, below which memory is not worth a look
_BYTES_PER_EDGE = 200  # measured: 25 to 170 beside the arrays of the network
_BYTES_PER_ENTRY = 200  # of a certificate: two short texts and their place in a dictionary


@dataclass(frozen=True, eq=False)
class Connectivity:
    """Everything that was decided about the invariant set of `network`, with its certificate.

    Parameters
    ----------
    feasible : bool
        Whether the set is non-empty; if not, `empty_witness` shows it and nothing else is set.
    point : SparsePoint or None
        Squares of a point of the set.
    examined : Examined or None
        The edges that were examined one by one, as arrays.
    singular_witness : Witness or None
        Shows, if the set has no regular point, that it has none.
    """

    network: Network
    feasible: bool
    empty_witness: Witness | None = None
    point: SparsePoint | None = field(default=None, repr=False)
    examined: Examined | None = field(default=None, repr=False)
    singular_witness: Witness | None = None

    @cached_property
    def edges(self) -> tuple[EdgeMinimum, ...]:
        """The edges that were examined one by one, each with its witness; no others are frozen or regular-frozen.

        Raises
        ------
        Undecided
            If there is not enough memory: witnesses that contain each other are all written out.
        """
        return () if self.examined is None else _items(self.examined)

    @cached_property
    def frozen_edges(self) -> tuple[int, ...]:
        """Edges whose weight never vanishes on the set; their signs tell the components apart."""
        return tuple(self.examined.edges[self.examined.minimum > 0].tolist()) if self.examined else ()

    @cached_property
    def regular_frozen_edges(self) -> tuple[int, ...]:
        """Edges whose weight never vanishes on the regular part."""
        return tuple(self.examined.edges[self.examined.regular_frozen].tolist()) if self.examined else ()

    @property
    def regular_feasible(self) -> bool | None:
        """Whether the set has a regular point; None if it is empty."""
        return self.singular_witness is None if self.feasible else None

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
        """Minimum of the squared weight for every frozen edge, in increasing order of edges."""
        if self.examined is None:
            return {}
        frozen = np.flatnonzero(self.examined.minimum > 0)
        edges, minima = self.examined.edges[frozen].tolist(), self.examined.minimum[frozen].tolist()
        return {e: Fraction(x, self.network.denominator) for e, x in zip(edges, minima, strict=True)}

    @cached_property
    def margin(self) -> Margin | None:
        """For float weights: whether the answer survives their rounding."""
        return margin_of(self.network) if self.feasible else None

    @cached_property
    def certificate(self) -> Certificate:
        """What proves all of this, as plain data.

        Raises
        ------
        Undecided
            As for `edges`.
        """
        if self.empty_witness is not None:
            return empty_certificate(self.network, self.empty_witness)
        assert self.point is not None
        assert self.examined is not None
        witness = self.singular_witness
        return Certificate(
            "connectivity",
            {
                "method": self.examined.method,
                "point": sparse_data(self.network, dict(self.point.items())),
                "edges": [_edge_json(self.network, item) for item in self.edges],
                "regular": {
                    "nonempty": witness is None,
                    "witness": None if witness is None else witness_data(self.network, witness),
                },
            },
        )

    @cached_property
    def out_bottlenecks(self) -> tuple[int, ...]:
        """Hidden nodes with exactly one outgoing edge."""
        return tuple(np.flatnonzero(self.network.hidden & (self.network.out_degree == 1)).tolist())

    @cached_property
    def in_bottlenecks(self) -> tuple[int, ...]:
        """Hidden nodes with exactly one incoming edge."""
        return tuple(np.flatnonzero(self.network.hidden & (self.network.in_degree == 1)).tolist())

    def plot(self, ax: Axes | None = None) -> Axes:
        """Return axes with a picture: locked weights, the neurons that keep them from zero, and single exits and entries.

        Up to 60 nodes each is drawn, in layers from left to right; larger networks as a row for each layer, with the share
        of the weights into it that are locked.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to draw; default: a new figure of a size that fits.

        Raises
        ------
        InputError
            If matplotlib is not installed.
        """
        from .picture import plot

        return plot(self, ax)

    def _repr_html_(self) -> str:
        from .notebook import connectivity_html

        return connectivity_html(self)

    def _repr_latex_(self) -> str | None:
        from .notebook import connectivity_latex

        return connectivity_latex(self)


def connectivity(network: Network) -> Connectivity:
    """Return whether the invariant set is connected, its frozen weights and their exact minima, with a certificate.

    Raises
    ------
    InputError
        If the network has no balance.
    Undecided
        If a large network takes more memory than there is.

    Examples
    --------
    >>> result = connectivity(Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": -4}))
    >>> result.connected, result.frozen_edges, result.minima[2]
    (False, (2,), Fraction(4, 1))
    """
    if network.edge_count > _LARGE:
        require_memory(_BYTES_PER_EDGE * network.edge_count, f"deciding a network of {network.edge_count} edges")
    point = sparse_point(network)
    if isinstance(point, Witness):
        return Connectivity(network, False, point)
    if is_acyclic(network) and every_hidden_node_on_terminal_walk(network):
        sides: dict[Side, Bottlenecks] = {"out": one_sided(network, "out"), "in": one_sided(network, "in")}
        return Connectivity(network, True, None, point, ByDegrees(network, sides))
    residual = Residual(network, point.dense(network.edge_count))
    singular = residual.singular_witness()
    examined = ByResidual(network, residual.settle(regular=singular is None))
    return Connectivity(network, True, None, point, examined, singular)


def _items(examined: Examined) -> tuple[EdgeMinimum, ...]:
    budget = available_memory() // _BYTES_PER_ENTRY
    items = []
    for i in range(len(examined.edges)):
        items.append(examined.item(i))
        budget -= items[-1].size
        if budget < 0:
            raise Undecided(
                Reason.MEMORY,
                f"the witnesses and flows of {len(items)} of {len(examined.edges)} edges, which contain each other, take all "
                "memory when written out",
            )
    return tuple(items)


def _edge_json(network: Network, item: EdgeMinimum) -> dict[str, Any]:
    return {
        "edge": item.edge,
        "minimum": str(item.minimum),
        "regular_frozen": item.regular_frozen,
        "witness": None if item.witness is None else witness_data(network, item.witness),
        **item.evidence,
    }
