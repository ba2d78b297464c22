"""``lakatos check`` from the command line: plain, as JSON, and in a process that has only the standard library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from lakatos import checker
from lakatos.cli import main

NETWORK = {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": "1"}}


@pytest.fixture
def proof(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("net.json").write_text(json.dumps(NETWORK))
    main(["connectivity", "net.json", "--certificate", "proof.json"])
    capsys.readouterr()
    return Path("proof.json")


def falsify(proof: Path) -> None:
    proof.write_text(proof.read_text().replace('"minimum": "1"', '"minimum": "2"'))


def test_plain(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(proof)]) == 0
    assert capsys.readouterr().out.startswith("valid: ")
    falsify(proof)
    assert main(["check", str(proof)]) == 1
    assert capsys.readouterr().out.startswith("INVALID: ")


def test_json(proof: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(proof), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"schema": "lakatos/check/1", "valid": True, "problems": []}
    falsify(proof)
    assert main(["check", str(proof), "--json"]) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["valid"] is False
    assert len(data["problems"]) == 1


@pytest.mark.parametrize("arguments", [["missing.json"], ["net.json"], ["missing.json", "--json"], []])
def test_what_is_no_result(proof: Path, arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err != ""


@pytest.mark.skipif(os.name != "posix", reason="pipes of POSIX")
def test_a_reader_that_leaves_is_no_error(proof: Path) -> None:
    read, write = os.pipe()
    os.close(read)
    script = "import sys; from lakatos.cli import main; sys.exit(main(['check', 'proof.json']))"
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (141, "")


def test_a_bug_of_the_checker_is_not_a_verdict(
    proof: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(arguments: list[str]) -> int:
        raise ZeroDivisionError

    monkeypatch.setattr(checker, "main", broken)
    assert main(["check", str(proof)]) == 5
    assert capsys.readouterr().out == ""


def test_only_the_standard_library_is_loaded(proof: Path) -> None:
    script = (
        "import sys; from lakatos.cli import main\n"
        "status = main(['check', 'proof.json'])\n"
        "others = sorted({name.partition('.')[0] for name in sys.modules} - set(sys.stdlib_module_names))\n"
        "sys.stderr.write(' '.join(others)); sys.exit(status)"
    )
    # -S keeps site-packages and what its start-up files load out; the package itself comes by PYTHONPATH.
    import lakatos

    source = str(Path(lakatos.__file__).parents[1])
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={"PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert set(done.stderr.split()) <= {"__main__", "lakatos"}
