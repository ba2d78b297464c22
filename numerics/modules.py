"""The network graph of a PyTorch module.

A unit of a linear layer is a node, every scalar weight is an edge, and a bias is an edge from a terminal (rules R1-R3 of the
conversion: positively homogeneous activations keep a unit's scale, so they add nothing to the graph).
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

from ..core import InputError
from ..graphs.network import IntArray, Network, balance_of_weights

__all__ = ["ModuleNetwork", "ParameterBlock", "network_of"]

_NEUTRAL = (nn.ReLU, nn.LeakyReLU, nn.Dropout, nn.Flatten, nn.Identity)
_NOT_HOMOGENEOUS = (
    *(nn.GELU, nn.SiLU, nn.Mish, nn.ELU, nn.SELU, nn.CELU, nn.Softplus, nn.Tanh, nn.Sigmoid),
    *(nn.Softmax, nn.LogSoftmax, nn.Hardtanh, nn.ReLU6, nn.Hardswish, nn.Hardsigmoid),
)
_SUPPORTED = ", ".join(kind.__name__ for kind in (nn.Sequential, nn.Linear, *_NEUTRAL))
_DTYPES = (torch.float16, torch.bfloat16, torch.float32, torch.float64)


@dataclass(frozen=True)
class ParameterBlock:
    """Consecutive edges, from edge `start`, that are the entries of one parameter.

    `shape` is the parameter's: (out, in) of a weight, whose entries are listed column by column, or (out,) of a bias.
    """

    name: str
    start: int
    shape: tuple[int, ...]

    def entry(self, e: int) -> str:
        """Return the entry that edge `e` of this block is, e.g. ``2.weight[0, 7]``."""
        column, row = divmod(e - self.start, self.shape[0])
        return f"{self.name}[{row}, {column}]" if len(self.shape) == 2 else f"{self.name}[{row}]"


@dataclass(frozen=True, eq=False, repr=False)
class ModuleNetwork(Network):
    """The network of a module, which remembers the parameter behind every edge."""

    blocks: tuple[ParameterBlock, ...] = ()

    def parameter(self, e: int) -> str:
        """Return the parameter entry that edge `e` is, e.g. ``2.weight[0, 7]``."""
        return self.blocks[bisect_right(self.blocks, e, key=lambda block: block.start) - 1].entry(e)

    def describe_edge(self, e: int) -> str:
        """Return ``tail→head`` by names, followed by the parameter entry."""
        return f"{super().describe_edge(e)} ({self.parameter(e)})"


def network_of(module: nn.Module) -> ModuleNetwork:
    """Return the network of `module`, with its current weights.

    Nodes are called ``x0…``, ``h1.0…`` (layer, unit) and ``y0…``, the bias source of layer i ``b{i}``. Edges are ordered by
    layer, then tail, then head; the biases of a layer follow its weights. Weights keep their exact (dyadic) value, and
    `Network.rounding` is that of the coarsest dtype among the parameters.

    Raises
    ------
    InputError
        Naming the module path: an unsupported operation, widths that do not fit, tied, fixed, missing or non-finite weights.

    Examples
    --------
    >>> network = network_of(nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)))
    >>> network, network.describe_edge(4)
    (Network(nodes=8, edges=13, hidden=3), 'x1→h1.1 (0.weight[1, 1])')
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"module={module!r}: a torch.nn.Module is needed, got {type(module).__name__}")
    layers = list(_linears(module))
    if not layers:
        raise InputError("module: it has no Linear layer, hence no weights and no graph")
    _require_separate_parameters(layers)
    for (path, layer), (next_path, following) in pairwise(layers):
        if layer.out_features != following.in_features:
            raise InputError(
                f"module {next_path}: in_features={following.in_features}, but the layer before it ({path}) has "
                f"out_features={layer.out_features}; positions flattened into features share weights and are not supported"
            )
    sizes = [layers[0][1].in_features, *(layer.out_features for _, layer in layers)]
    return _assemble(layers, sizes)


def _linears(module: nn.Module) -> Iterator[tuple[str, nn.Linear]]:
    # A Sequential runs its children in the order listed; a child that occurs twice runs twice.
    for path, part in module.named_modules(remove_duplicate=False):
        name = f"module {path}" if path else "module"
        if part._forward_hooks or part._forward_pre_hooks or "forward" in vars(part):
            raise InputError(
                f"{name}: its forward pass is modified (a hook, pruning or weight normalization), so its weights are not "
                "the ones it computes with; make the modification permanent first"
            )
        if isinstance(part, nn.Sequential) and type(part).forward is nn.Sequential.forward:
            continue
        # Exact types: a subclass may compute anything.
        if type(part) is nn.Linear:
            yield path, part
        elif isinstance(part, _NOT_HOMOGENEOUS):
            raise InputError(
                f"{name}: {type(part).__name__} is not positively homogeneous, so gradient flow conserves no balance at its "
                f"neurons; supported are {_SUPPORTED} (a last activation can be moved into the loss)"
            )
        elif type(part) not in _NEUTRAL:
            raise InputError(f"{name}: {_type_name(part)} is not supported; supported are {_SUPPORTED}")
        elif isinstance(part, nn.Flatten) and part.start_dim < 1:
            raise InputError(f"{name}: Flatten(start_dim={part.start_dim}) merges the batch into the features; use 1")


def _type_name(part: nn.Module) -> str:
    kind = type(part)
    return kind.__name__ if kind.__module__.startswith("torch.") else f"{kind.__module__}.{kind.__qualname__}"


def _parameters(layers: list[tuple[str, nn.Linear]]) -> Iterator[tuple[str, nn.Parameter]]:
    for path, layer in layers:
        for name, parameter in layer.named_parameters():
            yield f"{path}.{name}" if path else name, parameter


def _require_separate_parameters(layers: list[tuple[str, nn.Linear]]) -> None:
    seen: dict[tuple[torch.device, int], str] = {}
    for name, parameter in _parameters(layers):
        if parameter.is_meta or parameter.dtype not in _DTYPES:
            kinds = ", ".join(str(dtype) for dtype in _DTYPES)
            raise InputError(
                f"{name}: {parameter.dtype} on device {parameter.device}; weights have to be {kinds}, in memory"
            )
        if not parameter.requires_grad:
            raise InputError(
                f"{name}: requires_grad=False; a weight that is not trained joins the scales of its two ends, which is not "
                "supported; call requires_grad_(True) if it is trained"
            )
        # Two parameters at one address are one weight, whether or not they are one object; empty ones have no address.
        address = (parameter.device, parameter.data_ptr())
        if parameter.numel() and (first := seen.setdefault(address, name)) != name:
            raise InputError(
                f"{name}: tied to {first}; a shared weight joins the scales of neurons, which is not supported"
            )


def _assemble(layers: list[tuple[str, nn.Linear]], sizes: list[int]) -> ModuleNetwork:
    last = len(layers)
    starts = [0, *accumulate(sizes)]
    names = [f"{prefix}{k}" for prefix, size in zip(_prefixes(last), sizes, strict=True) for k in range(size)]
    inputs = list(range(sizes[0]))
    tails: list[IntArray] = []
    heads: list[IntArray] = []
    weights: list[npt.NDArray[np.float64]] = []
    blocks: list[ParameterBlock] = []
    edges = 0
    for i, (path, layer) in enumerate(layers):
        below, above = np.arange(starts[i], starts[i + 1]), np.arange(starts[i + 1], starts[i + 2])
        for name, parameter in _parameters([(path, layer)]):
            values = _values(parameter, name)
            if values.ndim == 2:
                tails.append(np.repeat(below, len(above)))
                heads.append(np.tile(above, len(below)))
            else:
                inputs.append(len(names))
                tails.append(np.full(len(above), len(names)))
                heads.append(above)
                names.append(f"b{i + 1}")
            weights.append(values.T.ravel())
            blocks.append(ParameterBlock(name, edges, values.shape))
            edges += values.size
    tail, head, theta = np.concatenate(tails), np.concatenate(heads), np.concatenate(weights)
    hidden = np.zeros(len(names), bool)
    hidden[sizes[0] : starts[last]] = True
    numerators, denominator = balance_of_weights(tail, head, hidden, theta)
    return ModuleNetwork(
        names=tuple(names),
        tail=tail,
        head=head,
        hidden=hidden,
        inputs=np.array(inputs, np.int64),
        outputs=np.arange(starts[last], starts[last + 1]),
        numerators=numerators,
        denominator=denominator,
        weights=theta,
        rounding=max(torch.finfo(parameter.dtype).eps for _, parameter in _parameters(layers)) / 2,
        blocks=tuple(blocks),
    )


def _prefixes(last: int) -> list[str]:
    return ["x", *(f"h{i}." for i in range(1, last)), "y"]


def _values(parameter: nn.Parameter, name: str) -> npt.NDArray[np.float64]:
    """Return the entries as doubles, which hold every supported dtype without error."""
    values: npt.NDArray[Any] = parameter.detach().to("cpu", torch.float64).numpy()
    if not np.isfinite(values).all():
        bad = tuple(int(k) for k in np.argwhere(~np.isfinite(values))[0])
        raise InputError(
            f"{name}{list(bad)}={values[bad]}: weights must be finite; the training that made them diverged"
        )
    return values
