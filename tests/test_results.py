"""Result files: what is written is valid, says everything, and reads back as it was."""

from __future__ import annotations

import json
import math
import os
from dataclasses import replace
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.cli import main
from lakatos.core import (
    Certificate,
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    InternalError,
    Judged,
    Outcome,
    Reason,
    Relation,
    Verdict,
)
from lakatos.results import results_from_json, results_to_json, value_from_json, value_to_json, write_atomically

SCHEMAS = {
    name: json.loads(files("lakatos").joinpath(f"schemas/{name}-1.json").read_text())
    for name in ("verdict", "connectivity", "list")
}
PROVENANCE = {
    "lakatos": "0.1.0",
    "python": "3.11.0",
    "torch": None,
    "sympy": "1.13",
    "seed": 0,
    "device": "cpu",
    "dtype": "float64",
    "instance_sha256": "0" * 64,
}

texts = st.one_of(st.text(max_size=5), st.sampled_from(["1", "-3/4", "inf", "-inf", "0/1", "nan", "1/0", "007"]))
leaves = st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False), st.booleans(), st.none(), texts)
values = st.recursive(leaves, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=5)
errors = st.floats(min_value=0)
claims = st.builds(Claim, texts, st.sampled_from(Relation), values, st.floats(0, 1e300))
judged = st.builds(
    Judged,
    claims,
    st.none() | st.builds(Estimate, values, errors, texts),
    st.just(True),
    st.none() | st.booleans(),
)
certificates = st.builds(
    Certificate, texts, st.dictionaries(texts.filter(lambda key: key != "kind"), st.integers() | texts, max_size=2)
)


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    outcome = draw(st.sampled_from(Outcome))
    reasons = {Outcome.INCONCLUSIVE: st.sampled_from([reason.value for reason in Reason])}
    named = st.text(min_size=1, max_size=5)
    return Verdict(
        theorem=draw(texts),
        outcome=outcome,
        evidence=Evidence.EXACT if outcome is Outcome.PROVED else draw(st.sampled_from(Evidence)),
        reason=draw(reasons.get(outcome, named)),
        explanation=draw(texts),
        hypotheses=tuple(draw(st.lists(st.builds(Hypothesis, texts, st.booleans(), texts), max_size=2))),
        derivation=draw(st.none() | st.builds(Derivation, texts, texts, texts, st.lists(texts, max_size=2).map(tuple))),
        claims=tuple(draw(st.lists(judged, max_size=3))),
        certificates=tuple(draw(st.lists(certificates, max_size=2))),
        fields=draw(st.dictionaries(texts, texts | st.booleans(), max_size=2)),
        instance=draw(st.none() | texts),
        title=draw(texts),
        variant=draw(st.none() | texts),
        expected=draw(st.none() | st.sampled_from(Outcome)),
        seconds=draw(st.floats(0, 1e6)),
        provenance=PROVENANCE,
    )


def validate(name: str, document: Any) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    validator.validate(document)


def verdict_with(*rows: Judged) -> Verdict:
    return Verdict("toy", Outcome.SUPPORTED, Evidence.INTERVAL, claims=rows, provenance=PROVENANCE)


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMAS[name])
    assert SCHEMAS[name]["properties"]["schema"]["const"] == f"lakatos/{name}/1"


@given(st.lists(verdicts(), max_size=2).map(tuple))
def test_results_are_valid_and_read_back(given_verdicts: tuple[Verdict, ...]) -> None:
    document = results_to_json(given_verdicts)
    validate("verdict", document)
    text = json.dumps(document, allow_nan=False)
    assert results_from_json(json.loads(text)) == given_verdicts


@given(values)
def test_values_read_back_with_their_type(value: Any) -> None:
    again = value_from_json(json.loads(json.dumps(value_to_json(value), allow_nan=False)))
    assert again == value
    if not isinstance(value, Fraction):
        # A fraction with denominator 1 comes back as the equal integer.
        assert type(again) is type(value)


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Fraction(-7, 2), "-7/2"),
        (Fraction(3), "3"),
        (10**30, "1" + "0" * 30),
        (0.5, 0.5),
        (math.inf, "inf"),
        (-math.inf, "-inf"),
        (math.nan, None),
        ((1, (True, None)), ["1", [True, None]]),
        ("relu", "relu"),
        ("1/2", {"text": "1/2"}),
    ],
)
def test_values_are_written_as_documented(value: Any, data: Any) -> None:
    written = value_to_json(value)
    assert written == data
    assert type(written) is type(data)


def test_nan_never_appears() -> None:
    row = Judged(Claim("q", Relation.EQUAL, math.nan), Estimate(math.nan, math.nan), False, None)
    text = json.dumps(results_to_json([verdict_with(row)]), allow_nan=False)
    assert "NaN" not in text
    assert json.loads(text)["verdicts"][0]["claims"][0]["measured"] is None


def test_value_of_another_type_is_our_defect() -> None:
    with pytest.raises(InternalError, match="complex"):
        value_to_json(1j)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda document: [], "schema=None"),
        (lambda document: {**document, "schema": "lakatos/verdict/9"}, "lakatos/verdict/9"),
        (lambda document: {**document, "verdicts": {}}, "a list is needed"),
        (lambda document: {**document, "verdicts": [7]}, r"verdicts\[0\]"),
        (lambda document: {**document, "verdicts": [{}]}, r"verdicts\[0\]: the key 'derivation' is missing"),
        (lambda document: altered(document, outcome="certain"), "certain"),
        (lambda document: altered(document, claims=[{}]), "'relation' is missing"),
    ],
)
def test_other_documents_are_refused_by_name(change: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        results_from_json(change(results_to_json([verdict_with()])))


def nested() -> Any:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    return deep


@pytest.mark.parametrize("change", [{"predicted": nested()}, {"resolution": 10**400}])
def test_values_beyond_measure_are_refused(change: dict[str, Any]) -> None:
    claim = {"quantity": "q", "relation": "=", "predicted": "1", "resolution": 0, **change}
    with pytest.raises(InputError, match=r"verdicts\[0\]"):
        results_from_json(altered(results_to_json([verdict_with()]), claims=[claim]))


def altered(document: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return {**document, "verdicts": [{**document["verdicts"][0], **changes}]}


def test_schema_refuses_what_is_no_verdict() -> None:
    document = results_to_json([verdict_with(Judged(Claim("q", Relation.EQUAL, 1), None, False, None))])
    validate("verdict", document)
    unproved = replace(verdict_with(), outcome=Outcome.INCONCLUSIVE, reason="tired")
    for wrong in (altered(document, outcome="proved"), altered(document, extra=1), results_to_json([unproved])):
        with pytest.raises(jsonschema.ValidationError):
            validate("verdict", wrong)


# Files -----------------------------------------------------------------------------------------------------------------


def test_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "result.json"
    write_atomically(path, "first\n")
    write_atomically(path, "θ\n")
    assert path.read_bytes() == "θ\n".encode()
    assert os.listdir(tmp_path) == ["result.json"]


def test_failed_write_keeps_the_old_file_and_leaves_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "result.json"
    write_atomically(path, "old\n")

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match="No space left"):
        write_atomically(path, "new\n")
    assert path.read_text() == "old\n"
    assert os.listdir(tmp_path) == ["result.json"]


def test_missing_folder_and_folder_in_place_of_a_file_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be written"):
        write_atomically(tmp_path / "missing" / "result.json", "")
    with pytest.raises(InputError, match="not a regular file"):
        write_atomically(tmp_path, "")


# Real output ----------------------------------------------------------------------------------------------------------


def test_list_is_valid(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    validate("list", document)
    assert document["theorems"]


@pytest.mark.parametrize(("balance", "status"), [(1, 1), (0, 0), (None, 4)])
def test_connectivity_is_valid(
    balance: int | None, status: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edges = [["x", "v"]] if balance is None else [["x", "v"], ["v", "y"]]
    network = {"edges": edges, "inputs": ["x"], "outputs": [], "balance": {"v": -1}}
    if balance is not None:
        network |= {"outputs": ["y"], "balance": {"v": balance}}
    path = tmp_path / "network.json"
    path.write_text(json.dumps(network))
    assert main(["connectivity", str(path), "--json"]) == status
    validate("connectivity", json.loads(capsys.readouterr().out))
