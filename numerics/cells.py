"""Betti numbers of small invariant sets, from a cell complex: no formula is used.

For large R the set H ∩ {Σθ² <= R} has the homotopy type of H. It is glued from 2^m copies of the polytope P ∩ {Σu <=
R}, so its cells are the faces of that polytope, each once for every sign vector on its support. A face F of P
contributes the face {u in F, Σu <= R}, and if F is unbounded also {u in F, Σu = R}, of one dimension less. Modulo 2 the
boundary of a cell is the sum of its facets, with the signs restricted to their supports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from ..core import Reason, Undecided
from ..graphs.network import Network
from .polyhedra import Polyhedron

__all__ = ["betti_numbers"]

_MOST_CELLS = 200_000


class _Face(NamedTuple):
    """A face of the truncated polytope: the support of the face of P that it comes from, and whether it lies on Σu = R."""

    support: int
    at_infinity: bool


def betti_numbers(network: Network) -> tuple[int, ...]:
    """Return the Betti numbers of the invariant set over the field with two elements, without trailing zeros; () if empty.

    Raises
    ------
    ValueError
        If the network has more edges than `lakatos.numerics.polyhedra.LARGEST`.
    Undecided
        If the complex would be too large (memory).

    Examples
    --------
    >>> betti_numbers(Network.from_edges([("x", "v"), ("z", "v"), ("v", "y")], balance={"v": 1}))
    (1, 1)
    """
    polyhedron = Polyhedron.of(network)
    dimension = _dimensions(_supports(polyhedron))
    facets = _facets(polyhedron, dimension)
    count = sum(1 << face.support.bit_count() for face in facets)
    if count > _MOST_CELLS:
        raise Undecided(Reason.MEMORY, f"the cell complex has {count} cells; at most {_MOST_CELLS} are reduced")
    top = max((dimension[face.support] for face in facets), default=-1)
    cells: list[list[tuple[_Face, int]]] = [[] for _ in range(top + 2)]
    for face in facets:
        k = dimension[face.support] - face.at_infinity
        cells[k] += [(face, signs) for signs in _subsets(face.support)]
    ranks = [0, *(_rank(cells[k], cells[k - 1], facets) for k in range(1, top + 2))]
    betti = [len(cells[k]) - ranks[k] - ranks[k + 1] for k in range(top + 1)]
    while betti and betti[-1] == 0:
        betti.pop()
    return tuple(betti)


def _supports(polyhedron: Polyhedron) -> set[int]:
    """Return the supports of all faces of P."""
    found = (polyhedron.support(D) for D in range(1 << polyhedron.size))
    return {S for S in found if S is not None}


def _dimensions(supports: Iterable[int]) -> dict[int, int]:
    """Return the dimension of every face: the length of a longest chain of faces below it, down to a vertex."""
    dimension: dict[int, int] = {}
    for S in sorted(supports, key=int.bit_count):
        dimension[S] = 1 + max((k for T, k in dimension.items() if T & ~S == 0), default=-1)
    return dimension


def _facets(polyhedron: Polyhedron, dimension: dict[int, int]) -> dict[_Face, list[_Face]]:
    """Return all faces of the truncated polytope with their facets."""
    unbounded = {S for S in dimension if any(cycle & ~S == 0 for cycle in polyhedron.cycles)}
    facets: dict[_Face, list[_Face]] = {}
    for S, k in dimension.items():
        below = [T for T, j in dimension.items() if j == k - 1 and T & ~S == 0]
        facets[_Face(S, False)] = [_Face(T, False) for T in below]
        if S in unbounded:
            facets[_Face(S, False)].append(_Face(S, True))
            facets[_Face(S, True)] = [_Face(T, True) for T in below if T in unbounded]
    return facets


def _rank(cells: list[tuple[_Face, int]], boundary: list[tuple[_Face, int]], facets: dict[_Face, list[_Face]]) -> int:
    """Return the rank modulo 2 of the boundary map, by column reduction."""
    row = {cell: i for i, cell in enumerate(boundary)}
    reduced: dict[int, set[int]] = {}
    for face, signs in cells:
        column = {row[facet, signs & facet.support] for facet in facets[face]}
        while column and (pivot := max(column)) in reduced:
            column ^= reduced[pivot]
        if column:
            reduced[pivot] = column
    return len(reduced)


def _subsets(mask: int) -> Iterator[int]:
    subset = 0
    while True:
        yield subset
        if subset == mask:
            return
        subset = (subset - mask) & mask
