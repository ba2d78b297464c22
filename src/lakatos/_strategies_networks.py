"""Hypothesis strategies for networks and balances; see `lakatos.testing`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

from hypothesis import strategies as st

from .core import InputError
from .graphs.layered import layered_network
from .graphs.network import Network

__all__ = [
    "Fields",
    "at_least",
    "balanced_dags",
    "balanced_layers",
    "balanced_multigraphs",
    "balances",
    "dags",
    "layered_dags",
    "multigraphs",
    "plain_number",
    "small_fractions",
    "weighted_dags",
]

Fields: TypeAlias = dict[str, Any]
"""Arguments of `lakatos.Network.from_edges`."""

Edges: TypeAlias = list[list[str]]

_LARGEST_NUMERATOR = 4
_DENOMINATORS = (1, 1, 1, 2, 3, 10)  # mostly integers; 10 for the decimals that floats get wrong


def dags(
    *,
    max_hidden: int = 4,
    max_edges: int = 9,
    max_terminals: int = 2,
    dead_ends: bool = False,
    parallel_edges: bool = True,
) -> st.SearchStrategy[Fields]:
    """Return a strategy for acyclic networks without balances: ``edges``, ``inputs``, ``outputs`` and perhaps ``nodes``.

    Unless `dead_ends`, every hidden node has an incoming and an outgoing edge. Edges come in any order, so that the numbering
    of the nodes need not be topological. Edges from input to output occur.

    Parameters
    ----------
    max_hidden, max_edges : int
        At least 1 and 2. There are at most ``max_edges // 2`` hidden nodes in any case.
    max_terminals : int
        Largest number of inputs, and of outputs.
    dead_ends : bool
        Allow hidden nodes that lack incoming or outgoing edges, or both.
    parallel_edges : bool
        Allow several edges from one node to another.

    Raises
    ------
    InputError
        If a bound is too small.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(dags(), lambda fields: len(fields["edges"]) > 1)
    {'edges': [['x1', 'h1'], ['h1', 'y1']], 'inputs': ['x1'], 'outputs': ['y1']}
    """
    at_least(1, max_hidden=max_hidden, max_terminals=max_terminals)
    at_least(2, max_edges=max_edges)
    return _networks(
        min_hidden=1,
        max_hidden=min(max_hidden, max_edges // 2),
        max_edges=max_edges,
        max_terminals=max_terminals,
        dead_ends=dead_ends,
        parallel_edges=parallel_edges,
        backward=False,
    )


def multigraphs(
    *,
    max_hidden: int = 3,
    max_edges: int = 7,
    max_terminals: int = 2,
    dead_ends: bool = True,
    parallel_edges: bool = True,
) -> st.SearchStrategy[Fields]:
    """Return a strategy for arbitrary networks without balances.

    Cycles, dead ends, isolated hidden nodes, hidden nodes cut off from all terminals, edges from input to output, edges into
    inputs and out of outputs, networks without hidden nodes and networks without terminals all occur.

    Parameters
    ----------
    max_hidden, max_edges, max_terminals : int
        At least 0, 1 and 1. `max_terminals` bounds the inputs, and the outputs.
    dead_ends : bool
        Allow hidden nodes that are on no walk from terminal to terminal.
    parallel_edges : bool
        Allow several edges from one node to another.

    Raises
    ------
    InputError
        If a bound is too small.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(multigraphs(), lambda fields: ["h2", "h1"] in fields["edges"])
    {'edges': [['h2', 'h1']], 'inputs': [], 'outputs': []}
    """
    at_least(0, max_hidden=max_hidden)
    at_least(1, max_edges=max_edges, max_terminals=max_terminals)
    return _networks(
        min_hidden=0,
        max_hidden=max_hidden if dead_ends else min(max_hidden, max_edges // 2),
        max_edges=max_edges,
        max_terminals=max_terminals,
        dead_ends=dead_ends,
        parallel_edges=parallel_edges,
        backward=True,
    )


def layered_dags(
    *, max_width: int = 3, max_hidden_layers: int = 3, bias: bool | None = None
) -> st.SearchStrategy[Fields]:
    """Return a strategy for dense layered networks with balances; layers of width one are common.

    Nodes are called as in `lakatos.graphs.layered.layered_network`.

    Parameters
    ----------
    max_width, max_hidden_layers : int
        At least 1. `max_width` bounds the numbers of inputs and outputs too.
    bias : bool or None
        Whether there are bias sources; both occur if None.

    Raises
    ------
    InputError
        If a bound is too small.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(layered_dags(), lambda fields: "h1.1" in fields["balance"])["edges"]
    [['x0', 'h1.0'], ['x0', 'h1.1'], ['h1.0', 'y0'], ['h1.1', 'y0']]
    """
    at_least(1, max_width=max_width, max_hidden_layers=max_hidden_layers)
    widths = st.lists(st.integers(1, max_width), min_size=3, max_size=max_hidden_layers + 2)
    biases = st.booleans() if bias is None else st.just(bias)
    return st.builds(layered_network, widths, bias=biases).map(Network.to_fields).flatmap(_with_balance)


def balanced_layers(*, max_width: int = 3, max_hidden_layers: int = 3, bias: bool = False) -> st.SearchStrategy[Fields]:
    """Return a strategy for dense layered networks as ``widths`` and rows of ``balance``; widths of one are common.

    These are the fields of `lakatos.graphs.fields.LayeredFields`.

    Parameters
    ----------
    max_width, max_hidden_layers : int
        At least 1. `max_width` bounds the numbers of inputs and outputs too.
    bias : bool
        Whether units and outputs have a bias.

    Raises
    ------
    InputError
        If a bound is too small.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(balanced_layers(), lambda fields: fields["balance"][0][0] != 0)
    {'widths': [1, 1, 1], 'balance': [[1]]}
    """
    at_least(1, max_width=max_width, max_hidden_layers=max_hidden_layers)
    width = st.integers(1, max_width)
    rows = st.lists(small_fractions(), min_size=1, max_size=max_width)
    made = st.builds(
        lambda ends, balance: {"widths": [ends[0], *map(len, balance), ends[1]], "balance": balance},
        st.tuples(width, width),
        st.lists(rows, min_size=1, max_size=max_hidden_layers),
    )
    return made.map(lambda fields: {**fields, "bias": True}) if bias else made


@st.composite
def balances(
    draw: st.DrawFn,
    edges: Sequence[Sequence[Any]],
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
    nodes: Iterable[str] = (),
) -> dict[str, int | str]:
    """Return a strategy for balances of a network: a number for every hidden node.

    Half of them are free small integers over a common denominator, so that sums that vanish are common, and the set of
    solutions may be empty. The other half are balances of small squared weights, many of them zero, so never empty.

    Parameters
    ----------
    edges : sequence of [tail, head]
        Of the network; `inputs`, `outputs` and further `nodes` as in `lakatos.Network.from_edges`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(balances([["x", "h"], ["h", "y"]], inputs=["x"], outputs=["y"]), lambda balance: balance["h"] != 0)
    {'h': 1}
    """
    terminals = {*inputs, *outputs}
    hidden = [v for v in dict.fromkeys([*(v for edge in edges for v in edge[:2]), *nodes]) if v not in terminals]
    numerators = dict.fromkeys(hidden, 0)
    if draw(st.booleans()):
        for a, b, *_ in edges:
            square = draw(st.sampled_from([0, 0, 1, 2, 4]))
            for v, change in ((a, -square), (b, square)):
                if v in numerators:
                    numerators[v] += change
    else:
        for v in hidden:
            numerators[v] = draw(st.integers(-_LARGEST_NUMERATOR, _LARGEST_NUMERATOR))
    denominator = draw(st.sampled_from(_DENOMINATORS))
    return {v: plain_number(Fraction(numerator, denominator)) for v, numerator in numerators.items()}


def balanced_dags(**options: Any) -> st.SearchStrategy[Fields]:
    """Return a strategy for acyclic networks with balances; the options are those of `dags`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(balanced_dags(), lambda fields: fields["balance"]["h1"] != 0)
    {'edges': [['x1', 'h1'], ['h1', 'y1']], 'inputs': ['x1'], 'outputs': ['y1'], 'balance': {'h1': 1}}
    """
    return dags(**options).flatmap(_with_balance)


def balanced_multigraphs(**options: Any) -> st.SearchStrategy[Fields]:
    """Return a strategy for arbitrary networks with balances; the options are those of `multigraphs`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(balanced_multigraphs(), lambda fields: any(value != 0 for value in fields["balance"].values()))
    {'edges': [], 'inputs': [], 'outputs': [], 'nodes': ['h1'], 'balance': {'h1': 1}}
    """
    return multigraphs(**options).flatmap(_with_balance)


def _with_balance(fields: Fields) -> st.SearchStrategy[Fields]:
    return balances(**fields).map(lambda balance: {**fields, "balance": balance})


def weighted_dags(**options: Any) -> st.SearchStrategy[Fields]:
    """Return a strategy for acyclic networks with exact weights, zeros among them; the options are those of `dags`.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(weighted_dags(), lambda fields: all(weight != 0 for _, _, weight in fields["edges"]))
    {'edges': [['x1', 'h1', 1], ['h1', 'y1', 1]], 'inputs': ['x1'], 'outputs': ['y1']}
    """
    return dags(**options).flatmap(_with_weights)


@st.composite
def _with_weights(draw: st.DrawFn, fields: Fields) -> Fields:
    return {**fields, "edges": [[*edge, draw(small_fractions())] for edge in fields["edges"]]}


@st.composite
def _networks(
    draw: st.DrawFn,
    *,
    min_hidden: int,
    max_hidden: int,
    max_edges: int,
    max_terminals: int,
    dead_ends: bool,
    parallel_edges: bool,
    backward: bool,
) -> Fields:
    # One entry per hidden node and choices relative to it, so that a node can be deleted from the middle while shrinking.
    choice = st.integers(0, max_hidden + max_terminals)
    choices = st.none() | choice if dead_ends else choice
    drawn = draw(st.lists(st.tuples(choices, choices), min_size=min_hidden, max_size=max_hidden))
    hidden = _names("h", len(drawn))
    inputs, outputs = _names("x", max_terminals), _names("y", max_terminals)
    edges: Edges = []
    for i, (back, _) in enumerate(drawn):
        if back is not None:
            # The previous node comes first: the simplest network is a chain.
            tails = [*reversed(hidden[:i]), *inputs]
            edges.append([tails[back % len(tails)], hidden[i]])
    for i, (_, ahead) in enumerate(drawn):
        if ahead is not None and hidden[i] not in (tail for tail, _ in edges):
            heads = outputs + hidden[i + 1 :]
            edges.append([hidden[i], heads[ahead % len(heads)]])
    edges = edges[:max_edges]
    pairs = _pairs(inputs, hidden, outputs, backward)
    # Without hidden nodes an edge is needed, since a network has at least one node.
    edges += draw(_edge_lists(pairs, edges, 0 if hidden else 1, max_edges - len(edges), parallel_edges))
    return _fields(draw(st.just(edges) | st.permutations(edges)), inputs, hidden, outputs)


def _pairs(inputs: list[str], hidden: list[str], outputs: list[str], backward: bool) -> Edges:
    """Return the possible edges. A further hidden node adds at the end, so that nodes can shrink away below edges."""
    groups = []
    for k, v in enumerate(hidden):
        forward = [[a, v] for a in inputs + hidden[:k]] + [[v, b] for b in outputs]
        groups.append(forward + ([[b, a] for a, b in forward] if backward else []))
    groups.insert(1, [[a, b] for a in inputs for b in outputs])
    return [pair for group in groups for pair in group]


def _edge_lists(
    pairs: Edges, used: Edges, min_size: int, max_size: int, parallel_edges: bool
) -> st.SearchStrategy[Edges]:
    """Return a strategy for lists of `pairs`; without parallel edges they are distinct, and none is `used`."""
    if parallel_edges:
        return st.lists(st.sampled_from(pairs), min_size=min_size, max_size=max_size)
    free = [(a, b) for a, b in pairs if [a, b] not in used]
    if not free:
        return st.just([])
    distinct = st.lists(st.sampled_from(free), min_size=min_size, max_size=min(max_size, len(free)), unique=True)
    return distinct.map(lambda chosen: [[a, b] for a, b in chosen])


def _fields(edges: Edges, inputs: list[str], hidden: list[str], outputs: list[str]) -> Fields:
    """Return the plain data, with the terminals that occur."""
    joined = {v for edge in edges for v in edge}
    fields: Fields = {
        "edges": [list(edge) for edge in edges],
        "inputs": [v for v in inputs if v in joined],
        "outputs": [v for v in outputs if v in joined],
    }
    isolated = [v for v in hidden if v not in joined]
    return {**fields, "nodes": isolated} if isolated else fields


def _names(prefix: str, count: int) -> list[str]:
    return [f"{prefix}{i}" for i in range(1, count + 1)]


def small_fractions(*, min_numerator: int = -_LARGEST_NUMERATOR) -> st.SearchStrategy[int | str]:
    """Return a strategy for small rationals as plain numbers, zero and ties among them."""
    numerators = st.integers(min_numerator, _LARGEST_NUMERATOR)
    return st.builds(Fraction, numerators, st.sampled_from(_DENOMINATORS)).map(plain_number)


def plain_number(number: Fraction) -> int | str:
    """Return `number` as an integer or a text ``"p/q"``."""
    return int(number) if number.denominator == 1 else str(number)


def at_least(least: int, **bounds: int) -> None:
    """Raise InputError, naming the bound, unless all `bounds` are at least `least`."""
    for name, bound in bounds.items():
        if bound < least:
            raise InputError(f"{name}={bound!r}: must be at least {least}; raise it")
