"""The balance identity of a network, derived: sum_in t_e dL/dt_e = p * sum_out t_e dL/dt_e at every hidden node.

Every quantity is a symbol: weights ``t_e``, input data ``x_i``, a slope ``s_v`` at each hidden node, where
``a_v = s_v z_v**p`` and ``z_v = sum of t_e a_tail(e)``, and ``L_o`` for the derivative of the loss by output o. Symbolic
slopes cover every activation that is positively homogeneous of degree p, on each of its pieces (ReLU: s_v is 0 or 1);
symbolic derivatives cover every differentiable loss, one sample at a time.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from graphlib import CycleError, TopologicalSorter
from typing import Any

import sympy
from sympy.polys.rings import PolyRing

from ..core import InputError, Reason, Undecided
from ..graphs.network import Network

__all__ = [
    "LARGEST_EXPANSION",
    "POINTS",
    "ConservationIdentity",
    "Way",
    "conservation_identity",
    "conservation_identity_latex",
    "conservation_residuals",
]

LARGEST_EXPANSION = 1_000_000
"""Identities with more monomials times weights are evaluated instead of expanded. This size takes a second or two."""

POINTS = 3
"""Number of random points at which a larger identity is evaluated."""

_MOST_SYMBOLS = 500  # monomials are tuples of exponents, one for each symbol
_RANGE = 1 << 32  # coordinates of these points: 1 ... 2^32
_LARGEST_DEGREE = 10_000  # of the polynomial evaluated; its values have about 32 times as many bits
_MOST_LAWS_SHOWN = 8
_MOST_TERMS_SHOWN = 20


class Way(StrEnum):
    """How an identity was settled."""

    EXPANDED = "expanded"
    EVALUATED = "evaluated"


@dataclass(frozen=True)
class ConservationIdentity:
    """The residual of the law at every hidden node, by name.

    Parameters
    ----------
    residuals : mapping from str to sympy.Expr
        If expanded: the polynomials, in full. If evaluated: their value at the first point where it is not 0.
    way : Way
        ``expanded`` is a derivation, ``evaluated`` is overwhelming evidence: exact values at random points.
    points : int
        Number of points, 0 if expanded.
    chance : float
        Bound on the probability that some residual is not zero and yet vanishes at all points; 0 if expanded.
    """

    residuals: Mapping[str, sympy.Expr]
    way: Way
    points: int = 0
    chance: float = 0.0

    @property
    def holds(self) -> bool:
        """Whether every residual is zero."""
        return all(residual == 0 for residual in self.residuals.values())


def conservation_residuals(network: Network, degree: int = 1, *, factor: int | None = None) -> dict[str, sympy.Expr]:
    """Return the residual of the law at every hidden node, by name; all are 0 iff the law holds.

    This is `conservation_identity` without the account of how they were found.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")])
    >>> conservation_residuals(G, degree=2)
    {'v': 0}
    >>> conservation_residuals(G, degree=2, factor=1)
    {'v': L_y*s_v*t0**2*t1*x_x**2}
    """
    return dict(conservation_identity(network, degree, factor=factor).residuals)


def conservation_identity(
    network: Network, degree: int = 1, *, factor: int | None = None, seed: int = 0
) -> ConservationIdentity:
    """Return sum_in t_e dL/dt_e - factor * sum_out t_e dL/dt_e at every hidden node, for activations of this degree.

    Parameters
    ----------
    network : Network
        Acyclic; weights and balances play no part.
    degree : int
        Degree p of the activation, positive.
    factor : int, optional
        Factor in the law; the identity holds for the default, which is the degree.
    seed : int
        Of the random points, where the expansion would exceed `LARGEST_EXPANSION`.

    Raises
    ------
    InputError
        If the network has a directed cycle, or the degree is not a positive integer.
    Undecided
        If the identity is too large to expand and of too high a degree to evaluate (incomplete method).
    """
    if isinstance(degree, bool) or not isinstance(degree, int) or degree < 1:
        raise InputError(f"degree={degree!r}: a positive integer is needed")
    graph = _Graph.of(network, degree)
    law = degree if factor is None else factor
    if graph.fits():
        return ConservationIdentity(_expanded(graph, law), Way.EXPANDED)
    total = graph.total_degree()
    if total > _LARGEST_DEGREE:
        raise Undecided(
            Reason.INCOMPLETE_METHOD,
            f"the identity has more than {LARGEST_EXPANSION} terms times weights and a degree of more than {_LARGEST_DEGREE}",
        )
    generator = random.Random(seed)
    found = {name: sympy.S.Zero for name in network.hidden_names}
    for _ in range(POINTS):
        point = _Symbols(**{kind: _draw(generator, keys) for kind, keys in graph.symbols().items()})
        for name, value in _residuals(graph, point, law).items():
            if found[name] == 0:
                found[name] = sympy.Integer(value)
    chance = min(1.0, len(found) * (total / _RANGE) ** POINTS)
    return ConservationIdentity(found, Way.EVALUATED, POINTS, chance)


def conservation_identity_latex(network: Network, degree: int = 1) -> str:
    r"""Return the law in LaTeX: one line per hidden node, or one formula for all if there are many.

    Examples
    --------
    >>> print(conservation_identity_latex(Network.from_edges([("x", "v"), ("v", "y")]), degree=2))
    \begin{aligned}\theta_{0}\,\partial_{0}L &= 2\,\theta_{1}\,\partial_{1}L && \text{(v)}\end{aligned}
    """
    hidden = network.hidden_nodes.tolist()
    if not 1 <= len(hidden) <= _MOST_LAWS_SHOWN or network.edge_count > _MOST_TERMS_SHOWN:
        coefficient = "" if degree == 1 else rf"{degree}"
        return (
            rf"\sum_{{e\,\to\,v}} \theta_e\,\partial_e L = {coefficient}\sum_{{v\,\to\,e}} \theta_e\,\partial_e L"
            rf"\quad\text{{at all {len(hidden)} hidden nodes }} v"
        )

    def terms(edges: list[int], coefficient: int) -> str:
        factor = "" if coefficient == 1 else rf"{coefficient}\,"
        return " + ".join(rf"{factor}\theta_{{{e}}}\,\partial_{{{e}}}L" for e in edges) or "0"

    lines = []
    for v in hidden:
        incoming = [e for e, b in enumerate(network.head.tolist()) if b == v]
        outgoing = [e for e, a in enumerate(network.tail.tolist()) if a == v]
        name = "".join(_TEX.get(character, character) for character in network.names[v])
        lines.append(rf"{terms(incoming, 1)} &= {terms(outgoing, degree)} && \text{{({name})}}")
    return r"\begin{aligned}" + r" \\ ".join(lines) + r"\end{aligned}"


_TEX = {character: "\\" + character for character in "#$%&_{}"} | {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
}


@dataclass(frozen=True)
class _Symbols:
    """Values of all symbols, polynomials or integers: weights by edge, the others by node."""

    weights: Mapping[int, Any]
    data: Mapping[int, Any]
    slopes: Mapping[int, Any]
    loss: Mapping[int, Any]


@dataclass(frozen=True)
class _Graph:
    """The network as plain lists: nodes in topological order, edges at each node."""

    network: Network
    degree: int
    order: list[int]
    incoming: dict[int, list[tuple[int, int]]]
    outgoing: dict[int, list[tuple[int, int]]]
    hidden: frozenset[int]
    inputs: frozenset[int]
    outputs: frozenset[int]

    @classmethod
    def of(cls, network: Network, degree: int) -> _Graph:
        """Edges are pairs (edge, node at its other end)."""
        nodes = range(network.node_count)
        incoming: dict[int, list[tuple[int, int]]] = {v: [] for v in nodes}
        outgoing: dict[int, list[tuple[int, int]]] = {v: [] for v in nodes}
        for e, (a, b) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
            incoming[b].append((e, a))
            outgoing[a].append((e, b))
        try:
            order = list(TopologicalSorter({v: [a for _, a in incoming[v]] for v in nodes}).static_order())
        except CycleError as error:
            cycle = " → ".join(network.names[v] for v in error.args[1])
            raise InputError(f"edges: the network has the directed cycle {cycle}; remove one of its edges") from None
        sets = (frozenset(array.tolist()) for array in (network.hidden_nodes, network.inputs, network.outputs))
        return cls(network, degree, order, incoming, outgoing, *sets)

    def symbols(self) -> dict[str, list[int]]:
        """Return the edges or nodes that carry each kind of symbol."""
        return {
            "weights": list(range(self.network.edge_count)),
            "data": sorted(self.inputs),
            "slopes": sorted(self.hidden),
            "loss": sorted(self.outputs),
        }

    def fits(self) -> bool:
        """Return whether the identity is to be expanded, from a count of the monomials along paths."""
        if sum(map(len, self.symbols().values())) > _MOST_SYMBOLS:
            return False
        largest = LARGEST_EXPANSION // max(1, self.network.edge_count)
        count: dict[int, int] = {}
        for v in self.order:
            sources = (v in self.inputs) + sum(count[a] for _, a in self.incoming[v])
            count[v] = math.comb(sources + self.degree - 1, self.degree) if v in self.hidden and sources else sources
            if count[v] > largest:  # before the next binomial grows beyond all bounds
                return False
        return sum(count[v] for v in self.outputs) <= largest

    def total_degree(self) -> int:
        """Return a bound on the total degree of the loss polynomial, capped just above `_LARGEST_DEGREE`."""
        total: dict[int, int] = {}
        for v in self.order:
            before = max((total[a] + 1 for _, a in self.incoming[v]), default=0)
            here = max(before, int(v in self.inputs))
            total[v] = min(1 + self.degree * here if v in self.hidden else here, _LARGEST_DEGREE)
        return 1 + max(total.values())


def _expanded(graph: _Graph, law: int) -> dict[str, sympy.Expr]:
    """Return the residuals as expanded polynomials with integer coefficients."""
    names = graph.network.names
    prefix = {"weights": "t", "data": "x_", "slopes": "s_", "loss": "L_"}
    keys = [(kind, key) for kind, entries in graph.symbols().items() for key in entries]
    # `Symbol` takes any text as a name; text given to the ring directly would be parsed.
    symbols = [sympy.Symbol(prefix[kind] + (str(key) if kind == "weights" else names[key])) for kind, key in keys]
    ring = PolyRing(symbols, sympy.ZZ)
    point: dict[str, dict[int, Any]] = {kind: {} for kind in graph.symbols()}
    for (kind, key), symbol in zip(keys, ring.gens, strict=True):
        point[kind][key] = symbol
    values = _Symbols(**point)
    activation, _ = _forward(graph, values, ring.zero)
    loss = sum((values.loss[o] * activation[o] for o in graph.outputs), ring.zero)
    terms = {e: t * loss.diff(t) for e, t in values.weights.items()}
    return {name: residual.as_expr() for name, residual in _laws(graph, terms, law, ring.zero).items()}


def _residuals(graph: _Graph, point: _Symbols, law: int) -> dict[str, int]:
    """Return the residuals at an integer point, by one forward and one backward pass."""
    activation, preactivation = _forward(graph, point, 0)
    back: dict[int, int] = {}
    terms: dict[int, int] = {}
    for v in reversed(graph.order):
        signal = point.loss.get(v, 0)
        for e, b in graph.outgoing[v]:
            signal += point.weights[e] * back[b]
            terms[e] = point.weights[e] * activation[v] * back[b]
        if v in graph.hidden:
            signal *= graph.degree * point.slopes[v] * preactivation[v] ** (graph.degree - 1)
        back[v] = signal
    return _laws(graph, terms, law, 0)


def _forward(graph: _Graph, point: _Symbols, zero: Any) -> tuple[dict[int, Any], dict[int, Any]]:
    """Return a and z of every node."""
    activation: dict[int, Any] = {}
    preactivation: dict[int, Any] = {}
    for v in graph.order:
        z = sum((point.weights[e] * activation[a] for e, a in graph.incoming[v]), point.data.get(v, zero))
        preactivation[v] = z
        activation[v] = point.slopes[v] * z**graph.degree if v in graph.hidden else z
    return activation, preactivation


def _laws(graph: _Graph, terms: Mapping[int, Any], law: int, zero: Any) -> dict[str, Any]:
    """Return the incoming sum of the terms minus `law` times the outgoing one, by hidden node."""
    return {
        graph.network.names[v]: sum((terms[e] for e, _ in graph.incoming[v]), zero)
        - law * sum((terms[e] for e, _ in graph.outgoing[v]), zero)
        for v in graph.network.hidden_nodes.tolist()
    }


def _draw(generator: random.Random, keys: list[int]) -> dict[int, int]:
    return {key: generator.randint(1, _RANGE) for key in keys}
