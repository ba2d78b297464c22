"""Maximum flows of numbers of any size, hubs, and searches on arrays, against plain loops."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.core import Reason, Undecided
from lakatos.graphs import adjacency, flows, memory
from lakatos.graphs.adjacency import Adjacency, gathered, reachable, spanning_arcs, topological_order_of
from lakatos.graphs.flows import max_flow
from lakatos.graphs.hubs import with_hubs
from lakatos.graphs.names import NumberNames

NODES = 6
ends = st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1))
graphs = st.lists(ends.filter(lambda arc: arc[0] != arc[1]), min_size=1, max_size=14)
sizes = st.one_of(st.integers(0, 5), st.integers(2**61, 2**63), st.integers(0, 2**200))


def arrays(arcs: list[tuple[int, int]]) -> tuple[np.ndarray, np.ndarray]:
    table = np.array(arcs, np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


@given(graphs, st.data())
@settings(max_examples=200)
def test_flows_of_any_size_are_maximum(arcs: list[tuple[int, int]], data: st.DataObject) -> None:
    """By weak duality: a flow within the capacities, and a cut of the same value."""
    tail, head = arrays(arcs)
    capacity = np.array(data.draw(st.lists(sizes, min_size=len(arcs), max_size=len(arcs))), object)
    result = max_flow(NODES, tail, head, capacity, 0, 1)
    flow = result.flow.tolist()
    assert all(0 <= x <= c for x, c in zip(flow, capacity.tolist(), strict=True))
    for v in range(2, NODES):
        assert sum(x for x, b in zip(flow, head, strict=True) if b == v) == sum(
            x for x, a in zip(flow, tail, strict=True) if a == v
        )
    for side in (result.source_side, ~result.sink_side):
        assert (side[0], side[1]) == (True, False)
        cut = sum(c for c, a, b in zip(capacity.tolist(), tail, head, strict=True) if side[a] and not side[b])
        assert cut == result.value
    # Every minimum cut lies between these two.
    assert not (result.source_side & result.sink_side).any()


def test_flows_beyond_64_bits_do_not_need_networkx(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("ortools")
    monkeypatch.setattr(flows, "_by_networkx", None)
    capacity = np.array([3**150, 2**62, 2**62, 5**90], object)
    result = max_flow(4, np.array([0, 2, 2, 3]), np.array([2, 3, 3, 1]), capacity, 0, 1)
    assert result.value == min(3**150, 2**63, 5**90)


def test_leading_digits_that_go_the_wrong_way_are_sent_back() -> None:
    """By its leading digits all flow goes 0→2→3→1; the other digits need most of 2→3 to be taken back."""
    pytest.importorskip("ortools")
    D = 1 << 114  # two digits of 57 bits, as five arcs have
    tail, head = np.array([0, 2, 3, 0, 2]), np.array([2, 3, 1, 3, 1])
    result = max_flow(4, tail, head, np.array([D, D, D, D - 1, D - 1], object), 0, 1)
    assert result.value == 2 * D - 1
    assert result.flow.tolist() == [D, 1, D, D - 1, D - 1]


@pytest.mark.parametrize("capacity", [2**60, 2**62 - 1, 2**62])
def test_capacities_near_the_end_of_64_bits(capacity: int) -> None:
    count = 8
    tail, head = np.repeat([0, 2], count), np.repeat([2, 1], count)
    result = max_flow(3, tail, head, np.full(2 * count, capacity), 0, 1)
    assert result.value == count * capacity


@given(st.integers(2, 5), st.integers(2, 5), st.integers(0, 3), st.data())
@settings(max_examples=60)
def test_flows_through_hubs_split_into_the_same_flow(a: int, b: int, extra: int, data: st.DataObject) -> None:
    block = [(i, a + j) for i in range(a) for j in range(b)]
    arcs = data.draw(st.permutations(block + block[:extra] + [(0, a + b)] * (extra > 1)))
    tail, head = arrays(arcs)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("lakatos.graphs.hubs._FEWEST", 4)
        hub_graph = with_hubs(tail, head, a + b + 1)
    assert len(hub_graph.blocks) == 1
    assert len(hub_graph.tail) < len(set(arcs)) or a * b <= a + b
    supply = np.array(data.draw(st.lists(st.integers(0, 2**70), min_size=a, max_size=a)), object)
    # Send all that comes in at the tails of the block to its heads, the first head taking what is left over.
    flow = np.zeros(len(hub_graph.tail), object)
    (found,) = hub_graph.blocks
    first = len(hub_graph.plain)
    flow[first : first + a] = supply[found.tails]
    share = sum(supply.tolist()) // b
    flow[first + a : first + a + b] = [sum(supply.tolist()) - share * (b - 1)] + [share] * (b - 1)
    positions, amounts = hub_graph.split(flow)
    assert all(x > 0 for x in amounts)
    assert len(positions) == len(set(positions.tolist())) <= a + b - 1
    for node in range(a + b):
        sent = sum(x for p, x in zip(positions, amounts, strict=True) if tail[p] == node)
        got = sum(x for p, x in zip(positions, amounts, strict=True) if head[p] == node)
        expected_sent = sum(x for x, v in zip(flow, hub_graph.tail, strict=True) if v == node)
        expected_got = sum(x for x, v in zip(flow, hub_graph.head, strict=True) if v == node)
        assert (sent, got) == (expected_sent, expected_got)


def test_rows_with_equal_signatures_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two heads whose tails only seem to be the same: no hub, and every arc is kept."""

    class Ones:
        def integers(self, high: int, size: int, dtype: type) -> np.ndarray:
            return np.ones(size, dtype)

    monkeypatch.setattr("lakatos.graphs.hubs._FEWEST", 2)
    monkeypatch.setattr("lakatos.graphs.hubs.np.random.default_rng", lambda seed: Ones())
    tail, head = np.array([0, 1, 0, 2, 1, 2]), np.array([3, 3, 4, 4, 5, 5])
    graph = with_hubs(tail, head, 6)
    assert graph.blocks == ()
    assert sorted(graph.plain.tolist()) == list(range(6))


@given(graphs)
def test_topological_orders(arcs: list[tuple[int, int]]) -> None:
    tail, head = arrays(arcs)
    graph = nx.MultiDiGraph(arcs)
    order = topological_order_of(NODES, tail, head)
    assert (order is not None) == nx.is_directed_acyclic_graph(graph)
    if order is None:
        return
    for found in (order, adjacency._by_removing_sources(NODES, tail, head)):
        rank = np.empty(NODES, int)
        rank[found] = np.arange(NODES)
        assert sorted(found.tolist()) == list(range(NODES))
        assert (rank[tail] < rank[head]).all()


def test_an_order_that_scipy_numbers_otherwise_is_found_anyway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adjacency, "connected_components", lambda graph, connection: (3, np.array([0, 2, 1])))
    assert topological_order_of(3, np.array([0, 2]), np.array([2, 1])).tolist() == [0, 2, 1]
    assert topological_order_of(3, np.array([2, 0]), np.array([0, 1])).tolist() == [2, 0, 1]


@given(graphs, st.integers(0, NODES - 1), st.data())
def test_spanning_arcs_reach_what_can_be_reached_and_avoid_what_they_can(
    arcs: list[tuple[int, int]], start: int, data: st.DataObject
) -> None:
    tail, head = arrays(arcs)
    avoid = np.array(data.draw(st.lists(st.booleans(), min_size=len(arcs), max_size=len(arcs))), bool)
    tree = spanning_arcs(Adjacency.by(tail, NODES), head, start, avoid)
    everything = reachable(NODES, tail, head, start)
    assert ((tree >= 0) | (np.arange(NODES) == start)).tolist() == everything.tolist()
    for v in np.flatnonzero(tree >= 0).tolist():
        assert head[tree[v]] == v
        steps = 0
        while v != start:
            v, steps = int(tail[tree[v]]), steps + 1
            assert steps <= NODES
    free = reachable(NODES, tail[~avoid], head[~avoid], start)
    assert not avoid[tree[(tree >= 0) & free]].any()


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-9, 9)), min_size=1, max_size=9))
def test_gathered_sums_along_walks(rows: list[tuple[int, int]]) -> None:
    """Node i leads to a node before it; node 0 is where all walks end."""
    amounts = np.array([0, *(x for _, x in rows)])
    nodes = np.arange(1, len(amounts))
    following = np.array([min(step, i - 1) for i, (step, _) in zip(nodes.tolist(), rows, strict=True)])
    expected = amounts.tolist()
    for i in reversed(nodes.tolist()):
        expected[following[i - 1]] += expected[i]
    assert gathered(nodes, following, amounts).tolist() == expected
    assert gathered(nodes, following, amounts.astype(object) << 80).tolist() == [x << 80 for x in expected]


def test_names_of_numbered_nodes_are_those_of_a_tuple() -> None:
    names, texts = NumberNames(12), tuple(map(str, range(12)))
    assert tuple(names) == texts
    assert (len(names), names[11], names[-1], names[2:5]) == (12, "11", "11", ("2", "3", "4"))
    assert [name in names for name in ("0", "11", "12", "-1", "01", "", "²", 3)] == [True, True] + [False] * 6
    assert names.index("7") == 7
    for missing in ("12", "07", "x"):
        with pytest.raises(ValueError, match="is not a node number below 12"):
            names.index(missing)
    with pytest.raises(ValueError, match="node number"):
        names.index("7", 8)


def test_memory_is_looked_at_before_it_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < memory.available_memory() < 1 << 62
    memory.require_memory(1, "nothing")
    monkeypatch.setattr(memory, "available_memory", lambda: 3 << 30)
    with pytest.raises(
        Undecided, match=r"this needs about 4\.0 GiB of memory, of which 3\.0 GiB are available"
    ) as caught:
        memory.require_memory(1 << 32, "this")
    assert caught.value.reason is Reason.MEMORY


def test_limits_of_group_and_process_count(monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    files = {"memory.max": "5000", "memory.current": "2000", "statm": "1 1 1"}
    monkeypatch.setattr(memory, "_lines", lambda path: iter([files[path.name]] if path.name in files else []))
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.available_memory() == 3000
    monkeypatch.setattr(resource, "getrlimit", lambda which: (7000, 7000))
    monkeypatch.setattr(memory.os, "sysconf", lambda name: 4096)
    assert memory.available_memory() == 2904
    files.clear()
    monkeypatch.setattr(resource, "getrlimit", lambda which: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert memory.available_memory() == 1 << 62
