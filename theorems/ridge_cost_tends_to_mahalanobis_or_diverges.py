"""The ridge cost of a feature is a Mahalanobis norm too, and diverges like 1/β iff the feature is infeasible.

Hypotheses
----------
U has orthonormal columns; Σ_z is symmetric and positive definite; β > 0.

Statement
---------
With b = a − v and R = (S + βΣ_z⁻¹)⁻¹: min_w ‖w‖² + β⁻¹ E(⟨a, z⟩ − ⟨v + M w, z⟩)² = bᵀ R b, where the minimizer has
‖w‖² = bᵀ R S R b. For β → 0, β times the minimum tends to (Qᵀb)ᵀ (QᵀΣ_z⁻¹Q)⁻¹ (Qᵀb), Q a basis of ker S: 0 iff a is
feasible.

Proof idea
----------
Woodbury's identity; and R restricted to ker S.

Source
------
Ours; the realization cost is that of Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

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
from ..theory.layers import FeatureFields
from ..theory.matrices import Rows, inverse, is_positive_semidefinite, require_rows, transpose

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Ridge

FAMILY = "identifiability"
IDS = ("A2r",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

RESOLUTION = 1e-8  # relative to 1 + value; least squares in float64 for β down to about 1e-6
LIMIT_RESOLUTION = 1e-5  # relative to 1 + limit; extrapolation from β ≈ 1e-4


@dataclass(frozen=True)
class Instance(FeatureFields):
    """A layer, features, and a ridge problem.

    Parameters
    ----------
    covariance : rows of numbers
        Σ_z, k × k.
    beta : number
        β, the price of errors is its inverse.
    """

    covariance: Rows
    beta: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.covariance, "covariance", columns=self.k, count=self.k)
        if self.beta <= 0:
            raise InputError(f"beta={self.beta!r}: a positive number is needed")

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """All pairs of a neuron and a feature."""
        return [(i, j) for i in range(self.m) for j in range(len(self.A))]


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    covariance = instance.covariance
    definite = (
        covariance == transpose(covariance) and inverse(covariance) is not None and is_positive_semidefinite(covariance)
    )
    return (instance.orthonormal(), Hypothesis("Σ_z is symmetric and positive definite", definite, "exact elimination"))


def derive(instance: Instance) -> Derivation:
    """Woodbury's identity on the instance: the minimum over n weights against the form in k dimensions."""
    left = [f"[{i},{j}]: {x}" for i, j in instance.pairs if (x := _ridge(instance, i, j).residual)]
    return Derivation(
        "min_w ‖w‖² + β⁻¹E(…)² − bᵀ(S + βΣ⁻¹)⁻¹b = 0",
        "; ".join(left) or "0",
        r"\min_w \|w\|^2 + \beta^{-1}\,\mathbb{E}(\langle a - v - Mw, z\rangle)^2 = b^\top (S + \beta\Sigma_z^{-1})^{-1} b",
        settles=tuple(f"{quantity}[{i},{j}]" for quantity in _QUANTITIES for i, j in instance.pairs),
    )


_QUANTITIES = ("minimum", "squared norm", "limit of beta times minimum")


def _ridge(instance: Instance, i: int, j: int) -> Ridge:
    return theory.realization.ridge(instance, i, instance.A[j], instance.covariance, instance.beta)


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda i, j: _ridge(instance, i, j))


def _claims(instance: Instance, values: Callable[[int, int], Ridge]) -> Prediction:
    claims = []
    for i, j in instance.pairs:
        found = values(i, j)
        numbers = (found.value, found.squared_norm, found.scaled_limit)
        for quantity, x, relative in zip(_QUANTITIES, numbers, (RESOLUTION, RESOLUTION, LIMIT_RESOLUTION), strict=True):
            claims.append(Claim(f"{quantity}[{i},{j}]", Relation.EQUAL, x, relative * (1 + abs(float(x)))))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Least squares in the weights; the limit by extrapolation."""
    U, covariance, beta = floats(instance.U), floats(instance.covariance), float(instance.beta)
    F, D, A = floats(instance.F), floats(instance.D), floats(instance.A)
    estimates = {}
    for i, j in instance.pairs:
        M, b = (D[i][:, None] * U).T, A[j] - F[i] @ U
        found = numerics.realization.ridge(M, b, covariance, beta)
        limit, error = numerics.realization.ridge_limit(M, b, covariance)
        estimates[f"minimum[{i},{j}]"] = Estimate(found.value, found.error, "least squares")
        estimates[f"squared norm[{i},{j}]"] = Estimate(found.squared_norm, found.error, "least squares")
        estimates[f"limit of beta times minimum[{i},{j}]"] = Estimate(limit, error, "extrapolated")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import featured_layers

    def problems(layer: Fields) -> SearchStrategy[Fields]:
        k = len(layer["U"][0])
        rows = st.lists(st.lists(st.integers(-1, 1), min_size=k, max_size=k), min_size=k, max_size=k)
        return st.builds(
            lambda L, beta: {**layer, "covariance": _definite(L), "beta": beta}, rows, st.sampled_from([1, "1/2", 3])
        )

    return featured_layers().flatmap(problems)


def _definite(L: list[list[int]]) -> list[list[int]]:
    """L Lᵀ + 1."""
    return [
        [sum(a * b for a, b in zip(x, y, strict=True)) + (i == j) for j, y in enumerate(L)] for i, x in enumerate(L)
    ]


# False variants.


def _covariance_not_inverted(instance: Instance) -> Prediction:
    swapped = inverse(instance.covariance)
    assert swapped is not None
    return _claims(instance, lambda i, j: theory.realization.ridge(instance, i, instance.A[j], swapped, instance.beta))


def _norm_is_the_minimum(instance: Instance) -> Prediction:
    def values(i: int, j: int) -> Ridge:
        found = _ridge(instance, i, j)
        return theory.realization.Ridge(found.squared_norm, found.squared_norm, found.scaled_limit, found.residual)

    return _claims(instance, values)


def _limit_finite(instance: Instance) -> Prediction:
    def values(i: int, j: int) -> Ridge:
        found = _ridge(instance, i, j)
        return theory.realization.Ridge(found.value, found.squared_norm, Fraction(0), found.residual)

    return _claims(instance, values)


_LINE = {"U": [[1]], "F": [[0]], "D": [[1]], "A": [[1]], "covariance": [[4]], "beta": 1}

VARIANTS = {
    "covariance_not_inverted": Variant("R = (S + βΣ_z)⁻¹", predict=_covariance_not_inverted, examples=(_LINE,)),
    "norm_is_the_minimum": Variant("the minimum equals ‖w‖²", predict=_norm_is_the_minimum, examples=(_LINE,)),
    "limit_is_finite": Variant(
        "the minimum has a finite limit for β → 0 also for infeasible features",
        predict=_limit_finite,
        examples=(
            {
                "U": [[1, 0], [0, 1]],
                "F": [[0, 0]],
                "D": [[0, 1]],
                "A": [[1, 0]],
                "covariance": [[2, 1], [1, 1]],
                "beta": 1,
            },
        ),
    ),
}
