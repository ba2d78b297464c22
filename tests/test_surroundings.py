"""Searches around single edges against searches of the whole graph, whose answers they have to repeat."""

from __future__ import annotations

from collections import Counter
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lakatos import Network, connectivity
from lakatos.graphs import detours, surroundings
from lakatos.graphs.adjacency import Adjacency, reachable, spanning_arcs
from lakatos.graphs.checking import check_connectivity
from lakatos.graphs.checking_bypasses import Arcs, Bypasses
from lakatos.graphs.connectivity import Connectivity
from lakatos.graphs.detours import Detours
from lakatos.graphs.feasibility import Witness, feasible_point
from lakatos.graphs.flows import Flow
from lakatos.graphs.merged import Merged
from lakatos.graphs.residual import Residual
from lakatos.graphs.surroundings import Surroundings
from lakatos.graphs.tree_paths import TreePaths
from lakatos.testing import balanced_multigraphs

networks = balanced_multigraphs(max_hidden=6, max_edges=16).map(lambda fields: Network.from_edges(**fields))


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.integers(0, max(0, i - 1)) for i in range(n)])), st.data())
def test_paths_without_an_edge(parents: tuple[int, ...], data: st.DataObject) -> None:
    """Node i > 0 leads by edge i to its parent; some nodes are off the tree."""
    count = len(parents)
    off = data.draw(st.integers(0, 2))
    edge = np.array([-1, *range(1, count), *[-1] * off])
    paths = TreePaths(edge, np.array(parents), 0)
    for at in range(count):
        for missing in (at, count + 5):
            expected = []
            for node in range(count + off):
                walk = [node]
                while walk[-1] and walk[-1] < count:
                    walk.append(parents[walk[-1]])
                expected.append(node < count and not (missing in walk and missing > 0))
            assert paths.intact(np.arange(count + off), missing, at).tolist() == expected
    assert all(paths.from_node(v) == ([v, *paths.from_node(parents[v])] if v else []) for v in range(count))


def sides(surroundings: Surroundings, e: int) -> list[int]:
    """Both sides if searches from both ends of e can stop, else the one that can."""
    first = surroundings.side_of(e)
    merged = surroundings.merged
    both = surroundings._intact(0, np.array([merged.tail[e]]), e).any()
    return [side for side, there in ((0, first == 0), (1, bool(both))) if there]


@given(networks)
@settings(max_examples=150, deadline=None)
def test_walks_are_found_where_there_are_any(network: Network) -> None:
    point = feasible_point(network)
    assume(not isinstance(point, Witness))
    surroundings = Residual(network, np.asarray(point)).surroundings
    merged = surroundings.merged
    for e in range(network.edge_count):
        if merged.tail[e] == merged.head[e] or merged.twin[e] >= 0:
            continue
        there = bool(merged.search(e)[merged.head[e]] >= 0)
        for side in sides(surroundings, e):
            walk = surroundings.walk(e, side)
            assert (walk is not None) is there
            if walk is not None:
                assert e not in walk
                nodes = [int(merged.tail[walk[0]]), *(int(merged.head[f]) for f in walk)]
                assert (nodes[0], nodes[-1]) == (merged.tail[e], merged.head[e])
                assert all(merged.tail[f] == v for f, v in zip(walk, nodes, strict=False))


@given(networks)
@settings(max_examples=200, deadline=None)
def test_flows_have_the_value_of_those_in_the_whole_graph(network: Network) -> None:
    point = feasible_point(network)
    assume(not isinstance(point, Witness))
    u = np.asarray(point)
    residual = Residual(network, u)
    surroundings, merged = residual.surroundings, residual.merged
    for e in residual.positive.tolist():
        if merged.walk(e) is not None:
            continue
        detours = Detours(merged, e, residual.positive)
        whole = detours.flow(int(u[e]), u[detours.backward])
        for side in sides(surroundings, e):
            found = surroundings.around(e, side)
            local = surroundings.flow(found, int(u[e]), u[found.backward])
            assert local.value == whole.value
            moved = u.copy()
            for f, step in local.change.items():
                moved[f] += step
            assert moved.min() >= 0
            assert moved[e] == u[e] - local.value
            for v in network.hidden_nodes:
                assert moved[network.head == v].sum() - moved[network.tail == v].sum() == network.numerators[v]
            if local.value < u[e]:
                source = local.source_side
                leaving = np.flatnonzero(source[merged.tail] & ~source[merged.head])
                assert leaving.tolist() == [e]
                entering = ~source[merged.tail] & source[merged.head]
                assert u[entering].sum() == local.value


def answers(result: Connectivity) -> tuple[Any, ...]:
    return result.feasible, result.minima, result.regular_frozen_edges, [item.edge for item in result.edges]


@given(networks)
@settings(max_examples=150, deadline=None)
def test_answers_are_those_without_local_searches(network: Network) -> None:
    result = connectivity(network)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Surroundings, "side_of", lambda self, e: None)
        assert answers(connectivity(network)) == answers(result)
    if not result.feasible:
        return
    certificate = result.certificate.to_json()
    facts = check_connectivity(network, certificate)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Bypasses, "replace", lambda *arguments: False)
        assert check_connectivity(network, certificate) == facts


@given(networks, st.data())
@settings(max_examples=200, deadline=None)
def test_bypasses_are_there(network: Network, data: st.DataObject) -> None:
    """What the checker takes for replaced can be walked without any missing arc."""
    point = feasible_point(network)
    assume(not isinstance(point, Witness) and network.edge_count > 0)
    merged = Merged(network)
    positive, m, count = np.flatnonzero(np.asarray(point) > 0), network.edge_count, merged.node_count
    tail = np.concatenate([merged.tail, merged.head[positive]])
    head = np.concatenate([merged.head, merged.tail[positive]])
    groups = Adjacency.by(tail, count), Adjacency.by(head, count)
    trees = [spanning_arcs(group, ends, merged.terminal) for group, ends in zip(groups, (head, tail), strict=True)]
    bypasses = Bypasses(Arcs(tail, head, m, positive, groups), merged.terminal, [(trees[1], trees[0])])
    e = data.draw(st.integers(0, m - 1))
    gone = data.draw(st.sets(st.sampled_from(positive.tolist()))) if positive.size else set()
    gained = (
        data.draw(st.sets(st.sampled_from(sorted(set(range(m)) - set(positive.tolist())))))
        if m > len(positive)
        else set()
    )
    missing = {e, *(m + positive.tolist().index(f) for f in gone)}
    rest = [arc for arc in range(len(tail)) if arc not in missing]
    more = sorted(gained)
    a = np.concatenate([tail[rest], merged.head[more]])
    b = np.concatenate([head[rest], merged.tail[more]])
    there = all(reachable(count, a, b, int(tail[arc]))[head[arc]] for arc in missing)
    assert there or not bypasses.replace(e, gone, gained)


weights = st.sampled_from([0.0, 0.5, 1.0, 1.5, 2.0, -1.0, 0.25, 1 + 2.0**-52, 3.0])


@given(balanced_multigraphs(max_hidden=5, max_edges=14), st.data())
@settings(max_examples=150, deadline=None)
def test_margins_are_those_without_local_searches(fields: dict[str, Any], data: st.DataObject) -> None:
    pairs = fields["edges"]
    assume(pairs)
    values = data.draw(st.lists(weights, min_size=len(pairs), max_size=len(pairs)))
    edges = [[a, b, w] for (a, b), w in zip(pairs, values, strict=True)]
    network = Network.from_edges(edges, inputs=fields["inputs"], outputs=fields["outputs"])
    found = connectivity(network).margin
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Surroundings, "side_of", lambda self, e: None)
        assert connectivity(network).margin == found


def test_a_search_stops_at_what_has_a_way_around() -> None:
    """x leads to 500 nodes that all lead to v, which alone leads on to w, and from there back and to y."""
    below = [edge for k in range(500) for edge in (("x", f"a{k}"), (f"a{k}", "v"), (f"a{k}", "y"))]
    edges = [*below, ("v", "w"), ("w", "a0"), ("w", "y")]
    balance = {f"a{k}": 0 for k in range(500)} | {"v": -3, "w": 0}
    network = Network.from_edges(edges, inputs=["x"], outputs=["y"], balance=balance)
    point = feasible_point(network)
    surroundings = Residual(network, np.asarray(point)).surroundings
    e = edges.index(("v", "w"))
    found = surroundings.around(e, 0)
    assert [network.names[v] for v in found.nodes] == ["v"]
    assert connectivity(network).minima == {e: 3}


def largest_flows(*arguments: Any) -> list[Flow]:
    """Return all of them, by enumeration; the arguments are those of `max_flow`."""
    count, tail, head, capacity, source, sink = arguments
    flows = []
    for amounts in product(*(range(int(c) + 1) for c in capacity)):
        flow = Flow(*arguments, np.array(amounts, capacity.dtype))
        arrives = np.bincount(head, amounts, count) - np.bincount(tail, amounts, count)
        if not np.delete(arrives, [source, sink]).any():
            flows.append(flow)
    return [flow for flow in flows if flow.value == max(other.value for other in flows)]


@pytest.mark.parametrize("whole_graph", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_answers_are_those_of_every_largest_flow(
    monkeypatch: pytest.MonkeyPatch, whole_graph: bool, reverse: bool
) -> None:
    """The last edge vanishes at a regular point. A flow that takes p→s back, p→q forth and x→q back leaves s with a way out
    by q→s and then p→q, both back: the latter is positive only since that flow.
    """
    edges = [["x", "p"], ["x", "q"], ["p", "s"], ["q", "s"], ["p", "q"], ["s", "y"]]
    balance = {"p": 0, "q": 0, "s": 1}
    inputs, outputs = ["x"], ["y"]
    if reverse:
        edges, balance = [[b, a] for a, b in edges], {v: -c for v, c in balance.items()}
        inputs, outputs = outputs, inputs
    network = Network.from_edges(edges, inputs=inputs, outputs=outputs, balance=balance)
    choices, used = 1, set()
    if whole_graph:
        monkeypatch.setattr(Surroundings, "side_of", lambda self, e: None)
    turn = 0
    while turn < choices:

        def solve(*arguments: Any, turn: int = turn) -> Flow:
            nonlocal choices
            flows = largest_flows(*arguments)
            choices = max(choices, len(flows))
            used.add(turn % len(flows))
            return flows[turn % len(flows)]

        monkeypatch.setattr(surroundings, "max_flow", solve)
        monkeypatch.setattr(detours, "max_flow", solve)
        settled = Residual(network, np.array([1, 1, 1, 1, 0, 1])).settle(regular=True)
        assert [(s.edge, s.minimum, s.regular_frozen) for s in settled if s.edge == 5] == [(5, 0, False)]
        turn += 1
    assert choices >= 3
    assert used == set(range(choices))


@pytest.mark.slow
def test_residual_network_in_evaluation_mode_is_decided() -> None:
    """A channel of a convolution has one way out, the gain behind it, which is locked iff the balance is negative."""
    from examples.resnet18 import evaluated
    from lakatos import network_of

    network = network_of(evaluated())
    result = connectivity(network)
    single = network.hidden & (network.out_degree == 1)
    negative = single & np.array([c < 0 for c in network.require_balance().tolist()])
    assert result.frozen_edges == tuple(sorted(network.first_out_edge[np.flatnonzero(negative)].tolist()))
    assert Counter(item.witness.side for item in result.edges if item.witness)["out"] == len(result.frozen_edges)
    assert check_connectivity(network, result.certificate.to_json())["log2_components"] == len(result.frozen_edges)
