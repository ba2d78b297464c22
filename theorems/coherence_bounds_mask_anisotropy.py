"""Masks of independent entries are isotropic up to (2/3)bνL + σ√(2νL) with probability 1 − δ.

Hypotheses
----------
U has orthonormal columns; the mask entries d_l are independent, 1 with probability p and 0 otherwise.

Statement
---------
With S = Uᵀ diag(d²) U, b = max(p, 1 − p), σ² = p(1 − p) and L = log(2k/δ): ‖S − p1‖₂ exceeds (2/3)bνL + σ√(2νL) with
probability at most δ.

Proof idea
----------
S − p1 = Σ (d_l² − p) u_l u_lᵀ; summands are bounded by bν, the variance by σ²ν; matrix Bernstein (Tropp), solved for the
deviation with a remainder that is not negative.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026) for the formula; proof ours, by Tropp (2012).
"""

from __future__ import annotations

import math
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
    MeasurementKind,
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
IDS = ("D2",)
SOURCE = Source(("burgin2026", "tropp2012"), Provenance.SHARPENED, "formula of the paper; proof ours")

SAMPLES = 20_000
RESOLUTION = 0.05  # quantiles of 20 000 masks are known better than that for δ ≥ 0.01, in units of an anisotropy of 1
LISTED_RESOLUTION = 1e-9  # where all masks are listed: rounding only


@dataclass(frozen=True)
class Instance(SubspaceFields):
    """A subspace and the law of masks.

    Parameters
    ----------
    keep : number
        p, the probability that an entry is trainable.
    failure : number
        δ in (0, 1].
    """

    keep: Fraction
    failure: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0 <= self.keep <= 1 and 0 < self.failure <= 1):
            raise InputError(f"keep={self.keep!r}, failure={self.failure!r}: probabilities are needed, failure not 0")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (instance.orthonormal(),)


def derive(instance: Instance) -> Derivation:
    """The remainder at the claimed deviation, as a product of positive symbols: no sign is left open."""
    remainder = theory.masks.bernstein_remainder()
    return Derivation(
        "t²/2 − L(σ²ν + bνt/3) ≥ 0 at the claimed t",
        "0" if remainder.is_nonnegative else str(remainder),
        r"t = \tfrac23 b\nu L + \sigma\sqrt{2\nu L}:\quad \tfrac{t^2}{2} - L(\sigma^2\nu + \tfrac{b\nu t}{3}) = "
        r"\tfrac{\sqrt2}{3} L^{3/2} b \nu^{3/2} \sigma",
    )


def predict(instance: Instance) -> Prediction:
    return _claims(
        instance, theory.masks.anisotropy_bound(instance.coherence, instance.k, instance.keep, instance.failure)
    )


def _claims(instance: Instance, bound: float) -> Prediction:
    resolution = LISTED_RESOLUTION if instance.n <= _LISTED else RESOLUTION
    return Prediction((Claim(QUANTITY, Relation.AT_MOST, bound, resolution),))


QUANTITY = "anisotropy that is exceeded with probability δ"
_LISTED = 12


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    found, is_listed = numerics.masks.anisotropy_quantile(
        floats(instance.U), float(instance.keep), float(instance.failure), samples=SAMPLES, seed=seed
    )
    kind = MeasurementKind.DETERMINISTIC if is_listed else MeasurementKind.STATISTICAL
    how = "all masks" if is_listed else f"{SAMPLES} masks"
    return Measurement({QUANTITY: Estimate(found.value, found.error, how)}, kind)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import subspaces

    chances = st.sampled_from(["1/100", "1/10", "1/2", "9/10"])
    return st.builds(
        lambda U, keep, failure: {"U": U, "keep": keep, "failure": failure},
        subspaces() | st.integers(1, 10).map(lambda k: [[int(i == j) for j in range(k)] for i in range(k)]),
        chances,
        chances,
    )


def _keep_for_b(instance: Instance) -> Prediction:
    p, nu = float(instance.keep), float(instance.coherence)
    scale = nu * math.log(2 * instance.k / instance.failure)
    return _claims(instance, 2 / 3 * p * scale + math.sqrt(2 * p * (1 - p) * scale))


def _no_dimension(instance: Instance) -> Prediction:
    p, nu = float(instance.keep), float(instance.coherence)
    scale = nu * math.log(1 / instance.failure)
    return _claims(instance, 2 / 3 * max(p, 1 - p) * scale + math.sqrt(2 * p * (1 - p) * scale))


_UNIT = [[int(i == j) for j in range(12)] for i in range(12)]

VARIANTS = {
    "keep_for_b": Variant(
        "b = p in place of max(p, 1 − p)",
        predict=_keep_for_b,
        examples=({"U": [[1, 0], [0, 1]], "keep": "1/100", "failure": "1/100"},),
    ),
    "no_dimension": Variant(
        "L = log(1/δ), without the factor 2k",
        predict=_no_dimension,
        examples=({"U": _UNIT, "keep": "1/10", "failure": "1/2"},),
    ),
}
