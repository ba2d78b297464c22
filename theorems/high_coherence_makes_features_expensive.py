"""A mask makes the feature along u_l dearer by 1/(1 − ‖u_l‖²), and infeasible if e_l lies in the subspace.

Hypotheses
----------
U has orthonormal columns; the coordinates in T are masked, the others have scale 1.

Statement
---------
(i) If T = {l}, then S = 1 − u_l u_lᵀ, and the feature along u_l ≠ 0 costs 1/(1 − ‖u_l‖²) times what it costs without a mask;
infinitely much if ‖u_l‖ = 1. (ii) For any T, λ_min(S) = 1 − ‖U_T‖₂² ≥ 1 − |T|ν.

Proof idea
----------
(i) Sherman-Morrison. (ii) S = 1 − U_TᵀU_T, and the operator norm is at most the Frobenius norm.

Source
------
Ours; masks and coherence are those of Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
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
from ..numerics.floats import floats
from ..theory.layers import SubspaceFields
from ..theory.matrices import square

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("D4",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

RESOLUTION = 1e-9  # relative; float64 with ‖u_l‖² up to about 1 − 1e-4


@dataclass(frozen=True)
class Instance(SubspaceFields):
    """A subspace and the masked coordinates.

    Parameters
    ----------
    masked : tuple of int
        T, from 0.
    """

    masked: tuple[int, ...]

    def __post_init__(self) -> None:
        super().__post_init__()
        if (
            len(set(self.masked)) < len(self.masked)
            or not all(0 <= row < self.n for row in self.masked)
            or not self.masked
        ):
            raise InputError(f"masked={list(self.masked)!r}: different coordinates from 0 to {self.n - 1} are needed")

    @property
    def has_ratio(self) -> bool:
        """Whether one coordinate is masked that the data use."""
        return len(self.masked) == 1 and any(self.U[self.masked[0]])


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(),)


def derive(instance: Instance) -> Derivation:
    """Sherman-Morrison for a symbolic u; on the instance by elimination, and the eigenvalues by exact factorization."""
    left = [] if theory.masks.sherman_morrison_residual() == 0 else ["Sherman-Morrison"]
    gram = theory.masks.mask_gram(instance.U, instance.masked)
    if not theory.masks.is_at_least(gram, _least_eigenvalue(instance)):
        left.append("least eigenvalue")
    if instance.has_ratio and _exact_ratio(instance) != _ratio(instance):
        left.append("ratio")
    return Derivation(
        "uᵀ(1 − uuᵀ)⁻¹u/uᵀu = 1/(1 − ‖u‖²) and S − (1 − |T|ν)1 ⪰ 0",
        "; ".join(left) or "0",
        r"\frac{u^\top(1-uu^\top)^{-1}u}{u^\top u} = \frac{1}{1-\|u\|^2}",
        settles=("least eigenvalue of S", *(["cost ratio along the masked row"] if instance.has_ratio else [])),
    )


def _exact_ratio(instance: Instance) -> Cost:
    found = theory.masks.masked_cost_ratio(instance.U, instance.masked, instance.masked[0])
    return math.inf if found is None else found


def _ratio(instance: Instance) -> Cost:
    norm = square(instance.U[instance.masked[0]])
    return math.inf if norm == 1 else 1 / (1 - norm)


def _least_eigenvalue(instance: Instance) -> Fraction:
    return 1 - len(instance.masked) * instance.coherence


def predict(instance: Instance) -> Prediction:
    return _claims(instance, _ratio, _least_eigenvalue)


def _claims(
    instance: Instance, ratio: Callable[[Instance], Cost], eigenvalue: Callable[[Instance], Fraction]
) -> Prediction:
    claims = [Claim("least eigenvalue of S", Relation.AT_LEAST, eigenvalue(instance), RESOLUTION)]
    if instance.has_ratio:
        x = ratio(instance)
        resolution = 0.0 if math.isinf(x) else RESOLUTION * (1 + float(x))
        claims.append(Claim("cost ratio along the masked row", Relation.EQUAL, x, resolution))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Singular values of Uᵀ diag(d), and least squares in the weights with and without the mask."""
    U = floats(instance.U)
    mask = np.ones(instance.n)
    mask[list(instance.masked)] = 0
    full = np.zeros(instance.k)
    singular = np.linalg.svd(mask[:, None] * U, compute_uv=False)
    full[: len(singular)] = singular
    estimates = {"least eigenvalue of S": Estimate(float(full.min() ** 2), 1e-13, "singular values")}
    if instance.has_ratio:
        u = U[instance.masked[0]]
        costs = numerics.realization.least_norm_costs(
            np.zeros((2, instance.n)), np.stack([mask, np.ones(instance.n)]), U, u[None]
        )
        numerics.realization.require_decided(costs)
        dear, plain = float(costs.values[0, 0]), float(costs.values[1, 0])
        error = 0.0 if math.isinf(dear) else float(costs.errors.sum()) * (1 + dear) / plain
        estimates["cost ratio along the masked row"] = Estimate(dear / plain, error, "least squares")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import subspaces

    def masked(U: list[list[int | str]]) -> SearchStrategy[Fields]:
        rows = st.integers(0, len(U) - 1)
        chosen = st.lists(rows, min_size=1, max_size=3, unique=True) | rows.map(lambda row: [row])
        return chosen.map(lambda T: {"U": U, "masked": T})

    return subspaces().flatmap(masked)


def _one_coordinate(instance: Instance) -> Fraction:
    return 1 - instance.coherence


def _pseudo_inverse(instance: Instance) -> Cost:
    x = _ratio(instance)
    return Fraction(0) if math.isinf(x) else x


VARIANTS = {
    "first_order": Variant(
        "a factor 1 + ν in place of 1/(1 − ν)",
        predict=lambda x: _claims(x, lambda y: 1 + square(y.U[y.masked[0]]), _least_eigenvalue),
        examples=({"U": [["1/2", "1/2"], ["1/2", "-1/2"], ["1/2", "1/2"], ["1/2", "-1/2"]], "masked": [0]},),
    ),
    "one_masked_for_any_number": Variant(
        "λ_min ≥ 1 − ν however many coordinates are masked",
        predict=lambda x: _claims(x, _ratio, _one_coordinate),
        examples=({"U": [["3/5"], ["4/5"]], "masked": [0, 1]},),
    ),
    "pseudo_inverse": Variant(
        "cost 0 where the mask makes the feature infeasible",
        predict=lambda x: _claims(x, _pseudo_inverse, _least_eigenvalue),
        examples=({"U": [[1, 0], [0, "3/5"], [0, "4/5"]], "masked": [0]},),
    ),
}
