"""The engines against the table of expected values, against brute force, and against each other, exactly."""

from __future__ import annotations

from fractions import Fraction

import brute_force
import numpy as np
import pytest
from golden import GOLDEN, Row
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos import Network, connectivity
from lakatos.checker import check_certificate
from lakatos.graphs import flows
from lakatos.graphs.bottlenecks import one_sided
from lakatos.graphs.connectivity import Connectivity
from lakatos.graphs.feasibility import Witness, feasible_point
from lakatos.graphs.residual import Residual
from lakatos.testing import balanced_dags, balanced_multigraphs


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"row{row.id}")
def test_expected_values(row: Row) -> None:
    result = connectivity(row.network)
    assert result.feasible is row.feasible
    assert result.minima == (row.frozen or {})
    assert result.log2_components == row.log2
    assert result.regular_log2_components == row.regular_log2
    assert result.regular_frozen_edges == row.regular_frozen
    check_facts(result)


def check_facts(result: Connectivity) -> None:
    """The checker accepts the certificate and reads the same answer off it."""
    facts = check_certificate(result.network.to_fields(), result.certificate.to_json())
    assert facts["feasible"] is result.feasible
    assert facts["connected"] is result.connected
    assert facts["log2_components"] == result.log2_components
    assert facts["frozen"] == result.frozen_edges
    assert facts["regular_connected"] is result.regular_connected
    assert facts["regular_log2_components"] == result.regular_log2_components
    assert facts["regular_frozen"] == result.regular_frozen_edges
    if result.feasible:
        for edge in range(result.network.edge_count):
            assert facts[f"minimum[{edge}]"] == result.minima.get(edge, 0)


def agree_with_brute_force(network: Network) -> None:
    graph = brute_force.graph_of(network)
    result = connectivity(network)
    assert result.feasible == brute_force.feasible(graph)
    if result.feasible:
        least = brute_force.minima(graph)
        assert result.minima == {e: m for e, m in enumerate(least) if m > 0}
        assert 2**result.log2_components == brute_force.components(graph)
        regular = brute_force.regular_components(graph)
        assert (0 if result.regular_log2_components is None else 2**result.regular_log2_components) == regular
        if regular:
            assert result.regular_frozen_edges == brute_force.regular_frozen(graph)
    check_facts(result)


@given(balanced_multigraphs(max_edges=6))
@settings(max_examples=150, deadline=None)
def test_multigraphs_against_brute_force(fields: dict) -> None:
    agree_with_brute_force(Network.from_edges(**fields))


@given(balanced_dags(max_edges=7))
@settings(max_examples=150, deadline=None)
def test_dags_against_brute_force(fields: dict) -> None:
    agree_with_brute_force(Network.from_edges(**fields))


@given(balanced_dags(max_edges=24, max_hidden=8))
@settings(max_examples=150, deadline=None)
def test_both_engines_agree(fields: dict) -> None:
    network = Network.from_edges(**fields)
    point = feasible_point(network)
    assert not isinstance(point, Witness)
    residual = Residual(network, point)
    assert residual.singular_witness() is None
    settled = residual.settle(regular=True)
    for s in settled:
        moved = point.copy()
        for e, step in s.change.items():
            moved[e] += step
        assert moved.min() >= 0
        assert moved[s.edge] == s.minimum
        for v in network.hidden_nodes:
            assert moved[network.head == v].sum() - moved[network.tail == v].sum() == network.numerators[v]
    result = connectivity(network)
    assert {s.edge: s.minimum for s in settled if s.minimum} == {
        e: m * network.denominator for e, m in result.minima.items()
    }
    assert tuple(s.edge for s in settled if s.regular_frozen) == result.regular_frozen_edges


@given(balanced_dags(max_edges=16, max_hidden=6), st.integers(64, 300))
@settings(max_examples=50, deadline=None)
def test_balances_beyond_64_bits(fields: dict, bits: int) -> None:
    """Scaling the balance scales the minima, whatever arithmetic it takes."""
    small = connectivity(Network.from_edges(**fields))
    fields["balance"] = {v: Fraction(c) * 2**bits for v, c in fields["balance"].items()}
    large = connectivity(Network.from_edges(**fields))
    assert large.minima == {e: m * 2**bits for e, m in small.minima.items()}
    assert large.regular_frozen_edges == small.regular_frozen_edges


@given(balanced_multigraphs(max_edges=12))
@settings(max_examples=50, deadline=None)
def test_without_ortools_the_answer_is_the_same(fields: dict) -> None:
    network = Network.from_edges(**fields)
    fast = connectivity(network)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(flows, "_ortools", None)
        plain = connectivity(network)
    assert plain.feasible == fast.feasible
    assert plain.minima == fast.minima
    assert plain.regular_frozen_edges == fast.regular_frozen_edges
    check_facts(plain)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_float_weights_margin_is_sound(data: st.DataObject) -> None:
    """Where the margin says robust, weights moved within the rounding give the same frozen weights."""
    fields = data.draw(balanced_dags(max_edges=10, max_hidden=4))
    tail_head = fields["edges"]
    size = len(tail_head)
    weights = data.draw(st.lists(st.sampled_from([0.5, 1.0, 1.5, 2.0, -1.0, 0.25]), min_size=size, max_size=size))
    edges = [[a, b, float(w)] for (a, b), w in zip(tail_head, weights, strict=True)]
    network = Network.from_edges(edges, inputs=fields["inputs"], outputs=fields["outputs"])
    result = connectivity(network)
    assert result.margin is not None
    moves = data.draw(st.lists(st.sampled_from([-1, 0, 1]), min_size=size, max_size=size))
    moved = [
        [a, b, Fraction(w) * (1 + m * Fraction(result.margin.rounding))]
        for (a, b, w), m in zip(edges, moves, strict=True)
    ]
    other = connectivity(Network.from_edges(moved, inputs=fields["inputs"], outputs=fields["outputs"]))
    stable = set(range(size)) - set(result.margin.sensitive_edges)
    assert set(other.frozen_edges) & stable == set(result.frozen_edges) & stable


def test_a_walk_that_uses_an_edge_twice_changes_it_twice() -> None:
    """From d to c without d→c: the trees lead d→b→a→x, then x→b→a→c."""
    pairs = [("a", "c"), ("a", "x"), ("b", "a"), ("d", "b"), ("d", "c"), ("x", "b")]
    balance = {"a": 0, "b": 0, "c": 2, "d": -2}
    network = Network.from_edges(pairs, inputs=["x"], outputs=[], balance=balance)
    residual = Residual(network, np.array([0, 0, 0, 0, 2, 0]))
    assert residual.merged.walk(4).count(2) == 2
    (settled,) = (s for s in residual.settle(regular=True) if s.edge == 4)
    assert settled.change == {0: 2, 1: 2, 2: 4, 3: 2, 4: -2, 5: 2}


def test_margin_of_a_tie_is_not_robust() -> None:
    """x→v→y with equal float weights: the balance is exactly 0, and either sign is within the rounding."""
    tie = connectivity(Network.from_edges([["x", "v", 1.0], ["v", "y", 1.0]]))
    assert tie.connected is True
    assert tie.margin is not None
    assert tie.margin.sensitive_edges == (0, 1)
    clear = connectivity(Network.from_edges([["x", "v", 1.0], ["v", "y", 2.0]]))
    assert clear.margin is not None
    assert clear.margin.robust


def test_margin_on_a_cycle_uses_the_residual_flow() -> None:
    edges = [["x", "v", 1.0], ["v", "w", 1.0], ["w", "v", 2.0], ["v", "y", 2.0]]
    clear = connectivity(Network.from_edges(edges, inputs=["x"], outputs=["y"]))
    assert clear.frozen_edges == (2, 3)
    assert clear.margin is not None
    assert clear.margin.robust
    edges[2][2] = 1.0  # now w has balance 0, and a rounding may lock the edge before or after it
    tie = connectivity(Network.from_edges(edges, inputs=["x"], outputs=["y"]))
    assert tie.frozen_edges == (3,)
    assert tie.margin is not None
    assert tie.margin.sensitive_edges == (1, 2)


def test_one_sided_flow_reaches_deep_closures() -> None:
    """A chain of n nodes with supply at its start: the last edge is locked by the whole chain."""
    n = 400
    edges = [("x", "v0"), *[(f"v{i}", f"v{i + 1}") for i in range(n)], (f"v{n}", "y")]
    balance = {"v0": -3, **{f"v{i}": 0 for i in range(1, n + 1)}}
    network = Network.from_edges(edges, balance=balance)
    last = one_sided(network, "out")[-1]
    assert (last.edge, last.minimum, len(last.critical)) == (n + 1, 3, n + 1)
    assert connectivity(network).log2_components == n + 1


def test_many_parallel_edges_do_not_wrap() -> None:
    """256 parallel edges are still an edge (an 8-bit count would wrap to none)."""
    edges = [("x", "v")] + [("v", "w")] * 256 + [("w", "v")] + [("w", "y")]
    network = Network.from_edges(edges, inputs=["x"], outputs=["y"], balance={"v": -1, "w": 0})
    assert connectivity(network).frozen_edges == (258,)


def test_dtype_of_large_knots() -> None:
    """Sums along paths can exceed 64 bits although every balance fits."""
    big = 1 << 60
    network = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")], balance={"a": -big, "b": -big})
    point = feasible_point(network)
    assert isinstance(point, np.ndarray)
    assert point.tolist() == [0, big, 2 * big]
