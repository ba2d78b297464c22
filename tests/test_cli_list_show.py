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
