"""The closest of m random centers in dimension k are about σ√k m^(−2/k) apart, by an exact law of χ².

Hypotheses
----------
The centers are independent N(0, σ²1_k), and m ≥ 2.

Statement
---------
λ(r) = C(m, 2) P(χ²_k ≤ r²/2σ²) is the mean number of pairs closer than r. So P(min ≤ r) ≤ λ(r) for all m and k, and for
fixed k and m → ∞ λ(min) tends to Exp(1) in law. The median of min is close to σ√(2F⁻¹(1 − 2^(−1/C(m, 2)))), with F the
law of χ²_k.

Proof idea
----------
‖v_i − v_j‖²/2σ² follows χ²_k; the union bound; Poisson limit for close pairs. The asymptotic exponent −2/k is not visible
at practical m for k ≥ 16, so the median is compared with the law itself.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026) for the rate; the limit is due to Silverman and Brown (1978); finite-size laws are ours.
"""

from __future__ import annotations

import math
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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("C2",)
SOURCE = Source(("burgin2026", "silverman1978"), Provenance.SHARPENED, "rate of the paper; finite-size laws ours")

# Pairs are not independent: what that moves λ(min) for k ≤ 8 and m ≥ 16 is below what 400 samples resolve (p-values from
# 0.04 to 0.97 on a grid of m and k): the claim is not finer than the 99.9 % quantile of 400 samples, 0.097.
LAW_RESOLUTION = 0.1
MEDIAN_RESOLUTION = 0.4  # times 1/k: a sample median of log min has standard error 1.44/(k√1000) = 0.046/k; 8 of them
RATE_RESOLUTION = 0.09  # half of the 99.9 % interval of a frequency among 1000, twice


@dataclass(frozen=True)
class Instance:
    """Random centers.

    Parameters
    ----------
    m, k : int
        Number of centers and dimension.
    sigma : number
        Standard deviation of a coordinate.
    replicates : int
        How often they are drawn.
    masked : int
        Of 1000 fixed weights per neuron that make a center, how many are zero; the law is for none.
    radius : number, optional
        r, where the union bound is tested.
    """

    m: int
    k: int
    sigma: Fraction = Fraction(1)
    replicates: int = 1000
    masked: int = 0
    radius: Fraction | None = None

    def __post_init__(self) -> None:
        if self.m < 1 or self.k < 1 or self.replicates < 100 or not 0 <= self.masked < 1000 or self.sigma < 0:
            raise InputError(
                f"m={self.m!r}, k={self.k!r}, sigma={self.sigma!r}, replicates={self.replicates!r}, masked={self.masked!r}: "
                "m, k >= 1, sigma >= 0, at least 100 replicates and 0 <= masked < 1000 are needed"
            )

    @property
    def scale(self) -> float:
        """Standard deviation of a coordinate of the centers."""
        return float(self.sigma) * math.sqrt(1 - self.masked / 1000)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("there are two centers", instance.m >= 2, f"m = {instance.m}"),
        Hypothesis("the centers are spread", instance.sigma > 0, f"sigma = {instance.sigma}"),
        Hypothesis("every fixed weight contributes", instance.masked == 0, f"masked = {instance.masked} of 1000"),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, theory.separation.median_separation, theory.separation.close_pairs)


def _claims(
    instance: Instance,
    median: Callable[[int, int, float], float],
    close_pairs: Callable[[float, int, int, float], float],
) -> Prediction:
    m, k, sigma = instance.m, instance.k, instance.scale
    claims = [Claim("log median", Relation.EQUAL, math.log(median(m, k, sigma)), MEDIAN_RESOLUTION / k)]
    if instance.radius is not None:
        bound = min(close_pairs(float(instance.radius), m, k, sigma), 1.0)
        claims.append(Claim("P(min ≤ r)", Relation.AT_MOST, bound, RATE_RESOLUTION))
    if k <= _LARGEST_POISSON and m >= _LEAST_POISSON:
        claims.append(Claim("distance of λ(min) from Exp(1)", Relation.AT_MOST, 0, LAW_RESOLUTION))
    return Prediction(tuple(claims))


_LARGEST_POISSON = 8
_LEAST_POISSON = 16


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    m, k, sigma = instance.m, instance.k, instance.scale
    distances = numerics.separation.nearest_distances(m, k, sigma=sigma, replicates=instance.replicates, seed=seed)
    median = numerics.separation.median_interval(distances)
    estimates = {"log median": Estimate(median.value, median.error, "order statistics")}
    if instance.radius is not None:
        close = numerics.separation.closer_than(distances, float(instance.radius))
        estimates["P(min ≤ r)"] = Estimate(close.value, close.error, "Clopper-Pearson")
    if k <= _LARGEST_POISSON and m >= _LEAST_POISSON:
        law = numerics.separation.separation_law(distances, m, k, sigma)
        estimates["distance of λ(min) from Exp(1)"] = Estimate(law.value, law.error, "Kolmogorov-Smirnov")
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=3e-3)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "m": st.integers(2, 64),
            "k": st.integers(1, 8),
            "sigma": st.sampled_from([1, "1/2", 3]),
            "radius": st.sampled_from(["1/100", "1/4", 1]),
        }
    )


# False variants.


def _rate_one_over_k(instance: Instance) -> Prediction:
    """The median at 16 centers, carried on with exponent −1/k."""

    def median(m: int, k: int, sigma: float) -> float:
        return theory.separation.median_separation(16, k, sigma) * math.pow(m / 16, -1 / k)

    return _claims(instance, median, theory.separation.close_pairs)


def _variance_of_one(instance: Instance) -> Prediction:
    half = math.sqrt(0.5)
    return _claims(
        instance,
        lambda m, k, sigma: theory.separation.median_separation(m, k, half * sigma),
        lambda r, m, k, sigma: theory.separation.close_pairs(r, m, k, half * sigma),
    )


def _masks_do_not_matter(instance: Instance) -> Prediction:
    """The law with σ in place of σ√(1 − μ)."""
    factor = math.sqrt(1 - instance.masked / 1000)
    return _claims(
        instance,
        lambda m, k, sigma: theory.separation.median_separation(m, k, sigma / factor),
        lambda r, m, k, sigma: theory.separation.close_pairs(r, m, k, sigma / factor),
    )


def _masked_instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries({"m": st.integers(2, 64), "k": st.integers(1, 8), "masked": st.just(875)})


VARIANTS = {
    "exponent_one_over_k": Variant(
        "the nearest centers are m^(−1/k) apart", predict=_rate_one_over_k, examples=({"m": 128, "k": 1},)
    ),
    "difference_has_variance_one": Variant(
        "v_i − v_j has variance σ², not 2σ²", predict=_variance_of_one, examples=({"m": 2, "k": 8},)
    ),
    "masks_do_not_matter": Variant(
        "centers of masked fixed weights are as far apart",
        predict=_masks_do_not_matter,
        hypotheses=lambda instance: hypotheses(instance)[:2],
        instances=_masked_instances,
        examples=({"m": 64, "k": 8, "sigma": "13/10", "masked": 875},),
    ),
}
