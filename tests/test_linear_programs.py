"""Linear programs against the table of expected values, against gluing, and at the limits of floating point."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from golden import GOLDEN, Row
from hypothesis import given, settings

from lakatos import Network
from lakatos.core import Reason, Undecided
from lakatos.graphs.layered import layered_network
from lakatos.numerics import gluing, linear_programs
from lakatos.testing import Fields, balanced_dags, balanced_multigraphs, weighted_dags

# Minimum 1e-17 of an edge beside balances of 0.3: below the resolution of floating point, and reported as such.
BELOW_RESOLUTION = {22}


def two_edges(balance: object) -> Network:
    return Network.from_edges([("x", "v"), ("v", "y")], balance={"v": balance})


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"#{row.id}")
def test_table_of_minima(row: Row) -> None:
    found = linear_programs.minima(row.network)
    assert found.feasible == row.feasible
    assert found.is_decisive == (row.id not in BELOW_RESOLUTION)
    if row.frozen is not None:
        expected = [float(row.frozen.get(e, 0)) for e in range(row.network.edge_count)]
        # The error that the solution states and certifies.
        assert np.abs(np.subtract(found.values, expected)).max() <= found.error
    if found.is_decisive:
        assert found.frozen == tuple(row.frozen or ())


@pytest.mark.parametrize("row", GOLDEN, ids=lambda row: f"#{row.id}")
def test_table_of_regular_frozen_edges(row: Row) -> None:
    found = linear_programs.regular_frozen_edges(row.network)
    assert (found is None) == (row.regular_log2 is None)
    assert (found or ()) == row.regular_frozen


@given(balanced_multigraphs())
@settings(max_examples=150)
def test_agrees_with_gluing(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    found = linear_programs.minima(network)
    exact = gluing.minima(network)
    assert found.is_decisive
    assert found.feasible == (exact is not None)
    if exact is None:
        assert (found.edges, found.values, found.frozen) == ((), (), ())
        assert gluing.components(network) == 0
    else:
        assert all(abs(value - m) <= found.error for value, m in zip(found.values, exact, strict=True))
        assert gluing.components(network) == 2 ** len(found.frozen)


@given(balanced_multigraphs())
@settings(max_examples=100)
def test_regular_part_agrees_with_gluing(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    frozen = linear_programs.regular_frozen_edges(network)
    assert gluing.regular_components(network) == (None if frozen is None else 2 ** len(frozen))


@given(balanced_dags())
@settings(max_examples=50)
def test_no_regular_point_at_zero_for_a_frozen_edge(fields: Fields) -> None:
    network = Network.from_edges(**fields)
    for e in linear_programs.minima(network).frozen:
        assert not linear_programs.can_vanish_regularly(network, e)


@given(weighted_dags())
@settings(max_examples=50)
def test_balances_of_weights_are_feasible(fields: Fields) -> None:
    found = linear_programs.minima(Network.from_edges(**fields))
    assert found.feasible
    squares = [Fraction(weight) ** 2 for _, _, weight in fields["edges"]]
    assert all(value <= square + found.error for value, square in zip(found.values, squares, strict=True))


def test_minima_of_some_edges_only() -> None:
    network = layered_network([2, 2, 2, 1], [[1, -2], [3, -4]])
    all_edges = linear_programs.minima(network)
    some = linear_programs.minima(network, [9, 0])
    assert some.edges == (9, 0)
    assert some.values == (all_edges.values[9], all_edges.values[0]) == (4.0, 0.0)
    assert some.frozen == (9,)


@pytest.mark.parametrize("balance", [Fraction(10) ** 300, Fraction(1, 10**300), Fraction(10**400 + 1, 10**399)])
def test_rationals_with_hundreds_of_digits(balance: Fraction) -> None:
    found = linear_programs.minima(two_edges(balance))
    # One division of integers and one product, each rounded once.
    assert found.values == (pytest.approx(float(balance), rel=1e-15), 0.0)
    assert found.frozen == linear_programs.regular_frozen_edges(two_edges(balance)) == (0,)


@pytest.mark.parametrize("balance", [Fraction(10) ** 400, Fraction(1, 10**400)])
def test_rationals_beyond_the_range_of_floats_are_undecided(balance: Fraction) -> None:
    with pytest.raises(Undecided, match="beyond the range") as caught:
        linear_programs.minima(two_edges(balance))
    assert caught.value.reason is Reason.PRECISION


def test_infeasible_set_and_its_distance() -> None:
    network = Network.from_edges([("x", "a"), ("a", "b")], inputs=["x"], outputs=[], balance={"a": -2, "b": 1})
    found = linear_programs.minima(network)
    assert not found.feasible
    assert found.distance == 1.0  # {a, b} has no outgoing edge, and its balances sum to -1
    assert linear_programs.regular_frozen_edges(network) is None


def test_infeasibility_below_resolution_is_not_called_decisive() -> None:
    network = Network.from_edges([("x", "v")], inputs=["x"], outputs=[], nodes=["z"])
    assert linear_programs.minima(network.with_balance({"v": 1, "z": 1})).feasible is False
    assert not linear_programs.minima(network.with_balance({"v": 1, "z": "1e-30"})).is_decisive


def test_networks_without_hidden_nodes_or_edges() -> None:
    plain = linear_programs.minima(Network.from_edges([("x", "y"), ("x", "y")], balance={}))
    assert (plain.feasible, plain.values, plain.frozen) == (True, (0.0, 0.0), ())
    empty = linear_programs.minima(Network.from_edges([], inputs=["x"], nodes=["x", "z"], balance={"z": 0}))
    assert (empty.feasible, empty.values) == (True, ())


def test_barely_positive_coordinate_is_undecided() -> None:
    """Edge v→y equals 1e-7 where x→v vanishes: neither clearly 0 nor clearly positive beside a balance of 1."""
    edges = [("x", "v"), ("v", "y"), ("x", "w"), ("w", "y")]
    near = Network.from_edges(edges, balance={"v": "-1e-7", "w": 1})
    with pytest.raises(Undecided, match="barely positive") as caught:
        linear_programs.can_vanish_regularly(near, 0)
    assert caught.value.reason is Reason.PRECISION
    clear = Network.from_edges(edges, balance={"v": "-1e-5", "w": 1})
    assert linear_programs.can_vanish_regularly(clear, 0)


def answer(**changes: object) -> SimpleNamespace:
    """What the solver returns for edge 1 at balance -4, scaled to -1, but for these changes."""
    right = {
        "status": 0,
        "message": "",
        "x": np.array([0.0, 1.0]),
        "eqlin": SimpleNamespace(marginals=np.array([-1.0])),
    }
    return SimpleNamespace(**{**right, **changes})


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"status": 1, "message": "iteration limit"}, "iteration limit"),
        ({"status": 4, "message": "numerical difficulties"}, "numerical difficulties"),
        ({"status": 2}, "finds no point"),
        ({"x": np.array([0.0, 1.5])}, "too far apart"),  # not a point of P
        ({"x": np.array([1.0, 2.0])}, "too far apart"),  # not a minimum
        ({"x": np.array([np.nan, 1.0])}, "too far apart"),
        ({"eqlin": SimpleNamespace(marginals=np.array([0.0]))}, "too far apart"),
        ({"eqlin": SimpleNamespace(marginals=np.array([-2.0]))}, "nothing bounds"),
    ],
)
def test_the_solver_is_not_believed(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, object], complaint: str
) -> None:
    network = two_edges(-4)
    monkeypatch.setattr(linear_programs, "_distance", lambda *_: 0.0)
    monkeypatch.setattr(linear_programs, "linprog", lambda *_, **__: answer(**changes))
    with pytest.raises(Undecided, match=complaint) as caught:
        linear_programs.minima(network, [1])
    assert caught.value.reason is Reason.PRECISION


def test_the_solver_is_believed_when_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_programs, "_distance", lambda *_: 0.0)
    monkeypatch.setattr(linear_programs, "linprog", lambda *_, **__: answer())
    assert linear_programs.minima(two_edges(-4), [1]).values == (4.0,)
