"""``lakatos identify``: what it prints and writes, and input that it refuses."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from lakatos.cli import main


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Two runs of the example, trained for two epochs, and the folder of examples on the import path."""
    folder = tmp_path_factory.mktemp("runs")
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(Path(__file__).parents[1]))
        digits = import_module("examples.digits")
        _train(digits, folder)
        yield folder


def _train(digits: Any, folder: Path) -> None:
    for seed, name in ((1, "first"), (2, "second")):
        network = digits.train(digits.w_asymmetric(seed), seed, epochs=2)
        torch.save(network.state_dict(), folder / f"{name}.pt")
    torch.save(digits.standard(1).state_dict(), folder / "other.pt")
    inputs, targets = digits.data()
    np.savez(folder / "digits.npz", x=inputs[1400:].numpy(), y=targets[1400:].numpy())


def command(folder: Path, second: str, *options: str) -> int:
    paths = [str(folder / "first.pt"), str(folder / second)]
    data = str(folder / "digits.npz")
    return main(["identify", *paths, "--model", "examples.digits:w_asymmetric", "--data", data, *options])


def test_command_prints_json_with_the_keys_of_the_interface(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status = command(runs, "second.pt", "--json")
    found = json.loads(capsys.readouterr().out)
    assert status == (0 if "merge without alignment:" in found["verdict"] else 1)
    assert found["schema"] == "lakatos/identify/1"
    keys = {"name", "neurons", "dimension", "coherence", "center_dominance", "margin", "identity_optimal"}
    assert [layer["neurons"] for layer in found["layers"]] == [64, 64]
    assert all(keys <= layer.keys() and len(layer["center_dominance"]) == 64 for layer in found["layers"])
    barrier = found["barrier"]
    assert set(barrier) == {"definition", "predicted_bound", "measured_unaligned", "measured_aligned"}
    assert barrier["measured_unaligned"] <= barrier["predicted_bound"]


def test_command_writes_a_page_with_a_map_for_each_layer(runs: Path, tmp_path: Path) -> None:
    page = tmp_path / "merge.html"
    command(runs, "second.pt", "--html", str(page))
    text = page.read_text("utf-8")
    assert text.count("<figure>") == 3  # the losses, and two maps
    assert text.count("<rect") == 2 * 64 * 64
    assert "default-src 'none'" in text  # nothing is loaded from elsewhere


def test_command_says_words_for_people(runs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command(runs, "first.pt")
    assert "These networks merge without alignment" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("second", "options", "message"),
    [
        ("other.pt", (), "different fixed weights"),
        ("missing.pt", (), "no such file"),
        ("second.pt", ("--support", "round"), "support='round'"),
        ("second.pt", ("--batch-norm", "ignore"), "batch_norm='ignore'"),
        ("second.pt", ("--points", "4"), "points=4"),
        ("second.pt", ("--explained", "2"), "explained=2.0"),
    ],
)
def test_bad_input_exits_with_two(
    runs: Path, capsys: pytest.CaptureFixture[str], second: str, options: tuple[str, ...], message: str
) -> None:
    assert command(runs, second, *options) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_data_file_without_classes_exits_with_two(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "data.npz"
    np.savez(path, x=np.zeros((3, 64)))
    paths = [str(runs / name) for name in ("first.pt", "second.pt")]
    assert main(["identify", *paths, "--model", "examples.digits:w_asymmetric", "--data", str(path)]) == 2
    assert "no array 'y'" in capsys.readouterr().err


FACTORY = """
import torch
from torch import nn
from lakatos.numerics.masked import asymmetric

def network(seed=0):
    torch.manual_seed(seed)
    parts = nn.Conv2d(1, 3, 3), nn.BatchNorm2d(3), nn.ReLU(), nn.Flatten(), nn.Linear(108, 3)
    return asymmetric(nn.Sequential(*parts), "w_asymmetric", seed=0)
"""


@pytest.fixture
def convolutional(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two checkpoints of a convolutional network in a folder that is on the import path, and images to test on."""
    (tmp_path / "tiny_cnn_of_tests.py").write_text(FACTORY)
    monkeypatch.syspath_prepend(str(tmp_path))
    with torch.random.fork_rng(devices=[]):
        for seed, name in ((1, "first"), (2, "second")):
            torch.save(import_module("tiny_cnn_of_tests").network(seed).state_dict(), tmp_path / f"{name}.pt")
    pixels = torch.randint(256, (40, 8, 8), generator=torch.Generator().manual_seed(0)).byte().numpy().tobytes()
    (tmp_path / "t10k-images-idx3-ubyte").write_bytes(struct.pack(">4i", 0x803, 40, 8, 8) + pixels)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 0x801, 40) + bytes(i % 3 for i in range(40)))
    return tmp_path


def compare_convolutional(folder: Path, *options: str, data: str = ".") -> int:
    paths = [str(folder / name) for name in ("first.pt", "second.pt")]
    return main(["identify", *paths, "--model", "tiny_cnn_of_tests:network", "--data", str(folder / data), *options])


def test_command_compares_convolutional_networks_on_images(
    convolutional: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare_convolutional(convolutional) == 2
    assert "batch_norm='refuse'" in capsys.readouterr().err
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", "--json", "--samples", "30") in (0, 1)
    found = json.loads(capsys.readouterr().out)
    assert [layer["neurons"] for layer in found["layers"]] == [3]
    assert isinstance(found["barrier"]["measured_aligned"], float)
    assert found["left_out"] == {}


@pytest.mark.parametrize(("options", "message"), [(("--samples", "0"), "samples=0"), ((), "batch_norm")])
def test_bad_options_of_images_exit_with_two(
    convolutional: Path, capsys: pytest.CaptureFixture[str], options: tuple[str, ...], message: str
) -> None:
    assert compare_convolutional(convolutional, *options) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": np.zeros((3, 1, 7, 7)), "y": np.zeros(3, int)}, "do not fit the model"),
        ({"x": np.full((3, 1, 8, 8), np.nan), "y": np.zeros(3, int)}, "NaN or infinity"),
        ({"x": np.zeros((3, 1, 8, 8)), "y": np.zeros(3)}, "y has shape (3,) and type float64"),
        ({"x": np.zeros((3, 1, 8, 8)), "y": np.zeros(2, int)}, "y has shape (2,)"),
        ({"x": np.array(1.0), "y": np.array(1)}, "x has shape ()"),
        ({"x": np.array([["a"]]), "y": np.zeros(1, int)}, "x has shape (1, 1) and type <U1"),
        ({"x": np.eye(8)[None, None].repeat(3, 0), "y": np.array([0, 1, 9])}, "classes 0 to 9; the model has 3"),
    ],
)
def test_arrays_that_do_not_fit_exit_with_two(
    convolutional: Path, capsys: pytest.CaptureFixture[str], arrays: dict[str, Any], message: str
) -> None:
    np.savez(convolutional / "data.npz", **arrays)
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", data="data.npz") == 2
    assert message in capsys.readouterr().err


def test_pickles_and_damaged_archives_exit_with_two(convolutional: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(convolutional / "data.npz", x=np.array([{}], object), y=np.zeros(1, int))
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", data="data.npz") == 2
    assert "Python objects, which are not unpickled" in capsys.readouterr().err
    (convolutional / "data.npz").write_bytes(b"PK\x03\x04")
    assert compare_convolutional(convolutional, "--batch-norm", "reestimate", data="data.npz") == 2
    assert "not an .npz file" in capsys.readouterr().err
