"""Certificates written by hand check, and each way in which one can lie is refused."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from golden import GOLDEN

from lakatos.checker import Invalid, check_certificate

ROWS = {row.id: row for row in GOLDEN}
Data = dict[str, Any]


def witness(side: str, nodes: str, total: str) -> Data:
    return {"side": side, "nodes": nodes.split(), "sum": total}


def entry(edge: int, minimum: str, regular_frozen: bool, witness: Data | None = None, **above: Data) -> Data:
    key = "change" if "change" in above else "flows"
    rest = above["change"] if key == "change" else {side.rstrip("_"): flow for side, flow in above.items()}
    return {
        "edge": edge,
        "minimum": minimum,
        "regular_frozen": regular_frozen,
        "witness": witness,
        key: rest,
    }


def connected(method: str, point: Data, *edges: Data, cut_off: Data | None = None) -> Data:
    regular = {"nonempty": cut_off is None, "witness": cut_off}
    return {"kind": "connectivity", "method": method, "point": point, "edges": list(edges), "regular": regular}


def net(edges: str, **balance: str | int) -> Data:
    pairs = [edge.split(">") for edge in edges.split()]
    terminals = {name for pair in pairs for name in pair} - set(balance)
    return {"edges": pairs, "inputs": sorted(terminals), "outputs": [], "balance": balance}


# Worked out on paper from the criteria alone, one for each of these rows of the table of expected values.
BY_HAND: dict[int, Data] = {
    1: connected(
        "degrees", {"0": "1"}, entry(0, "1", True, witness("in", "v", "1"), in_={}), entry(1, "0", False, out={})
    ),
    2: connected(
        "degrees", {"1": "1"}, entry(0, "0", False, in_={}), entry(1, "1", True, witness("out", "v", "-1"), out={})
    ),
    3: connected(
        "degrees",
        {},
        entry(0, "0", True, witness("in", "v", "0"), in_={}, out={}),
        entry(1, "0", True, witness("out", "v", "0"), out={}, in_={}),
    ),
    4: connected("degrees", {"0": "1/2", "1": "1/2"}, entry(2, "0", False, out={})),
    5: connected("degrees", {"2": "1"}, entry(2, "1", True, witness("out", "v", "-1"), out={})),
    6: connected("degrees", {}, entry(2, "0", True, witness("out", "v", "0"), out={})),
    7: connected("degrees", {"0": "2"}, entry(3, "0", False, out={})),
    8: connected("degrees", {"0": "1"}, entry(0, "1", True, witness("in", "v", "1"), in_={})),
    14: connected(
        "degrees",
        {"1": "1"},
        entry(0, "0", True, witness("in", "b a", "0"), in_={"1": "1"}),
        entry(1, "1", True, witness("in", "b", "1"), out={}, in_={}),
        entry(2, "0", True, witness("out", "a b", "0"), out={"1": "1"}),
    ),
    17: connected(
        "degrees",
        {"1": "2", "3": "1"},
        entry(0, "0", False, in_={"1": "1"}),
        entry(3, "1", True, witness("out", "a v", "-1"), out={"1": "3/2", "2": "1/2"}),
    ),
    18: connected(
        "degrees",
        {"0": "3", "3": "1"},
        entry(0, "3", True, witness("in", "a", "3"), in_={}),
        entry(3, "1", True, witness("out", "v", "-1"), out={}),
    ),
    19: connected(
        "degrees",
        {"1": "2"},
        entry(0, "0", True, witness("in", "a v", "0"), in_={"1": "2"}),
        entry(3, "0", True, witness("out", "a v", "0"), out={"2": "2"}),
    ),
    20: connected("degrees", {"2": "2", "3": "1"}, entry(0, "0", False, in_={}), entry(4, "0", False, out={})),
    33: {"kind": "invariant_set_empty", "side": "out", "nodes": ["v"], "sum": "-1"},
    36: connected(
        "residual",
        {"0": "1", "1": "1"},
        entry(0, "1", True, witness("in", "a d", "1"), change={}),
        entry(1, "1", True, witness("in", "d", "1"), change={}),
    ),
    37: connected(
        "residual",
        {"0": "1"},
        entry(0, "1", True, witness("out", "a", "-1"), change={}),
        entry(1, "0", True, witness("in", "a v", "0"), change={}),
        entry(2, "0", True, witness("out", "a v", "0"), change={}),
    ),
    38: connected(
        "residual",
        {"0": "1"},
        entry(0, "1", False, witness("in", "v", "1"), change={}),
        cut_off=witness("in", "z", "0"),
    ),
    40: connected(
        "degrees",
        {"0": "1", "2": "3"},
        entry(1, "0", False, in_={}),
        entry(4, "0", False, out={}),
        entry(5, "0", True, witness("out", "w", "0"), out={"2": "3"}),
    ),
}


@pytest.mark.parametrize("number", BY_HAND)
def test_by_hand(number: int) -> None:
    row = ROWS[number]
    facts = check_certificate(row.fields, BY_HAND[number])
    assert facts["feasible"] is row.feasible
    assert facts["frozen"] == tuple(row.frozen or ())
    assert facts["log2_components"] == row.log2
    assert facts["connected"] is (None if row.log2 is None else row.log2 == 0)
    assert facts["regular_frozen"] == row.regular_frozen
    assert facts["regular_log2_components"] == row.regular_log2
    assert facts["regular_connected"] is (None if row.regular_log2 is None else row.regular_log2 == 0)
    minima = {q: m for q, m in facts.items() if q.startswith("minimum")}
    edges = range(len(row.fields["edges"])) if row.feasible else ()
    assert minima == {f"minimum[{e}]": (row.frozen or {}).get(e, Fraction(0)) for e in edges}


def test_slack_is_reached_backwards_and_forwards() -> None:
    """The flow exhausts v and a; from v it is followed back to a, and from there the way on leads to the slack of b."""
    fields = net("x>a x>a a>b a>v x>b b>v v>y", a=-2, b=1, v=2)
    edges = entry(5, "0", False, out={}), entry(6, "0", False, out={"3": "2"})
    facts = check_certificate(fields, connected("degrees", {"3": "2", "4": "1"}, *edges))
    assert (facts["log2_components"], facts["regular_log2_components"]) == (0, 0)


def test_zeros_may_be_written() -> None:
    certificate = {"kind": "invariant_set_point", "squares": {"0": "1", "1": "0"}}
    assert check_certificate(ROWS[1].fields, certificate) == {"feasible": True}


def test_point_of_a_network_with_weights() -> None:
    fields = {"edges": [["x", "v", "3/2"], ["v", "y", "-0.5"]]}
    assert check_certificate(fields, {"kind": "invariant_set_point", "squares": {"0": "2"}}) == {"feasible": True}


# --- lies: (edges and balance, or the number of a row; the certificate; what the refusal has to say) ----------------------


def edited(number: int, *path: str | int, to: Any) -> tuple[int, Data, str]:
    """Return the certificate by hand of a row with one entry replaced."""
    certificate = copy.deepcopy(BY_HAND[number])
    place: Any = certificate
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return number, certificate, ""


DETOUR = net("x>v v>w w>v v>y", v=-1, w=0)
DEAD_END = net("x>a x>a a>d a>y", a=-2, d=1)
DEAD_START = net("d>a x>a a>y a>y", a=2, d=-1)

LIES: dict[str, tuple[int | Data, Data, str]] = {
    "point is negative": (3, {"kind": "invariant_set_point", "squares": {"0": "-1", "1": "-1"}}, "negative"),
    "point misses the balance": (1, {"kind": "invariant_set_point", "squares": {"0": "2"}}, "balance of 'v' is 2"),
    "point on an edge that is not there": (1, {"kind": "invariant_set_point", "squares": {"0": "1", "2": "1"}}, "no such"),
    "point counts an edge twice": (1, {"kind": "invariant_set_point", "squares": {"0": "1/2", "00": "1/2"}}, "'00'"),
    "point of an empty set": (33, {"kind": "invariant_set_point", "squares": {}}, "balance of 'v' is 0"),
    "empty: sum is zero": (34, {"kind": "invariant_set_empty", **witness("out", "v", "0")}, "no contradiction"),
    "empty: sum has the other sign": (32, {"kind": "invariant_set_empty", **witness("out", "v", "1")}, "no contradiction"),
    "empty: sum is misstated": (34, {"kind": "invariant_set_empty", **witness("out", "v", "-1")}, "not the sum"),
    "empty: set is not closed": (2, {"kind": "invariant_set_empty", **witness("out", "v", "-1")}, "cross on side 'out'"),
    "empty: wrong side": (33, {"kind": "invariant_set_empty", **witness("in", "v", "-1")}, "cross on side 'in'"),
    "empty: node twice": (
        net("x>a a>b", a=2, b=-1),
        {"kind": "invariant_set_empty", **witness("out", "a b b b", "-1")},
        "twice",
    ),
    "empty: terminal in the set": (33, {"kind": "invariant_set_empty", **witness("out", "v x", "-1")}, "'x' is not a hidden"),
    "empty: no nodes": (33, {"kind": "invariant_set_empty", **witness("out", "", "-1")}, "empty"),
    "minimum too large": (*edited(2, "edges", 1, "minimum", to="2")[:2], "does not give minimum=2"),
    "minimum too small": (*edited(2, "edges", 1, to=entry(1, "0", False, out={}))[:2], "more flows in"),
    "minimum of the smaller side": (
        23,
        connected("degrees", {"2": "2"}, entry(2, "1", True, witness("out", "v", "-1"), out={})),
        "balance of 'v'|in is missing",
    ),
    "frozen edge left out": (2, connected("degrees", {"1": "1"}, BY_HAND[2]["edges"][0]), "edge 1: method 'degrees' lists"),
    "edge that is no bottleneck": (4, connected("degrees", {"0": "1"}, entry(0, "0", False), entry(2, "0", False, out={})),
                                   "edge 0: method 'degrees' lists"),
    "negative minimum": (*edited(1, "edges", 1, "minimum", to="-1")[:2], "negative"),
    "witness with the other sign": (*edited(1, "edges", 1, to=entry(1, "1", True, witness("out", "v", "1"), out={}))[:2],
                                    "does not give"),
    "witness with another edge out": (
        9,
        connected("residual", {"1": "1"}, entry(1, "1", True, witness("out", "v", "-1"), change={})),
        "the edges that cross on side 'out' are not",
    ),
    "witness without its edge": (*edited(14, "edges", 1, "witness", to=witness("out", "a b", "0"))[:2], "are not \\[1\\]"),
    "witness of nothing": (*edited(1, "edges", 1, "witness", to=witness("out", "v", "1"))[:2], "nothing is claimed"),
    "regular-frozen without witness": (*edited(20, "edges", 0, "regular_frozen", to=True)[:2], "witness"),
    "not regular-frozen: no slack": (
        6, connected("degrees", {}, entry(2, "0", False, out={})), "no slack"
    ),
    "not regular-frozen: slack out of reach": (
        40,
        connected("degrees", {"0": "1", "2": "3"}, *BY_HAND[40]["edges"][:2], entry(5, "0", False, out={"2": "3"})),
        "no slack",
    ),
    "frozen but not regular-frozen": (*edited(2, "edges", 1, "regular_frozen", to=False)[:2], "contradicts"),
    "flow on the edge itself": (
        3, connected("degrees", {}, BY_HAND[3]["edges"][0], entry(1, "0", False, out={"1": "1"})), "not inside the funnel"
    ),
    "flow from outside": (*edited(17, "edges", 1, "flows", "out", "0", to="1")[:2], "not inside the funnel"),
    "negative flow": (*edited(40, "edges", 2, "flows", "out", "2", to="-3")[:2], "negative"),
    "too little flow": (*edited(40, "edges", 2, "flows", "out", "2", to="2")[:2], "at 'q' more"),
    "flow missing": (*edited(2, "edges", 1, "flows", to={})[:2], "out is missing"),
    "flow on a side without stable sets": (*edited(2, "edges", 1, "flows", "in", to={"0": "1"})[:2], "no stable set"),
    "degrees in spite of a cycle": (
        DETOUR,
        connected("degrees", {"3": "1"}, entry(1, "0", True, witness("in", "w", "0"), in_={}),
                  entry(2, "0", True, witness("out", "w", "0"), out={})),
        "cycle",
    ),
    "degrees in spite of a dead end": (
        DEAD_END,
        connected("degrees", {"2": "1", "3": "1"}, entry(2, "1", True, witness("in", "d", "1"), in_={})),
        "'d' has no incoming or no outgoing",
    ),
    "degrees in spite of a dead start": (
        DEAD_START,
        connected("degrees", {"0": "1", "1": "1"}, entry(0, "1", True, witness("out", "d", "-1"), out={})),
        "'d' has no incoming or no outgoing",
    ),
    "change breaks a balance": (*edited(38, "edges", 0, "change", to={"0": "1"})[:2], "out of the polyhedron"),
    "change below zero": (
        38,
        connected("residual", {"0": "1"}, entry(0, "0", False, change={"0": "-1", "1": "-1"}),
                  cut_off=witness("in", "z", "0")),
        "out of the polyhedron",
    ),
    "change stops early": (
        5, connected("residual", {"0": "1", "2": "2"}, entry(0, "0", False, change={}),
                     entry(2, "1", True, witness("out", "v", "-1"), change={"0": "-1", "2": "-1"})),
        "edge 0: the change does not lead to minimum=0",
    ),
    "frozen edge not listed, no regular points": (
        38, connected("residual", {"0": "1"}, cut_off=witness("in", "z", "0")), "the point is not 0 there"
    ),
    "not regular-frozen: no slack behind the flow": (
        19,
        connected("degrees", {"1": "2"}, BY_HAND[19]["edges"][0], entry(3, "0", False, out={"2": "2"})),
        "no slack",
    ),
    "an integer as key": (2, {"kind": "invariant_set_point", "squares": {1: "1"}}, "1 is no edge number"),
    "a key in other digits": (2, {"kind": "invariant_set_point", "squares": {"\u00b9": "1"}}, "is no edge number"),
    "frozen edge not listed": (37, connected("residual", {"0": "1"}, *BY_HAND[37]["edges"][1:]), "edge 0 is not listed"),
    "regular-frozen edge not listed": (6, connected("residual", {}), "edge 2 is not listed"),
    "regular-frozen edges on every tree": (3, connected("residual", {}), "edge 0 is not listed"),
    "regular-frozen edge listed as free": (
        6, connected("residual", {}, entry(2, "0", False, change={})), "edge 2: the change does not show"
    ),
    "regular points where there are none": (
        38, connected("residual", {"0": "1"}, entry(0, "1", True, witness("in", "v", "1"), change={})), "not strongly"
    ),
    "regular points without terminals": (net("a>b b>a", a=0, b=0), connected("residual", {}), "not strongly"),
    "no regular points: set is not closed": (
        3, connected("residual", {}, cut_off=witness("out", "v", "0")), "cross on side 'out'"
    ),
    "no regular points: sum is not zero": (
        32,
        connected("residual", {"0": "1"}, entry(0, "1", False, witness("in", "v", "1"), change={}),
                  cut_off=witness("out", "v", "1")),
        "the sum of the witness is not 0",
    ),
    "no regular points, yet regular-frozen": (*edited(38, "edges", 0, "regular_frozen", to=True)[:2], "contradicts"),
    "no regular points, no witness": (*edited(38, "regular", "witness", to=None)[:2], "an object is needed"),
    "regular points with a witness": (*edited(38, "regular", "nonempty", to=True)[:2], "'nonempty' is true with no witness"),
    "edge listed twice": (*edited(2, "edges", 0, to=BY_HAND[2]["edges"][1])[:2], "listed twice"),
    "negative edge": (*edited(2, "edges", 1, "edge", to=-1)[:2], "no edge number"),
    "edge out of range": (*edited(2, "edges", 1, "edge", to=2)[:2], "no edge number"),
    "a boolean as edge": (*edited(2, "edges", 1, "edge", to=True)[:2], "no edge number"),
    "an integer as boolean": (*edited(2, "edges", 1, "regular_frozen", to=1)[:2], "no boolean"),
    "unknown side": (*edited(2, "edges", 1, "witness", "side", to="both")[:2], "'out' or 'in'"),
    "unknown method": (*edited(2, "method", to="trust me")[:2], "'degrees' or 'residual'"),
    "unknown kind": (*edited(2, "kind", to="oracle")[:2], "unknown; known are"),
    "unknown key": (*edited(2, "note", to="all is well")[:2], "unknown key 'note'"),
    "a float": (*edited(2, "edges", 1, "minimum", to=1.0)[:2], "exact number"),
    "a float that is no number": (*edited(2, "point", "1", to=float("nan"))[:2], "exact number"),
    "a boolean as number": (*edited(2, "point", "1", to=True)[:2], "exact number"),
    "a number too large to compute": (*edited(2, "point", "1", to="1e999999999")[:2], "exact number"),
    "a number too long to read": (*edited(2, "point", "1", to="1" * 100_000)[:2], "exact number"),
    "division by zero": (*edited(2, "point", "1", to="1/0")[:2], "exact number"),
    "conservation on a cycle": (DETOUR, {"kind": "conservation_identity", "degree": 1}, "cycle"),
    "conservation of degree 0": (1, {"kind": "conservation_identity", "degree": 0}, "degree=0"),
    "conservation of large degree": (1, {"kind": "conservation_identity", "degree": 65}, "degree=65"),
    "conservation of boolean degree": (1, {"kind": "conservation_identity", "degree": True}, "degree=True"),
}  # fmt: skip


@pytest.mark.parametrize("lie", LIES)
def test_lies_are_refused(lie: str) -> None:
    subject, certificate, message = LIES[lie]
    fields = ROWS[subject].fields if isinstance(subject, int) else subject
    with pytest.raises(Invalid, match=message):
        check_certificate(fields, certificate)


BAD_FIELDS: dict[str, Any] = {
    "no object": [],
    "no edges": {},
    "no nodes": {"edges": []},
    "edge of one node": {"edges": [["x"]]},
    "edge as text": {"edges": ["xy"]},
    "self-loop": {"edges": [["x", "x"]], "inputs": ["x"]},
    "self-loop after reading": {"edges": [["1", 1]], "inputs": [1]},
    "boolean name": {"edges": [["x", True]]},
    "name of many digits": {"edges": [["x", 10**5000]]},
    "some weights": {"edges": [["x", "v", 1], ["v", "y"]]},
    "float weight": {"edges": [["x", "v", 0.1], ["v", "y", 1]]},
    "weights and balance": {"edges": [["x", "v", 1], ["v", "y", 1]], "balance": {"v": 0}},
    "no balance": {"edges": [["x", "v"], ["v", "y"]]},
    "balance of a terminal": {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 0, "x": 0}},
    "balance of nobody": {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 0, "w": 0}},
    "balance given twice": {"edges": [["x", 1], [1, "y"]], "balance": {"1": 0, 1: 0}},
    "balance missing for one": {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 0}, "nodes": ["z"]},
    "balance as list": {"edges": [["x", "v"], ["v", "y"]], "balance": ["v"]},
    "input listed twice": {"edges": [["x", "v"]], "inputs": ["x", "x"], "balance": {}},
    "unknown output": {"edges": [["x", "v"]], "outputs": ["y"], "balance": {"v": 0}},
    "unknown key": {"edges": [["x", "y"]], "output": ["y"]},
    "no width": {"widths": []},
    "one width": {"widths": [2]},
    "boolean width": {"widths": [True, 1]},
    "negative width": {"widths": [1, -1, 1]},
    "too many edges": {"widths": [10**9, 10**9]},
    "bias as text": {"widths": [1, 1], "bias": "yes"},
    "layered balance of the wrong shape": {"widths": [1, 2, 1], "balance": [[1]]},
    "layered with edges": {"widths": [1, 1], "edges": [["x", "y"]]},
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_bad_instances_are_refused(name: str) -> None:
    with pytest.raises(Invalid):
        check_certificate(BAD_FIELDS[name], {"kind": "invariant_set_point", "squares": {}})
