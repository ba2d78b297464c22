"""One array of an ``.npz`` archive: never unpickled, and never larger than the archive says.

Python's `zipfile` unpacks up to two gigabytes (or everything, with bzip2 and LZMA) before it compares with the size that the
archive declares, if the whole member is asked for. Here the declared size is asked for, and only of the two methods that
`numpy.savez` and `numpy.savez_compressed` use.
"""

from __future__ import annotations

import io
import math
import sys
import warnings
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

import numpy as np
import numpy.typing as npt

from .core import InputError

__all__ = ["array_in"]

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def array_in(archive: ZipFile, member: ZipInfo, where: str) -> npt.NDArray[Any]:
    """Return the array that `member`, an ``.npy`` file, holds. The caller bounds ``member.file_size``.

    Raises
    ------
    InputError
        Starting with `where`: Python objects, another compression, a header that declares another size, a damaged member.
    """
    if member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        raise InputError(f"{where}: compressed by method {member.compress_type}; save it with numpy.savez")
    try:
        with archive.open(member) as stream:
            content = stream.read(member.file_size)
        data = io.BytesIO(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # NumPy's about headers of Python 2, which quote our source
            shape, is_fortran, dtype = _HEADERS[np.lib.format.read_magic(data)](data)
    except MemoryError:
        raise
    # The readers raise nearly everything on a damaged file: NumPy parses its header as a literal of Python.
    except Exception as error:
        raise InputError(f"{where}: not a NumPy array ({type(error).__name__}); save it again") from None
    if dtype.hasobject:
        raise InputError(f"{where}: holds Python objects, which are not unpickled; save numbers or texts")
    start = data.tell()
    # The shape is only believed now, so that a header cannot make us allocate more than the file holds.
    if any(length < 0 for length in shape) or math.prod(shape) * dtype.itemsize != len(content) - start:
        raise InputError(f"{where}: its header declares shape {shape}, which is not what the archive holds")
    if dtype.itemsize == 0:
        raise InputError(f"{where}: entries of type {dtype}, which hold nothing; save numbers or texts")
    if dtype.kind == "U" and (np.frombuffer(content, dtype.byteorder + "u4", offset=start) > sys.maxunicode).any():
        raise InputError(f"{where}: texts with characters that do not exist; save it again")
    return np.frombuffer(content, dtype, offset=start).reshape(shape, order="F" if is_fortran else "C")
