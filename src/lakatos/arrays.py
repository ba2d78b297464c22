"""Arrays of exact numbers, written in an instance file or read from a file of arrays beside it.

A file is data of strangers: its size is checked before it is read, what it unpacks to before it is unpacked, and nothing
in it is ever unpickled into objects.
"""

from __future__ import annotations

import difflib
import hashlib
import io
import stat
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal, TypeAlias
from zipfile import BadZipFile, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

from .core import InputError
from .exact import exact
from .npz import array_in

__all__ = ["Array", "ArrayFolder", "Nested", "array_of_lists", "array_of_numpy", "nearest", "read_bytes"]

Nested: TypeAlias = "tuple[Nested | Fraction, ...]"

_MIB = 1 << 20
_LARGEST_FILE = 256 * _MIB
_MOST_ENTRIES = _LARGEST_FILE // 8  # as many float64 fit into the largest file
_DEEPEST = 8
_FLOAT64_INTEGERS = 1 << 53  # integers up to here are exact in float64


@dataclass(frozen=True, eq=False, repr=False)
class Array:
    """A rectangular array of exact numbers. Two arrays are equal if their shapes and numbers are.

    Parameters
    ----------
    shape : tuple of int
        At least one axis; no axis is empty.
    entries : tuple of Fraction, or float64 array of shape (size,)
        In row-major order. Fractions were written as such; floats came from a file and stand for their exact dyadic value.
    """

    shape: tuple[int, ...]
    entries: tuple[Fraction, ...] | npt.NDArray[np.float64]

    @property
    def origin(self) -> Literal["rational", "dyadic"]:
        """Which numbers these are: written as rationals, or binary floating point."""
        return "dyadic" if isinstance(self.entries, np.ndarray) else "rational"

    def to_numpy(self) -> npt.NDArray[np.float64]:
        """Return a new float64 array, shape `shape`: each entry rounded to the nearest float."""
        entries = self.entries if isinstance(self.entries, np.ndarray) else [float(x) for x in self.entries]
        return np.array(entries, np.float64).reshape(self.shape)

    def fractions(self) -> Nested:
        """Return the exact entries as tuples, nested as deep as the array has axes."""
        level: Sequence[Any] = [Fraction(x) for x in self.entries]
        for length in reversed(self.shape):
            level = [tuple(level[i : i + length]) for i in range(0, len(level), length)]
        nested: Nested = level[0]
        return nested

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array) or self.shape != other.shape:
            return False
        if isinstance(self.entries, np.ndarray) and isinstance(other.entries, np.ndarray):
            return bool(np.array_equal(self.entries, other.entries))
        return self.fractions() == other.fractions()

    def __hash__(self) -> int:
        return hash((self.shape, (self.to_numpy() + 0.0).tobytes()))  # + 0.0 turns -0.0, which equals 0.0, into it

    def __repr__(self) -> str:
        return f"Array(shape={self.shape}, origin={self.origin!r})"


def array_of_lists(rows: Sequence[Any], field: str) -> Array:
    """Return the array with these entries (numbers as `exact` reads them), nested in lists of equal lengths.

    Raises
    ------
    InputError
        Naming `field` and the index: ragged or empty lists, anything but finite numbers, numbers beyond float64.

    Examples
    --------
    >>> array_of_lists([["1/3", 1], [0.5, -2]], "F").fractions()
    ((Fraction(1, 3), Fraction(1, 1)), (Fraction(1, 2), Fraction(-2, 1)))
    """
    shape: list[int] = []
    first: Any = rows
    while _is_list(first):
        shape.append(len(first))
        if len(first) == 0 or len(shape) > _DEEPEST:
            raise InputError(
                f"{field}: arrays have one to {_DEEPEST} axes and no empty one; here lengths are {shape!r}"
            )
        first = first[0]
    entries: list[Fraction] = []

    def walk(value: Any, depth: int, where: str) -> None:
        if depth == len(shape):
            if _is_list(value):
                raise InputError(f"{where}: a list, but other entries are numbers; lists must be nested equally deep")
            entries.append(_within_float64(exact(value, where), where))
        elif not _is_list(value) or len(value) != shape[depth]:
            found = f"{len(value)} entries" if _is_list(value) else "a single value"
            raise InputError(f"{where}: {found} where {shape[depth]} are needed; the array has shape {tuple(shape)!r}")
        else:
            for i, item in enumerate(value):
                walk(item, depth + 1, f"{where}[{i}]")

    walk(rows, 0, field)
    return Array(tuple(shape), tuple(entries))


def array_of_numpy(values: npt.NDArray[Any], field: str) -> Array:
    """Return the array with the exact dyadic values of a floating-point (up to 64 bits) or integer NumPy array.

    Raises
    ------
    InputError
        Naming `field` and the index: NaN, infinity, integers beyond 2⁵³, other types, empty arrays, scalars.
    """
    if values.dtype.kind not in "fiu" or values.dtype.itemsize > 8:
        raise InputError(f"{field}: entries of type {values.dtype}; float16, float32, float64 and integers are read")
    if values.ndim == 0 or values.ndim > _DEEPEST or not 0 < values.size <= _MOST_ENTRIES:
        raise InputError(
            f"{field}: shape {values.shape}; arrays have one to {_DEEPEST} axes and 1 to {_MOST_ENTRIES} entries"
        )
    if values.dtype.kind == "f":
        valid, need = np.isfinite(values), "entries must be finite"
    else:
        valid = (values <= _FLOAT64_INTEGERS) & (values >= -_FLOAT64_INTEGERS)
        need = "integers beyond ±2^53 are not exact in float64; write them into the instance file"
    if not valid.all():
        index = tuple(int(i) for i in np.argwhere(~valid)[0])
        raise InputError(f"{field}{list(index)}={values[index].item()!r}: {need}")
    entries = values.astype(np.float64).reshape(-1)
    entries.flags.writeable = False
    return Array(values.shape, entries)


@dataclass
class ArrayFolder:
    """The files of arrays that one instance may read: those in its folder, none if the folder is None.

    Parameters
    ----------
    folder : Path or None
        Where the instance file lies.
    hashes : dict
        SHA-256 of every file read so far, by its name as the instance writes it.
    """

    folder: Path | None
    hashes: dict[str, str] = field(default_factory=dict)
    _contents: dict[str, bytes] = field(default_factory=dict, repr=False)

    def read(self, file: str, key: str, field: str) -> Array:
        """Return the array called `key` in ``.npz``, ``.safetensors`` or ``.pt`` file `file`.

        Raises
        ------
        InputError
            Naming `field`, file and key: a file outside the folder or too large, a missing key, anything but finite numbers.
        """
        decode = _DECODERS.get(Path(file).suffix)
        if decode is None:
            raise InputError(f"{field}.file={file!r}: unknown format; files end in {', '.join(_DECODERS)}")
        where = f"{field}: {file}"
        try:
            values = decode(self._read(file, field), key, where)
        except InputError:
            raise
        # The formats' own readers raise nearly everything on a damaged file; what they say may quote its contents.
        except Exception as error:
            raise InputError(
                f"{where}: damaged or unsafe, its reader refused it ({type(error).__name__}); write the file again"
            ) from None
        return array_of_numpy(values, f"{where}[{key!r}]")

    def _read(self, file: str, field: str) -> bytes:
        if file not in self._contents:
            if self.folder is None:
                raise InputError(f"{field}.file={file!r}: there is no folder to read it from; pass the array itself")
            try:
                folder = self.folder.resolve()
                path = (folder / file).resolve()
            except (OSError, ValueError, RuntimeError):  # links in a circle, names that no file can have
                raise InputError(f"{field}.file={file!r}: no such file beside the instance file") from None
            if not path.is_relative_to(folder):
                raise InputError(f"{field}.file={file!r}: outside the folder of the instance file; copy it there")
            room = _LARGEST_FILE - sum(map(len, self._contents.values()))
            data = read_bytes(path, room, f"{field}.file={file!r}")
            self._contents[file] = data
            self.hashes[file] = hashlib.sha256(data).hexdigest()
        return self._contents[file]


def read_bytes(path: Path, limit: int, where: str) -> bytes:
    """Return the content of a regular file of at most `limit` bytes.

    Raises
    ------
    InputError
        Starting with `where`; nothing is read from a file that is too large, a folder or a device.
    """
    try:
        status = path.stat()
        if not stat.S_ISREG(status.st_mode):
            raise InputError(f"{where}: not a regular file")
        if status.st_size > limit:
            raise InputError(f"{where}: {status.st_size} bytes; at most {limit} are read")
        with path.open("rb") as stream:
            return stream.read(status.st_size)  # Python allocates what is asked for
    except OSError as error:
        raise InputError(f"{where}: cannot be read ({error.strerror}); check its name and permissions") from None


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return what to do about an unknown name: the nearest valid one, and some that there are."""
    known = list(valid)
    close = difflib.get_close_matches(name, known, n=1)
    shown = ", ".join(map(repr, known[:20])) + (", …" if len(known) > 20 else "")
    return (f"did you mean {close[0]!r}? " if close else "") + (f"valid are {shown}" if known else "there are none")


def _is_list(value: Any) -> bool:
    return isinstance(value, (list, tuple))


def _within_float64(value: Fraction, where: str) -> Fraction:
    try:
        float(value)
    except OverflowError:
        raise InputError(f"{where}: beyond the range of float64, in which arrays are measured") from None
    return value


def _missing(key: str, keys: Iterable[str], where: str) -> InputError:
    return InputError(f"{where}: no array key={key!r}; {nearest(key, keys)}")


def _check_unpacked(members: Iterable[ZipInfo], where: str) -> None:
    if (size := sum(member.file_size for member in members)) > _LARGEST_FILE:
        raise InputError(f"{where}: unpacks to {size} bytes; at most {_LARGEST_FILE} are read")


def _npz(data: bytes, key: str, where: str) -> npt.NDArray[Any]:
    with ZipFile(io.BytesIO(data)) as archive:
        names = archive.namelist()
        if f"{key}.npy" not in names:
            raise _missing(key, [name.removesuffix(".npy") for name in names], where)
        member = archive.getinfo(f"{key}.npy")
        _check_unpacked([member], where)
        return array_in(archive, member, f"{where}[{key!r}]")


_SAFETENSORS_DTYPES = {
    **{f"F{bits}": f"<f{bits // 8}" for bits in (16, 32, 64)},
    **{f"I{bits}": f"<i{bits // 8}" for bits in (8, 16, 32, 64)},
    **{f"U{bits}": f"<u{bits // 8}" for bits in (8, 16, 32, 64)},
    "BF16": "<u2",
}


def _safetensors(data: bytes, key: str, where: str) -> npt.NDArray[Any]:
    from safetensors import deserialize

    tensors = dict(deserialize(data))  # type: ignore[no-untyped-call]
    if key not in tensors:
        raise _missing(key, sorted(tensors), where)
    tensor = tensors[key]
    if tensor["dtype"] not in _SAFETENSORS_DTYPES:
        raise InputError(
            f"{where}[{key!r}]: entries of type {tensor['dtype']}; {', '.join(_SAFETENSORS_DTYPES)} are read"
        )
    values: npt.NDArray[Any] = np.frombuffer(tensor["data"], _SAFETENSORS_DTYPES[tensor["dtype"]])
    if tensor["dtype"] == "BF16":  # the upper half of a float32
        values = (values.astype(np.uint32) << 16).view(np.float32)
    return values.reshape(tensor["shape"])


def _torch(data: bytes, key: str, where: str) -> npt.NDArray[Any]:
    from .numerics.checkpoints import load_tensors

    try:
        tensors = load_tensors(io.BytesIO(data))
    except BadZipFile:
        raise InputError(f"{where}: not a file that torch.save of torch 1.6 or later writes; save it again") from None
    import torch

    if not isinstance(tensors, dict):
        raise InputError(
            f"{where}: holds a {type(tensors).__name__}; save a dictionary of tensors, such as a state dict"
        )
    if key not in tensors:
        raise _missing(key, map(str, tensors), where)
    tensor = tensors[key]
    if not isinstance(tensor, torch.Tensor) or tensor.layout is not torch.strided or tensor.is_quantized:
        raise InputError(f"{where}[{key!r}]: not a dense tensor; save plain tensors")
    if tensor.numel() > _MOST_ENTRIES:  # a tensor that repeats one entry can be larger than its file
        raise InputError(f"{where}[{key!r}]: {tensor.numel()} entries; at most {_MOST_ENTRIES} are read")
    tensor = tensor.detach()
    values: npt.NDArray[Any] = (tensor.double() if tensor.is_floating_point() else tensor).numpy()
    return values


_DECODERS: dict[str, Callable[[bytes, str, str], npt.NDArray[Any]]] = {
    ".npz": _npz,
    ".safetensors": _safetensors,
    ".pt": _torch,
}
