"""Neurons of a trained network that are disconnected, and the network without them.

The rank of the Jacobian of the balances is the number of neurons minus that of groups of neurons that no weight joins to
the rest. Training with an L1 or a nuclear norm penalty makes some singular values very small, but with Adam never zero; so
the spectrum is cut at its largest gap, which is reported, and the groups are found by ignoring the smallest weights until
there are as many groups as small singular values.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from ..core import InputError
from ..graphs.models import ModelNetwork
from ..graphs.network import Network
from ..graphs.rank import terminal_free_components
from .forward import as_floats
from .laplacians import Laplacian, singular_values
from .module_inputs import examples_of
from .modules import network_of

__all__ = ["Disconnection", "Pruning", "disconnection", "prune"]

LEAST_GAP = 10.0
"""Neighboring singular values of a network at initialization are much closer than this."""

_MOST_ENTRIES = 1 << 26  # of a Jacobian that is decomposed itself
_ROWS = 256
_ROUNDINGS = 1000  # of sums of so many terms, in other orders


@dataclass(frozen=True)
class Disconnection:
    """Which hidden nodes are disconnected, and by how clear a margin.

    Parameters
    ----------
    nodes : tuple of int
        The hidden nodes in groups that are joined to the rest by ignored weights only.
    singular_values : tuple of float
        Of the Jacobian of the balances, decreasing.
    count : int
        How many of them are small: those below the largest gap.
    gap : float
        The quotient of the singular values on both sides of it; infinite if the small ones are zero up to rounding.
    largest_cut : float
        Largest absolute weight between `nodes` and the rest. If it is 0, removing them changes nothing.
    """

    nodes: tuple[int, ...]
    singular_values: tuple[float, ...]
    count: int
    gap: float
    largest_cut: float


@dataclass(frozen=True, eq=False)
class Pruning:
    """A module without its disconnected neurons.

    Parameters
    ----------
    module : nn.Module
        A copy. If `is_smaller`, the neurons are gone from its linear layers; otherwise their weights are zero.
    removed : tuple of str
        Names of the neurons.
    change, relative_change : float
        Largest change of an output on the data, absolute, and divided by the largest output.
    rounding : float
        What rounding of the outputs may have changed, relative to the largest.
    """

    module: nn.Module
    disconnection: Disconnection
    removed: tuple[str, ...]
    change: float
    relative_change: float
    rounding: float
    is_smaller: bool

    @property
    def is_unchanged(self) -> bool:
        """Whether the outputs are the same up to rounding."""
        return self.relative_change <= self.rounding


def disconnection(network: Network, weights: npt.NDArray[np.float64], *, least_gap: float = LEAST_GAP) -> Disconnection:
    """Return the hidden nodes of `network` that `weights` (m,) leave disconnected.

    Parameters
    ----------
    least_gap : float
        If no two neighboring singular values have a quotient as large as this, nothing is disconnected.

    Examples
    --------
    >>> G = Network.from_edges([("x", "a"), ("a", "y"), ("x", "b"), ("b", "y")])
    >>> found = disconnection(G, np.array([1.0, 1.0, 1e-6, 1e-6]))
    >>> found.nodes, found.count, round(found.gap)
    ((3,), 1, 1000000)
    """
    theta = torch.from_numpy(weights)
    values = _spectrum(network, theta)
    count, gap = _largest_gap(values, least_gap)
    if count == 0:
        return Disconnection((), tuple(values), 0, gap, 0.0)
    sizes = np.abs(weights)
    # Ignoring more weights only splits groups, so the number of groups grows with the threshold.
    thresholds = np.concatenate([[0.0], np.unique(sizes)])
    low, high = 0, len(thresholds) - 1
    while low < high:
        middle = (low + high) // 2
        if len(terminal_free_components(network, sizes > thresholds[middle])) >= count:
            high = middle
        else:
            low = middle + 1
    nodes = np.array(
        [v for group in terminal_free_components(network, sizes > thresholds[low]) for v in group], np.int64
    )
    inside = np.zeros(network.node_count, bool)
    inside[nodes] = True
    cut = sizes[inside[network.tail] != inside[network.head]]
    return Disconnection(tuple(sorted(nodes.tolist())), tuple(values), count, gap, float(cut.max(initial=0.0)))


def prune(
    module: nn.Module, *, data: Tensor | None = None, inputs: Any = None, least_gap: float = LEAST_GAP
) -> Pruning:
    """Return `module` without its disconnected neurons, and by how much its outputs change.

    Parameters
    ----------
    data : Tensor, optional
        What the outputs are compared on; 256 standard normal samples if left out.
    inputs : optional
        Example arguments of the module, see `network_of`.
    least_gap : float
        See `disconnection`.

    Raises
    ------
    InputError
        As `network_of`.

    Examples
    --------
    >>> module = nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1))
    >>> with torch.no_grad():
    ...     for parameter in (module[0].weight[1], module[0].bias[1], module[2].weight[:, 1]):
    ...         _ = parameter.zero_()
    >>> pruned = prune(module)
    >>> pruned.removed, pruned.change, pruned.module[0].out_features
    (('h1.1',), 0.0, 2)
    """
    network = network_of(module, inputs)
    found = disconnection(network, as_floats(network).numpy(), least_gap=least_gap)
    zeroed = _zeroed(module, network, found.nodes)
    samples = _samples(module, inputs) if data is None else data
    pruned = _smaller(zeroed, network, found.nodes)
    if pruned is not None and not _same(zeroed, pruned, samples):
        pruned = None
    with torch.no_grad():
        old, new = module(samples), (zeroed if pruned is None else pruned)(samples)
    change, largest = (float(part.abs().max()) if part.numel() else 0.0 for part in (new - old, old))
    return Pruning(
        module=zeroed if pruned is None else pruned,
        disconnection=found,
        removed=tuple(network.names[v] for v in found.nodes),
        change=change,
        relative_change=change / largest if largest else change,
        rounding=_ROUNDINGS * torch.finfo(old.dtype).eps,
        is_smaller=pruned is not None,
    )


def _spectrum(network: Network, theta: Tensor) -> list[float]:
    h = len(network.hidden_nodes)
    if h * network.edge_count <= _MOST_ENTRIES:
        values = singular_values(network, theta)
    else:
        values = 2 * torch.linalg.eigvalsh(Laplacian(network).dense(theta)).clamp(min=0).sqrt().flip(0)
    listed: list[float] = values.tolist()
    # A Jacobian with fewer columns than rows has zeros that the decomposition does not list.
    return listed + [0.0] * (h - len(listed))


def _largest_gap(values: list[float], least: float) -> tuple[int, float]:
    """Return how many values are below the largest gap, and its quotient."""
    if not values:
        return 0, 1.0
    rounding = len(values) * float(np.finfo(np.float64).eps) * values[0]
    if values[0] == 0:
        return len(values), float("inf")
    quotients = [a / b if b > rounding else float("inf") for a, b in pairwise(values)]
    gap = max(quotients, default=1.0)
    return (len(values) - 1 - quotients.index(gap), gap) if gap >= least else (0, gap)


def _blocks(network: ModelNetwork) -> Iterator[tuple[str, npt.NDArray[np.int64], slice]]:
    """Yield the name of each parameter, the flat entries that are edges, and the numbers of these edges."""
    for i, block in enumerate(network.blocks):
        stop = network.blocks[i + 1].start if i + 1 < len(network.blocks) else network.edge_count
        entries = np.arange(stop - block.start) if block.entries is None else block.entries
        yield block.name, entries, slice(block.start, stop)


def _zeroed(module: nn.Module, network: ModelNetwork, nodes: tuple[int, ...]) -> nn.Module:
    """Return a copy of `module` in which every weight at one of `nodes` is zero."""
    gone = np.zeros(network.node_count, bool)
    gone[list(nodes)] = True
    changed = copy.deepcopy(module)
    with torch.no_grad():
        for name, entries, edges in _blocks(network):
            parameter = changed.get_parameter(name)
            at_gone = gone[network.tail[edges]] | gone[network.head[edges]]
            flat = parameter.flatten()
            flat[torch.from_numpy(entries[at_gone]).to(flat.device)] = 0
            parameter.copy_(flat.reshape(parameter.shape))
    return changed


def _smaller(module: nn.Module, network: ModelNetwork, nodes: tuple[int, ...]) -> nn.Module | None:
    """Return a copy of `module` whose linear layers lack the rows and columns of `nodes`, if all parameters are theirs."""
    smaller = copy.deepcopy(module)
    layers = {path: part for path, part in smaller.named_modules() if type(part) is nn.Linear}
    owned = {f"{path}.{name}" if path else name for path, part in layers.items() for name, _ in part.named_parameters()}
    if owned != {name for name, _ in smaller.named_parameters()}:
        return None
    ends = {
        name: (network.tail[edges], network.head[edges])
        for name, entries, edges in _blocks(network)
        if len(entries) == smaller.get_parameter(name).numel()
    }
    for path, layer in layers.items():
        prefix = f"{path}." if path else ""
        if f"{prefix}weight" not in ends:
            return None
        shape = layer.weight.shape
        tail, head = (array.reshape(shape) for array in ends[f"{prefix}weight"])
        rows = torch.from_numpy(np.flatnonzero(~np.isin(head[:, 0], nodes))).to(layer.weight.device)
        columns = torch.from_numpy(np.flatnonzero(~np.isin(tail[0], nodes))).to(layer.weight.device)
        layer.weight = nn.Parameter(layer.weight.detach()[rows][:, columns].clone())
        if layer.bias is not None:
            layer.bias = nn.Parameter(layer.bias.detach()[rows].clone())
        layer.out_features, layer.in_features = layer.weight.shape
    return smaller


def _same(one: nn.Module, other: nn.Module, samples: Tensor) -> bool:
    """Return whether two modules compute the same up to the order of sums."""
    try:
        with torch.no_grad():
            a, b = one(samples), other(samples)
    except RuntimeError:  # shapes that no longer fit
        return False
    scale = float(a.abs().max()) if a.numel() else 0.0
    return bool(
        a.shape == b.shape and float((a - b).abs().max()) <= _ROUNDINGS * torch.finfo(a.dtype).eps * max(scale, 1.0)
    )


def _samples(module: nn.Module, inputs: Any) -> Tensor:
    for arguments, keywords in examples_of(module, inputs):
        if len(arguments) == 1 and not keywords and isinstance(arguments[0], Tensor):
            generator = torch.Generator().manual_seed(0)
            shape = (_ROWS, *arguments[0].shape[1:])
            return torch.randn(shape, generator=generator, dtype=torch.float64).to(arguments[0])
    raise InputError("module: it takes more than one tensor; give `data` that its outputs can be compared on")
