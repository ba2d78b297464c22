"""What every theorem owes to a search for counterexamples: it survives, and each of its false variants does not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from lakatos.core import Outcome
from lakatos.instance import build_instance
from lakatos.refute import search
from lakatos.theorems import NAMES, load
from lakatos.verification import verify_instance

SECONDS = 10  # to the first refutation of a false variant
SIZE = 32  # scalars in a shrunk counterexample: a network of three or four edges with names, weights and balances
LIMIT = 60  # seconds with shrinking, where a verification integrates a flow
EXAMPLES = 2000

each_theorem = pytest.mark.parametrize("name", NAMES)


def variants() -> Iterator[Any]:
    """Every false variant of every theorem; the first of each theorem belongs to the everyday suite."""
    for name in NAMES:
        for i, variant in enumerate(load(name).variants):
            yield pytest.param(name, variant, id=f"{name}-{variant}", marks=[pytest.mark.slow] if i else [])


@each_theorem
def test_random_instances_meet_the_hypotheses_and_refute_nothing(name: str) -> None:
    found = search(load(name), examples=15)
    assert found.counterexample is None, found.counterexample
    drawn = search(load(name), examples=15, fixtures=False)
    assert drawn.counterexample is None, drawn.counterexample
    assert drawn.inapplicable <= drawn.examples, "most of what the strategy draws is not covered by the theorem"
    assert drawn.undecided <= drawn.examples / 2, "most of what the strategy draws is left undecided"


@pytest.mark.parametrize(("name", "variant"), list(variants()))
def test_false_variants_are_refuted_by_search_alone(name: str, variant: str) -> None:
    theorem = load(name)
    found = search(theorem, variant, examples=EXAMPLES, fixtures=False, time_limit=LIMIT)
    assert found.counterexample is not None, f"none found in {found.examples} instances"
    assert found.seconds < SECONDS
    assert found.counterexample.size <= SIZE, found.counterexample.text
    instance = build_instance(theorem.instance_class, found.counterexample.verdict.fields)
    assert verify_instance(theorem, instance).outcome is not Outcome.REFUTED, found.counterexample.text


@pytest.mark.slow
@each_theorem
def test_many_random_instances_refute_nothing(name: str) -> None:
    # `benchmarks/false_alarms.py` draws as many as one has time for.
    found = search(load(name), examples=1000, seed=1, time_limit=120)
    assert found.counterexample is None, found.counterexample
