"""A feature is a unique vector of length k when the data span a subspace of dimension k.

Hypotheses
----------
U has orthonormal columns; all data points lie in the image of U; they span it.

Statement
---------
Two weight vectors w, w' have the same pre-activation on all data iff Uᵀw = Uᵀw' ∈ ℝᵏ.

Proof idea
----------
⟨w, Uz⟩ = ⟨Uᵀw, z⟩, and the z span ℝᵏ.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026), Assumption 3.1; that the data have to span the subspace is ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ..core import (
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..theory.layers import SubspaceFields
from ..theory.matrices import Rows, dot, product, rank, require_rows, subtract, transpose

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("A0",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "assumption of the paper; the spanning condition is ours")

_ROUNDING = 1e-12  # relative; 64 n eps of T1 for n up to about 70
_DIFFERENT = 1e-7  # relative: well above rounding; differences in between are not decided


@dataclass(frozen=True)
class Instance(SubspaceFields):
    """Data in a subspace, and weights to compare on them.

    Parameters
    ----------
    data : rows of numbers
        Points, of length n.
    weights : rows of numbers
        Effective weights of neurons, of length n.
    """

    data: Rows
    weights: Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.data, "data", columns=self.n)
        require_rows(self.weights, "weights", columns=self.n)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of neurons, each with itself too."""
        return [(i, i) for i in range(len(self.weights))] + list(combinations(range(len(self.weights)), 2))


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    spanned = rank(instance.data)
    inside = product(product(instance.data, instance.U), transpose(instance.U)) == instance.data
    return (
        instance.orthonormal(),
        Hypothesis("the data lie in the image of U", inside, "UUᵀx = x for every point, exactly"),
        Hypothesis("the data span the image of U", spanned == instance.k, f"rank {spanned}, k = {instance.k}"),
    )


def derive(instance: Instance) -> Derivation:
    """The components of the weight differences outside the image of U do not act on the data."""
    outside = [subtract(w, p) for w, p in zip(instance.weights, _projected(instance), strict=True)]
    left = [f"w_{i}: {x}" for i, w in enumerate(outside) for x in (dot(w, p) for p in instance.data) if x]
    return Derivation(
        "Xᵀ(w − UUᵀw) = 0",
        "; ".join(left) or "0",
        r"\langle w, Uz\rangle = \langle U^\top w, z\rangle",
        settles=tuple(map(_quantity, instance.pairs)),
    )


def _projected(instance: Instance) -> Rows:
    return product(product(instance.weights, instance.U), transpose(instance.U))


def _quantity(pair: tuple[int, int]) -> str:
    return f"same on the data[{pair[0]},{pair[1]}]"


def predict(instance: Instance) -> Prediction:
    features = product(instance.weights, instance.U)
    return Prediction(
        tuple(Claim(_quantity((i, j)), Relation.EQUAL, features[i] == features[j]) for i, j in instance.pairs)
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Pre-activations on the data in float64, compared relative to the lengths of weights and data."""
    X, W = np.array(instance.data, np.float64), np.array(instance.weights, np.float64)
    scale = np.linalg.norm(X) * np.linalg.norm(W) or 1.0
    outputs = W @ X.T
    estimates = {}
    for i, j in instance.pairs:
        difference = float(np.abs(outputs[i] - outputs[j]).max() / scale)
        if _ROUNDING < difference < _DIFFERENT:
            raise Undecided(Reason.PRECISION, f"neurons {i} and {j} differ by {difference:.2g} on the data, relatively")
        estimates[_quantity((i, j))] = Estimate(difference <= _ROUNDING, how="largest difference of pre-activations")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from ..testing import subspaces

    return subspaces().flatmap(_on_basis)


def _on_basis(U: list[list[int | str]], *, drop: bool = False, extra: bool = False) -> SearchStrategy[Fields]:
    """The columns of U as data, without the last or with a point outside, and integer weights."""
    from hypothesis import strategies as st

    columns = [list(column) for column in zip(*U, strict=True)]
    unit = [[int(i == j) for j in range(len(U))] for i in range(len(U))]
    data = columns[:-1] or [[0] * len(U)] if drop else columns + (unit if extra else [])
    row = st.lists(st.integers(-2, 2), min_size=len(U), max_size=len(U))
    weights = st.lists(row, min_size=1, max_size=3)
    # Weights that differ by a column of U, or across the subspace, are where the statement decides.
    return weights.map(lambda rows: {"U": U, "data": data, "weights": [*rows, *columns[-1:], [0] * len(U), *unit[:2]]})


def _bases_without_a_column() -> SearchStrategy[Fields]:
    from ..testing import subspaces

    return subspaces().flatmap(lambda U: _on_basis(U, drop=True))


def _bases_with_points_outside() -> SearchStrategy[Fields]:
    from ..testing import subspaces

    return subspaces().flatmap(lambda U: _on_basis(U, extra=True))


def _no_derivation(instance: Instance) -> Derivation:
    return Derivation("nothing is derived without the hypotheses", "0")


_PLANE = {"U": [[1, 0], [0, 1]]}

VARIANTS = {
    "data_need_not_span": Variant(
        "the statement for data that span less than the subspace",
        hypotheses=lambda instance: hypotheses(instance)[:2],
        instances=_bases_without_a_column,
        examples=({**_PLANE, "data": [[1, 0]], "weights": [[0, 5], [0, 0]]},),
    ),
    "data_need_not_lie_inside": Variant(
        "the statement for data outside the subspace",
        hypotheses=lambda instance: hypotheses(instance)[:1],
        derive=_no_derivation,
        instances=_bases_with_points_outside,
        examples=({"U": [[1], [0]], "data": [[1, 0], [0, 1]], "weights": [[1, 0], [1, 5]]},),
    ),
}
