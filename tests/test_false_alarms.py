"""Statistical measurements contradict what is true as often as they declare, over seeds; so do those of the theorems."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from lakatos.core import (
    Claim,
    Estimate,
    Evidence,
    InputError,
    Measurement,
    MeasurementKind,
    Prediction,
    Provenance,
    Relation,
    Source,
    Theorem,
    Undecided,
    Variant,
)
from lakatos.false_alarms import Alarms, alarms
from lakatos.instance import build_instance, read_instance
from lakatos.theorems import NAMES, load

SHIPPED = sorted((Path(__file__).parents[1] / "instances").rglob("*.toml"))
SEEDS = range(1000, 1200)  # none of them the seed of an instance
LEAST_CHANCE = 1e-6  # of as many alarms, per test: with hundreds of instances a false failure is not to be expected
POWER = 0.9


@dataclass(frozen=True)
class Nothing:
    pass


def mean_is_zero(true_rate: float, declared: float, **changes: Any) -> Theorem:
    """A theorem about the mean of a normal number, which the measurement contradicts at `true_rate`."""
    width = NormalDist().inv_cdf(1 - true_rate / 2)

    def measure(instance: Nothing, seed: int, device: str) -> Measurement:
        value = random.Random(seed).gauss(0, 1)
        options = {"kind": MeasurementKind.STATISTICAL, **changes}
        return Measurement({"mean": Estimate(value, width)}, false_alarm_rate=declared, **options)

    return Theorem(
        name="mean_is_zero",
        family="tests",
        ids=(),
        doc="The mean is zero.",
        source=Source((), Provenance.OURS),
        instance_class=Nothing,
        hypotheses=lambda instance: (),
        predict=claim(0.0),
        measure=measure,
        variants={"ten": Variant("the mean is ten", predict=claim(10.0)), "half": Variant("", predict=claim(0.5))},
    )


def claim(mean: float) -> Callable[[Nothing], Prediction]:
    return lambda instance: Prediction((Claim("mean", Relation.EQUAL, mean), Claim("unmeasured", Relation.EQUAL, 0)))


def test_a_declared_rate_that_is_true_passes_and_one_that_is_not_is_caught() -> None:
    honest = alarms(mean_is_zero(0.05, 0.05), Nothing(), range(2000))
    assert honest is not None
    assert honest.p_value > 0.01
    low, high = honest.interval()
    assert low <= 0.05 <= high
    assert 0.03 < honest.rate < 0.07
    understated = alarms(mean_is_zero(0.05, 0.01), Nothing(), range(2000))
    assert understated == Alarms(honest.contradicted, 2000, 0.01)
    assert understated.p_value < LEAST_CHANCE


def test_power_is_the_rate_against_a_variant() -> None:
    theorem = mean_is_zero(1e-3, 1e-3)
    far, near = (alarms(theorem, Nothing(), range(100), variant=name) for name in ("ten", "half"))
    assert far is not None
    assert near is not None
    assert (far.rate, near.rate < 0.1) == (1.0, True)


@pytest.mark.parametrize("changes", [{"kind": MeasurementKind.DETERMINISTIC}, {"evidence": Evidence.HEURISTIC}])
def test_what_no_seed_can_contradict_has_no_rate(changes: dict[str, Any]) -> None:
    assert alarms(mean_is_zero(0.5, 0.5, **changes), Nothing(), range(10)) is None


def test_bad_arguments_are_named() -> None:
    with pytest.raises(InputError, match="variant='eleven'"):
        alarms(mean_is_zero(0.5, 0.5), Nothing(), range(10), variant="eleven")
    with pytest.raises(InputError, match="at least one"):
        alarms(mean_is_zero(0.5, 0.5), Nothing(), ())


@pytest.mark.slow
@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_shipped_instances_alarm_as_rarely_as_declared(path: Path) -> None:
    file = read_instance(path)
    if file.variant is not None or not all(hypothesis.met for hypothesis in file.theorem.hypotheses(file.instance)):
        pytest.skip("no true claim is made")
    try:
        observed = alarms(file.theorem, file.instance, SEEDS)
    except Undecided as error:
        pytest.skip(f"undecided: {error}")
    if observed is None:
        pytest.skip("the measurement is deterministic")
    assert 0 < observed.declared < 1
    assert observed.p_value > LEAST_CHANCE, f"{observed.contradicted} of {observed.trials} seeds alarm"


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_statistical_measurements_have_power_against_the_examples_of_variants(name: str) -> None:
    theorem = load(name)
    for label, variant in theorem.variants.items():
        rates = []
        for example in variant.examples if variant.predict else ():
            instance = build_instance(theorem.instance_class, example)
            if observed := alarms(theorem, instance, SEEDS, variant=label):
                rates.append(observed.rate)
        assert not rates or max(rates) >= POWER, f"{label}: {rates}"
