"""The Jacobian J = 2B diag(θ) of θ ↦ Bθ² as a matrix: its rank by singular values, det(JJᵀ/4) by elimination."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ..core import Reason, Undecided
from ..graphs.network import Network
from .rescaling import float_weights

__all__ = ["determinant", "incidence", "rank"]

_LARGEST_ELIMINATION = 30
_CLEAR = 10.0  # a singular value that is not zero exceeds those that are by this factor at least


def incidence(network: Network) -> npt.NDArray[np.int64]:
    """Return B, shape (h, m): +1 where an edge enters a hidden node, −1 where it leaves one."""
    nodes = network.hidden_nodes[:, None]
    B: npt.NDArray[np.int64] = (network.head == nodes).astype(np.int64) - (network.tail == nodes).astype(np.int64)
    return B


def rank(network: Network) -> int:
    """Return the rank of J at the weights of the network, as the number of singular values that are not zero.

    B is totally unimodular, so the inverse of an invertible square part has entries 0 and ±1, and the smallest singular
    value of J that is not zero is at least 2 min |θ_e| / h over the non-zero weights. Rounding turns zeros into at most
    max(h, m) ε σ_1.

    Raises
    ------
    Undecided
        With reason precision, if these bounds do not tell zero from non-zero.

    Examples
    --------
    >>> rank(Network.from_edges([("x", "a", 0.0), ("a", "b", 1.0), ("b", "y", 0.0)]))
    1
    """
    B = incidence(network)
    theta = float_weights(network)
    used = np.abs(theta[theta != 0])
    if not used.size or not B.size:
        return 0
    # A common factor changes no rank, and keeps the squares within range.
    values = np.linalg.svd(2 * B * (theta / used.max()), compute_uv=False)
    zero = max(B.shape) * np.finfo(np.float64).eps * float(values[0])
    if not 2 * float(used.min() / used.max()) / len(B) > _CLEAR * zero:
        raise Undecided(Reason.PRECISION, "the weights differ too much in size for singular values to tell the rank")
    return int((values > zero).sum())


def determinant(network: Network) -> Fraction:
    """Return det(B diag(θ²) Bᵀ) at the weights of the network, exactly, by elimination on fractions.

    Raises
    ------
    Undecided
        If there are too many hidden nodes.

    Examples
    --------
    >>> determinant(Network.from_edges([("x", "a", 1), ("a", "b", 2), ("b", "y", 3)]))
    Fraction(49, 1)
    """
    B = incidence(network).tolist()
    h = len(B)
    if h > _LARGEST_ELIMINATION:
        raise Undecided(Reason.INCOMPLETE_METHOD, f"{h} hidden nodes; at most {_LARGEST_ELIMINATION} are eliminated")
    squares = [Fraction(w) ** 2 for w in network.weights] if network.weights is not None else []
    rows = [[sum((a * b * u for a, b, u in zip(x, y, squares, strict=True)), Fraction(0)) for y in B] for x in B]
    result = Fraction(1)
    for k in range(h):
        # Positive semidefinite: a vanishing pivot has a vanishing row, and then so does the determinant.
        pivot = rows[k][k]
        result *= pivot
        if pivot == 0:
            return Fraction(0)
        for i in range(k + 1, h):
            factor = rows[i][k] / pivot
            rows[i] = [x - factor * y for x, y in zip(rows[i], rows[k], strict=True)]
    return result
