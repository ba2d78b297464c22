"""Which weights vanish together on an invariant set, and which balances rescaled weights can have, with certificates.

Both come down to faces of P: what can vanish, and what can be positive at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import Certificate, InputError
from .certificates import point_data, witness_data
from .faces import face_point, face_support, interior_point
from .feasibility import Witness, witness_of_cut
from .network import Network
from .structure import merged_ends, reachable

__all__ = ["Attainment", "Vanishing", "attainment", "vanishing"]


@dataclass(frozen=True)
class Vanishing:
    """Whether some weights vanish together, and what vanishes wherever they do.

    `zero_set` is None if they never vanish together. The `certificate` is for the fields of the network with
    ``vanishing``.
    """

    together: bool
    zero_set: tuple[int, ...] | None
    certificate: Certificate = field(repr=False)


@dataclass(frozen=True, eq=False)
class Attainment:
    """Whether the weights can be rescaled to a balance; `squares` has that balance and the support of the weights, if so.

    The `certificate` is for the fields of the network with ``target``.
    """

    attained: bool
    certificate: Certificate = field(repr=False)
    squares: tuple[Fraction, ...] = field(default=(), repr=False)


def vanishing(network: Network, edges: Iterable[int]) -> Vanishing:
    """Return whether the weights on `edges` can vanish together, and all that vanishes then.

    Raises
    ------
    InputError
        If there is no such edge, or the network has no balance.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": 0})
    >>> vanishing(G, [0]).zero_set
    (0, 1)
    """
    given = sorted(set(edges))
    if unknown := [e for e in given if not 0 <= e < network.edge_count]:
        raise InputError(f"edges={unknown!r}: no such edge; the network has edges 0 to {network.edge_count - 1}")
    point = face_point(network, given)
    if isinstance(point, Witness):
        return Vanishing(False, None, Certificate("vanishing_weights", {"obstruction": witness_data(network, point)}))
    support = face_support(network, point, given)
    p, q = interior_point(network, point, given)
    zero = tuple(np.flatnonzero(~support).tolist())
    sets: dict[Witness, None] = {}
    covered = set(given)
    for e in zero:
        if e not in covered:
            witness, entering = _forcing_set(network, point, given, e)
            sets[witness] = None
            covered |= entering
    data = {
        "squares": {e: str(Fraction(text) / q) for e, text in point_data(network, p).items()},
        "forced": [witness_data(network, witness) for witness in sets],
    }
    return Vanishing(True, zero, Certificate("vanishing_weights", data))


def attainment(network: Network, target: Mapping[Any, Any]) -> Attainment:
    """Return whether rescaling neurons by positive factors takes the weights of the network to the balance `target`.

    Rescaling keeps the set S of non-zero weights, and attains Bu for every u that is positive exactly on S, and nothing
    else.

    Raises
    ------
    InputError
        If the network has no weights, or the target does not name every hidden node.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v", 1), ("v", "y", 0)])
    >>> attainment(G, {"v": 1}).attained, attainment(G, {"v": -1}).attained
    (True, False)
    """
    if network.weights is None:
        raise InputError("edges: have no weights, so there is nothing to rescale; give weights for all edges")
    zero = [e for e, w in enumerate(network.weights) if w == 0]
    goal = network.with_balance(target)
    point = face_point(goal, zero)
    if isinstance(point, Witness):
        return Attainment(False, Certificate("rescaling", {"witness": witness_data(goal, point)}))
    support = face_support(goal, point, zero)
    support[zero] = True
    if not support.all():
        witness, _ = _forcing_set(goal, point, zero, int(np.flatnonzero(~support)[0]))
        return Attainment(False, Certificate("rescaling", {"witness": witness_data(goal, witness)}))
    p, q = interior_point(goal, point, zero)
    squares = tuple(Fraction(int(x), q * goal.denominator) for x in p.tolist())
    data = {"squares": {str(e): str(u) for e, u in enumerate(squares) if u}}
    return Attainment(True, Certificate("rescaling", data), squares)


def _forcing_set(
    network: Network, point: npt.NDArray[Any], zero: Iterable[int], e: int
) -> tuple[Witness, frozenset[int]]:
    """Return a set of sum 0 that shows why edge e vanishes with `zero`, and all edges that it forces to.

    It is what the head of e reaches along the directions in which the point can move; e itself comes from outside.
    """
    tail, head = merged_ends(network)
    free = np.ones(network.edge_count, bool)
    free[list(zero)] = False
    back = free & (point > 0)
    arcs = np.concatenate([tail[free], head[back]]), np.concatenate([head[free], tail[back]])
    reached = reachable(network.node_count + 1, *arcs, int(head[e]))
    entering = np.flatnonzero(reached[head] & ~reached[tail])
    return witness_of_cut(network, reached), frozenset(entering.tolist())
