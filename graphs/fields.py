"""Fields of instances that are networks: a list of edges, or the widths of a dense layered network."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import TypeAlias

from ..core import InputError
from ..exact import exact
from .layered import layered_network
from .network import Network, as_name

__all__ = ["Edge", "LayeredFields", "NetworkFields", "Node"]

Node: TypeAlias = str | int
"""How a node may be named; the fields hold the name as text."""

Edge: TypeAlias = tuple[Node, Node] | tuple[Node, Node, Fraction]
"""(tail, head) or (tail, head, weight)."""

_MOST_LAYERED_EDGES = 10_000_000


@dataclass(frozen=True)
class NetworkFields:
    """A network given by its edges, with names as text and exact numbers; see `Network.from_edges`.

    Parameters
    ----------
    edges : tuple of (tail, head) or (tail, head, weight)
        Edge numbers are positions in this tuple. Weights, given for all edges or none, define the balance.
    inputs, outputs : tuple of node names, optional
        Terminals. If left out: all nodes without incoming (outgoing) edges.
    balance : mapping from node name to Fraction, optional
        Incoming minus outgoing squared weight of every hidden node.
    nodes : tuple of node names
        Nodes that no edge mentions.

    Raises
    ------
    InputError
        Where the instance is built, if the fields do not make a network.

    Examples
    --------
    >>> NetworkFields(edges=(("x", "v"), ("v", "y")), balance={"v": Fraction(-1)}).network
    Network(nodes=3, edges=2, hidden=1)
    """

    edges: tuple[Edge, ...]
    inputs: tuple[Node, ...] | None = None
    outputs: tuple[Node, ...] | None = None
    balance: Mapping[str, Fraction] | None = field(default=None, hash=False)
    nodes: tuple[Node, ...] = ()

    def __post_init__(self) -> None:
        put = object.__setattr__
        put(self, "edges", tuple(_edge(e, edge) for e, edge in enumerate(self.edges)))
        for terminals in ("inputs", "outputs", "nodes"):
            if (names := getattr(self, terminals)) is not None:
                put(self, terminals, tuple(as_name(name, terminals) for name in names))
        if self.balance is not None:
            balance = {as_name(v, "balance"): exact(c, f"balance[{v!r}]") for v, c in self.balance.items()}
            if len(balance) < len(self.balance):
                raise InputError(f"balance: names {list(self.balance)!r} are not distinct as text; name each node once")
            put(self, "balance", balance)
        _ = self.network  # a list that makes no network is refused here, not where it is first used

    @cached_property
    def network(self) -> Network:
        """The network, built once."""
        return Network.from_edges(
            self.edges, inputs=self.inputs, outputs=self.outputs, balance=self.balance, nodes=self.nodes
        )


@dataclass(frozen=True)
class LayeredFields:
    """A dense layered network; see `layered_network` for the names of its nodes.

    Parameters
    ----------
    widths : tuple of int
        Number of inputs, of units in each hidden layer, and of outputs.
    balance : tuple of tuples of Fraction
        One row per hidden layer, one number per unit.
    bias : bool
        Whether units and outputs have a bias.

    Raises
    ------
    InputError
        Where the instance is built, if the fields do not make a network of at most ten million edges.

    Examples
    --------
    >>> LayeredFields(widths=(2, 3, 1), balance=((Fraction(1), Fraction(-1), Fraction(0)),)).network
    Network(nodes=6, edges=9, hidden=3)
    """

    widths: tuple[int, ...]
    balance: tuple[tuple[Fraction, ...], ...]
    bias: bool = False

    def __post_init__(self) -> None:
        # A few digits in a file can ask for more edges than memory holds, so they are counted before they are made.
        count = sum(a * b for a, b in zip(self.widths, self.widths[1:], strict=False))
        if count > _MOST_LAYERED_EDGES:
            raise InputError(
                f"widths={list(self.widths)!r}: {count} edges; layered networks of at most {_MOST_LAYERED_EDGES} are read"
            )
        rows = enumerate(self.balance)
        balance = tuple(tuple(exact(c, f"balance[{i}][{j}]") for j, c in enumerate(row)) for i, row in rows)
        object.__setattr__(self, "widths", tuple(self.widths))
        object.__setattr__(self, "balance", balance)
        _ = self.network

    @cached_property
    def network(self) -> Network:
        """The network, built once."""
        return layered_network(self.widths, self.balance, bias=self.bias)


def _edge(e: int, edge: Edge) -> Edge:
    if len(edge) not in (2, 3):
        return edge  # refused by `Network.from_edges`
    tail, head = as_name(edge[0], f"edges[{e}]"), as_name(edge[1], f"edges[{e}]")
    return (tail, head) if len(edge) == 2 else (tail, head, exact(edge[2], f"edges[{e}][2]"))
