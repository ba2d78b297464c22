"""The strategies: every draw is a network, everything interesting is found, and what is found is small."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import brute_force
import networkx as nx
import pytest
from brute_force import Graph, graph_of
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lakatos import InputError, Network
from lakatos.graphs.layered import layered_network
from lakatos.testing import (
    Fields,
    balanced_dags,
    balanced_multigraphs,
    balances,
    dags,
    layered_dags,
    multigraphs,
    weighted_dags,
)

Strategy = st.SearchStrategy[Fields]

STRATEGIES: dict[str, Strategy] = {
    "dags": dags(),
    "dags with dead ends": dags(dead_ends=True),
    "dags without parallel edges": dags(parallel_edges=False),
    "small dags": dags(max_edges=2, max_terminals=1),
    "balanced dags": balanced_dags(),
    "weighted dags": weighted_dags(),
    "multigraphs": multigraphs(),
    "multigraphs without parallel edges": multigraphs(parallel_edges=False, max_edges=20),
    "multigraphs without hidden nodes": multigraphs(max_hidden=0),
    "balanced multigraphs": balanced_multigraphs(),
    "layered dags": layered_dags(),
}


def smallest(strategy: Strategy, condition: Callable[[Fields], bool]) -> Fields:
    """Return a minimal example, always the same."""
    # The rarest condition below holds for about one draw in 750, so 10000 draws miss it with a chance near exp(-13).
    budget = settings(max_examples=10000, database=None, deadline=None, phases=(Phase.generate, Phase.shrink))
    return find(strategy, condition, settings=budget, random=Random(0))


def digraph(fields: Fields) -> nx.MultiDiGraph[str]:
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph(edge[:2] for edge in fields["edges"])
    graph.add_nodes_from(fields.get("nodes", ()))
    return graph


@pytest.mark.parametrize("strategy", STRATEGIES.values(), ids=STRATEGIES)
def test_every_draw_builds_a_network_and_can_be_pasted(strategy: Strategy) -> None:
    # All health checks stay on: a strategy that filters much would fail here.
    @given(strategy)
    def check(fields: Fields) -> None:
        network = Network.from_edges(**fields)
        assert network.edge_count == len(fields["edges"])
        assert ast.literal_eval(repr(fields)) == fields
        if "balance" in fields:
            assert set(fields["balance"]) == set(network.hidden_names)

    check()


@pytest.mark.parametrize("parallel_edges", [False, True])
@pytest.mark.parametrize("dead_ends", [False, True])
def test_dags_keep_what_their_options_say(dead_ends: bool, parallel_edges: bool) -> None:
    @given(dags(max_hidden=3, max_edges=7, max_terminals=3, dead_ends=dead_ends, parallel_edges=parallel_edges))
    def check(fields: Fields) -> None:
        pairs = [tuple(edge) for edge in fields["edges"]]
        network = Network.from_edges(**fields)
        assert nx.is_directed_acyclic_graph(digraph(fields))
        assert 1 <= len(network.hidden_names) <= 3
        assert len(pairs) <= 7
        assert max(len(fields["inputs"]), len(fields["outputs"])) <= 3
        assert parallel_edges or len(set(pairs)) == len(pairs)
        zero = network.with_balance(dict.fromkeys(network.hidden_names, 0))
        assert dead_ends or brute_force.satisfies_hypothesis_a(graph_of(zero))

    check()


@given(multigraphs(parallel_edges=False, max_edges=20))
def test_multigraphs_without_parallel_edges(fields: Fields) -> None:
    assert len({tuple(edge) for edge in fields["edges"]}) == len(fields["edges"])


@given(layered_dags(max_width=2, max_hidden_layers=2, bias=False))
def test_layered_dags_are_dense(fields: Fields) -> None:
    layers = Counter(
        "x" if v in fields["inputs"] else "y" if v in fields["outputs"] else v[:2] for v in digraph(fields)
    )
    widths = [layers[name] for name in ("x", "h1", "h2", "y") if layers[name]]
    assert fields["edges"] == layered_network(widths).to_fields()["edges"]
    assert max(widths) <= 2


@given(balanced_dags(dead_ends=True) | balanced_multigraphs())
def test_balances_are_small(fields: Fields) -> None:
    # Free numerators are at most 4; a node has at most 9 edges, each with a square of at most 4.
    assert all(abs(Fraction(value)) <= 9 * 4 for value in fields["balance"].values())


def frozen_by_two_nodes(graph: Graph) -> bool:
    """An edge is frozen, but by no stable set of a single node."""
    single = {
        boundary[0]
        for v in graph.hidden
        for boundary, value in (
            (brute_force.leaving(graph, [v]), -graph.balance[v]),
            (brute_force.entering(graph, [v]), graph.balance[v]),
        )
        if len(boundary) == 1 and value > 0
    }
    return not single.issuperset(brute_force.frozen(graph))


def frozen_without_bottleneck(graph: Graph) -> bool:
    out_degree, in_degree = Counter(a for a, _ in graph.edges), Counter(b for _, b in graph.edges)
    ends = [graph.edges[e] for e in brute_force.frozen(graph)]
    return any(
        not (a in graph.hidden and out_degree[a] == 1) and not (b in graph.hidden and in_degree[b] == 1)
        for a, b in ends
    )


def regular_although_zero_sum(graph: Graph) -> bool:
    """Some balances sum to zero, but there is no singular point."""
    zero_sum = any(sum(graph.balance[v] for v in W) == 0 for W in brute_force.subsets(graph.hidden))
    return zero_sum and brute_force.feasible(graph) and not brute_force.has_singular_point(graph)


GRAPH_DISCOVERIES: dict[str, tuple[Strategy, Callable[[Graph], bool], int]] = {
    # name: (strategy, condition, least number of edges for which the condition can hold)
    "disconnected": (balanced_dags(max_edges=7), lambda G: len(brute_force.frozen(G)) > 0, 2),
    "two frozen edges": (balanced_dags(max_edges=7), lambda G: len(brute_force.frozen(G)) == 2, 3),
    "three frozen edges": (balanced_dags(max_edges=7), lambda G: len(brute_force.frozen(G)) == 3, 4),
    "connected": (balanced_dags(max_edges=7), lambda G: not brute_force.frozen(G), 2),
    "obstructed by equality": (
        balanced_dags(max_edges=7),
        lambda G: brute_force.regular_frozen(G) != brute_force.frozen(G),
        2,
    ),
    "frozen by two nodes": (balanced_dags(max_edges=7), frozen_by_two_nodes, 3),
    "regular although zero sum": (balanced_dags(max_edges=7), regular_although_zero_sum, 3),
    "empty dag": (balanced_dags(max_edges=6, dead_ends=True), lambda G: not brute_force.feasible(G), 0),
    "empty with edges": (balanced_multigraphs(max_edges=6), lambda G: G.size > 1 and not brute_force.feasible(G), 2),
    "frozen beside a dead end": (balanced_dags(max_edges=6, dead_ends=True), frozen_without_bottleneck, 2),
    "frozen beside a cycle": (
        balanced_multigraphs(max_edges=6),
        lambda G: brute_force.satisfies_hypothesis_a(G) and frozen_without_bottleneck(G),
        4,
    ),
    "singular everywhere": (balanced_multigraphs(max_edges=6), lambda G: bool(G.faces) and not G.regular_faces, 0),
}


@pytest.mark.parametrize("name", GRAPH_DISCOVERIES)
def test_a_property_of_the_invariant_set_is_found_on_few_edges(name: str) -> None:
    strategy, condition, edges = GRAPH_DISCOVERIES[name]
    found = smallest(strategy, lambda fields: condition(graph_of(Network.from_edges(**fields))))
    assert len(found["edges"]) == edges


def has_parallel_edges(fields: Fields) -> bool:
    return len({tuple(edge) for edge in fields["edges"]}) < len(fields["edges"])


def has_island(fields: Fields) -> bool:
    """Two hidden nodes are joined, and no terminal is joined to them."""
    terminals = {*fields["inputs"], *fields["outputs"]}
    return any(len(part) > 1 and not part & terminals for part in nx.weakly_connected_components(digraph(fields)))


def is_unordered(fields: Fields) -> bool:
    """The numbering of the nodes is not topological."""
    network = Network.from_edges(**fields)
    return bool((network.tail > network.head).any())


FIELD_DISCOVERIES: dict[str, tuple[Strategy, Callable[[Fields], bool], int]] = {
    # name: (strategy, condition, least number of edges for which the condition can hold)
    "parallel edges": (dags(), has_parallel_edges, 3),
    "input to output": (dags(), lambda fields: ["x1", "y1"] in fields["edges"], 3),
    "not in topological order": (dags(), is_unordered, 2),
    "dead end": (dags(dead_ends=True), lambda fields: not fields["outputs"] and bool(fields["edges"]), 1),
    "isolated node": (multigraphs(), lambda fields: "nodes" in fields, 0),
    "island": (multigraphs(), has_island, 1),
    "two-cycle": (multigraphs(), lambda fields: not nx.is_directed_acyclic_graph(digraph(fields)), 2),
    "three-cycle": (multigraphs(), lambda fields: any(len(c) > 2 for c in nx.simple_cycles(digraph(fields))), 3),
    "no hidden node": (multigraphs(), lambda fields: not any(v[0] == "h" for v in digraph(fields)), 1),
    "out of an output": (multigraphs(), lambda fields: any(edge[0] == "y1" for edge in fields["edges"]), 1),
    "into an input": (multigraphs(), lambda fields: any(edge[1] == "x1" for edge in fields["edges"]), 1),
    "fraction": (balanced_dags(), lambda fields: any(isinstance(c, str) for c in fields["balance"].values()), 2),
    "tie": (balanced_dags(), lambda fields: len({*fields["balance"].values()} - {0}) < len(fields["balance"]) - 1, 3),
    "zero weight": (weighted_dags(), lambda fields: any(weight == 0 for _, _, weight in fields["edges"]), 2),
    "fractional weight": (weighted_dags(), lambda fields: any(isinstance(w, str) for _, _, w in fields["edges"]), 2),
    "bias": (layered_dags(), lambda fields: "b1" in fields["inputs"], 4),
    "deep": (layered_dags(), lambda fields: "h3.0" in fields["balance"], 4),
}


@pytest.mark.parametrize("name", FIELD_DISCOVERIES)
def test_a_kind_of_network_is_found_on_few_edges(name: str) -> None:
    strategy, condition, edges = FIELD_DISCOVERIES[name]
    assert len(smallest(strategy, condition)["edges"]) == edges


def test_minimal_examples_read_well() -> None:
    frozen = smallest(balanced_dags(), lambda fields: bool(brute_force.frozen(graph_of(Network.from_edges(**fields)))))
    assert frozen == {
        "edges": [["x1", "h1"], ["h1", "y1"]],
        "inputs": ["x1"],
        "outputs": ["y1"],
        "balance": {"h1": 1},
    }
    assert smallest(dags(), lambda fields: True) == {
        "edges": [["x1", "h1"], ["h1", "y1"]],
        "inputs": ["x1"],
        "outputs": ["y1"],
    }
    # -1 comes before 2, as nearer to 0.
    numbers = balances([["x", "h"], ["h", "y"]], inputs=["x"], outputs=["y"])
    assert smallest(numbers, lambda balance: balance["h"] not in (0, 1)) == {"h": -1}


def test_balances_hold_for_nodes_without_edges_and_for_weighted_edges() -> None:
    @given(balances([["x", "a", "1/2"], ["a", "b", 2]], inputs=["x"], nodes=["z"]))
    def check(balance: dict[str, int | str]) -> None:
        assert list(balance) == ["a", "b", "z"]

    check()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(dags, max_hidden=0), "max_hidden=0: must be at least 1"),
        (partial(dags, max_edges=1), "max_edges=1: must be at least 2"),
        (partial(balanced_dags, max_terminals=0), "max_terminals=0: must be at least 1"),
        (partial(multigraphs, max_hidden=-1), "max_hidden=-1: must be at least 0"),
        (partial(multigraphs, max_edges=0), "max_edges=0: must be at least 1"),
        (partial(layered_dags, max_width=0), "max_width=0: must be at least 1"),
    ],
)
def test_bounds_that_are_too_small_are_named(make: Callable[[], Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
