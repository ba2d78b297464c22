"""Samples to train on, from a file of arrays."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile, ZipFile

from .core import InputError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["read_training_data"]

_LARGEST_DATA = 2 << 30


def read_training_data(path: Path) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Return the arrays x and y of an ``.npz`` file, which is never unpickled: float64, and float64 or int64 classes.

    Raises
    ------
    InputError
        Naming the file and the array.
    """
    import numpy as np

    from .npz import array_in

    if not path.is_file():
        raise InputError(f"{path}: no such file; the data are an .npz file with arrays x and y")
    try:
        with ZipFile(path) as archive:
            members = {member.filename: member for member in archive.infolist()}
            if missing := [key for key in ("x", "y") if f"{key}.npy" not in members]:
                raise InputError(f"{path}: no array {missing[0]!r}; an .npz file with arrays x and y is needed")
            if (size := sum(members[f"{key}.npy"].file_size for key in ("x", "y"))) > _LARGEST_DATA:
                raise InputError(f"{path}: x and y have {size} bytes; at most {_LARGEST_DATA} are read")
            x, y = (array_in(archive, members[f"{key}.npy"], f"{path}: {key}") for key in ("x", "y"))
    except (BadZipFile, OSError, NotImplementedError) as error:
        raise InputError(f"{path}: not an .npz file with arrays x and y ({type(error).__name__}: {error})") from None
    if x.dtype.kind not in "fiu" or x.ndim < 2 or len(x) == 0:
        raise InputError(f"{path}: x has shape {x.shape} and type {x.dtype}; samples as rows of numbers are needed")
    if y.dtype.kind not in "fiu" or y.ndim < 1:
        raise InputError(
            f"{path}: y has shape {y.shape} and type {y.dtype}; a class or numbers for each sample are needed"
        )
    return x.astype(np.float64), y.astype(np.float64 if y.dtype.kind == "f" else np.int64)
