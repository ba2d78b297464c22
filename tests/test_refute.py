"""The search for counterexamples: what it finds, that it repeats, what it counts, and how it ends."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lakatos import refute
from lakatos.core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    InternalError,
    Measurement,
    Outcome,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Theorem,
    Undecided,
    Variant,
)
from lakatos.judge import agreement, closeness
from lakatos.refute import search
from lakatos.theorems import load
from lakatos.verification import verify_file

SMALL = "weight_frozen_iff_stable_set_unbalanced"


@dataclass(frozen=True)
class Number:
    """The theorem below claims f(x) ≤ bound for x ≥ 0."""

    x: int


def at_most(bound: int, f: Callable[[int], int] = abs, **changes: Any) -> Theorem:
    theorem = Theorem(
        name="at_most",
        family="tests",
        ids=(),
        doc="f(x) is at most the bound.",
        source=Source((), Provenance.OURS),
        instance_class=Number,
        hypotheses=lambda instance: (Hypothesis("x ≥ 0", instance.x >= 0, "its sign"),),
        predict=lambda instance: Prediction((Claim("f", Relation.AT_MOST, bound),)),
        measure=lambda instance, seed, device: Measurement({"f": Estimate(f(instance.x))}),
        instances=lambda: st.integers(-100, 100).map(lambda x: {"x": x}),
    )
    return replace(theorem, **changes)


def x_of(found: refute.Search) -> int:
    assert found.counterexample is not None
    return int(found.counterexample.verdict.fields["x"])


def test_the_smallest_counterexample_is_found() -> None:
    found = search(at_most(41))
    assert (found.outcome, found.stopped, x_of(found)) == ("refuted", "found", 42)
    assert found.counterexample is not None
    assert found.counterexample.size == 1
    assert not found.counterexample.is_fixture


def test_none_is_found_where_there_is_none() -> None:
    found = search(at_most(100), examples=50)
    assert (found.outcome, found.stopped, found.counterexample) == ("survived", "examples", None)
    assert found.examples == 50
    assert found.inapplicable > 0
    assert found.undecided == 0


def test_shrinking_is_not_counted() -> None:
    found = search(at_most(-1, instances=lambda: st.integers(50, 100).map(lambda x: {"x": x})))
    assert (found.examples, x_of(found)) == (1, 50)


def test_the_same_seed_finds_the_same(tmp_path: Path) -> None:
    first, again, other = (search(load(SMALL), "largest_set_only", seed=seed, fixtures=False) for seed in (3, 3, 4))
    assert replace(first, seconds=0, counterexample=None) == replace(again, seconds=0, counterexample=None)
    assert first.counterexample is not None
    assert again.counterexample is not None
    assert first.counterexample.text == again.counterexample.text
    assert first.examples != other.examples


def test_the_seed_is_that_of_the_measurements_too() -> None:
    seeds = set()

    def measure(instance: Number, seed: int, device: str) -> Measurement:
        seeds.add(seed)
        return Measurement({"f": Estimate(instance.x)})

    search(at_most(100, measure=measure, examples=({"x": 1},)), examples=5, seed=11)
    assert seeds == {11}


@pytest.mark.parametrize("fixtures", [True, False])
def test_a_saved_counterexample_replays_to_the_same_outcome(tmp_path: Path, fixtures: bool) -> None:
    found = search(load(SMALL), "sign_reversed", seed=7, fixtures=fixtures).counterexample
    assert found is not None
    assert found.is_fixture is fixtures
    path = tmp_path / "found.toml"
    path.write_text(found.text, encoding="utf-8")
    verdict = verify_file(path)
    assert verdict.outcome is verdict.expected is Outcome.REFUTED
    assert (verdict.variant, verdict.provenance["seed"]) == ("sign_reversed", 7)
    assert verdict.claims == found.verdict.claims


def test_fixtures_come_first_those_of_the_variant_before_all_others() -> None:
    seen: list[int] = []

    def measure(instance: Number, seed: int, device: str) -> Measurement:
        seen.append(instance.x)
        return Measurement({"f": Estimate(instance.x)})

    variants = {"a": Variant("", examples=({"x": 1}, {"x": 2})), "b": Variant("", examples=({"x": 3},))}
    theorem = at_most(100, measure=measure, variants=variants, examples=({"x": 4},))
    search(theorem, "b", examples=1)
    assert seen[:4] == [3, 1, 2, 4]
    assert search(theorem, "b", examples=1).examples == 5
    seen.clear()
    search(theorem, "b", examples=1, fixtures=False)
    assert len(seen) == 1


def test_a_variant_may_bring_its_own_strategy() -> None:
    only_large = Variant("x is large", instances=lambda: st.just({"x": 1000}))
    theorem = at_most(100, variants={"large": only_large})
    assert x_of(search(theorem, "large")) == 1000
    assert search(theorem, examples=50).outcome == "survived"


def needle() -> Theorem:
    """A theorem that fails on one number in a million, with a slope that leads there."""
    top = 10**6
    return at_most(
        top - 1,
        f=lambda x: top - abs(x - 271_828),
        instances=lambda: st.integers(0, top).map(lambda x: {"x": x}),
    )


def test_small_margins_are_aimed_at(monkeypatch: pytest.MonkeyPatch) -> None:
    assert x_of(search(needle(), examples=3000)) == 271_828
    monkeypatch.setattr(refute, "closeness", lambda claim, estimate: None)
    assert search(needle(), examples=3000).outcome == "survived"


def test_time_runs_out() -> None:
    began = time.monotonic()
    found = search(at_most(100, f=lambda x: time.sleep(0.02) or x), examples=10**6, time_limit=0.3)
    assert time.monotonic() - began < 30
    assert (found.outcome, found.stopped) == ("survived", "time")
    assert found.examples > 0


def test_what_was_found_before_time_ran_out_is_kept() -> None:
    def slow_if_refuted(x: int) -> int:
        if x > 0:
            time.sleep(0.4)
        return x

    start = at_most(0, f=slow_if_refuted, instances=lambda: st.integers(1, 100).map(lambda x: {"x": x}))
    found = search(start, time_limit=0.3)
    assert (found.outcome, found.stopped, found.examples) == ("refuted", "time", 1)


def test_an_interrupt_keeps_what_there_is() -> None:
    def interrupted(x: int) -> int:
        if x == 7:
            raise KeyboardInterrupt
        return x

    found = search(at_most(100, f=interrupted, examples=({"x": 1}, {"x": 2}, {"x": 7})))
    assert (found.outcome, found.stopped, found.examples) == ("survived", "interrupt", 2)


def test_a_defect_is_shown_with_its_instance() -> None:
    def broken(x: int) -> int:
        if x >= 10:
            raise ZeroDivisionError("a bug")
        return x

    with pytest.raises(InternalError, match=r"(?s)ZeroDivisionError: a bug, on the instance.*\nx = 10\n"):
        search(at_most(100, f=broken))


def test_a_refutation_that_does_not_repeat_is_a_defect() -> None:
    calls = iter(range(10**6))
    with pytest.raises(InternalError, match="twice gave two outcomes"):
        search(at_most(100, f=lambda x: 1000 if next(calls) == 5 else 0))


def test_inconclusive_instances_are_counted_and_refute_nothing() -> None:
    def measure(instance: Number, seed: int, device: str) -> Measurement:
        raise Undecided(Reason.SAMPLING, "more samples are needed")

    found = search(at_most(0, measure=measure), examples=20)
    assert (found.outcome, found.examples, found.undecided) == ("survived", 20, 20)


def test_nothing_tested_is_no_survival() -> None:
    with pytest.raises(Undecided, match=r"none of [0-9]+ instances drawn meets the hypotheses of at_most"):
        search(at_most(0, instances=lambda: st.integers(-9, -1).map(lambda x: {"x": x})))


def test_bad_strategies_and_unknown_variants_are_named() -> None:
    with pytest.raises(InputError, match=r"theorem='at_most': its module has no `instances\(\)`"):
        search(at_most(0, instances=None))
    with pytest.raises(InputError, match="variant='c': not registered"):
        search(at_most(0), "c")
    with pytest.raises(InternalError, match=r"at_most: \{'y': 1\} is no instance: y: unknown"):
        search(at_most(0, instances=lambda: st.just({"y": 1})))


def test_the_database_is_where_it_was_asked_for_and_speeds_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rare = at_most(98)
    first = search(rare, database=tmp_path / "found", seed=1)
    again = search(rare, database=tmp_path / "found", seed=2)
    assert x_of(first) == x_of(again) == 99
    assert again.examples == 1 < first.examples
    search(rare, seed=1)
    assert [path.name for path in tmp_path.iterdir()] == ["found"]


numbers = st.fractions(-10, 10, max_denominator=10) | st.floats(-10, 10)


@given(st.sampled_from(Relation), numbers, numbers, st.floats(0, 3), st.floats(0, 3))
def test_closeness_is_positive_exactly_where_a_claim_is_contradicted(
    relation: Relation, predicted: Any, measured: Any, resolution: float, error: float
) -> None:
    claim, estimate = Claim("q", relation, predicted, resolution), Estimate(measured, error)
    score = closeness(claim, estimate)
    if score is None:
        assert relation is Relation.EQUAL or predicted == measured == resolution == error == 0
        assert resolution == error == 0
    else:
        assert -1 <= score <= 1
        assert (score > 0) is (agreement(claim, estimate) is False)


def test_closeness_of_several_entries_is_that_of_the_closest_and_discrete_values_have_none() -> None:
    claim = Claim("q", Relation.AT_MOST, (Fraction(2), Fraction(2)))
    assert closeness(claim, Estimate((1, 3))) == closeness(replace(claim, value=2), Estimate(3)) == 0.2
    for value, measured in ((True, False), ("a", "b"), (None, None), ((), ()), (1, float("inf")), (1, float("nan"))):
        assert closeness(Claim("q", Relation.EQUAL, value, 0.5), Estimate(measured)) is None
