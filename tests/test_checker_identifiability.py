"""Certificates about layers of neurons: those we make check, and every change to them is caught."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given

from lakatos import theory
from lakatos.checker import Invalid, check_certificate
from lakatos.testing import featured_layers, permuted_layers, subspaces
from lakatos.theory.layers import FeatureFields

FIELDS: dict[str, Any] = {
    "U": [["2/3", "1/3"], ["-2/3", "2/3"], ["1/3", "2/3"]],
    "F": [["0", "0", "0"], ["1", "0", "1"]],
    "D": [["1", "0", "0"], ["1", "2", "1"]],
    "A": [["2", "1"], ["1", "1"]],
}


def layer(fields: dict[str, Any]) -> FeatureFields:
    parts = {key: tuple(tuple(map(Fraction, row)) for row in fields[key]) for key in ("F", "D", "U", "A")}
    return FeatureFields(**parts)


def costs_of(fields: dict[str, Any]) -> dict[str, Any]:
    subject = layer(fields)
    return theory.realization.cost_table(subject, subject.A).certificate.to_json()


def margin_of(fields: dict[str, Any]) -> dict[str, Any]:
    subject = layer(fields)
    table = theory.realization.cost_table(subject, subject.A)
    return theory.assignments.margin(table.costs).certificate(table.certificate).to_json()


@given(featured_layers())
def test_costs_are_established(fields: dict[str, Any]) -> None:
    subject = layer(fields)
    facts = check_certificate(fields, costs_of(fields))
    for i, row in enumerate(theory.realization.cost_table(subject, subject.A).costs):
        for j, cost in enumerate(row):
            assert facts[f"cost[{i},{j}]"] == cost
            assert facts[f"cost is finite[{i},{j}]"] is math.isfinite(cost)


@given(permuted_layers(max_neurons=4))
def test_margins_are_established_where_the_identity_is_optimal(fields: dict[str, Any]) -> None:
    subject = layer(fields)
    table = theory.realization.cost_table(subject, subject.A)
    found = theory.assignments.margin(table.costs)
    if found.distances:
        facts = check_certificate(fields, margin_of(fields))
        assert facts["margin"] == found.value
        assert facts["identity is the unique optimum"] is (found.value > 0)
        assert facts["sensitivity"] == theory.realization.sensitivity(table.costs, fields["permutation"])


@given(subspaces())
def test_coherence_is_established(U: list[list[Any]]) -> None:
    assert check_certificate({"U": U}, {"kind": "coherence"})["coherence"] == max(
        sum(Fraction(x) ** 2 for x in row) for row in U
    )


Edit = Callable[[dict[str, Any]], None]


def put(*path: Any, value: Any) -> Edit:
    def edit(data: dict[str, Any]) -> None:
        at: Any = data
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = value

    return edit


COST_EDITS = [
    put("rows", 0, 0, value={"multiplier": ["0", "0"]}),
    put("rows", 0, 0, value={"obstruction": ["1", "-2"]}),  # in the kernel, but orthogonal to b
    put("rows", 0, 1, value={"obstruction": ["1", "0"]}),  # not in the kernel
    put("rows", 0, 1, value={"multiplier": ["0", "0"]}),
    put("rows", 1, 0, value={"multiplier": ["1"]}),
    put("rows", 1, 0, value={}),
    put("rows", 1, 0, value={"multiplier": ["1", "0"], "obstruction": ["1", "0"]}),
    put("rows", 1, 0, value={"cost": ["1", "0"]}),
    put("rows", 1, value=[]),
    put("rows", value=[]),
    put("rows", value=None),
    put("of", value="price"),
    put("more", value=1),
]


@pytest.mark.parametrize("edit", COST_EDITS)
def test_changed_costs_are_refused(edit: Edit) -> None:
    certificate = copy.deepcopy(costs_of(FIELDS))
    check_certificate(FIELDS, certificate)
    edit(certificate)
    with pytest.raises(Invalid):
        check_certificate(FIELDS, certificate)


LINE: dict[str, Any] = {"U": [[1]], "F": [[0], [1], [3]], "D": [[1]] * 3, "A": [[0], [1], [3]]}

MARGIN_EDITS = [
    put("second", value=[0, 1, 2]),
    put("second", value=[0, 2, 1]),  # another swap, which costs more
    put("second", value=[0, 0, 1]),
    put("second", value=[True, False, 2]),
    put("second", value=None),
    put("distances", 0, 0, value="1"),
    put("distances", 0, 1, value="5"),  # longer than the way
    put("distances", 1, 0, value="-1"),  # a bound that is true, but not attained
    put("distances", 2, value=["0"]),
    put("distances", value=[]),
    put("distances", 1, 1, value="inf"),
    put("costs", value="none"),
    put("costs", "rows", 0, 0, value={"multiplier": ["7"]}),
]


@pytest.mark.parametrize("edit", MARGIN_EDITS)
def test_changed_margins_are_refused(edit: Edit) -> None:
    certificate = copy.deepcopy(margin_of(LINE))
    assert check_certificate(LINE, certificate)["margin"] == 2
    edit(certificate)
    with pytest.raises(Invalid):
        check_certificate(LINE, certificate)


@pytest.mark.parametrize(
    "fields",
    [
        {key: value for key, value in FIELDS.items() if key != "F"},
        {**FIELDS, "F": [["1", "2"], ["1", "2"]]},
        {**FIELDS, "D": FIELDS["D"][:1]},
        {**FIELDS, "A": [["1", "1", "1"], ["1", "1", "1"]]},
        {**FIELDS, "U": [["1", 0.5]]},
        {**FIELDS, "permutation": [0, 2]},
        {**FIELDS, "U": []},
        None,
    ],
)
def test_fields_that_are_no_layer_are_refused(fields: Any) -> None:
    with pytest.raises(Invalid):
        check_certificate(fields, costs_of(FIELDS))


def test_basis_that_is_not_orthonormal_is_refused() -> None:
    with pytest.raises(Invalid, match="orthonormal"):
        check_certificate({"U": [[1, 1], [0, 1]]}, {"kind": "coherence"})


def test_negative_cycles_have_no_certificate() -> None:
    swapped = {**LINE, "A": [[1], [0], [3]]}
    certificate = copy.deepcopy(margin_of(LINE))
    certificate["costs"] = costs_of(swapped)
    with pytest.raises(Invalid):
        check_certificate(swapped, certificate)
