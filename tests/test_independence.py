"""No measurement can have seen the prediction: what runs for both is the reading of instances, and nothing else.

`tests/test_imports.py` keeps the packages apart; here the calls are watched. Whatever code of this package runs while a
theorem measures, and runs as well while it predicts or derives, has to be named below with the reason why it decides nothing.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import pytest
from shipped import FILES

from lakatos.core import Prediction, Theorem, Undecided
from lakatos.instance import read_instance
from lakatos.theorems import NAMES, load
from lakatos.verification import verify_file, verify_instance

PACKAGE = {
    str(Path(folder).resolve()): name
    for name in ("lakatos", "lakatos.graphs", "lakatos.theory", "lakatos.numerics", "lakatos.theorems")
    for folder in __import__(name, fromlist=["__path__"]).__path__
}

# Modules that say what an instance is: plain data, and the numbers, graphs and groups that it stands for.
DATA = {
    "lakatos._lazy": "imports",
    "lakatos.core": "vocabulary",
    "lakatos.exact": "reads numbers",
    "lakatos.arrays": "reads arrays",
    "lakatos._checker_groups": "the matrices of a group that is called by name",
    "lakatos.graphs.network": "the graph with its balances",
    "lakatos.graphs.names": "names of nodes",
    "lakatos.graphs.adjacency": "edges by node",
    "lakatos.graphs.layered": "the graph of a layered network",
    "lakatos.numerics.floats": "exact numbers as floats",
    "lakatos.theory.matrices": "entries of matrices, added and multiplied",
    "lakatos.theory.exact_matrices": "the elements of a group that matrices generate",
}
# Functions of other modules that do no more than that.
READING = {
    ("lakatos._checker_dynamics", "group_action"),
    ("lakatos._checker_dynamics", "is_orthogonal"),
    ("lakatos.numerics.forward", "as_floats"),
    ("lakatos.numerics.training", "_floats"),
    ("lakatos.numerics.training", "problem_of"),
    ("lakatos.theorems.chord_deviation_is_at_most_beta_to_three_halves", "_sum"),
    ("lakatos.theorems.jacobian_rank_drops_iff_neurons_disconnected", "_has_few_forests"),
}
# What a statement speaks of may have to be known before it is measured. The values are measured in other ways.
SUBJECT = {
    "same_component_path_of_knots": "the path is a witness: whether its points stay in the set is measured",
    "frozen_weight_stays_above_minimum_of_gradient_flow": "which weights are frozen, and so watched in the run",
    "jacobian_rank_invariant_of_gradient_flow": "whether there are detached weights, and so something to watch",
    "nuclear_norm_is_twice_trace_root_laplacian": "whether the point is regular, and so has a gradient",
}


def module_of(filename: str) -> str | None:
    """Return the module of this package that a file is, None for others."""
    path = Path(filename)
    package = PACKAGE.get(str(path.parent))
    return None if package is None else f"{package}.{path.stem}"


def calls(function: Callable[..., Any], *arguments: Any) -> set[tuple[str, str]]:
    """Return the functions of this package, as module and qualified name, that run while `function` does."""
    found: set[CodeType] = set()

    def trace(frame: FrameType, event: str, _: Any) -> None:
        found.add(frame.f_code)

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        with suppress(Undecided):
            function(*arguments)
    finally:
        sys.settrace(before)
    named = {(module_of(code.co_filename), code.co_qualname.partition(".<locals>")[0]) for code in found}
    return {(module, name) for module, name in named if module is not None and name != "<module>"}


def is_data(module: str, name: str) -> bool:
    """Return whether this is part of what an instance is: a method of its class, or of a module of `DATA`."""
    owner = name.rpartition(".")[0]
    is_reading = module in DATA or (module, name) in READING or name == "_quantity"  # what a claim is called
    return is_reading or owner == "Instance" or owner.endswith("Fields") or module.endswith("_fields")


def shared(theorem: Theorem, path: Path) -> set[tuple[str, str]]:
    """Return what runs for the measurement and for the prediction, on instances of their own.

    The measurement comes first: nothing that the prediction could have left in a cache is there for it.
    """
    measuring = calls(theorem.measure, read_instance(path).instance, 0, "cpu")
    predicting = calls(theorem.predict, read_instance(path).instance)
    if theorem.derive is not None:
        predicting |= calls(theorem.derive, read_instance(path).instance)
    return {found for found in measuring & predicting if not is_data(*found)}


@cache
def smallest(name: str) -> Path:
    """Return the smallest shipped instance that the theorem holds on."""
    headers = {path: tomllib.loads(path.read_text("utf-8")) for path in FILES}
    holding = [
        path
        for path, header in headers.items()
        if header["theorem"] == name and header.get("expect", "proved") in ("proved", "supported")
    ]
    return min(holding, key=lambda path: path.stat().st_size)


@pytest.mark.parametrize("name", NAMES)
def test_measurement_and_prediction_share_no_code(name: str) -> None:
    found = shared(load(name), smallest(name))
    if name in SUBJECT:
        assert found, f"{name} needs no exception any more"
        found = {(module, function) for module, function in found if not is_about_subject(name, module)}
    assert found == set()


def is_about_subject(name: str, module: str) -> bool:
    return module.startswith("lakatos.graphs.") or module == f"lakatos.theorems.{name}"


CHEAT = "invariant_set_connected_iff_no_weight_frozen"


def test_a_measurement_that_asks_for_the_prediction_is_seen() -> None:
    """Otherwise the test before this one would show nothing."""
    theorem = load(CHEAT)

    def measure(instance: Any, seed: int, device: str) -> Any:
        theorem.predict(instance)
        return theorem.measure(instance, seed, device)

    seen = shared(replace(theorem, measure=measure), smallest(CHEAT))
    assert (f"lakatos.theorems.{CHEAT}", "predict") in seen
    assert ("lakatos.graphs.connectivity", "connectivity") in seen


def test_what_is_measured_does_not_depend_on_what_is_predicted() -> None:
    """A prediction that fails, or lies, leaves the measurement as it is."""
    theorem = load(CHEAT)
    path = smallest(CHEAT)
    honest = verify_file(path)

    def lie(instance: Any) -> Prediction:
        told = theorem.predict(instance)
        return Prediction(tuple(replace(claim, value=None) for claim in told.claims))

    instance = read_instance(path).instance
    lied = verify_instance(replace(theorem, predict=lie), instance)
    assert [row.estimate for row in lied.claims] == [row.estimate for row in honest.claims]
