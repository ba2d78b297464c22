"""The judge: every outcome, every reason, and what never happens whatever the numbers are."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos.core import (
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InternalError,
    Measurement,
    MeasurementKind,
    Outcome,
    Reason,
    Relation,
    Undecided,
)
from lakatos.judge import agreement, contradictions, judge

EQUAL, AT_MOST, AT_LEAST = Relation.EQUAL, Relation.AT_MOST, Relation.AT_LEAST
MET = (Hypothesis("acyclic", True, "topological order"),)
COUNT = Claim("count", EQUAL, 3)
LOSS = Claim("loss", AT_MOST, 0.5, resolution=0.125)
GAVE_UP = Undecided(Reason.INCOMPLETE_METHOD, "the search was cut short")

numbers = st.one_of(st.integers(), st.fractions(), st.floats())
finite = st.one_of(st.integers(), st.fractions(), st.floats(allow_nan=False, allow_infinity=False))
resolutions = st.floats(0, 1e300)
errors = st.floats(min_value=0)
relations = st.sampled_from(Relation)
discrete = st.one_of(st.booleans(), st.none(), st.text(max_size=3))
values = st.recursive(st.one_of(finite, discrete), lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)


def measured(**estimates: Estimate) -> Measurement:
    return Measurement(estimates)


# Outcomes ------------------------------------------------------------------------------------------------------------


def test_unmet_hypothesis_makes_inapplicable_even_if_a_claim_is_contradicted() -> None:
    unmet = (*MET, Hypothesis("balanced", False, "c_v = 3"))
    judgment = judge(unmet, [COUNT], established={"count": 4}, measurement=measured(count=Estimate(4)))
    assert (judgment.outcome, judgment.reason) == (Outcome.INAPPLICABLE, "balanced")
    assert judgment.explanation == "not met: balanced (c_v = 3)"


def test_established_claims_are_proved_with_and_without_measurement() -> None:
    for measurement in (None, GAVE_UP, measured(count=Estimate(3)), measured(count=Estimate(math.nan))):
        judgment = judge(MET, [COUNT], established={"count": 3, "unclaimed": True}, measurement=measurement)
        assert (judgment.outcome, judgment.evidence) == (Outcome.PROVED, Evidence.EXACT)
        assert judgment.claims[0].established


def test_unmeasured_row_of_a_proved_verdict_does_not_claim_agreement() -> None:
    (row,) = judge(MET, [COUNT], established={"count": 3}, measurement=GAVE_UP).claims
    assert row.estimate is None
    assert row.agrees is None


def test_fact_refutes_exactly_even_where_the_measurement_agrees() -> None:
    judgment = judge(MET, [COUNT], established={"count": 4}, measurement=measured(count=Estimate(3)))
    assert (judgment.outcome, judgment.evidence, judgment.reason) == (Outcome.REFUTED, Evidence.EXACT, "count")
    assert "count = 3 is predicted, but a certificate establishes 4" in judgment.explanation
    assert judgment.claims[0].agrees is False


def test_measurement_refutes_with_its_own_evidence() -> None:
    judgment = judge(MET, [LOSS], measurement=measured(loss=Estimate(0.7, 0.01)))
    assert (judgment.outcome, judgment.evidence, judgment.reason) == (Outcome.REFUTED, Evidence.INTERVAL, "loss")
    assert "0.7 ± 0.01 is measured" in judgment.explanation


def test_exact_measurement_supports_and_refutes_but_does_not_prove() -> None:
    agreeing = Measurement({"count": Estimate(3)}, evidence=Evidence.EXACT)
    contradicting = Measurement({"count": Estimate(4)}, evidence=Evidence.EXACT)
    assert judge(MET, [COUNT], measurement=agreeing).outcome is Outcome.SUPPORTED
    judgment = judge(MET, [COUNT], measurement=contradicting)
    assert (judgment.outcome, judgment.evidence) == (Outcome.REFUTED, Evidence.EXACT)


def test_derivation_with_residual_refutes() -> None:
    judgment = judge(MET, GAVE_UP, derivation=Derivation("B(θg) = 0", "2*theta_0"))
    assert (judgment.outcome, judgment.evidence, judgment.reason) == (Outcome.REFUTED, Evidence.EXACT, "B(θg) = 0")


def test_derivation_proves_what_it_settles_and_only_that() -> None:
    derivation = Derivation("identity", "0", settles=("count",))
    assert judge(MET, [COUNT], derivation=derivation).outcome is Outcome.PROVED
    assert judge(MET, [COUNT, LOSS], derivation=derivation).outcome is Outcome.INCONCLUSIVE
    both = judge(MET, [COUNT, LOSS], derivation=derivation, measurement=measured(loss=Estimate(0.25)))
    assert (both.outcome, both.evidence) == (Outcome.SUPPORTED, Evidence.INTERVAL)


def test_fact_beats_a_derivation_that_settles_the_same_quantity() -> None:
    derivation = Derivation("identity", "0", settles=("count",))
    assert judge(MET, [COUNT], derivation=derivation, established={"count": 5}).outcome is Outcome.REFUTED


def test_one_contradicted_claim_among_established_ones_refutes() -> None:
    estimates = measured(loss=Estimate(9.0))
    judgment = judge(MET, [COUNT, LOSS], established={"count": 3}, measurement=estimates)
    assert (judgment.outcome, judgment.reason) == (Outcome.REFUTED, "loss")


# Reasons -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measurement", "reason", "says"),
    [
        (None, Reason.INCOMPLETE_METHOD, "neither established nor measured"),
        (measured(), Reason.INCOMPLETE_METHOD, "neither established nor measured"),
        (Undecided(Reason.TIMEOUT, "60 s"), Reason.TIMEOUT, "60 s"),
        (measured(loss=Estimate(0.5, 0.25)), Reason.PRECISION, "an error of at most 0.125 is needed"),
        (measured(loss=Estimate(0.625, 0.25)), Reason.PRECISION, "an error of at most 0.125 is needed"),
        (measured(loss=Estimate(0.75, 0.25)), Reason.PRECISION, "an error below 0.125 is needed"),
        (measured(loss=Estimate(0.5, math.inf)), Reason.PRECISION, "an error of at most 0.125 is needed"),
        (measured(loss=Estimate(math.nan)), Reason.PRECISION, "not comparable"),
        (measured(loss=Estimate(-math.inf)), Reason.PRECISION, "not comparable"),
        (measured(loss=Estimate(math.inf, 0.1)), Reason.PRECISION, "not comparable"),
        (
            Measurement({"loss": Estimate(0.5, 0.25)}, MeasurementKind.STATISTICAL),
            Reason.SAMPLING,
            "an error of at most 0.125",
        ),
        (Measurement({"loss": Estimate(9.0)}, evidence=Evidence.HEURISTIC), Reason.INCOMPLETE_METHOD, "heuristic"),
    ],
)
def test_reasons_of_inconclusive(measurement: Any, reason: Reason, says: str) -> None:
    judgment = judge(MET, [LOSS], measurement=measurement)
    assert (judgment.outcome, judgment.reason) == (Outcome.INCONCLUSIVE, reason)
    assert says in judgment.explanation
    assert all(row.agrees is None for row in judgment.claims)


@pytest.mark.parametrize(
    ("value", "error", "expected"), [(0.625, 0.125, True), (0.75, 0.125, None), (0.75, 0.0, False), (0.625, 0.25, None)]
)
def test_bounds_are_sharp(value: float, error: float, expected: bool | None) -> None:
    assert agreement(LOSS, Estimate(value, error)) is expected


def test_one_entry_that_is_not_a_number_leaves_the_tuple_open() -> None:
    claim = Claim("losses", AT_MOST, (0.5, 0.5), resolution=0.125)
    judgment = judge(MET, [claim], measurement=measured(losses=Estimate((math.nan, 0.75), 0.25)))
    assert judgment.reason == Reason.PRECISION
    assert "not comparable" in judgment.explanation


def test_the_needed_error_decides() -> None:
    for value, needed in ((0.5, 0.125), (0.75, 0.1249)):
        assert agreement(LOSS, Estimate(value, needed)) is not None


def test_prediction_that_gave_up_is_inconclusive() -> None:
    judgment = judge(MET, GAVE_UP, measurement=measured(count=Estimate(3)))
    assert (judgment.outcome, judgment.reason) == (Outcome.INCONCLUSIVE, Reason.INCOMPLETE_METHOD)


def test_derivation_that_gave_up_explains_an_open_claim() -> None:
    judgment = judge(MET, [COUNT], derivation=Undecided(Reason.MEMORY, "too many terms"))
    assert (judgment.reason, judgment.explanation) == (Reason.MEMORY, "too many terms")


def test_heuristics_support_but_neither_prove_nor_refute() -> None:
    agreeing = Measurement({"count": Estimate(3)}, evidence=Evidence.HEURISTIC)
    judgment = judge(MET, [COUNT], measurement=agreeing)
    assert (judgment.outcome, judgment.evidence) == (Outcome.SUPPORTED, Evidence.HEURISTIC)
    disagreeing = Measurement({"count": Estimate(4)}, evidence=Evidence.HEURISTIC)
    assert judge(MET, [COUNT], established={"count": 3}, measurement=disagreeing).outcome is Outcome.PROVED


def test_statistical_measurement_is_statistical_evidence() -> None:
    sample = Measurement({"loss": Estimate(0.25, 0.1)}, MeasurementKind.STATISTICAL, Evidence.EXACT)
    judgment = judge(MET, [LOSS], measurement=sample)
    assert (judgment.outcome, judgment.evidence) == (Outcome.SUPPORTED, Evidence.STATISTICAL)


# Defects -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claims", "arguments"),
    [
        ([], {}),
        ([COUNT], {"measurement": measured(loss=Estimate(1.0))}),
        ([COUNT], {"derivation": Derivation("identity", "0", settles=("loss",))}),
        ([COUNT], {"measurement": measured(count=Estimate(3, -1.0))}),
        ([COUNT], {"measurement": measured(count=Estimate(True))}),
        ([COUNT], {"measurement": measured(count=Estimate("3"))}),
        ([COUNT], {"measurement": measured(count=Estimate((3,)))}),
        ([replace(COUNT, resolution=math.nan)], {}),
        ([replace(COUNT, resolution=math.inf)], {}),
        ([replace(COUNT, resolution=-1.0)], {}),
        ([Claim("count", AT_MOST, (1, 2))], {"measurement": measured(count=Estimate((1,)))}),
        ([Claim("count", AT_LEAST, True)], {"measurement": measured(count=Estimate(True))}),
    ],
)
def test_malformed_claims_and_estimates_are_our_defects(claims: list[Claim], arguments: dict[str, Any]) -> None:
    with pytest.raises(InternalError):
        judge(MET, claims, **arguments)


# Comparison ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("relation", "predicted", "value", "error", "expected"),
    [
        (EQUAL, Fraction(1, 10), Fraction(1, 10), 0.0, True),
        # The float 0.1 is not 1/10, and exact comparison sees it.
        (EQUAL, Fraction(1, 10), 0.1, 0.0, False),
        (EQUAL, 10**400, 10**400 + 1, 0.0, False),
        (EQUAL, True, False, 0.0, False),
        (EQUAL, "relu", "relu", 0.0, True),
        (EQUAL, None, None, 0.0, True),
        (EQUAL, None, 0, 0.0, False),
        (EQUAL, (), (), 0.0, True),
        (EQUAL, (2,), (2, 3), 0.0, False),
        (EQUAL, (2, 3), None, 0.0, False),
        (EQUAL, (1, (2, True)), (1, (2, False)), 0.0, False),
        (EQUAL, (1.0, 2.0), (1.0, math.nan), 0.0, None),
        (EQUAL, (1.0, 2.0), (5.0, math.nan), 0.0, False),
        (AT_MOST, (1, 2), (0, 2), 0.0, True),
        (AT_MOST, 3, None, 0.0, None),
        (EQUAL, math.inf, math.inf, 0.0, True),
        (EQUAL, math.inf, math.inf, 1.0, None),
        (EQUAL, math.inf, -math.inf, 0.0, False),
        (EQUAL, math.inf, 5, 0.0, False),
        (EQUAL, 10**400, math.inf, 0.0, False),
        (AT_MOST, math.inf, math.inf, 0.0, None),
        (AT_MOST, math.inf, 5, 0.0, None),
        (AT_LEAST, 1, math.inf, 0.0, None),
        (AT_MOST, 1, math.inf, 0.0, None),
        (AT_LEAST, math.inf, 5, 0.0, False),
        (EQUAL, math.nan, math.nan, 0.0, None),
        (EQUAL, 3, 3, math.inf, None),
        (EQUAL, 3, 4, math.nan, None),
    ],
)
def test_comparison(relation: Relation, predicted: Any, value: Any, error: float, expected: bool | None) -> None:
    assert agreement(Claim("q", relation, predicted), Estimate(value, error)) is expected


@given(relations, numbers, numbers, resolutions, errors | st.just(math.nan))
def test_numbers_compare_as_the_definition_says(
    relation: Relation, p: float, m: float, resolution: float, error: float
) -> None:
    result = agreement(Claim("q", relation, p, resolution), Estimate(m, error))
    if not all(map(math.isfinite, (p, m, error))):
        assert result is not True or (relation is EQUAL and p == m and error == 0)
        return
    excess = Fraction(m) - Fraction(p)
    d = {EQUAL: abs(excess), AT_MOST: excess, AT_LEAST: -excess}[relation]
    if d > Fraction(resolution) + Fraction(error):
        assert result is False
    elif d <= Fraction(resolution) and error <= resolution:
        assert result is True
    else:
        assert result is None


@given(relations, finite, finite, resolutions, st.tuples(errors, errors).map(sorted))
def test_larger_error_never_decides_more(
    relation: Relation, p: float, m: float, resolution: float, pair: list[float]
) -> None:
    claim = Claim("q", relation, p, resolution)
    precise, vague = (agreement(claim, Estimate(m, error)) for error in pair)
    assert vague is None or vague is precise


@given(relations, numbers, resolutions, errors)
def test_nan_never_decides(relation: Relation, value: float, resolution: float, error: float) -> None:
    assert agreement(Claim("q", relation, value, resolution), Estimate(math.nan, error)) is None
    assert agreement(Claim("q", relation, math.nan, resolution), Estimate(value, error)) is None
    assert agreement(Claim("q", relation, value, resolution), Estimate(value, math.nan)) is None


@given(values)
def test_every_finite_value_agrees_with_itself(value: Any) -> None:
    assert agreement(Claim("q", EQUAL, value), Estimate(value)) is True


# The negative control --------------------------------------------------------------------------------------------------


@given(relations, finite, resolutions, st.floats(0, 1e300))
def test_moved_claim_is_refuted_by_the_same_measurement(
    relation: Relation, m: float, resolution: float, error: float
) -> None:
    estimate = Estimate(m, error)
    moved = contradictions(Claim("q", relation, m, resolution), estimate)
    assert len(moved) == (2 if relation is EQUAL else 1)
    for claim in moved:
        assert judge(MET, [claim], measurement=measured(q=estimate)).outcome is Outcome.REFUTED


@given(values)
def test_moved_claim_is_never_proved(value: Any) -> None:
    claim = Claim("q", EQUAL, value)
    assert judge(MET, [claim], established={"q": value}).outcome is Outcome.PROVED
    moved = contradictions(claim, Estimate(value))
    assert moved
    for wrong in moved:
        assert judge(MET, [wrong], established={"q": value}).outcome is Outcome.REFUTED


def test_what_nothing_contradicts_has_no_contradictions() -> None:
    assert contradictions(LOSS, Estimate(0.5, math.inf)) == ()
    assert contradictions(LOSS, Estimate(math.nan)) == ()
    assert contradictions(LOSS, Estimate(math.inf)) == ()
    assert contradictions(Claim("loss", EQUAL, math.inf), Estimate(math.inf)) == (Claim("loss", EQUAL, Fraction(0)),)


def test_entries_are_moved_one_at_a_time() -> None:
    claim = Claim("q", EQUAL, (1, 2, 3))
    *moved, longer = [other.value for other in contradictions(claim, Estimate((1, 2, 3)))]
    assert longer == (1, 2, 3, None)
    assert len(moved) == 6
    assert all(sum(a != b for a, b in zip(value, (1, 2, 3), strict=True)) == 1 for value in moved)


def test_empty_lists_are_equal_and_have_no_order() -> None:
    assert agreement(Claim("q", EQUAL, ()), Estimate(())) is True
    with pytest.raises(InternalError, match="cannot be compared"):
        agreement(Claim("q", AT_MOST, ()), Estimate(()))
    judgment = judge(MET, [Claim("q", EQUAL, ())], measurement=measured(q=Estimate((), 0.5)))
    assert (judgment.outcome, judgment.reason) == (Outcome.INCONCLUSIVE, "precision")
