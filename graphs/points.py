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
from .network import Network

__all__ = ["balance_of_squares", "signed_squares", "squares_of_weights"]


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
