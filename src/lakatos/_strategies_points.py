"""Hypothesis strategies for networks with points of their invariant sets; see `lakatos.testing`."""

from __future__ import annotations

from fractions import Fraction

from hypothesis import strategies as st

from ._strategies_networks import Fields, balanced_dags, plain_number
from .graphs.faces import interior_point
from .graphs.feasibility import Witness, feasible_point
from .graphs.network import Network

__all__ = ["dags_with_points", "dags_with_signs"]

_WEIGHTS = (Fraction(0), Fraction(1), Fraction(1, 3))
_SIGNS = st.sampled_from((1, -1))


@st.composite
def dags_with_points(draw: st.DrawFn, *names: str, max_edges: int = 7) -> Fields:
    """Return a strategy for acyclic networks with balances and points of their invariant sets, one for each of `names`.

    Points are lists of signed squares sign(θ)θ². Vertices of the set of squares, points of largest support and mixtures
    of the two occur, with any signs.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(dags_with_points("start"), lambda fields: fields["start"][0] == -1)["start"]
    [-1, 1]
    """
    fields = dict(draw(balanced_dags(max_edges=max_edges)))
    network = Network.from_edges(**fields)
    vertex = feasible_point(network)
    assert not isinstance(vertex, Witness), "an acyclic network without dead ends has no empty invariant set"
    p, q = interior_point(network, vertex)
    ends = [(Fraction(int(u)), Fraction(int(x), q)) for u, x in zip(vertex.tolist(), p.tolist(), strict=True)]
    for name in names:
        weight = draw(st.sampled_from(_WEIGHTS))
        squares = [(weight * u + (1 - weight) * x) / network.denominator for u, x in ends]
        fields[name] = [plain_number(draw(_SIGNS) * square) for square in squares]
    return fields


@st.composite
def dags_with_signs(draw: st.DrawFn, max_edges: int = 7) -> Fields:
    """Return a strategy for `dags_with_points` called ``start``, with a list of signs, one for each edge.

    Examples
    --------
    >>> from hypothesis import find
    >>> find(dags_with_signs(), lambda fields: -1 in fields["signs"])["signs"]
    [1, -1]
    """
    fields = draw(dags_with_points("start", max_edges=max_edges))
    return {**fields, "signs": [draw(_SIGNS) for _ in fields["edges"]]}
