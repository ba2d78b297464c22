"""How much a network's outputs differ between two sets of weights."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..core import InputError
from ..graphs.network import Network
from .forward import NetworkFunction

__all__ = ["module_change", "network_change"]

_RANDOM = (nn.Dropout, nn.Dropout1d, nn.Dropout2d, nn.Dropout3d, nn.AlphaDropout, nn.FeatureAlphaDropout, nn.RReLU)


def network_change(
    network: Network,
    before: npt.NDArray[np.float64],
    after: npt.NDArray[np.float64],
    *,
    activation: str = "relu",
    samples: int = 64,
    seed: int = 0,
    device: str = "cpu",
) -> float:
    """Return the largest change of an output relative to the largest output, on standard normal data, in float64.

    Parameters
    ----------
    before, after : float arrays, shape (m,)
        Weights.

    Raises
    ------
    InputError
        If the network has a directed cycle.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")])
    >>> network_change(G, np.array([2.0, 1.0]), np.array([1.0, 2.0])), network_change(G, np.ones(2), 2 * np.ones(2))
    (0.0, 3.0)
    """
    generator = torch.Generator().manual_seed(seed)
    data = torch.randn(samples, len(network.inputs), generator=generator, dtype=torch.float64).to(device)
    function = NetworkFunction(network, activation, device)
    with torch.no_grad():
        old, new = (function(torch.from_numpy(weights).to(device), data) for weights in (before, after))
    return _relative([old], [new])


def module_change(
    module: nn.Module, state: Mapping[str, Tensor], arguments: Sequence[Any], keywords: Any = None
) -> float:
    """Return the largest change of an output relative to the largest output, in float64, when `state` is loaded.

    The module itself stays as it is. It is evaluated in its own mode, but without dropout, and with standard normal data in
    place of the floating point tensors among its arguments.

    Raises
    ------
    InputError
        If it returns no floating point tensor.

    Examples
    --------
    >>> module = nn.Linear(2, 1)
    >>> module_change(module, module.state_dict(), [torch.zeros(3, 2)])
    0.0
    """
    generator = torch.Generator().manual_seed(0)

    def drawn(value: Any) -> Any:
        if isinstance(value, Tensor) and value.is_floating_point():
            return torch.randn(value.shape, generator=generator, dtype=torch.float64)
        return value

    data = [drawn(value) for value in arguments]
    options = {key: drawn(value) for key, value in (keywords or {}).items()}
    old_module = copy.deepcopy(module).double()
    for part in old_module.modules():
        if isinstance(part, _RANDOM):
            part.eval()
    new_module = copy.deepcopy(old_module)
    new_module.load_state_dict(dict(state))
    with torch.no_grad():
        old, new = (list(_tensors(part(*data, **options))) for part in (old_module, new_module))
    if not old:
        raise InputError("module: it returns no floating point tensor, so its outputs cannot be compared")
    return _relative(old, new)


def _tensors(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.is_floating_point():
            yield value
    elif isinstance(value, Mapping):
        for part in value.values():
            yield from _tensors(part)
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from _tensors(part)


def _relative(old: Sequence[Tensor], new: Sequence[Tensor]) -> float:
    largest = max((float(part.abs().max()) for part in old if part.numel()), default=0.0)
    change = max((float((a - b).abs().max()) for a, b in zip(old, new, strict=True) if a.numel()), default=0.0)
    return change / largest if largest else change
