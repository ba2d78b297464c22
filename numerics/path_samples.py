"""Points along a path in the space of weights, and how far they are from the invariant set and from each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from ..graphs.network import Network

__all__ = ["PathSamples", "sample_path"]


@dataclass(frozen=True)
class PathSamples:
    """What was seen along a path.

    Parameters
    ----------
    residual : float
        max |Bθ² − c| over all samples and nodes.
    bound : float
        8 ε n S, where n is the largest degree and S the largest sum of squares at a node: what rounding can leave.
    largest_crossing : float
        Largest |θ_e| at a sample next to one where θ_e has the other sign; near 0 if signs change only at zeros.
    """

    residual: float
    bound: float
    largest_crossing: float


def sample_path(network: Network, knots: Sequence[Sequence[Fraction]], samples: int = 400) -> PathSamples:
    """Return what is seen at this many points on each segment of a path, which is straight in signed squares between knots.

    Times are denser at both ends of a segment, where weights leave zero like a square root.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": 1})
    >>> sample_path(G, [[Fraction(2), Fraction(1)], [Fraction(1), Fraction(0)]]).residual < 1e-15
    True
    """
    tail, head = network.tail, network.head
    c = np.array([float(Fraction(int(x), network.denominator)) for x in network.require_balance()])
    times = np.sin(np.pi / 2 * np.linspace(0, 1, samples)) ** 2
    points = np.array([[float(w) for w in knot] for knot in knots]).reshape(len(knots), network.edge_count)
    w = np.concatenate(
        [
            (1 - times[:, None]) * points[i] + times[:, None] * points[min(i + 1, len(points) - 1)]
            for i in range(max(1, len(points) - 1))
        ]
    )
    theta = np.sign(w) * np.sqrt(np.abs(w))
    residual = volume = 0.0
    for point in theta**2:
        inward = np.bincount(head, weights=point, minlength=network.node_count)
        outward = np.bincount(tail, weights=point, minlength=network.node_count)
        off = np.abs(inward - outward - c)[network.hidden]
        residual = max(residual, float(off.max(initial=0.0)))
        volume = max(volume, float((inward + outward + np.abs(c))[network.hidden].max(initial=0.0)))
    degree = max(int(network.in_degree.max(initial=1)), int(network.out_degree.max(initial=1)))
    crossing = theta[1:] * theta[:-1] < 0
    next_to_it = np.minimum(np.abs(theta[1:]), np.abs(theta[:-1]))[crossing]
    return PathSamples(residual, 8 * np.finfo(np.float64).eps * degree * volume, float(next_to_it.max(initial=0.0)))
