"""For exchangeable features the identity is the cheapest assignment with probability 1/m!.

Hypotheses
----------
U has orthonormal columns; every S_i is invertible; the rows of A are exchangeable and have a density.

Statement
---------
The probability that Δ_π > 0 for all π ≠ id is 1/m! if the (v_i, S_i) are pairwise different, and 0 if two coincide.

Proof idea
----------
Exactly one relabelling of the rows of A makes the almost surely unique optimum the identity; ties are zeros of a polynomial
that is not zero.

Source
------
Ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import numerics
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
from ..theory.layers import LayerFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("G1",)
SOURCE = Source(("burgin2026",), Provenance.OURS, "on the notions of the paper")

RESOLUTION = 0.07  # the 99.9 % interval of a frequency among 2000 draws is at most ± 0.037


@dataclass(frozen=True)
class Instance(LayerFields):
    """A layer of at most 6 neurons, and the law of features.

    Parameters
    ----------
    features : str
        ``independent``: N(0, 1); ``near_centers``: N(v_i, 0.01), which are not exchangeable.
    samples : int
        How often they are drawn.
    """

    features: Literal["independent", "near_centers"] = "independent"
    samples: int = 2000

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 2 <= self.m <= _MOST_NEURONS:
            raise InputError(f"F: {self.m} neurons; 2 to {_MOST_NEURONS} are needed")
        if self.samples < _FEWEST_SAMPLES:
            raise InputError(f"samples={self.samples!r}: at least {_FEWEST_SAMPLES} are needed")


_MOST_NEURONS = 6
_FEWEST_SAMPLES = 2000


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        *_layer(instance),
        Hypothesis("features are exchangeable", instance.features == "independent", instance.features),
    )


def _layer(instance: Instance) -> tuple[Hypothesis, ...]:
    return instance.orthonormal(), instance.has_full_rank


def predict(instance: Instance) -> Prediction:
    pairs = list(zip(instance.centers, instance.grams, strict=True))
    return _claims(1 / math.factorial(instance.m) if len(set(pairs)) == instance.m else 0.0)


def _claims(probability: float) -> Prediction:
    return Prediction((Claim("P(the identity is the unique optimum)", Relation.EQUAL, probability, RESOLUTION),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    F, D, U = (floats(rows) for rows in (instance.F, instance.D, instance.U))
    scaled = D[:, :, None] * U
    found = numerics.directions.identity_frequency(
        F @ U,
        np.swapaxes(scaled, 1, 2) @ scaled,
        near_centers=instance.features == "near_centers",
        samples=instance.samples,
        seed=seed,
    )
    estimate = Estimate(found.value, found.error, f"{instance.samples} draws")
    return Measurement({"P(the identity is the unique optimum)": estimate}, MeasurementKind.STATISTICAL)


def instances() -> SearchStrategy[Fields]:
    return _layers("independent")


def _layers(features: str) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    fixed = st.lists(st.integers(0, 3), min_size=2, max_size=4)
    return fixed.map(
        lambda f: {"U": [[1]], "F": [[x] for x in f], "D": [[1]] * len(f), "features": features, "samples": 2000}
    )


def _factorial(f: Callable[[int], float]) -> Callable[[Instance], Prediction]:
    return lambda instance: _claims(f(instance.m))


_THREE = {"U": [[1]], "F": [[0], [1], [3]], "D": [[1]] * 3}

VARIANTS = {
    "one_over_m": Variant("1/m in place of 1/m!", predict=_factorial(lambda m: 1 / m), examples=(_THREE,)),
    "whatever_coincides": Variant(
        "1/m! also if two neurons coincide",
        predict=_factorial(lambda m: 1 / math.factorial(m)),
        examples=({**_THREE, "F": [[1], [1]], "D": [[1]] * 2},),
    ),
    "features_near_centers": Variant(
        "1/m! also for features that are drawn around the centers",
        hypotheses=_layer,
        instances=lambda: _layers("near_centers"),
        examples=({**_THREE, "features": "near_centers"},),
    ),
}
