"""`lakatos sweep` and `lakatos plot` as their users call them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import sweep_fakes

from lakatos.cli import main

pytest.importorskip("pyarrow")

SPEC = """experiment = "fake"
title = "numbers"
seeds = 3
[grid]
k = [1, 2, 3]
x = [1, 2, 4]
[[plots]]
kind = "phase"
x = "k"
y = "x"
value = "value"
output = "map.svg"
"""


@pytest.fixture(autouse=True)
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "plug_in"
    folder.mkdir()
    for place in sweep_fakes.install(folder):
        monkeypatch.syspath_prepend(place)
    monkeypatch.chdir(tmp_path)
    Path("numbers.toml").write_text(SPEC)


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Callable[..., tuple[int, Any, str]]:
    """Return a function that runs the command line: status, standard output (as JSON if that was asked for), errors."""

    def run(*arguments: str) -> tuple[int, Any, str]:
        status = main(list(arguments))
        out, err = capsys.readouterr()
        if "--json" not in arguments or not out:
            return status, out, err
        document = json.loads(out)
        name = document["schema"].split("/")[1]
        schema = json.loads(files("lakatos").joinpath(f"schemas/{name}-1.json").read_text("utf-8"))
        jsonschema.validate(document, schema)
        return status, document, err

    return run


def test_from_description_to_picture(call: Callable[..., tuple[int, Any, str]]) -> None:
    status, planned, _ = call("sweep", "numbers.toml", "--dry-run", "--json")
    assert (status, planned["cells"], planned["missing"], planned["result"]) == (0, 27, 27, None)
    assert not Path("numbers").exists()
    status, done, _ = call("sweep", "numbers.toml", "-j", "1", "--json")
    assert (status, done["done"], done["missing"], done["running"]) == (0, 27, 0, False)
    assert done["subjects"][0]["name"] == "fake"
    assert Path("numbers/map.svg").read_text().startswith("<?xml")
    status, shown, _ = call("sweep", "numbers", "--watch")
    assert status == 0
    assert "numbers: 9 settings × 3 seeds on cpu = 27 cells" in shown
    assert "27 done, 0 failed, 0 missing" in shown
    status, drawn, _ = call("plot", "numbers/result.parquet", "--kind", "phase", "-o", "again.svg", "--json")
    assert (status, drawn["x"], drawn["value"]) == (0, "k", "value")
    assert Path("again.svg").read_bytes() == Path("numbers/map.svg").read_bytes()
    # More seeds: what is there stays.
    Path("numbers.toml").write_text(SPEC.replace("seeds = 3", "seeds = 4"))
    _, planned, _ = call("sweep", "numbers.toml", "--dry-run", "--json")
    assert (planned["done"], planned["missing"]) == (27, 9)
    # Fewer settings: their cells are files of something else.
    Path("numbers.toml").write_text(SPEC.replace("k = [1, 2, 3]", "k = [1]"))
    _, planned, _ = call("sweep", "numbers.toml", "--dry-run", "--json")
    assert (planned["done"], planned["other"], planned["missing"]) == (9, 18, 0)


def test_failures_are_shown_and_are_the_exit_status(call: Callable[..., tuple[int, Any, str]]) -> None:
    Path("bad.toml").write_text('experiment = "fake"\n[grid]\nbehavior = ["fine", "undecided"]\n')
    status, out, _ = call("sweep", "bad.toml", "-j", "1")
    assert status == 3
    assert "1 done, 1 failed, 0 missing" in out
    assert "failed (precision)" in out
    status, document, _ = call("sweep", "bad", "-j", "1", "--retry-failed", "--json")
    assert (status, document["failures"][0]["reason"]) == (3, "precision")
    assert document["failures"][0]["fields"]["behavior"] == "undecided"


def test_consolidate_puts_together_what_is_there(call: Callable[..., tuple[int, Any, str]]) -> None:
    call("sweep", "numbers.toml", "-j", "1")
    for path in list(Path("numbers").glob("cells/*/*.json"))[:5]:
        path.unlink()
    status, document, _ = call("sweep", "numbers", "--consolidate", "--json")
    assert (status, document["done"], document["missing"]) == (3, 22, 5)
    from lakatos.sweep_table import read_result

    assert len(read_result(Path("numbers/result.parquet")).columns["key"]) == 22


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["sweep", "no.toml"], "no.toml: cannot be read"),
        (["sweep", "plug_in"], "there is no plan.json in it"),
        (["sweep", "numbers.toml", "--watch"], "there is no plan.json in it"),
        (["sweep", "numbers.toml", "--watch", "--dry-run"], "one of them at a time"),
        (["sweep", "numbers.toml", "--device", "tpu"], "device='tpu': unknown"),
        (
            ["sweep", "numbers.toml", "--cluster", "tcp://h:1", "--scheduler-file", "f"],
            "one of them names the scheduler",
        ),
        (["sweep", "numbers.toml", "--cluster", "tcp://h:1", "-j", "2"], "--jobs=2: of local processes"),
        (["sweep", "numbers.toml", "--cluster", "nonsense://h"], "no scheduler answers there"),
        (["sweep", "numbers.toml", "--output", "numbers.toml/x"], "cannot be written"),
        (["plot", "no.parquet", "--kind", "slope", "-o", "a.svg", "--x", "k", "--y", "k"], "no such file"),
        (["plot", "numbers.toml", "--kind", "slope", "-o", "a.svg", "--x", "k", "--y", "k"], "not a result"),
    ],
)
def test_bad_calls(arguments: list[str], message: str, call: Callable[..., tuple[int, Any, str]]) -> None:
    status, out, err = call(*arguments)
    assert (status, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


def test_no_gpu_is_told(call: Callable[..., tuple[int, Any, str]], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    status, _, err = call("sweep", "numbers.toml", "--device", "cuda")
    assert status == 2
    assert "device='cuda': not available, PyTorch sees 0 CUDA devices here; choose 'cpu'" in err


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_interrupt_says_how_to_go_on() -> None:
    Path("long.toml").write_text('experiment = "fake_alone"\nseeds = 500\n[settings]\nseconds = 0.05\n')
    process = subprocess.Popen(
        [sys.executable, "-m", "lakatos.cli", "sweep", "long.toml", "-j", "1"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path[:2])},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while process.poll() is None and not list(Path("long").glob("cells/*/*.json")):
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (130, b"")
    assert b"of 500 cells have ended; the same command goes on from here" in err
    assert b"Traceback" not in err
    assert not list(Path("long").glob("cells/*/.*"))
