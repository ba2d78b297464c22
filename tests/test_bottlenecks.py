"""Minima and critical sets of one side against all stable sets, on networks where funnels overlap in every way."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos import Network
from lakatos.graphs import closures, hubs
from lakatos.graphs.bottlenecks import one_sided
from lakatos.graphs.feasibility import Side
from lakatos.graphs.views import View

Found = dict[int, tuple[int, tuple[int, ...]]]


@st.composite
def funnels(draw: st.DrawFn) -> dict[str, Any]:
    """Acyclic networks whose hidden nodes mostly have one outgoing edge to a node not far behind, or several."""
    count = draw(st.integers(1, 8))
    edges: list[list[str]] = []
    for i in range(count):
        for _ in range(draw(st.sampled_from([1, 1, 1, 2, 3]))):
            step = draw(st.integers(1, 3))
            edges.append([f"h{i}", f"h{i + step}" if i + step < count else draw(st.sampled_from(["y1", "y2"]))])
    heads = {head for _, head in edges}
    edges += [["x", f"h{i}"] for i in range(count) if f"h{i}" not in heads or draw(st.booleans())]
    balance = {f"h{i}": draw(st.integers(-3, 3)) for i in range(count)}
    outputs = [y for y in ("y1", "y2") if y in heads]
    if draw(st.booleans()):  # the mirror image, whose bottlenecks are on the other side
        edges = [[b, a] for a, b in edges]
        inputs, outputs = outputs, ["x"]
    else:
        inputs = ["x"]
    return {"edges": draw(st.permutations(edges)), "inputs": inputs, "outputs": outputs, "balance": balance}


def by_enumeration(network: Network, side: Side) -> Found:
    """For each bottleneck edge the minimum over all stable sets, and the union of those with the least sum if it is ≤ 0."""
    c = network.require_balance().tolist()
    hidden = network.hidden_nodes.tolist()
    ends = list(zip(network.tail.tolist(), network.head.tolist(), strict=True))
    if side == "in":
        ends, c = [(b, a) for a, b in ends], [-x for x in c]
    found: Found = {}
    for v in hidden:
        leaving = [e for e, (a, _) in enumerate(ends) if a == v]
        if len(leaving) > 1:
            continue
        best, critical = None, set[int]()
        for chosen in range(1 << len(hidden)):
            W = {w for i, w in enumerate(hidden) if chosen >> i & 1}
            if [e for e, (a, b) in enumerate(ends) if a in W and b not in W] != leaving or v not in W:
                continue
            total = sum(c[w] for w in W)
            if best is None or total < best:
                best, critical = total, set()
            if total == best:
                critical |= W
        assert best is not None  # {v} is one of them
        found[leaving[0]] = max(0, -best), tuple(sorted(critical)) if best <= 0 else ()
    return found


def check(network: Network) -> None:
    for side in ("out", "in"):
        result = one_sided(network, side)
        assert {b.edge: (b.minimum, b.critical) for b in result} == by_enumeration(network, side)
        assert [b.node for b in result] == sorted(result.node.tolist())
        assert result.tight.tolist() == [bool(b.critical) for b in result]


@given(funnels())
@settings(max_examples=120)
def test_all_stable_sets(fields: dict[str, Any]) -> None:
    check(Network.from_edges(**fields))


@given(funnels())
@settings(max_examples=120)
def test_hubs_change_nothing(fields: dict[str, Any]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(closures, "_LARGE", 0)
        patch.setattr(closures, "_DENSE", 0)
        patch.setattr(hubs, "_FEWEST", 4)
        check(Network.from_edges(**fields))


@given(funnels(), st.integers(60, 200))
@settings(max_examples=40)
def test_large_balances_only_scale(fields: dict[str, Any], bits: int) -> None:
    network = Network.from_edges(**fields)
    fields = {**fields, "balance": {v: c << bits for v, c in fields["balance"].items()}}
    large = Network.from_edges(**fields)
    for side in ("out", "in"):
        scaled = [(b.edge, b.minimum << bits, b.critical) for b in one_sided(network, side)]
        assert [(b.edge, b.minimum, b.critical) for b in one_sided(large, side)] == scaled


@pytest.mark.parametrize("balance", [*product((-2, -1), (0, 1), (0, 1, 2), (-1, 0, 1, 2))])
def test_critical_sets_are_those_of_every_largest_flow(balance: tuple[int, ...]) -> None:
    """Solvers return any of them: those that leave one of two consumers short, or that pass one by which has room."""
    edges = [["x", "p"], ["p", "a"], ["p", "b"], ["a", "v"], ["b", "v"], ["v", "y"]]
    network = Network.from_edges(edges, balance=dict(zip("pabv", balance, strict=True)))
    minimum, critical = by_enumeration(network, "out")[5]
    p, a, b, v = network.hidden_nodes.tolist()
    none = np.zeros(0, np.int64)
    flows = 0
    for u in product(range(-balance[0] + 1), repeat=4):
        taken = [u[0] - u[2], u[1] - u[3], u[2] + u[3] - minimum]
        if u[0] + u[1] != -balance[0] or any(
            not min(c, 0) <= x <= max(c, 0) for c, x in zip(balance[1:], taken, strict=True)
        ):
            continue
        if balance[3] < 0 and taken[2] != balance[3]:
            continue
        flows += 1
        closure = closures.Closure(
            View(network, False, network.require_balance()),
            v,
            np.array([p, a, b, v]),
            none,
            {},
            minimum,
            np.flatnonzero([0, *u]),
            np.array([x for x in u if x]),
        )
        assert tuple(sorted(closure.critical_nodes.tolist())) == critical
    assert flows > 0


def test_a_funnel_that_others_lead_into_is_not_contracted() -> None:
    """q leads into the funnel of v and past it: with v replaced by one producer, w→y would seem to be at least 3."""
    edges = [["x", "v"], ["x", "q"], ["q", "v"], ["q", "w"], ["v", "w"], ["w", "y"]]
    network = Network.from_edges(edges, balance={"v": 4, "q": -3, "w": 0})
    (v, w) = (b for b in one_sided(network, "out") if b.edge in (4, 5))
    assert (v.minimum, v.critical) == (0, ())
    assert w.minimum == 0
    assert w.critical != ()


def test_long_chains_take_neither_recursion_nor_flows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(closures, "max_flow", None)
    n = 5000
    edges = [("x", "v0"), *[(f"v{i}", f"v{i + 1}") for i in range(n)], (f"v{n}", "y")]
    network = Network.from_edges(edges, balance={f"v{i}": -1 if i == 0 else 0 for i in range(n + 1)})
    last = one_sided(network, "out")[-1]
    assert (last.minimum, len(last.critical), len(last.flow)) == (1, n + 1, n)
    assert len(one_sided(network, "out")[1:3]) == 2
