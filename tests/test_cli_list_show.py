"""``lakatos list`` and ``lakatos show``."""

from __future__ import annotations

import json
from pathlib import Path

import cli_fakes
import jsonschema
import pytest

import lakatos
from lakatos import catalog
from lakatos.cli import main
from lakatos.core import Outcome
from lakatos.verification import verify_file

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "list-1.json").read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cli_fakes.register(monkeypatch)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "instances").mkdir()
    paths = (
        cli_fakes.write(tmp_path / "instances", "a", "proved"),
        cli_fakes.write(tmp_path / "instances", "b", "refuted"),
    )
    monkeypatch.setattr(catalog, "shipped_instances", lambda: {cli_fakes.NAME: paths})
    return tmp_path


def test_list_for_programs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    assert data["theorems"] == [
        {
            "name": "zero_is_zero",
            "family": "invariant_sets",
            "ids": ["S0"],
            "statement": "Zero is zero.",
            "provenance": "ours",
            "variants": ["zero_is_one"],
            "instances": 2,
        }
    ]


def test_list_for_people(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    for text in ("invariant sets", "S0", "zero_is_zero", "Zero is zero.", "ours; 2 instances, 1 false variant"):
        assert text in out


def test_instances_are_not_counted_where_none_are_known(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(catalog, "shipped_instances", lambda: {})
    assert main(["list"]) == 0
    assert "ours; 1 false variant" in capsys.readouterr().out


def test_fields_have_meanings_and_defaults(capsys: pytest.CaptureFixture[str]) -> None:
    """Those of the class that an instance class extends, too."""
    name = "balance_drift_exact_of_discrete_step"
    assert main(["show", name]) == 0
    out = capsys.readouterr().out
    assert "rate: Fraction = 1/100\n    η, μ and λ.\n" in out
    assert "samples: int = 20\n    Number of samples where they are drawn.\n" in out
    for members in catalog.theorems().values():
        for theorem in members:
            assert all(field.meaning for field in catalog.fields_of(theorem)), theorem.name


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("coherence_lies_between_k_over_n_and_1", Outcome.PROVED),
        ("weight_frozen_iff_stable_set_unbalanced", Outcome.PROVED),
        ("quadratic_law_step_error", Outcome.PROVED),
    ],
)
def test_an_example_is_an_instance_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str, outcome: Outcome
) -> None:
    assert main(["show", name, "--example"]) == 0
    path = tmp_path / "mine.toml"
    path.write_text(capsys.readouterr().out)
    assert verify_file(path).outcome is outcome


def test_names_that_are_nearly_right_are_answered_with_theorems(capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("coherence_lies_between", "coherence_lies_between_k_over_n_and_2"):
        assert main(["show", name]) == 2
        assert "did you mean 'coherence_lies_between_k_over_n_and_1'?" in capsys.readouterr().err


def test_all_theorems_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    jsonschema.validate(data, SCHEMA)
    for theorem in data["theorems"]:
        assert main(["show", theorem["name"]]) == 0
        out = capsys.readouterr().out
        assert theorem["name"] in out.splitlines()[0]
        for heading in ("Hypotheses", "Statement", "Provenance", "False variants"):
            assert heading in out.splitlines()
        assert main(["show", theorem["name"], "--bibtex"]) == 0
        assert capsys.readouterr().out.startswith("@")


def test_show(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "zero_is_zero"]) == 0
    out = capsys.readouterr().out
    for text in (
        "It applies.",
        "ours (nurisso2026): made up",
        "zero_is_one: 1 instead of 0",
        "instances/b.toml",
        "ending: ",
    ):
        assert text in out
    assert main(["show", "zero_is_zero", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert data["variants"] == {"zero_is_one": "1 instead of 0"}
    assert data["instances"] == ["instances/a.toml", "instances/b.toml"]


def test_sources_and_formulas(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", "zero_is_zero", "--bibtex"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("@inproceedings{nurisso2026,")
    assert out.count("@") == 1
    assert main(["show", "zero_is_zero", "--latex"]) == 0
    assert capsys.readouterr().out == "0 = 0\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["no_such_theorem"],
        ["zero_is_zero", "--bibtex", "--json"],
        ["zero_is_zero", "--latex", "--instance", "missing.toml"],
    ],
)
def test_bad_input(folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lakatos: error: ")


def test_instances_are_counted_by_their_theorem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages" / "lakatos" / "catalog.py"
    monkeypatch.setattr(catalog, "__file__", str(package))  # as if installed: no source tree around the package
    monkeypatch.chdir(tmp_path)
    assert catalog.shipped_instances.__wrapped__() == {}
    (tmp_path / "instances" / "family").mkdir(parents=True)
    path = cli_fakes.write(tmp_path / "instances" / "family", "a", "proved")
    (tmp_path / "instances" / "broken.toml").write_text("theorem = ")
    assert catalog.shipped_instances.__wrapped__() == {cli_fakes.NAME: (path,)}
