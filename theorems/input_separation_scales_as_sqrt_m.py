"""Exchanging two inputs moves the centers by σ√(2m) times the distance of their rows of U.

Hypotheses
----------
F has independent N(0, σ²) entries.

Statement
---------
The exchange τ of inputs a and b moves the centers by δ_τ = F (P_τ − 1) U with ‖δ_τ‖² = ‖F_a − F_b‖² ‖u_a − u_b‖² ∼ 2σ²
‖u_a − u_b‖² χ²_m, of mean 2mσ² ‖u_a − u_b‖². Equal rows of U are an exact effective symmetry: δ_τ = 0.

Proof idea
----------
(P_τ − 1) U has the two rows ±(u_b − u_a), so δ_τ = (F_a − F_b)(u_b − u_a)ᵀ.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026) for the rate; the exact law is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
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
from ..theory.matrices import square, subtract

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("C3",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "rate of the paper; exact law ours")

MEAN_RESOLUTION = 0.5  # relative: four standard errors √(2/(m replicates)) for m = 1 and 200 replicates, and a quarter
LAW_RESOLUTION = 0.14  # Kolmogorov-Smirnov quantile at 1e-3 for 200 samples


@dataclass(frozen=True)
class Instance(SubspaceFields):
    """Two inputs and random fixed weights.

    Parameters
    ----------
    m : int
        Number of neurons.
    inputs : pair of int
        The inputs that are exchanged, from 0.
    sigma : number
        Standard deviation of the fixed weights.
    replicates : int
        How often they are drawn.
    are_masked : bool
        Half of the fixed weights are zero, at random; the law is for all.
    """

    m: int
    inputs: tuple[int, int]
    sigma: Fraction = Fraction(1)
    replicates: int = 400
    are_masked: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        a, b = self.inputs
        if not (0 <= a < self.n and 0 <= b < self.n and a != b):
            raise InputError(f"inputs={list(self.inputs)!r}: two different inputs from 0 to {self.n - 1} are needed")
        if self.m < 1 or self.replicates < 200 or self.sigma <= 0:
            raise InputError(
                f"m={self.m!r}, replicates={self.replicates!r}, sigma={self.sigma!r}: "
                "m >= 1, at least 200 replicates and sigma > 0 are needed"
            )

    @property
    def square_distance(self) -> Fraction:
        """‖u_a − u_b‖²."""
        return square(subtract(self.U[self.inputs[0]], self.U[self.inputs[1]]))


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        instance.orthonormal(),
        Hypothesis("fixed weights are independent and normal", not instance.are_masked, "drawn so, without masks"),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, Fraction(1))


def _claims(instance: Instance, factor: Fraction, mean: Callable[[Instance], float] | None = None) -> Prediction:
    distance, sigma = instance.square_distance, instance.sigma
    exact = theory.separation.input_shift(instance.m, sigma, distance)
    value = float(factor) * float(exact) if mean is None else mean(instance)
    scale = 2 * float(instance.m * sigma**2 * (distance or 1))
    claims = [Claim("mean of the squared shift", Relation.EQUAL, value, MEAN_RESOLUTION * scale / instance.m**0.5)]
    if distance:
        claims.append(Claim("distance from the law of χ²", Relation.AT_MOST, 0, LAW_RESOLUTION))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    a, b = instance.inputs
    sigma = float(instance.sigma)
    shifts = numerics.separation.input_shifts(
        floats(instance.U),
        a,
        b,
        instance.m,
        sigma=sigma,
        replicates=instance.replicates,
        seed=seed,
        keep=0.5 if instance.are_masked else 1.0,
    )
    scale = 2 * sigma**2 * float(instance.square_distance)
    mean, law = numerics.separation.input_shift_law(shifts, scale or 1.0, instance.m)
    estimates = {"mean of the squared shift": Estimate(mean.value, mean.error, "four standard errors")}
    if scale:
        estimates["distance from the law of χ²"] = Estimate(law.value, law.error, "Kolmogorov-Smirnov")
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=2e-3)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import subspaces

    bases = subspaces().filter(lambda U: len(U) > 1)
    return st.builds(lambda U, m: {"U": U, "m": m, "inputs": [0, 1]}, bases, st.integers(1, 40))


def _masked_layers() -> SearchStrategy[Fields]:
    return instances().map(lambda fields: {**fields, "m": 40, "are_masked": True})


_AXIS = {"U": [[1], [0]], "m": 1, "inputs": [0, 1]}

VARIANTS = {
    "one_instead_of_two": Variant(
        "mean mσ²‖u_a − u_b‖²",
        predict=lambda instance: _claims(instance, Fraction(1, 2)),
        examples=({**_AXIS, "m": 20},),
    ),
    "always_positive": Variant(
        "no two inputs can be exchanged for free",
        predict=lambda x: _claims(x, Fraction(1), lambda y: 2 * y.m * float(y.sigma**2 * (y.square_distance or 1))),
        examples=({"U": [["3/5"], ["4/5"], [0], [0]], "m": 20, "inputs": [2, 3]},),
    ),
    "masked_weights_too": Variant(
        "the same law where half of the fixed weights are zero",
        hypotheses=lambda instance: hypotheses(instance)[:1],
        instances=_masked_layers,
        examples=({"U": [[1, 0], [0, 1]], "m": 40, "inputs": [0, 1], "are_masked": True},),
    ),
}
