"""A least stochastic order exists if all upper quantiles have one common order; in general there is none.

Hypotheses
----------
X_n ≥ 0; there is p_0 < 1 such that the quantiles Q_n(p), p_0 < p < 1, are of one common order f. For products: M₁ and M₂ are
independent.

Statement
---------
X_n = O(f) in probability, and f is the least such bound, unique up to a constant factor. Here: log Q_n(p)/log n tends to the
same exponent for all p > p_0. Without the hypothesis there may be no least bound: X_n = n^U, U uniform on (0, 1).
For independent M₁, M₂: Var(M₁M₂) ≥ Var M₁ Var M₂.

Proof idea
----------
Upper bounds are closed under minima, so a least one is unique. Comparable quantiles make X_n/f tight, and for any other bound
g liminf g/f > 0. For n^U, every bound f is n^p-large for all p < 1, and then f/log n is one too. Var(M₁M₂) = Var M₁ Var M₂ +
E(M₁)² Var M₂ + E(M₂)² Var M₁.

Source
------
Shem-Ur and Oz (2024) claim existence for all sequences, as reported; the hypothesis and the counterexample are ours.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from .. import numerics, theory
from ..core import (
    Claim,
    Estimate,
    Evidence,
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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC05",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "the unconditional claim is false; the hypothesis is ours")

RESOLUTION = 0.1
ROUNDING = 1e-10  # times the squares of the moments
GAP = "Var(M₁M₂) − Var M₁ Var M₂"
LEVELS = (Fraction(3, 4), Fraction(9, 10), Fraction(97, 100))
_COUNT = 4000


@dataclass(frozen=True)
class Instance:
    """A random sequence by name, or the joint law of two variables.

    Parameters
    ----------
    law : str, optional
        ``exponential`` or ``pareto``: n^s times such a variable; ``uniform_power``: n^U; ``one_or_n``: 1 or n, at even odds.
    s : number
        The exponent.
    levels : tuple of numbers
        p for which quantiles are compared: 3/4, 9/10 and 97/100, above p_0 = ½.
    widths : tuple of int
        n: at least six.
    table : rows of three numbers
        (m₁, m₂, probability), in place of a sequence.
    """

    law: Literal["exponential", "pareto", "uniform_power", "one_or_n"] | None = None
    s: Fraction = Fraction(0)
    levels: tuple[Fraction, ...] = LEVELS
    widths: tuple[int, ...] = (64, 256, 1024, 4096, 16384, 65536)
    table: tuple[tuple[Fraction, Fraction, Fraction], ...] = ()

    def __post_init__(self) -> None:
        if (self.law is None) == (not self.table):
            raise InputError("law: give either this or the table `table`")
        if not self.levels or not set(self.levels) <= set(LEVELS):
            raise InputError(
                f"levels={[str(p) for p in self.levels]!r}: some of {', '.join(map(str, LEVELS))} are needed"
            )
        widths = list(self.widths)
        if len(widths) < 6 or widths != sorted(set(widths)) or widths[0] < 2:
            raise InputError(f"widths={widths!r}: at least six increasing numbers from 2 on are needed")
        weights = [p for _, _, p in self.table]
        if self.table and (sum(weights) != 1 or min(weights) < 0):
            raise InputError(f"table: probabilities sum to {sum(weights)!s}; they are not negative, and sum to 1")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    if instance.table:
        return (Hypothesis("M₁ and M₂ are independent", _is_product(instance), "joint probabilities, exactly"),)
    exponents = {theory.quantile_orders.quantile_exponent(str(instance.law), instance.s, p) for p in instance.levels}
    how = f"exponents {', '.join(sorted(map(str, exponents)))}, from the quantile function"
    is_one = instance.law != "uniform_power"
    return (Hypothesis("upper quantiles have one common order", is_one, how),)


def _is_product(instance: Instance) -> bool:
    joint: dict[tuple[Fraction, Fraction], Fraction] = {}
    first: dict[Fraction, Fraction] = {}
    second: dict[Fraction, Fraction] = {}
    for x, y, p in instance.table:
        joint[x, y] = joint.get((x, y), Fraction(0)) + p
        first[x] = first.get(x, Fraction(0)) + p
        second[y] = second.get(y, Fraction(0)) + p
    return all(joint.get((x, y), Fraction(0)) == p * q for x, p in first.items() for y, q in second.items())


def predict(instance: Instance) -> Prediction:
    return _claims(instance, one_order=False)


def _claims(instance: Instance, *, one_order: bool) -> Prediction:
    if instance.table:
        size = float(1 + sum((p * (1 + x * x) * (1 + y * y) for x, y, p in instance.table), Fraction(0)))
        return Prediction((Claim(GAP, Relation.AT_LEAST, Fraction(0), ROUNDING * size**2),))
    exponent = theory.quantile_orders.quantile_exponent
    values = [float(exponent(str(instance.law), instance.s, p)) for p in instance.levels]
    if one_order:
        values = [max(values)] * len(values)
    return Prediction(
        tuple(
            Claim(_quantity(p), Relation.EQUAL, value, RESOLUTION)
            for p, value in zip(instance.levels, values, strict=True)
        )
    )


def _quantity(p: Fraction) -> str:
    return f"exponent of the {p} quantile"


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Sample, and fit the exponents of sample quantiles; a table is summed."""
    if instance.table:
        rows = [(float(x), float(y), float(p)) for x, y, p in instance.table]
        gap = numerics.quantile_samples.product_variance_gap(rows)
        return Measurement({GAP: Estimate(gap.value, gap.error, "sums")})
    found = numerics.quantile_samples.quantile_exponents(
        str(instance.law),
        float(instance.s),
        [float(p) for p in instance.levels],
        instance.widths,
        count=_COUNT,
        seed=seed,
        resolution=RESOLUTION,
    )
    estimates = {
        _quantity(p): Estimate(interval.value, interval.error, f"{_COUNT} samples at each n")
        for p, interval in zip(instance.levels, found, strict=True)
    }
    return Measurement(estimates, MeasurementKind.STATISTICAL, Evidence.STATISTICAL, false_alarm_rate=1e-2)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import small_fractions

    sequences = st.fixed_dictionaries(
        {"law": st.sampled_from(["exponential", "pareto"]), "s": st.sampled_from([0, -1, "1/2"])}
    )
    sides = st.lists(small_fractions(), min_size=2, max_size=2)
    tables = st.builds(lambda x, y: {"table": [[a, b, "1/4"] for a in x for b in y]}, sides, sides)
    return sequences | tables


# False variants.


def _dependent() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    row = st.builds(lambda x: [x, f"1/{x}", "1/2"], st.integers(1, 3))
    return st.builds(lambda a, b: {"table": [a, b]}, row, row)


def _powers() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.builds(lambda p: {"law": "uniform_power", "levels": ["3/4", p]}, st.sampled_from(["9/10", "97/100"]))


VARIANTS = {
    "always_exists": Variant(
        "every sequence has a least order, which all upper quantiles have",
        hypotheses=lambda instance: hypotheses(instance) if instance.table else (),
        predict=lambda instance: _claims(instance, one_order=True),
        instances=_powers,
        examples=({"law": "uniform_power"},),
    ),
    "variances_of_dependent_factors": Variant(
        "Var(M₁M₂) ≥ Var M₁ Var M₂ without independence",
        hypotheses=lambda instance: () if instance.table else hypotheses(instance),
        instances=_dependent,
        examples=({"table": [[1, 1, "1/2"], [2, "1/2", "1/2"]]},),
    ),
}
