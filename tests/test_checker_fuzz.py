"""The checker reads instances as the graph engines do, and certificates edited at random are refused or still true."""

from __future__ import annotations

import copy
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos import Network, connectivity
from lakatos._checker_network import read_subject
from lakatos.checker import CHECKS, Invalid, check_certificate
from lakatos.graphs.layered import layered_network
from lakatos.testing import balanced_dags, balanced_multigraphs, weighted_dags

Data = dict[str, Any]

TRUE_FIELDS: Data = {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": "1"}}
TRUE_CERTIFICATE: Data = connectivity(Network.from_edges(**TRUE_FIELDS)).certificate.to_json()


def same_network(fields: Data, network: Network) -> None:
    subject = read_subject(fields)
    # How nodes are numbered is free; names and the order of edges are not.
    numbers = [network.names.index(name) for name in subject.names]
    assert sorted(numbers) == list(range(network.node_count))
    assert [numbers[v] for v in subject.tail] == network.tail.tolist()
    assert [numbers[v] for v in subject.head] == network.head.tolist()
    assert list(subject.hidden) == network.hidden[numbers].tolist()
    if network.numerators is not None:
        assert list(subject.c) == [Fraction(int(network.numerators[v]), network.denominator) for v in numbers]


@given(st.one_of(balanced_dags(), balanced_multigraphs(), weighted_dags()), st.booleans())
def test_networks_are_read_alike(fields: Data, declared: bool) -> None:
    if not declared:
        network = Network.from_edges(fields["edges"], nodes=fields.get("nodes", ()))
        fields = {"edges": fields["edges"], "nodes": fields.get("nodes", ())}
        if network.numerators is None:
            fields["balance"] = {name: str(i) for i, name in enumerate(network.hidden_names)}
    same_network(fields, Network.from_edges(**fields))


@given(st.lists(st.integers(1, 3), min_size=2, max_size=5), st.booleans())
def test_layered_networks_are_read_alike(widths: list[int], bias: bool) -> None:
    balance = [[f"{i}/{k + 1}" for k in range(n)] for i, n in enumerate(widths[1:-1])]
    same_network({"widths": widths, "balance": balance, "bias": bias}, layered_network(widths, balance, bias=bias))


TEXTS = ["0", "1", "-1", "2", "1/2", "1e9", "", "out", "in", "h1", "h2", "x1", "degrees", "residual", *CHECKS]
PARTS = [{}, [], {"0": "1"}, {"1": "-1", "0": "1"}, ["h1"], ["h1", "h2"]]
LEAVES = st.sampled_from([*TEXTS, *PARTS, 0, 1, 2, -1, 0.5, True, False, None])


def places(data: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Return the paths to all parts of JSON data."""
    if isinstance(data, dict):
        items: Any = data.items()
    else:
        items = enumerate(data) if isinstance(data, list) else ()
    return [path] * bool(path) + [place for key, value in items for place in places(value, (*path, key))]


def edit(draw: Callable[[st.SearchStrategy[Any]], Any], certificate: Data) -> None:
    """Change one place of `certificate`: another value, the value of another place, none, or one more."""
    path, other = draw(st.sampled_from(places(certificate))), draw(st.sampled_from(places(certificate)))
    parent, source = certificate, certificate
    for key in path[:-1]:
        parent = parent[key]
    for key in other:
        source = source[key]
    match draw(st.sampled_from(["leaf", "copy", "delete", "add"])):
        case "leaf":
            parent[path[-1]] = copy.deepcopy(draw(LEAVES))
        case "copy":
            parent[path[-1]] = copy.deepcopy(source)
        case "delete":
            del parent[path[-1]]
        case "add" if isinstance(parent, list):
            parent.append(copy.deepcopy(source))
        case "add":
            parent[draw(st.sampled_from(["0", "1", "2", "in", "out", "note"]))] = copy.deepcopy(source)


@given(st.one_of(balanced_dags(max_edges=6), balanced_multigraphs(max_edges=6)), st.integers(1, 3), st.data())
@settings(max_examples=600)
def test_edited_certificates_are_refused_or_still_true(fields: Data, edits: int, data: st.DataObject) -> None:
    true_certificate = connectivity(Network.from_edges(**fields)).certificate.to_json()
    facts = check_certificate(fields, true_certificate)
    certificate = copy.deepcopy(true_certificate)
    for _ in range(edits):
        if places(certificate):
            edit(data.draw, certificate)
    try:
        found = check_certificate(fields, certificate)
    except Invalid:
        return
    assert {q: facts[q] for q in found} == found


@given(st.recursive(LEAVES, lambda inner: st.lists(inner) | st.dictionaries(st.text(max_size=3), inner), max_leaves=8))
def test_any_data_at_all_is_refused(data: Any) -> None:
    fields = TRUE_FIELDS
    for subject, certificate in ((fields, data), (data, TRUE_CERTIFICATE), (data, data)):
        with pytest.raises(Invalid):
            check_certificate(subject, certificate)


def test_nested_data_is_refused() -> None:
    deep: Any = "1"
    for _ in range(5000):
        deep = [deep]
    for place in ("point", "edges", "regular", "kind"):
        with pytest.raises(Invalid):
            check_certificate(TRUE_FIELDS, {**TRUE_CERTIFICATE, place: deep})
    with pytest.raises(Invalid):
        check_certificate({"edges": deep}, TRUE_CERTIFICATE)


def test_integers_beyond_text_are_refused() -> None:
    """Python itself refuses to print them, so a message must not try."""
    huge = 10**5000
    for certificate in ({**TRUE_CERTIFICATE, "point": {"0": huge}}, {**TRUE_CERTIFICATE, "edges": [{"edge": huge}]}):
        with pytest.raises(Invalid):
            check_certificate(TRUE_FIELDS, certificate)
    with pytest.raises(Invalid):
        check_certificate({**TRUE_FIELDS, "balance": {"v": huge}}, TRUE_CERTIFICATE)


def test_work_is_linear_without_nested_bottlenecks() -> None:
    """Forty thousand edges, each a bottleneck: work that grows with their square would take an hour."""
    hidden = [f"h{i}" for i in range(20_000)]
    edges = [["x", v] for v in hidden] + [[v, "y"] for v in hidden]
    network = Network.from_edges(edges, balance=dict.fromkeys(hidden, 1))
    facts = check_certificate(network.to_fields(), connectivity(network).certificate.to_json())
    assert facts["log2_components"] == len(hidden)
