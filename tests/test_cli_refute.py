"""``lakatos refute``: statuses, streams, the table, files that replay, and what is said when it cannot search."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import cli_fakes
import jsonschema
import pytest
from hypothesis import strategies as st

import lakatos
from lakatos.cli import main
from lakatos.core import Claim, Prediction, Relation, Variant

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "refute-1.json").read_text(encoding="utf-8"))
REAL = "weight_frozen_iff_stable_set_unbalanced"


def _zero_is_one(instance: Any) -> Prediction:
    return Prediction((Claim("zero", Relation.EQUAL, 1.0, 0.5),))


@pytest.fixture
def endings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The endings that instances of the one theorem are drawn from, for a test to fill."""
    cli_fakes.register(monkeypatch)
    monkeypatch.chdir(tmp_path)
    drawn: list[str] = []
    module = sys.modules[f"lakatos.theorems.{cli_fakes.NAME}"]
    vars(module)["instances"] = lambda: st.sampled_from(drawn).map(lambda ending: {"ending": ending})
    vars(module)["VARIANTS"] = {
        "zero_is_one": Variant("1 instead of 0", predict=_zero_is_one, derive=lambda _: cli_fakes.derive(REFUTABLE)),
        "same": Variant("nothing is changed", predict=cli_fakes.predict),
    }
    return drawn


REFUTABLE = cli_fakes.Instance("supported")  # whose derivation settles nothing


def test_nothing_found(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["supported", "inapplicable"]
    assert main(["refute", cli_fakes.NAME, "--examples", "5"]) == 0
    out, err = capsys.readouterr()
    assert re.fullmatch(r"zero_is_zero: no counterexample in [12] instances, \d\.\d\d s\n", out)
    assert err == ""


def test_a_counterexample_is_an_instance_file_with_comments(
    endings: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endings += ["supported", "refuted"]
    assert main(["refute", cli_fakes.NAME, "--seed", "3", "--save", "found.toml"]) == 1
    out = capsys.readouterr().out
    comments = [line for line in out.splitlines() if line.startswith("# ")]
    assert re.fullmatch(r"# zero_is_zero: refuted by instance \d after \d\.\d\d s", comments[0])
    assert comments[1:] == [
        "# zero = 0 is predicted within 0.5, but 7 ± 0.25 is measured",
        "# zero: predicted = 0, found 7",
    ]
    assert (
        tomllib.loads(out)
        == tomllib.loads(Path("found.toml").read_text())
        == {
            "theorem": "zero_is_zero",
            "title": "a counterexample to the theorem",
            "expect": "refuted",
            "seed": 3,
            "instance": {"ending": "refuted"},
        }
    )
    assert main(["verify", "found.toml"]) == 0


def test_a_variant_is_searched_and_replays_as_one(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["supported"]
    assert main(["refute", cli_fakes.NAME, "--variant", "zero_is_one", "--save", "found.toml"]) == 1
    assert capsys.readouterr().out.startswith("# zero_is_zero [zero_is_one]: refuted by instance 1 after ")
    assert main(["verify", "found.toml", "--json"]) == 0
    verdict = json.loads(capsys.readouterr().out)["verdicts"][0]
    assert (verdict["variant"], verdict["outcome"]) == ("zero_is_one", "refuted")
    assert main(["verify", "found.toml"]) == 0
    assert "zero_is_zero [zero_is_one]" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("drawn", "variants", "status"),
    [
        (["supported"], ["zero_is_one"], 0),
        (["supported"], ["zero_is_one", "same"], 1),
        (["supported", "refuted"], ["zero_is_one"], 1),
        (["supported", "bug"], [], 5),
        (["inapplicable"], [], 3),
    ],
)
def test_all_is_well_if_exactly_the_variants_are_refuted(
    endings: list[str], drawn: list[str], variants: list[str], status: int
) -> None:
    endings += drawn
    registered = vars(sys.modules[f"lakatos.theorems.{cli_fakes.NAME}"])["VARIANTS"]
    vars(sys.modules[f"lakatos.theorems.{cli_fakes.NAME}"])["VARIANTS"] = {name: registered[name] for name in variants}
    assert main(["refute", "--all", "--examples", "20"]) == status
    assert main(["refute", "--all", "--examples", "20", cli_fakes.NAME]) == status


def test_the_table_shows_rows_and_score(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["supported"]
    assert main(["refute", "--all", "--examples", "5"]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["statement", "outcome", "examples", "seconds", "size"]
    assert [line.split()[:3] for line in lines[1:4]] == [
        ["zero_is_zero", "survived", "1"],
        ["zero_is_one", "refuted", "1"],
        ["same", "survived", "1"],
    ]
    assert [line.split()[4:] for line in lines[1:4]] == [[], ["1"], []]
    assert lines[4] == "1 of 2 false variants refuted; 0 of 1 theorems refuted, on 1 instances"


def test_json(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["supported", "inconclusive"]
    assert main(["refute", "--all", "--json", "--examples", "5"]) == 1
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    assert [(row["theorem"], row["variant"], row["outcome"]) for row in data["rows"]] == [
        (cli_fakes.NAME, None, "survived"),
        (cli_fakes.NAME, "zero_is_one", "refuted"),
        (cli_fakes.NAME, "same", "survived"),
    ]
    assert [row["counterexample"] is None for row in data["rows"]] == [True, False, True]
    assert data["rows"][0]["undecided"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "THEOREM: missing; name one that `lakatos list` prints, or search them with --all"),
        (["zero_is_two"], "error: theorem='zero_is_two': no such theorem"),
        (
            [cli_fakes.NAME, "--variant", "zero_one"],
            "error: variant='zero_one': not registered; did you mean 'zero_is_one'?",
        ),
        (["--all", "--variant", "zero_is_one"], "--variant='zero_is_one': --all searches every variant"),
        (["--all", "--save", "a.toml"], "--save='a.toml': saves one counterexample"),
    ],
)
def test_bad_usage_is_named(
    endings: list[str], arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["refute", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert message in err


def test_a_defect_shows_its_instance(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["supported", "bug"]
    assert main(["refute", cli_fakes.NAME, "--save", "found.toml"]) == 5
    err = capsys.readouterr().err
    assert "zero_is_zero: InternalError: KeyError: 'a bug', on the instance" in err
    assert 'ending = "bug"' in err
    assert not Path("found.toml").exists()


def test_nothing_is_written_without_a_counterexample(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["supported"]
    assert main(["refute", cli_fakes.NAME, "--save", "found.toml"]) == 0
    assert "no counterexample, so found.toml is not written" in capsys.readouterr().err
    assert list(Path.cwd().iterdir()) == []


def test_an_interrupt_prints_what_there_is(endings: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    endings += ["interrupt"]
    assert main(["refute", "--all"]) == 130
    out, err = capsys.readouterr()
    assert [line.split()[0] for line in out.splitlines()[1:-1]] == ["zero_is_zero"]
    assert "interrupted; 1 of 3 searches were begun or finished" in err


def test_workers_search_real_theorems(capsys: pytest.CaptureFixture[str]) -> None:
    name = "invariant_set_nonempty_iff_closed_sums_have_sign"
    assert main(["refute", "--all", name, "-j", "1", "--examples", "10", "--time-limit", "60", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["outcome"] for row in rows] == ["survived", "refuted", "refuted", "refuted"]


def test_options_reach_the_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--variant", "sign_reversed", "--no-fixtures", "--seed", "2", "--json"]
    assert main(["refute", REAL, *options, "--database", str(tmp_path / "kept")]) == 1
    assert main(["refute", REAL, *options, "--database", str(tmp_path / "kept")]) == 1
    first, again = (json.loads(text + "}") for text in capsys.readouterr().out.split("\n}\n")[:2])
    assert again["rows"][0]["examples"] == 1
    assert first["rows"][0]["counterexample"] == again["rows"][0]["counterexample"]
    assert "seed = 2" in first["rows"][0]["counterexample"]
    assert main(["refute", REAL, "--time-limit", "0.001", "--no-fixtures", "--json"]) == 3
    assert "undecided (timeout): none of 0 instances" in capsys.readouterr().err


def test_help_says_what_the_statuses_mean(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["refute", "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert "0 if no theorem is refuted and all false variants are" in out
