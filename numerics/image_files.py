"""Local image data: MNIST and its kin as IDX files (plain or ``.gz``), CIFAR-10 as *binary* batches; never pickles.

A file is data of strangers: its size is compared with what its header declares before anything is allocated, nothing is
unpacked beyond that, and every label is checked.
"""

from __future__ import annotations

import gzip
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Literal, TypeAlias, cast

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from ..core import InputError

__all__ = ["Images", "Split", "read_images"]

Split: TypeAlias = "Literal['train', 'test']"

Bytes: TypeAlias = "npt.NDArray[np.uint8]"

_LARGEST = 1 << 30  # bytes of a file, and of all that is kept; EMNIST, the largest of its kind, has 550 MB
_DEFLATE = 1032  # zlib packs no tighter than this
_IDX_PREFIX = {"train": "train", "test": "t10k"}
_IDX_KINDS = {"images": 3, "labels": 1}
_SIDE = 1 << 12
_CIFAR_FILES = {"train": tuple(f"data_batch_{i}.bin" for i in range(1, 6)), "test": ("test_batch.bin",)}
_CIFAR_SHAPE = (3, 32, 32)
_CIFAR_ROW = 1 + 3 * 32 * 32
_CIFAR_CLASSES = 10


@dataclass(frozen=True)
class Images:
    """Images and their classes, as they are in the files.

    Parameters
    ----------
    pixels : Tensor (N, channels, height, width), uint8
        Brightness 0 to 255.
    classes : Tensor (N,), int64
    """

    pixels: Tensor
    classes: Tensor

    def __len__(self) -> int:
        return len(self.classes)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Channels, height and width of one image."""
        channels, height, width = self.pixels.shape[1:]
        return channels, height, width

    def scaled(self, dtype: torch.dtype = torch.float64) -> Tensor:
        """Return the pixels divided by 255, numbers in [0, 1], shape (N, channels, height, width)."""
        return self.pixels.to(dtype) / 255


def read_images(folder: Path, split: Split = "train", *, limit: int | None = None) -> Images:
    """Return the images of one split in a folder.

    Read are ``train-images-idx3-ubyte`` and ``train-labels-idx1-ubyte`` (``t10k-…`` for the test), with or without ``.gz``,
    also with a dot before ``idx``; or ``data_batch_1.bin`` to ``data_batch_5.bin`` (``test_batch.bin``) of the binary version
    of CIFAR-10.

    Parameters
    ----------
    folder : Path
        That of the files themselves.
    split : str
        ``train`` or ``test``.
    limit : int, optional
        Only the first of the images; what comes after them is not read.

    Raises
    ------
    InputError
        Naming the file and the field: files that are missing, damaged or too large, headers that do not fit their file,
        labels that CIFAR-10 does not have.
    """
    if split not in _IDX_PREFIX:
        raise InputError(f"split={split!r}: choose 'train' or 'test'")
    if limit is not None and limit < 1:
        raise InputError(f"limit={limit!r}: at least one image is needed")
    if not folder.is_dir():
        raise InputError(f"{folder}: no such folder; give the one that holds the image files")
    idx = {kind: _idx_path(folder, split, kind) for kind in _IDX_KINDS}
    cifar = [folder / name for name in _CIFAR_FILES[split]]
    has_idx, has_cifar = any(idx.values()), any(path.exists() for path in cifar)
    if has_idx and has_cifar:
        raise InputError(f"{folder}: holds both IDX files and CIFAR-10 batches; keep one kind in each folder")
    if has_cifar:
        pixels, classes = _cifar(cifar, limit)
    elif has_idx:
        found = {}
        for kind, path in idx.items():
            if path is None:
                raise InputError(
                    f"{folder}: {_idx_name(split, kind)}[.gz] is missing beside the other file of the split"
                )
            found[kind] = _idx(path, kind, limit)
        pixels, classes = found["images"][:, None], found["labels"]
        if len(pixels) != len(classes):
            raise InputError(
                f"{folder}: {len(pixels)} images but {len(classes)} labels in the files of the split {split!r}"
            )
    else:
        raise InputError(
            f"{folder}: no images of the split {split!r}; expected {_idx_name(split, 'images')} and "
            f"{_idx_name(split, 'labels')} (with or without .gz), or {', '.join(_CIFAR_FILES[split])}"
        )
    return Images(torch.from_numpy(pixels), torch.from_numpy(classes.astype(np.int64)))


# IDX --------------------------------------------------------------------------------------------------------------------


def _idx_name(split: Split, kind: str) -> str:
    return f"{_IDX_PREFIX[split]}-{kind}-idx{_IDX_KINDS[kind]}-ubyte"


def _idx_path(folder: Path, split: Split, kind: str) -> Path | None:
    name = _idx_name(split, kind)
    names = [base + end for base in (name, name.replace("-idx", ".idx")) for end in ("", ".gz")]
    return next((folder / name for name in names if (folder / name).exists()), None)


def _idx(path: Path, kind: str, limit: int | None) -> Bytes:
    """Return the array of an IDX file: two zero bytes, the type (8: unsigned bytes), the number of axes, their lengths."""
    axes = _IDX_KINDS[kind]
    with _opened(path) as (stream, most):
        header = _exactly(stream, 4 + 4 * axes, path, "header")
        magic = int.from_bytes(header[:4], "big")
        if magic != 0x0800 + axes:
            raise InputError(f"{path}: magic={magic:#010x}: {0x0800 + axes:#010x} is needed for {kind}")
        lengths = [int.from_bytes(header[i : i + 4], "big") for i in range(4, len(header), 4)]
        for name, length, bound in zip(("count", "rows", "columns"), lengths, (_LARGEST, _SIDE, _SIDE), strict=False):
            if not 1 <= length <= bound:
                raise InputError(f"{path}: {name}={length}: 1 to {bound} is needed")
        size = int(np.prod(lengths[1:], dtype=np.int64))
        if lengths[0] * size > most - len(header):
            raise InputError(f"{path}: count={lengths[0]}: {lengths[0] * size} bytes of {kind} cannot be in this file")
        count = lengths[0] if limit is None else min(limit, lengths[0])
        if count * size > _LARGEST:
            raise InputError(f"{path}: count={count}: {count * size} bytes; at most {_LARGEST} are read, set a limit")
        content = _exactly(stream, count * size, path, kind)
        if count == lengths[0] and stream.read(1):
            raise InputError(f"{path}: count={count}: the file goes on after them")
    return np.frombuffer(content, np.uint8).reshape(count, *lengths[1:])


# CIFAR-10 ---------------------------------------------------------------------------------------------------------------


def _cifar(paths: list[Path], limit: int | None) -> tuple[Bytes, Bytes]:
    """Return the rows of the batches: one byte of label, then red, green and blue of 32 × 32 pixels."""
    parts: list[Bytes] = []
    wanted = _LARGEST // _CIFAR_ROW if limit is None else min(limit, _LARGEST // _CIFAR_ROW)
    for path in paths:
        if wanted == 0:
            break
        with _opened(path) as (stream, size):
            if size == 0 or size % _CIFAR_ROW:
                raise InputError(
                    f"{path}: {size} bytes; rows of {_CIFAR_ROW} bytes, a label and 32 × 32 pixels, are needed"
                )
            count = min(wanted, size // _CIFAR_ROW)
            content = _exactly(stream, count * _CIFAR_ROW, path, "rows")
        rows = np.frombuffer(content, np.uint8).reshape(count, _CIFAR_ROW)
        if (bad := np.flatnonzero(rows[:, 0] >= _CIFAR_CLASSES)).size:
            raise InputError(f"{path}: labels[{bad[0]}]={rows[bad[0], 0]}: 0 to {_CIFAR_CLASSES - 1} is needed")
        parts.append(rows)
        wanted -= count
    rows = np.concatenate(parts)
    return rows[:, 1:].reshape(-1, *_CIFAR_SHAPE), rows[:, 0]


# Files ------------------------------------------------------------------------------------------------------------------


@contextmanager
def _opened(path: Path) -> Iterator[tuple[IO[bytes], int]]:
    """Give the content of a regular file, unpacked if its name ends in ``.gz``, and how many bytes it can have at most."""
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{path}: not a regular file")
        if status.st_size > _LARGEST:
            raise InputError(f"{path}: {status.st_size} bytes; at most {_LARGEST} are read")
        if path.suffix == ".gz":
            with gzip.open(path) as packed:
                yield cast(IO[bytes], packed), status.st_size * _DEFLATE
        else:
            with path.open("rb") as plain:
                yield plain, status.st_size
    except (gzip.BadGzipFile, zlib.error, EOFError) as error:
        raise InputError(f"{path}: not a readable gzip file ({error}); copy it again") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read ({error.strerror}); check its name and permissions") from None


def _exactly(stream: IO[bytes], size: int, path: Path, field: str) -> bytearray:
    """Return so many bytes, in memory that may be written to."""
    content = bytearray()
    while len(content) < size:
        part = stream.read(min(size - len(content), 1 << 24))
        if not part:
            raise InputError(f"{path}: {field}: the file ends after {len(content)} of {size} bytes")
        content += part
    return content
