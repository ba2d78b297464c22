"""Betti numbers of the cell complex, measured without the formula, against the table and against brute force."""

from __future__ import annotations

from typing import Any

import brute_force
import pytest
from golden import GOLDEN, Row
from hypothesis import given, settings

from lakatos import Network
from lakatos.core import Undecided
from lakatos.graphs.layered import layered_network
from lakatos.numerics import cells, gluing
from lakatos.numerics.polyhedra import Polyhedron
from lakatos.testing import balanced_multigraphs


@pytest.mark.parametrize("row", [row for row in GOLDEN if row.betti], ids=lambda row: f"row{row.id}")
def test_table(row: Row) -> None:
    assert cells.betti_numbers(row.network) == row.betti


@given(balanced_multigraphs(max_edges=6))
@settings(max_examples=60)
def test_agrees_with_the_formula(fields: dict[str, Any]) -> None:
    network = Network.from_edges(**fields)
    graph = brute_force.graph_of(network)
    betti = cells.betti_numbers(network)
    assert betti == brute_force.betti_numbers(graph)
    assert sum(betti[:1]) == brute_force.components(graph)


@given(balanced_multigraphs(max_edges=6))
@settings(max_examples=60)
def test_sign_changes_within_a_component(fields: dict[str, Any]) -> None:
    """What can change is any set of signs of weights that are not frozen."""
    network = Network.from_edges(**fields)
    graph = brute_force.graph_of(network)
    frozen = brute_force.mask_of(brute_force.frozen(graph))
    expected = {D for D in range(1 << graph.size) if D & frozen == 0} if brute_force.feasible(graph) else set()
    assert gluing.sign_changes(network) == expected


def test_limits() -> None:
    with pytest.raises(Undecided, match="at most 200000"):
        cells.betti_numbers(next(row.network for row in GOLDEN if row.id == 43))
    with pytest.raises(ValueError, match="at most 14 edges"):
        Polyhedron.of(layered_network([3, 3, 2], [[0, 0, 0]]))
