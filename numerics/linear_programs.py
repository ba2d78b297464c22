"""Minima of squared weights over P = {u >= 0 : Bu = c}, by linear programming in floating point (HiGHS).

A scout that shares nothing with the exact engines: it reads off the network the incidence matrix B and the balance c, and
nothing else. Balances are divided by the largest one first, so that the absolute tolerances of the solver are relative ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import coo_array, eye_array, hstack

from ..core import Reason, Undecided
from ..graphs.network import Network

__all__ = ["RELATIVE_ERROR", "Minima", "can_vanish_regularly", "minima", "regular_frozen_edges"]

FloatArray = npt.NDArray[np.float64]
Matrix: TypeAlias = Any  # a sparse array; the stubs of linprog only know dense ones

RELATIVE_ERROR = 1e-7
"""Error of a minimum relative to ||c||_1 (absolute if c = 0). Every solution is checked against it."""

_SOLVER_TOLERANCE = 1e-9  # two digits below RELATIVE_ERROR, so that the sum over the rows of a network stays below it
_LARGEST_SCALE = 1e6  # for the homogenized program: beyond, rounding of c (1e-16) would be taken for feasibility
_ZERO, _ONE = 0.01, 0.99  # an indicator outside these is 0 or 1; in between, the support is not decided

_OPTIMAL, _INFEASIBLE = 0, 2  # `status` of scipy.optimize.linprog


@dataclass(frozen=True)
class Minima:
    """What linear programming measured.

    Parameters
    ----------
    distance : float
        min ||Bu - c||_1 over u >= 0; zero, up to `error`, iff P is non-empty.
    edges : tuple of int
        The edges asked for; none if P is empty.
    values : tuple of float
        min u_e over P for each of them.
    error : float
        Bound on the error of `distance` and of `values`.
    spacing : float
        Exact values of either are multiples of this, as B is totally unimodular: 1 / (common denominator of c).
    """

    distance: float
    edges: tuple[int, ...]
    values: tuple[float, ...]
    error: float
    spacing: float

    @property
    def feasible(self) -> bool:
        """Whether P is non-empty, up to the error."""
        return self.distance <= self.error

    @property
    def is_decisive(self) -> bool:
        """Whether a value within the error of 0 must be 0, so that the discrete answers are free of rounding."""
        return 2 * self.error < self.spacing

    @property
    def frozen(self) -> tuple[int, ...]:
        """The edges whose minimum exceeds the error."""
        return tuple(e for e, value in zip(self.edges, self.values, strict=True) if value > self.error)


def minima(network: Network, edges: Iterable[int] | None = None) -> Minima:
    """Return min u_e over P for the given edges (default: all), one linear program each.

    The error is certified for each edge. From above by the primal solution: a minimum changes by at most ||r||_1 when c
    changes by r, since some optimal potential has values in {-1, 0, 1}. From below by the dual one, rounded to integers,
    which makes it feasible without any tolerance.

    Raises
    ------
    Undecided
        With reason precision, if the solver ends in any other state than optimal, or its solution violates the error.

    Examples
    --------
    >>> minima(Network.from_edges([("x", "v"), ("v", "y")], balance={"v": -4})).values
    (0.0, 4.0)
    """
    B, c, scale = _program(network)
    asked = tuple(range(network.edge_count)) if edges is None else tuple(edges)
    tolerance = RELATIVE_ERROR * max(1.0, float(np.abs(c).sum()))
    error = tolerance * scale
    spacing = float(Fraction(1, network.denominator))
    distance = _distance(B, c, tolerance) * scale
    if not distance <= error:
        return Minima(distance, (), (), error, spacing)
    values = tuple(_minimum(B, c, e, tolerance) * scale for e in asked)
    return Minima(distance, asked, values, error, spacing)


def regular_frozen_edges(network: Network) -> tuple[int, ...] | None:
    """Return the edges that vanish at no regular point of the invariant set, or None if there is no regular point.

    One linear program for each edge; see `can_vanish_regularly`.
    """
    B, c, _ = _program(network)
    if not _has_regular_point(network, _largest_support(B, c, None)):
        return None
    return tuple(e for e in range(network.edge_count) if not _has_regular_point(network, _largest_support(B, c, e)))


def can_vanish_regularly(network: Network, e: int) -> bool:
    """Return whether some regular point of the invariant set has weight e equal to zero.

    A point is regular iff its support joins every hidden node to a terminal. One linear program finds a point of largest
    support on the face {u in P : u_e = 0}. Coordinates below 1e-8 of the largest balance count as zero.

    Raises
    ------
    Undecided
        With reason precision, if a coordinate is neither clearly positive nor clearly zero, or the solver fails.
    """
    B, c, _ = _program(network)
    return _has_regular_point(network, _largest_support(B, c, e))


def _program(network: Network) -> tuple[Matrix, FloatArray, float]:
    """Return B (h, m), the balance divided by its largest absolute value (h,), and that value."""
    hidden = network.hidden_nodes
    row = np.full(network.node_count, -1)
    row[hidden] = np.arange(len(hidden))
    ends = np.concatenate([row[network.head], row[network.tail]])
    sign = np.repeat([1.0, -1.0], network.edge_count)
    column = np.tile(np.arange(network.edge_count), 2)
    kept = ends >= 0
    B = coo_array((sign[kept], (ends[kept], column[kept])), shape=(len(hidden), network.edge_count)).tocsr()
    numerators = [int(x) for x in network.require_balance()[hidden]]
    largest = max(map(abs, numerators), default=0)
    if largest == 0:
        return B, np.zeros(len(hidden)), 1.0
    # Quotients of integers are correctly rounded in Python, whatever their length.
    c = np.array([x / largest for x in numerators])
    try:
        scale = float(Fraction(largest, network.denominator))
    except OverflowError:
        scale = np.inf
    # All results are multiples of `scale`, at most ||c||_1 of it.
    if not np.finfo(np.float64).tiny <= scale <= np.finfo(np.float64).max / np.abs(c).sum():
        raise Undecided(Reason.PRECISION, "the balances are beyond the range of floating point numbers; rescale them")
    return B, c, scale


def _distance(B: Matrix, c: FloatArray, tolerance: float) -> float:
    """Return min ||Bu - c||_1 over u >= 0, with the residual as slack variables."""
    h, m = B.shape
    slack = eye_array(h)
    return _optimum(np.repeat([0.0, 1.0], [m, 2 * h]), hstack([B, slack, -slack]), c, tolerance)


def _minimum(B: Matrix, c: FloatArray, e: int, tolerance: float) -> float:
    """Return min u_e over P, which must not be empty."""
    cost = np.zeros(B.shape[1])
    cost[e] = 1.0
    return _optimum(cost, B, c, tolerance)


def _optimum(cost: FloatArray, matrix: Matrix, c: FloatArray, tolerance: float) -> float:
    """Return the least cost of u >= 0 with matrix u = c, certified by a dual solution and the residual."""
    if not c.size:
        return 0.0
    solution = _solve(cost, matrix, c, [(0.0, None)] * len(cost))
    if solution.status == _INFEASIBLE:
        raise Undecided(Reason.PRECISION, "the solver finds no point, though the balance is feasible within the error")
    potential = np.rint(solution.eqlin.marginals)
    if (matrix.T @ potential > cost).any():
        raise Undecided(Reason.PRECISION, "the potentials of the solver are not integral: nothing bounds the optimum")
    point = np.maximum(solution.x, 0.0)
    residual = float(np.abs(matrix @ point - c).sum())
    value, lower = float(cost @ point), float(c @ potential)
    if not value + residual - lower <= tolerance:
        raise Undecided(Reason.PRECISION, f"the optimum lies between {lower!r} and {value + residual!r}: too far apart")
    return value


def _largest_support(B: Matrix, c: FloatArray, zero: int | None) -> npt.NDArray[np.bool_] | None:
    """Return the edges that are positive somewhere on P (where u_zero = 0), or None if that face is empty.

    Maximizes the sum of t over 0 <= t <= 1, t <= u, Bu = s c, 1 <= s: scaling up by s makes t_f = 1 possible for all f in the
    support at once, so an optimal t is its indicator.
    """
    h, m = B.shape
    identity = eye_array(m)
    equations = hstack([B, coo_array((h, m)), coo_array(-c.reshape(-1, 1))])
    inequalities: Matrix = hstack([-identity, identity, coo_array((m, 1))])
    bounds: list[tuple[float, float | None]] = [*[(0.0, None)] * m, *[(0.0, 1.0)] * m, (1.0, _LARGEST_SCALE)]
    if zero is not None:
        bounds[zero] = (0.0, 0.0)
    cost = np.concatenate([np.zeros(m), -np.ones(m), [0.0]])
    solution = _solve(cost, equations, np.zeros(h), bounds, inequalities)
    if solution.status == _INFEASIBLE:
        return None
    indicator: FloatArray = solution.x[m : 2 * m]
    unclear = np.flatnonzero(~((indicator <= _ZERO) | (indicator >= _ONE)))
    if unclear.size:
        e = int(unclear[0])
        raise Undecided(Reason.PRECISION, f"edge {e} is barely positive on a face (indicator {indicator[e]:.3g})")
    positive: npt.NDArray[np.bool_] = indicator >= _ONE
    return positive


def _has_regular_point(network: Network, support: npt.NDArray[np.bool_] | None) -> bool:
    """Return whether the support joins every hidden node to a terminal, directions ignored."""
    if support is None:
        return False
    parent = list(range(network.node_count + 1))

    def root(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    terminal = network.node_count
    node = np.where(network.hidden, np.arange(network.node_count), terminal)
    for a, b in zip(node[network.tail[support]].tolist(), node[network.head[support]].tolist(), strict=True):
        parent[root(a)] = root(b)
    return all(root(v) == root(terminal) for v in network.hidden_nodes.tolist())


def _solve(
    cost: FloatArray,
    equations: Matrix,
    right: FloatArray,
    bounds: Sequence[tuple[float, float | None]],
    inequalities: Matrix | None = None,
) -> Any:
    """Return the solver's answer, which is optimal or infeasible."""
    answer = linprog(
        cost,
        A_ub=inequalities,
        b_ub=None if inequalities is None else np.zeros(inequalities.shape[0]),
        A_eq=equations,
        b_eq=right,
        bounds=bounds,
        method="highs",
        options={
            "primal_feasibility_tolerance": _SOLVER_TOLERANCE,
            "dual_feasibility_tolerance": _SOLVER_TOLERANCE,
        },
    )
    if answer.status not in (_OPTIMAL, _INFEASIBLE):
        raise Undecided(Reason.PRECISION, f"the linear program solver stopped undecided: {answer.message}")
    return answer
