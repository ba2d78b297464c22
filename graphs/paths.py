"""An explicit path inside an invariant set between two of its points, or the weight that separates them.

In signed squares w = sign(θ)θ² the invariant set is a union of convex pieces, one in each closed orthant. So a path is
a list of knots, points of the set of which neighbors lie in a common orthant: the straight segments between them stay
in the set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import Certificate, InputError
from .certificates import witness_data
from .connectivity import Connectivity, connectivity
from .faces import face_point, interior_point
from .feasibility import Witness, feasible_point
from .network import Network
from .points import balance_of_squares
from .rank import is_regular

__all__ = ["Path", "component_path"]

Point = tuple[Fraction, ...]


@dataclass(frozen=True)
class Path:
    """How two points of an invariant set are joined.

    Parameters
    ----------
    knots : tuple of points, or None
        Signed squares, the two ends included; None if the points lie in different components.
    separating : tuple of int
        Frozen (or regular-frozen) edges whose weights have opposite signs at the two ends; empty if there is a path.
    certificate : Certificate
        For the instance that has the fields of the network and the two ends as ``start`` and ``end``.
    """

    knots: tuple[Point, ...] | None
    separating: tuple[int, ...] = ()
    certificate: Certificate = field(default=Certificate("", {}), repr=False)

    @property
    def joined(self) -> bool:
        """Whether the two points lie in one component."""
        return self.knots is not None

    def at(self, t: float) -> npt.NDArray[np.float64]:
        """Return θ at `t` in [0, 1], shape (m,); all segments take the same time.

        Near a zero of a weight, θ moves like the square root of t.

        Raises
        ------
        InputError
            If there is no path, or t is outside [0, 1].
        """
        if self.knots is None or not 0 <= t <= 1:
            raise InputError(f"t={t!r}: a number from 0 to 1 on a path that exists is needed; joined={self.joined!r}")
        position = t * (len(self.knots) - 1)
        k = min(int(position), len(self.knots) - 2)
        a, b = (np.array([float(w) for w in knot]) for knot in self.knots[k : k + 2])
        w = a + (position - k) * (b - a)
        theta: npt.NDArray[np.float64] = np.sign(w) * np.sqrt(np.abs(w))
        return theta


def component_path(
    network: Network,
    start: Sequence[Fraction],
    end: Sequence[Fraction],
    *,
    regular: bool = False,
    result: Connectivity | None = None,
) -> Path:
    """Return a path from `start` to `end` inside the invariant set, or the weights that separate them.

    Parameters
    ----------
    start, end : sequences of Fraction, length m
        Signed squares of the weights; both points have to lie in the set exactly.
    regular : bool
        Stay in the regular part, where gradient flow stays. Both ends have to be regular.
    result : Connectivity, optional
        What `connectivity(network)` returned, to save its time.

    Raises
    ------
    InputError
        Naming the end and the node, if an end is not in the set (or, with `regular`, not regular).

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": 1})
    >>> path = component_path(G, [Fraction(1), Fraction(1), Fraction(1)], [Fraction(-1), Fraction(1), Fraction(1)])
    >>> [[str(w) for w in knot] for knot in path.knots]
    [['1', '1', '1'], ['0', '1', '0'], ['-1', '1', '1']]
    """
    first, last = tuple(start), tuple(end)
    for name, point in (("start", first), ("end", last)):
        _require_inside(network, name, point, regular)
    decided = connectivity(network) if result is None else result
    differing = [e for e, (a, b) in enumerate(zip(first, last, strict=True)) if a * b < 0]
    locked = decided.regular_frozen_edges if regular else decided.frozen_edges
    if separating := tuple(e for e in differing if e in set(locked)):
        return Path(None, separating, _separation(decided, separating[0]))
    signs = [1 if (a or b) >= 0 else -1 for a, b in zip(first, last, strict=True)]
    knots = [first]
    while differing:
        squares, flipped = _knot(network, differing, regular)
        knots.append(tuple(s * u for s, u in zip(signs, squares, strict=True)))
        for e in flipped:
            signs[e] = -signs[e]
        differing = [e for e in differing if e not in flipped]
    knots.append(last)
    data = {"knots": [_sparse(knot) for knot in knots], "regular": regular}
    return Path(tuple(knots), (), Certificate("path_of_knots", data))


def _require_inside(network: Network, name: str, point: Point, regular: bool) -> None:
    for v, value in balance_of_squares(network, point).items():
        if value != network.sum_of_balances([v]):
            raise InputError(
                f"{name}: the balance of {network.names[v]!r} is {value}, but {network.sum_of_balances([v])} on the "
                "invariant set; give signed squares of a point that lies in it exactly"
            )
    if regular and not is_regular(network, point):
        raise InputError(
            f"{name}: a singular point, which gradient flow neither reaches nor leaves; ask without regular"
        )


def _knot(network: Network, differing: Sequence[int], regular: bool) -> tuple[Point, frozenset[int]]:
    """Return squares of a point at which some of the edges `differing` vanish, and these; none of them is locked.

    A point that avoids all of them where degrees allow it mostly has nearly all zero. Where that gives nothing, the
    face of one edge does, enlarged edge by edge as long as it lasts.
    """
    squares = _avoiding(network, differing)
    zero = [e for e in differing if squares[e] == 0]
    if not zero:
        zero = [differing[0]]
        squares = _required(face_point(network, zero))
        zero = [e for e in differing if squares[e] == 0]
    if not regular:
        return _fractions(network, squares, 1), frozenset(zero)
    for candidate in (zero, differing[:1]):
        point = face_point(network, candidate)
        p, q = interior_point(network, _required(point), candidate)
        if is_regular(network, p):
            break
    return _fractions(network, p, q), frozenset(e for e in differing if p[e] == 0)


def _avoiding(network: Network, edges: Sequence[int]) -> npt.NDArray[Any]:
    """Return a point of P; `feasible_point` prefers the first edges at each node, so these edges come last."""
    last = np.zeros(network.edge_count, bool)
    last[list(edges)] = True
    order = np.argsort(last, kind="stable")
    reordered = replace(network, tail=network.tail[order], head=network.head[order], weights=None, rounding=None)
    point = _required(feasible_point(reordered))
    squares = np.zeros(network.edge_count, point.dtype)
    squares[order] = point
    return squares


def _required(point: npt.NDArray[Any] | Witness) -> npt.NDArray[Any]:
    assert not isinstance(point, Witness), "the face of a weight that is not frozen is not empty"
    return point


def _fractions(network: Network, numerators: npt.NDArray[Any], q: int) -> Point:
    return tuple(Fraction(int(p), q * network.denominator) for p in numerators.tolist())


def _separation(decided: Connectivity, e: int) -> Certificate:
    """Return the certificate that the two ends differ in the sign of edge e, which is locked."""
    item = next(item for item in decided.edges if item.edge == e)
    assert item.witness is not None
    data = {"edge": e, "witness": witness_data(decided.network, item.witness)}
    return Certificate("different_components", data)


def _sparse(knot: Point) -> dict[str, str]:
    return {str(e): str(w) for e, w in enumerate(knot) if w}
