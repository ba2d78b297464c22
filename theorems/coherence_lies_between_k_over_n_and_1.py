"""The coherence of a k-dimensional subspace of ℝⁿ lies in [k/n, 1].

Hypotheses
----------
U has orthonormal columns.

Statement
---------
ν = max_l ‖u_l‖² = max_l ‖P e_l‖² satisfies k/n ≤ ν ≤ 1. ν = 1 iff some coordinate vector e_l lies in the subspace; ν = k/n
iff all rows of U have equal norm. It depends on the subspace only.

Proof idea
----------
Σ_l ‖u_l‖² = k, and ‖u_l‖ = ‖UUᵀe_l‖ ≤ 1.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026); there is no factor n/k as in compressed sensing.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import (
    Certificate,
    Claim,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..numerics.floats import floats
from ..theory.layers import SubspaceFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("D1",)
SOURCE = Source(("burgin2026",), Provenance.PAPER)

RESOLUTION = 1e-12  # rounding of one orthonormalization
_CLEAR = 1e-9  # far above that; equalities of floats are meant up to here

Instance = SubspaceFields


def hypotheses(instance: SubspaceFields) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(),)


def predict(instance: SubspaceFields) -> Prediction:
    return _claims(instance, lambda x: x.coherence, Fraction(instance.k, instance.n))


def _claims(instance: SubspaceFields, value: Callable[[SubspaceFields], Fraction], least: Fraction) -> Prediction:
    nu = value(instance)
    return Prediction(
        (
            Claim("coherence", Relation.EQUAL, nu, RESOLUTION),
            Claim("coherence", Relation.AT_LEAST, least, RESOLUTION),
            Claim("coherence", Relation.AT_MOST, 1, RESOLUTION),
            Claim("a coordinate vector is in the subspace", Relation.EQUAL, nu == 1),
            Claim("all rows have equal norm", Relation.EQUAL, nu == least),
        ),
        (Certificate("coherence", {}),),
    )


def measure(instance: SubspaceFields, seed: int, device: str) -> Measurement:
    """From another basis of the same subspace: U times a random rotation, orthonormalized again."""
    generator = np.random.default_rng(seed)
    U = floats(instance.U)
    rotation = np.linalg.qr(generator.standard_normal((instance.k, instance.k)))[0]
    nu = numerics.subspaces.coherence(U @ rotation)
    projection = U @ np.linalg.pinv(U)
    distances = np.linalg.norm(np.eye(instance.n) - projection, axis=0)
    norms = np.diagonal(projection)
    return Measurement(
        {
            "coherence": Estimate(nu, 1e-13, "another basis"),
            "a coordinate vector is in the subspace": Estimate(bool(distances.min() < _CLEAR), how="least distance"),
            "all rows have equal norm": Estimate(bool(np.ptp(norms) < _CLEAR), how="spread of the norms"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from ..testing import subspaces

    return subspaces().map(lambda U: {"U": U})


_TILTED = {"U": [["3/5", "-4/5"], ["4/5", "3/5"]]}

VARIANTS = {
    "largest_entry": Variant(
        "ν = max U_lj², which depends on the basis",
        predict=lambda x: _claims(x, lambda y: max(u * u for row in y.U for u in row), Fraction(x.k, x.n)),
        examples=(_TILTED,),
    ),
    "normalized": Variant(
        "(n/k) max ‖u_l‖² as in compressed sensing, between 1 and n/k",
        predict=lambda x: _claims(x, lambda y: y.coherence * Fraction(y.n, y.k), Fraction(1)),
        examples=({"U": [["3/5"], ["4/5"]]},),
    ),
}
