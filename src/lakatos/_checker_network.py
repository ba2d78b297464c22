"""What a certificate talks about: plain instance data, read as a graph with exact balances.

Standard library only, and written independently of `lakatos.graphs`: a misreading there and a misreading here would have to
coincide to go unnoticed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from typing import Any

from lakatos._checker_reading import Invalid, name, number, record, sequence, show

__all__ = ["LAYERED_KEYS", "NETWORK_KEYS", "Subject", "read_subject"]

NETWORK_KEYS = frozenset({"edges", "inputs", "outputs", "nodes", "balance"})
LAYERED_KEYS = frozenset({"widths", "balance", "bias"})

_MOST_EDGES = 10_000_000  # a layered network is written in a few characters and expanded here


@dataclass(frozen=True)
class Subject:
    """A directed multigraph whose hidden nodes have balances; edge e goes from ``tail[e]`` to ``head[e]``.

    `balance` is None if the data has neither balances nor weights, and 0 on terminals.
    """

    names: tuple[str, ...]
    tail: tuple[int, ...]
    head: tuple[int, ...]
    hidden: tuple[bool, ...]
    balance: tuple[Fraction, ...] | None
    weights: tuple[Fraction, ...] | None = None

    @property
    def c(self) -> tuple[Fraction, ...]:
        """The balances; `Invalid` if the data has none although there are hidden nodes."""
        if self.balance is not None:
            return self.balance
        if any(self.hidden):
            raise Invalid("fields: balance is missing, and the edges have no weights")
        return (Fraction(0),) * len(self.names)

    @cached_property
    def index(self) -> dict[str, int]:
        """Node numbers by name."""
        return {label: v for v, label in enumerate(self.names)}

    @cached_property
    def leaving(self) -> list[list[int]]:
        """For each node the edges that leave it."""
        edges: list[list[int]] = [[] for _ in self.names]
        for e, a in enumerate(self.tail):
            edges[a].append(e)
        return edges

    @cached_property
    def entering(self) -> list[list[int]]:
        """For each node the edges that enter it."""
        edges: list[list[int]] = [[] for _ in self.names]
        for e, b in enumerate(self.head):
            edges[b].append(e)
        return edges

    @cached_property
    def mirror(self) -> Subject:
        """All edges reversed and all balances negated.

        Bu = c is the same equation there, so P is the same polyhedron, and what leaves a set is what enters it here.
        """
        negated = None if self.balance is None else tuple(-c for c in self.balance)
        return Subject(self.names, self.head, self.tail, self.hidden, negated, self.weights)


def read_subject(fields: Any) -> Subject:
    """Return the network of ``{"edges": ...}`` or ``{"widths": ...}``.

    Raises
    ------
    Invalid
        If the data is not exactly such a network.
    """
    if isinstance(fields, Mapping) and "widths" in fields:
        fields = _layered(record(fields, "fields", frozenset({"widths"}), LAYERED_KEYS))
    record(fields, "fields", frozenset({"edges"}), NETWORK_KEYS)
    index: dict[str, int] = {}
    for node in sequence(_given(fields, "nodes", ()), "nodes"):
        index.setdefault(name(node, "nodes"), len(index))
    tail: list[int] = []
    head: list[int] = []
    weights: list[Fraction] = []
    for e, edge in enumerate(sequence(fields["edges"], "edges")):
        if len(sequence(edge, f"edges[{e}]")) not in (2, 3):
            raise Invalid(f"edges[{e}] has {len(edge)} entries: [tail, head] or [tail, head, weight] is needed")
        a, b = name(edge[0], f"edges[{e}]"), name(edge[1], f"edges[{e}]")
        if a == b:
            raise Invalid(f"edges[{e}]: a self-loop at {show(a)}")
        tail.append(index.setdefault(a, len(index)))
        head.append(index.setdefault(b, len(index)))
        if len(edge) == 3:
            weights.append(number(edge[2], f"edges[{e}][2]"))
    if not index:
        raise Invalid("edges: the network has no nodes")
    if weights and len(weights) < len(tail):
        raise Invalid("edges: some have weights and some have none")
    hidden = _hidden(fields, index, tail, head)
    given = _given(fields, "balance", None)
    if weights and given is not None:
        raise Invalid("balance: given beside weights, which define it")
    balance = _balance_of_weights(tail, head, hidden, weights) if weights else _balance(given, index, hidden)
    return Subject(tuple(index), tuple(tail), tuple(head), tuple(hidden), balance, tuple(weights) or None)


def _given(fields: Mapping[str, Any], key: str, default: Any) -> Any:
    value = fields.get(key)
    return default if value is None else value


def _hidden(fields: Mapping[str, Any], index: Mapping[str, int], tail: list[int], head: list[int]) -> list[bool]:
    """Return which nodes are no terminals. Undeclared, inputs are all sources and outputs all sinks that have an edge."""
    hidden = [True] * len(index)
    has_out, has_in = set(tail), set(head)
    for key, default in (("inputs", has_out - has_in), ("outputs", has_in - has_out)):
        declared = _given(fields, key, None)
        if declared is None:
            terminals = default
        else:
            labels = [name(node, key) for node in sequence(declared, key)]
            if len(set(labels)) < len(labels):
                raise Invalid(f"{key}: a node is listed twice")
            for label in labels:
                if label not in index:
                    raise Invalid(f"{key}: no node is called {show(label)}")
            terminals = {index[label] for label in labels}
        for v in terminals:
            hidden[v] = False
    return hidden


def _balance(given: Any, index: Mapping[str, int], hidden: list[bool]) -> tuple[Fraction, ...] | None:
    if given is None:
        return None
    if not isinstance(given, Mapping):
        raise Invalid(f"balance={show(given)}: an object from node names to numbers is needed")
    c: dict[int, Fraction] = {}
    for key, value in given.items():
        label = name(key, "balance")
        v = index.get(label)
        if v is None or not hidden[v]:
            raise Invalid(f"balance: {show(label)} is not a hidden node")
        if v in c:
            raise Invalid(f"balance: {show(label)} is given twice")
        c[v] = number(value, f"balance[{show(label)}]")
    if len(c) < sum(hidden):
        raise Invalid("balance: missing for a hidden node")
    return tuple(c.get(v, Fraction(0)) for v in range(len(hidden)))


def _balance_of_weights(
    tail: list[int], head: list[int], hidden: list[bool], weights: list[Fraction]
) -> tuple[Fraction, ...]:
    c = [Fraction(0)] * len(hidden)
    for a, b, w in zip(tail, head, weights, strict=True):
        square = w * w
        if hidden[a]:
            c[a] -= square
        if hidden[b]:
            c[b] += square
    return tuple(c)


def _layered(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the edges, terminals and balances of a dense layered network, in the documented order and with its names."""
    widths = sequence(fields["widths"], "widths")
    if len(widths) < 2 or any(type(width) is not int or width < 1 for width in widths):
        raise Invalid("widths: at least two positive integers are needed")
    bias = _given(fields, "bias", False)
    if not isinstance(bias, bool):
        raise Invalid(f"bias={show(bias)}: true or false is needed")
    if sum(a * b for a, b in pairwise(widths)) + sum(widths) > _MOST_EDGES:
        raise Invalid(f"widths: more than {_MOST_EDGES} edges")
    last = len(widths) - 1
    prefix = ["x", *(f"h{i}." for i in range(1, last)), "y"]
    layers = [[f"{prefix[i]}{k}" for k in range(width)] for i, width in enumerate(widths)]
    edges: list[tuple[str, str]] = []
    for i in range(last):
        edges += [(a, b) for a in layers[i] for b in layers[i + 1]]
        if bias:
            edges += [(f"b{i + 1}", b) for b in layers[i + 1]]
    inputs = layers[0] + [f"b{i + 1}" for i in range(last) if bias]
    rows = _given(fields, "balance", None)
    if rows is None:
        return {"edges": edges, "inputs": inputs, "outputs": layers[-1]}
    lengths = [len(sequence(row, "balance")) for row in sequence(rows, "balance")]
    if lengths != list(widths[1:-1]):
        raise Invalid("balance: the lengths of its rows are not the hidden widths")
    balance = {
        label: value
        for layer, row in zip(layers[1:-1], rows, strict=True)
        for label, value in zip(layer, row, strict=True)
    }
    return {"edges": edges, "inputs": inputs, "outputs": layers[-1], "balance": balance}
