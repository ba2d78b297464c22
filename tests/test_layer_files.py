"""Layers whose matrices lie in files of arrays, and layers that are none: what is read, and what is refused by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from lakatos.cli import main

HALF = [[0.5, 0.5], [0.5, -0.5], [0.5, 0.5], [0.5, -0.5]]  # orthonormal in binary arithmetic
ARRAYS = {
    "U": np.array(HALF),
    "F": np.array([[0.0, 0, 0, 0], [0.25, 0, 0, 0]]),
    "D": np.array([[1.0, 1, 1, 1], [0, 1, 1, 1]]),
    "A": np.array([[1.0, 0], [0, 2]]),
}
INLINE = f"""theorem = "realization_cost_is_a_mahalanobis_norm"
title = "a layer"
[instance]
U = {HALF}
F = {ARRAYS["F"].tolist()}
D = {ARRAYS["D"].tolist()}
A = {ARRAYS["A"].tolist()}
"""
MARGIN = "identifiable_iff_identity_is_the_unique_assignment"


def save(path: Path, arrays: dict[str, np.ndarray]) -> None:
    if path.suffix == ".npz":
        np.savez(path, **arrays)
    elif path.suffix == ".pt":
        torch.save({key: torch.from_numpy(value) for key, value in arrays.items()}, path)
    else:
        save_file(arrays, path)


def referring(suffix: str, **changed: str) -> str:
    fields = {key: f'{{ file = "layer{suffix}", key = "{key}" }}' for key in ARRAYS} | changed
    rows = "\n".join(f"{key} = {value}" for key, value in fields.items())
    return f'theorem = "realization_cost_is_a_mahalanobis_norm"\ntitle = "a layer"\n[instance]\n{rows}\n'


def verify(path: Path, text: str, capsys: pytest.CaptureFixture[str]) -> tuple[int, dict[str, Any], str]:
    path.write_text(text)
    status = main(["verify", str(path), "--json"])
    captured = capsys.readouterr()
    return status, json.loads(captured.out)["verdicts"][0] if status != 2 else {}, captured.err


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".pt"])
def test_matrices_in_files_are_those_written_out(
    suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / f"layer{suffix}", ARRAYS)
    status, inline, _ = verify(tmp_path / "inline.toml", INLINE, capsys)
    assert status == 0
    status, found, _ = verify(tmp_path / "files.toml", referring(suffix), capsys)
    assert status == 0
    assert found["outcome"] == inline["outcome"] == "proved"
    assert found["claims"] == inline["claims"]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"F": np.full((2, 4), np.nan)}, r"F: layer.npz['F'][0, 0]=nan: entries must be finite"),
        ({"F": np.zeros((2, 3))}, "F"),
        ({"F": np.zeros(8)}, "2 axes"),
        ({"D": np.zeros((3, 4))}, "D"),
        ({"U": np.zeros((2, 4))}, "needs k <= n"),
        ({"A": np.zeros((2, 3))}, "A"),
        ({"U": np.array([["a"]])}, "U: layer.npz['U']: entries of type <U1"),
    ],
)
def test_files_that_do_not_fit_exit_with_two_and_name_the_field(
    arrays: dict[str, np.ndarray], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save(tmp_path / "layer.npz", ARRAYS | arrays)
    status, _, words = verify(tmp_path / "bad.toml", referring(".npz"), capsys)
    assert status == 2
    assert "bad.toml" in words.replace("\n", "")
    assert message in words.replace("\n", "")


def test_missing_keys_and_files_exit_with_two(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "layer.npz", ARRAYS)
    for value, message in (
        ('{ file = "layer.npz", key = "G" }', "no array key='G'"),
        ('{ file = "../layer.npz", key = "F" }', "outside the folder"),
        ('{ file = "other.npz", key = "F" }', "F.file='other.npz'"),
        ('{ file = "layer.npz" }', "F.key: missing"),
    ):
        status, _, words = verify(tmp_path / "bad.toml", referring(".npz", F=value), capsys)
        assert status == 2
        assert message in words


def test_bases_that_rounding_left_skewed_are_named_as_a_hypothesis(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    U = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 2)))[0]
    save(tmp_path / "layer.npz", ARRAYS | {"U": U})
    status, found, _ = verify(tmp_path / "skewed.toml", referring(".npz"), capsys)
    assert status == 4
    assert [h["name"] for h in found["hypotheses"] if not h["met"]] == ["U has orthonormal columns"]


@pytest.mark.parametrize(
    ("fields", "status", "outcome"),
    [
        ({"F": [[0, 0]], "D": [[0, 0]], "A": [[0, 0]]}, 0, "proved"),  # a row of zeros: only its center, at cost 0
        ({"F": [[0, 0]], "D": [[0, 0]], "A": [[1, 0]]}, 4, "inapplicable"),  # a feature out of its reach
        ({"F": [[0, 0]], "D": [[1, 1]], "A": [[1, 0]]}, 0, "proved"),  # m = 1
    ],
)
def test_rows_of_zeros_and_single_neurons(
    fields: dict[str, Any], status: int, outcome: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = "\n".join(f"{key} = {value}" for key, value in fields.items())
    text = f'theorem = "{MARGIN}"\ntitle = "t"\n[instance]\nU = [[1, 0], [0, 1]]\n{rows}\n'
    found_status, found, _ = verify(tmp_path / "edge.toml", text, capsys)
    assert (found_status, found["outcome"]) == (status, outcome)


def test_data_that_span_too_little_or_have_another_width(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    start = (
        'theorem = "features_are_vectors_when_data_span_a_subspace"\ntitle = "t"\n[instance]\nU = [[1, 0], [0, 1]]\n'
    )
    weights = "weights = [[1, 0], [0, 1]]\n"
    status, found, _ = verify(tmp_path / "a.toml", f"{start}data = [[1, 0]]\n{weights}", capsys)
    assert status == 4
    assert any(not h["met"] for h in found["hypotheses"])
    status, _, words = verify(tmp_path / "b.toml", f"{start}data = [[1, 0, 0]]\n{weights}", capsys)
    assert status == 2
    assert "data" in words
