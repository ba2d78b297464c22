"""The cheapest assignment of features to neurons, and how much dearer the second cheapest is. Float64, NumPy and SciPy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from ..core import InputError
from .realization import EPS, FloatArray

__all__ = ["Assignment", "assignment_margin", "best_assignment", "sensitivities"]

_MOST_ENUMERATED = 8


@dataclass(frozen=True)
class Assignment:
    """The identity against all other assignments.

    Parameters
    ----------
    margin : float
        min_{π ≠ id} Δ_π; negative if the identity is not optimal, infinite if no other assignment has a finite cost.
    error : float
        Bound on the rounding error of the margin, apart from that of the costs.
    best : array (m,)
        An optimal assignment: neuron i gets feature ``best[i]``.
    """

    margin: float
    error: float
    best: npt.NDArray[np.int64]

    @property
    def identity_optimal(self) -> bool:
        """Whether every other assignment costs more, beyond rounding."""
        return self.margin > self.error


def best_assignment(costs: FloatArray) -> npt.NDArray[np.int64]:
    """Return an assignment of least total cost (rows to columns); infinite entries are forbidden.

    Raises
    ------
    InputError
        If every assignment has a forbidden entry, or an entry is NaN.
    """
    if np.isnan(costs).any():
        raise InputError("costs: NaN among the entries; a cost is a number or infinity")
    try:
        return np.asarray(linear_sum_assignment(costs)[1], np.int64)
    except ValueError:
        raise InputError("costs: no assignment has a finite cost") from None


def assignment_margin(costs: FloatArray) -> Assignment:
    """Return the margin of the identity, exactly up to rounding, in O(m³) array operations.

    If the identity is optimal, other assignments are unions of cycles of arcs i → j that weigh C_ij − C_ii, and the lightest
    cycle is found from all shortest paths. If it is not, the optimum itself is the best other assignment.

    Raises
    ------
    InputError
        If the matrix is not square, or a diagonal entry is not finite.
    """
    costs = np.asarray(costs, np.float64)
    m = len(costs)
    own = np.diagonal(costs)
    if costs.shape != (m, m) or not np.isfinite(own).all():
        raise InputError(f"costs: shape {costs.shape}, with a finite diagonal of a square matrix needed")
    identity = np.arange(m)
    finite = np.abs(costs[np.isfinite(costs)])
    error = 4 * m * EPS * float(finite.sum() / m + finite.max(initial=0.0))  # of sums along paths of at most m arcs
    if m == 1:
        return Assignment(math.inf, error, identity)
    best = best_assignment(costs)
    gain = float(costs[identity, best].sum() - own.sum())
    if gain < -error:
        return Assignment(gain, error, best)
    arcs = costs - own[:, None]
    np.fill_diagonal(arcs, 0.0)
    potentials = _potentials(arcs, error)
    # No cycle changes its weight, and no arc is negative now but by rounding: without the cut, cycles of weight 0 would
    # look slightly negative, and shortest paths would wind around them.
    reduced = arcs + potentials[:, None] - potentials[None]
    error += m * max(0.0, -float(reduced.min()))
    np.maximum(reduced, 0.0, out=reduced)
    distance = reduced.copy()
    for via in range(m):
        np.minimum(distance, distance[:, via, None] + distance[via], out=distance)
    loops = reduced + distance.T
    np.fill_diagonal(loops, math.inf)
    return Assignment(float(loops.min()), error, identity)


def _potentials(arcs: FloatArray, tolerance: float) -> FloatArray:
    """Return least weights of walks that end in each node, from anywhere, up to `tolerance` (Bellman-Ford)."""
    found = np.zeros(len(arcs))
    for _ in range(len(arcs)):
        better = np.minimum(found, (found[:, None] + arcs).min(0))
        if not (found - better).max() > tolerance:
            break
        found = better
    return found


def sensitivities(costs: FloatArray) -> dict[tuple[int, ...], float]:
    """Return Δ_π for all permutations of at most 8 neurons.

    Raises
    ------
    InputError
        For more neurons.
    """
    m = len(costs)
    if m > _MOST_ENUMERATED:
        raise InputError(f"costs: {m} neurons; all permutations are listed for at most {_MOST_ENUMERATED}")
    rows, own = np.arange(m), float(np.trace(costs))
    return {p: float(costs[rows, list(p)].sum()) - own for p in permutations(range(m))}
