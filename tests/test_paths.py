"""Paths inside invariant sets: exact, complete, and regular where that was asked for."""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import Any

import brute_force
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from lakatos import InputError, Network, connectivity
from lakatos.checker import Invalid, check_certificate
from lakatos.core import Certificate
from lakatos.graphs.faces import interior_point
from lakatos.graphs.feasibility import Witness, feasible_point
from lakatos.graphs.layered import layered_network
from lakatos.graphs.paths import Path, component_path
from lakatos.graphs.points import balance_of_squares, moved_onto
from lakatos.graphs.rank import is_regular
from lakatos.testing import balanced_dags, balanced_multigraphs

Point = list[Fraction]
CHAIN = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": 1})
FORK = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": 1})


def fields_of(network: Network, start: Point, end: Point) -> dict[str, Any]:
    return {**network.to_fields(), "start": list(map(str, start)), "end": list(map(str, end))}


def facts_of(network: Network, start: Point, end: Point, path: Path) -> dict[str, Any]:
    return check_certificate(fields_of(network, start, end), path.certificate.to_json())


@st.composite
def points(draw: st.DrawFn, network: Network) -> Point:
    """Points of the set: combinations of a vertex and a point of largest support, with any signs."""
    vertex = feasible_point(network)
    assert not isinstance(vertex, Witness)
    p, q = interior_point(network, vertex)
    weight = draw(st.sampled_from([Fraction(0), Fraction(1), Fraction(1, 3)]))
    point = []
    for e in range(network.edge_count):
        u = (1 - weight) * Fraction(int(vertex[e])) + weight * Fraction(int(p[e]), q)
        point.append(draw(st.sampled_from([-1, 1])) * u / network.denominator)
    return point


def check_path(network: Network, start: Point, end: Point, path: Path) -> None:
    assert path.knots is not None
    assert path.knots[0] == tuple(start)
    assert path.knots[-1] == tuple(end)
    for knot in path.knots:
        assert all(b == network.sum_of_balances([v]) for v, b in balance_of_squares(network, knot).items())
    for a, b in pairwise(path.knots):
        assert all(x * y >= 0 for x, y in zip(a, b, strict=True))


@given(st.one_of(balanced_multigraphs(max_edges=7), balanced_dags(max_edges=8)), st.data())
@settings(max_examples=150)
def test_path_exists_iff_frozen_signs_agree(fields: dict[str, Any], data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    assume(not isinstance(feasible_point(network), Witness))
    start, end = data.draw(points(network)), data.draw(points(network))
    path = component_path(network, start, end)
    frozen = brute_force.frozen(brute_force.graph_of(network))
    assert path.separating == tuple(e for e in frozen if start[e] * end[e] < 0)
    assert path.joined == (not path.separating)
    facts = facts_of(network, start, end, path)
    if path.joined:
        check_path(network, start, end, path)
        assert facts == {"joined": True, "residual_along_the_path": 0}
    else:
        assert facts == {"joined": False, "joined_regularly": False}


@given(st.one_of(balanced_multigraphs(max_edges=7), balanced_dags(max_edges=8)), st.data())
@settings(max_examples=150)
def test_regular_path_exists_iff_regular_frozen_signs_agree(fields: dict[str, Any], data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    assume(not isinstance(feasible_point(network), Witness))
    start, end = data.draw(points(network)), data.draw(points(network))
    assume(is_regular(network, start) and is_regular(network, end))
    path = component_path(network, start, end, regular=True)
    locked = brute_force.regular_frozen(brute_force.graph_of(network))
    assert path.separating == tuple(e for e in locked if start[e] * end[e] < 0)
    facts = facts_of(network, start, end, path)
    assert facts["joined_regularly"] is path.joined
    if path.joined:
        check_path(network, start, end, path)
        assert all(is_regular(network, knot) for knot in path.knots or ())


def test_the_straight_line_is_no_path_but_the_knots_are() -> None:
    """From (1, 1, 1) to (−1, 1, 1) the midpoint (0, 1, 1) has balance 0; the path goes through (0, 1, 0)."""
    start, end = [Fraction(1)] * 3, [Fraction(-1), Fraction(1), Fraction(1)]
    path = component_path(FORK, start, end)
    assert path.knots == (tuple(start), (0, 1, 0), tuple(end))
    for t in np.linspace(0, 1, 101):
        theta = path.at(float(t))
        # Three squares below 2, each rounded once, and two additions.
        assert abs(theta[0] ** 2 + theta[1] ** 2 - theta[2] ** 2 - 1) < 16 * 2.0**-52
    assert path.at(0).tolist() == [1, 1, 1]
    assert path.at(1).tolist() == [-1, 1, 1]
    with pytest.raises(InputError, match=r"t=1\.5"):
        path.at(1.5)


def test_frozen_signs_separate() -> None:
    path = component_path(CHAIN, [Fraction(2), Fraction(1)], [Fraction(-2), Fraction(1)])
    assert (path.joined, path.separating) == (False, (0,))
    with pytest.raises(InputError, match="joined=False"):
        path.at(0.5)


def test_a_regular_path_avoids_the_apex_of_a_cone() -> None:
    """With balance 0 all weights vanish together, but only at a singular point: a regular path flips fewer at once."""
    star = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y"), ("v", "w")], balance={"v": 0})
    start = [Fraction(1)] * 4
    path = component_path(star, start, [-w for w in start], regular=True)
    assert path.knots is not None
    assert all(is_regular(star, knot) for knot in path.knots)
    assert len(component_path(star, start, [-w for w in start]).knots or ()) == 3


@given(balanced_dags(max_edges=8), st.data())
@settings(max_examples=60)
def test_rounded_points_are_moved_onto_the_set(fields: dict[str, Any], data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    point = data.draw(points(network))
    noise = st.sampled_from([Fraction(0), Fraction(1, 10**8), Fraction(-1, 10**8)])
    rounded = [w * (1 + data.draw(noise)) for w in point]
    moved, largest = moved_onto(network, rounded)
    assert all(b == network.sum_of_balances([v]) for v, b in balance_of_squares(network, moved).items())
    changes = [abs(a) - abs(b) for a, b in zip(moved, rounded, strict=True)]
    assert all(change >= 0 for change in changes)
    assert largest == max(changes)
    assert all(a * b >= 0 for a, b in zip(moved, rounded, strict=True))
    # Each node misses at most 1e-8 of the squares at its edges, and what is missing adds up along paths.
    assert largest <= sum(map(abs, point)) * len(point) / 10**8


def test_few_knots_suffice_in_wide_networks() -> None:
    """No point has all weights zero, but two points do that have no positive weight in common."""
    network = layered_network([10, 20, 20, 10], [[1, -1] * 10, [-2, 2] * 10])
    vertex = feasible_point(network)
    p, q = interior_point(network, vertex)
    start = [Fraction(int(x), q) for x in p]
    path = component_path(network, start, [-w for w in start])
    assert len(path.knots or ()) == 4


def test_ends_have_to_lie_in_the_set() -> None:
    inside, outside = [Fraction(2), Fraction(1)], [Fraction(2), Fraction(2)]
    with pytest.raises(InputError, match="end: the balance of 'v' is 0, but 1 on the invariant set"):
        component_path(CHAIN, inside, outside)
    with pytest.raises(InputError, match="start: the balance"):
        component_path(CHAIN, outside, inside)
    with pytest.raises(InputError, match="1 values for 2 edges"):
        component_path(CHAIN, inside[:1], inside)
    cross = CHAIN.with_balance({"v": 0})
    with pytest.raises(InputError, match="start: a singular point"):
        component_path(cross, [Fraction(0)] * 2, [Fraction(1)] * 2, regular=True)


def test_through_the_singular_point_or_not_at_all() -> None:
    """The cross θ₁² = θ₂²: joined through 0, but not by regular points."""
    cross = CHAIN.with_balance({"v": 0})
    ends = [Fraction(1), Fraction(1)], [Fraction(-1), Fraction(1)]
    assert component_path(cross, *ends).joined
    path = component_path(cross, *ends, regular=True)
    assert path.separating == (0,)
    assert facts_of(cross, *ends, path) == {"joined_regularly": False}


# Lies -------------------------------------------------------------------------------------------------------------------

ONE, THREE = ["1", "1", "1"], ["-1", "1", "1"]
GOOD = {"kind": "path_of_knots", "knots": [{"0": "1", "1": "1", "2": "1"}, {"1": "1"}, {"0": "-1", "1": "1", "2": "1"}]}
LIES: dict[str, tuple[dict[str, Any], str]] = {
    "straight line": ({"knots": [GOOD["knots"][0], GOOD["knots"][2]]}, "the sign of edge 0 jumps between 0 and 1"),
    "knot outside": ({"knots": [GOOD["knots"][0], {"1": "1", "2": "1"}, GOOD["knots"][2]]}, "the balance of 'v'"),
    "other start": ({"knots": GOOD["knots"][1:]}, "not the start"),
    "other end": ({"knots": GOOD["knots"][:2]}, "not the end"),
    "no knots": ({"knots": []}, "not the start"),
    "regular as text": ({"regular": "yes"}, "true or false"),
}


def test_a_path_by_hand_checks() -> None:
    fields = {**FORK.to_fields(), "start": ONE, "end": THREE}
    assert check_certificate(fields, {**GOOD, "regular": False})["joined"] is True
    assert check_certificate(fields, {**GOOD, "regular": True})["joined_regularly"] is True
    fields = {**FORK.to_fields(), "start": ONE, "signs": [-1, 1, 1]}
    assert check_certificate(fields, {**GOOD, "regular": False})["reachable"] is True
    with pytest.raises(Invalid, match="does not have the signs"):
        check_certificate({**fields, "signs": [-1, -1, 1]}, {**GOOD, "regular": False})
    with pytest.raises(Invalid, match="1 or -1 is needed"):
        check_certificate({**fields, "signs": [-1, 0, 1]}, {**GOOD, "regular": False})


@pytest.mark.parametrize("lie", LIES)
def test_false_paths_are_refused(lie: str) -> None:
    change, message = LIES[lie]
    with pytest.raises(Invalid, match=message):
        check_certificate({**FORK.to_fields(), "start": ONE, "end": THREE}, {**GOOD, "regular": False, **change})


def test_singular_knots_are_refused_where_regular_ones_are_claimed() -> None:
    fields = {**CHAIN.with_balance({"v": 0}).to_fields(), "start": ["1", "1"], "end": ["-1", "1"]}
    knots = {"kind": "path_of_knots", "knots": [{"0": "1", "1": "1"}, {}, {"0": "-1", "1": "1"}]}
    assert check_certificate(fields, {**knots, "regular": False})["joined"] is True
    with pytest.raises(Invalid, match="singular"):
        check_certificate(fields, {**knots, "regular": True})


@pytest.mark.parametrize(
    ("network", "ends", "data", "message"),
    [
        (
            FORK,
            (["2", "0", "1"], ["2", "0", "-1"]),
            {"edge": 2, "witness": {"side": "out", "nodes": ["v"], "sum": "1"}},
            "does not keep the weight",
        ),
        (CHAIN, (["2", "1"], ["-2", "1"]), {"edge": 1}, "are not \\[1\\]"),
        (CHAIN, (["2", "1"], ["2", "-1"]), {}, "does not have opposite signs"),
        (CHAIN, (["2", "1"], ["-2", "1"]), {"edge": True}, "no edge number"),
        (CHAIN, (["2", "1"], ["-1", "1"]), {}, "the balance of 'v'"),
    ],
)
def test_false_separations_are_refused(
    network: Network, ends: tuple[list[str], list[str]], data: dict[str, Any], message: str
) -> None:
    certificate = {"edge": 0, "witness": {"side": "in", "nodes": ["v"], "sum": "1"}, **data}
    with pytest.raises(Invalid, match=message):
        check_certificate(
            {**network.to_fields(), "start": ends[0], "end": ends[1]}, {"kind": "different_components", **certificate}
        )


def test_the_certificate_of_a_result_is_used() -> None:
    result = connectivity(CHAIN)
    ends = [Fraction(2), Fraction(1)], [Fraction(-2), Fraction(1)]
    path = component_path(CHAIN, *ends, result=result)
    assert path.certificate == Certificate(
        "different_components", {"edge": 0, "witness": {"side": "in", "nodes": ["v"], "sum": "1"}}
    )
