"""Archives of arrays that lie: about sizes, shapes and types, with code for whoever unpickles them."""

from __future__ import annotations

import gzip
import io
import pickle
import random
import struct
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from damage import damaged_bytes, damaged_text

CANARY = "canary"  # the file that code hidden in data would write, in the folder above that of the case


class Poison:
    """Pickled, it is a call that whoever unpickles it makes."""

    def __init__(self, function: Callable[..., Any], *arguments: Any) -> None:
        self.call = function, arguments

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return self.call


@cache
def pickles() -> tuple[bytes, ...]:
    """Return pickles that run code or name what they must not."""
    import os

    poisons = [
        Poison(exec, f"open('../{CANARY}', 'w').close()"),
        Poison(eval, f"open('../{CANARY}', 'w').close()"),
        Poison(os.system, f"touch ../{CANARY}"),
        Poison(Path.touch, Path("..", CANARY)),
    ]
    protocols = [pickle.dumps({"F": poison}, protocol) for poison in poisons for protocol in (0, 2, 4)]
    return (*protocols, b"\x80\x02ctorch\nload\n.", b"cos\nsystem\n(S'touch ../canary'\ntR.", b"(" * 2000, b"")


def npz(arrays: dict[str, Any], **options: Any) -> bytes:
    stream = io.BytesIO()
    np.savez(stream, **arrays, **options)
    return stream.getvalue()


@cache
def safetensors_file() -> bytes:
    from safetensors.numpy import save

    return bytes(save({"F": np.eye(2), "weight": np.ones((1, 2), np.float32), "bias": np.zeros(1, np.float32)}))


@cache
def torch_file() -> bytes:
    import torch

    stream = io.BytesIO()
    torch.save({"F": torch.eye(2), "weight": torch.ones(1, 2), "bias": torch.zeros(1)}, stream)
    return stream.getvalue()


HEADERS: list[dict[str, Any]] = [
    {"descr": descr, "fortran_order": order, "shape": shape}
    for descr in ("<f8", ">i2", "|O", "<U8", "|V8", "<M8[s]", "<c16", "|b1", "<f2", "<u8", [("a", "<f8"), ("b", "|O")])
    for order, shape in ((False, (2, 2)), (True, (4,)), (False, ()), (False, (0,)), (True, (1 << 40,)), (False, (-1,)))
]


def npy(draw: random.Random) -> bytes:
    """Return an array file whose header need not be true, some with pickles inside."""
    stream = io.BytesIO()
    try:
        np.lib.format.write_array_header_1_0(stream, draw.choice(HEADERS))
    except Exception:  # a shape that NumPy itself refuses to write
        np.lib.format.write_array_header_1_0(stream, HEADERS[0])
    return stream.getvalue() + draw.choice([*pickles(), bytes(32), bytes(8), b"\xff" * 32])


BOMB = 96 << 20


@cache
def zeros(method: int) -> bytes:
    """Return `BOMB` zeros, compressed: the raw stream of a zip member."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        archive.writestr("z", bytes(BOMB))
        info = archive.getinfo("z")
        start = info.header_offset + 30 + len("z")
    return stream.getvalue()[start : start + info.compress_size]


def archive_of(draw: random.Random, members: dict[str, bytes]) -> bytes:
    """Return a zip archive of `members`, perhaps with sizes and flags that lie."""
    method = draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    data = stream.getvalue()
    if draw.randint(0, 2) == 0:
        directory = data.index(b"PK\x01\x02")
        # flags, method, checksum, compressed size, size, name length, disk, offset: fields of a central directory entry
        offset = draw.choice([8, 10, 16, 20, 24, 28, 34, 42])
        value = draw.choice([0, 1, 8, 12, 14, 99, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, 0x40000000])
        width = 2 if offset in (8, 10, 28, 34) else 4
        field = (value & ((1 << 8 * width) - 1)).to_bytes(width, "little")
        data = data[: directory + offset] + field + data[directory + offset + width :]
    return data


def bomb(draw: random.Random, name: str) -> bytes:
    """Return an archive whose one member says it is small, and is not."""
    method = draw.choice([zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
    content, size = zeros(method), draw.choice([32, 160, 4096])
    head = struct.pack("<HHHHHIIIHH", 20, 0, method, 0, 0, 0, len(content), size, len(name), 0)
    entry = b"PK\x01\x02" + struct.pack("<H", 20) + head + struct.pack("<HHHII", 0, 0, 0, 0, 0) + name.encode()
    local = b"PK\x03\x04" + head + name.encode() + content
    end = b"PK\x05\x06" + struct.pack("<HHHHIIH", 0, 0, 1, 1, len(entry), len(local), 0)
    return local + entry + end


def damaged_npz(draw: random.Random, arrays: dict[str, Any]) -> bytes:
    match draw.randint(0, 5):
        case 0 | 1:
            return damaged_bytes(draw, npz(arrays))
        case 2:
            return bomb(draw, f"{draw.choice(list(arrays))}.npy")
    members = {}
    with zipfile.ZipFile(io.BytesIO(npz(arrays))) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            lie = draw.choice([lambda c: c, lambda c: damaged_bytes(draw, c), lambda c: npy(draw)])
            members[info.filename] = lie(content)
    if draw.randint(0, 3) == 0:
        members[draw.choice(["../evil.npy", "tail.npy ", "balance.npy", "a" * 300, "é.npy"])] = npy(draw)
    return archive_of(draw, members)


IMAGE_FILES = {
    ".idx3": "idx/train-images-idx3-ubyte",
    ".idx1": "idx/train-labels-idx1-ubyte",
    ".gz": "gz/train-images-idx3-ubyte.gz",
    ".bin": "cifar/data_batch_1.bin",
}
"""Which file of a folder of images a case is, by its suffix; the other files of the folder are valid."""


@cache
def image_files() -> dict[str, bytes]:
    """Return three images of 2 × 3 pixels with their labels, and two of CIFAR-10, by name."""
    images = struct.pack(">4i", 0x803, 3, 2, 3) + bytes(range(18))
    labels = struct.pack(">2i", 0x801, 3) + bytes([7, 0, 9])
    batch = b"".join(bytes([label]) + bytes([label]) * 3072 for label in (3, 9))
    return {
        "idx/train-images-idx3-ubyte": images,
        "idx/train-labels-idx1-ubyte": labels,
        "gz/train-images-idx3-ubyte.gz": gzip.compress(images, mtime=0),
        "gz/train-labels.idx1-ubyte": labels,
        **{f"cifar/data_batch_{i}.bin": batch for i in range(1, 6)},
    }


LENGTHS = [0, -1, 1, 2, 4, 1 << 12, 1 << 20, (1 << 31) - 1]


def damaged_images(draw: random.Random, suffix: str) -> bytes:
    """Return an image file with other lengths, damaged bytes, or more behind its header than this says."""
    content = image_files()[IMAGE_FILES[suffix]]
    plain = gzip.decompress(content) if suffix == ".gz" else content
    match draw.randint(0, 3):
        case 0:
            return damaged_bytes(draw, content)
        case 1 if suffix != ".bin":
            place = 4 * draw.randint(0, 3)
            plain = plain[:place] + struct.pack(">i", draw.choice(LENGTHS)) + plain[place + 4 :]
        case 2 if suffix == ".gz":
            return content + zeros_gzip()
        case 3:
            plain += draw.choice([b"x", bytes(18), plain, bytes(3073)])
        case _:
            plain = damaged_bytes(draw, plain)
    return gzip.compress(plain, mtime=0) if suffix == ".gz" else plain


@cache
def zeros_gzip() -> bytes:
    """Return `BOMB` zeros as a member that follows another one."""
    return gzip.compress(bytes(BOMB), mtime=0)


def damaged_torch(draw: random.Random) -> bytes:
    match draw.randint(0, 4):
        case 0:
            return damaged_bytes(draw, torch_file())
        case 1:
            return draw.choice(pickles())  # the format before torch 1.6
        case 2:
            return bomb(draw, "archive/data.pkl")
    members = {}
    with zipfile.ZipFile(io.BytesIO(torch_file())) as archive:
        for info in archive.infolist():
            content = archive.read(info)
            if info.filename.endswith("data.pkl"):
                content = draw.choice(
                    [damaged_bytes(draw, content), damaged_text(draw, content), draw.choice(pickles())]
                )
            members[info.filename] = content
    return archive_of(draw, members)
