"""Ranks, singular points, faces and Betti numbers against the table of expected values and against brute force, exactly."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import brute_force
import numpy as np
import pytest
from golden import GOLDEN, Row
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lakatos import Network
from lakatos.checker import check_certificate
from lakatos.core import Reason, Undecided
from lakatos.graphs import singular as singular_module
from lakatos.graphs.faces import face_point, interior_point, zero_set
from lakatos.graphs.factors import factors
from lakatos.graphs.feasibility import Witness
from lakatos.graphs.homology import betti_numbers, homology
from lakatos.graphs.layered import layered_network
from lakatos.graphs.rank import is_regular, jacobian_rank, terminal_free_components
from lakatos.graphs.singular import singular_point
from lakatos.graphs.vanishing import attainment, vanishing
from lakatos.testing import balanced_dags, balanced_multigraphs, dags, multigraphs, weighted_dags

Fields = dict[str, Any]


def row(number: int) -> Row:
    return next(row for row in GOLDEN if row.id == number)


# The table of expected values -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"row{row.id}")
def test_expected_singular_points(row: Row) -> None:
    found = singular_point(row.network)
    assert found.exists is row.singular
    check_singular(row.network)


@pytest.mark.parametrize("row", [row for row in GOLDEN if row.id != 43], ids=lambda row: f"row{row.id}")
def test_expected_betti_numbers(row: Row) -> None:
    betti = betti_numbers(row.network)
    if row.betti is not None:
        assert betti == row.betti
    assert (betti[0] if betti else None) == (None if row.log2 is None else 2**row.log2)
    check_betti(row.network)


def test_large_factors_have_no_betti_numbers() -> None:
    with pytest.raises(Undecided, match="12 edges hang together at hidden neuron 'a'; at most 10") as error:
        betti_numbers(row(43).network)
    assert error.value.reason is Reason.INCOMPLETE_METHOD


# Brute force ------------------------------------------------------------------------------------------------------------


def check_singular(network: Network) -> None:
    found = singular_point(network)
    assert found.certificate is not None
    facts = check_certificate(network.to_fields(), found.certificate.to_json())
    assert facts.get("singular", False) is found.exists
    if found.point is not None:
        assert not is_regular(network, found.point)


def check_betti(network: Network) -> None:
    found = homology(network)
    facts = check_certificate(network.to_fields(), found.certificate.to_json())
    assert facts.get("betti", ()) == found.betti


@given(st.one_of(balanced_multigraphs(max_edges=7), balanced_dags(max_edges=8)))
@settings(max_examples=120)
def test_singular_points_against_brute_force(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    assert singular_point(network).exists is brute_force.has_singular_point(brute_force.graph_of(network))
    check_singular(network)


@given(balanced_dags(max_edges=16, max_hidden=7))
@settings(max_examples=80)
def test_answers_about_larger_networks_check(fields: Fields) -> None:
    """The checker enumerates all sets anew, and wants an obstruction for each."""
    check_singular(Network.from_edges(**fields))


@given(st.one_of(balanced_multigraphs(max_edges=5), balanced_dags(max_edges=6)))
@settings(max_examples=100)
def test_betti_numbers_against_brute_force(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    assert betti_numbers(network) == brute_force.betti_numbers(brute_force.graph_of(network))
    check_betti(network)


@given(multigraphs(max_hidden=5, max_edges=9), st.data())
@settings(max_examples=100)
def test_rank_against_elimination(fields: Fields, data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    size = network.edge_count
    theta = data.draw(st.lists(st.sampled_from([0, 0, 1, -2, Fraction(1, 10**21)]), min_size=size, max_size=size))
    graph = brute_force.graph_of(network.with_balance(dict.fromkeys(network.hidden_names, 0)))
    assert jacobian_rank(network, theta) == brute_force.jacobian_rank(graph, theta)
    assert is_regular(network, theta) == (brute_force.jacobian_rank(graph, theta) == len(graph.hidden))
    for component in terminal_free_components(network, theta):
        inside = set(component)
        crossing = [e for e, (a, b) in enumerate(graph.edges) if (a in inside) != (b in inside)]
        assert all(theta[e] == 0 for e in crossing)


@given(st.one_of(balanced_multigraphs(max_edges=7), balanced_dags(max_edges=7)), st.data())
@settings(max_examples=120)
def test_faces_against_brute_force(fields: Fields, data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    graph = brute_force.graph_of(network)
    zero = data.draw(st.sets(st.integers(0, network.edge_count - 1), max_size=4)) if network.edge_count else set()
    mask = brute_force.mask_of(zero)
    point = face_point(network, zero)
    found = vanishing(network, zero)
    facts = check_certificate({**network.to_fields(), "vanishing": sorted(zero)}, found.certificate.to_json())
    assert facts == {"vanish_together": found.together, "zero_set": found.zero_set}
    assert (not isinstance(point, Witness)) == found.together == (mask in graph.faces)
    assert zero_set(network, zero) == found.zero_set
    if isinstance(point, Witness):
        return
    support = brute_force.face_support(graph, mask)
    assert found.zero_set == tuple(e for e in range(graph.size) if not support >> e & 1)
    p, q = interior_point(network, point, zero)
    assert brute_force.mask_of(np.flatnonzero(p > 0).tolist()) == support
    assert (p >= 0).all()
    for v in graph.hidden:
        net = sum(int(p[e]) * ((b == v) - (a == v)) for e, (a, b) in enumerate(graph.edges))
        assert Fraction(net, q * network.denominator) == graph.balance[v]


@given(weighted_dags(max_edges=7, dead_ends=True), st.data())
@settings(max_examples=100)
def test_attainable_balances_against_brute_force(fields: Fields, data: st.DataObject) -> None:
    """c' is attained iff the face of the zero weights has a point that is positive on all others."""
    network = Network.from_edges(**fields)
    assume(network.weights is not None)
    target = {v: data.draw(st.sampled_from([0, 0, 1, -1, "1/2"])) for v in network.hidden_names}
    goal = brute_force.graph_of(network.with_balance(target))
    zero = brute_force.mask_of(e for e, w in enumerate(network.weights or ()) if w == 0)
    expected = zero in goal.faces and brute_force.face_support(goal, zero) | zero == (1 << goal.size) - 1
    found = attainment(network, target)
    assert found.attained is expected
    facts = check_certificate({**network.to_fields(), "target": target}, found.certificate.to_json())
    assert facts == {"attained": expected}


# Factors, limits and liars ----------------------------------------------------------------------------------------------


@given(dags(max_hidden=5, max_edges=9))
def test_factors_partition_hidden_nodes_and_their_edges(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    found = factors(network)
    assert sorted(v for factor in found for v in factor.nodes) == network.hidden_nodes.tolist()
    touching = np.flatnonzero(network.hidden[network.tail] | network.hidden[network.head])
    assert sorted(e for factor in found for e in factor.edges) == touching.tolist()
    for factor in found:
        ends = {*network.tail[list(factor.edges)].tolist(), *network.head[list(factor.edges)].tolist()}
        assert {v for v in ends if network.hidden[v]} == set(factor.nodes)


@pytest.mark.parametrize(
    ("widths", "balance", "expected"),
    [
        ((2, 2, 2), (1, -1), (1, 2, 1)),
        ((3, 2, 1), (1, -1), (2, 0, 2)),
        ((1, 2, 2), (-1, 0), (1, 1)),
        ((2, 1, 3), (-1,), (1, 0, 1)),
        ((2, 2, 1), (2, 0), (1, 1)),
        ((3, 2, 3), (1, -1), None),
    ],
)
def test_poincare_polynomials_of_two_layers(
    widths: tuple[int, ...], balance: tuple[int, ...], expected: tuple[int, ...] | None
) -> None:
    """Spheres: the product of 1 + t^(d-1) for c > 0, 1 + t^(o-1) for c < 0, 1 for c = 0."""
    polynomial = np.array([1])
    for c in balance:
        sphere = np.zeros(max(widths[0], widths[-1]), int)
        sphere[0] += 1
        if c:
            sphere[(widths[0] if c > 0 else widths[-1]) - 1] += 1
        polynomial = np.convolve(polynomial, sphere)
    found = betti_numbers(layered_network(widths, [balance]))
    assert found == tuple(np.trim_zeros(polynomial, "b").tolist())
    assert expected in (None, found)


def test_many_factors_are_decided_one_by_one() -> None:
    """Two hundred hidden nodes, yet each is a factor of its own."""
    balance = [1 + k for k in range(200)]
    assert singular_point(layered_network([2, 200, 2], [balance])).exists is False
    balance[150] = 0
    network = layered_network([2, 200, 2], [balance])
    assert [network.names[v] for v in singular_point(network).nodes] == ["h1.150"]


def deep(first: list[Any], second: list[Any]) -> Network:
    return layered_network([2, len(first), len(second), 2], [first, second])


def test_balances_of_one_sign_need_no_enumeration() -> None:
    network = deep([1] * 20, [2] * 20)
    assert singular_point(network).exists is False
    check_singular(network)


def test_a_planted_zero_sum_is_found_among_many_nodes() -> None:
    """The only negative balance is -17 = -5 - 12, and no node alone is zero."""
    network = deep([-17, *range(18, 33)], [5, 12, *range(33, 45)])
    found = singular_point(network)
    assert found.exists
    assert network.sum_of_balances(found.nodes) == 0
    check_singular(network)


def test_what_the_search_does_not_find_is_undecided() -> None:
    network = deep([1 - 2 * (k % 2) for k in range(12)], ["1/3"] * 12)
    found = singular_point(network)
    assert found.exists is None or found.exists
    odd = deep([Fraction(2 * k + 1, 2**k) for k in range(12)], [Fraction(-2 * k - 1, 3**k) for k in range(12)])
    found = singular_point(odd)
    assert found.exists is None
    assert found.reason is Reason.INCOMPLETE_METHOD
    assert "proves nothing" in found.explanation
    assert found.certificate is None


def test_the_solver_is_not_believed() -> None:
    """0.1 + 0.2 is 0.3 to the solver, but not in row 22."""
    from lakatos.graphs.singular_scout import scouted_set

    network = row(22).network
    (factor,) = factors(network)
    assert scouted_set(network, factor) == (1, 2, 3)
    assert singular_point(network).exists is False
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(singular_module, "LARGEST_ENUMERATION", 2)
        assert singular_point(network).exists is None


def test_weights_with_a_dead_neuron_are_a_singular_point() -> None:
    """Forty hidden nodes: only the weights themselves show it at once."""
    rng = np.random.default_rng(0)
    network = layered_network([3, 20, 20, 2])
    weights = rng.normal(size=network.edge_count)
    dead = network.names.index("h2.7")
    weights[(network.tail == dead) | (network.head == dead)] = 0
    edges = [
        [network.names[a], network.names[b], float(w)]
        for a, b, w in zip(network.tail, network.head, weights, strict=True)
    ]
    found = singular_point(Network.from_edges(edges))
    assert found.exists
    assert singular_point(Network.from_edges(edges)).nodes == (Network.from_edges(edges).names.index("h2.7"),)
