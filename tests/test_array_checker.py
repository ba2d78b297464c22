"""The checker on arrays against the reference, `lakatos.checker`: both accept the same certificates, with the same facts."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from test_checker_fuzz import Data, edit, places

from lakatos import Network, connectivity
from lakatos.checker import Invalid, check_certificate
from lakatos.graphs import checking_case
from lakatos.graphs.bottlenecks import one_sided
from lakatos.graphs.checking import InvalidCertificate, check_connectivity
from lakatos.graphs.layered import layered_network
from lakatos.testing import balanced_dags, balanced_multigraphs, weighted_dags

OTHER_FORMAT = r"an exact number 'p' or 'p/q' is needed|a multiple of 1/\d+ is needed|an object with edge numbers"
"""What only the reference reads: integers and decimals, other denominators than the network's, and leading signs."""


def facts_of(fields: Data, certificate: Data) -> dict[str, Any] | None:
    """The facts of the reference about listed edges, or None if it refuses."""
    try:
        facts = check_certificate(fields, certificate)
    except Invalid:
        return None
    listed = {f"minimum[{entry['edge']}]" for entry in certificate.get("edges", ())}
    assert all(value == 0 for key, value in facts.items() if key.startswith("minimum[") and key not in listed)
    return {key: value for key, value in facts.items() if not key.startswith("minimum[") or key in listed}


def agree(fields: Data, certificate: Data) -> None:
    expected = facts_of(fields, certificate)
    try:
        found = check_connectivity(Network.from_edges(**fields), certificate)
    except InvalidCertificate as error:
        refusal = str(error)
    else:
        assert found == expected
        return
    assert expected is None or re.search(OTHER_FORMAT, refusal)


@given(st.one_of(balanced_dags(max_edges=14, max_hidden=6), balanced_multigraphs(max_edges=10), weighted_dags()))
@settings(max_examples=150)
def test_true_certificates_give_the_same_facts(fields: Data) -> None:
    network = Network.from_edges(**fields)
    certificate = connectivity(network).certificate.to_json()
    found = check_connectivity(network, certificate)
    assert found == facts_of(fields, certificate)


@given(
    st.one_of(balanced_dags(max_edges=7, max_hidden=4), balanced_multigraphs(max_edges=7)),
    st.integers(1, 3),
    st.data(),
)
@settings(max_examples=300)
def test_edited_certificates_are_judged_alike(fields: Data, edits: int, data: st.DataObject) -> None:
    certificate = copy.deepcopy(connectivity(Network.from_edges(**fields)).certificate.to_json())
    for _ in range(edits):
        if places(certificate):
            edit(data.draw, certificate)
    if certificate.get("kind") in ("connectivity", "invariant_set_empty"):
        agree(fields, certificate)


NUMBERS = st.integers(-3, 3).map(str)


@given(st.one_of(balanced_dags(max_edges=8, max_hidden=5), balanced_multigraphs(max_edges=7, max_hidden=4)), st.data())
@settings(max_examples=300)
def test_numbers_nodes_and_claims_that_are_wrong_are_judged_alike(fields: Data, data: st.DataObject) -> None:
    """Edits that keep the format, so that it is the mathematics that decides."""
    network = Network.from_edges(**fields)
    certificate = copy.deepcopy(connectivity(network).certificate.to_json())
    for entry in certificate.get("edges", ()):
        match data.draw(st.sampled_from(["keep", "keep", "vector", "claim", "witness", "zero"])):
            case "vector":
                vectors = list(entry["flows"].values()) if "flows" in entry else [entry["change"]]
                vector = data.draw(st.sampled_from(vectors))
                vector[str(data.draw(st.integers(0, network.edge_count - 1)))] = data.draw(NUMBERS)
            case "claim":
                entry["regular_frozen"] = not entry["regular_frozen"]
            case "witness" if entry["witness"]:
                nodes = data.draw(st.lists(st.sampled_from(network.hidden_names), min_size=1, unique=True))
                total = network.sum_of_balances(network.names.index(name) for name in nodes)
                entry["witness"] |= {"nodes": nodes, "sum": str(total)}
            case "zero":
                entry |= {"minimum": "0", "regular_frozen": False, "witness": None}
    agree(fields, certificate)


def lies(true: Data) -> Iterator[tuple[str, Data]]:
    """Certificates that differ from a true one in one place, where that makes them wrong."""

    def lie(name: str) -> tuple[str, Data]:
        return name, copy.deepcopy(true)

    for i, entry in enumerate(true["edges"]):
        vectors = entry.get("flows", {"change": entry.get("change")})
        if entry["minimum"] != "0":
            yield (named := lie("smaller minimum"))
            named[1]["edges"][i]["minimum"] = str(Fraction(entry["minimum"]) / 2)
        if entry["minimum"] != "0" and entry["regular_frozen"]:
            yield (named := lie("frozen, but not regular-frozen"))
            named[1]["edges"][i]["regular_frozen"] = False
        if entry["regular_frozen"]:
            yield (named := lie("freed"))
            named[1]["edges"][i] |= {"minimum": "0", "regular_frozen": False, "witness": None}
            yield (named := lie("dropped"))
            del named[1]["edges"][i]
        for side, vector in vectors.items():
            for key in vector:
                if key != str(entry["edge"]):
                    yield (named := lie("part of a flow or change is missing"))
                    del (named[1]["edges"][i]["flows"] if "flows" in entry else named[1]["edges"][i])[side][key]
    if true["point"]:
        yield (named := lie("no point"))
        named[1]["point"] = {}
    yield (named := lie("regular points"))
    named[1]["regular"] = {"nonempty": not true["regular"]["nonempty"], "witness": None}


def network_of(edges: list[list[str]], inputs: list[str], outputs: list[str], **balance: int) -> Network:
    return Network.from_edges(edges, inputs=inputs, outputs=outputs, balance=balance, nodes=balance)


LOOP = [["x", "v"], ["v", "w"], ["w", "v"], ["v", "y"]]
NETWORKS = {
    "cycle": network_of(LOOP, ["x"], ["y"], v=-2, w=0),
    "cycle, balanced": network_of(LOOP, ["x"], ["y"], v=0, w=0),
    "cycle behind a pair": network_of([*LOOP, ["x", "v"], ["w", "y"]], ["x"], ["y"], v=-3, w=1),
    "dead ends": network_of([["x", "a"], ["a", "d"], ["a", "y"]], ["x"], ["y"], a=0, d=1),
    "source": network_of([["a", "v"], ["x", "v"], ["v", "y"]], ["x"], ["y"], a=-1, v=1),
    "two edges into a dead end": network_of([["x", "v"], ["x", "v"]], ["x"], [], v=0),
    "isolated": network_of([["x", "v"], ["v", "y"]], ["x"], ["y"], v=1, z=0),
    "nested": layered_network([2, 3, 1, 1, 3, 1], [[-2, 4, -2], [-2], [1], [0, -2, 4]]),
    "equality": network_of([["x", "a"], ["a", "v"], ["a", "v"], ["v", "y"]], ["x"], ["y"], a=-2, v=2),
}


@pytest.mark.parametrize("name", NETWORKS)
def test_lies_are_refused(name: str) -> None:
    network = NETWORKS[name]
    true = connectivity(network).certificate.to_json()
    assert check_connectivity(network, true) == facts_of(network.to_fields(), true)
    told = list(lies(true))
    assert told
    for what, certificate in told:
        assert facts_of(network.to_fields(), certificate) is None, what
        try:
            check_connectivity(network, certificate)
        except InvalidCertificate:
            continue
        pytest.fail(f"accepted: {what}")


def test_a_negative_point_is_refused() -> None:
    """Going round a cycle backwards changes no balance."""
    network = NETWORKS["cycle"]
    certificate = connectivity(network).certificate.to_json()
    certificate["point"] |= {e: str(Fraction(certificate["point"].get(e, "0")) - 5) for e in ("1", "2")}
    agree(network.to_fields(), certificate)
    with pytest.raises(InvalidCertificate, match="a negative number"):
        check_connectivity(network, certificate)


def test_balances_are_computed_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """A network whose stored balance is not that of its weights does not pass."""
    network = Network.from_arrays([0, 1], [1, 2], weights=np.array([1.0, 2.0]))
    certificate = connectivity(network).certificate.to_json()
    assert check_connectivity(network, certificate)["frozen"] == (1,)
    monkeypatch.setattr(checking_case, "MOST_LIMBS", 0)  # tables of limbs too large: plain integers
    assert check_connectivity(network, certificate)["frozen"] == (1,)
    monkeypatch.undo()
    network.numerators[1] += 1
    wrong = Network.from_arrays([0, 1], [1, 2], balance=network.numerators)
    with pytest.raises(InvalidCertificate, match="balances"):
        check_connectivity(network, connectivity(wrong).certificate.to_json())


def test_nested_funnels_of_a_layered_network_are_checked() -> None:
    """Flows through dense blocks and contracted funnels, at sizes where hubs are used."""
    rng = np.random.default_rng(3)
    widths = [3, 70, 70, 1, 1, 70, 70, 2]
    balance = [[int(c) for c in rng.integers(-9, 9, n)] for n in widths[1:-1]]
    network = layered_network(widths, balance)
    certificate = connectivity(network).certificate.to_json()
    assert max(len(b.flow) for b in one_sided(network, "out")) > 20
    assert check_connectivity(network, certificate) == facts_of(network.to_fields(), certificate)
