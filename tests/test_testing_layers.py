"""The strategies for layers and subspaces are exact, reach what they should, and shrink to what one would write."""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lakatos import InputError, Network
from lakatos.conversion import build_instance
from lakatos.graphs.fields import LayeredFields, NetworkFields
from lakatos.testing import balanced_layers, homogeneous_mlps, masked_layers, multigraphs, subspaces
from lakatos.theorems import load

Rows = list[list[int | str]]
COHERENCES = ["1", "1/4", "4/9", "9/16", "9/25", "1/9", Fraction(4, 25)]


def smallest(strategy: st.SearchStrategy[Any], condition: Any) -> Any:
    budget = settings(
        max_examples=5000, database=None, deadline=None, derandomize=True, phases=(Phase.generate, Phase.shrink)
    )
    return find(strategy, condition, settings=budget)


def fractions(rows: Rows) -> list[list[Fraction]]:
    return [[Fraction(x) for x in row] for row in rows]


def gram(U: Rows) -> list[list[Fraction]]:
    columns = list(zip(*fractions(U), strict=True))
    return [[sum(a * b for a, b in zip(p, q, strict=True)) for q in columns] for p in columns]


def coherence(U: Rows) -> Fraction:
    return max(sum(x * x for x in row) for row in fractions(U))


def identity(k: int) -> list[list[int]]:
    return [[int(i == j) for j in range(k)] for i in range(k)]


@given(subspaces(max_inputs=5, max_dimension=4))
def test_subspaces_have_orthonormal_columns(U: Rows) -> None:
    n, k = len(U), len(U[0])
    assert 1 <= k <= min(n, 4) <= n <= 5
    assert gram(U) == identity(k)
    assert Fraction(k, n) <= coherence(U) <= 1
    assert ast.literal_eval(repr(U)) == U


@pytest.mark.parametrize("value", COHERENCES)
def test_prescribed_coherence_is_exact(value: Any) -> None:
    @settings(max_examples=30)
    @given(subspaces(max_inputs=24, coherence=value))
    def check(U: Rows) -> None:
        assert coherence(U) == Fraction(value)
        assert gram(U) == identity(len(U[0]))
        assert len(U) <= 24

    check()


def test_subspaces_of_prescribed_coherence_are_not_all_alike() -> None:
    found = smallest(subspaces(coherence="1/4", max_inputs=9), lambda U: len(U[0]) == 2 and 0 not in U[0])
    assert len(found) == 8
    assert smallest(subspaces(coherence="1/4"), lambda U: len(U) == 5) == [["1/2"]] * 4 + [[0]]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coherence": "1/2"}, "coherence='1/2': must be the square of a rational"),
        ({"coherence": 0}, "coherence=0: must be"),
        ({"coherence": "9/4"}, "coherence='9/4': must be"),
        ({"coherence": "-1/4"}, "coherence='-1/4': must be"),
        ({"coherence": "1/441"}, "q at most 20"),
        ({"coherence": "1/4", "max_inputs": 3}, "max_inputs=3: a basis of coherence='1/4' has 4 rows or more"),
        ({"max_dimension": 0}, "max_dimension=0: must be at least 1"),
    ],
)
def test_what_cannot_be_had_is_named(options: dict[str, Any], message: str) -> None:
    for strategy in (subspaces, masked_layers):
        with pytest.raises(InputError, match=message):
            strategy(**options)


@given(masked_layers(max_neurons=4, max_inputs=5))
def test_masked_layers_have_matching_shapes(layer: dict[str, Rows]) -> None:
    F, D, U = layer["F"], layer["D"], layer["U"]
    assert 1 <= len(F) == len(D) <= 4
    assert {len(row) for row in F + D} == {len(U)}
    assert gram(U) == identity(len(U[0]))
    assert ast.literal_eval(repr(layer)) == layer


@pytest.mark.parametrize(
    ("name", "condition"),
    [
        ("a mask without offsets", lambda F, D: not any(map(any, F)) and {0, 1} == {d for row in D for d in row}),
        ("offsets where nothing is free", lambda F, D: any(f and not d for f, d in zip(F[0], D[0], strict=True))),
        ("an offset of a free weight", lambda F, D: any(f and d for f, d in zip(F[0], D[0], strict=True))),
        ("a neuron without a free weight", lambda F, D: len(D) > 1 and not any(D[1])),
        ("two equal neurons", lambda F, D: len(D) > 1 and D[0] == D[1] and F[0] == F[1] and any(F[0])),
        ("a negative scale", lambda F, D: -1 in D[0]),
        ("a scale that is no integer", lambda F, D: "1/2" in D[0]),
    ],
)
def test_kinds_of_layers_are_found_and_small(name: str, condition: Any) -> None:
    layer = smallest(masked_layers(), lambda layer: condition(layer["F"], layer["D"]))
    assert len(layer["F"]) * len(layer["U"]) <= 2


def test_fixed_weights_stand_exactly_where_nothing_is_free() -> None:
    def is_complementary(layer: dict[str, Rows]) -> bool:
        pairs = [pair for rows in zip(layer["F"], layer["D"], strict=True) for pair in zip(*rows, strict=True)]
        # So many of each that fixed weights drawn everywhere would not leave out the free entries by chance.
        return (
            sum(d != 0 for _, d in pairs) >= 5
            and sum(d == 0 for _, d in pairs) >= 3
            and all(bool(f) != bool(d) for f, d in pairs)
        )

    assert smallest(masked_layers(), is_complementary)


def test_layers_of_prescribed_coherence() -> None:
    layer = smallest(masked_layers(coherence="1/4"), lambda layer: True)
    assert layer == {"F": [[0] * 4], "D": [[1] * 4], "U": [["1/2"]] * 4}


@given(homogeneous_mlps(max_width=2, max_hidden_layers=3))
def test_homogeneous_mlps_are_instances(fields: dict[str, Any]) -> None:
    theorem = load("balance_conserved_of_homogeneous_activation")
    instance = build_instance(theorem.instance_class, fields)
    assert all(hypothesis.met for hypothesis in theorem.hypotheses(instance))
    assert instance.network.edge_count == len(fields["edges"])
    assert ("bias" in fields) is any(name.startswith("b") for name in fields["inputs"])


def test_homogeneous_mlps_reach_all_activations_and_shrink() -> None:
    for activation in ("relu", "leaky_relu", "abs", "identity"):
        found = smallest(homogeneous_mlps(), lambda fields, name=activation: fields["activation"] == name)
        assert len(found["edges"]) == 2
    biased = smallest(homogeneous_mlps(), lambda fields: "bias" in fields)
    assert biased["bias"] == ["b1", "b2"]
    assert len(smallest(homogeneous_mlps(), lambda fields: len(fields["edges"]) > 2)["edges"]) <= 4
    with pytest.raises(InputError, match="max_width=0"):
        homogeneous_mlps(max_width=0)


@given(balanced_layers(max_width=2), balanced_layers(bias=True))
def test_balanced_layers_are_instances(plain: dict[str, Any], biased: dict[str, Any]) -> None:
    assert max(build_instance(LayeredFields, plain).widths) <= 2
    assert build_instance(LayeredFields, biased).bias


@given(multigraphs(dead_ends=False))
def test_multigraphs_without_dead_ends(fields: dict[str, Any]) -> None:
    network = Network.from_edges(**fields)
    inner = network.hidden_nodes
    assert (network.in_degree[inner] > 0).all()
    assert (network.out_degree[inner] > 0).all()


def test_cycles_without_dead_ends_are_found() -> None:
    found = smallest(multigraphs(dead_ends=False), lambda fields: ["h2", "h1"] in fields["edges"])
    assert len(found["edges"]) <= 5


@given(st.from_type(Network), st.from_type(NetworkFields), st.from_type(LayeredFields))
def test_hypothesis_knows_the_types(network: Network, fields: NetworkFields, layers: LayeredFields) -> None:
    assert len(network.require_balance()) == network.node_count
    assert isinstance(fields, NetworkFields)
    assert isinstance(layers, LayeredFields)


def test_annotated_arguments_need_no_strategy() -> None:
    found = smallest(st.from_type(Network), lambda network: len(network.hidden_names) == 2)
    assert found.edge_count <= 2
