"""The symmetry that averaging over a group leaves in the squared loss: commutant, types of irreducibles, lift group.

The lift group H = {h ∈ O(n) : hA = Ah for symmetric A in the commutant, Bh = B for intertwiners B to the labels} is a product
over isotypic components ℝᵐ ⊗ V: trivial if V occurs in the labels, O(dim V) if m = 1, otherwise O, U or Sp by the type of V.
Bases are exact; the decomposition is proposed with floating-point numbers and has to meet every dimension identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sympy.polys.domains import QQ
from sympy.polys.matrices import DomainMatrix

from .._checker_groups import Action, Square
from .._checker_lift import LARGEST_CHECKED, SPACES, Equation, commuting, lift_equations, residue_of
from .._checker_surds import Surd
from ..core import Certificate, Reason, Undecided
from .exact_matrices import Rows
from .modular import Echelon

__all__ = ["Block", "LiftGroup", "decomposition", "fixed_matrices", "lift_group"]

_SEPARATED = 1e-7
"""Relative distance of eigenvalues that are taken for different; closer ones are drawn again."""

_DRAWS = 5

Flat = list[Fraction]


@dataclass(frozen=True)
class Block:
    """An isotypic component: `multiplicity` copies of an irreducible of dimension `dimension`.

    Parameters
    ----------
    type : str
        ``R``, ``C`` or ``H``: its commuting maps.
    label_multiplicity : int
        How often it occurs in the labels.
    """

    multiplicity: int
    dimension: int
    type: str
    label_multiplicity: int

    @property
    def delta(self) -> int:
        """Real dimension of the commuting maps."""
        return {"R": 1, "C": 2, "H": 4}[self.type]

    @property
    def factor(self) -> str:
        """The factor of the lift group."""
        if self.label_multiplicity:
            return "1"
        n = self.dimension
        if self.multiplicity == 1 or self.type == "R":
            return f"O({n})"
        return f"U({n // 2})" if self.type == "C" else f"Sp({n // 4})"

    @property
    def factor_dimension(self) -> int:
        """Dimension of that factor."""
        n, k = self.dimension, self.dimension // 4
        sizes = {"1": 0, "O": n * (n - 1) // 2, "U": (n // 2) ** 2, "S": k * (2 * k + 1)}
        return sizes[self.factor[0]]


@dataclass(frozen=True)
class LiftGroup:
    """Blocks of the representation and rational bases, as flat matrices, of the four spaces of `lakatos._checker_lift`."""

    action: Action
    blocks: tuple[Block, ...]
    bases: dict[str, list[Flat]]

    @property
    def dimensions(self) -> dict[str, int]:
        """What the blocks imply for the dimensions of the four spaces."""
        b = self.blocks
        return {
            "dim_end": sum(x.delta * x.multiplicity**2 for x in b),
            "dim_sym": sum(x.multiplicity + x.delta * x.multiplicity * (x.multiplicity - 1) // 2 for x in b),
            "dim_hom": sum(x.delta * x.multiplicity * x.label_multiplicity for x in b),
            "dim_lie": sum(x.factor_dimension for x in b),
        }

    @property
    def certificate(self) -> Certificate | None:
        """Bases of the four spaces; None if the inputs are too many to be checked without arrays."""
        n = self.action.inputs
        if n > LARGEST_CHECKED:
            return None
        return Certificate(
            "lift_group",
            {
                "bases": {
                    space: [[list(map(str, flat[i : i + n])) for i in range(0, len(flat), n)] for flat in basis]
                    for space, basis in self.bases.items()
                }
            },
        )


def lift_group(act: Action) -> LiftGroup:
    """Return blocks and exact bases for an action.

    Raises
    ------
    Undecided
        If a basis is irrational, or the floating-point decomposition misses a dimension identity.

    Examples
    --------
    >>> from .._checker_groups import action
    >>> [(b.multiplicity, b.dimension, b.factor) for b in lift_group(action("C3")).blocks]
    [(1, 2, 'O(2)'), (1, 1, '1')]
    """
    bases: dict[str, list[Flat]] = {}
    for space in SPACES:
        unknowns = (act.labels if space == "hom" else act.inputs) * act.inputs
        equations = list(lift_equations(act, space, bases.get("sym", ()), bases.get("hom", ())))
        bases[space] = _solutions(equations, unknowns)
    group = LiftGroup(act, decomposition(act, bases), bases)
    found = {f"dim_{space}": len(basis) for space, basis in bases.items()}
    total = sum(block.multiplicity * block.dimension for block in group.blocks)
    expected = {**group.dimensions, "dim_lie": found["dim_lie"]}
    if found != expected or total != act.inputs:
        raise Undecided(Reason.PRECISION, f"the blocks {group.blocks} do not fit the dimensions {found}")
    return group


def decomposition(act: Action, bases: dict[str, list[Flat]]) -> tuple[Block, ...]:
    """Return the isotypic components, largest irreducibles first.

    Each eigenspace of a random symmetric element of the commutant is one irreducible; two are isomorphic iff a random element
    of the commutant has a part between them.
    """
    n = act.inputs
    end, sym = (_arrays(bases[space], n) for space in ("end", "sym"))
    hom = _arrays(bases["hom"], n)
    generator = np.random.default_rng(0)
    spaces = _eigenspaces(sym, generator)
    mixing = np.tensordot(generator.standard_normal(len(end)), end, 1)
    classes: list[list[NDArray[np.float64]]] = []
    for space in spaces:
        for members in classes:
            same = members[0].shape == space.shape
            if same and np.abs(members[0].T @ mixing @ space).max() > _SEPARATED * np.abs(mixing).max():
                members.append(space)
                break
        else:
            classes.append([space])
    blocks = []
    for members in classes:
        basis = members[0]
        delta = _rank(basis.T @ end @ basis)
        on_labels = _rank(hom @ basis) if len(hom) else 0
        blocks.append(Block(len(members), basis.shape[1], {1: "R", 2: "C", 4: "H"}[delta], on_labels // delta))
    return tuple(sorted(blocks, key=lambda b: (-b.dimension, -b.multiplicity, b.type)))


def _eigenspaces(sym: NDArray[np.float64], generator: np.random.Generator) -> list[NDArray[np.float64]]:
    for _ in range(_DRAWS):
        values, vectors = np.linalg.eigh(np.tensordot(generator.standard_normal(len(sym)), sym, 1))
        gaps = np.diff(values) / max(1.0, np.abs(values).max())
        # Within an eigenspace the values agree to rounding; anything in between is no clear answer.
        if not ((gaps > 1e-11) & (gaps < _SEPARATED)).any():
            return np.split(vectors, np.flatnonzero(gaps >= _SEPARATED) + 1, axis=1)
    raise Undecided(Reason.PRECISION, f"eigenvalues of the commutant were not separated in {_DRAWS} draws")


def _rank(matrices: NDArray[np.float64]) -> int:
    # Entries of the bases are of order one, so that what is left of a zero is rounding.
    return int(np.linalg.matrix_rank(matrices.reshape(len(matrices), -1), tol=_SEPARATED))


def _arrays(basis: Sequence[Flat], n: int) -> NDArray[np.float64]:
    rows = len(basis[0]) // n if basis else 0
    return np.array([[float(entry) for entry in flat] for flat in basis]).reshape(len(basis), rows, n)


def fixed_matrices(pairs: Sequence[tuple[Square, Square]], *, symmetric: bool) -> list[Rows]:
    """Return a basis of {X : left X = X right for all pairs}, or of its symmetric members.

    Raises
    ------
    Undecided
        If there is no rational basis.
    """
    rows, n = len(pairs[0][0]), len(pairs[0][1])
    equations = [equation for left, right in pairs for equation in commuting(left, right)]
    if symmetric:
        equations += [{i * n + j: 1, j * n + i: -1} for j in range(n) for i in range(j)]
    basis = _solutions(equations, rows * n)
    return [tuple(tuple(flat[i * n : (i + 1) * n]) for i in range(rows)) for flat in basis]


def _solutions(equations: Sequence[Equation], unknowns: int) -> list[Flat]:
    """Return a rational basis of the solutions, exact.

    Rational solutions of an equation with square roots solve its parts; they are all if the rank modulo the prime says so.
    """
    parts = [part for equation in equations for part in _rational_parts(equation)]
    matrix = DomainMatrix(dict(enumerate(parts)), (len(parts), unknowns), QQ)
    kernel = matrix.nullspace(divide_last=True).rep.to_sdm()
    basis = [[Fraction(0)] * unknowns for _ in range(kernel.shape[0])]
    for i, row in kernel.items():
        for unknown, entry in row.items():
            basis[i][unknown] = Fraction(int(entry.numerator), int(entry.denominator))
    has_roots = any(isinstance(entry, Surd) for equation in equations for entry in equation.values())
    if has_roots and len(basis) + _rank_modulo(equations, unknowns) != unknowns:
        raise Undecided(Reason.INCOMPLETE_METHOD, "a space of invariant matrices has no rational basis")
    return basis


def _rational_parts(equation: Equation) -> list[dict[int, Any]]:
    """Return the equation without square roots, and that of their coefficients, if they are not empty."""
    rational = {i: e.rational if isinstance(e, Surd) else Fraction(e) for i, e in equation.items()}
    roots = {i: e.coefficient for i, e in equation.items() if isinstance(e, Surd)}
    parts = [{i: QQ(e.numerator, e.denominator) for i, e in part.items() if e} for part in (rational, roots)]
    return [part for part in parts if part]


def _rank_modulo(equations: Sequence[Equation], unknowns: int) -> int:
    echelon = Echelon(unknowns)
    size = 4 * unknowns
    for first in range(0, len(equations), size):
        rows = np.zeros((len(equations[first : first + size]), unknowns), np.int64)
        for i, equation in enumerate(equations[first : first + size]):
            for unknown, entry in equation.items():
                rows[i, unknown] = residue_of(entry)
        echelon.add(rows)
    return echelon.rank
