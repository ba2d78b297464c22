"""Weight decay turns every law of the flow into one that decays at a known rate: e^{2λt} h is conserved for quadratic h.

Hypotheses
----------
θ' = −∇E(θ) − λθ with constant λ > 0 on all parameters that h contains; h a homogeneous quadratic law of the flow of E
for all data.

Statement
---------
h(θ(t)) = e^{−2λt} h(θ(0)). Generally H(θ e^{∫λ}) is conserved for every law H. Here: two-layer linear nets on random
data, and the balances UᵀU − VᵀV.

Proof idea
----------
d/dt h = ⟨∇h, −∇E⟩ − λ⟨∇h, θ⟩ = −2λh by Euler's identity.

Source
------
Marcotte, Gribonval, Peyré (2025), Theorem 2.1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from ..core import (
    Claim,
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
IDS = ("CL16",)
SOURCE = Source(("marcotte2025",), Provenance.PAPER)

RESOLUTION = 1e-8  # the flow is integrated to 1e-12; another factor changes the ratio by more than 1e-2


@dataclass(frozen=True)
class Instance:
    """Widths (n, r, m), decay and time.

    Parameters
    ----------
    sizes : tuple of int
        Outputs, hidden units, inputs; at most 10 each.
    decay : Fraction
        λ.
    time : Fraction
        T.
    """

    sizes: tuple[int, int, int]
    decay: Fraction
    time: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        if not all(1 <= n <= 10 for n in self.sizes):
            raise InputError(f"sizes={self.sizes!r}: between 1 and 10 units in each layer are needed")
        if not (0 <= self.decay <= 10 and 0 < self.time <= 10):
            raise InputError(f"decay={self.decay!r}, time={self.time!r}: numbers up to 10 are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("weights decay", instance.decay > 0, f"λ = {instance.decay}"),)


def predict(instance: Instance) -> Prediction:
    return _claim(instance, 2)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Integrate the flow with decay from a random start on random data and compare the largest entry of the balance."""
    n, r, m = instance.sizes
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((20, m)), generator.standard_normal((20, n))
    start = 0.7 * generator.standard_normal((n + m) * r)
    gradient = numerics.averaged_training.deep_linear_field(
        numerics.averaged_training.averaged_moments(x, y), [(n, r), (r, m)]
    )
    decay = float(instance.decay)
    end = numerics.integrators.exact_flow(lambda theta: gradient(theta) - decay * theta, start, float(instance.time))

    def balance(theta: Vector) -> Vector:
        u, v = theta[: n * r].reshape(n, r), theta[n * r :].reshape(r, m)
        return u.T @ u - v @ v.T

    before, after = balance(start), balance(end)
    at = np.unravel_index(np.abs(before).argmax(), before.shape)
    error = 1e-11 * float((start**2).sum()) / abs(float(before[at]))
    return Measurement({"ratio": Estimate(float(after[at] / before[at]), error, "flow with decay")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "sizes": st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3)).map(list),
            "decay": st.sampled_from(["1/10", "3/10", "1/2"]),
        }
    )


def _claim(instance: Instance, exponent: int) -> Prediction:
    ratio = math.exp(-exponent * float(instance.decay * instance.time))
    return Prediction((Claim("ratio", Relation.EQUAL, ratio, RESOLUTION),))


EXAMPLE = {"sizes": [3, 2, 3], "decay": "3/10", "time": 2}

VARIANTS = {
    "single_exponent": Variant(
        "h decays as e^{−λt}, like the weights",
        predict=lambda instance: _claim(instance, 1),
        examples=(EXAMPLE,),
    ),
    "no_decay": Variant(
        "h stays conserved",
        predict=lambda instance: _claim(instance, 0),
        examples=(EXAMPLE,),
    ),
}
