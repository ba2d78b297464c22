"""Given the masks, the mean number of close pairs of centers is a sum of exact probabilities, and bounds that of any.

Hypotheses
----------
U has orthonormal columns; masks d_i ∈ {0, 1}ⁿ are given; fixed weights are σ(1 − d_i) ⊙ g_i, with independent normal g_i;
m ≥ 2.

Statement
---------
v_i ∼ N(0, σ²(1 − S_i)) independently, so that the mean number of pairs closer than r is λ(r) = Σ_{i<j} P(‖N(0, σ²(2·1 − S_i −
S_j))‖ ≤ r), and P(min ‖v_i − v_j‖ ≤ r) ≤ λ(r). The law with σ√(1 − μ) in place of σ, of centers without masks, is an
approximation to it.

Proof idea
----------
Uᵀ diag(1 − d_i) U = 1 − S_i; linearity of the mean, and Markov's inequality. Squared lengths are weighted sums of χ²_1, whose
law is Ruben's series.

Source
------
Ours; the rate of the separation is due to Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    MeasurementKind,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..numerics.floats import floats
from ..theory.layers import SubspaceFields
from ..theory.matrices import Rows, identity, require_rows, scaled_gram

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("C2",)
SOURCE = Source(("burgin2026", "ruben1962"), Provenance.OURS, "rate of the paper; the law given the masks is ours")

RESOLUTION = 0.02  # Hoeffding's bound for a mean of 10000 numbers in [0, 1] at 1e-3 is 0.0195
_MOST_PAIRS = 300


@dataclass(frozen=True)
class Instance(SubspaceFields):
    """Masks, and random fixed weights where they are 0.

    Parameters
    ----------
    D : rows of numbers
        m × n, the masks.
    radius : number
        r.
    sigma : number
        Standard deviation of a fixed weight.
    replicates : int
        How often the fixed weights are drawn.
    """

    D: Rows
    radius: Fraction
    sigma: Fraction = Fraction(1)
    replicates: int = 10_000

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.D, "D", columns=self.n)
        if len(self.D) * (len(self.D) - 1) > 2 * _MOST_PAIRS:
            raise InputError(f"D: {len(self.D)} rows; at most {_MOST_PAIRS} pairs of them are compared")
        if self.sigma <= 0 or self.radius < 0 or self.replicates < 10_000:
            raise InputError(
                f"sigma={self.sigma!r}, radius={self.radius!r}, replicates={self.replicates!r}: "
                "sigma > 0, radius >= 0 and at least 10000 replicates are needed"
            )


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    entries = {x for row in instance.D for x in row}
    return (
        instance.orthonormal(),
        Hypothesis("masks are 0 or 1", entries <= {0, 1}, f"entries {sorted(map(str, entries))}"),
        Hypothesis("there are two neurons", len(instance.D) >= 2, f"m = {len(instance.D)}"),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, _of_a_difference)


def _of_a_difference(first: Rows, second: Rows) -> Rows:
    """2·1 − S_i − S_j."""
    return tuple(
        tuple(2 * one - x - y for one, x, y in zip(*rows, strict=True))
        for rows in zip(identity(len(first)), first, second, strict=True)
    )


def _claims(instance: Instance, covariance: Callable[[Rows, Rows], Rows]) -> Prediction:
    """The claims if v_i − v_j has σ² times this covariance."""
    grams = [scaled_gram(instance.U, tuple(x * x for x in row)) for row in instance.D]
    square = float((instance.radius / instance.sigma) ** 2)
    chances = []
    for first, second in combinations(grams, 2):
        weights = theory.weighted_chi_squares.spectrum(covariance(first, second))
        chances.append(theory.weighted_chi_squares.weighted_chi_square_cdf(square, weights))
    share = sum(chances) / len(chances)
    return Prediction(
        (
            Claim("share of close pairs", Relation.EQUAL, share, RESOLUTION),
            Claim("P(min ≤ r)", Relation.AT_MOST, min(sum(chances), 1.0), RESOLUTION),
        )
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Distances of U^T (σ (1 − d_i) ⊙ g_i) for drawn g_i."""
    share, closest = numerics.separation.close_masked_centers(
        floats(instance.U),
        floats(instance.D),
        radius=float(instance.radius),
        sigma=float(instance.sigma),
        replicates=instance.replicates,
        seed=seed,
    )
    return Measurement(
        {
            "share of close pairs": Estimate(share.value, share.error, "Hoeffding"),
            "P(min ≤ r)": Estimate(closest.value, closest.error, "Clopper-Pearson"),
        },
        MeasurementKind.STATISTICAL,
        false_alarm_rate=2e-3,
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import subspaces

    def masked(U: list[list[int | str]]) -> SearchStrategy[Fields]:
        row = st.lists(st.integers(0, 1), min_size=len(U), max_size=len(U))
        masks = st.lists(row, min_size=2, max_size=4)
        return st.builds(lambda D, radius: {"U": U, "D": D, "radius": radius}, masks, st.sampled_from([1, "1/2", 2]))

    return subspaces(max_inputs=5).flatmap(masked)


# False variants.


def _without_masks(first: Rows, second: Rows) -> Rows:
    return tuple(tuple(2 * x for x in row) for row in identity(len(first)))


def _of_trainable_weights(first: Rows, second: Rows) -> Rows:
    return tuple(tuple(x + y for x, y in zip(*rows, strict=True)) for rows in zip(first, second, strict=True))


def _isotropic(first: Rows, second: Rows) -> Rows:
    exact = _of_a_difference(first, second)
    mean = sum((exact[i][i] for i in range(len(exact))), Fraction(0)) / len(exact)
    return tuple(tuple(mean * x for x in row) for row in identity(len(exact)))


_AXES = {"U": [[1, 0], [0, 1]], "D": [[1, 0], [1, 0]], "radius": 1}

VARIANTS = {
    "masks_do_not_matter": Variant(
        "v_i − v_j ∼ N(0, 2σ²·1)", predict=lambda x: _claims(x, _without_masks), examples=(_AXES,)
    ),
    "spread_of_trainable_weights": Variant(
        "v_i − v_j ∼ N(0, σ²(S_i + S_j))",
        predict=lambda x: _claims(x, _of_trainable_weights),
        examples=({**_AXES, "D": [[1, 1], [1, 0]]},),
    ),
    "isotropic": Variant(
        "σ√(1 − μ) in place of σ, with μ the mean eigenvalue of the S_i",
        predict=lambda x: _claims(x, _isotropic),
        examples=(_AXES,),
    ),
}
