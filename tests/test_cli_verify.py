"""``lakatos verify``: statuses, streams, files written, workers, and inputs that are wrong."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import cli_fakes
import pytest

from lakatos.checker import main as check
from lakatos.cli import main

CHAIN = """
theorem = "invariant_set_connected_iff_no_weight_frozen"
title = "a chain"
expect = "proved"
[instance]
edges = [["x", "v"], ["v", "y"]]
balance = { v = 1 }
"""


GREEN = re.compile(r"\x1b\[[0-9;]*32m")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cli_fakes.register(monkeypatch)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("ending", "expect", "status", "status_if_proof_is_required"),
    [
        ("proved", None, 0, 0),
        ("supported", None, 0, 3),
        ("refuted", None, 1, 1),
        ("inconclusive", None, 3, 3),
        ("inapplicable", None, 4, 4),
        ("proved", "proved", 0, 0),
        ("supported", "supported", 0, 3),
        ("refuted", "refuted", 0, 0),
        ("inconclusive", "inconclusive", 0, 0),
        ("inapplicable", "inapplicable", 0, 0),
        ("proved", "refuted", 1, 1),
        ("supported", "proved", 1, 3),
        ("inapplicable", "refuted", 4, 4),
        ("bug", "refuted", 5, 5),
    ],
)
def test_status_of_one_instance(
    folder: Path, ending: str, expect: str | None, status: int, status_if_proof_is_required: int
) -> None:
    path = str(cli_fakes.write(folder, "a", ending, **({"expect": expect} if expect else {})))
    assert main(["verify", path]) == status
    assert main(["verify", path, "--require", "proved"]) == status_if_proof_is_required


def test_table_then_surprises_then_summary(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli_fakes.write(folder, "a", "proved", title="fine")
    cli_fakes.write(folder, "b", "refuted", title="contradicted", expect="supported")
    cli_fakes.write(folder, "c", "inapplicable", title="out of scope")
    cli_fakes.write(folder, "d", "inconclusive", title="too few samples")
    assert main(["verify", str(folder)]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    lines = [line.rstrip() for line in out.splitlines()]
    assert lines[0] == "zero_is_zero"
    assert lines[1].split() == ["instance", "outcome", "expected", "evidence", "seconds"]
    assert lines[2].split()[:2] == ["fine", "proved"]
    text = " ".join(out.split())
    assert (
        "contradicted: expected supported, found refuted: zero = 0 is predicted within 0.5, but 7 ± 0.25 is measured"
        in text
    )
    assert "out of scope: inapplicable: not met: it applies (by looking at the ending)" in text
    assert "too few samples: inconclusive: sampling: more samples are needed" in text
    assert "4 instances: 1 proved, 1 refuted, 1 inconclusive, 1 inapplicable; 3 not as expected" in text


def test_no_color_is_respected(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    cli_fakes.write(folder, "a", "proved")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["verify", "a.toml"]) == 0
    assert GREEN.search(capsys.readouterr().out)
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(["verify", "a.toml"]) == 0
    assert not GREEN.search(capsys.readouterr().out)


def test_long_titles_wrap(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    title = "an instance whose title is much longer than what would fit into eighty columns of any table"
    cli_fakes.write(folder, "a", "proved", title=title)
    assert main(["verify", "a.toml"]) == 0
    out = capsys.readouterr().out
    assert "\x1b" not in out
    assert "…" not in out
    header, *rows = out.splitlines()[1:]
    first_column = " ".join(row[: header.index("outcome")].strip() for row in rows)
    assert title in first_column


def test_a_bad_file_does_not_stop_the_others(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli_fakes.write(folder, "a", "refuted")
    (folder / "b.toml").write_text("theorem = ")
    cli_fakes.write(folder, "c", "proved")
    assert main(["verify", "a.toml", "b.toml", "missing.toml", "c.toml"]) == 2
    out, err = capsys.readouterr()
    assert out.count("bad input") == 3  # two rows and the summary
    assert "1 proved, 1 refuted, 2 bad input" in out
    assert [out.count(heading) for heading in (f"{cli_fakes.NAME}\n", "no verdict\n")] == [1, 1]  # one table each
    assert [line.split(":")[:3] for line in err.splitlines()] == [
        ["lakatos", " error", " missing.toml"],
        ["lakatos", " error", " b.toml"],
    ]
    assert main(["verify", "a.toml", "b.toml", "--json"]) == 2
    out, err = capsys.readouterr()
    assert [verdict["outcome"] for verdict in json.loads(out)["verdicts"]] == ["refuted"]
    assert "b.toml" in err


@pytest.mark.parametrize(
    "arguments",
    [
        ["missing.toml"],
        ["bad.toml"],
        ["empty"],
        ["good.toml", "--require", "supported"],
        ["good.toml", "--device", "abacus"],
        ["good.toml", "--seed", "-1"],
        ["good.toml", "--html", "missing/page.html"],
        ["good.toml", "--junit", "empty"],
        ["good.toml", "--certificates", "good.toml"],
    ],
)
def test_bad_input_leaves_standard_output_empty(
    folder: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    cli_fakes.write(folder, "good", "proved")
    (folder / "bad.toml").write_text('theorem = "zero_is_zero"\n[instance]\nending = "nothing"\n')
    (folder / "empty").mkdir()
    assert main(["verify", *arguments, "--json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("lakatos: error: ")
    assert "Traceback" not in err


def test_json_is_alone_on_standard_output(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli_fakes.write(folder, "a", "print")
    assert main(["verify", "a.toml", "--json", "--seed", "7"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out)["verdicts"][0]["provenance"]["seed"] == 7
    assert "noise" in err


def test_a_bug_in_one_instance_is_reported_and_the_rest_is_verified(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cli_fakes.write(folder, "a", "bug")
    cli_fakes.write(folder, "b", "proved")
    assert main(["verify", "a.toml", "b.toml"]) == 5
    out, err = capsys.readouterr()
    assert "1 proved, 1 internal error" in out
    assert "a.toml: KeyError: 'a bug'" in err
    assert "Traceback" not in out + err


def test_interrupt_keeps_nothing_from_the_user(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cli_fakes.write(folder, "a", "proved")
    cli_fakes.write(folder, "b", "interrupt")
    cli_fakes.write(folder, "c", "proved")
    assert main(["verify", "."]) == 130
    assert capsys.readouterr() == ("", "lakatos: interrupted; 1 of 3 instances were finished\n")


def test_files_for_browsers_and_services(folder: Path) -> None:
    cli_fakes.write(folder, "a", "proved", title="<b> & 'quotes'")
    cli_fakes.write(folder, "b", "refuted")
    (folder / "c.toml").write_text("nonsense")
    assert main(["verify", ".", "--html", "page.html", "--junit", "suite.xml"]) == 2
    page = (folder / "page.html").read_text(encoding="utf-8")
    assert "&lt;b&gt; &amp; &#x27;quotes&#x27;" in page
    assert "7 ± 0.25 is measured" in page
    assert "<b>" not in page
    assert "http:" not in page
    assert "https:" not in page
    suite = ElementTree.parse(folder / "suite.xml").getroot()
    assert {key: suite.get(key) for key in ("tests", "failures", "errors")} == {
        "tests": "3",
        "failures": "1",
        "errors": "1",
    }
    assert [[child.tag for child in case] for case in suite] == [[], ["failure"], ["error"]]


def test_results_of_instances_with_one_name_are_kept_apart(folder: Path) -> None:
    for name in ("p", "q"):
        (folder / name).mkdir()
        cli_fakes.write(folder / name, "same", "supported")
    assert main(["verify", "p", "q", "--certificates", "out/deep"]) == 0
    assert sorted(path.name for path in (folder / "out" / "deep").iterdir()) == ["same-2.json", "same.json"]


def test_saved_results_check_and_workers_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.toml").write_text(CHAIN)
    assert main(["verify", "c.toml", "a.toml", "b.toml", "-j", "2", "--json", "--certificates", "out"]) == 0
    parallel = json.loads(capsys.readouterr().out)
    assert [verdict["instance"] for verdict in parallel["verdicts"]] == ["c.toml", "a.toml", "b.toml"]
    assert main(["verify", "c.toml", "a.toml", "b.toml", "--json"]) == 0
    serial = json.loads(capsys.readouterr().out)
    for verdict in parallel["verdicts"] + serial["verdicts"]:
        del verdict["seconds"]
    assert parallel == serial
    for path in (tmp_path / "out").iterdir():
        assert check([str(path)]) == 0


def test_time_limit_makes_an_inconclusive_verdict(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.toml").write_text(CHAIN)
    # A fresh worker has to load NumPy first, which takes many times longer.
    assert main(["verify", "a.toml", "--time-limit", "0.001", "--json"]) == 3
    out = capsys.readouterr().out
    (verdict,) = json.loads(out)["verdicts"]
    assert (verdict["outcome"], verdict["reason"], verdict["expected"]) == ("inconclusive", "timeout", "proved")
    assert "0.001 s" in verdict["explanation"]
    (tmp_path / "result.json").write_text(out)
    assert check(["result.json"]) == 0
