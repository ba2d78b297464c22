"""Groups that act orthogonally on inputs and labels, by exact generators (standard library only).

A finite group is given by generators, a continuous one by representatives of its components and a basis of its Lie algebra.
Matrices are tuples of rows.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

from lakatos._checker_surds import Entry, Surd, sqrt

__all__ = [
    "LARGEST_GROUP",
    "Action",
    "Square",
    "action",
    "blocks",
    "direct_sum",
    "elements",
    "identity",
    "kron",
    "times",
    "transpose",
]

LARGEST_GROUP = 4000
"""Most elements a finite group may have that is summed over."""

_MOST_WORK = 20_000_000  # products of entries; listing takes seconds then

Square: TypeAlias = "tuple[tuple[Entry, ...], ...]"


@dataclass(frozen=True)
class Action:
    """A compact group acting on inputs and labels; entry i of `generators` (`lie`) is the pair of matrices of generator i.

    Parameters
    ----------
    generators : tuple of pairs of matrices
        Orthogonal; of the finite group, or one for each component that is needed.
    lie : tuple of pairs of matrices
        Skew; a basis of the Lie algebra, empty for a finite group.
    """

    generators: tuple[tuple[Square, Square], ...]
    lie: tuple[tuple[Square, Square], ...] = ()

    @property
    def inputs(self) -> int:
        """Dimension of the inputs."""
        return len((self.generators or self.lie)[0][0])

    @property
    def labels(self) -> int:
        """Dimension of the labels."""
        return len((self.generators or self.lie)[0][1])

    def __post_init__(self) -> None:
        for kind, pairs in (("generators", self.generators), ("lie", self.lie)):
            for i, (x, y) in enumerate(pairs):
                for space, matrix in (("inputs", x), ("labels", y)):
                    size = self.inputs if space == "inputs" else self.labels
                    if len(matrix) != size or any(len(row) != size for row in matrix):
                        raise ValueError(
                            f"{kind}[{i}] on {space}: a {size} x {size} matrix is needed, as for the first one"
                        )
                    if kind == "generators" and times(matrix, transpose(matrix)) != identity(size):
                        raise ValueError(
                            f"{kind}[{i}] on {space}: not orthogonal; "
                            "change to an orthonormal basis of an invariant inner product"
                        )
                    if kind == "lie" and any(matrix[a][b] + matrix[b][a] for a in range(size) for b in range(a + 1)):
                        raise ValueError(
                            f"{kind}[{i}] on {space}: not skew-symmetric, so it generates no orthogonal group"
                        )


def action(
    name: str, *, copies: int = 1, trivial: int = 0, tensor: int = 1, labels: int = 1, natural_labels: bool = False
) -> Action:
    """Return the action of a group known by `name` on ℝ^trivial ⊕ ((ℝⁿ)^{⊗tensor})^copies, ℝⁿ its natural representation.

    Parameters
    ----------
    name : str
        ``C3`` and ``S4`` (any number; permutations), ``sign(d)`` ({±1} on ℝᵈ), ``Q8`` on ℍ = ℝ⁴, ``Heis3`` on ℂ³ = ℝ⁶,
        ``extraspecial32`` on ℍ² = ℝ⁸, ``rotation(N)`` for N = 3, 4, 6 on ℝ², ``octahedral`` and ``icosahedral`` on ℝ³,
        ``O(d)`` and ``SO(d)`` on ℝᵈ.
    labels : int
        Dimension of the labels if the group acts trivially on them.
    natural_labels : bool
        The group acts on labels by one copy of its natural representation instead.

    Raises
    ------
    ValueError
        If the name is unknown.
    """
    finite, lie = _natural(name)
    size = len((finite or lie)[0])
    on_labels: Callable[[Square, bool], Square]
    if natural_labels:
        on_labels = lambda matrix, skew: matrix  # noqa: E731
    else:
        on_labels = lambda matrix, skew: _zero(labels) if skew else identity(labels)  # noqa: E731

    def on_inputs(matrix: Square, skew: bool) -> Square:
        repeated = kron(identity(copies), _tensor_power(matrix, tensor, skew))
        return direct_sum(_zero(trivial) if skew else identity(trivial), repeated) if trivial else repeated

    if not (
        min(copies, tensor, labels) >= 1 and trivial >= 0 and tensor <= 6 and size**tensor * copies + trivial <= 64
    ):
        raise ValueError(
            f"copies={copies!r}, tensor={tensor!r}, trivial={trivial!r}, labels={labels!r}: "
            "positive numbers (trivial: not negative) and inputs of dimension at most 64 are needed"
        )
    return Action(
        tuple((on_inputs(g, False), on_labels(g, False)) for g in finite),
        tuple((on_inputs(g, True), on_labels(g, True)) for g in lie),
    )


def elements(act: Action) -> list[tuple[Square, Square]]:
    """Return all elements of a finite group, as pairs of matrices on inputs and labels.

    Raises
    ------
    ValueError
        If there are more than `LARGEST_GROUP`, or fewer but large matrices: the generators generate no finite group, or too
        large a one.
    """
    if act.lie:
        raise ValueError("a continuous group has no list of elements")
    one = (identity(act.inputs), identity(act.labels))
    found, queue = {one}, [one]
    largest = min(LARGEST_GROUP, max(64, _MOST_WORK // (act.inputs**3 + act.labels**3)))
    for x, y in queue:
        for gx, gy in act.generators:
            new = (times(gx, x), times(gy, y))
            if new not in found:
                if len(found) == largest:
                    raise ValueError(
                        f"group: its generators generate no finite group, or one of more than {largest} elements, "
                        f"the most that are summed over on {act.inputs} inputs"
                    )
                found.add(new)
                queue.append(new)
    return queue


def identity(n: int) -> Square:
    """Return the n × n identity."""
    return tuple(tuple(int(i == j) for j in range(n)) for i in range(n))


def times(a: Square, b: Square) -> Square:
    """Return the product of two matrices."""
    columns = list(zip(*b, strict=True))
    return tuple(tuple(_dot(row, column) for column in columns) for row in a)


def _dot(row: Sequence[Entry], column: Sequence[Entry]) -> Entry:
    total: Entry = 0
    for p, q in zip(row, column, strict=True):
        if p and q:  # these matrices are mostly zeros
            total = total + p * q
    return total


def transpose(a: Square) -> Square:
    """Return the transpose."""
    return tuple(zip(*a, strict=True))


def kron(a: Square, b: Square) -> Square:
    """Return the Kronecker product."""
    return tuple(tuple(p * q for p in row for q in other) for row in a for other in b)


def direct_sum(a: Square, b: Square) -> Square:
    """Return the block-diagonal matrix of `a` and `b`."""
    return tuple((*row, *(0,) * len(b)) for row in a) + tuple((*(0,) * len(a), *row) for row in b)


def blocks(rows: Sequence[Sequence[Square]]) -> Square:
    """Return the matrix made of blocks."""
    return tuple(tuple(entry for block in row for entry in block[i]) for row in rows for i in range(len(row[0])))


def _tensor_power(matrix: Square, exponent: int, skew: bool) -> Square:
    """g ⊗ … ⊗ g, or for an element of a Lie algebra the sum of ξ in one factor and 1 in the others."""
    if not skew:
        total = matrix
        for _ in range(exponent - 1):
            total = kron(total, matrix)
        return total
    n = len(matrix)
    terms = [
        kron(kron(identity(n**before), matrix), identity(n ** (exponent - 1 - before))) for before in range(exponent)
    ]
    return tuple(
        tuple(sum(entries[1:], entries[0]) for entries in zip(*rows, strict=True)) for rows in zip(*terms, strict=True)
    )


def _zero(n: int) -> Square:
    return ((0,) * n,) * n


def _permutation(images: Sequence[int]) -> Square:
    """Return the matrix that sends the unit vector i to images[i]."""
    n = len(images)
    return tuple(tuple(int(images[j] == i) for j in range(n)) for i in range(n))


def _natural(name: str) -> tuple[list[Square], list[Square]]:
    """Return generators, and a basis of the Lie algebra, of the natural representation of the group called `name`."""
    if match := re.fullmatch(r"(C|S|sign|O|SO)\(?([1-9][0-9]?)\)?", name):
        family, n = match[1], int(match[2])
        shift, swap = _permutation([*range(1, n), 0]), _permutation([1, 0, *range(2, n)]) if n > 1 else identity(1)
        if family == "C":
            return [shift], []
        if family == "S":
            return [shift, swap], []
        if family == "sign":
            return [tuple(tuple(-int(e) for e in row) for row in _rows(identity(n)))], []
        reflection = tuple(tuple((-1 if i == 0 else 1) * int(i == j) for j in range(n)) for i in range(n))
        return [reflection] if family == "O" else [], [_rotation(n, i, j) for i, j in combinations(range(n), 2)]
    if name not in _NAMED:
        known = ", ".join(["C3", "S4", "sign(3)", "O(4)", "SO(4)", *_NAMED])
        raise ValueError(f"group={name!r}: unknown; known are {known} (with other numbers), or give generators")
    return _NAMED[name](), []


def _rows(matrix: Square) -> list[list[int]]:
    return [[int(float(e)) for e in row] for row in matrix]


def _rotation(n: int, i: int, j: int) -> Square:
    return tuple(tuple(int((a, b) == (j, i)) - int((a, b) == (i, j)) for b in range(n)) for a in range(n))


_CYCLE = _permutation([1, 2, 0])
_I4: Square = ((0, -1, 0, 0), (1, 0, 0, 0), (0, 0, 0, -1), (0, 0, 1, 0))
_J4: Square = ((0, 0, -1, 0), (0, 0, 0, 1), (1, 0, 0, 0), (0, -1, 0, 0))


def _heisenberg() -> list[Square]:
    """The cyclic shift and diag(1, ω, ω²) on ℂ³, realified as [[Re, -Im], [Im, Re]]."""
    half, root = Fraction(-1, 2), Surd(Fraction(0), Fraction(1, 2), 3)
    real = ((1, 0, 0), (0, half, 0), (0, 0, half))
    imaginary: Square = ((0, 0, 0), (0, root, 0), (0, 0, -root))
    negated: Square = ((0, 0, 0), (0, -root, 0), (0, 0, root))
    return [direct_sum(_CYCLE, _CYCLE), blocks([[real, negated], [imaginary, real]])]


def _plane_rotation(cosine: Fraction) -> Square:
    """Rotation of the plane by an angle with cosine ±1/2."""
    sine = Surd(Fraction(0), Fraction(1, 2), 3)
    return ((cosine, -sine), (sine, cosine))


def _icosahedral() -> list[Square]:
    phi = (sqrt(5) + 1) * Fraction(1, 2)
    half = Fraction(1, 2)
    fifth = (
        ((phi - 1) * half, -phi * half, half),
        (phi * half, half, (phi - 1) * half),
        (-half, (phi - 1) * half, phi * half),
    )
    return [_CYCLE, ((-1, 0, 0), (0, -1, 0), (0, 0, 1)), fifth]


_NAMED: dict[str, Callable[[], list[Square]]] = {
    "Q8": lambda: [_I4, _J4],
    "Heis3": _heisenberg,
    "extraspecial32": lambda: [
        direct_sum(_I4, _I4),
        direct_sum(_J4, _J4),
        kron(((0, 1), (1, 0)), identity(4)),
        kron(((1, 0), (0, -1)), identity(4)),
    ],
    "rotation(3)": lambda: [_plane_rotation(Fraction(-1, 2))],
    "rotation(4)": lambda: [((0, -1), (1, 0))],
    "rotation(6)": lambda: [_plane_rotation(Fraction(1, 2))],
    "octahedral": lambda: [_CYCLE, ((0, -1, 0), (1, 0, 0), (0, 0, 1))],
    "icosahedral": _icosahedral,
}
