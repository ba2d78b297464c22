"""Networks in ``.npz`` archives: one array per field, for graphs too large for text."""

from __future__ import annotations

import io
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from .core import InputError
from .graphs.network import Network
from .network_files import refuse_unknown
from .npz import array_in

__all__ = ["network_from_npz", "network_to_npz"]

_FIELDS = ("tail", "head", "weight", "inputs", "outputs", "balance", "names")
_LARGEST = 2 << 30


def network_from_npz(path: Path) -> Network:
    """Return the network in `path`: arrays `tail`, `head` (m,) of node numbers, and optional others.

    `weight` (m,) floats; `inputs`, `outputs` node numbers; `names` (n,) texts; `balance` (n,) numbers, 0 on terminals. A
    weight or balance is the exact value of the number stored.

    Raises
    ------
    InputError
        Naming the array: missing, unknown, of another type or shape, larger than its archive says, or pickled.
    """
    arrays = _arrays(path)
    for field in ("tail", "head"):
        if field not in arrays:
            raise InputError(f"{field}: missing; the archive holds {', '.join(arrays) or 'nothing'}")
    names = _names(arrays["names"]) if "names" in arrays else None
    balance = arrays.get("balance")
    count = _node_count(arrays, names, balance)
    weight = arrays.get("weight")
    if weight is not None and not _is_double(weight.dtype):
        raise InputError(f"weight: dtype={weight.dtype}; a float16, float32 or float64 array is needed")
    if weight is not None and balance is not None:
        raise InputError("balance: given beside weights, which already define it; leave one of them out")
    if balance is not None and names is None:
        names = tuple(map(str, range(max(count, balance.size))))
    network = Network.from_arrays(
        arrays["tail"],
        arrays["head"],
        inputs=arrays.get("inputs"),
        outputs=arrays.get("outputs"),
        weights=weight,
        names=names,
    )
    return network if balance is None else network.with_balance(_balance(balance, network))


def network_to_npz(network: Network) -> bytes:
    """Return the content of an archive that `network_from_npz` reads as this network, with its weights as doubles.

    Raises
    ------
    InputError
        If the network has no weights.
    """
    if network.weights is None:
        raise InputError("weight: the network has none; only networks with weights are written as .npz")
    content = io.BytesIO()
    np.savez(
        content,
        tail=network.tail,
        head=network.head,
        weight=np.array([float(w) for w in network.weights]),
        inputs=network.inputs,
        outputs=network.outputs,
        names=np.array(network.names, dtype=str),
    )
    return content.getvalue()


def _is_double(dtype: np.dtype[Any]) -> bool:
    """Return whether doubles hold every number of this type."""
    return dtype.kind == "f" and dtype.itemsize <= 8


def _balance(values: npt.NDArray[Any], network: Network) -> dict[str, Any]:
    if values.shape != (network.node_count,) or not (values.dtype.kind in "iu" or _is_double(values.dtype)):
        raise InputError(
            f"balance: {values.dtype} {values.shape}; one integer or float per node is needed, shape ({network.node_count},)"
        )
    # Written so that a NaN on a terminal is refused as well.
    if (odd := np.flatnonzero(~network.hidden & ~(values == 0))).size:
        v = int(odd[0])
        raise InputError(
            f"balance[{v}]={values[v]}: node {network.names[v]!r} is an input or output, which has none; write 0"
        )
    numbers = values.tolist()
    return {network.names[v]: numbers[v] for v in network.hidden_nodes}


def _names(array: npt.NDArray[Any]) -> tuple[str, ...]:
    if array.dtype.kind != "U" or array.ndim != 1:
        raise InputError(f"names: {array.dtype} {array.shape}; a one-dimensional array of texts is needed")
    return tuple(array.tolist())


def _node_count(
    arrays: dict[str, npt.NDArray[Any]], names: tuple[str, ...] | None, balance: npt.NDArray[Any] | None
) -> int:
    """Return one more than the largest node number; a stray one, which would claim memory for all below it, is refused."""
    numbers = {field: arrays[field] for field in ("tail", "head", "inputs", "outputs") if field in arrays}
    most = sum(array.size for array in numbers.values())
    most = max(most, len(names or ()), 0 if balance is None else balance.size)
    count = 0
    for field, array in numbers.items():
        if array.size and array.dtype.kind in "iu":
            count = max(count, int(array.max()) + 1)
            if count > most:
                raise InputError(
                    f"{field}: node number {count - 1}; nodes are numbered from 0, here to at most {most - 1}"
                )
    return count


def _arrays(path: Path) -> dict[str, npt.NDArray[Any]]:
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            size = sum(member.file_size for member in members)
            if size > _LARGEST:
                raise InputError(f"{size} bytes when unpacked: at most {_LARGEST >> 30} GiB are read")
            fields = [member.filename.removesuffix(".npy") for member in members]
            refuse_unknown(fields, _FIELDS, "array ")
            if len(set(fields)) < len(fields):
                raise InputError(f"arrays {', '.join(fields)}: one occurs twice")
            return {
                field: array_in(archive, member, f"array {field}")
                for field, member in zip(fields, members, strict=True)
            }
    except (
        zipfile.BadZipFile,
        zipfile.LargeZipFile,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
        zlib.error,
    ) as error:
        raise InputError(f"not a readable .npz archive: {error}") from None
