"""Exact algorithms against plain enumeration from the definition; `tests/README.md` lists which stands against which."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from lakatos import Network, connectivity
from lakatos.graphs import flows
from lakatos.graphs.structure import every_hidden_node_on_terminal_walk, is_acyclic, topological_order
from lakatos.testing import dags, multigraphs

WEIGHTS = st.sampled_from([0.0, 0.5, 1.0, -1.0, 1.5, 2.0, 1.0 + 2**-52, 1.0 - 2**-53, -3.0])


def subsets(items: range) -> Iterator[frozenset[int]]:
    for size in range(len(items) + 1):
        yield from map(frozenset, combinations(items, size))


# Maximum flow and minimum cut ------------------------------------------------------------------------------------------


@st.composite
def capacities(draw: st.DrawFn, largest: int) -> tuple[int, list[tuple[int, int, int]]]:
    count = draw(st.integers(2, 5))
    ends = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1), st.integers(0, largest))
    return count, [arc for arc in draw(st.lists(ends, min_size=1, max_size=9)) if arc[0] != arc[1]]


@pytest.mark.parametrize("largest", [4, 1 << 80])
@given(data=st.data())
@settings(max_examples=100)
def test_maximum_flow_is_the_minimum_cut(largest: int, data: st.DataObject) -> None:
    count, arcs = data.draw(capacities(largest))
    tail, head = (np.array([arc[k] for arc in arcs], np.int64) for k in (0, 1))
    capacity = np.array([arc[2] for arc in arcs], np.int64 if largest < 1 << 62 else object)
    found = flows.max_flow(count, tail, head, capacity, 0, count - 1)

    def cut(side: frozenset[int]) -> int:
        return sum(c for a, b, c in arcs if a in side and b not in side)

    sides = [side | {0} for side in subsets(range(1, count - 1))]
    least = min(map(cut, sides))
    minimal = [side for side in sides if cut(side) == least]
    assert found.value == least
    assert all(0 <= x <= c for x, c in zip(found.flow.tolist(), capacity.tolist(), strict=True))
    for v in range(1, count - 1):
        flow = zip(arcs, found.flow.tolist(), strict=True)
        assert sum(x * ((b == v) - (a == v)) for (a, b, _), x in flow) == 0
    # The smallest and the largest of the source sides: their intersection and their union.
    assert set(np.flatnonzero(found.source_side).tolist()) == frozenset.intersection(*minimal)
    assert set(np.flatnonzero(~found.sink_side).tolist()) == frozenset.union(*minimal)


# Order and reachability --------------------------------------------------------------------------------------------------


@given(st.one_of(dags(dead_ends=True), multigraphs(max_hidden=4)))
def test_structure_against_networkx(fields: dict[str, Any]) -> None:
    network = Network.from_edges(**fields)
    graph = nx.MultiDiGraph(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    graph.add_nodes_from(range(network.node_count))
    order = topological_order(network)
    assert (order is not None) == is_acyclic(network) == nx.is_directed_acyclic_graph(graph)
    if order is not None:
        place = {v: i for i, v in enumerate(order.tolist())}
        assert sorted(place) == list(range(network.node_count))
        assert all(place[a] < place[b] for a, b, _ in graph.edges)
    terminals = [v for v in range(network.node_count) if not network.hidden[v]]
    below = {w for v in terminals for w in nx.descendants(graph, v)}
    above = {w for v in terminals for w in nx.ancestors(graph, v)}
    on_walks = all(v in below and v in above for v in network.hidden_nodes.tolist())
    assert every_hidden_node_on_terminal_walk(network) == on_walks


# What rounding can change -------------------------------------------------------------------------------------------------


@st.composite
def float_networks(draw: st.DrawFn, cyclic: bool) -> Network:
    fields = draw(multigraphs(max_edges=6) if cyclic else dags(max_edges=8))
    edges = [[a, b, draw(WEIGHTS)] for a, b in fields["edges"]]
    if not edges:  # nor are there weights, then
        return Network.from_edges([["x1", "y1", 1.0]])
    return Network.from_edges(edges, inputs=fields["inputs"], outputs=fields["outputs"], nodes=fields.get("nodes", ()))


def sensitive_by_sets(network: Network, rounding: Fraction) -> set[int]:
    """Return the edges that some balances within the bounds of their nodes freeze and others do not, by all sets of nodes."""
    squares = [Fraction(w) ** 2 for w in network.weights]
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    possible, certain = set(), set()
    for W in subsets(range(network.node_count)):
        if not all(network.hidden[v] for v in W):
            continue
        leaving = [e for e, (a, b) in enumerate(ends) if a in W and b not in W]
        entering = [e for e, (a, b) in enumerate(ends) if a not in W and b in W]
        balance = sum(squares[e] for e in entering) - sum(squares[e] for e in leaving)
        volume = sum(squares[e] * ((a in W) + (b in W)) for e, (a, b) in enumerate(ends))
        for boundary, sign in ((leaving, -1), (entering, 1)):
            if len(boundary) == 1:
                for found, slack in ((possible, volume), (certain, -volume)):
                    if (1 + rounding**2) * sign * balance + 2 * rounding * slack > 0:
                        found.add(boundary[0])
    return possible - certain


def sensitive_by_cuts(network: Network, rounding: Fraction) -> set[int]:
    """Return the edges whose largest detour is smaller than their square at one end of the intervals only, by all cuts."""
    squares = [Fraction(w) ** 2 for w in network.weights]
    low, high = (1 - rounding) ** 2, (1 + rounding) ** 2
    merged = network.node_count
    label = [v if network.hidden[v] else merged for v in range(merged)]
    ends = [(label[a], label[b]) for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True)]
    sensitive = set()
    for e, (tail, head) in enumerate(ends):
        if squares[e] == 0 or tail == head:
            continue
        frozen = {low: False, high: False}
        for side in subsets(range(merged + 1)):
            if tail not in side or head in side:
                continue
            if any(a in side and b not in side for f, (a, b) in enumerate(ends) if f != e):
                continue  # forwards there is no limit
            back = sum(squares[f] for f, (a, b) in enumerate(ends) if f != e and b in side and a not in side)
            frozen[low] |= back * high < squares[e] * low
            frozen[high] |= back * low < squares[e] * high
        if frozen[low] != frozen[high]:
            sensitive.add(e)
    return sensitive


def balanced_star(inputs: int, outputs: int) -> Network:
    """Return one hidden neuron with as much in its squared incoming weights as in its outgoing ones: any rounding matters."""
    edges = [("x", "v", float(outputs) ** 0.5)] * inputs + [("v", "y", float(inputs) ** 0.5)] * outputs
    tail, head = ([{"x": 0, "v": 1, "y": 2}[edge[k]] for edge in edges] for k in (0, 1))
    weights = np.array([edge[2] for edge in edges])
    return Network.from_arrays(np.array(tail), np.array(head), weights=weights)


@given(float_networks(cyclic=False))
@example(balanced_star(4, 1))
@example(balanced_star(1, 4))
@settings(max_examples=150)
def test_margins_by_bottlenecks(network: Network) -> None:
    margin = connectivity(network).margin
    assert margin is not None
    expected = sensitive_by_sets(network, Fraction(margin.rounding))
    assert set(margin.sensitive_edges) == expected
    assert margin.robust == (not expected)


@given(float_networks(cyclic=True))
@settings(max_examples=150)
def test_margins_by_residual_flows(network: Network) -> None:
    margin = connectivity(network).margin
    assert margin is not None
    by_degrees = is_acyclic(network) and every_hidden_node_on_terminal_walk(network)
    expected = (sensitive_by_sets if by_degrees else sensitive_by_cuts)(network, Fraction(margin.rounding))
    assert set(margin.sensitive_edges) == expected
    assert margin.robust == (not expected)
