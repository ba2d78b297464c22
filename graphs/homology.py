"""Betti numbers of invariant sets over the field with two elements.

H is glued from one copy of the convex set P for every sign vector, along the faces where signs differ. With K = {D :
the weights in D vanish together somewhere on H} this gives b_k(H) = Σ_J b̃_{k−1}(K_J) over all sets J of edges, where
K_J = {D ∈ K : D ⊂ J} and b̃ are reduced Betti numbers. Sets of edges are bit masks over the edges of one factor.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import Certificate, Reason, Undecided
from .certificates import empty_certificate, point_data, witness_data
from .faces import face_point
from .factors import Factor, factors
from .feasibility import Witness, feasible_point
from .network import Network

__all__ = ["LARGEST_FACTOR", "Homology", "betti_numbers", "betti_of_restrictions", "homology", "reduced_betti_numbers"]

LARGEST_FACTOR = 10
"""Most edges of a factor: the work is 3^edges."""


@dataclass(frozen=True)
class Homology:
    """Betti numbers over the field with two elements, b_0 first, without trailing zeros; () if the set is empty."""

    betti: tuple[int, ...]
    certificate: Certificate = field(repr=False)


@dataclass(frozen=True)
class _Faces:
    """Which sets of edges vanish together in one factor.

    Every set is below a facet or above an obstruction; both are shown, by a point and by a set of nodes.
    """

    facets: dict[int, npt.NDArray[Any]]
    obstructions: dict[int, Witness]


def betti_numbers(network: Network) -> tuple[int, ...]:
    """Return the Betti numbers of the invariant set over the field with two elements; see `homology`.

    Examples
    --------
    >>> betti_numbers(Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": 1}))
    (1, 1)
    """
    return homology(network).betti


def homology(network: Network) -> Homology:
    """Return the Betti numbers of the invariant set, with the faces they rest on as a certificate.

    The network is split at its terminals first: Poincaré polynomials multiply.

    Raises
    ------
    InputError
        If the network has no balance.
    Undecided
        If a factor has more than `LARGEST_FACTOR` edges.
    """
    point = feasible_point(network)
    if isinstance(point, Witness):
        return Homology((), empty_certificate(network, point))
    polynomial: tuple[int, ...] = (1,)
    data = []
    for factor in factors(network):
        if len(factor.edges) > LARGEST_FACTOR:
            raise Undecided(
                Reason.INCOMPLETE_METHOD,
                f"Betti numbers: {len(factor.edges)} edges hang together at hidden neuron "
                f"{network.names[factor.nodes[0]]!r}; at most {LARGEST_FACTOR} are supported, since the work grows like "
                "3^edges. Ask without Betti numbers",
            )
        faces = _faces(network, factor)
        polynomial = _product(polynomial, betti_of_restrictions(len(factor.edges), faces.facets))
        data.append(_factor_json(network, factor, faces))
    return Homology(polynomial, Certificate("betti_numbers", {"factors": data}))


def betti_of_restrictions(size: int, facets: Iterable[int]) -> tuple[int, ...]:
    """Return Σ_J b̃_{k−1}(K_J) for k = 0, 1, … without trailing zeros; K has these facets, J runs over subsets of range(size).

    An edge in no facet (a frozen weight) doubles everything, an edge in all facets makes every K_J that has it a cone.

    Examples
    --------
    >>> betti_of_restrictions(3, [0b101, 0b110])
    (1, 1)
    """
    listed = list(facets)
    everywhere = ~0
    somewhere = 0
    for facet in listed:
        everywhere &= facet
        somewhere |= facet
    ghosts = size - somewhere.bit_count()
    vertices = somewhere & ~everywhere
    simplices = sorted({D for facet in listed for D in _subsets(facet & vertices)}, key=int.bit_count)
    total = [0] * (size + 1)
    for J in _subsets(vertices):
        for k, b in enumerate(reduced_betti_numbers([D for D in simplices if D & ~J == 0])):
            total[k] += b << ghosts
    while total and total[-1] == 0:
        total.pop()
    return tuple(total)


def reduced_betti_numbers(simplices: Sequence[int]) -> tuple[int, ...]:
    """Return b̃_{−1}, b̃_0, … of a complex over the field with two elements.

    Parameters
    ----------
    simplices : sequence of int
        Bit masks, the empty simplex 0 and all faces among them, in order of their size.

    Examples
    --------
    >>> reduced_betti_numbers([0]), reduced_betti_numbers([0, 0b01, 0b10])
    ((1,), (0, 1))
    """
    by_size: list[list[int]] = [[] for _ in range(simplices[-1].bit_count() + 2)]
    for D in simplices:
        by_size[D.bit_count()].append(D)
    ranks = [0, *(_boundary_rank(large, small) for small, large in pairwise(by_size))]
    return tuple(len(by_size[k]) - ranks[k] - ranks[k + 1] for k in range(len(ranks) - 1))


def _boundary_rank(simplices: Sequence[int], boundary: Sequence[int]) -> int:
    """Return the rank mod 2 of the boundary map from simplices of one size to those of one element less."""
    index = {D: i for i, D in enumerate(boundary)}
    basis: dict[int, int] = {}
    for D in simplices:
        row = sum(1 << index[D ^ bit] for bit in _bits(D))
        while row and (pivot := row.bit_length()) in basis:
            row ^= basis[pivot]
        if row:
            basis[row.bit_length()] = row
    return len(basis)


def _faces(network: Network, factor: Factor) -> _Faces:
    """Decide every set of edges, small ones first, each by an old point or obstruction, or else a new one.

    A minimal non-face is reached before any other set above it, so that its obstruction is the set itself.
    """
    edges = np.array(factor.edges, np.int64)
    points: dict[int, npt.NDArray[Any]] = {}
    obstructions: dict[int, Witness] = {}
    for D in sorted(range(1 << len(edges)), key=int.bit_count):
        if any(D & ~Z == 0 for Z in points) or any(N & ~D == 0 for N in obstructions):
            continue
        answer = face_point(network, edges[[D >> i & 1 == 1 for i in range(len(edges))]].tolist())
        if isinstance(answer, Witness):
            obstructions[D] = answer
        else:
            points[sum(1 << i for i, e in enumerate(factor.edges) if answer[e] == 0)] = answer
    facets = {Z: u for Z, u in points.items() if not any(other != Z and Z & ~other == 0 for other in points)}
    return _Faces(facets, obstructions)


def _factor_json(network: Network, factor: Factor, faces: _Faces) -> dict[str, Any]:
    mine = np.zeros(network.edge_count, bool)
    mine[list(factor.edges)] = True
    return {
        "edges": list(factor.edges),
        "points": [point_data(network, np.where(mine, u, 0)) for u in faces.facets.values()],
        "obstructions": [witness_data(network, witness) for witness in faces.obstructions.values()],
    }


def _product(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    result = [0] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            result[i + j] += x * y
    return tuple(result)


def _subsets(mask: int) -> Iterator[int]:
    """Yield all subsets of `mask`, the empty set first."""
    D = 0
    while True:
        yield D
        if mask == D:
            return
        D = (D - mask) & mask


def _bits(mask: int) -> Iterator[int]:
    while mask:
        bit = mask & -mask
        yield bit
        mask ^= bit
