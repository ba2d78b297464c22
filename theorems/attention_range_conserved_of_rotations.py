"""Lightning attention trained on rotated data conserves the column space of its queries, keys and values.

Hypotheses
----------
f(X) = X Q Kᵀ XᵀX V with tokens as rows of X ∈ ℝ^{n×d}, n ≥ 3, Q, K ∈ ℝ^{d×a}, V ∈ ℝ^{d×c} (optionally followed by Oᵀ,
O ∈ ℝ^{d×c}, with labels that rotate too); squared loss averaged over O(d) or SO(d) acting on every token; k < d
columns in P = [Q, K, V(, O)].

Statement
---------
The column space of P is conserved, k(d − k) laws beyond the plain ones. Without output map the labels drop out, since
−I ∈ O(d) and f is odd.

Proof idea
----------
f_{gP}(X) = f_P(Xg), so that the averaged loss depends on P through PᵀP alone and its gradient Z has ZPᵀ symmetric: Z
= PC, so P(t) = P(0)X(t) with X invertible. The average is exact: the projection of a tensor of rank six on the 15
pairings of its indices.

Source
------
Second example of Galley, Shahverdi, Flinth (2026); the counts are ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from .._checker_architectures import transposed
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
from ..theory.model_fields import ModelFields
from ._laws_of_models import counted

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL14",)
SOURCE = Source(("galley2026",), Provenance.SHARPENED, "counts and exact averages are ours")

RESOLUTION = 1e-10  # rounding of a few dozen steps with a well conditioned P; plain training moves the range by 0.3

STEP = 0.01
STEPS = 40


@dataclass(frozen=True)
class Instance(ModelFields):
    """Lightning attention of sizes (d, a, c); training is measured for a = c = 1 without output map, on random data.

    Parameters
    ----------
    samples, tokens : int
        How many random sequences, and how long.
    """

    samples: int = 6
    tokens: int = 3

    def __post_init__(self) -> None:
        if self.architecture != "lightning" or len(self.sizes) != 3 or min(self.sizes) < 1:
            raise InputError("architecture: 'lightning' with sizes (d, a, c) is needed")
        if not (3 <= self.tokens <= 20 and 1 <= self.samples <= 100):
            raise InputError(
                f"samples={self.samples!r}, tokens={self.tokens!r}: at most 100, and from 3 to 20, are needed"
            )

    @property
    def columns(self) -> int:
        """k."""
        _, a, c = self.sizes
        return 2 * a + (2 if self.output_map else 1) * c


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    d = instance.sizes[0]
    name = None if instance.group is None else instance.group.name
    return (
        Hypothesis("average over all rotations", name in (f"O({d})", f"SO({d})"), f"group = {name}"),
        Hypothesis("fewer columns than dimensions", instance.columns < d, f"k = {instance.columns}, d = {d}"),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda d, k: k * (d - k))


def derive(instance: Instance) -> Derivation:
    """ZPᵀ − PZᵀ for the gradient of every averaged potential, as polynomials."""
    system = theory.law_count.model_systems(instance.plain)["averaged"]
    matrices = theory.known_laws.parameter_matrices(system.names)
    columns = [column for name in "QKVO" if name in matrices for column in transposed(matrices[name])]
    residual = theory.range_identity.skew_residual(system.potentials, transposed(columns))
    return Derivation("ZPᵀ − PZᵀ", residual, r"Z P^\top = P Z^\top", settles=("range_drift",))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Gradient descent on random sequences, the second moments averaged exactly."""
    d, a, c = instance.sizes
    if a != 1 or c != 1 or instance.output_map or d > 5:
        return Measurement({})
    generator = np.random.default_rng(seed)
    x = 0.6 * generator.standard_normal((instance.samples, instance.tokens, d))
    y = generator.standard_normal((instance.samples, instance.tokens))
    start = 0.6 * generator.standard_normal(3 * d)
    training = numerics.averaged_training
    plain = training.lightning_moments(x, y)
    # B is a tensor of odd rank, whose average over {±1} ⊂ O(d) vanishes.
    averaged = training.Moments(numerics.rotation_averages.pairing_average(plain.a, d), np.zeros_like(plain.b))
    end = numerics.integrators.gradient_descent(training.lightning_field(averaged, d), start, STEP, STEPS)
    before, after = start.reshape(3, d).T, end.reshape(3, d).T
    error = numerics.ranges.range_tolerance(before, after)
    return Measurement({"range_drift": Estimate(numerics.ranges.range_drift(before, after), error, "gradient descent")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    fields = {"architecture": "lightning", "sizes": [4, 1, 1], "group": {"name": "O(4)"}}
    return st.builds(lambda samples: {**fields, "samples": samples}, st.integers(1, 6))


def _claims(instance: Instance, new_laws: Callable[[int, int], int]) -> Prediction:
    claims = (
        Claim("range_drift", Relation.AT_MOST, 0, RESOLUTION),
        Claim("new_laws", Relation.EQUAL, new_laws(instance.sizes[0], instance.columns)),
    )
    return Prediction(claims, (counted(instance).certificate,))


EXAMPLE = {"architecture": "lightning", "sizes": [4, 1, 1], "group": {"name": "O(4)"}}

VARIANTS = {
    "range_of_each_block": Variant(
        "the range of each of Q, K and V is conserved by itself",
        predict=lambda instance: _claims(instance, lambda d, k: k * (d - 1)),
        examples=(EXAMPLE,),
    ),
    "flag_conserved": Variant(
        "the whole matrix P up to a common rotation of its columns is conserved",
        predict=lambda instance: _claims(instance, lambda d, k: k * d - k * (k - 1) // 2),
        examples=(EXAMPLE,),
    ),
}
