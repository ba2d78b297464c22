"""The spectral norm of a contraction over one shared index pair is at most the product of the norms.

Hypotheses
----------
‖·‖ is the supremum over unit vectors on every index; the two tensors share one index pair.

Statement
---------
‖M·N‖ ≤ ‖M‖ ‖N‖, and ‖M⊗N‖ = ‖M‖ ‖N‖ where no index is contracted. Hence ‖∇^(D+d)F (∇F)^d‖ ≤ ‖∇^(D+d)F‖ ‖∇F‖^d. For symmetric
tensors the supremum is attained on equal vectors.

Proof idea
----------
Freeze the other vectors: the contraction is a multilinear form applied to a vector of norm at most ‖N‖. The last is Banach's.

Source
------
Shem-Ur and Oz (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..theory.matrices import Rows, require_rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC04",)
SOURCE = Source(("shemur2024",), Provenance.PAPER)

RESOLUTION = 1e-3  # times the product of norms: the grids on spheres
_LARGEST = 3
CONTRACTED, PRODUCT, EQUAL_VECTORS = "‖M·N‖", "‖M⊗N‖", "sup |u·Mu|"


@dataclass(frozen=True)
class Instance:
    """Two tensors of sides at most 3.

    Parameters
    ----------
    M : rows of numbers
        M_{ai}.
    N : matrices
        N_{ijk}, one matrix for every i; of one column each for a matrix N.
    shared : int
        1: M_{ai} N_{ijk} is summed over i. 2: M_{ij} N_{ijk} over i and j.
    """

    M: Rows
    N: tuple[Rows, ...]
    shared: int = 1

    def __post_init__(self) -> None:
        require_rows(self.M, "M")
        if not self.N:
            raise InputError("N: at least one matrix is needed")
        for i, rows in enumerate(self.N):
            require_rows(rows, f"N[{i}]", columns=len(self.N[0][0]), count=len(self.N[0]))
        sides = (len(self.M), len(self.M[0]), len(self.N), len(self.N[0]), len(self.N[0][0]))
        if max(sides) > _LARGEST:
            raise InputError(f"M, N: sides {sides!r}; at most {_LARGEST}, since norms are found on grids")
        if self.shared not in (1, 2):
            raise InputError(f"shared={self.shared!r}: 1 or 2 index pairs")
        needed = len(self.M[0]) if self.shared == 1 else len(self.M)
        if len(self.N) != needed or (self.shared == 2 and len(self.N[0]) != len(self.M[0])):
            raise InputError(f"M, N: sides {sides!r} do not fit for shared={self.shared!r}")

    @property
    def is_square(self) -> bool:
        """Whether M is a square matrix."""
        return len(self.M) == len(self.M[0])

    @property
    def is_symmetric(self) -> bool:
        """Whether M is."""
        return tuple(zip(*self.M, strict=True)) == self.M


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("one index pair is shared", instance.shared == 1, f"{instance.shared} shared"),)


def predict(instance: Instance) -> Prediction:
    return _claims(instance, Relation.AT_MOST, instance.is_symmetric)


def _claims(instance: Instance, relation: Relation, equal_vectors: bool) -> Prediction:
    norm, other = theory.tensor_norms.matrix_norm(instance.M), theory.tensor_norms.slices_norm_bound(instance.N)
    claims = [Claim(CONTRACTED, relation, norm * other, RESOLUTION * norm * other)]
    if len(instance.N[0][0]) == 1:
        claims.append(Claim(PRODUCT, Relation.EQUAL, norm * other, RESOLUTION * norm * other))
    if instance.is_square:
        attained = Relation.EQUAL if equal_vectors else Relation.AT_MOST
        claims.append(Claim(EQUAL_VECTORS, attained, norm, RESOLUTION * norm))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Contract in floating point, and search grids of unit vectors."""
    M = [[float(x) for x in row] for row in instance.M]
    N = [[[float(x) for x in row] for row in rows] for rows in instance.N]
    found = numerics.contractions.contraction_norm(M, N, instance.shared)
    estimates = {CONTRACTED: Estimate(found.value, found.error, "grid")}
    if len(N[0][0]) == 1:
        found = numerics.contractions.product_norm(M, [[row[0] for row in rows] for rows in N])
        estimates[PRODUCT] = Estimate(found.value, found.error, "Kronecker product")
    if instance.is_square:
        found = numerics.contractions.equal_vectors_norm(M)
        estimates[EQUAL_VECTORS] = Estimate(found.value, found.error, "grid")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    return _tensors(shared=1)


def _tensors(shared: int) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    @st.composite
    def tensors(draw: st.DrawFn) -> Fields:
        entry = st.integers(-2, 2)
        p, q = draw(st.integers(1, 2)), 2
        side = q if shared == 1 else p
        rows = q if shared == 2 else draw(st.integers(1, 2))
        columns = draw(st.integers(1, 2))
        matrix = [[draw(entry) for _ in range(q)] for _ in range(p)]
        slices = [[[draw(entry) for _ in range(columns)] for _ in range(rows)] for _ in range(side)]
        return {"M": matrix, "N": slices, "shared": shared}

    return tensors()


# False variants.

_IDENTITY = [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
_ORTHOGONAL = {"M": [[1, 0], [0, 0]], "N": [[[0], [0]], [[0], [1]]]}

VARIANTS = {
    "any_number_of_shared_indices": Variant(
        "‖M·N‖ ≤ ‖M‖ ‖N‖ for two shared index pairs",
        hypotheses=lambda instance: (),
        instances=lambda: _tensors(shared=2),
        examples=({"M": _IDENTITY, "N": [[[x] for x in row] for row in _IDENTITY], "shared": 2},),
    ),
    "equality": Variant(
        "‖M·N‖ = ‖M‖ ‖N‖",
        predict=lambda instance: _claims(instance, Relation.EQUAL, instance.is_symmetric),
        examples=(_ORTHOGONAL,),
    ),
    "equal_vectors_without_symmetry": Variant(
        "the supremum is attained on equal vectors for every square tensor",
        predict=lambda instance: _claims(instance, Relation.AT_MOST, True),
        examples=({"M": [[0, 1], [0, 0]], "N": [[[1], [0]], [[0], [1]]]},),
    ),
}
