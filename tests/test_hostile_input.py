"""Whatever a file holds, it is read or refused: no traceback, no code that runs, no other file opened; see `fuzz`."""

from __future__ import annotations

import json
import pickle
import random
import subprocess
import sys
import zipfile
from pathlib import Path

import damage
import fuzz
import hostile
import hostile_archives as archives
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import nn

from lakatos import InputError, read_network
from lakatos.numerics.checkpoints import load_checkpoint

EVERYDAY = 1600


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fuzz.make_folder(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("reader", hostile.READERS)
@given(draw=st.randoms(use_true_random=False))
@settings(max_examples=50, suppress_health_check=list(HealthCheck))
def test_hostile_files_are_read_or_refused(reader: str, folder: Path, draw: random.Random) -> None:
    """Here Hypothesis draws the damage, so that what fails shrinks."""
    case = hostile.hostile_file(draw, reader)
    path = folder / f"case{case.suffix}"
    path.write_bytes(case.content)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert fuzz.ending(case, path) in ("read", "refused", "valid", "invalid")
    assert not (folder.parent / archives.CANARY).exists()


def test_hostile_files_make_nothing_happen(tmp_path: Path) -> None:
    """The same under an audit hook, with limits on time and memory, in a process of its own."""
    command = [sys.executable, fuzz.__file__, "--child", "0", str(EVERYDAY), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["problems"] == []
    counts = found["counts"]
    assert sum(counts.values()) == EVERYDAY
    for reader in hostile.READERS:  # the damage is neither always fatal nor never
        assert counts[f"{reader} refused"] > 10
        assert counts.get(f"{reader} read", 0) + counts.get(f"{reader} valid", 0) > 0


@pytest.mark.slow
def test_many_hostile_files(tmp_path: Path) -> None:
    total = fuzz.run(50_000, tmp_path / "state.json", seed=1)
    assert total["done"] == sum(total["counts"].values()) == 50_000
    assert total["problems"] == []


def test_an_input_of_sixteen_million_entries_is_refused_unread(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    model = onnx.ModelProto.FromString(hostile.onnx_model())
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_value = 1 << 24
    path = tmp_path / "n.onnx"
    path.write_bytes(model.SerializeToString())
    with pytest.raises(InputError, match="too large"):
        read_network(path)


# The watch sees what it is there for --------------------------------------------------------------------------------------


def test_the_poison_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Otherwise that it does not would say nothing."""
    (tmp_path / "case").mkdir()
    monkeypatch.chdir(tmp_path / "case")
    effective = 0
    for poison in archives.pickles():
        try:
            pickle.loads(poison)
        except Exception:  # some are no more than damaged
            continue
        effective += (tmp_path / archives.CANARY).exists()
        (tmp_path / archives.CANARY).unlink(missing_ok=True)
    assert effective >= 12


@pytest.mark.parametrize(
    ("event", "arguments"),
    [
        ("open", ("/etc/hostname", "r", 0)),
        ("open", ("../secret/weights.npz", "r", 0)),
        ("open", ("link.npz", "r", 0)),
        ("exec", (compile("import os", "<data>", "exec"),)),
        ("os.system", ("true",)),
        ("subprocess.Popen", ("true", [], None, None)),
        ("socket.connect", (None, ("localhost", 80))),
        ("pickle.find_class", ("os", "system")),
    ],
)
def test_the_watch_sees(folder: Path, event: str, arguments: tuple, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    watch = fuzz.Watch(str(folder.resolve()))
    watch(event, arguments)
    assert not watch.seen, "off"
    with watch.on():
        watch("open", ("weights.npz", "r", 0))
        assert not watch.seen
        watch(event, arguments)
        assert len(watch.seen) == 1


@pytest.mark.parametrize("method", [8, 12, 14])
def test_bombs_are_bombs(method: int) -> None:
    assert len(archives.zeros(method)) < archives.BOMB // 500
    assert archives.BOMB > fuzz.MEBIBYTES << 20


def test_damage_of_one_case_is_not_that_of_the_next() -> None:
    before = json.dumps(damage.VALUES)
    for seed in range(300):
        damage.damaged_data(random.Random(seed), {"a": [[1], {"b": 2}], "c": {}})
    assert json.dumps(damage.VALUES) == before


def test_endless_name_of_a_class_is_not_searched(tmp_path: Path) -> None:
    # PyTorch would look for words in its message, for minutes where a class has sixty thousand letters.
    path = tmp_path / "state.pt"
    name = b"c" + b"a" * 60_000 + b"\nb\n."
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", b"\x80\x02" + name)
        archive.writestr("archive/version", b"3\n")
    with pytest.raises(InputError, match="it names a class in 60002 characters"):
        load_checkpoint(nn.Linear(1, 1), path)
