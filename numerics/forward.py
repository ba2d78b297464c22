"""Networks as functions of their weights: a network graph, or a PyTorch module, evaluated at a flat vector of weights.

Both kinds are called as ``function(weights, data)`` with weights (m,) and data (samples, inputs), are differentiable in
both, and can be mapped over a batch of weights with `torch.func.vmap`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from ..core import InputError, Reason, Undecided
from ..graphs.network import IntArray, Network

__all__ = ["ACTIVATIONS", "LOSSES", "ModuleFunction", "NetworkFunction", "Trace", "as_floats"]

Activation: TypeAlias = Callable[[Tensor], Tensor]
Loss: TypeAlias = Callable[[Tensor, Tensor], Tensor]

_LEAKY_SLOPE = 0.1


def _log_cosh(outputs: Tensor, targets: Tensor) -> Tensor:
    """Return the mean of log cosh, written so that it does not overflow."""
    distance = (outputs - targets).abs()
    return (distance + functional.softplus(-2 * distance) - math.log(2)).mean()


ACTIVATIONS: Mapping[str, Activation] = MappingProxyType(
    {
        "relu": functional.relu,
        "leaky_relu": lambda z: functional.leaky_relu(z, _LEAKY_SLOPE),
        "abs": torch.abs,
        "identity": lambda z: z,
        "relu_squared": lambda z: functional.relu(z) ** 2,
        "cube": lambda z: z**3,
        "gelu": functional.gelu,
        "silu": functional.silu,
        "tanh": torch.tanh,
        "softplus": functional.softplus,
    }
)
"""Activations by name. The first four are homogeneous of degree 1, the next two of degree 2 and 3, the others of none."""

LOSSES: Mapping[str, Loss] = MappingProxyType({"mse": functional.mse_loss, "log_cosh": _log_cosh})
"""Losses by name: means over all samples and outputs."""

_LARGEST_BYTES = 4 << 30
_COPIES = 4  # of samples x nodes and of the matrices: values, their gradients and temporaries


@dataclass(frozen=True)
class Trace:
    """What one evaluation computes: outputs (samples, outputs), values of all nodes (samples, n), and z by level.

    `signals` lists, level by level, the nodes and their z (samples, nodes), whose gradients are the back-signals.
    """

    outputs: Tensor
    values: Tensor
    signals: tuple[tuple[Tensor, Tensor], ...]


@dataclass(frozen=True, eq=False)
class _Level:
    """Nodes with equal longest path from a source; `entry` is where each edge stands in the matrix (nodes, sources)."""

    nodes: Tensor
    sources: Tensor
    edges: Tensor
    entry: Tensor
    hidden: Tensor


class NetworkFunction:
    """The outputs of a network graph as a function of its weights.

    A hidden node computes ``a_v = activation(z_v)`` with ``z_v = sum of theta_e a_tail(e)`` over its incoming edges;
    terminals are linear, and inputs add their data.

    Raises
    ------
    InputError
        If the network has a directed cycle, or the activation is unknown.

    Examples
    --------
    >>> function = NetworkFunction(Network.from_edges([("x", "v"), ("v", "y")]), "relu")
    >>> function(torch.tensor([2.0, 3.0]), torch.tensor([[1.0], [-1.0]])).tolist()
    [[6.0], [0.0]]
    """

    def __init__(self, network: Network, activation: str, device: str | torch.device = "cpu") -> None:
        if activation not in ACTIVATIONS:
            raise InputError(f"activation={activation!r}: not known; choose one of {', '.join(ACTIVATIONS)}")
        self.network = network
        self.activation = activation
        self.levels = tuple(_level(network, nodes, torch.device(device)) for nodes in _nodes_by_level(network))
        self._inputs, self._outputs = (_on(nodes, torch.device(device)) for nodes in (network.inputs, network.outputs))

    @property
    def weight_count(self) -> int:
        """Number of weights m."""
        return self.network.edge_count

    def __call__(self, weights: Tensor, data: Tensor) -> Tensor:
        """Return the outputs (samples, outputs) at weights (m,) and data (samples, inputs).

        Raises
        ------
        Undecided
            If it would need too much memory.
        """
        return self.trace(weights, data).outputs

    def trace(self, weights: Tensor, data: Tensor) -> Trace:
        """Return the outputs with everything on the way to them.

        Raises
        ------
        Undecided
            If that would take more memory than there is.
        """
        network = self.network
        entries = len(data) * network.node_count + sum(len(level.nodes) * len(level.sources) for level in self.levels)
        needed = _COPIES * entries * weights.element_size()
        if needed > _LARGEST_BYTES:
            raise Undecided(Reason.MEMORY, f"{len(data)} samples would take about {needed >> 20} MiB; use fewer")
        source = data.new_zeros(len(data), network.node_count).index_copy(1, self._inputs, data)
        values = source
        signals = []
        for level in self.levels:
            shape = len(level.nodes), len(level.sources)
            matrix = weights.new_zeros(shape[0] * shape[1]).index_add(0, level.entry, weights[level.edges])
            z = source[:, level.nodes] + values[:, level.sources] @ matrix.reshape(shape).T
            values = values.index_copy(1, level.nodes, torch.where(level.hidden, ACTIVATIONS[self.activation](z), z))
            signals.append((level.nodes, z))
        return Trace(values[:, self._outputs], values, tuple(signals))


class ModuleFunction:
    """The outputs of a PyTorch module as a function of its parameters, flattened in the order of ``named_parameters``.

    The module itself is not changed by calls. Buffers keep their current values.

    Examples
    --------
    >>> module = nn.Linear(2, 1)
    >>> function = ModuleFunction(module)
    >>> weights, data = function.weights(), torch.ones(3, 2)
    >>> bool((function(weights, data) == module(data)).all())
    True
    """

    def __init__(self, module: nn.Module) -> None:
        self.module = module
        self.shapes = {name: tuple(parameter.shape) for name, parameter in module.named_parameters()}

    @property
    def weight_count(self) -> int:
        """Number of weights m."""
        return sum(math.prod(shape) for shape in self.shapes.values())

    def weights(self) -> Tensor:
        """Return the current parameters, flattened (m,), detached."""
        return nn.utils.parameters_to_vector(self.module.parameters()).detach()

    def named(self, weights: Tensor) -> dict[str, Tensor]:
        """Return the parameters by name, as views of `weights` (m,)."""
        sizes = [math.prod(shape) for shape in self.shapes.values()]
        parts = torch.split(weights, sizes)
        return {name: part.reshape(shape) for (name, shape), part in zip(self.shapes.items(), parts, strict=True)}

    def __call__(self, weights: Tensor, data: Tensor) -> Tensor:
        """Return the outputs of the module with parameters `weights` (m,) on `data` (samples, ...)."""
        outputs: Tensor = functional_call(self.module, self.named(weights), (data,))
        return outputs


def as_floats(network: Network) -> Tensor:
    """Return the weights of `network`, rounded to float64, (m,); empty if it has none.

    Raises
    ------
    InputError
        If a weight is beyond the range of floats.
    """
    weights = network.weights
    try:
        return torch.tensor([float(w) for w in weights] if weights is not None else [], dtype=torch.float64)
    except OverflowError:
        raise InputError("edges: a weight exceeds the range of floating point numbers; rescale the weights") from None


def _nodes_by_level(network: Network) -> list[IntArray]:
    """Return the nodes by length of the longest path that ends there, increasing within a level."""
    sorter: TopologicalSorter[int] = TopologicalSorter({v: () for v in range(network.node_count)})
    for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True):
        sorter.add(b, a)
    try:
        sorter.prepare()
    except CycleError as error:
        cycle = " → ".join(network.names[v] for v in error.args[1])
        raise InputError(f"edges: the directed cycle {cycle} cannot be evaluated; remove one of its edges") from None
    levels = []
    while ready := sorter.get_ready():
        levels.append(np.sort(np.array(ready, np.int64)))
        sorter.done(*ready)
    return levels


def _level(network: Network, nodes: IntArray, device: torch.device) -> _Level:
    edges = np.flatnonzero(np.isin(network.head, nodes))
    sources = np.unique(network.tail[edges])
    row = np.searchsorted(nodes, network.head[edges])
    column = np.searchsorted(sources, network.tail[edges])
    return _Level(
        nodes=_on(nodes, device),
        sources=_on(sources, device),
        edges=_on(edges, device),
        entry=_on(row * len(sources) + column, device),
        hidden=torch.from_numpy(network.hidden[nodes]).to(device),
    )


def _on(indices: IntArray, device: torch.device) -> Tensor:
    return torch.from_numpy(indices).to(device)
