"""Loading weights into a module, without running code from the file."""

from __future__ import annotations

import os
import pickletools
import warnings
from collections.abc import Collection, Mapping
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, BinaryIO
from zipfile import ZipFile

import torch
from safetensors.torch import load_file
from torch import nn

from ..core import InputError

__all__ = ["load_checkpoint", "load_tensors"]

# PyTorch searches its messages in time quadratic in the names of the classes that it refuses.
_LONGEST_NAME = 1000
# What DataParallel and DistributedDataParallel put before the names of the entries.
_WRAPPED = "module."


def load_checkpoint(module: nn.Module, path: Path) -> None:
    """Load the state dict in `path` (``.safetensors``, else ``torch.save``) into `module`, every key or none.

    Parameters take the dtype of the file, so that its values arrive without rounding.

    Raises
    ------
    InputError
        Naming the file: missing, damaged, not a plain state dict, or keys and shapes that do not fit.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file; the checkpoint is a state dict saved by torch.save or safetensors")
    state = _state_dict(path)
    with torch.no_grad():
        for name, parameter in module.named_parameters():
            # Casting in place rather than assigning tensors: parameters that the module ties stay tied.
            if name in state and state[name].is_floating_point():
                parameter.data = parameter.data.to(state[name].dtype)
    try:
        module.load_state_dict(state, strict=True)
    except RuntimeError as error:
        why = _misfit(module.state_dict().keys(), state.keys()) or " ".join(str(error).split())
        raise InputError(f"{path}: does not fit the module: {why}") from None


def _misfit(needed: Collection[str], given: Collection[str]) -> str:
    """Return in what the names of the entries differ, and what to do about it; empty if they are the same."""
    missing, unknown = ([key for key in one if key not in other] for one, other in ((needed, given), (given, needed)))
    parts = [
        f"{len(keys)} {kind} ({keys[0]!r}{', …' if keys[1:] else ''})"
        for keys, kind in ((missing, "missing"), (unknown, "unknown"))
        if keys
    ]
    if parts and {key.removeprefix(_WRAPPED) for key in given} == set(needed):
        parts.append(f"remove {_WRAPPED!r} from the names, or save the state dict of the module that is wrapped")
    return "entries " + ", ".join(parts) if parts else ""


def load_tensors(data: Path | BinaryIO) -> Any:
    """Return what `torch.save` (1.6 or later) has written, tensors on the CPU, without running code from the file.

    Raises
    ------
    ValueError
        For another format, for entries that are larger than the file (`torch.save` does not compress), and for classes
        with endless names.
    Exception
        Whatever else damaged files make PyTorch raise.
    """
    with ZipFile(data) as archive:
        packed = any(member.compress_size != member.file_size for member in archive.infolist())
        size = sum(member.file_size for member in archive.infolist())
        stream = archive.fp
        assert stream is not None  # the archive is open
        if packed or size > stream.seek(0, os.SEEK_END):
            raise ValueError("its entries are compressed, which torch.save never does")
        for pickled in (name for name in archive.namelist() if name.endswith("data.pkl")):
            for opcode, argument, _ in pickletools.genops(archive.read(pickled)):
                if opcode.name == "GLOBAL" and isinstance(argument, str) and len(argument) > _LONGEST_NAME:
                    raise ValueError(f"it names a class in {len(argument)} characters")
    if not isinstance(data, Path):
        data.seek(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about pickles of other protocols, which concern the writer of the file
        return torch.load(data, map_location="cpu", weights_only=True)


def _state_dict(path: Path) -> dict[str, torch.Tensor]:
    try:
        state: Any = load_file(path) if path.suffix == ".safetensors" else load_tensors(path)
    except MemoryError:
        raise
    except UnpicklingError:  # its message recommends to load the file with code
        raise InputError(
            f"{path}: holds other objects than tensors, which are not unpickled; save model.state_dict(), not the model"
        ) from None
    except Exception as error:  # damaged files raise whatever their format's parser stumbles over
        first = next(iter(str(error).splitlines()), "")
        raise InputError(f"{path}: not a readable checkpoint ({type(error).__name__}: {first})") from None
    if not isinstance(state, Mapping):
        raise InputError(f"{path}: holds a {type(state).__name__}, not a state dict; save model.state_dict()")
    if odd := [key for key, value in state.items() if not isinstance(value, torch.Tensor)]:
        raise InputError(f"{path}: entry {odd[0]!r} is not a tensor; save model.state_dict() itself")
    return dict(state)
