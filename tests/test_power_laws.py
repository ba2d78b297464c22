"""Exponents: known ones are found, verdicts keep their error rates, and nothing is said about rounding, zeros and NaN."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lakatos.core import Claim, Estimate, InputError, Relation
from lakatos.judge import agreement
from lakatos.numerics.power_laws import (
    PowerLaw,
    exponent_interval,
    exponent_verdict,
    planned_seeds,
    power_law,
    predicted_standard_error,
)

WIDTHS = [2**k for k in range(6, 14)]
EQUAL, AT_MOST = Relation.EQUAL, Relation.AT_MOST
RESOLUTION = 0.1


def synthetic(correction: float, seeds: int, rng: np.random.Generator, exponent: float = -1.0) -> list[np.ndarray]:
    """Normal values of standard deviation n^exponent (1 + correction/n)."""
    return [(1 + correction / n) * n**exponent * rng.standard_normal(seeds) for n in WIDTHS]


def law_of(exponent: float, spread: float, upper: float | None = None) -> PowerLaw:
    """A fit without band or lack of fit; `upper` is the exponent of the upper half."""
    rest = None if upper is None else law_of(upper, spread)
    return PowerLaw(exponent, spread, exponent, exponent, 1.0, 0.0, tuple(WIDTHS), (1.0,) * len(WIDTHS), rest)


@pytest.mark.parametrize("statistic", ["rms", "mean", "median"])
@pytest.mark.parametrize("exponent", [-2.5, -1.0, 0.0, 0.5])
def test_exact_powers_are_found(statistic: str, exponent: float) -> None:
    law = power_law(WIDTHS, [np.full(3, 2.0 * n**exponent) for n in WIDTHS], statistic=statistic)
    assert law.exponent == pytest.approx(exponent, abs=1e-12)
    assert law.half_width < 1e-11
    assert exponent_verdict(law, exponent + 0.01, EQUAL, RESOLUTION) == "refuted"


def test_a_power_of_the_logarithm_is_taken_out() -> None:
    samples = [np.full(3, math.log(n) ** 1.5 / n) for n in WIDTHS]
    assert power_law(WIDTHS, samples, log_power=1.5).exponent == pytest.approx(-1, abs=1e-12)
    assert power_law(WIDTHS, samples).exponent > -0.9


def test_standard_error_is_that_of_repeated_experiments() -> None:
    rng = np.random.default_rng(0)
    laws = [power_law(WIDTHS, synthetic(0, 60, rng), resamples=200) for _ in range(200)]
    observed = np.std([law.exponent for law in laws])
    assert np.mean([law.standard_error for law in laws]) == pytest.approx(observed, rel=0.2)
    assert predicted_standard_error(60, len(WIDTHS)) == pytest.approx(observed, rel=0.2)


def test_curvature_is_lack_of_fit_or_band() -> None:
    # Noise of one percent: the line through n^-1 (1 + 30/n) is off by far more than that.
    rng = np.random.default_rng(0)
    samples = [(1 + 30 / n) / n * (1 + 0.01 * rng.standard_normal(60)) for n in WIDTHS]
    law = power_law(WIDTHS, samples)
    assert law.lack_of_fit > 10
    assert law.upper is not None
    assert abs(law.upper.exponent + 1) < abs(law.exponent + 1)
    # The bare interval misses the truth, the honest one does not.
    assert not law.low <= -1 <= law.high
    assert exponent_verdict(law, -1.0, EQUAL, RESOLUTION) != "refuted"


def test_order_of_seeds_does_not_pair_widths() -> None:
    rng = np.random.default_rng(0)
    samples = synthetic(0, 60, rng)
    law = power_law(WIDTHS, samples)
    again = power_law(WIDTHS, [rng.permutation(values) for values in samples])
    assert again.exponent == pytest.approx(law.exponent, abs=1e-12)
    assert again.standard_error == pytest.approx(law.standard_error, rel=0.1)


def test_equality_is_decided_on_both_sides_and_a_bound_on_one() -> None:
    law = law_of(-1.0, 0.02)
    assert exponent_verdict(law, -1.03, EQUAL, RESOLUTION) == "supported"
    assert exponent_verdict(law, -1.05, EQUAL, RESOLUTION) == "inconclusive"
    assert exponent_verdict(law, -1.07, EQUAL, RESOLUTION) == "refuted"
    assert exponent_verdict(law, -0.93, EQUAL, RESOLUTION) == "refuted"
    assert exponent_verdict(law, -1.03, EQUAL, 0.01) == "inconclusive"
    assert exponent_verdict(law, -0.5, AT_MOST, RESOLUTION) == "supported"
    assert exponent_verdict(law, -1.05, AT_MOST, RESOLUTION) == "supported"
    assert exponent_verdict(law, -1.06, AT_MOST, 0.0) == "inconclusive"
    assert exponent_verdict(law, -1.07, AT_MOST, 0.0) == "refuted"


def test_upper_half_has_to_refute_as_well() -> None:
    assert exponent_verdict(law_of(-1.0, 0.02, upper=-1.45), -1.5, EQUAL, RESOLUTION) == "inconclusive"
    assert exponent_verdict(law_of(-1.0, 0.02, upper=-1.2), -1.5, EQUAL, RESOLUTION) == "refuted"


@pytest.mark.parametrize("law", [law_of(-1.0, 0.02), law_of(-1.0, 0.02, upper=-1.1), law_of(-1.0, 0.06, upper=-0.8)])
@pytest.mark.parametrize("relation", [EQUAL, AT_MOST])
def test_judge_refutes_nothing_that_the_rule_does_not(law: PowerLaw, relation: Relation) -> None:
    interval = exponent_interval(law, RESOLUTION)
    refuted = 0
    for claimed in np.linspace(-2, 0, 401):
        claim = Claim("exponent", relation, float(claimed), RESOLUTION)
        if agreement(claim, Estimate(interval.value, interval.error)) is False:
            refuted += 1
            assert exponent_verdict(law, float(claimed), relation, RESOLUTION) == "refuted"
    assert refuted > 100


def test_zeros_and_nan_decide_nothing() -> None:
    zeros = power_law(WIDTHS, [np.zeros(4)] * len(WIDTHS))
    with_nan = power_law(WIDTHS, [np.array([1.0, math.nan])] * len(WIDTHS))
    resampled_to_zero = power_law(WIDTHS, [np.array([0.0, 1.0])] * len(WIDTHS))
    for law in (zeros, with_nan, resampled_to_zero):
        for relation in Relation:
            assert exponent_verdict(law, 0.0, relation, RESOLUTION) == "inconclusive"
        interval = exponent_interval(law, RESOLUTION)
        assert agreement(Claim("e", EQUAL, 0.0, RESOLUTION), Estimate(interval.value, interval.error)) is None


def test_widths_of_rounding_are_left_out() -> None:
    samples = [np.full(3, max(n**-4.0, 3e-15)) for n in WIDTHS]
    scales = [1.0 if n > 2000 else 1e-3 for n in WIDTHS]
    law = power_law(WIDTHS, samples, scales=scales)
    assert law.widths == tuple(WIDTHS[:6])
    assert law.exponent == pytest.approx(-4, abs=1e-9)
    assert math.isnan(power_law(WIDTHS, samples, scales=[1e3] * len(WIDTHS)).exponent)


def test_planned_seeds_reach_the_resolution() -> None:
    rng = np.random.default_rng(3)
    pilot = power_law(WIDTHS, synthetic(0, 30, rng))
    seeds = planned_seeds(pilot, 30, 0.02)
    assert seeds is not None
    assert seeds > 30
    assert power_law(WIDTHS, synthetic(0, 2 * seeds, rng)).half_width <= 0.02
    curved = power_law(WIDTHS, [np.full(30, (1 + 30 / n) / n) * (1 + 1e-3 * rng.standard_normal(30)) for n in WIDTHS])
    assert planned_seeds(curved, 30, 0.01) is None


def test_bad_samples_are_named() -> None:
    with pytest.raises(InputError, match="statistic='max'"):
        power_law(WIDTHS, [np.ones(3)] * len(WIDTHS), statistic="max")
    with pytest.raises(InputError, match="widths="):
        power_law(WIDTHS[:5], [np.ones(3)] * 5)
    with pytest.raises(InputError, match="widths="):
        power_law(WIDTHS[::-1], [np.ones(3)] * len(WIDTHS))
    with pytest.raises(InputError, match="at least two seeds"):
        power_law(WIDTHS, [np.ones(1)] * len(WIDTHS))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("claimed", "relation", "least_supported", "most_refuted"),
    [(-1.0, EQUAL, 0.85, 0.005), (-1.0, AT_MOST, 0.97, 0.005), (-0.5, AT_MOST, 0.97, 0.0)],
)
@pytest.mark.parametrize("correction", [0.0, 5.0])
def test_true_claims_are_supported_and_not_refuted(
    correction: float, claimed: float, relation: Relation, least_supported: float, most_refuted: float
) -> None:
    decisions = calibration(correction, claimed, relation)
    assert decisions.count("supported") >= least_supported * len(decisions)
    assert decisions.count("refuted") <= most_refuted * len(decisions)


@pytest.mark.slow
@pytest.mark.parametrize(("claimed", "least_refuted"), [(-1.25, 0.5), (-0.75, 0.5), (-1.5, 0.95), (-0.5, 0.95)])
def test_false_claims_are_refuted_and_not_supported(claimed: float, least_refuted: float) -> None:
    decisions = calibration(5.0, claimed, EQUAL)
    assert decisions.count("refuted") >= least_refuted * len(decisions)
    assert decisions.count("supported") == 0


def calibration(correction: float, claimed: float, relation: Relation) -> list[str]:
    rng = np.random.default_rng(1)
    laws = [power_law(WIDTHS, synthetic(correction, 60, rng), resamples=200) for _ in range(1000)]
    return [exponent_verdict(law, claimed, relation, RESOLUTION) for law in laws]


@pytest.mark.parametrize(
    ("claimed", "relation", "expected"),
    [(-1.0, EQUAL, True), (-1.0, AT_MOST, True), (-0.5, EQUAL, False), (-1.5, EQUAL, False), (-1.5, AT_MOST, False)],
)
def test_intervals_of_nine_widths_keep_the_rule_and_have_power(
    claimed: float, relation: Relation, expected: bool
) -> None:
    """As the statements on networks measure: 200 values for each of nine widths, of heavier tails, resolution 0.2."""
    resolution, trials, widths = 0.2, 150, [16, 23, 32, 45, 64, 91, 128, 181, 256]
    rng = np.random.default_rng(2)
    verdicts = []
    for _ in range(trials):
        values = [(1 + 1 / n) / n * rng.laplace(size=200) for n in widths]
        law = power_law(widths, values, resamples=100)
        found = exponent_interval(law, resolution)
        verdicts.append(agreement(Claim("e", relation, claimed, resolution), Estimate(found.value, found.error)))
        if verdicts[-1] is False:
            assert exponent_verdict(law, claimed, relation, resolution) == "refuted"
    assert verdicts.count(expected) >= 0.75 * trials
    assert verdicts.count(not expected) == 0
