"""Over random masks the cost of a swap spreads as √ν, the root of the coherence, up to terms of second order.

Hypotheses
----------
U has orthonormal columns; F = 0; the entries of the masks are independent Bernoulli(μ), 0 < μ < 1.

Statement
---------
Let E_i = S_i − μ1, η = max ‖E_i‖₂ and B = aaᵀ − bbᵀ for the features a, b of two neurons. (i) Their swap costs Δ = μ⁻²⟨E_i −
E_j, B⟩ up to 2η²/(μ²(μ − η)) (‖a‖² + ‖b‖²) if η < μ. (ii) The first-order term has mean 0 and variance 2μ⁻³(1 − μ) Σ_l
(u_lᵀBu_l)² ≤ 2μ⁻³(1 − μ) ν‖B‖². (iii) With c copies of every input, scaled by 1/√c, ν and this variance are c times smaller.
The law of Δ itself, given that both S are invertible, is that of binomial counts.

Proof idea
----------
S⁻¹ = μ⁻¹ − μ⁻²E + μ⁻²E²S⁻¹, and the parts with μ⁻¹ cancel. |u_lᵀBu_l| ≤ √ν ‖Bu_l‖, and Σ ‖Bu_l‖² = ‖B‖².

Source
------
Ours; that masks alone leave permutations almost free is said in words by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

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
from ..theory.mask_spread import MOST_STATES
from ..theory.matrices import Rows, require_rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("D3",)
SOURCE = Source(("burgin2026",), Provenance.OURS, "the paper says it in words")

# A standard deviation of 10000 samples of kurtosis 7 has the relative standard error 1.2 %; four of them, twice.
RESOLUTION = 0.1


@dataclass(frozen=True)
class Instance(SubspaceFields):
    """Two neurons with random masks.

    Parameters
    ----------
    A : rows of numbers
        The two features, in the coordinates of U.
    keep : number
        μ, the probability that an entry of a mask is 1.
    copies : int
        c: every row of U stands for c inputs, each with that row over √c.
    samples : int
        How many pairs of masks are drawn.
    has_fixed_size : bool
        Every mask keeps the same number of inputs: entries are not independent.
    """

    A: Rows
    keep: Fraction
    copies: int = 1
    samples: int = 10_000
    has_fixed_size: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.A, "A", columns=self.k, count=2)
        if not 0 < self.keep < 1:
            raise InputError(f"keep={self.keep!r}: a number in (0, 1) is needed")
        if self.copies < 1 or (self.copies + 1) ** self.n > MOST_STATES:
            raise InputError(
                f"copies={self.copies!r}: at least 1, and at most {MOST_STATES} counts of kept copies, "
                f"{self.copies + 1} for each of {self.n} rows, are needed"
            )
        if not 10_000 <= self.samples <= 100_000:
            raise InputError(f"samples={self.samples!r}: 10000 to 100000 are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        instance.orthonormal(),
        Hypothesis("entries of the masks are independent", not instance.has_fixed_size, "drawn so, or with fixed size"),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda variance: variance)


def _claims(instance: Instance, of: Callable[[float], float]) -> Prediction:
    """The claims, where the true variances are to be taken for others."""
    a, b = instance.A
    fields = (instance.U, instance.copies, instance.keep, a, b)
    exact = math.sqrt(of(theory.mask_spread.swap_variance(*fields)))
    linear = math.sqrt(of(float(theory.mask_spread.first_order_variance(*fields))))
    coherence = float(instance.coherence) / instance.copies
    factor = 2 * float((1 - instance.keep) / instance.keep**3 * theory.mask_spread.difference_square(a, b))
    bound = math.sqrt(of(factor * coherence))
    rounding = 1e-12 * (1 + bound)
    return Prediction(
        (
            Claim("spread of the swap cost", Relation.EQUAL, exact, RESOLUTION * exact + rounding),
            Claim("spread of the first-order term", Relation.EQUAL, linear, RESOLUTION * linear + rounding),
            Claim("spread of the first-order term", Relation.AT_MOST, bound, RESOLUTION * linear + rounding),
            Claim("rest of the cost over its bound", Relation.AT_MOST, 1, 1e-9),
        )
    )


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Pairs of masks on all copies, and the swap cost of each."""
    U = np.repeat(floats(instance.U), instance.copies, axis=0) / math.sqrt(instance.copies)
    a, b = floats(instance.A)
    found = numerics.masks.swap_spread(
        U,
        float(instance.keep),
        a,
        b,
        samples=instance.samples,
        seed=seed,
        is_fixed_size=instance.has_fixed_size,
    )
    how = f"{instance.samples} pairs of masks, four standard errors"
    return Measurement(
        {
            "spread of the swap cost": Estimate(found.spread.value, found.spread.error, how),
            "spread of the first-order term": Estimate(found.first_order.value, found.first_order.error, how),
            "rest of the cost over its bound": Estimate(found.excess, 0.0, "largest over sampled pairs"),
        },
        MeasurementKind.STATISTICAL,
        false_alarm_rate=1e-3,
    )


def instances() -> SearchStrategy[Fields]:
    return _pairs(has_fixed_size=False)


def _pairs(*, has_fixed_size: bool) -> SearchStrategy[Fields]:
    """Many copies in one or two dimensions: S is rarely singular, and the kurtosis is small."""
    from hypothesis import strategies as st

    def pair(U: list[list[int | str]]) -> SearchStrategy[Fields]:
        k = len(U[0])
        row = st.lists(st.integers(-2, 2), min_size=k, max_size=k)
        return st.fixed_dictionaries(
            {
                "U": st.just(U),
                "A": st.lists(row, min_size=2, max_size=2),
                "keep": st.sampled_from(["3/4", "1/2", "7/8"]),
                "copies": st.sampled_from([12, 24] if len(U) == 2 else [64, 128]),
                "has_fixed_size": st.just(has_fixed_size),
            }
        )

    bases: SearchStrategy[list[list[int | str]]] = st.sampled_from(
        [[[1]], [[1, 0], [0, 1]], [["3/5"], ["4/5"]], [["3/5", "-4/5"], ["4/5", "3/5"]]]
    )
    return bases.flatmap(pair)


_COPIES = {"U": [[1, 0], [0, 1]], "A": [[1, 0], [0, 1]], "keep": "1/2", "copies": 32}

VARIANTS = {
    "proportional_to_coherence": Variant(
        "ν in place of √ν: c copies divide the spread by c",
        predict=lambda x: _claims(x, lambda variance: variance / x.copies),
        examples=(_COPIES,),
    ),
    "one_neuron_spreads": Variant(
        "the variance of one neuron's masks only",
        predict=lambda x: _claims(x, lambda variance: variance / 2),
        examples=(_COPIES,),
    ),
    "fixed_size_masks_too": Variant(
        "the same for masks that keep a fixed number of inputs",
        hypotheses=lambda instance: hypotheses(instance)[:1],
        instances=lambda: _pairs(has_fixed_size=True),
        examples=({"U": [[1]], "A": [[1], [0]], "keep": "1/2", "copies": 64, "has_fixed_size": True},),
    ),
}
