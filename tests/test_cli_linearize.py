"""The command `linearize`: answers, pictures, checkpoints, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import numpy as np
import pytest
import torch
from linearized_modules import (
    data,
    smooth,
)

import lakatos
from lakatos.cli import main

SCHEMA = json.loads((Path(lakatos.__file__).parent / "schemas" / "linearize-1.json").read_text(encoding="utf-8"))
MODULE = "linearized_modules"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    x, y = data()
    np.savez(tmp_path / "data.npz", x=x.numpy(), y=y.numpy())
    return tmp_path / "data.npz"


@pytest.mark.parametrize(
    ("factory", "status", "rate"), [("linear", 0, "1"), ("smooth", None, "0.5"), ("kinked", None, "0.5")]
)
def test_answers_follow_the_schema(
    factory: str, status: int | None, rate: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["linearize", f"{MODULE}:{factory}", "--data", str(file), "--rate", rate, "--steps", "20"]
    code = main([*arguments, "--json"])
    answer = json.loads(capsys.readouterr().out)
    jsonschema.validate(answer, SCHEMA)
    assert code == {"linear regime": 0, "feature learning": 1, "undecided": 3}[answer["verdict"]]
    assert status is None or code == status
    assert main(arguments) == code
    assert "F − F_lin" in capsys.readouterr().out


def test_large_steps_learn_features(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearize", f"{MODULE}:smooth", "--data", str(file), "--rate", "2", "--steps", "200"]) == 1
    assert "Feature learning" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", ["svg", "png"])
def test_pictures(suffix: str, file: Path, tmp_path: Path) -> None:
    picture = tmp_path / f"course.{suffix}"
    arguments = ["linearize", f"{MODULE}:smooth", "--data", str(file), "--steps", "5", "--picture", str(picture)]
    assert main(arguments) in (0, 1, 3)
    assert picture.read_bytes()[:5] in (b"<?xml", b"\x89PNG\r")


def test_checkpoints(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    torch.manual_seed(11)
    torch.save(smooth().state_dict(), tmp_path / "weights.pt")
    answers = []
    for more in ([], ["--checkpoint", str(tmp_path / "weights.pt")]):
        main(["linearize", f"{MODULE}:smooth", "--data", str(file), "--steps", "2", "--json", *more])
        answers.append(json.loads(capsys.readouterr().out)["measured_deviation"])
    assert answers[0] != answers[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--rate", "1e9", "--steps", "50", "--loss", "squared"], "is not finite after step"),
        (["--order", "17"], "order=17"),
        (["--loss", "hinge"], "loss='hinge'"),
        (["--picture", "out.gif"], "out.gif"),
        (["--picture", "nowhere/out.svg"], "does not exist"),
        (["--train", "7"], "train=7: 1 to 6"),
        (["--device", "tpu"], "device='tpu'"),
        (["--data", "missing.npz"], "missing.npz: no such file"),
    ],
)
def test_bad_input(arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["linearize", f"{MODULE}:smooth", "--data", str(file), *arguments]) == 2
    streams = capsys.readouterr()
    assert message in streams.err
    assert not streams.out


@pytest.mark.parametrize(
    ("factory", "arguments", "message"),
    [
        ("several", [], "model: returns tuple"),
        ("images", [], "model: returns (6, 2, 2)"),
        ("tied", [], "2.weight: is the same parameter as 0.weight"),
        ("in_place", [], "model: cannot be differentiated"),
        ("in_place_inside", [], "0.inner.1: cannot be differentiated"),
        ("normalized", [], "1: BatchNorm in training mode"),
        ("dropped", [], "1: dropout in training mode"),
        ("smooth", ["--loss", "squared", "--rate", "1e99", "--steps", "9"], "of the network is not finite after step"),
        ("kinked", ["--order", "2"], "relu (1) has kinks"),
        ("gated", ["--order", "3"], "elu (1.inner) has kinks"),
        ("gated", ["--order", "17"], "order=17: 1 to 16"),
    ],
)
def test_bad_models(
    factory: str, arguments: list[str], message: str, file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["linearize", f"{MODULE}:{factory}", "--data", str(file), *arguments]) == 2
    streams = capsys.readouterr()
    assert message in " ".join(streams.err.split())
    assert not streams.out


def test_data_that_are_none(file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    x, y = data()
    cases: list[tuple[dict[str, Any], str]] = [
        ({"x": x.numpy()}, "no array 'y'"),
        ({"x": x.numpy(), "y": np.array(["a"] * 6)}, "y has shape"),
        ({"x": np.full((6, 3), np.nan), "y": y.numpy()}, "x holds values that are not finite"),
        ({"x": np.zeros((6, 5)), "y": y.numpy()}, "do not fit the model"),
    ]
    for arrays, message in cases:
        np.savez(tmp_path / "bad.npz", **arrays)
        assert main(["linearize", f"{MODULE}:smooth", "--data", str(tmp_path / "bad.npz"), "--steps", "1"]) == 2
        error = capsys.readouterr().err
        assert "bad.npz" in error
        assert message in error
    (tmp_path / "bad.npz").write_bytes(b"no archive")
    assert main(["linearize", f"{MODULE}:smooth", "--data", str(tmp_path / "bad.npz")]) == 2
    assert main(["linearize", "graph.json", "--data", str(file)]) == 2
