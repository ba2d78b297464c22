"""Changes of a network that free its locked weights: a wider layer behind them, or a skip past it.

A weight is locked because it is the only one that leaves (or enters) a set of neurons. One more weight that leaves that set
frees it; one that starts elsewhere does not, e.g. a skip from the neurons in front of the set, or a twin of the set.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from fractions import Fraction

from .connectivity import Connectivity
from .feasibility import Side
from .network import Network

__all__ = ["skipped", "widened"]


def widened(result: Connectivity) -> Network:
    """Return the network with a twin of every node that a locked weight leads to: with one neuron, or output, more there.

    A twin is joined to the same nodes. For weights that are the only ones to enter a set, the nodes that they come from are
    doubled. Balances stay; a twin has more incoming than outgoing weight if it has several incoming ones, else less.

    Examples
    --------
    >>> from .connectivity import connectivity
    >>> net = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": -4})
    >>> connectivity(widened(connectivity(net))).connected
    True
    """
    network = result.network
    names = network.names
    doubled = {head if side == "out" else tail for side, tail, head in _locked(result)}
    taken = set(names)
    twin = {}
    for v in sorted(doubled):
        twin[v] = _fresh(names[v], taken)
        taken.add(twin[v])
    added = [(int(a), int(b)) for a, b in zip(network.tail, network.head, strict=True)]
    edges = [(names[a], twin[b]) for a, b in added if b in twin]
    edges += [(twin[a], names[b]) for a, b in added if a in twin]
    balances = {twin[v]: 1 if network.in_degree[v] > 1 else -1 for v in twin if network.hidden[v]}
    terminals = {end: [twin[v] for v in getattr(network, end).tolist() if v in twin] for end in ("inputs", "outputs")}
    return _extended(network, edges, balances, **terminals)


def skipped(result: Connectivity) -> Network:
    """Return the network with a skip past the node that each locked weight leads to, to all that this one leads to.

    Where that is an output, nothing lies behind it: then a second weight leads to the same output. Mirrored for weights that
    are the only ones to enter a set.

    Examples
    --------
    >>> from .connectivity import connectivity
    >>> net = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": -4})
    >>> connectivity(skipped(connectivity(net))).connected
    True
    """
    network = result.network
    added: dict[tuple[int, int], None] = {}
    for side, tail, head in _locked(result):
        if side == "out":
            beyond = network.head[network.outgoing.at(head)].tolist() if network.hidden[head] else [head]
            added |= dict.fromkeys((tail, v) for v in beyond)
        else:
            before = network.tail[network.incoming.at(tail)].tolist() if network.hidden[tail] else [tail]
            added |= dict.fromkeys((v, head) for v in before)
    # On a cycle what lies beyond can be the neuron itself.
    return _extended(network, [(network.names[a], network.names[b]) for a, b in added if a != b], {})


def _locked(result: Connectivity) -> Iterable[tuple[Side, int, int]]:
    """Yield side, tail and head of every weight that is frozen on the set or its regular part."""
    network = result.network
    for item in result.edges:
        if item.witness is not None:
            yield item.witness.side, int(network.tail[item.edge]), int(network.head[item.edge])


def _fresh(name: str, taken: Container[str]) -> str:
    name = f"{name}'"
    return name if name not in taken else _fresh(name, taken)


def _extended(
    network: Network,
    added: Iterable[tuple[str, str]],
    balances: Mapping[str, int],
    *,
    inputs: Iterable[str] = (),
    outputs: Iterable[str] = (),
) -> Network:
    names = network.names
    edges = [(names[a], names[b]) for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True)]
    c = network.require_balance()
    old = {names[v]: Fraction(int(c[v]), network.denominator) for v in network.hidden_nodes.tolist()}
    return Network.from_edges(
        [*edges, *added],
        inputs=[*(names[v] for v in network.inputs.tolist()), *inputs],
        outputs=[*(names[v] for v in network.outputs.tolist()), *outputs],
        balance={**old, **balances},
        nodes=names,
    )
