"""A network graph, taken as a ReLU net, as a model whose laws are counted."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from .core import InputError
from .theory.model_fields import ModelFields

if TYPE_CHECKING:
    from ._checker_laws import Law
    from .graphs.network import Network

__all__ = ["graph_model"]

_MOST_PATHS = 50_000


def graph_model(network: Network, *, logits: bool) -> tuple[ModelFields, list[str], list[Law]]:
    """Return a ReLU net as products of weights along its paths, names of its weights, and candidates for its laws.

    Every hidden node has a balance. With `logits` the loss is the cross-entropy of the outputs, which sees differences of
    outputs alone: what a node sends to all of them adds up to a constant.

    Raises
    ------
    InputError
        If the network has a cycle or too many paths, or one output only and `logits`.
    """
    if network.order is None:
        raise InputError("edges: the network has a cycle; laws are counted for acyclic networks")
    if logits and len(network.outputs) < 2:
        raise InputError(
            "loss='cross-entropy': is constant for one output; two or more are needed, or the squared loss"
        )
    paths = _paths(network)
    products = _differences(network, paths) if logits else [_product(path) for path in paths]
    model = ModelFields(parameters=tuple(f"t{e}" for e in range(network.edge_count)), potentials=tuple(products))
    names = [f"[{network.names[a]}->{network.names[b]}]" for a, b in zip(network.tail, network.head, strict=True)]
    laws: list[Law] = []
    for v in network.hidden_nodes:
        signs = [(e, 1) for e, b in enumerate(network.head) if b == v] + [
            (e, -1) for e, a in enumerate(network.tail) if a == v
        ]
        laws.append(({(e, e): sign for e, sign in signs}, {(): 1}))
    if logits:
        leaving: defaultdict[int, list[int]] = defaultdict(list)
        outputs = set(map(int, network.outputs))
        for e, (a, b) in enumerate(zip(network.tail, network.head, strict=True)):
            if int(b) in outputs:
                leaving[int(a)].append(e)
        laws += [({(e,): 1 for e in edges}, {(): 1}) for edges in leaving.values()]
    return model, names, laws


def _differences(network: Network, paths: list[list[int]]) -> list[str]:
    """Sums of products along the paths to an output that are alike but for the last edge, less those to the last output."""
    last = int(network.outputs[-1])
    by_start: defaultdict[tuple[int, ...], defaultdict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in paths:
        # Parallel last edges, and first ones from one input, are distinct parameters: their sum is what counts.
        start = (*path[:-1], -1 - int(network.tail[path[-1]]))
        by_start[start][int(network.head[path[-1]])].append(_product(path))
    found = []
    for ends in by_start.values():
        for output in map(int, network.outputs[:-1]):
            terms = " + ".join(ends.get(output, []))
            others = " - ".join(ends.get(last, []))
            text = f"{terms} - {others}" if terms and others else terms or others
            if text:
                found.append(text)
    return list(dict.fromkeys(found))


def _product(path: list[int]) -> str:
    return "*".join(f"t{e}" for e in path)


def _paths(network: Network) -> list[list[int]]:
    leaving: dict[int, list[int]] = {}
    for e, a in enumerate(network.tail):
        leaving.setdefault(int(a), []).append(e)
    hidden = set(map(int, network.hidden_nodes))
    found: list[list[int]] = []
    open_paths = [[e] for e, a in enumerate(network.tail) if int(a) not in hidden]
    while open_paths:
        path = open_paths.pop()
        end = int(network.head[path[-1]])
        if end not in hidden:
            found.append(path)
        else:
            open_paths += [[*path, e] for e in leaving.get(end, [])]
        if len(found) + len(open_paths) > _MOST_PATHS:
            raise InputError(f"edges: more than {_MOST_PATHS} paths; laws are counted for smaller networks")
    return found
