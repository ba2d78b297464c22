"""What every theorem owes to a search for counterexamples: it survives, and each of its false variants does not.

The everyday suite takes a few instances of each theorem and one false variant of each family.
"""

from __future__ import annotations

from typing import Any

import pytest

from lakatos.core import Outcome
from lakatos.instance import build_instance
from lakatos.refute import search
from lakatos.theorems import NAMES, load
from lakatos.verification import verify_instance

SECONDS = 10  # to the first refutation of a false variant
LIMIT = 60  # seconds with shrinking, where a verification integrates a flow
SIZE = 40  # scalars in a shrunk counterexample: three or four edges with names, or three neurons with features
EXAMPLES = 2000

each_theorem = pytest.mark.parametrize("name", NAMES)


def variants() -> list[Any]:
    """Every false variant of every theorem; those after the first of a family are slow."""
    seen: set[str] = set()
    found = []
    for name in NAMES:
        theorem = load(name)
        for variant in theorem.variants:
            marks = [pytest.mark.slow] if theorem.family in seen else []
            found.append(pytest.param(name, variant, id=f"{name}-{variant}", marks=marks))
            seen.add(theorem.family)
    return found


@each_theorem
def test_a_few_random_instances_refute_nothing(name: str) -> None:
    found = search(load(name), examples=2, fixtures=False)
    assert found.counterexample is None, found.counterexample.text
    assert found.examples > 0


@pytest.mark.slow
@each_theorem
def test_many_random_instances_meet_the_hypotheses_and_refute_nothing(name: str) -> None:
    # `benchmarks/false_alarms.py` draws as many as one has time for.
    found = search(load(name), examples=1000, seed=1, time_limit=LIMIT)
    assert found.counterexample is None, found.counterexample.text
    assert found.inapplicable <= found.examples, "most of what the strategy draws is not covered by the theorem"
    assert found.undecided <= found.examples / 2, "most of what the strategy draws is left undecided"


@pytest.mark.parametrize(("name", "variant"), variants())
def test_false_variants_are_refuted_by_search_alone(name: str, variant: str) -> None:
    theorem = load(name)
    found = search(theorem, variant, examples=EXAMPLES, fixtures=False, time_limit=LIMIT)
    assert found.counterexample is not None, f"none found in {found.examples} instances"
    assert found.seconds < SECONDS
    assert found.counterexample.size <= SIZE, found.counterexample.text
    instance = build_instance(theorem.instance_class, found.counterexample.verdict.fields)
    assert verify_instance(theorem, instance).outcome is not Outcome.REFUTED, found.counterexample.text
