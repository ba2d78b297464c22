"""Certificates of conservation laws: which are accepted, and that the laws they accept are true of the polynomials."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos import Network
from lakatos.checker import Invalid, check_certificate
from lakatos.testing import balanced_dags, dags

Data = dict[str, Any]

NEURON: Data = {"edges": [["x", "v"], ["v", "y"]]}


def check(fields: Data, degree: int = 1) -> Data:
    return check_certificate(fields, {"kind": "conservation_identity", "degree": degree})


@given(balanced_dags(dead_ends=True), st.integers(1, 3))
def test_conservation_holds_on_every_dag(fields: Data, degree: int) -> None:
    facts = check(fields, degree)
    hidden = Network.from_edges(**fields).hidden_names
    law = {1: "residual", 2: "residual_2", 3: "residual_3"}[degree]
    assert facts == {"degree": degree, **{f"{law}[{name}]": Fraction(0) for name in hidden}}


def monomials(network: Network, degree: int) -> list[Counter[int]]:
    """Return the exponents of the weights in all monomials of what the terminals receive, by expansion."""

    def received(v: int) -> list[Counter[int]]:
        edges = [e for e in range(network.edge_count) if network.head[e] == v]
        return [Counter({e: 1}) + m for e in edges for m in sent(int(network.tail[e]))]

    def sent(u: int) -> list[Counter[int]]:
        if not network.hidden[u]:
            return [Counter()]
        product: list[Counter[int]] = [Counter()]
        for _ in range(degree):
            product = [a + b for a in product for b in received(u)]
        return product

    return [m for t in range(network.node_count) if not network.hidden[t] for m in received(t)]


@given(dags(dead_ends=True, max_edges=6), st.integers(1, 2), st.sampled_from(["identity", "relu_squared"]))
def test_accepted_laws_hold_on_every_monomial(fields: Data, degree: int, activation: str) -> None:
    """And where a law fails on a monomial, it is refused."""
    network = Network.from_edges(**fields)
    expanded = monomials(network, {"identity": 1, "relu_squared": 2}[activation])
    holds = all(
        sum(k for e, k in m.items() if network.head[e] == v)
        == degree * sum(k for e, k in m.items() if network.tail[e] == v)
        for m in expanded
        for v in network.hidden_nodes.tolist()
    )
    try:
        check({**fields, "activation": activation}, degree)
    except Invalid:
        accepted = False
    else:
        accepted = True
    assert holds or not accepted
    if degree == {"identity": 1, "relu_squared": 2}[activation]:
        assert accepted


@pytest.mark.parametrize(
    ("change", "degree", "message"),
    [
        ({"activation": "relu_squared"}, 1, "law of degree 1 fails on what edge 1 carries"),
        ({"activation": "relu"}, 2, "law of degree 2 fails on what edge 1 carries"),
        ({"activation": "tanh"}, 1, "not known to be homogeneous"),
        ({"activation": ["relu"]}, 1, "not known to be homogeneous"),
        ({"fixed": [0]}, 1, "edge 0 is at a hidden node"),
        ({"fixed": [1]}, 1, "edge 1 is at a hidden node"),
        ({"fixed": [2]}, 1, "no edge number"),
        ({"fixed": [-1]}, 1, "no edge number"),
        ({"fixed": [True]}, 1, "no edge number"),
        ({"fixed": 0}, 1, "a list is needed"),
        ({"dropout": 0}, 1, "unknown key 'dropout'"),
    ],
)
def test_refused(change: Data, degree: int, message: str) -> None:
    with pytest.raises(Invalid, match=message):
        check({**NEURON, **change}, degree)


def test_fields_of_training_do_not_matter() -> None:
    fields = {"edges": [*NEURON["edges"], ["x", "y"]], "fixed": [2], "bias": ["x"], "loss": "mse", "samples": 20}
    assert check(fields) == {"degree": 1, "residual[v]": Fraction(0)}


def test_layered_network_with_biases() -> None:
    fields = {"widths": [1, 1, 1], "balance": [["0"]], "bias": True}
    assert check(fields) == {"degree": 1, "residual[h1.0]": Fraction(0)}
