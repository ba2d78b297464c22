"""A network graph with declared terminals and exact balances.

Nodes are numbered 0..n-1 and edges 0..m-1 in input order. Terminals (inputs, outputs, bias sources) have no balance; all
other nodes are hidden. Parallel edges are distinct parameters.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import InputError
from ..exact import exact
from .adjacency import Adjacency, topological_order_of
from .balances import Weights, balance_of_weights, read_balance
from .names import NumberNames, as_name, index_of_names, some
from .stretches import Stretch, degrees, first_edges, stretches

__all__ = ["BoolArray", "IntArray", "Network", "as_name", "balance_of_weights"]

IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

_MOST_NODES = 1 << 31  # node numbers that searches in sparse matrices can hold


@dataclass(frozen=True, eq=False, repr=False)
class Network:
    """A directed multigraph with terminals and, unless unset, a balance for every hidden node.

    Parameters
    ----------
    names : sequence of str, length n
        Node names, distinct.
    tail, head : int64 arrays, shape (m,)
        Edge e goes from node ``tail[e]`` to node ``head[e]``.
    hidden : bool array, shape (n,)
        False for terminals.
    inputs, outputs : int64 arrays
        The terminals, in the order declared. A node may be both.
    numerators : int64 or object array, shape (n,), or None
        Balance of node v is ``numerators[v] / denominator``; 0 on terminals.
    denominator : int
        Common denominator, positive.
    weights : sequence of Fraction or float64 array, shape (m,), or None
        Edge weights if known. Floats are exact dyadic numbers.
    rounding : float or None
        If the weights are floats: the relative rounding error of their type (half a unit in the last place).
    notices : tuple of str
        What the reader of a result about this network has to know, e.g. operations of a model that became terminals.
    """

    names: Sequence[str]
    tail: IntArray
    head: IntArray
    hidden: BoolArray
    inputs: IntArray
    outputs: IntArray
    numerators: npt.NDArray[Any] | None = None
    denominator: int = 1
    weights: Weights | None = None
    rounding: float | None = None
    notices: tuple[str, ...] = ()

    @classmethod
    def from_edges(
        cls,
        edges: Iterable[Sequence[Any]],
        *,
        inputs: Iterable[Hashable] | None = None,
        outputs: Iterable[Hashable] | None = None,
        balance: Mapping[Any, Any] | None = None,
        nodes: Iterable[Hashable] = (),
    ) -> Network:
        """Return the network with these edges.

        Parameters
        ----------
        edges : iterable of (tail, head) or (tail, head, weight)
            Weights, if given, must be given for all edges; they then define the balance.
        inputs, outputs : iterable of node names, optional
            Terminals. If left out: all nodes without incoming (outgoing) edges.
        balance : mapping from node name to number, optional
            Integers, ``Fraction`` or strings ``"p/q"`` or decimals; floats are their exact dyadic value.
        nodes : iterable of node names, optional
            Nodes that no edge mentions.

        Raises
        ------
        InputError
            Naming the field: self-loops, unknown or missing nodes, weights for some edges only, non-finite numbers.

        Examples
        --------
        >>> G = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": -1})
        >>> G.hidden_names, G.balance("v")
        (('v',), Fraction(-1, 1))
        """
        edge_list = list(edges)
        if any(len(edge) not in (2, 3) for edge in edge_list):
            bad = next(i for i, edge in enumerate(edge_list) if len(edge) not in (2, 3))
            raise InputError(f"edges[{bad}]={list(edge_list[bad])!r}: an edge is [tail, head] or [tail, head, weight]")
        index: dict[str, int] = {}
        for name in nodes:
            index.setdefault(as_name(name, "nodes"), len(index))
        tail = np.empty(len(edge_list), np.int64)
        head = np.empty(len(edge_list), np.int64)
        for e, edge in enumerate(edge_list):
            a, b = as_name(edge[0], f"edges[{e}]"), as_name(edge[1], f"edges[{e}]")
            if a == b:
                raise InputError(f"edges[{e}]={[a, b]!r}: self-loops are not allowed; a weight joins two nodes")
            tail[e] = index.setdefault(a, len(index))
            head[e] = index.setdefault(b, len(index))
        names = tuple(index)
        sources = _named_terminals(inputs, "inputs", names, index)
        sinks = _named_terminals(outputs, "outputs", names, index)
        return cls._assemble(names, tail, head, sources, sinks, balance, _weights(edge_list))

    @classmethod
    def from_arrays(
        cls,
        tail: npt.ArrayLike,
        head: npt.ArrayLike,
        *,
        inputs: npt.ArrayLike | None = None,
        outputs: npt.ArrayLike | None = None,
        weights: npt.NDArray[np.floating[Any]] | None = None,
        balance: Mapping[Any, Any] | npt.NDArray[np.integer[Any]] | None = None,
        names: Sequence[str] | None = None,
    ) -> Network:
        """Return the network with integer node numbers; names default to the numbers.

        The arrays are kept, not copied. The balance is as in `from_edges`, or an integer array of shape (n,), 0 on terminals.

        Parameters
        ----------
        tail, head : array of integers, shape (m,)
            The nodes that each edge leaves and enters.
        inputs, outputs : array of integers, optional
            Numbers of the terminals; if left out, all nodes without incoming (outgoing) edges.
        weights : array of floats, shape (m,), optional
            They define the balance.

        Raises
        ------
        InputError
            As `from_edges`; also for arrays of different lengths or node numbers that are negative or too large.

        Examples
        --------
        >>> G = Network.from_arrays([0, 1], [1, 2], balance=np.array([0, -1, 0]))
        >>> G.hidden_names, G.balance("1")
        (('1',), Fraction(-1, 1))
        """
        t, h = _node_numbers(tail, "tail"), _node_numbers(head, "head")
        if t.shape != h.shape:
            raise InputError(
                f"head has shape {h.shape}, tail has shape {t.shape}: both list the same edges, one entry each"
            )
        if (loops := np.flatnonzero(t == h)).size:
            raise InputError(f"edges[{loops[0]}]={[int(t[loops[0]])] * 2!r}: self-loops are not allowed")
        sources = None if inputs is None else _node_numbers(inputs, "inputs")
        sinks = None if outputs is None else _node_numbers(outputs, "outputs")
        numbers = [array for array in (t, h, sources, sinks) if array is not None and array.size]
        count = max((int(array.max()) + 1 for array in numbers), default=0)
        label: Sequence[str] = NumberNames(count) if names is None else tuple(names)
        if len(label) < count:
            raise InputError(
                f"names: {len(label)} entries, but node number {count - 1} occurs; give a name for each node"
            )
        if names is not None:
            index_of_names(label)
        w = None
        if weights is not None:
            w = np.asarray(weights)
            if w.shape != t.shape:
                raise InputError(f"weight has shape {w.shape}, tail has shape {t.shape}: one weight per edge")
            if not np.isfinite(w).all():
                bad = int(np.flatnonzero(~np.isfinite(w))[0])
                raise InputError(f"weight[{bad}]={w[bad]!r}: weights must be finite")
        return cls._assemble(label, t, h, sources, sinks, balance, w)

    @classmethod
    def _assemble(
        cls,
        names: Sequence[str],
        tail: IntArray,
        head: IntArray,
        inputs: IntArray | None,
        outputs: IntArray | None,
        balance: Mapping[Any, Any] | npt.NDArray[np.integer[Any]] | None,
        weights: Any,
    ) -> Network:
        n = len(names)
        if n == 0:
            raise InputError("edges=[]: the network has no nodes")
        parts = stretches(tail, head)
        out, into = degrees(tail, head, parts, n)
        sources = np.flatnonzero((out > 0) & (into == 0)) if inputs is None else inputs
        sinks = np.flatnonzero((into > 0) & (out == 0)) if outputs is None else outputs
        hidden = np.ones(n, bool)
        for field, terminals in (("inputs", sources), ("outputs", sinks)):
            node, times = np.unique(terminals, return_counts=True)
            if (twice := node[times > 1]).size:
                raise InputError(f"{field}: node {names[int(twice[0])]!r} is listed twice")
            hidden[terminals] = False
        rounding = None
        numerators: npt.NDArray[Any] | None = None
        denominator = 1
        if weights is not None:
            if balance is not None:
                raise InputError("balance: given beside weights, which already define it; leave one of them out")
            if isinstance(weights, np.ndarray):
                rounding = float(np.finfo(weights.dtype).eps) / 2
            numerators, denominator = balance_of_weights(tail, head, hidden, weights, parts)
            if isinstance(weights, np.ndarray):
                weights = weights.astype(np.float64, copy=False)
        elif balance is not None:
            numerators, denominator = read_balance(balance, names, hidden)
        network = cls(names, tail, head, hidden, sources, sinks, numerators, denominator, weights, rounding)
        network.__dict__.update(stretches=parts, _degrees=(out, into))  # they need not be found twice
        return network

    def with_balance(self, balance: Mapping[Any, Any] | npt.NDArray[np.integer[Any]]) -> Network:
        """Return the same graph with this balance (and without weights)."""
        numerators, denominator = read_balance(balance, self.names, self.hidden)
        return replace(self, numerators=numerators, denominator=denominator, weights=None, rounding=None)

    @property
    def node_count(self) -> int:
        """Number of nodes n."""
        return len(self.names)

    @property
    def edge_count(self) -> int:
        """Number of edges m."""
        return len(self.tail)

    @cached_property
    def hidden_nodes(self) -> IntArray:
        """Numbers of the hidden nodes, increasing."""
        return np.flatnonzero(self.hidden)

    @property
    def hidden_names(self) -> tuple[str, ...]:
        """Names of the hidden nodes."""
        return tuple(self.names[v] for v in self.hidden_nodes)

    @cached_property
    def stretches(self) -> tuple[Stretch, ...]:
        """Where the edges come in dense blocks."""
        return stretches(self.tail, self.head)

    @property
    def out_degree(self) -> IntArray:
        """Number of outgoing edges of each node, with multiplicity."""
        return self._degrees[0]

    @property
    def in_degree(self) -> IntArray:
        """Number of incoming edges of each node, with multiplicity."""
        return self._degrees[1]

    @cached_property
    def _degrees(self) -> tuple[IntArray, IntArray]:
        return degrees(self.tail, self.head, self.stretches, self.node_count)

    @property
    def has_zero_weight(self) -> bool:
        """Whether a weight is known to be 0."""
        if isinstance(self.weights, np.ndarray):
            return bool((self.weights == 0).any())
        return self.weights is not None and not all(self.weights)

    @property
    def first_out_edge(self) -> IntArray:
        """The first edge that leaves each node, -1 without one: its only one if the out-degree is 1."""
        return self._first_edges[0]

    @property
    def first_in_edge(self) -> IntArray:
        """The first edge that enters each node, -1 without one."""
        return self._first_edges[1]

    @cached_property
    def _first_edges(self) -> tuple[IntArray, IntArray]:
        return first_edges(self.tail, self.head, self.stretches, self.node_count)

    @cached_property
    def outgoing(self) -> Adjacency:
        """Edges grouped by their tails."""
        return Adjacency.by(self.tail, self.node_count)

    @cached_property
    def incoming(self) -> Adjacency:
        """Edges grouped by their heads."""
        return Adjacency.by(self.head, self.node_count)

    @cached_property
    def order(self) -> IntArray | None:
        """The nodes so that every edge points forward, None if there is a directed cycle."""
        return topological_order_of(self.node_count, self.tail, self.head)

    def require_balance(self) -> npt.NDArray[Any]:
        """Return the numerators of the balance, or raise InputError if the network has none."""
        if self.numerators is None:
            raise InputError("balance: missing; give a balance for every hidden node, or weights for all edges")
        return self.numerators

    def balance(self, name: str) -> Fraction:
        """Return the balance of the hidden node called `name`."""
        return Fraction(int(self.require_balance()[self.names.index(name)]), self.denominator)

    def sum_of_balances(self, nodes: Iterable[int]) -> Fraction:
        """Return the exact sum of the balances of `nodes` (numbers)."""
        c = self.require_balance()
        return Fraction(sum(int(c[v]) for v in nodes), self.denominator)

    def describe_edge(self, e: int) -> str:
        """Return ``tail→head`` by names."""
        return f"{self.names[self.tail[e]]}→{self.names[self.head[e]]}"

    def to_fields(self) -> dict[str, Any]:
        """Return plain data: the fields of an instance file, exact numbers as strings."""
        pairs = [[self.names[a], self.names[b]] for a, b in zip(self.tail, self.head, strict=True)]
        fields: dict[str, Any] = {
            "edges": pairs,
            "inputs": [self.names[v] for v in self.inputs],
            "outputs": [self.names[v] for v in self.outputs],
        }
        mentioned = (self.out_degree + self.in_degree) > 0
        if lonely := [self.names[v] for v in np.flatnonzero(~mentioned).tolist()]:
            fields["nodes"] = lonely
        if self.weights is not None:
            fields["edges"] = [[*pair, str(exact(w, "weight"))] for pair, w in zip(pairs, self.weights, strict=True)]
        elif self.numerators is not None:
            fields["balance"] = {
                self.names[v]: str(Fraction(int(self.numerators[v]), self.denominator)) for v in self.hidden_nodes
            }
        return fields

    def _repr_html_(self) -> str:
        from .notebook import network_html

        return network_html(self)

    def __repr__(self) -> str:
        return f"Network(nodes={self.node_count}, edges={self.edge_count}, hidden={len(self.hidden_nodes)})"


def _weights(edges: Sequence[Sequence[Any]]) -> Weights | None:
    weighted = sum(len(edge) == 3 for edge in edges)
    if weighted == 0:
        return None
    if weighted < len(edges):
        bare = next(i for i, edge in enumerate(edges) if len(edge) == 2)
        raise InputError(f"edges[{bare}]={list(edges[bare])!r}: has no weight, but others do; give all or none")
    values = [edge[2] for edge in edges]
    if all(isinstance(value, float) for value in values):
        array = np.array(values, np.float64)
        if np.isfinite(array).all():
            return array
    return [exact(value, f"edges[{e}][2]") for e, value in enumerate(values)]


def _named_terminals(
    given: Iterable[Hashable] | None, field: str, names: Sequence[str], index: Mapping[str, int]
) -> IntArray | None:
    if given is None:
        return None
    listed = [as_name(name, field) for name in given]
    if unknown := [name for name in listed if name not in index]:
        raise InputError(f"{field}={unknown[:5]!r}: no such node; known are {some(names)}")
    return np.array([index[name] for name in listed], np.int64)


def _node_numbers(values: npt.ArrayLike, field: str) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise InputError(f"{field}: a one-dimensional integer array is needed, got {array.dtype} {array.shape}")
    if array.size and array.min() < 0:
        raise InputError(f"{field}: node number {int(array.min())} is negative")
    if array.size and array.max() >= _MOST_NODES:
        raise InputError(f"{field}: node number {int(array.max())}; numbers below {_MOST_NODES} are possible")
    return array.astype(np.int64, copy=False)
