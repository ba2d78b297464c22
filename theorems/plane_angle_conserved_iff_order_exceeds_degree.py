"""In the plane, rotations of order N conserve the angle of w under a loss of degree m iff N > m.

Hypotheses
----------
f = w·x with w, x ∈ ℝ², the N rotations by multiples of 2π/N, invariant labels, φ(z) = (1 − z)^m with m ≥ 2; w generic.

Statement
---------
The averaged gradients span a line (that of w, so that its angle is conserved) if N > m, and the whole plane
otherwise. For the squared loss N ≥ 3 suffices; a loss of infinite degree never conserves the angle for finite N.

Proof idea
----------
b_{j−1} = ∇_w Σ_g (w·gx)^j / j, and the sum has only angular harmonics l with N | l, l ≤ j, l ≡ j mod 2: l = 0 alone
if N > m, while l = N occurs at j = N ≤ m. In the coordinates u = w₁ + iw₂, ū the sum is Σ_a binom(j, a) u^{j−a} ū^a
z^a z̄^{j−a} over a with N | j − 2a, with integer coefficients.

Source
------
Ours.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL6",)
SOURCE = Source(("galley2026",), Provenance.OURS)

_LARGEST = 12


@dataclass(frozen=True)
class Instance:
    """N rotations of the plane, and the degree m of the loss (1 − z)^m.

    Parameters
    ----------
    order, degree : int
        N and m, at most 12: beyond it harmonics are too small to see in floating point.
    """

    order: int
    degree: int

    def __post_init__(self) -> None:
        for name in ("order", "degree"):
            if not 1 <= getattr(self, name) <= _LARGEST:
                raise InputError(f"{name}={getattr(self, name)!r}: between 1 and {_LARGEST} is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("degree at least 2", instance.degree >= 2, f"m = {instance.degree}"),)


def predict(instance: Instance) -> Prediction:
    return _claim(1 if instance.order > instance.degree else 2)


def derive(instance: Instance) -> Derivation:
    """Count the averaged potentials exactly in the coordinates (u, ū) and compare with N > m."""
    expected = 1 if instance.order > instance.degree else 2
    return Derivation(
        "rank of the gradients of the averaged powers − (1 if N > m else 2)",
        str(_exact_rank(instance) - expected),
        settles=("rank",),
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Rank of averaged gradients with the rotations themselves, in floating point."""
    generator = np.random.default_rng(seed)
    angles = 2 * np.pi * np.arange(instance.order) / instance.order
    rotations = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in angles]
    inputs = generator.standard_normal((3, 2))
    weights = generator.standard_normal(2)
    elements = [(g, 1) for g in rotations]
    rank = numerics.orbit_gradients.sampled_rank(
        "linear", (2,), weights, inputs, elements, f"polynomial-{instance.degree}"
    )
    return Measurement({"rank": Estimate(rank, how="singular values")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"order": st.integers(1, 6), "degree": st.integers(2, 6)})


def _exact_rank(instance: Instance) -> int:
    """Rank of the gradients in (u, ū) of the averaged j-th powers, j ≤ m, at integer points and inputs modulo a prime."""
    rows = []
    u, v = 3, 5
    for z, w in ((2, 7), (11, 4), (13, 9)):
        for j in range(1, instance.degree + 1):
            row = [0, 0]
            for a in range(j + 1):
                if (j - 2 * a) % instance.order == 0:
                    c = math.comb(j, a) * z**a * w ** (j - a)
                    row[0] += c * (j - a) * u ** max(j - a - 1, 0) * v**a
                    row[1] += c * a * u ** (j - a) * v ** max(a - 1, 0)
            rows.append(row)
    residues = [[entry % theory.modular.PRIME for entry in row] for row in rows]
    return theory.modular.rank(residues)


def _claim(rank: int) -> Prediction:
    return Prediction((Claim("rank", Relation.EQUAL, rank),))


VARIANTS = {
    "order_at_least_degree": Variant(
        "N ≥ m suffices",
        predict=lambda instance: _claim(1 if instance.order >= instance.degree else 2),
        examples=({"order": 3, "degree": 3},),
    ),
    "finite_never": Variant(
        "no finite group of rotations conserves the angle",
        predict=lambda instance: _claim(2),
        examples=({"order": 5, "degree": 4},),
    ),
    "squared_loss_rule": Variant(
        "N ≥ 3 suffices for every loss",
        predict=lambda instance: _claim(1 if instance.order >= 3 else 2),
        examples=({"order": 4, "degree": 4},),
    ),
}
