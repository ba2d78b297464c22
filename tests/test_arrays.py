"""Arrays: exact values, and reading them from files that may be damaged or hostile."""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import struct
import tracemalloc
import zipfile
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from safetensors.torch import save_file

from lakatos.arrays import Array, ArrayFolder, array_of_lists, array_of_numpy
from lakatos.core import InputError

LARGEST_FILE = 256 << 20


class Canary:
    """Leaves a file behind when it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def npy(values: Any) -> bytes:
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.asarray(values))
    return stream.getvalue()


def write_npz(path: Path, content: bytes, key: str = "F") -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{key}.npy", content)


def message_of(folder: Path, file: str, key: str = "F") -> str:
    with pytest.raises(InputError) as caught:
        ArrayFolder(folder).read(file, key, "instance.W")
    text = str(caught.value)
    assert "\n" not in text
    return text


finite = npst.arrays(
    st.sampled_from([np.float16, np.float32, np.float64]),
    npst.array_shapes(max_dims=3, max_side=3),
    elements={"allow_nan": False, "allow_infinity": False},
)


def flat(nested: Any) -> list[Fraction]:
    return [x for item in nested for x in flat(item)] if isinstance(nested, tuple) else [nested]


@given(finite)
def test_floats_are_held_exactly(values: np.ndarray[Any, Any]) -> None:
    array = array_of_numpy(values, "W")
    assert (array.shape, array.origin) == (values.shape, "dyadic")
    assert flat(array.fractions()) == [Fraction(float(x)) for x in values.ravel()]
    np.testing.assert_array_equal(array.to_numpy(), values.astype(np.float64))
    assert array.to_numpy().dtype == np.float64


@given(finite)
def test_an_array_equals_its_exact_lists(values: np.ndarray[Any, Any]) -> None:
    array = array_of_numpy(values, "W")
    lists = array_of_lists(array.fractions(), "W")
    assert lists.origin == "rational"
    assert lists == array
    assert hash(lists) == hash(array)


def test_arrays_differ_by_shape_and_by_less_than_a_float_can_tell() -> None:
    row = array_of_lists([["1/3", 1]], "W")
    assert row != array_of_lists([["1/3"], [1]], "W")
    assert row != array_of_numpy(np.array([[1 / 3, 1.0]]), "W")
    assert row != ((Fraction(1, 3), Fraction(1)),)


def test_what_is_returned_can_be_changed_without_changing_the_array() -> None:
    source = np.array([[1.0, 2.0]])
    array = array_of_numpy(source, "W")
    source[0, 0] = 5
    array.to_numpy()[0, 0] = 5
    assert array.fractions() == ((1, 2),)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "W: arrays have one to 8 axes and no empty one; here lengths are [0]"),
        ([[], []], "W: arrays have one to 8 axes and no empty one; here lengths are [2, 0]"),
        ([[1], 2], "W[1]: a single value where 1 are needed; the array has shape (2, 1)"),
        ([1, [2]], "W[1]: a list, but other entries are numbers; lists must be nested equally deep"),
        ([[1, 2], [3, "x"]], "W[1][1]='x': not a finite number; write an integer, a decimal or 'p/q'"),
        ([1, True], "W[1]=True: a number is needed (an integer, a decimal or a string 'p/q')"),
        ([1, "1e400"], "W[1]: beyond the range of float64, in which arrays are measured"),
        ([[[[[[[[[1]]]]]]]]], f"W: arrays have one to 8 axes and no empty one; here lengths are {[1] * 9}"),
    ],
)
def test_bad_lists_are_named(rows: Any, message: str) -> None:
    with pytest.raises(InputError) as caught:
        array_of_lists(rows, "W")
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (np.array([[0.0, np.nan]]), "W[0, 1]=nan: entries must be finite"),
        (np.array([1.0, -np.inf], np.float16), "W[1]=-inf: entries must be finite"),
        (
            np.array([2**53, 2**53 + 1]),
            "W[1]=9007199254740993: integers beyond ±2^53 are not exact in float64; write them into the instance file",
        ),
        (np.array(1.0), "W: shape (); arrays have one to 8 axes and 1 to 33554432 entries"),
        (np.zeros((2, 0)), "W: shape (2, 0); arrays have one to 8 axes and 1 to 33554432 entries"),
        (np.array([1j]), "W: entries of type complex128; float16, float32, float64 and integers are read"),
        (np.array(["1"]), "W: entries of type <U1; float16, float32, float64 and integers are read"),
    ],
)
def test_bad_numpy_arrays_are_named(values: np.ndarray[Any, Any], message: str) -> None:
    with pytest.raises(InputError) as caught:
        array_of_numpy(values, "W")
    assert str(caught.value) == message


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f8", "i1", "i8", "u1", "u8"])
def test_npz_of_every_type(tmp_path: Path, dtype: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(dtype)
    np.savez_compressed(tmp_path / "w.npz", F=values, G=np.asfortranarray(values))
    folder = ArrayFolder(tmp_path)
    assert (
        folder.read("w.npz", "F", "W") == folder.read("w.npz", "G", "W") == array_of_lists([[0, 1, 2], [3, 4, 5]], "W")
    )
    assert folder.hashes == {"w.npz": hashlib.sha256((tmp_path / "w.npz").read_bytes()).hexdigest()}


TORCH_TYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.int8, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", TORCH_TYPES, ids=str)
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_checkpoints_of_every_type(tmp_path: Path, dtype: torch.dtype, suffix: str) -> None:
    tensors = {"layer.weight": torch.tensor([[0.5, 2], [3, 4]]).to(dtype), "other": torch.ones(1)}
    save = {".pt": torch.save, ".safetensors": save_file}[suffix]
    save(tensors, tmp_path / f"w{suffix}")
    first = "1/2" if dtype.is_floating_point else 0
    read = ArrayFolder(tmp_path).read(f"w{suffix}", "layer.weight", "W")
    assert read == array_of_lists([[first, 2], [3, 4]], "W")
    assert read.origin == "dyadic"


def test_state_dicts_with_gradients_and_transposes_are_read(tmp_path: Path) -> None:
    layer = torch.nn.Linear(2, 3)
    torch.save({"w": layer.weight, "t": layer.weight.T}, tmp_path / "w.pt")
    folder = ArrayFolder(tmp_path)
    expected = layer.weight.detach().double().numpy()
    np.testing.assert_array_equal(folder.read("w.pt", "w", "W").to_numpy(), expected)
    np.testing.assert_array_equal(folder.read("w.pt", "t", "W").to_numpy(), expected.T)


def test_a_file_is_read_in_a_subfolder_and_only_once(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    np.savez(tmp_path / "data" / "w.npz", F=[1.0], G=[2.0])
    folder = ArrayFolder(tmp_path)
    assert folder.read("data/w.npz", "F", "W").fractions() == (1,)
    (tmp_path / "data" / "w.npz").unlink()
    assert folder.read("data/w.npz", "G", "W").fractions() == (2,)


def test_files_outside_the_folder_are_refused(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    np.savez(tmp_path / "w.npz", F=[1.0])
    (inside / "link.npz").symlink_to(tmp_path / "w.npz")
    (inside / "up").symlink_to(tmp_path)
    for file in ("../w.npz", "link.npz", "up/w.npz", str(tmp_path / "w.npz"), "x/../../w.npz"):
        expected = f"instance.W.file={file!r}: outside the folder of the instance file; copy it there"
        assert message_of(inside, file) == expected
    np.savez(inside / "v.npz", F=[1.0])
    (inside / "near.npz").symlink_to("v.npz")
    assert ArrayFolder(inside).read("near.npz", "F", "W").fractions() == (1,)


def test_files_that_are_not_there_are_named(tmp_path: Path) -> None:
    (tmp_path / "folder.npz").mkdir()
    (tmp_path / "circle.npz").symlink_to("circle.npz")
    assert message_of(tmp_path, "w.npz") == (
        "instance.W.file='w.npz': cannot be read (No such file or directory); check its name and permissions"
    )
    assert message_of(tmp_path, "folder.npz") == "instance.W.file='folder.npz': not a regular file"
    for file in ("circle.npz", "nul\0.npz"):
        assert message_of(tmp_path, file) == f"instance.W.file={file!r}: no such file beside the instance file"
    assert message_of(tmp_path, "w.pkl") == (
        "instance.W.file='w.pkl': unknown format; files end in .npz, .safetensors, .pt"
    )


def test_missing_keys_are_named_with_the_nearest(tmp_path: Path) -> None:
    tensors = {"weight": torch.ones(1), "bias": torch.ones(1)}
    np.savez(tmp_path / "w.npz", weight=[1.0], bias=[1.0])
    save_file(tensors, tmp_path / "w.safetensors")
    torch.save(tensors, tmp_path / "w.pt")
    for file in ("w.npz", "w.safetensors", "w.pt"):
        text = message_of(tmp_path, file, "wieght")
        assert text.startswith(f"instance.W: {file}: no array key='wieght'; did you mean 'weight'? valid are ")
        assert "'bias'" in text


def test_nan_is_named_by_file_key_and_index(tmp_path: Path) -> None:
    tensor = torch.tensor([[0, 1], [torch.inf, 2]])
    np.savez(tmp_path / "w.npz", F=tensor.numpy())
    save_file({"F": tensor}, tmp_path / "w.safetensors")
    torch.save({"F": tensor}, tmp_path / "w.pt")
    for file in ("w.npz", "w.safetensors", "w.pt"):
        assert message_of(tmp_path, file) == f"instance.W: {file}['F'][1, 0]=inf: entries must be finite"


def test_pickles_do_not_run(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    np.savez(tmp_path / "w.npz", F=np.array([Canary(trap)], dtype=object))
    torch.save({"F": Canary(trap)}, tmp_path / "w.pt")
    legacy = io.BytesIO()
    pickle.dump({"F": Canary(trap)}, legacy)
    (tmp_path / "old.pt").write_bytes(legacy.getvalue())
    assert message_of(tmp_path, "w.npz") == (
        "instance.W: w.npz['F']: holds Python objects, which are not unpickled; save numbers or texts"
    )
    assert message_of(tmp_path, "w.pt") == (
        "instance.W: w.pt: damaged or unsafe, its reader refused it (UnpicklingError); write the file again"
    )
    assert message_of(tmp_path, "old.pt") == (
        "instance.W: old.pt: not a file that torch.save of torch 1.6 or later writes; save it again"
    )
    assert not trap.exists()
    # The trap works: this is what the readers did not do.
    pickle.loads(legacy.getvalue())
    assert trap.exists()


def test_bombs_are_refused_before_they_are_unpacked(tmp_path: Path) -> None:
    damaged = "damaged or unsafe, its reader refused it (ValueError); write the file again"
    unpacked = f"unpacks to {LARGEST_FILE + (1 << 20)} bytes; at most {LARGEST_FILE} are read"
    for name, member, expected in (("w.npz", "F.npy", unpacked), ("w.pt", "archive/data.pkl", damaged)):
        with zipfile.ZipFile(tmp_path / name, "w", zipfile.ZIP_DEFLATED) as archive, archive.open(member, "w") as out:
            for _ in range(LARGEST_FILE // (1 << 20) + 1):
                out.write(bytes(1 << 20))
        assert (tmp_path / name).stat().st_size < 1 << 20
        assert message_of(tmp_path, name) == f"instance.W: {name}: {expected}"


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_bombs_that_declare_a_small_size_are_unpacked_no_further(tmp_path: Path, method: int) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("F.npy", npy(np.zeros(2)) + bytes(64 << 20))
        size = archive.getinfo("F.npy").file_size
    lie = stream.getvalue().replace(struct.pack("<I", size), struct.pack("<I", len(npy(np.zeros(2)))))
    (tmp_path / "w.npz").write_bytes(lie)
    tracemalloc.start()
    try:
        message_of(tmp_path, "w.npz")
        assert tracemalloc.get_traced_memory()[1] < 16 << 20
    finally:
        tracemalloc.stop()


def test_large_files_are_not_read(tmp_path: Path) -> None:
    with (tmp_path / "w.npz").open("wb") as stream:
        stream.truncate(1 << 30)
    assert message_of(tmp_path, "w.npz") == (
        f"instance.W.file='w.npz': {1 << 30} bytes; at most {LARGEST_FILE} are read"
    )


def test_shapes_that_promise_more_than_the_file_holds_are_refused(tmp_path: Path) -> None:
    header = npy(np.zeros(2)).replace(b"(2,), }          ", b"(2000000000000,),}")
    assert b"(2000000000000,)" in header
    write_npz(tmp_path / "w.npz", header)
    assert message_of(tmp_path, "w.npz") == (
        "instance.W: w.npz['F']: its header declares shape (2000000000000,), which is not what the archive holds"
    )
    torch.save({"F": torch.zeros(1).expand(1 << 20, 1 << 20)}, tmp_path / "w.pt")
    assert message_of(tmp_path, "w.pt") == f"instance.W: w.pt['F']: {1 << 40} entries; at most 33554432 are read"


@pytest.mark.parametrize("suffix", [".npz", ".safetensors", ".pt"])
def test_damage_anywhere_gives_a_clean_message(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"w{suffix}"
    if suffix == ".npz":
        np.savez_compressed(path, F=np.arange(50.0))
    else:
        {".pt": torch.save, ".safetensors": save_file}[suffix]({"F": torch.arange(50.0)}, path)
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    messages: list[str] = []
    for cut in (0, 1, 8, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:cut])
        assert message_of(tmp_path, path.name)
    for position in rng.integers(len(content), size=60):
        path.write_bytes(content[:position] + bytes([content[position] ^ 0xFF]) + content[position + 1 :])
        try:
            # A flipped byte may hit padding, or one of the numbers where the format has no checksum.
            ArrayFolder(tmp_path).read(path.name, "F", "W")
        except InputError as error:
            messages.append(str(error))
    assert messages
    assert not any("\n" in message for message in messages)


def test_what_is_not_a_dense_tensor_is_refused(tmp_path: Path) -> None:
    torch.save({"F": torch.eye(2).to_sparse(), "n": 3, "c": torch.ones(1, dtype=torch.complex64)}, tmp_path / "w.pt")
    torch.save([torch.ones(1)], tmp_path / "list.pt")
    assert message_of(tmp_path, "w.pt") == "instance.W: w.pt['F']: not a dense tensor; save plain tensors"
    assert message_of(tmp_path, "w.pt", "n") == "instance.W: w.pt['n']: not a dense tensor; save plain tensors"
    assert message_of(tmp_path, "w.pt", "c").startswith("instance.W: w.pt['c']: entries of type complex64")
    assert message_of(tmp_path, "list.pt") == (
        "instance.W: list.pt: holds a list; save a dictionary of tensors, such as a state dict"
    )


def test_the_representation_is_short() -> None:
    assert repr(Array((1,), (Fraction(1),))) == "Array(shape=(1,), origin='rational')"
