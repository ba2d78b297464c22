"""The brute force against the table of expected values, and its different ways against each other, exactly."""

from __future__ import annotations

import math
from fractions import Fraction

import brute_force
import pytest
from brute_force import Graph, graph_of
from golden import GOLDEN, Row
from hypothesis import given
from hypothesis import strategies as st

from lakatos import Network
from lakatos.testing import balanced_dags, balanced_multigraphs

GLUED_EDGES = 9  # gluing 2^E pieces costs 4^E
GLUED = [row for row in GOLDEN if row.network.edge_count <= GLUED_EDGES]


def dag_graphs() -> st.SearchStrategy[Graph]:
    return balanced_dags(max_edges=7).map(lambda fields: graph_of(Network.from_edges(**fields)))


def graphs() -> st.SearchStrategy[Graph]:
    arbitrary = balanced_multigraphs(max_edges=6, max_hidden=4)
    return dag_graphs() | arbitrary.map(lambda fields: graph_of(Network.from_edges(**fields)))


def without(graph: Graph, D: int) -> Graph:
    """Return the graph without the edges in the mask D: its P is the face F_D."""
    kept = tuple(ends for e, ends in enumerate(graph.edges) if not D >> e & 1)
    return Graph(kept, graph.hidden, graph.balance)


def count(log2: int | None) -> int:
    return 0 if log2 is None else 2**log2


def row_id(row: Row) -> str:
    return f"row{row.id}"


def test_the_table_is_complete() -> None:
    assert [row.id for row in GOLDEN] == list(range(1, 46))


@pytest.mark.parametrize("row", GOLDEN, ids=row_id)
def test_expected_values(row: Row) -> None:
    graph = graph_of(row.network)
    assert brute_force.satisfies_hypothesis_a(graph) == row.hypothesis_a
    assert brute_force.feasible(graph) == row.feasible
    assert brute_force.frozen(graph) == tuple(row.frozen or ())
    if row.frozen is not None:
        assert {e: m for e, m in enumerate(brute_force.minima(graph)) if m > 0} == row.frozen
        assert row.log2 == len(row.frozen)
    assert brute_force.regular_frozen(graph) == row.regular_frozen
    assert row.regular_log2 == (len(row.regular_frozen) if graph.regular_faces else None)
    assert brute_force.has_singular_point(graph) == row.singular


@pytest.mark.parametrize("row", GLUED, ids=row_id)
def test_expected_topology(row: Row) -> None:
    graph = graph_of(row.network)
    assert brute_force.components(graph) == count(row.log2)
    assert brute_force.regular_components(graph) == count(row.regular_log2)
    betti = brute_force.betti_numbers(graph)
    assert betti[:1] == ((count(row.log2),) if row.feasible else ())
    if row.betti is not None:
        assert betti == row.betti


@given(graphs())
def test_vertices_solve_the_equations_on_independent_columns(graph: Graph) -> None:
    assert len(set(graph.vertices)) == len(graph.vertices)
    for u in graph.vertices:
        assert min(u, default=0) >= 0
        for row, v in zip(graph.incidence, graph.hidden, strict=True):
            assert sum(b * x for b, x in zip(row, u, strict=True)) == graph.balance[v]
        positive = brute_force.mask_of(e for e, x in enumerate(u) if x > 0)
        assert brute_force.support_rank(graph, positive) == positive.bit_count()


@given(graphs())
def test_feasible_iff_no_closed_set_violates(graph: Graph) -> None:
    assert brute_force.feasible(graph) == (not brute_force.violating_closed_sets(graph))


@given(graphs())
def test_minima_are_given_by_stable_sets_and_positive_iff_the_rest_is_infeasible(graph: Graph) -> None:
    if not brute_force.feasible(graph):
        with pytest.raises(ValueError, match="P is empty"):
            brute_force.minima(graph)
        return
    minima = brute_force.minima(graph)
    assert minima == brute_force.minima_by_stable_sets(graph)
    assert [m > 0 for m in minima] == [
        bool(brute_force.violating_closed_sets(without(graph, 1 << e))) for e in range(graph.size)
    ]


@given(graphs())
def test_components_are_counted_by_frozen_edges(graph: Graph) -> None:
    expected = 2 ** len(brute_force.frozen(graph)) if brute_force.feasible(graph) else 0
    assert brute_force.components(graph) == expected
    assert brute_force.betti_numbers(graph)[:1] == ((expected,) if expected else ())
    regular = 2 ** len(brute_force.regular_frozen(graph)) if graph.regular_faces else 0
    assert brute_force.regular_components(graph) == regular


@given(dag_graphs())
def test_regular_frozen_iff_a_stable_sum_is_not_strict(graph: Graph) -> None:
    expected = set()
    for W in brute_force.subsets(graph.hidden):
        total = sum(graph.balance[v] for v in W)
        leaving, entering = brute_force.leaving(graph, W), brute_force.entering(graph, W)
        expected |= set(leaving) if len(leaving) == 1 and total <= 0 else set()
        expected |= set(entering) if len(entering) == 1 and total >= 0 else set()
    assert brute_force.regular_frozen(graph) == tuple(sorted(expected))


@given(graphs(), st.data())
def test_support_of_a_face_is_where_an_edge_can_be_positive(graph: Graph, data: st.DataObject) -> None:
    if not graph.faces:
        return
    D = data.draw(st.sampled_from(sorted(graph.faces)), label="D")
    # B is totally unimodular: if u_e > 0 somewhere on a face, then u_e >= 1/q somewhere, q the common denominator of c.
    least = Fraction(1, math.lcm(*(c.denominator for c in graph.balance.values())))
    for e, (a, b) in enumerate(graph.edges):
        moved = {v: c - least * ((v == b) - (v == a)) for v, c in graph.balance.items()}
        rest = without(Graph(graph.edges, graph.hidden, moved), D)
        can_be_positive = not D >> e & 1 and not brute_force.violating_closed_sets(rest)
        assert (brute_force.face_support(graph, D) >> e & 1) == can_be_positive


@given(graphs(), st.data())
def test_rank_of_the_jacobian_counts_terminal_free_components(graph: Graph, data: st.DataObject) -> None:
    weights = st.lists(
        st.sampled_from([Fraction(0), Fraction(1, 3), Fraction(-2)]), min_size=graph.size, max_size=graph.size
    )
    theta = data.draw(weights, label="theta")
    support = brute_force.mask_of(e for e, t in enumerate(theta) if t)
    kappa = brute_force.terminal_free_components(graph, support)
    assert brute_force.jacobian_rank(graph, theta) == len(graph.hidden) - kappa


@given(graphs())
def test_singular_point_iff_a_vertex_of_low_rank(graph: Graph) -> None:
    h = len(graph.hidden)
    sparse = any(sum(x > 0 for x in u) < h for u in graph.vertices)
    degenerate = any(brute_force.jacobian_rank(graph, u) < h for u in graph.vertices)
    assert brute_force.has_singular_point(graph) == sparse == degenerate


def test_cycles_freeze_edges_without_a_bottleneck() -> None:
    network = Network.from_edges(["xv", "vw", "wv", "vy"], inputs="x", outputs="y", balance={"v": -1, "w": 0})
    assert brute_force.minima(graph_of(network)) == [0, 0, 0, 1]


@pytest.mark.parametrize(("theta", "rank"), [((0, 1, 0), 1), ((1, 1, 0), 2), ((0, 1, 1), 2), ((0, 0, 1), 1)])
def test_rank_on_a_chain(theta: tuple[int, ...], rank: int) -> None:
    chain = Graph(((0, 1), (1, 2), (2, 3)), (1, 2), {1: Fraction(0), 2: Fraction(0)})
    assert brute_force.jacobian_rank(chain, theta) == rank
