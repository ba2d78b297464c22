"""What every theorem owes: statement, sources, instances with controls, claims that can be contradicted, false variants."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

from lakatos.catalog import bibtex
from lakatos.checker import check_certificate
from lakatos.core import Estimate, Evidence, Measurement, Outcome, Theorem, Undecided
from lakatos.instance import build_instance, plain_fields, read_instance
from lakatos.judge import contradictions, judge
from lakatos.theorems import NAMES, load
from lakatos.verification import verify_file, verify_instance

FAMILIES = {"invariant_sets", "identifiability", "correlations", "conservation"}
SECTIONS = ("Hypotheses", "Statement", "Proof idea", "Source")
FOLDER = Path(__file__).parents[1] / "instances"
FILES = sorted(FOLDER.rglob("*.toml"))
HEADERS = {path: tomllib.loads(path.read_text("utf-8")) for path in FILES}
HOLDING = [path for path in FILES if HEADERS[path].get("expect", "proved") in ("proved", "supported")]
CONTROLS = [path for path in FILES if HEADERS[path].get("expect") in ("refuted", "inapplicable")]

each_theorem = pytest.mark.parametrize("name", NAMES)


def label(path: Path) -> str:
    return path.relative_to(FOLDER).with_suffix("").as_posix()


# The module ------------------------------------------------------------------------------------------------------------


@each_theorem
def test_docstring_states_the_theorem(name: str) -> None:
    doc = inspect.cleandoc(load(name).doc)
    first, _, rest = doc.partition("\n\n")
    assert first.endswith(".")
    assert "\n" not in first, "the statement is one line, since `lakatos list` shows it"
    parts = re.split(r"^(.+)\n-+\n", rest, flags=re.MULTILINE)
    assert tuple(parts[1::2]) == SECTIONS
    assert all(text.strip() for text in parts[2::2])


@each_theorem
def test_sources_are_in_the_bibliography(name: str) -> None:
    theorem = load(name)
    assert theorem.source.keys
    assert bibtex(theorem).count("@") == len(theorem.source.keys)


@each_theorem
def test_family_and_ids_place_it_in_a_theory(name: str) -> None:
    theorem = load(name)
    assert theorem.family in FAMILIES
    assert theorem.ids
    assert all(re.fullmatch(r"[A-Z]+[0-9]+[a-z]?", statement) for statement in theorem.ids)


@each_theorem
def test_instance_class_is_a_frozen_dataclass(name: str) -> None:
    instance_class = load(name).instance_class
    assert dataclasses.is_dataclass(instance_class)
    assert vars(instance_class)["__dataclass_params__"].frozen


@each_theorem
def test_measurement_has_no_argument_for_a_prediction(name: str) -> None:
    theorem = load(name)
    assert list(inspect.signature(theorem.measure).parameters) == ["instance", "seed", "device"]
    assert list(inspect.signature(theorem.predict).parameters) == ["instance"]


# The instances ---------------------------------------------------------------------------------------------------------


@each_theorem
def test_theorem_ships_instances_that_hold_and_a_control(name: str) -> None:
    holding = [path for path in HOLDING if HEADERS[path]["theorem"] == name]
    assert holding
    # A true theorem without hypotheses applies everywhere and is never refuted: its false variants are its only controls.
    if any(load(name).hypotheses(read_instance(path).instance) for path in holding):
        assert [path for path in CONTROLS if HEADERS[path]["theorem"] == name]


def test_every_instance_belongs_to_a_registered_theorem() -> None:
    assert {header["theorem"] for header in HEADERS.values()} <= set(NAMES)


@pytest.mark.parametrize("path", FILES, ids=label)
def test_instance_has_the_verdict_it_expects(path: Path) -> None:
    verdict = verify_file(path)
    assert verdict.title
    assert verdict.as_expected, f"{verdict.outcome}: {verdict.reason}: {verdict.explanation}"


# The negative control --------------------------------------------------------------------------------------------------


def measured(theorem: Theorem, instance: Any, seed: int) -> Measurement:
    try:
        return theorem.measure(instance, seed, "cpu")
    except Undecided:
        return Measurement({})


@pytest.mark.parametrize("path", HOLDING, ids=label)
def test_every_claim_moved_towards_contradiction_is_refuted(path: Path) -> None:
    file = read_instance(path)
    theorem, instance = file.theorem, file.instance
    hypotheses, prediction = theorem.hypotheses(instance), theorem.predict(instance)
    measurement = measured(theorem, instance, file.seed)
    facts: dict[str, Any] = {}
    for certificate in prediction.certificates:
        facts |= check_certificate(plain_fields(instance), certificate.to_json())
    for claim in prediction.claims:
        quantity = claim.quantity
        can_refute = quantity in measurement.estimates and measurement.evidence is not Evidence.HEURISTIC
        assert can_refute or quantity in facts, f"nothing could contradict {quantity}"
        if can_refute:
            estimate = measurement.estimates[quantity]
            alone = dataclasses.replace(measurement, estimates={quantity: estimate})
            assert_refuted(hypotheses, contradictions(claim, estimate), measurement=alone)
        if quantity in facts:
            fact = facts[quantity]
            assert_refuted(hypotheses, contradictions(claim, Estimate(fact)), established={quantity: fact})


def assert_refuted(hypotheses: Any, moved: tuple[Any, ...], **evidence: Any) -> None:
    assert moved
    for claim in moved:
        assert judge(hypotheses, [claim], **evidence).outcome is Outcome.REFUTED


# The false variants ----------------------------------------------------------------------------------------------------


@each_theorem
def test_false_variants_are_registered(name: str) -> None:
    variants = load(name).variants
    assert len(variants) >= 2
    assert all(variant.change and variant.examples for variant in variants.values())
    assert all(variant.predict or variant.hypotheses or variant.derive for variant in variants.values())


@each_theorem
def test_every_variant_is_refuted_where_the_theorem_is_not(name: str) -> None:
    theorem = load(name)
    for label, variant in theorem.variants.items():
        instances = [build_instance(theorem.instance_class, example) for example in variant.examples]
        outcomes = [verify_instance(theorem, instance, variant=label).outcome for instance in instances]
        assert Outcome.REFUTED in outcomes, f"{label}: {outcomes}"
        kept = {verify_instance(theorem, instance).outcome for instance in instances}
        assert kept <= {Outcome.PROVED, Outcome.SUPPORTED, Outcome.INAPPLICABLE}, f"{label}: {kept}"
