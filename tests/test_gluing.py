"""Gluing sign pieces: the table of expected values, brute force, and what the pieces look like by hand."""

from __future__ import annotations

from fractions import Fraction

import brute_force
import pytest
from golden import GOLDEN, Row
from hypothesis import given, settings

from lakatos import Network
from lakatos.graphs.layered import layered_network
from lakatos.numerics import gluing
from lakatos.testing import Fields, balanced_multigraphs

SMALL = [row for row in GOLDEN if row.network.edge_count <= gluing.LARGEST]


def power_of_two(exponent: int | None) -> int | None:
    return None if exponent is None else 2**exponent


@pytest.mark.parametrize("row", SMALL, ids=lambda row: f"#{row.id}")
def test_table_of_components_and_minima(row: Row) -> None:
    network = row.network
    assert gluing.components(network) == (power_of_two(row.log2) or 0)
    assert gluing.regular_components(network) == power_of_two(row.regular_log2)
    minima = gluing.minima(network)
    assert (None if minima is None else {e: m for e, m in enumerate(minima) if m}) == row.frozen


def test_almost_all_of_the_table_is_small_enough() -> None:
    assert [row.id for row in GOLDEN if row not in SMALL] == [43]


@given(balanced_multigraphs(max_edges=6))
@settings(max_examples=100)
def test_agrees_with_brute_force(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    graph = brute_force.graph_of(network)
    assert gluing.components(network) == brute_force.components(graph)
    assert (gluing.regular_components(network) or 0) == brute_force.regular_components(graph)
    minima = gluing.minima(network)
    assert (minima is not None) == brute_force.feasible(graph)
    if minima is not None:
        assert list(minima) == brute_force.minima(graph)


def network_of_row(number: int) -> Network:
    return next(row.network for row in SMALL if row.id == number)


def test_one_plus_the_number_of_frozen_edges_is_wrong() -> None:
    network = network_of_row(12)
    frozen = sum(minimum > 0 for minimum in gluing.minima(network) or ())
    assert (frozen, gluing.components(network)) == (2, 4)


def test_not_every_bottleneck_edge_doubles_the_number() -> None:
    network = network_of_row(1)  # both edges are bottlenecks
    assert network.edge_count == 2
    assert gluing.components(network) == 2


def test_the_regular_part_may_have_more_components() -> None:
    network = network_of_row(3)  # a cross, connected through its singular point
    assert (gluing.components(network), gluing.regular_components(network)) == (1, 4)


def test_an_empty_set_has_no_component() -> None:
    network = network_of_row(33)
    assert (gluing.components(network), gluing.regular_components(network), gluing.minima(network)) == (0, None, None)


def test_cycle_through_hidden_nodes_freezes_an_edge_that_is_no_bottleneck() -> None:
    edges = [("x", "v"), ("v", "w"), ("w", "v"), ("v", "y")]
    network = Network.from_edges(edges, inputs=["x"], outputs=["y"], balance={"v": -1, "w": 0})
    assert gluing.minima(network) == (0, 0, 0, 1)
    assert gluing.components(network) == 2


def test_fractions_stay_exact() -> None:
    network = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": "-1/3000000000000000000001"})
    assert gluing.minima(network) == (0, Fraction(1, 3000000000000000000001))


def test_nine_edges() -> None:
    network = layered_network([3, 2, 1, 1], [[0, 0], [0]])
    assert network.edge_count == gluing.LARGEST
    # c = 0 makes H a cone, which is connected. Each of the three hidden nodes has one outgoing edge; where that vanishes, so
    # does all that enters (c_v = 0), and the node is cut off: at regular points these three edges keep their signs.
    assert gluing.components(network) == 1
    assert gluing.regular_components(network) == 2**3


def test_more_edges_are_refused() -> None:
    network = layered_network([2, 2, 3], [[0, 0]])
    for count in (gluing.components, gluing.regular_components, gluing.minima):
        with pytest.raises(ValueError, match=r"edges=10: .* at most 9"):
            count(network)
