"""Points of an invariant set in coordinates in which it is piecewise linear: signed squares w = sign(θ)θ².

θ ↦ w is a homeomorphism, the invariant set is {w : B|w| = c}, and in each orthant it is a copy of the polyhedron P.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import InputError
from .feasibility import Witness, feasible_point
from .network import Network

_LARGEST_CORRECTION = Fraction(1, 10**6)
"""Of the squared weights at a node: what rounding to single precision leaves, and hardly more."""

__all__ = ["balance_of_squares", "moved_onto", "signed_squares", "squares_of_weights"]


def signed_squares(weights: Sequence[Any] | npt.NDArray[Any]) -> tuple[Fraction, ...]:
    """Return sign(θ)θ² exactly; floats are their dyadic value.

    Examples
    --------
    >>> signed_squares([0.5, -3])
    (Fraction(1, 4), Fraction(-9, 1))
    """
    listed = weights.tolist() if isinstance(weights, np.ndarray) else weights
    return tuple(abs(w) * w for w in map(Fraction, listed))


def squares_of_weights(network: Network) -> npt.NDArray[np.object_] | None:
    """Return θ² times the denominator of the balance as integers, shape (m,), or None if the network has no weights.

    Examples
    --------
    >>> squares_of_weights(Network.from_edges([("x", "v", "1/2"), ("v", "y", 1)])).tolist()
    [1, 4]
    """
    if network.weights is None:
        return None
    squares = [abs(w) * network.denominator for w in signed_squares(network.weights)]
    return np.array([int(u) for u in squares], object)


def balance_of_squares(network: Network, values: Sequence[Fraction]) -> dict[int, Fraction]:
    """Return B|w|, the balance that the signed squares `values` have, by hidden node.

    Raises
    ------
    InputError
        If there is not one value for each edge.

    Examples
    --------
    >>> balance_of_squares(Network.from_edges([("x", "v"), ("v", "y")]), [Fraction(2), Fraction(-1, 2)])
    {1: Fraction(3, 2)}
    """
    if len(values) != network.edge_count:
        raise InputError(f"{len(values)} values for {network.edge_count} edges; one signed square per edge is needed")
    balance = dict.fromkeys(network.hidden_nodes.tolist(), Fraction(0))
    for a, b, w in zip(network.tail.tolist(), network.head.tolist(), values, strict=True):
        if a in balance:
            balance[a] -= abs(w)
        if b in balance:
            balance[b] += abs(w)
    return balance


def moved_onto(network: Network, values: Sequence[Fraction]) -> tuple[tuple[Fraction, ...], Fraction]:
    """Return the signed squares of a point of the invariant set next to `values`, and the largest change of a square.

    Weights in floating point miss the balance by their rounding. What is missing is added along paths between the
    neurons concerned and the terminals.

    Raises
    ------
    InputError
        Naming the node, if a balance is off by more than rounding, or cannot be corrected by larger squares.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": 1})
    >>> moved_onto(G, [Fraction(2), Fraction(-1)])
    ((Fraction(2, 1), Fraction(-1, 1)), Fraction(0, 1))
    """
    volume = dict.fromkeys(network.hidden_nodes.tolist(), Fraction(0))
    for a, b, w in zip(network.tail.tolist(), network.head.tolist(), values, strict=True):
        for v in (a, b):
            if v in volume:
                volume[v] += abs(w)
    missing = {}
    for v, balance in balance_of_squares(network, values).items():
        goal = network.sum_of_balances([v])
        if abs(goal - balance) > _LARGEST_CORRECTION * max(volume[v], abs(goal)):
            raise InputError(
                f"the balance of {network.names[v]!r} is {float(balance):.9g}, but {float(goal):.9g} on the invariant set; "
                "these weights lie in another one: rescale them to the balance first"
            )
        missing[network.names[v]] = goal - balance
    if not any(missing.values()):
        return tuple(values), Fraction(0)
    correction = network.with_balance(missing)
    point = feasible_point(correction)
    if isinstance(point, Witness):
        names = ", ".join(network.names[v] for v in point.nodes)
        raise InputError(f"the balances of {names} are off by rounding and cannot be corrected; give exact weights")
    changes = [Fraction(int(u), correction.denominator) for u in point.tolist()]
    moved = tuple(w + (d if w >= 0 else -d) for w, d in zip(values, changes, strict=True))
    return moved, max(changes, default=Fraction(0))
