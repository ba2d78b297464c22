"""Certificates about geometry: written by hand they check, each lie is refused, edited at random they stay true."""

from __future__ import annotations

import copy
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_checker_fuzz import LEAVES, edit, places

from lakatos import Network
from lakatos.checker import Invalid, check_certificate
from lakatos.graphs.homology import homology
from lakatos.graphs.paths import component_path
from lakatos.graphs.singular import singular_point
from lakatos.graphs.vanishing import attainment, vanishing
from lakatos.testing import balanced_dags, balanced_multigraphs, dags_with_points, weighted_dags

Data = dict[str, Any]


def net(edges: str, **balance: str | int) -> Data:
    pairs = [edge.split(">") for edge in edges.split()]
    terminals = {name for pair in pairs for name in pair} - set(balance)
    return {"edges": pairs, "inputs": sorted(terminals), "outputs": [], "balance": balance}


def witness(side: str, nodes: str, total: str | int) -> Data:
    return {"side": side, "nodes": nodes.split(), "sum": str(total)}


CHAIN = net("x>a a>b b>y", a=-1, b=1)
REVERSED = net("x>a a>b b>y", a=1, b=-1)
TWO_IN = net("x>v z>v v>y", v=1)
CONE = net("x>v z>v v>y", v=0)
WEIGHTED: Data = {"edges": [["x", "a", 0], ["a", "b", 1], ["b", "y", 0], ["x", "c", 2], ["c", "y", 1]]}
DEAD: Data = {"edges": [["x", "v", 1], ["v", "y", 0]], "target": {"v": "2"}}
CIRCLE: Data = {
    "kind": "betti_numbers",
    "factors": [
        {
            "edges": [0, 1, 2],
            "points": [{"0": "1"}, {"1": "1"}],
            "obstructions": [witness("in", "v", 1)],
        }
    ],
}

TRUE: dict[str, tuple[Data, Data, Data]] = {
    "rank": (WEIGHTED, {"kind": "jacobian_rank", "components": [["b", "a"]]}, {"rank": 2, "regular": False}),
    "singular point": (
        CHAIN,
        {"kind": "singular_point", "nodes": ["a", "b"], "squares": {"1": "1"}},
        {"feasible": True, "singular": True},
    ),
    "no singular point": (
        REVERSED,
        {"kind": "no_singular_point", "obstructions": [witness("in", "a", 1)]},
        {"singular": False},
    ),
    "no singular point of an empty set": (
        net("x>v w>y", v=-1, w=1),
        {"kind": "no_singular_point", "obstructions": [witness("out", "v", -1)]},
        {"singular": False},
    ),
    "no singular point, one sign": (
        net("x>a a>b b>y", a=1, b=2),
        {"kind": "no_singular_point", "obstructions": []},
        {"singular": False},
    ),
    "vanish with another": (
        {**CONE, "vanishing": [2]},
        {"kind": "vanishing_weights", "squares": {}, "forced": [witness("out", "v", 0)]},
        {"vanish_together": True, "zero_set": (0, 1, 2)},
    ),
    "never vanish together": (
        {**TWO_IN, "vanishing": [0, 1]},
        {"kind": "vanishing_weights", "obstruction": witness("in", "v", 1)},
        {"vanish_together": False, "zero_set": None},
    ),
    "attained": (DEAD, {"kind": "rescaling", "squares": {"0": "2"}}, {"attained": True}),
    "not attained, sum": (
        {**DEAD, "target": {"v": "-2"}},
        {"kind": "rescaling", "witness": witness("out", "v", -2)},
        {"attained": False},
    ),
    "not attained, boundary": (
        {**DEAD, "target": {"v": "0"}},
        {"kind": "rescaling", "witness": witness("out", "v", 0)},
        {"attained": False},
    ),
    "not attained, nothing there": (
        {"edges": [["x", "v", 0], ["v", "y", 0]], "target": {"v": "1"}},
        {"kind": "rescaling", "witness": witness("out", "v", 1)},
        {"attained": False},
    ),
    "circle": (TWO_IN, CIRCLE, {"feasible": True, "betti": (1, 1)}),
}


@pytest.mark.parametrize("name", TRUE)
def test_by_hand(name: str) -> None:
    fields, certificate, facts = TRUE[name]
    assert check_certificate(fields, certificate) == facts


def changed(name: str, message: str, fields: Data | None = None, **entries: Any) -> tuple[Data, Data, str]:
    """Return the true certificate with other entries, and perhaps for other fields."""
    own, certificate, _ = TRUE[name]
    return own if fields is None else fields, {**certificate, **entries}, message


def circle(message: str, fields: Data = TWO_IN, **entries: Any) -> tuple[Data, Data, str]:
    return fields, {"kind": "betti_numbers", "factors": [{**CIRCLE["factors"][0], **entries}]}, message


LIES: dict[str, tuple[Data, Data, str]] = {
    "component left out": changed("rank", "terminal-free components", components=[]),
    "component with a terminal": changed("rank", "terminal-free", components=[["a", "b"], ["c"]]),
    "component in parts": changed("rank", "terminal-free", components=[["a"], ["b"]]),
    "component twice": changed("rank", "terminal-free", components=[["a", "b"], ["a", "b"]]),
    "component of a terminal": changed("rank", "not a hidden node", components=[["x"]]),
    "rank without weights": changed("rank", "no weights", CHAIN),
    "boundary not zero": changed("singular point", "edge 1 crosses", nodes=["a"]),
    "no node cut off": changed("singular point", "set of nodes is empty", nodes=[]),
    "point outside": changed("singular point", "the balance of", squares={"1": "2"}),
    "terminal cut off": changed("singular point", "not a hidden node", nodes=["y"]),
    "zero sum ignored": changed("no singular point", "none keeps the boundary of 'a', 'b'", obstructions=[]),
    "zero sum that can be cut off": changed("no singular point", "none keeps the boundary", CHAIN, obstructions=[]),
    "obstruction across other edges": changed(
        "no singular point",
        "none keeps the boundary of 'a', 'b'",
        net("x>a a>b b>y x>c c>y", a=1, b=-1, c=5),
        obstructions=[witness("in", "c", 5)],
    ),
    "obstruction across an inner edge": changed(
        "no singular point", "none keeps the boundary of 'a', 'b'", CHAIN, obstructions=[witness("out", "a", -1)]
    ),
    "obstruction of sum 0": changed(
        "no singular point", "no contradiction", CHAIN, obstructions=[witness("out", "a b", 0)]
    ),
    "obstruction of the right sign": changed(
        "no singular point", "no contradiction", obstructions=[witness("out", "a", 1)]
    ),
    "obstruction with another sum": changed("no singular point", "not the sum", obstructions=[witness("in", "a", 2)]),
    "too many to enumerate": changed(
        "no singular point",
        "21 hidden nodes hang together",
        net(
            " ".join(f"h{k}>h{k + 1}" for k in range(20)) + " x>h0 h20>y",
            **{f"h{k}": (-1) ** k * 3**k for k in range(21)},
        ),
        obstructions=[],
    ),
    "vanishing: square not zero": changed("vanish with another", "not 0 on all", squares={"0": "1", "2": "1"}),
    "vanishing: not forced": changed("vanish with another", "nothing shows that edge 0", forced=[]),
    "vanishing: forced by another way out": changed(
        "vanish with another", "crosses the wrong way", {**CONE, "vanishing": [0]}
    ),
    "vanishing: forced by a sum that is not 0": changed(
        "vanish with another",
        "sum is not 0",
        {**TWO_IN, "vanishing": [2]},
        squares={"0": "1"},
        forced=[witness("out", "v", 1)],
    ),
    "vanishing: field left out": changed("vanish with another", "vanishing is missing", CONE),
    "vanishing: no edge": changed("vanish with another", "no edge number", {**CONE, "vanishing": [3]}),
    "vanishing: a boolean": changed("vanish with another", "no edge number", {**CONE, "vanishing": [True]}),
    "never vanish: another edge": changed(
        "never vanish together", "other than the given", {**TWO_IN, "vanishing": [0]}
    ),
    "never vanish: both kinds": changed("never vanish together", "unknown key", squares={}),
    "attained beyond the support": changed("attained", "not positive exactly", squares={"0": "3", "1": "1"}),
    "attained on part of the support": changed(
        "attained", "not positive exactly", {"edges": [["x", "v", 1], ["x", "v", 1]], "target": {"v": 2}, "outputs": []}
    ),
    "attained with another balance": changed("attained", "the balance of", squares={"0": "1"}),
    "attained without target": changed("attained", "balance is missing", {"edges": DEAD["edges"]}),
    "not attained, though it is": changed("not attained, sum", "can have", DEAD, witness=witness("out", "v", 2)),
    "not attained, sum misstated": changed("not attained, sum", "not the sum", witness=witness("out", "v", -3)),
    "not attained, other way out": changed(
        "not attained, sum", "crosses the wrong way", {"edges": [["x", "v", 1], ["v", "y", 1]], "target": {"v": "-2"}}
    ),
    "not attained, zero is right": changed(
        "not attained, nothing there",
        "can have",
        {"edges": [["x", "v", 0], ["v", "y", 0]], "target": {"v": "0"}},
        witness=witness("out", "v", 0),
    ),
    "betti: obstruction left out": circle("neither a point nor an obstruction", obstructions=[]),
    "betti: point left out": circle("neither a point nor an obstruction", points=[{"0": "1"}]),
    "betti: no point": circle("not empty", points=[]),
    "betti: point outside": circle("balance of 'v' is not met", points=[{"0": "2"}, {"1": "1"}]),
    "betti: obstruction without contradiction": circle("no contradiction", obstructions=[witness("out", "v", 1)]),
    "betti: other edges": circle("not those of the part", edges=[0, 1]),
    "betti: edges as booleans": circle("not those of the part", edges=[False, True, 2]),
    "betti: factor left out": (TWO_IN, {"kind": "betti_numbers", "factors": []}, "0 are listed, but 1"),
    "betti: edge of another part": (
        net("x>v z>v v>y x>w w>y", v=1, w=0),
        {
            "kind": "betti_numbers",
            "factors": [
                {**CIRCLE["factors"][0], "points": [{"0": "1", "3": "1"}, {"1": "1"}]},
                {"edges": [3, 4], "points": [{}], "obstructions": []},
            ],
        },
        "an edge of another part",
    ),
    "betti: too many edges": circle(
        "11 edges; at most 10", net(" ".join(f"x{k}>v" for k in range(10)) + " v>y", v=1), edges=list(range(11))
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_lies_are_refused(lie: str) -> None:
    fields, certificate, message = LIES[lie]
    with pytest.raises(Invalid, match=message):
        check_certificate(fields, certificate)


@st.composite
def true_certificates(draw: st.DrawFn) -> tuple[Data, Data]:
    """Fields with a certificate of one of the kinds about geometry."""
    kind = draw(st.sampled_from(["singular", "betti", "vanishing", "path", "rescaling"]))
    if kind == "path":
        fields = draw(dags_with_points("start", "end", max_edges=5))
        network = Network.from_edges(**{key: fields[key] for key in fields if key not in ("start", "end")})
        ends = [[Fraction(w) for w in fields[key]] for key in ("start", "end")]
        return fields, component_path(network, *ends).certificate.to_json()
    if kind == "rescaling":
        fields = draw(weighted_dags(max_edges=5))
        network = Network.from_edges(**fields)
        target = {v: draw(st.sampled_from([0, 1, -1])) for v in network.hidden_names}
        return {**fields, "target": target}, attainment(network, target).certificate.to_json()
    fields = draw(st.one_of(balanced_dags(max_edges=5), balanced_multigraphs(max_edges=5)))
    network = Network.from_edges(**fields)
    if kind == "singular":
        certificate = singular_point(network).certificate
        assert certificate is not None
        return fields, certificate.to_json()
    if kind == "betti":
        return fields, homology(network).certificate.to_json()
    edges = draw(st.lists(st.sampled_from(range(max(1, network.edge_count))), max_size=2, unique=True))
    edges = edges if network.edge_count else []
    return {**fields, "vanishing": edges}, vanishing(network, edges).certificate.to_json()


@given(true_certificates(), st.integers(1, 3), st.data())
@settings(max_examples=200)
def test_edited_certificates_are_refused_or_still_true(
    true: tuple[Data, Data], edits: int, data: st.DataObject
) -> None:
    fields, original = true
    facts = check_certificate(fields, original)
    certificate = copy.deepcopy(original)
    for _ in range(edits):
        if places(certificate):
            edit(data.draw, certificate)
    try:
        found = check_certificate(fields, certificate)
    except Invalid:
        return
    known = {**facts, "feasible": True} if facts.get("feasible", True) else facts
    for quantity, fact in found.items():
        # A path that claims to be regular establishes more than one that does not.
        if quantity in known:
            assert known[quantity] == fact


KINDS = (
    "jacobian_rank",
    "singular_point",
    "no_singular_point",
    "vanishing_weights",
    "path_of_knots",
    "different_components",
    "rescaling",
    "betti_numbers",
)


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=8))
def test_any_data_at_all_is_refused(data: Any) -> None:
    for kind in KINDS:
        for keys in (
            ["obstructions"],
            ["nodes", "squares"],
            ["factors"],
            ["knots", "regular"],
            ["witness"],
            ["squares"],
        ):
            for fields in ({**WEIGHTED, "target": data, "vanishing": data, "start": data, "end": data}, data):
                try:
                    check_certificate(fields, {"kind": kind, **dict.fromkeys(keys, data)})
                except Invalid:
                    continue
                # Nothing but an empty list of components, or of obstructions where none is needed, says anything.
                assert data in ([], {})
