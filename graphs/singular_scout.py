"""Search for hidden nodes that can be cut off, in floating point: what it finds has to be verified exactly.

With x_v = 1 for v ∈ W, a singular point is a solution of Bu = c, 0 ≤ u_e ≤ M (1 − |x_a − x_b|), Σx ≥ 1, where
M = max(1, Σ|c|) is enough because vertices of P satisfy u_e ≤ Σ|c|; that Σ c_v x_v = 0 follows, and helps the solver. A
mixed-integer program for HiGHS, through SciPy.
"""

from __future__ import annotations

import numpy as np

from .faces import crossing_edges, face_point
from .factors import Factor
from .feasibility import Witness
from .network import Network

__all__ = ["scouted_set"]

_LARGEST_PROGRAM = 2000  # edges; beyond, the relaxation alone takes longer than the limit
_SECONDS = 20.0
_MOST_SINGLE_NODES = 100
_SPREAD = 1e9  # beyond this ratio of balances the tolerances of the solver (1e-7 of M) hide the small ones


def scouted_set(network: Network, factor: Factor) -> tuple[int, ...]:
    """Return nodes of `factor` whose boundary may vanish somewhere on the invariant set, or () if none were found.

    Single nodes of balance zero come first; these are decided exactly.

    Examples
    --------
    >>> from .factors import factors
    >>> G = Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")], balance={"a": -1, "b": 1})
    >>> scouted_set(G, factors(G)[0])
    (1, 2)
    """
    c = network.require_balance()
    alone = [v for v in factor.nodes if c[v] == 0]
    for v in alone[:_MOST_SINGLE_NODES]:
        if not isinstance(face_point(network, crossing_edges(network, [v])), Witness):
            return (v,)
    if len(factor.edges) > _LARGEST_PROGRAM:
        return ()
    return _by_program(network, factor)


def _by_program(network: Network, factor: Factor) -> tuple[int, ...]:
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import block_array, coo_array, csr_array, eye_array, vstack

    nodes, edges = np.array(factor.nodes), np.array(factor.edges)
    numerators = [int(x) for x in network.require_balance()[nodes]]
    largest = max(1, *map(abs, numerators))
    if largest > _SPREAD * min((abs(x) for x in numerators if x), default=1):
        return ()
    c = np.array([x / largest for x in numerators])
    bound = max(1.0, float(np.abs(c).sum()))
    h, m = len(nodes), len(edges)
    row = np.full(network.node_count, -1)
    row[nodes] = np.arange(h)
    a, b = row[network.tail[edges]], row[network.head[edges]]
    k = np.arange(m)

    def ends(at_tail: float, at_head: float) -> coo_array:
        """Return the matrix (m, h) with these entries at the two ends of every edge."""
        entries = np.concatenate([np.full(int((a >= 0).sum()), at_tail), np.full(int((b >= 0).sum()), at_head)])
        rows, columns = np.concatenate([k[a >= 0], k[b >= 0]]), np.concatenate([a[a >= 0], b[b >= 0]])
        return coo_array((entries, (rows, columns)), shape=(m, h))

    difference = ends(bound, -bound)
    balance = block_array([[ends(-1.0, 1.0).T, coo_array((h, h))]])
    limits = block_array([[eye_array(m), difference], [eye_array(m), -difference]])
    places = np.zeros(h, int), m + np.arange(h)
    some, total = (coo_array((values, places), shape=(1, m + h)) for values in (np.ones(h), c))
    answer = milp(
        np.zeros(m + h),
        integrality=np.repeat([0, 1], [m, h]),
        bounds=Bounds(np.zeros(m + h), np.repeat([bound, 1.0], [m, h])),
        constraints=LinearConstraint(
            csr_array(vstack([balance, limits, some, total])),
            np.concatenate([c, np.full(2 * m, -np.inf), [1.0, 0.0]]),
            np.concatenate([c, np.full(2 * m, bound), [float(h), 0.0]]),
        ),
        options={"time_limit": _SECONDS},
    )
    if answer.x is None:
        return ()
    return tuple(nodes[answer.x[m:] > 0.5].tolist())
