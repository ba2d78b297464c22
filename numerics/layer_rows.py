"""What the layers of a network see and pass on, as rows: a sample that is the same for all networks of one architecture."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from ..core import InputError
from .masked import MaskedConv2d, partly_fixed_layers

__all__ = ["LayerRows", "layer_rows"]

_MOST_ROWS = 4096  # of a layer; positions of a convolution are rows too
_BATCH = 16  # inputs at once: the patches that a convolution sees are many times its input
_SEED = 0


@dataclass(frozen=True)
class LayerRows:
    """Inputs (rows, n) that a neuron of the layer sees, and pre-activations (rows, m)."""

    inputs: Tensor
    outputs: Tensor


def layer_rows(network: nn.Module, inputs: Tensor) -> tuple[dict[str, LayerRows], dict[str, str]]:
    """Return rows of every Linear and Conv2d layer, by module path, and the layers that have none, with the reason.

    Which rows are taken, about 4096 of each layer, depends on the shapes only.

    Raises
    ------
    InputError
        For inputs that do not fit the network, and activations that are not finite.
    """
    found: dict[str, list[LayerRows]] = {}
    layers = dict(partly_fixed_layers(network))
    left_out = {name: reason for name, part in layers.items() if (reason := _obstacle(part))}
    wanted = math.ceil(_MOST_ROWS * _BATCH / len(inputs))

    def keep(name: str) -> Callable[[nn.Module, tuple[Tensor, ...], Tensor], None]:
        def hook(part: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> None:
            rows, channels = _rows(part, given[0]), _channels(part, output)
            order = torch.randperm(len(rows), generator=torch.Generator().manual_seed(_SEED))[:wanted]
            found.setdefault(name, []).append(LayerRows(rows[order].clone(), channels[order].clone()))

        return hook

    handles = [part.register_forward_hook(keep(name)) for name, part in layers.items() if name not in left_out]
    try:
        for batch in torch.split(inputs, _BATCH):
            network(batch)
    except RuntimeError as error:
        raise InputError(
            f"data: inputs of shape {tuple(inputs.shape)} do not fit the model ({str(error).splitlines()[0]})"
        ) from None
    finally:
        for handle in handles:
            handle.remove()
    rows = {}
    for name in layers:
        if name in found:
            parts = found[name]
            rows[name] = LayerRows(torch.cat([x.inputs for x in parts]), torch.cat([x.outputs for x in parts]))
            if not bool(torch.isfinite(rows[name].inputs).all()):
                raise InputError(f"{name}: activations are not finite; the network diverged")
        elif name not in left_out:
            left_out[name] = "the network does not call it"
    return rows, left_out


def _obstacle(part: nn.Module) -> str:
    if isinstance(part, (nn.Conv2d, MaskedConv2d)):
        if part.groups != 1:
            return f"a convolution with groups={part.groups}"
        if isinstance(part, nn.Conv2d) and part.padding_mode != "zeros":
            return f"a convolution with padding_mode={part.padding_mode!r}"
    return ""


def _rows(part: nn.Module, given: Tensor) -> Tensor:
    """Return what one neuron sees, one row for each sample and position."""
    if isinstance(part, (MaskedConv2d, nn.Conv2d)):
        kernel = tuple(part.weight.shape[2:])
        padding = part.padding
        if isinstance(padding, str):
            # As PyTorch does: what cannot be split evenly goes to the end.
            totals = [d * (k - 1) if padding == "same" else 0 for d, k in zip(part.dilation, kernel, strict=True)]
            given = functional.pad(given, [x for t in reversed(totals) for x in (t // 2, t - t // 2)])
            padding = (0, 0)
        patches = functional.unfold(given, kernel, dilation=part.dilation, padding=padding, stride=part.stride)
        return patches.transpose(1, 2).flatten(0, 1)
    return given.reshape(-1, given.shape[-1])


def _channels(part: nn.Module, output: Tensor) -> Tensor:
    if isinstance(part, (MaskedConv2d, nn.Conv2d)):
        output = output.movedim(1, -1)
    return output.reshape(-1, output.shape[-1])
