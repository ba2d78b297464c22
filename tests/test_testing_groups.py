"""The strategies for groups and tensorizable models: orthogonal, finite, of every type, and small where they shrink."""

from __future__ import annotations

import ast
from fractions import Fraction
from functools import partial
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st

from lakatos import InputError
from lakatos._checker_groups import elements
from lakatos.conversion import build_instance
from lakatos.testing import Fields, group_representations, tensorizable_models
from lakatos.theory.law_count import model_systems
from lakatos.theory.lift_group import lift_group
from lakatos.theory.model_fields import GroupFields, ModelFields

MODELS = {
    "any": tensorizable_models(),
    "symmetric": tensorizable_models(group=True),
    "wide linear": tensorizable_models(architectures=["linear"], max_width=4, max_layers=3),
    "powers": tensorizable_models(architectures=["power"], max_width=2, max_exponent=4),
}


def smallest(strategy: st.SearchStrategy[Any], condition: Any) -> Any:
    budget = settings(max_examples=2000, database=None, deadline=None, phases=(Phase.generate, Phase.shrink))
    return find(strategy, condition, settings=budget, random=Random(0))


def group_of(fields: Fields) -> GroupFields:
    group: GroupFields = build_instance(GroupFields, fields)
    return group


def types(fields: Fields) -> set[tuple[str, bool]]:
    """Types of the irreducibles, and whether they are repeated."""
    return {(block.type, block.multiplicity > 1) for block in lift_group(group_of(fields).action(1)).blocks}


@given(group_representations())
@settings(max_examples=40)
def test_generators_are_orthogonal_and_generate_few_elements(fields: Fields) -> None:
    assert ast.literal_eval(repr(fields)) == fields
    for matrix in fields["inputs"] + fields.get("labels", []):
        columns = [[Fraction(entry) for entry in column] for column in zip(*matrix, strict=True)]
        gram = [[sum(a * b for a, b in zip(p, q, strict=True)) for q in columns] for p in columns]
        assert gram == [[int(i == j) for j in range(len(columns))] for i in range(len(columns))]
    assert 1 <= len(fields["inputs"]) <= 2
    assert len(fields["inputs"][0]) <= 4
    assert len(elements(group_of(fields).action(1))) <= 768


@given(group_representations(max_dimension=3, labels=True), st.integers(0, 99))
@settings(max_examples=30)
def test_averages_over_the_group_are_invariant(fields: Fields, seed: int) -> None:
    """The mean of f(gx, gy) over the elements does not change under a generator: so they are all there, and a group."""
    act = group_of(fields).action(1)
    pairs = [(np.array(x, float), np.array(y, float)) for x, y in elements(act)]
    generator = np.random.default_rng(seed)
    x, y, w = (generator.standard_normal(n) for n in (act.inputs, act.labels, act.inputs))

    def average(x: Any, y: Any) -> float:
        return float(np.mean([(w @ g @ x) ** 3 * (h @ y)[0] for g, h in pairs]))

    for g, h in act.generators:
        moved = average(np.array(g, float) @ x, np.array(h, float) @ y)
        # Sums of a few hundred numbers of order ten.
        assert moved == pytest.approx(average(x, y), abs=1e-10)


@pytest.mark.parametrize(  # not (H, repeated), which needs eight dimensions
    ("kind", "repeated"), [("R", False), ("R", True), ("C", False), ("C", True), ("H", False)]
)
def test_every_type_is_found(kind: str, repeated: bool) -> None:
    found = smallest(group_representations(labels=False), lambda fields: (kind, repeated) in types(fields))
    assert len(found["inputs"][0]) == {("R", False): 1, ("R", True): 2, ("C", True): 4, ("H", False): 4}.get(
        (kind, repeated), len(found["inputs"][0])
    )
    assert len(found["inputs"][0]) <= 4


def test_groups_shrink_to_what_one_would_write() -> None:
    groups = group_representations()
    assert smallest(groups, lambda fields: True) == {"inputs": [[[1]]]}
    assert smallest(groups, lambda fields: "labels" in fields) == {"inputs": [[[1]]], "labels": [[[1]]]}
    assert smallest(groups, lambda fields: fields["inputs"][0][0][0] == -1) == {"inputs": [[[-1]]]}
    assert smallest(groups, lambda fields: fields["inputs"][0][0][0] == 0) == {"inputs": [[[0, 1], [1, 0]]]}
    assert smallest(groups, lambda fields: len(fields["inputs"]) == 2) == {"inputs": [[[1]], [[1]]]}

    def is_rotated(fields: Fields) -> bool:
        return any(isinstance(entry, str) for row in fields["inputs"][0] for entry in row)

    rotated = smallest(group_representations(max_dimension=2, labels=False), is_rotated)
    assert rotated == {"inputs": [[["-7/25", "-24/25"], ["-24/25", "7/25"]]]}


def test_permutations_alone_and_labels_as_asked() -> None:
    @given(group_representations(kinds=["permutations"], labels=False))
    @settings(max_examples=30)
    def check(fields: Fields) -> None:
        assert "labels" not in fields
        assert {entry for matrix in fields["inputs"] for row in matrix for entry in row} <= {0, 1}

    check()
    with_labels = smallest(group_representations(labels=True), lambda fields: len(fields["labels"][0]) == 2)
    assert with_labels["labels"] == with_labels["inputs"]


@pytest.mark.parametrize("strategy", MODELS.values(), ids=MODELS)
def test_every_model_can_be_averaged(strategy: st.SearchStrategy[Fields]) -> None:
    @given(strategy)
    @settings(max_examples=25)
    def check(fields: Fields) -> None:
        assert ast.literal_eval(repr(fields)) == fields
        model = build_instance(ModelFields, fields)
        found = model_systems(model.plain)
        assert ("averaged" in found) == ("group" in fields)
        assert found["plain"].dimension == len(found["plain"].names) > 0

    check()


def test_models_of_all_kinds_are_found_and_small() -> None:
    models = tensorizable_models()
    assert smallest(models, lambda fields: True) == {"architecture": "linear", "sizes": [1, 1]}
    for architecture, sizes in (("linear", [1, 2]), ("power", [1, 1, 1]), ("lightning", [2, 1, 1])):
        found = smallest(models, lambda fields, name=architecture: "group" in fields and fields["architecture"] == name)
        assert found["sizes"] == sizes
    names = {
        smallest(models, lambda fields, n=n: fields.get("group", {}).get("name") == n)["group"]["name"]
        for n in ("O(2)", "SO(3)")
    }
    assert names == {"O(2)", "SO(3)"}
    deep = smallest(models, lambda fields: fields["architecture"] == "linear" and len(fields["sizes"]) == 3)
    assert deep == {"architecture": "linear", "sizes": [1, 1, 1]}


@given(st.from_type(GroupFields), st.from_type(ModelFields))
@settings(max_examples=20)
def test_hypothesis_knows_groups_and_models(group: GroupFields, model: ModelFields) -> None:
    assert group.action(1).inputs <= 4
    assert model.architecture in ("linear", "power", "lightning")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (partial(group_representations, max_dimension=0), "max_dimension=0: must be at least 1"),
        (partial(group_representations, max_dimension=5), "max_dimension=5: must be at most 4"),
        (partial(group_representations, kinds=["unitary"]), r"kinds=\['unitary'\]: choose from permutations, "),
        (partial(group_representations, kinds=[]), r"kinds=\[\]: choose from permutations, "),
        (partial(tensorizable_models, max_width=1), "max_width=1: must be at least 2"),
        (partial(tensorizable_models, max_exponent=5), "max_exponent=5: must be at most 4"),
        (partial(tensorizable_models, architectures=["relu"]), r"architectures=\['relu'\]: choose from linear, "),
        (partial(tensorizable_models, architectures=[]), r"architectures=\[\]: choose from linear, "),
    ],
)
def test_bad_options_are_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


def test_one_generator_is_enough_for_quaternions_to_be_left_out() -> None:
    """With at most one generator the group is cyclic, and no irreducible is quaternionic."""

    @given(group_representations(max_generators=1, labels=False))
    @settings(max_examples=30)
    def check(fields: Fields) -> None:
        assert all(kind != "H" for kind, _ in types(fields))

    check()
    assert set(product("RC", [False, True])) >= types({"inputs": [[[0, -1], [1, 0]]]})
