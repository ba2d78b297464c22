"""``lakatos connectivity``: the answer in words and as JSON, its certificate, and inputs that are wrong."""

from __future__ import annotations

import json
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import jsonschema
import pytest

import lakatos
from lakatos.checker import main as check
from lakatos.cli import main
from lakatos.core import Certificate
from lakatos.graphs import connectivity as engine
from lakatos.graphs.words import shown_number

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "connectivity-1.json").read_text(encoding="utf-8"))
TWO_IN = [["x", "v"], ["z", "v"], ["v", "y"]]
LOCKED = {"edges": TWO_IN, "balance": {"v": "-4"}}
FREE = {"edges": TWO_IN, "balance": {"v": "4"}}
BALANCED = {"edges": TWO_IN, "balance": {"v": "0"}}
EMPTY = {"edges": [["x", "v"]], "inputs": ["x"], "outputs": [], "balance": {"v": "-1"}}
NESTED = {"edges": [["x", "a"], ["a", "v"], ["a", "v"], ["v", "y"]], "balance": {"a": "-2", "v": "1"}}
CYCLE = {
    "edges": [["x", "v"], ["v", "w"], ["w", "v"], ["v", "y"]],
    "inputs": ["x"],
    "outputs": ["y"],
    "balance": {"v": "-1", "w": "0"},
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(data: dict[str, Any], name: str = "net.json") -> str:
    Path(name).write_text(json.dumps(data))
    return name


@pytest.mark.parametrize(
    ("network", "status", "log2", "regular_log2"),
    [
        (LOCKED, 1, 1, 1),
        (FREE, 0, 0, 0),
        (BALANCED, 0, 0, 1),
        (EMPTY, 4, None, None),
        (NESTED, 1, 1, 1),
        (CYCLE, 1, 1, 3),
    ],
)
def test_status_and_json(
    network: dict[str, Any],
    status: int,
    log2: int | None,
    regular_log2: int | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["connectivity", write(network), "--json"]) == status
    out, err = capsys.readouterr()
    assert err == ""
    data = json.loads(out)
    jsonschema.validate(data, SCHEMA)
    assert data.keys() == set(SCHEMA["required"])
    assert (data["log2_components"], data["regular_log2_components"]) == (log2, regular_log2)
    assert data["connected"] is (None if log2 is None else log2 == 0)
    assert (data["singular"], data["betti"], data["arithmetic"]) == (None, None, "exact")


def test_frozen_edge_in_json(capsys: pytest.CaptureFixture[str]) -> None:
    main(["connectivity", write(LOCKED), "--json"])
    data = json.loads(capsys.readouterr().out)
    frozen = {
        "edge": 2,
        "tail": "v",
        "head": "y",
        "minimum": "4",
        "witness": {"side": "out", "nodes": ["v"], "sum": "-4"},
    }
    assert data["frozen"] == data["regular_frozen"] == [frozen]
    assert (data["out_bottlenecks"], data["in_bottlenecks"]) == (["v"], [])
    assert (data["nodes"], data["edges"], data["hidden"]) == (4, 3, 1)


@pytest.mark.parametrize(
    ("network", "sentences"),
    [
        (
            LOCKED,
            [
                "The invariant set has 2^1 components: training by gradient flow cannot change the sign of this weight.",
                "has the same number of components.",
                "Neuron v cannot change the sign of its only outgoing weight v→y: w² >= 4 along gradient flow, "
                "since w² = 4 + the sum of the squared weights into v.",
                "2 v→y >= 4 only exit of v: w² = 4 + what enters",
                "can free any one of these weights",
                "Neurons with a single outgoing weight (1): v.",
            ],
        ),
        (FREE, ["The invariant set is connected", "is connected too: no sign is locked."]),
        (
            BALANCED,
            [
                "The invariant set is connected",
                "Exactly balanced neurons: the invariant set is connected as a set, but gradient flow cannot cross",
                "Its regular part has 2^1 components: the sign of 1 more weight cannot change either.",
                "2 v→y > 0 only exit of v: w² = what enters",
            ],
        ),
        (EMPTY, ["The invariant set is empty", "No edge leaves v", "have to sum to at least 0; they sum to -1."]),
        (NESTED, ["The neurons {a, v} cannot change the sign of v→y, the only outgoing weight they have together"]),
        (
            {"edges": [["x", "y", 1]]},
            ["No neuron obeys a law of balance, so this set is all of the weights and says nothing about training."],
        ),
    ],
)
def test_explanation(network: dict[str, Any], sentences: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    main(["connectivity", write(network)])
    out, err = capsys.readouterr()
    assert err == ""
    text = re.sub(r"\s+", " ", out)
    for sentence in sentences:
        assert sentence in text


def test_rescaling_is_promised_only_where_it_is_possible(capsys: pytest.CaptureFixture[str]) -> None:
    main(["connectivity", write(CYCLE)])
    assert "Rescaling" in capsys.readouterr().out
    dead_end = {
        "edges": [*TWO_IN, ["x", "d"]],
        "inputs": ["x", "z"],
        "outputs": ["y"],
        "balance": {"v": "-4", "d": "1"},
    }
    main(["connectivity", write(dead_end)])
    out = capsys.readouterr().out
    assert "cannot change the sign" in out
    assert "Rescaling" not in out
    main(["connectivity", write({"edges": [["x", "v", "1"], ["z", "v", "0"], ["v", "y", "2"]]})])
    out = capsys.readouterr().out
    assert "cannot change the sign" in out
    assert "Rescaling" not in out


def test_many_locked_weights_are_counted_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    edges = [edge for k in range(30) for edge in (["x", f"h{k}"], ["z", f"h{k}"], [f"h{k}", "y"])]
    main(["connectivity", write({"edges": edges, "balance": {f"h{k}": "-1" for k in range(30)}})])
    out = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "2^30 components" in out
    assert "10 more locked weights are not shown" in out
    assert "h7, … (22 more)" in out


@pytest.mark.parametrize(("weight", "remark"), [(2.0, "stays the same for all weights"), (1.0, "could differ")])
def test_float_weights_come_with_a_margin(weight: float, remark: str, capsys: pytest.CaptureFixture[str]) -> None:
    import numpy as np

    arrays = {"tail": [0, 1], "head": [1, 2], "inputs": [0], "outputs": [2], "weight": np.array([1.0, weight])}
    np.savez("net.npz", **{key: np.asarray(value) for key, value in arrays.items()})
    main(["connectivity", "net.npz"])
    out = re.sub(r"\s+", " ", capsys.readouterr().out)
    assert "floats with relative rounding error 1.1e-16" in out
    assert remark in out
    main(["connectivity", "net.npz", "--json"])
    assert json.loads(capsys.readouterr().out)["arithmetic"] == "float-with-margin"


@pytest.mark.parametrize(("name", "text"), [("c.toml", "v = -0.1"), ("c.json", '{"v": -0.1}')])
def test_balance_file_is_exact(name: str, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path(name).write_text(text)
    assert main(["connectivity", write({"edges": TWO_IN}), "--balance", name, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["frozen"][0]["minimum"] == "1/10"


@pytest.mark.parametrize("network", [LOCKED, FREE, BALANCED, EMPTY, NESTED, CYCLE])
def test_certificate_is_written_and_checks(network: dict[str, Any], capsys: pytest.CaptureFixture[str]) -> None:
    main(["connectivity", write(network), "--certificate", "proof.json"])
    proof = json.loads(Path("proof.json").read_text(encoding="utf-8"))
    assert proof.keys() == {"schema", "network", "certificate", "claims"}
    capsys.readouterr()
    assert check(["proof.json"]) == 0
    proof["claims"]["connected"] = not proof["claims"]["connected"]
    Path("proof.json").write_text(json.dumps(proof))
    assert check(["proof.json"]) == 1


@pytest.mark.parametrize("change", [{"kind": "nonsense"}, {"data": {"point": {}}}])
def test_a_certificate_that_does_not_check_is_a_bug(
    change: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = engine.connectivity

    def broken(network: Any) -> Any:
        result = decide(network)
        data = {**result.certificate.data, **change.get("data", {})}
        object.__setattr__(result, "certificate", Certificate(change.get("kind", result.certificate.kind), data))
        return result

    monkeypatch.setattr(engine, "connectivity", broken)
    assert main(["connectivity", write(LOCKED)]) == 5
    out, err = capsys.readouterr()
    assert out == ""
    assert "the certificate is not valid" in err
    assert "Traceback" not in err


def test_an_answer_that_differs_from_its_certificate_is_a_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    decide = engine.connectivity

    def broken(network: Any) -> Any:
        result = decide(network)
        result.__dict__["frozen_edges"] = ()
        return result

    monkeypatch.setattr(engine, "connectivity", broken)
    assert main(["connectivity", write(LOCKED)]) == 5
    assert "the certificate establishes" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.json"],
        ["net.txt"],
        ["no_such_module:build"],
        ["bare.json"],
        ["net.json", "--balance", "missing.toml"],
        ["net.json", "--balance", "net.json"],
        ["net.json", "--checkpoint", "weights.pt"],
        ["net.json", "--certificate", "missing/proof.json"],
    ],
)
def test_bad_input_leaves_standard_output_empty(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    write(LOCKED)
    write({"edges": TWO_IN}, "bare.json")
    Path("net.txt").touch()
    assert main(["connectivity", *arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lakatos: error: ")
    assert len(err.splitlines()) <= 2


def test_time_limit_leaves_it_undecided(capsys: pytest.CaptureFixture[str]) -> None:
    # A fresh worker has to load NumPy first, which takes many times longer.
    assert main(["connectivity", write(LOCKED), "--time-limit", "0.001", "--json"]) == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "undecided (timeout): net.json: no answer within the time limit of 0.001 s" in err
    assert main(["connectivity", "net.json", "--time-limit", "60"]) == 1


def test_long_numbers_are_cut_towards_zero() -> None:
    """A bound w² >= m stays true when m is shortened."""
    assert shown_number(Fraction(-7, 2)) == "-7/2"
    assert shown_number(Fraction(10**13 - 1, 10**13)) == "0.9999…"
    assert shown_number(Fraction(-(10**13) + 1, 10**13)) == "-0.9999…"
