"""Certificates of every kind, on the shipped instances: saved results check; tampered with, they are refused or true."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import damage
import fuzz
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from shipped import Shipped, label, shipped, small_files, with_certificates

from lakatos.checker import CHECKS, Invalid, _holds, check_certificate, check_result
from lakatos.core import InputError, Undecided
from lakatos.instance import build_instance, plain_fields
from lakatos.theorems import load

FOREVER = {"suppress_health_check": list(HealthCheck)}


@pytest.mark.parametrize("path", small_files(), ids=label)
def test_saved_results_check(path: Path) -> None:
    """Among other things, the checker reads every claimed value as the prover wrote it."""
    if (proved := shipped(path)) is not None:
        assert check_result(proved.result, path.parent) == []


def test_every_kind_of_certificate_is_shipped() -> None:
    kinds = {certificate["kind"] for proved in with_certificates() for certificate in proved.certificates}
    assert kinds == set(CHECKS)


def facts_of(fields: Any, certificate: Any) -> dict[str, Any]:
    """Return what the certificate establishes: nothing if it is refused, and nothing else may happen."""
    try:
        return check_certificate(fields, certificate)
    except Invalid:
        return {}


def are_true(found: dict[str, Any], facts: dict[str, Any]) -> bool:
    """Return whether `found` follows from `facts`: bounds may be weaker, anything else has to be the same."""
    for quantity, value in found.items():
        if quantity not in facts:
            return False
        fact = facts[quantity]
        is_upper, is_lower = quantity.endswith("_at_most"), quantity.endswith("_at_least")
        if not (value == fact or (is_upper and value >= fact) or (is_lower and value <= fact)):
            return False
    return True


def instances() -> st.SearchStrategy[Shipped]:
    """Kinds first, so that rare ones are tampered with as often as others."""
    by_kind: dict[str, list[Shipped]] = {}
    for proved in with_certificates():
        for certificate in proved.certificates:
            by_kind.setdefault(certificate["kind"], []).append(proved)
    return st.sampled_from(sorted(by_kind)).flatmap(lambda kind: st.sampled_from(by_kind[kind]))


@given(proved=st.deferred(instances), draw=st.randoms(use_true_random=False))
@settings(max_examples=600, **FOREVER)
def test_a_certificate_that_was_tampered_with_is_refused_or_still_true(proved: Shipped, draw: random.Random) -> None:
    certificate = json.loads(damage.damaged_data(draw, draw.choice(proved.certificates)))
    found = facts_of(proved.fields, certificate)
    assert are_true(found, proved.facts), found


@given(proved=st.deferred(instances), other=st.deferred(instances), draw=st.randoms(use_true_random=False))
@settings(max_examples=300, **FOREVER)
def test_parts_of_other_certificates_are_refused_or_still_true(
    proved: Shipped, other: Shipped, draw: random.Random
) -> None:
    certificate = json.loads(json.dumps(draw.choice(proved.certificates)))
    foreign = draw.choice(other.certificates)
    for key in draw.sample(sorted(certificate), draw.randint(1, len(certificate))):
        certificate[key] = foreign.get(key, certificate[key])
    found = facts_of(proved.fields, certificate)
    assert are_true(found, proved.facts), found


def truth(theorem: str, fields: Any) -> dict[str, Any] | None:
    """Return what the prover proves of the instance with these fields, None if there is no such instance."""
    statement = load(theorem)
    try:
        instance = build_instance(statement.instance_class, fields)
        if not all(hypothesis.met for hypothesis in statement.hypotheses(instance)):
            return None
        certificates = statement.predict(instance).certificates
    except (InputError, Undecided):
        return None
    facts: dict[str, Any] = {}
    for certificate in certificates:
        facts |= check_certificate(plain_fields(instance), certificate.to_json())
    return facts


@given(proved=st.deferred(instances), draw=st.randoms(use_true_random=False))
@settings(max_examples=300, **FOREVER)
def test_a_result_that_was_tampered_with_is_refused_or_still_true(proved: Shipped, draw: random.Random) -> None:
    """Fields, certificates, claims and outcome: what still counts as proved is what the prover proves of the new fields."""
    (verdict,) = proved.result["verdicts"]
    kept = {key: verdict[key] for key in ("outcome", "fields", "certificates", "claims")}
    changed = json.loads(damage.damaged_data(draw, kept))
    document = {"schema": "lakatos/verdict/1", "verdicts": [changed]}
    if check_result(document, Path()) or changed["outcome"] != "proved":
        return
    facts = truth(proved.theorem, changed["fields"])
    if facts is not None:
        for claim in changed["claims"]:
            fact = facts[claim["quantity"]]
            assert _holds(fact, claim["relation"], claim["predicted"]), f"{claim}, but it is {fact}"


@given(proved=st.deferred(instances), draw=st.randoms(use_true_random=False))
@settings(max_examples=100, **FOREVER)
def test_huge_and_nested_data_is_refused_or_harmless(proved: Shipped, draw: random.Random) -> None:
    deep: Any = "1"
    for _ in range(2000):
        deep = [deep]
    certificate = json.loads(json.dumps(draw.choice(proved.certificates)))
    fields = json.loads(json.dumps(proved.fields))
    data = draw.choice([certificate, fields])
    path = draw.choice(damage.places(data))
    parent = data
    for key in path[:-1]:
        parent = parent[key]
    parent[path[-1]] = draw.choice(
        [64, 10**6, deep, 10**5000, "9" * 10**6, "1e" + "9" * 100, "1/" + "0" * 4000, {"0": deep}]
    )
    verdict = {"outcome": "supported", "fields": fields, "certificates": [certificate], "claims": []}
    # Whatever it is, it comes to a list of problems; a point modulo a prime may well be huge, and a name long.
    with fuzz.time_limit():
        problems = check_result({"schema": "lakatos/verdict/1", "verdicts": [verdict]}, Path())
    if data is certificate and not problems:
        found = check_certificate(fields, certificate)
        assert are_true(found, proved.facts), found
