"""Example inputs of a module: given, declared by the module, or guessed from its first layer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeAlias

import torch
from torch import nn

from ..core import InputError

__all__ = ["Example", "examples_of"]

Example: TypeAlias = "tuple[tuple[Any, ...], dict[str, Any]]"

# Two samples, so that an operation that mixes the batch into the features does not fit the layers behind it.
_BATCH = 2
_TOKENS = 8
# Convolutions do not say what size of image they expect; most networks take any, others one of these.
_SIZES = (32, 224, 28, 64, 16, 8, 48, 96, 128, 256, 299, 384, 512)


def examples_of(module: nn.Module, inputs: Any = None) -> Iterator[Example]:
    """Yield positional and keyword arguments to try, the likeliest first.

    Parameters
    ----------
    inputs : tensor, tuple or mapping, optional
        What to call the module with. If left out: the attribute ``example_input_array`` or ``dummy_inputs`` of the module,
        else zeros that fit its first layer.

    Raises
    ------
    InputError
        If nothing is declared and the first layer does not tell.
    """
    for given in (inputs, getattr(module, "example_input_array", None), getattr(module, "dummy_inputs", None)):
        if given is not None:
            yield _arguments(given)
            return
    for part in module.modules():
        if (guesses := _guesses(part)) is not None:
            yield from (((guess,), {}) for guess in guesses)
            return
    raise InputError(
        "module: no layer tells the shape of its input; set module.example_input_array to a tensor (or tuple) to call it with"
    )


def _arguments(given: Any) -> Example:
    if isinstance(given, Mapping):
        return (), dict(given)
    return (tuple(given), {}) if isinstance(given, (tuple, list)) else ((given,), {})


def _guesses(part: nn.Module) -> list[torch.Tensor] | None:
    """Return inputs for a layer, or None if it says nothing about them."""
    dtype = next((parameter.dtype for parameter in part.parameters(recurse=False)), torch.get_default_dtype())
    if isinstance(part, nn.Linear):
        return [torch.zeros(_BATCH, part.in_features, dtype=dtype)]
    if isinstance(part, nn.Embedding):
        return [torch.zeros(_BATCH, _TOKENS, dtype=torch.int64)]
    if isinstance(part, nn.RNNBase):
        return [torch.zeros(_BATCH, _TOKENS, part.input_size, dtype=dtype)]
    if isinstance(part, (nn.LayerNorm, nn.RMSNorm)):
        return [torch.zeros(_BATCH, *part.normalized_shape, dtype=dtype)]
    if isinstance(part, (nn.Conv1d, nn.Conv2d, nn.Conv3d)):
        rank = len(part.kernel_size)
        sizes = _SIZES if rank < 3 else _SIZES[:1]
        return [torch.zeros(_BATCH, part.in_channels, *[size] * rank, dtype=dtype) for size in sizes]
    return None
