"""A module with the rescaled weights of its network, and the checkpoint that holds them."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import save
from torch import nn

from ..core import InputError
from ..graphs.models import ModelNetwork
from .function_change import module_change
from .module_inputs import examples_of

__all__ = ["checkpoint_bytes", "function_change", "with_weights"]


def with_weights(module: nn.Module, network: ModelNetwork, weights: npt.NDArray[np.float64]) -> nn.Module:
    """Return a copy of `module` in double precision whose parameter entries are the `weights` (m,) of its `network`.

    Entries that are no edges keep their value. Parameters that are tied stay tied.

    Examples
    --------
    >>> from .modules import network_of
    >>> module = nn.Sequential(nn.Linear(1, 1, bias=False), nn.ReLU(), nn.Linear(1, 1, bias=False))
    >>> doubled = with_weights(module, network_of(module), np.array([2.0, 3.0]))
    >>> [parameter.item() for parameter in doubled.parameters()]
    [2.0, 3.0]
    """
    changed = copy.deepcopy(module).double()
    with torch.no_grad():
        for i, block in enumerate(network.blocks):
            stop = network.blocks[i + 1].start if i + 1 < len(network.blocks) else network.edge_count
            values = torch.from_numpy(np.ascontiguousarray(weights[block.start : stop]))
            parameter = changed.get_parameter(block.name)
            flat = parameter.flatten()
            if block.entries is None:
                flat = values
            else:
                flat[torch.from_numpy(block.entries)] = values
            parameter.copy_(flat.reshape(parameter.shape))
    return changed


def function_change(before: nn.Module, after: nn.Module) -> float:
    """Return the largest change of an output relative to the largest output, in float64 and in the modules' own mode.

    Raises
    ------
    InputError
        If the module accepts no example input.
    """
    failure: Exception | None = None
    for arguments, keywords in examples_of(before):
        try:
            return module_change(before, after.state_dict(), arguments, keywords)
        except (RuntimeError, ValueError, TypeError, IndexError) as error:  # an input that does not fit, as in tracing
            failure = failure or error
    raise InputError(f"module: it cannot be evaluated on random data ({type(failure).__name__}: {failure})")


def checkpoint_bytes(module: nn.Module) -> bytes:
    """Return the state dict of `module` as the content of a safetensors file.

    Examples
    --------
    >>> import safetensors.torch
    >>> sorted(safetensors.torch.load(checkpoint_bytes(nn.Linear(1, 1))))
    ['bias', 'weight']
    """
    # Tied parameters share memory, which the format refuses; each name gets a copy of its own.
    state: Mapping[str, Any] = {
        name: value.detach().clone().contiguous() for name, value in module.state_dict().items()
    }
    content: bytes = save(dict(state))
    return content
