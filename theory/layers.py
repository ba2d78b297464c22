"""Layers of partly fixed neurons as exact fields of instances: weights F + D ⊙ W on data in a subspace with basis U."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import combinations

from ..core import Hypothesis, InputError
from .matrices import Rows, Vector, identity, product, rank, require_rows, scaled_gram, transpose

__all__ = [
    "FeatureFields",
    "LayerFields",
    "PermutedFields",
    "SubspaceFields",
    "cycles",
    "require_permutation",
    "smallest_square_distance",
]


@dataclass(frozen=True)
class SubspaceFields:
    """A subspace, as the image of U.

    Parameters
    ----------
    U : rows of numbers
        n × k, the basis; row l holds coordinate l of the basis vectors.

    Raises
    ------
    InputError
        If the rows differ in length, or k > n.

    Examples
    --------
    >>> SubspaceFields(U=((Fraction(1),), (Fraction(0),))).coherence
    Fraction(1, 1)
    """

    U: Rows

    def __post_init__(self) -> None:
        require_rows(self.U, "U")
        if self.k > self.n:
            raise InputError(f"U: {self.n} rows and {self.k} columns; a basis of k vectors of length n needs k <= n")

    @property
    def n(self) -> int:
        """Number of inputs."""
        return len(self.U)

    @property
    def k(self) -> int:
        """Dimension of the subspace."""
        return len(self.U[0])

    @property
    def coherence(self) -> Fraction:
        """max_l ‖u_l‖², which is ν if the basis is orthonormal."""
        return max(sum((x * x for x in row), Fraction(0)) for row in self.U)

    def orthonormal(self) -> Hypothesis:
        """Return the hypothesis UᵀU = 1, checked exactly."""
        defect = product(transpose(self.U), self.U) != identity(self.k)
        return Hypothesis("U has orthonormal columns", not defect, "UᵀU = 1 in exact arithmetic")


@dataclass(frozen=True)
class LayerFields(SubspaceFields):
    """A layer of m partly fixed neurons with weights F + D ⊙ W on data in the image of U.

    Parameters
    ----------
    F, D : rows of numbers
        m × n: fixed offsets, and the scales or 0/1 masks of the trainable weights W.

    Raises
    ------
    InputError
        If the shapes do not fit.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> layer = LayerFields(F=((zero, one),), D=((one, zero),), U=((one, zero), (zero, one)))
    >>> layer.centers, layer.grams[0]
    (((Fraction(0, 1), Fraction(1, 1)),), ((Fraction(1, 1), Fraction(0, 1)), (Fraction(0, 1), Fraction(0, 1))))
    """

    F: Rows
    D: Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.F, "F", columns=self.n)
        require_rows(self.D, "D", columns=self.n, count=self.m)

    @property
    def m(self) -> int:
        """Number of neurons."""
        return len(self.F)

    @cached_property
    def centers(self) -> Rows:
        """The rows v_i = Uᵀ f_i."""
        return product(self.F, self.U)

    @cached_property
    def grams(self) -> tuple[Rows, ...]:
        """The matrices S_i = Uᵀ diag(d_i²) U."""
        return tuple(scaled_gram(self.U, tuple(x * x for x in row)) for row in self.D)

    @property
    def has_full_rank(self) -> Hypothesis:
        """The hypothesis that every neuron can have every feature."""
        ranks = [rank(S) for S in self.grams]
        return Hypothesis("every S_i is invertible", min(ranks) == self.k, f"ranks {ranks}, k = {self.k}")

    @property
    def common_gram(self) -> Hypothesis:
        """The hypothesis that all neurons have one Gram matrix."""
        return Hypothesis("all S_i are equal", len(set(self.grams)) == 1, f"{len(set(self.grams))} different matrices")


@dataclass(frozen=True)
class FeatureFields(LayerFields):
    """A layer with features that its neurons are to have.

    Parameters
    ----------
    A : rows of numbers
        Features in the coordinates of U, one row of length k each.

    Raises
    ------
    InputError
        If the rows do not have length k.
    """

    A: Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.A, "A", columns=self.k)

    @property
    def displacements(self) -> Rows:
        """The rows ε_i = a_i − v_i."""
        return tuple(tuple(x - y for x, y in zip(a, v, strict=True)) for a, v in zip(self.A, self.centers, strict=True))


@dataclass(frozen=True)
class PermutedFields(FeatureFields):
    """A layer with one feature for each neuron, and a permutation of them.

    Parameters
    ----------
    permutation : tuple of int
        π as (π(0), π(1), …): neuron i gets the feature of neuron π(i).

    Raises
    ------
    InputError
        If there are not m features, or π is no permutation of 0 … m − 1.
    """

    permutation: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.A, "A", count=self.m)
        require_permutation(self.permutation, self.m)

    @property
    def moved(self) -> tuple[int, ...]:
        """The neurons with π(i) ≠ i."""
        return tuple(i for i, j in enumerate(self.permutation) if i != j)

    @property
    def shifts(self) -> tuple[Vector, ...]:
        """The differences δ_i = v_π(i) − v_i, for all i."""
        V = self.centers
        return tuple(tuple(x - y for x, y in zip(V[j], V[i], strict=True)) for i, j in enumerate(self.permutation))


def require_permutation(permutation: Sequence[int], m: int) -> None:
    """Raise InputError unless this is a permutation of 0 … m − 1.

    Raises
    ------
    InputError
        Showing what was given.
    """
    if sorted(permutation) != list(range(m)):
        raise InputError(f"permutation={list(permutation)!r}: each of 0 to {m - 1} once is needed, one for each neuron")


def cycles(permutation: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the cycles of a permutation that move something, each from its smallest element.

    Examples
    --------
    >>> cycles((1, 0, 2, 4, 3))
    ((0, 1), (3, 4))
    """
    seen: set[int] = set()
    found = []
    for start in range(len(permutation)):
        cycle = []
        at = start
        while at not in seen:
            seen.add(at)
            cycle.append(at)
            at = permutation[at]
        if len(cycle) > 1:
            found.append(tuple(cycle))
    return tuple(found)


def smallest_square_distance(points: Rows) -> Fraction:
    """Return the smallest ‖x − y‖² over pairs of rows.

    Examples
    --------
    >>> smallest_square_distance(((Fraction(0),), (Fraction(3),), (Fraction(4),)))
    Fraction(1, 1)
    """
    return min(sum(((a - b) ** 2 for a, b in zip(x, y, strict=True)), Fraction(0)) for x, y in combinations(points, 2))
