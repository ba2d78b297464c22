"""A large network seen layer by layer: groups of nodes, the weights between them, and how many of these are locked."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .models import ModelNetwork
from .network import BoolArray, IntArray, Network

if TYPE_CHECKING:
    from .connectivity import Connectivity

__all__ = ["Layer", "Layers", "layers_of"]

_MOST = 64  # layers; more are put together by the modules that hold them, or by depth
_NUMBERED = re.compile(r"(.*?)\.?\d+")


@dataclass(frozen=True)
class Layer:
    """Nodes that are drawn as one, and the weights into them.

    Parameters
    ----------
    neurons, terminals : int
        Number of hidden nodes, and of inputs, outputs and other terminals.
    weights, locked, regular : int
        Number of weights that enter, of those that are frozen, and of those that are so on the regular part alone.
    bottlenecks : int
        Number of hidden nodes with a single incoming or outgoing weight.
    """

    name: str
    neurons: int
    terminals: int
    weights: int
    locked: int
    regular: int
    bottlenecks: int


@dataclass(frozen=True)
class Layers:
    """The layers from inputs to outputs, and ``(tail, head, weights, locked)`` for each pair that weights join."""

    layers: tuple[Layer, ...]
    links: tuple[tuple[int, int, int, int], ...]


def layers_of(result: Connectivity) -> Layers:
    """Return the layers of the network that `result` is about.

    Nodes are grouped by their names without the last number where all have one, or stem from a model, else by the length of
    the longest walk to them. Biases and other constants of a model are counted with the layers that they lead to.

    Examples
    --------
    >>> from .connectivity import connectivity
    >>> from .layered import layered_network
    >>> found = layers_of(connectivity(layered_network([2, 3, 1], [[-1, 0, 1]])))
    >>> [(layer.name, layer.weights, layer.locked, layer.regular) for layer in found.layers]
    [('x', 0, 0, 0), ('h1', 6, 0, 0), ('y', 3, 1, 1)]
    """
    network = result.network
    constant = _constants(network)
    names, group = _groups(network, constant)
    count = len(names)
    if constant.any():
        group = np.where(constant, -1, group)
    into, tail = group[network.head], group[network.tail]
    frozen = np.zeros(network.edge_count, bool)
    frozen[list(result.frozen_edges)] = True
    regular = np.zeros(network.edge_count, bool)
    regular[list(result.regular_frozen_edges)] = True
    regular &= ~frozen
    single = network.hidden & ((network.in_degree == 1) | (network.out_degree == 1))

    def per_layer(numbers: IntArray, chosen: BoolArray) -> list[int]:
        return [int(k) for k in np.bincount(numbers[chosen & (numbers >= 0)], minlength=count)]

    everything = np.ones(network.edge_count, bool)
    columns = (
        per_layer(group, network.hidden),
        per_layer(group, ~network.hidden),
        per_layer(into, everything),
        per_layer(into, frozen),
        per_layer(into, regular),
        per_layer(group, single),
    )
    layers = tuple(Layer(name, *row) for name, *row in zip(names, *columns, strict=True))
    pair = tail * count + into
    known = (tail >= 0) & (into >= 0)
    weights = np.bincount(pair[known], minlength=count * count)
    locked = np.bincount(pair[known & (frozen | regular)], minlength=count * count)
    links = tuple(
        (int(p) // count, int(p) % count, int(weights[p]), int(locked[p])) for p in np.flatnonzero(weights).tolist()
    )
    return Layers(layers, links)


def _constants(network: Network) -> BoolArray:
    """Return which nodes of a model are sources without being inputs of the model."""
    if not isinstance(network, ModelNetwork):
        return np.zeros(network.node_count, bool)
    candidates = np.flatnonzero(~network.hidden & (network.in_degree == 0) & (network.out_degree > 0)).tolist()
    constant = np.zeros(network.node_count, bool)
    constant[[v for v in candidates if re.fullmatch(r"x\d+", network.names[v]) is None]] = True
    return constant


def _groups(network: Network, constant: BoolArray) -> tuple[list[str], IntArray]:
    """Return the names of the groups in order, and the number of the group of each node."""
    stems = [_stem(name) for name in network.names]
    is_model = isinstance(network, ModelNetwork)
    if is_model or (all(stems) and len(set(stems)) <= min(_MOST, len(stems) // 2)):
        labels = [stem or name for stem, name in zip(stems, network.names, strict=True)]
        shorter = _shortened([label for label, skip in zip(labels, constant, strict=True) if not skip])
        labels = [shorter.get(label, label) for label in labels]
        kept = list(dict.fromkeys(label for label, skip in zip(labels, constant, strict=True) if not skip))
        number = {label: i for i, label in enumerate(kept)}
        return kept, np.array([number.get(label, -1) for label in labels], np.int64)
    depth = _depths(network)
    sinks = ~network.hidden & (network.out_degree == 0) & (network.in_degree > 0)
    depth[sinks] = depth.max(initial=0) + 1
    values, group = np.unique(depth, return_inverse=True)
    step = -(-len(values) // _MOST)
    chosen = group // step
    names = []
    for k in range(int(chosen.max(initial=0)) + 1):
        inside = np.unique(depth[chosen == k])
        first, last = int(inside[0]), int(inside[-1])
        all_sinks = bool(sinks[chosen == k].all())
        name = f"depth {first}" if first == last else f"depths {first} to {last}"
        names.append("outputs" if all_sinks else "inputs" if k == 0 and step == 1 and first == 0 else name)
    return names, chosen.astype(np.int64)


def _stem(name: str) -> str | None:
    match = _NUMBERED.fullmatch(name)
    return match.group(1) if match and match.group(1) else None


def _shortened(labels: Sequence[str]) -> dict[str, str]:
    """Return for each label the module that holds it, as far up as it takes to have few of them."""
    shorter = {label: label for label in labels}
    while len(set(shorter.values())) > _MOST:
        deepest = max(short.count(".") for short in shorter.values())
        if deepest == 0:
            break
        shorter = {
            label: short.rpartition(".")[0] if short.count(".") == deepest else short
            for label, short in shorter.items()
        }
    return shorter


def _depths(network: Network) -> IntArray:
    """Return the length of the longest walk to each node, or of the shortest from a source where there are cycles."""
    depth = np.zeros(network.node_count, np.int64)
    if network.order is not None:
        for v in network.order.tolist():
            heads = network.head[network.outgoing.at_all(np.array([v]))]
            np.maximum.at(depth, heads, depth[v] + 1)
        return depth
    front = np.flatnonzero(~network.hidden | (network.in_degree == 0))
    seen = np.zeros(network.node_count, bool)
    seen[front] = True
    step = 0
    while front.size:
        step += 1
        ends = np.unique(network.head[network.outgoing.at_all(front)])
        front = ends[~seen[ends]]
        depth[front] = step
        seen[front] = True
    return depth
