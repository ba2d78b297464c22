"""Saved results: valid ones, and each way in which one can disagree with its certificates or its instance file."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from lakatos.checker import check_result, main

Data = dict[str, Any]

TOML = """
theorem = "invariant_set_connected_iff_no_weight_frozen"
[instance]
edges = [["x", "v"], ["v", "y"]]
balance = { v = -0.50 }
"""
FIELDS: Data = {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": "-1/2"}, "nodes": []}
CERTIFICATE: Data = {
    "kind": "connectivity",
    "method": "degrees",
    "point": {"1": "1/2"},
    "edges": [
        {"edge": 0, "minimum": "0", "regular_frozen": False, "witness": None, "flows": {"in": {}}},
        {
            "edge": 1,
            "minimum": "1/2",
            "regular_frozen": True,
            "witness": {"side": "out", "nodes": ["v"], "sum": "-1/2"},
            "flows": {"out": {}},
        },
    ],
    "regular": {"nonempty": True, "witness": None},
}
EMPTY: Data = {"kind": "invariant_set_empty", "side": "out", "nodes": ["v"], "sum": "-1"}


def claim(quantity: str, predicted: Any, relation: str = "=") -> Data:
    return {"quantity": quantity, "relation": relation, "predicted": predicted}


@pytest.fixture
def verdict(tmp_path: Path) -> Data:
    """A valid verdict about an instance file in `tmp_path`."""
    (tmp_path / "neuron.toml").write_text(TOML)
    return {
        "theorem": "invariant_set_connected_iff_no_weight_frozen",
        "instance": "neuron.toml",
        "outcome": "proved",
        "fields": copy.deepcopy(FIELDS),
        "certificates": [copy.deepcopy(CERTIFICATE)],
        "claims": [
            claim("connected", False),
            claim("log2_components", "1"),
            claim("frozen", ["1"]),
            claim("minimum[1]", "1/2"),
            claim("minimum[1]", "1/4", ">="),
            claim("minimum[0]", 1, "<="),
        ],
        "provenance": {"instance_sha256": hashlib.sha256(TOML.encode()).hexdigest()},
    }


def problems(verdict: Any, folder: Path) -> list[str]:
    return check_result({"schema": "lakatos/verdict/1", "verdicts": [verdict]}, folder)


def test_valid_result(verdict: Data, tmp_path: Path) -> None:
    assert problems(verdict, tmp_path) == []


def test_an_instance_file_that_is_gone_is_no_problem(verdict: Data, tmp_path: Path) -> None:
    (tmp_path / "neuron.toml").unlink()
    assert problems(verdict, tmp_path) == []


def test_instance_in_the_current_folder(verdict: Data, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert problems(verdict, tmp_path / "elsewhere") == []
    (tmp_path / "neuron.toml").write_text(TOML + "\n")
    assert "changed since" in problems(verdict, tmp_path / "elsewhere")[0]


@pytest.mark.parametrize("place", ["../other/neuron.toml", "{}/other/neuron.toml", "link.toml"])
def test_an_instance_elsewhere_is_not_read(verdict: Data, tmp_path: Path, place: str) -> None:
    """Its hash is another one, which would be told."""
    folder = tmp_path / "results"
    folder.mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "other/neuron.toml").write_text(TOML + "\n")
    (folder / "link.toml").symlink_to(tmp_path / "other/neuron.toml")
    verdict["instance"] = place.format(tmp_path)
    assert problems(verdict, folder) == []
    verdict["instance"] = "other/neuron.toml"
    assert "changed since" in problems(verdict, tmp_path)[0]


def test_links_in_a_circle_end(verdict: Data, tmp_path: Path) -> None:
    (tmp_path / "neuron.toml").unlink()
    (tmp_path / "neuron.toml").symlink_to("neuron.toml")
    assert len(problems(verdict, tmp_path)) <= 1  # a problem, or no file; it depends on the version of Python


def test_a_file_too_large_for_an_instance_is_not_read(verdict: Data, tmp_path: Path) -> None:
    with (tmp_path / "neuron.toml").open("wb") as file:
        file.truncate(1 << 30)
    assert "larger than any instance" in problems(verdict, tmp_path)[0]


@pytest.mark.parametrize(
    "wrong",
    [
        claim("connected", True),
        claim("connected", 0),
        claim("connected", None),
        claim("connected", False, "<="),
        claim("log2_components", "2"),
        claim("log2_components", True),
        claim("log2_components", None),
        claim("log2_components", 1.0),
        claim("frozen", ["0"]),
        claim("frozen", ["1", "1"]),
        claim("frozen", "1"),
        claim("minimum[1]", "1/3"),
        claim("minimum[1]", "3/4", ">="),
        claim("minimum[1]", "1/4", "<="),
    ],
    ids=str,
)
def test_a_claim_that_a_certificate_contradicts(verdict: Data, tmp_path: Path, wrong: Data) -> None:
    verdict["claims"].append(wrong)
    assert "is claimed otherwise" in problems(verdict, tmp_path)[0]
    verdict["outcome"] = "supported"
    assert "is claimed otherwise" in problems(verdict, tmp_path)[0]
    verdict["outcome"] = "refuted"
    assert problems(verdict, tmp_path) == []


def test_a_derivation_settles_claims_that_it_names(
    verdict: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It is not repeated here, and the checker says so."""
    verdict["claims"].append(claim("cost", "1/2"))
    verdict["derivation"] = {"identity": "a = b", "residual": "0", "latex": "", "settles": ["cost"]}
    assert problems(verdict, tmp_path) == []
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"schema": "lakatos/verdict/1", "verdicts": [verdict]}), encoding="utf-8")
    assert main([str(path)]) == 0
    assert "1 claim(s) rest on a symbolic derivation" in capsys.readouterr().out
    for broken in ({"residual": "x"}, {"settles": ["other"]}, {"settles": "cost"}, {"identity": None}):
        changed = {**verdict, "derivation": {**verdict["derivation"], **broken}}
        assert problems(changed, tmp_path) != []


def test_proved_needs_a_certificate_for_every_claim(verdict: Data, tmp_path: Path) -> None:
    verdict["claims"].append(claim("singular", False))
    assert problems(verdict, tmp_path) == [
        "verdicts[0], theorem 'invariant_set_connected_iff_no_weight_frozen', instance 'neuron.toml', outcome 'proved': "
        "proved, but no certificate establishes 'singular'"
    ]
    verdict["outcome"] = "supported"
    assert problems(verdict, tmp_path) == []


def test_proved_of_nothing(verdict: Data, tmp_path: Path) -> None:
    verdict["claims"] = []
    assert "nothing is claimed" in problems(verdict, tmp_path)[0]


def test_every_certificate_has_to_check(verdict: Data, tmp_path: Path) -> None:
    verdict["certificates"].append(EMPTY)
    assert "certificates[1]: " in problems(verdict, tmp_path)[0]


@pytest.mark.parametrize(
    ("toml", "message"),
    [
        (TOML.replace("-0.50", "-0.51"), "'balance' is not what"),
        (TOML.replace("-0.50", "'-1/2'").replace('["x", "v"], ', ""), "'edges' is not what"),
        (TOML + 'inputs = ["x", "y"]\n', "'inputs' is not what"),
        (TOML.replace('"x"', '"x", 1'), "'edges' is not what"),
        (TOML + "nodes = 1e999999999\n", "exact number"),
        (TOML + "nodes = nan\n", "exact number"),
        (TOML.replace("[instance]", "[example]"), "no table [instance]"),
        ("[", "not TOML"),
        ("instance = 1", "no table"),
    ],
)
def test_an_instance_file_that_says_otherwise(verdict: Data, tmp_path: Path, toml: str, message: str) -> None:
    (tmp_path / "neuron.toml").write_text(toml)
    verdict["provenance"]["instance_sha256"] = hashlib.sha256(toml.encode()).hexdigest()
    assert message in problems(verdict, tmp_path)[0]


def test_names_that_are_equal_as_numbers_are_not_the_same(verdict: Data, tmp_path: Path) -> None:
    toml = TOML.replace('"x"', '"1e1"')
    (tmp_path / "neuron.toml").write_text(toml)
    verdict["provenance"]["instance_sha256"] = hashlib.sha256(toml.encode()).hexdigest()
    verdict["fields"]["edges"][0][0] = "10"
    assert "the network is not that of the instance file" in problems(verdict, tmp_path)[0]


def test_what_the_file_leaves_out_is_left_out(verdict: Data, tmp_path: Path) -> None:
    toml = '[instance]\nedges = [["x", "v", 1], ["v", "y", 2]]\n'
    (tmp_path / "neuron.toml").write_text(toml)
    verdict["provenance"]["instance_sha256"] = hashlib.sha256(toml.encode()).hexdigest()
    verdict |= {"outcome": "supported", "certificates": []}
    verdict["fields"] = {"edges": [["x", "v", "1"], ["v", "y", "2"]]}
    assert problems(verdict, tmp_path) == []
    verdict["fields"]["outputs"] = ["v", "y"]
    assert "the network is not that of the instance file" in problems(verdict, tmp_path)[0]


def test_tables_in_the_record_may_have_defaults_added(verdict: Data, tmp_path: Path) -> None:
    toml = '[instance]\ngroup = { name = "C3" }\n'
    (tmp_path / "neuron.toml").write_text(toml)
    verdict["provenance"]["instance_sha256"] = hashlib.sha256(toml.encode()).hexdigest()
    verdict |= {"outcome": "supported", "certificates": [], "claims": []}
    for group, is_same in [({"name": "C3", "copies": 1}, True), ({"name": "C4"}, False), ({"copies": 1}, False)]:
        assert (problems({**verdict, "fields": {"group": group}}, tmp_path) == []) == is_same


def test_other_fields_and_arrays_in_other_files(tmp_path: Path) -> None:
    toml = '[instance]\nF = { file = "weights.npz", key = "F" }\nstep = 0.1\nactive = true\n'
    toml += 'rule = "plain"\nrates = { a = 1 }\nsizes = [1, 2]\n'
    (tmp_path / "other.toml").write_text(toml)
    fields = {"F": [["1"]], "step": "1/10", "active": True, "rule": "plain", "rates": {"a": "1"}}
    fields |= {"sizes": ["1", "2"], "seeds": 3}
    record = {
        "instance": "other.toml",
        "outcome": "supported",
        "fields": fields,
        "certificates": [],
        "claims": [],
        "provenance": {"instance_sha256": hashlib.sha256(toml.encode()).hexdigest()},
    }
    assert problems(record, tmp_path) == []
    others = [
        ("step", "1/5"),
        ("step", True),
        ("active", False),
        ("active", 1),
        ("rule", "other"),
        ("rule", 1),
        ("rates", []),
    ]
    others += [
        ("sizes", [1]),
        ("sizes", [1, 2, 3]),
        ("sizes", [2, 1]),
        ("sizes", "12"),
        ("sizes", 12),
        ("rates", ["a"]),
    ]
    others += [("rates", {"a": 2}), ("rates", {})]
    for key, value in others:
        assert f"'{key}' is not what" in problems({**record, "fields": {**fields, key: value}}, tmp_path)[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("outcome", "certain"),
        ("outcome", ["proved"]),
        ("claims", None),
        ("claims", [{"quantity": "connected", "relation": "="}]),
        ("claims", [claim("connected", False, "!=")]),
        ("claims", ["connected"]),
        ("certificates", None),
        ("fields", None),
        ("fields", []),
        ("instance", 7),
        ("instance", "long" * 2000),
        ("provenance", {}),
        ("provenance", None),
    ],
)
def test_malformed_verdicts(verdict: Data, tmp_path: Path, key: str, value: Any) -> None:
    assert problems({**verdict, key: value}, tmp_path)
    assert problems([verdict], tmp_path)


def test_nested_fields(verdict: Data, tmp_path: Path) -> None:
    deep: Any = []
    for _ in range(5000):
        deep = [deep]
    assert problems({**verdict, "fields": {"edges": deep}}, tmp_path)


def certificate_file(**changes: Any) -> Data:
    claims = {"connected": False, "frozen": ["1"], "minimum[1]": "1/2", "log2_components": "1"}
    document = {"schema": "lakatos/certificate/1", "network": FIELDS, "certificate": CERTIFICATE, "claims": claims}
    return {**document, **changes}


def test_certificate_file(tmp_path: Path) -> None:
    assert check_result(certificate_file(), tmp_path) == []
    assert "claimed otherwise" in check_result(certificate_file(claims={"connected": True}), tmp_path)[0]
    assert "not established" in check_result(certificate_file(claims={"singular": True}), tmp_path)[0]
    assert check_result(certificate_file(claims=[]), tmp_path)
    assert check_result(certificate_file(certificate=EMPTY), tmp_path)
    assert check_result(certificate_file(note=""), tmp_path)


@pytest.mark.parametrize("document", [None, [], {}, {"schema": "lakatos/verdict/2"}, {"schema": "lakatos/verdict/1"}])
def test_unknown_documents(document: Any, tmp_path: Path) -> None:
    assert len(check_result(document, tmp_path)) == 1


def test_exit_statuses(verdict: Data, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    path.write_text(json.dumps({"schema": "lakatos/verdict/1", "verdicts": [verdict, {**verdict, "outcome": "x\ny"}]}))
    assert main([str(path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.partition(":")[0] for line in lines] == ["valid", "INVALID"]
    path.write_text(json.dumps({"schema": "lakatos/verdict/1", "verdicts": [verdict]}))
    assert main([str(path)]) == 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ('{"schema": "lakatos/verdict/1", "verdicts": [], "seconds": NaN}', "NaN is not JSON"),
        ('{"schema": "?"}', "schema='?': unknown"),
        ("[" * 100_000, "nested too deeply"),
        ("1" * 5000, "not JSON"),
        ('"\udcff"', "not JSON"),
    ],
)
def test_files_that_are_no_results(text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "result.json"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))
    assert main([str(path)]) == 2
    assert message in capsys.readouterr().err


def test_usage(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == main(["--strict"]) == main(["a", "b"]) == 2
    assert main(["--help"]) == 0
    assert capsys.readouterr().err.count("usage") == 4
    assert main([str(tmp_path / "missing.json")]) == main([str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("cannot be read") == 2
