"""Cyclic shifts of three coordinates conserve the direction of the centered weights and contract it at a known rate.

Hypotheses
----------
f = Wx with W ∈ ℝ^{q×3}, invariant labels, squared loss averaged over the three shifts; W_⊥ = W(I − J/3) does not
vanish.

Statement
---------
The average of E xxᵀ has one diagonal entry A₁₁ and one other entry A₁₂, and W_⊥' = −λ W_⊥ with λ = A₁₁ − A₁₂ ≥ 0: the
direction of W_⊥ is conserved (2q − 1 laws), and ‖W_⊥‖ shrinks by the factor e^{−λt}. It is a whole angle that is
conserved, though the group has three elements.

Proof idea
----------
Averages commute with the shifts: A = λI + A₁₂J and B is a multiple of the ones vector. Project with I − J/3.

Source
------
First example of Galley, Shahverdi, Flinth (2026); the rate is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
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
from ..numerics.integrators import Vector

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL13",)
SOURCE = Source(("galley2026",), Provenance.SHARPENED, "the rate of contraction is ours")

RESOLUTION = 1e-9  # the flow is integrated to 1e-12; another rate changes the logarithm by more than 1e-3

Rows = tuple[tuple[Fraction, ...], ...]
Moments = tuple[Fraction, Fraction]
"""Diagonal and off-diagonal entry of the averaged second moment."""


@dataclass(frozen=True)
class Instance:
    """Data, initial weights, and for how long to train.

    Parameters
    ----------
    inputs : rows of three numbers
        One for each sample.
    labels : rows of q numbers
        One for each sample.
    weights : q rows of three numbers
        W at the start.
    time : Fraction
        T.
    """

    inputs: Rows
    labels: Rows
    weights: Rows
    time: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        outputs = len(self.weights)
        if not outputs or any(len(row) != 3 for row in (*self.weights, *self.inputs)):
            raise InputError("weights, inputs: rows of three numbers are needed, at least one of each")
        if not self.inputs or len(self.labels) != len(self.inputs) or any(len(row) != outputs for row in self.labels):
            raise InputError(f"labels: {len(self.inputs)} rows of {outputs} numbers are needed, one for each input")
        if not 0 < self.time <= 100:
            raise InputError(f"time={self.time!r}: a time between 0 and 100 is needed")

    @property
    def moments(self) -> Moments:
        """Entries of the average of E xxᵀ over the shifts."""
        n = len(self.inputs)
        diagonal = sum((x * x for row in self.inputs for x in row), Fraction(0)) / (3 * n)
        total = sum((sum(row, Fraction(0)) ** 2 for row in self.inputs), Fraction(0)) / (3 * n)
        return diagonal, (total - diagonal) / 2

    @property
    def centered(self) -> Rows:
        """W_⊥."""
        return tuple(tuple(w - sum(row, Fraction(0)) / 3 for w in row) for row in self.weights)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    moving = any(entry for row in instance.centered for entry in row)
    return (Hypothesis("W_⊥ does not vanish", moving, "exact"),)


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda moments: moments[0] - moments[1])


def derive(instance: Instance) -> Derivation:
    """Average the data themselves, exactly, and subtract the claimed motion of W_⊥ at the given weights."""
    n, q = len(instance.inputs), len(instance.weights)
    velocity = [[Fraction(0)] * 3 for _ in range(q)]
    for x, y in zip(instance.inputs, instance.labels, strict=True):
        for shift in range(3):
            moved = x[shift:] + x[:shift]
            for c, row in enumerate(instance.weights):
                error = sum((w * e for w, e in zip(row, moved, strict=True)), Fraction(0)) - y[c]
                velocity[c] = [v - error * e / (3 * n) for v, e in zip(velocity[c], moved, strict=True)]
    rate = instance.moments[0] - instance.moments[1]
    residual = Fraction(0)
    for moving, centered in zip(velocity, instance.centered, strict=True):
        mean = sum(moving, Fraction(0)) / 3
        residual += sum(((v - mean + rate * w) ** 2 for v, w in zip(moving, centered, strict=True)), Fraction(0))
    # The rate does not depend on the weights, so that the direction stays and the norm decays exponentially.
    return Derivation("‖W_⊥' + λ W_⊥‖²", str(residual), r"W_\perp' = -\lambda W_\perp", settles=("direction_drift",))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Train on the augmented data by an accurate integrator."""
    x = _floats(instance.inputs)
    augmented = np.concatenate([np.roll(x, shift, axis=1) for shift in range(3)])
    labels = np.tile(_floats(instance.labels), (3, 1))
    start = _floats(instance.weights)
    moments = numerics.averaged_training.averaged_moments(augmented, labels)
    field = numerics.averaged_training.deep_linear_field(moments, [start.shape])
    end = numerics.integrators.exact_flow(field, start.ravel(), float(instance.time)).reshape(start.shape)
    before, after = (w - w.mean(axis=1, keepdims=True) for w in (start, end))
    shrunk = float(np.linalg.norm(after) / np.linalg.norm(before))
    # The integrator keeps 12 digits of W, of which W_⊥ is a part that has shrunk.
    error = 1e-12 * (1 + float(np.linalg.norm(end))) / (shrunk * float(np.linalg.norm(before)))
    drift = numerics.ranges.direction_drift(before, after)
    return Measurement(
        {
            "direction_drift": Estimate(drift, error, "flow on augmented data"),
            "log_contraction": Estimate(float(np.log(shrunk)), error, "flow on augmented data"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    row = st.lists(st.integers(-2, 2), min_size=3, max_size=3)

    def fields(inputs: list[list[int]], weights: list[int]) -> Fields:
        return {"inputs": inputs, "labels": [[1]] * len(inputs), "weights": [weights]}

    centered = row.filter(lambda w: len(set(w)) > 1)
    return st.builds(fields, st.lists(row, min_size=1, max_size=3), centered)


def _floats(rows: Rows) -> Vector:
    return np.array([[float(entry) for entry in row] for row in rows])


def _claims(instance: Instance, rate: Callable[[Moments], Fraction]) -> Prediction:
    return Prediction(
        (
            Claim("direction_drift", Relation.AT_MOST, 0, RESOLUTION),
            Claim("log_contraction", Relation.EQUAL, -rate(instance.moments) * instance.time, RESOLUTION),
        )
    )


EXAMPLE = {"inputs": [[1, 2, 0], [0, 1, -1]], "labels": [[1], [-1]], "weights": [[1, 0, -2]]}

VARIANTS = {
    "diagonal_rate": Variant(
        "the rate is A₁₁",
        predict=lambda instance: _claims(instance, lambda moments: moments[0]),
        examples=(EXAMPLE,),
    ),
    "rate_of_the_mean": Variant(
        "the rate is that of the ones vector, A₁₁ + 2A₁₂",
        predict=lambda instance: _claims(instance, lambda moments: moments[0] + 2 * moments[1]),
        examples=(EXAMPLE,),
    ),
    "conserved_norm": Variant(
        "the norm of W_⊥ is conserved as well",
        predict=lambda instance: _claims(instance, lambda moments: Fraction(0)),
        examples=(EXAMPLE,),
    ),
}
