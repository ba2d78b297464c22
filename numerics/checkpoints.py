"""Loading weights into a module, without running code from the file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from torch import nn

from ..core import InputError

__all__ = ["load_checkpoint"]


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
        raise InputError(f"{path}: does not fit the module: {' '.join(str(error).split())}") from None


def _state_dict(path: Path) -> dict[str, torch.Tensor]:
    try:
        state: Any = (
            load_file(path)
            if path.suffix == ".safetensors"
            else torch.load(path, map_location="cpu", weights_only=True)
        )
    except Exception as error:  # damaged files raise whatever their format's parser stumbles over
        first = next(iter(str(error).splitlines()), "")
        raise InputError(f"{path}: not a readable checkpoint ({type(error).__name__}: {first})") from None
    if not isinstance(state, Mapping):
        raise InputError(f"{path}: holds a {type(state).__name__}, not a state dict; save model.state_dict()")
    if odd := [key for key, value in state.items() if not isinstance(value, torch.Tensor)]:
        raise InputError(f"{path}: entry {odd[0]!r} is not a tensor; save model.state_dict() itself")
    return dict(state)
