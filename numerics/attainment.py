"""Whether rescaled weights can have a balance, by linear programming in floating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import coo_array, csr_array, hstack

from ..core import Reason, Undecided
from ..graphs.network import Network
from .rescaling import float_weights

__all__ = ["is_attained"]

_INFEASIBLE = 2  # `status` of scipy.optimize.linprog
_CLEAR = 1e-3  # exact optima are 1 or 0 with the scaling below; the solver is accurate to 1e-7


def is_attained(network: Network, target: npt.ArrayLike) -> bool:
    """Return whether some u that is positive exactly on the non-zero weights has Bu = `target`, shape (n,).

    Maximizes t <= 1 with u >= t on the non-zero weights, Bu = s · target, s >= 1: scaling up by s makes t = 1 possible
    wherever t > 0 is.

    Raises
    ------
    Undecided
        With reason precision, if t is neither clearly 0 nor clearly 1.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v", 1.0), ("v", "y", 0.0)])
    >>> is_attained(G, [0, 1, 0]), is_attained(G, [0, -1, 0])
    (True, False)
    """
    used = np.flatnonzero(float_weights(network) != 0)
    hidden = network.hidden_nodes
    h, m = len(hidden), len(used)
    row = np.full(network.node_count, -1)
    row[hidden] = np.arange(h)
    ends = np.concatenate([row[network.head[used]], row[network.tail[used]]])
    kept = ends >= 0
    sign, column = np.repeat([1.0, -1.0], m)[kept], np.tile(np.arange(m), 2)[kept]
    B = coo_array((sign, (ends[kept], column)), shape=(h, m))
    c = np.asarray(target, np.float64)[hidden]
    c = c / (np.abs(c).max(initial=0.0) or 1.0)
    # u = t + v with v >= 0; variables are v, t and s.
    at_one = np.asarray(B.sum(axis=1)).reshape(h, 1)
    equations: Any = hstack([B, csr_array(at_one), csr_array(-c.reshape(h, 1))])
    bounds: list[tuple[float, float | None]] = [*[(0.0, None)] * m, (0.0, 1.0), (1.0, None)]
    answer = linprog(
        np.concatenate([np.zeros(m), [-1.0, 0.0]]), A_eq=equations, b_eq=np.zeros(h), bounds=bounds, method="highs"
    )
    if answer.status == _INFEASIBLE:
        return False
    if answer.x is None or _CLEAR < answer.x[m] < 1 - _CLEAR:
        raise Undecided(Reason.PRECISION, f"the linear program for the balance ended unclear: {answer.message}")
    return bool(answer.x[m] >= 1 - _CLEAR)
