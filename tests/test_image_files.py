"""Image files of strangers are read as they are, or refused by name."""

from __future__ import annotations

import gzip
import os
import struct
from collections.abc import Callable
from pathlib import Path

import hostile_archives as archives
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from lakatos.core import InputError
from lakatos.numerics import image_files
from lakatos.numerics.image_files import read_images

ROW = 3073


def write_idx(folder: Path, split: str, images: list[list[list[int]]], labels: list[int], *, end: str = "") -> None:
    pack = gzip.compress if end else bytes
    pixels = bytes(pixel for image in images for row in image for pixel in row)
    header = struct.pack(">4i", 0x803, len(images), len(images[0]), len(images[0][0]))
    (folder / f"{split}-images-idx3-ubyte{end}").write_bytes(pack(header + pixels))
    (folder / f"{split}-labels-idx1-ubyte{end}").write_bytes(
        pack(struct.pack(">2i", 0x801, len(labels)) + bytes(labels))
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with folders of valid files."""
    for name, content in archives.image_files().items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(content)
    return tmp_path


@pytest.mark.parametrize("end", ["", ".gz"])
@given(data=st.data())
def test_what_was_written_is_read(tmp_path_factory: pytest.TempPathFactory, end: str, data: st.DataObject) -> None:
    height, width, count = (data.draw(st.integers(1, 4)) for _ in range(3))
    numbers = st.integers(0, 255)
    row = st.lists(numbers, min_size=width, max_size=width)
    image = st.lists(row, min_size=height, max_size=height)
    images = data.draw(st.lists(image, min_size=count, max_size=count))
    labels = data.draw(st.lists(numbers, min_size=count, max_size=count))
    split = data.draw(st.sampled_from(["train", "test"]))
    limit = data.draw(st.none() | st.integers(1, count + 1))
    folder = tmp_path_factory.mktemp("images")
    write_idx(folder, {"train": "train", "test": "t10k"}[split], images, labels, end=end)
    found = read_images(folder, split, limit=limit)
    assert found.pixels[:, 0].tolist() == images[:limit]
    assert found.classes.tolist() == labels[:limit]
    assert found.shape == (1, height, width)


def test_pixels_are_scaled_to_the_unit_interval(folder: Path) -> None:
    found = read_images(folder / "idx")
    assert found.scaled().tolist() == [
        [[[(6 * i + 3 * r + c) / 255 for c in range(3)] for r in range(2)]] for i in range(3)
    ]
    assert found.scaled(torch.float32).dtype == torch.float32


def test_files_with_a_dot_before_idx_are_found(folder: Path) -> None:
    assert read_images(folder / "gz").classes.tolist() == [7, 0, 9]


def test_batches_are_joined_in_order_and_channels_come_first(folder: Path) -> None:
    row = bytes([4]) + bytes([1]) * 1024 + bytes([2]) * 1024 + bytes([3] * 1023 + [200])
    (folder / "cifar" / "data_batch_5.bin").write_bytes(row)
    found = read_images(folder / "cifar")
    assert found.classes.tolist() == [3, 9] * 4 + [4]
    assert found.shape == (3, 32, 32)
    assert [found.pixels[-1, c, 0, 0].item() for c in range(3)] == [1, 2, 3]
    assert found.pixels[-1, 2, 31, 31] == 200
    assert read_images(folder / "cifar", limit=3).classes.tolist() == [3, 9, 3]


def test_what_comes_after_the_limit_is_not_read(folder: Path) -> None:
    (folder / "cifar" / "data_batch_2.bin").unlink()
    assert len(read_images(folder / "cifar", limit=2)) == 2
    with pytest.raises(InputError, match=r"data_batch_2.bin: cannot be read \(No such file"):
        read_images(folder / "cifar", limit=3)


def test_limits_bound_what_is_kept(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image_files, "_LARGEST", 40)
    assert len(read_images(folder / "idx", limit=1)) == 1
    monkeypatch.setattr(image_files, "_LARGEST", 36)
    (folder / IMAGES).write_bytes(bytes(37))
    with pytest.raises(InputError, match="37 bytes; at most 36 are read"):
        read_images(folder / "idx")


def edited(name: str, edit: Callable[[bytes], bytes]) -> Callable[[Path], Path]:
    """Return what edits one file and gives its folder."""

    def change(folder: Path) -> Path:
        path = folder / name
        path.write_bytes(edit(path.read_bytes()))
        return path.parent

    return change


IMAGES, LABELS, BATCH = "idx/train-images-idx3-ubyte", "idx/train-labels-idx1-ubyte", "cifar/data_batch_1.bin"
PACKED = "gz/train-images-idx3-ubyte.gz"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            edited(IMAGES, lambda c: b"\0" + b"\0\x08\x01" + c[4:]),
            r"idx3-ubyte: magic=0x00000801: 0x00000803 is needed",
        ),
        (edited(IMAGES, lambda c: c[:4] + bytes(4) + c[8:]), r"idx3-ubyte: count=0: 1 to"),
        (edited(IMAGES, lambda c: c[:8] + struct.pack(">i", 5000) + c[12:]), "rows=5000"),
        (edited(IMAGES, lambda c: c[:12] + b"\xff" * 4 + c[16:]), "columns=4294967295"),
        (
            edited(IMAGES, lambda c: c[:4] + struct.pack(">i", 4) + c[8:]),
            "count=4: 24 bytes of images cannot be in this file",
        ),
        (edited(IMAGES, lambda c: c + b"x"), "count=3: the file goes on"),
        (edited(IMAGES, lambda c: c[:9]), "header: the file ends after 9 of 16 bytes"),
        (edited(LABELS, lambda c: struct.pack(">2i", 0x801, 2) + b"\1\2"), "3 images but 2 labels"),
        (edited(PACKED, lambda c: c[:-9]), r"\.gz: not a readable gzip file"),
        (edited(PACKED, lambda c: c[:-8] + bytes(8)), r"\.gz: not a readable gzip file"),
        (edited(PACKED, lambda c: b"no gzip"), r"\.gz: not a readable gzip file"),
        (edited(PACKED, lambda c: c + archives.zeros_gzip()), "count=3: the file goes on"),
        (edited(PACKED, lambda c: gzip.compress(struct.pack(">4i", 0x803, 1 << 29, 1, 1))), "cannot be in this file"),
        (
            edited(PACKED, lambda c: gzip.compress(struct.pack(">4i", 0x803, 9, 2, 3))),
            "images: the file ends after 0 of 54",
        ),
        (edited(BATCH, lambda c: c[:-1]), f"data_batch_1.bin: {2 * ROW - 1} bytes; rows of {ROW}"),
        (edited(BATCH, lambda c: b""), "data_batch_1.bin: 0 bytes"),
        (edited(BATCH, lambda c: c[:ROW] + b"\x0a" + c[ROW + 1 :]), r"data_batch_1.bin: labels\[1\]=10: 0 to 9"),
    ],
)
def test_damaged_files_are_refused_by_name_and_field(
    folder: Path, change: Callable[[Path], Path], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        read_images(change(folder))


def test_folders_that_hold_no_images_or_two_kinds(folder: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        read_images(folder / "nowhere")
    with pytest.raises(InputError, match=r"expected t10k-images-idx3-ubyte .* test_batch.bin"):
        read_images(folder / "idx", "test")
    (folder / "idx" / "data_batch_1.bin").write_bytes(b"")
    with pytest.raises(InputError, match="both IDX files and CIFAR-10"):
        read_images(folder / "idx")
    (folder / IMAGES).unlink()
    (folder / "idx" / "data_batch_1.bin").unlink()
    with pytest.raises(InputError, match=r"train-images-idx3-ubyte\[.gz\] is missing"):
        read_images(folder / "idx")


def test_pipes_and_bad_arguments_are_refused(folder: Path) -> None:
    with pytest.raises(InputError, match="split='validation'"):
        read_images(folder / "idx", "validation")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="limit=0"):
        read_images(folder / "idx", limit=0)
    (folder / IMAGES).unlink()
    os.mkfifo(folder / IMAGES)
    with pytest.raises(InputError, match="not a regular file"):
        read_images(folder / "idx")
