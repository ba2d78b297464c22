"""With one wide hidden layer C_{0,d} is of order n^−⌊d/2⌋ and C_{1,d} of order n^(−d/2); for D ≥ 2 a maximum law holds.

Hypotheses
----------
One hidden layer of n neurons with independent N(0, 1) weights, one input, φ analytic; the leading constant, a Gaussian
expectation, is not 0.

Statement
---------
γ = ½, η of order 1: C_{0,d} ≍ n^−⌊d/2⌋ and ‖C_{1,d}‖ ≍ n^(−d/2). For D ≥ 2, n^((d+1)/2) ‖C_{D,d}‖ is in law the largest of n
independent copies of the norm G(a, z) of one neuron, so of order (log n)^((d+1)/2) if φ^(D+d) φ'^d is bounded and not 0.
Output n^−γ with η ∝ n^(2γ−1) adds (γ − ½)(D + d − 1). The standard parametrization with rate η₀/n has −⌊d/2⌋ − (d − 1) and
½ − 3d/2 for d ≥ 1.

Proof idea
----------
C_{0,odd}: law of large numbers; C_{0,even}: mean 0 by a → −a, central limit theorem; D = 1: law of large numbers of the
square; D ≥ 2: forms on separate neurons. A maximum of n normal variables grows like √(2 log n).

Source
------
Ours; Shem-Ur and Oz (2024) have upper bounds of these orders.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import theory
from ..core import Claim, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..theory.width_fields import WidthFields
from ._width_exponents import claims, measured, requirements

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.width_exponents import Exponent

FAMILY = "correlations"
IDS = ("WC07",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "upper bounds of these orders are the paper's")


@dataclass(frozen=True)
class Instance(WidthFields):
    """A random hidden layer, orders (D, d), and widths."""


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return requirements(instance)


def predict(instance: Instance) -> Prediction:
    return Prediction(claims(instance, lambda D, d: _exponent(instance, D, d)))


def _exponent(instance: Instance, D: int, d: int) -> Exponent:
    return theory.width_exponents.one_hidden_exponent(D, d, gamma=instance.gamma, is_standard=instance.is_standard)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    return measured(instance, seed, device)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import activations

    def layer(phi: Fields, orders: list[list[int]], kernel: str, gamma: str) -> Fields:
        return {**phi, "orders": orders, "kernel": kernel, "gamma": gamma, "widths": _WIDTHS}

    return st.builds(
        layer,
        activations(polynomials=False),
        st.sampled_from([[[0, 2], [1, 1]], [[0, 3], [0, 2]], [[2, 0], [1, 1]]]),
        st.sampled_from(["1/2", "1"]),
        st.sampled_from(["1/2", "3/4", "1"]),
    )


_WIDTHS = [32, 64, 128, 256, 512, 1024]


# False variants.


def _shifted(instance: Instance, parity: int, by: Fraction) -> Prediction:
    """The exponent of C_{0,d} of one parity moved."""

    def exponent(D: int, d: int) -> Exponent:
        true = _exponent(instance, D, d)
        return true.shifted(by, "moved") if D == 0 and d >= 2 and d % 2 == parity else true

    return Prediction(claims(instance, exponent))


def _plain_power(instance: Instance) -> Prediction:
    """The medians for D ≥ 2 without logarithms: a power of n from the smallest width on."""
    first, last = instance.widths[0], instance.widths[-1]
    found: list[Claim] = []
    for claim in predict(instance).claims:
        if claim.quantity.endswith(f"at n = {last}"):
            before = found[-1].value
            D, d = (int(part) for part in claim.quantity.partition("{")[2].partition("}")[0].split(","))
            power = _exponent(instance, D, d).value
            assert isinstance(before, float)
            assert power is not None
            value = before + float(power) * math.log(last / first)
            claim = Claim(claim.quantity, Relation.EQUAL, value, claim.resolution)
        found.append(claim)
    return Prediction(tuple(found))


def _maxima() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.builds(
        lambda name, d: {"activation": name, "orders": [[2, d]], "widths": [8, 64, 128, 256, 512, 4096]},
        st.sampled_from(["tanh", "erf", "sin"]),
        st.sampled_from([0, 1]),
    )


VARIANTS = {
    "odd_orders_fluctuate": Variant(
        "C_{0,d} is of order n^(−d/2) for odd d ≥ 3",
        predict=lambda instance: _shifted(instance, 1, Fraction(-1, 2)),
        examples=({"activation": "tanh", "orders": [[0, 3]], "widths": _WIDTHS},),
    ),
    "even_orders_have_a_mean": Variant(
        "C_{0,d} is of order n^(½−d/2) for even d",
        predict=lambda instance: _shifted(instance, 0, Fraction(1, 2)),
        examples=({"activation": "tanh", "orders": [[0, 2]], "widths": _WIDTHS},),
    ),
    "maxima_without_logarithms": Variant(
        "‖C_{D,d}‖ is of order n^(−(d+1)/2) for D ≥ 2",
        predict=_plain_power,
        instances=_maxima,
        examples=({"activation": "tanh", "orders": [[2, 1]], "widths": [8, 64, 128, 256, 512, 4096]},),
    ),
}
