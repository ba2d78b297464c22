"""Rescaling neurons so that a network keeps its function and gets given balances.

Multiplying the incoming weights of neuron v by α_v > 0 and dividing its outgoing ones by α_v changes nothing that a
positively homogeneous network computes. With α = exp(x), θ_e becomes θ_e exp((Bᵀx)_e), and x gives the balance c' iff
it is the minimizer of the convex function Φ(x) = ½ Σ_e θ_e² exp(2(Bᵀx)_e) − c'·x, whose gradient is B(θ² exp(2Bᵀx)) −
c'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import coo_array
from scipy.sparse.linalg import splu

from ..core import InputError, Reason, Undecided
from ..graphs.network import IntArray, Network

__all__ = ["RESOLUTION", "Rescaling", "float_weights", "rescale"]

FloatArray = npt.NDArray[np.float64]

RESOLUTION = 1e-10
"""Largest error of a balance that is accepted, relative to the largest balance aimed at, or absolute if that is below 1."""

_TARGET = 1e-13  # what Newton's method aims at; it converges quadratically, and rounding of the sums is near 1e-15
_MOST_STEPS = 1000  # a handful is enough, but weights of 1e±30 change by a factor of e in each
_DESCENT = 1e-4  # the usual constant of Armijo's rule
_SHORTEST_STEP = 1e-18
_DENSE = 0.1  # density of the Hessian from which a dense Cholesky factorization is faster than a sparse one


@dataclass(frozen=True, eq=False)
class Rescaling:
    """What was found.

    Parameters
    ----------
    log_scale : float array, shape (n,)
        log α_v; 0 on terminals.
    weights : float array, shape (m,)
        The new weights θ_e α_head / α_tail.
    residual : float
        max_v |B θ'² − c'|_v.
    steps : int
        Newton steps.
    """

    log_scale: FloatArray
    weights: FloatArray
    residual: float
    steps: int


def rescale(network: Network, target: npt.ArrayLike, *, start: npt.ArrayLike | None = None) -> Rescaling:
    """Return the rescaling of the weights of `network` to the balance `target`.

    Newton's method on Φ with step halving. If the Jacobian has full rank there is at most one rescaling, and this is
    it.

    Parameters
    ----------
    target : array, shape (n,)
        Balance of every hidden node; entries of terminals are ignored.
    start : array, shape (n,), optional
        log α to start from; default 0.

    Raises
    ------
    InputError
        If the network has no weights.
    Undecided
        With reason precision, if no rescaling to within `RESOLUTION` is found: most often because there is none, which
        `lakatos.graphs.vanishing.attainment` decides exactly.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v", 2.0), ("v", "y", 1.0)])
    >>> rescale(G, [0, 0, 0]).weights.round(12).tolist()
    [1.414213562373, 1.414213562373]
    """
    theta = float_weights(network)
    hidden = network.hidden_nodes
    goal = np.asarray(target, np.float64)[hidden]
    function = _Function(network, theta, goal)
    x = np.zeros(len(hidden)) if start is None else np.asarray(start, np.float64)[hidden].copy()
    steps = 0
    while function.error(x) > _TARGET * function.scale(x) and steps < _MOST_STEPS:
        direction = function.newton_direction(x)
        step = function.step_length(x, direction)
        if step == 0.0:
            break
        x = x + step * direction
        steps += 1
    residual = function.error(x)
    if not residual <= RESOLUTION * max(1.0, float(np.abs(goal).max(initial=0.0))):
        raise Undecided(
            Reason.PRECISION, f"no rescaling was found: after {steps} Newton steps a balance is off by {residual:.3g}"
        )
    full = np.zeros(network.node_count)
    full[hidden] = x
    return Rescaling(full, theta * np.exp(full[network.head] - full[network.tail]), residual, steps)


def float_weights(network: Network) -> FloatArray:
    """Return the weights as floats, shape (m,).

    Raises
    ------
    InputError
        If there are none, or one exceeds the range of floats.
    """
    if network.weights is None:
        raise InputError("edges: have no weights, so there is nothing to rescale; give weights for all edges")
    if isinstance(network.weights, np.ndarray):
        return network.weights.astype(np.float64, copy=False)
    try:
        return np.array([float(w) for w in network.weights])
    except OverflowError:
        raise InputError("edges: a weight exceeds the range of floating point numbers; rescale the weights") from None


class _Function:
    """Φ with its derivatives."""

    def __init__(self, network: Network, theta: FloatArray, goal: FloatArray) -> None:
        self.count = len(network.hidden_nodes)
        row = np.full(network.node_count, -1)
        row[network.hidden_nodes] = np.arange(self.count)
        self.tail: IntArray = row[network.tail]
        self.head: IntArray = row[network.head]
        self.squares = theta**2
        self.goal = goal

    def value(self, x: FloatArray) -> float:
        """Return Φ(x); infinite, or not a number, where it overflows."""
        return 0.5 * float(self._squares_at(x).sum()) - float(self.goal @ x)

    def gradient(self, x: FloatArray) -> FloatArray:
        """Return the balance at x minus the one aimed at."""
        return self._at_hidden(self._squares_at(x), -1.0) - self.goal

    def error(self, x: FloatArray) -> float:
        """Return the largest entry of the gradient."""
        return float(np.abs(self.gradient(x)).max(initial=0.0))

    def scale(self, x: FloatArray) -> float:
        """Return the largest sum of squared weights at a hidden node, to which rounding is proportional."""
        return float(self._at_hidden(self._squares_at(x), 1.0).max(initial=0.0))

    def step_length(self, x: FloatArray, direction: FloatArray) -> float:
        """Return 1, ½, ¼, …: the first that decreases Φ enough, or halves the error; 0 if rounding leaves none.

        Close to the minimum the decrease of Φ drowns in its rounding, where the error still shrinks.
        """
        value, error = self.value(x), self.error(x)
        slope = float(direction @ self.gradient(x))
        step = 1.0
        while step > _SHORTEST_STEP:
            moved = x + step * direction
            # Comparisons with what has overflowed fail, so that too long a step is refused.
            if self.value(moved) <= value + _DESCENT * step * slope or self.error(moved) <= error / 2:
                return step
            step /= 2
        return 0.0

    def newton_direction(self, x: FloatArray) -> FloatArray:
        """Solve 2B diag(u)Bᵀ d = −gradient, a Laplacian that is grounded at the terminals."""
        gradient = self.gradient(x)
        u = self._squares_at(x)
        diagonal = self._at_hidden(u, 1.0)
        inner = (self.tail >= 0) & (self.head >= 0) & (u > 0)
        a, b = self.tail[inner], self.head[inner]
        # A neuron cut off from everything has a zero row; where it is, does not matter.
        diagonal[diagonal == 0] = 1.0
        k = np.arange(self.count)
        laplacian: Any = coo_array(
            (np.concatenate([diagonal, -u[inner], -u[inner]]), (np.concatenate([k, a, b]), np.concatenate([k, b, a]))),
            shape=(self.count, self.count),
        ).tocsc()
        try:
            if laplacian.nnz > _DENSE * self.count**2:
                solution: FloatArray = cho_solve(cho_factor(laplacian.toarray()), -gradient / 2)
            else:
                solution = splu(laplacian).solve(-gradient / 2)
        except (LinAlgError, RuntimeError):
            raise Undecided(
                Reason.PRECISION, "the rescaling is not unique: some neurons are cut off from all terminals"
            ) from None
        return solution

    def _squares_at(self, x: FloatArray) -> FloatArray:
        padded = np.append(x, 0.0)  # row −1 is that of terminals
        with np.errstate(over="ignore", invalid="ignore"):
            squares: FloatArray = self.squares * np.exp(2 * (padded[self.head] - padded[self.tail]))
        return squares

    def _at_hidden(self, u: FloatArray, sign: float) -> FloatArray:
        inward = np.bincount(self.head + 1, weights=u, minlength=self.count + 1)
        outward = np.bincount(self.tail + 1, weights=u, minlength=self.count + 1)
        total: FloatArray = (inward + sign * outward)[1:]
        return total
