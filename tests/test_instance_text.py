"""Instances as plain data and as text, and back."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from instance_fakes import Fields, Loss, Step, fake_theorem, write

from lakatos.arrays import Array
from lakatos.core import InputError, InternalError, Outcome
from lakatos.exact import exact
from lakatos.instance import build_instance, plain_fields, read_instance
from lakatos.instance_text import instance_text

numbers = st.fractions(max_denominator=10**6) | st.decimals(allow_nan=False, allow_infinity=False).map(Fraction)
texts = st.text(max_size=5)
steps = st.builds(Step, size=numbers, count=st.integers())
matrices = st.tuples(st.integers(1, 3), st.integers(1, 3)).flatmap(
    lambda shape: st.builds(
        Array, st.just(shape), st.lists(numbers, min_size=shape[0] * shape[1], max_size=shape[0] * shape[1]).map(tuple)
    )
)


instances = st.builds(
    Fields,
    name=texts,
    width=st.integers(),
    bias=st.booleans(),
    rate=numbers,
    loss=st.sampled_from(Loss),
    norm=st.sampled_from(["l1", "l2"]),
    bound=st.none() | numbers,
    pair=st.tuples(texts, st.integers()),
    rows=st.lists(st.lists(numbers, max_size=3).map(tuple), max_size=3).map(tuple),
    balance=st.dictionaries(texts, numbers, max_size=3),
    step=st.none() | steps,
    steps=st.lists(steps, max_size=3).map(tuple),
    edges=st.lists(st.tuples(texts, texts) | st.tuples(texts, texts, numbers), max_size=3).map(tuple),
    matrix=st.none() | matrices,
)


@given(instances)
def test_plain_fields_and_back_is_the_identity(instance: Fields) -> None:
    plain = json.loads(json.dumps(plain_fields(instance)))
    built = build_instance(Fields, plain)
    assert built == instance
    assert plain_fields(built) == plain


@given(instances, st.none() | st.sampled_from(Outcome), st.text(max_size=5), st.integers(0, 5))
def test_the_text_of_an_instance_is_read_back(instance: Fields, expect: Outcome | None, title: str, seed: int) -> None:
    text = instance_text("anything", instance, title=title, expect=expect, seed=seed)
    with TemporaryDirectory() as folder:
        file = read_instance(write(Path(folder), text), fake_theorem)
    assert file.instance == instance
    assert (file.title, file.expect, file.seed) == (title, expect, seed)


def test_the_text_of_an_instance_is_short() -> None:
    edges = tuple((f"a{i}", f"b{i}", Fraction(i, 2)) for i in range(1, 9))
    text = instance_text("anything", Fields(name='"', edges=edges, balance={"h": Fraction(3)}), variant="v")
    assert text.splitlines()[:8] == [
        'theorem = "anything"',
        'variant = "v"',
        "",
        "[instance]",
        'name = "\\""',
        "balance = { h = 3 }",
        "edges = [",
        '    ["a1", "b1", "1/2"],',
    ]


def test_what_toml_cannot_hold_is_not_written() -> None:
    with pytest.raises(InternalError, match="None has no place in an instance file"):
        instance_text("anything", Fields(name="n", rows=((None,),)))  # type: ignore[arg-type]


@given(st.fractions())
def test_exact_numbers_are_read_back(number: Fraction) -> None:
    assert exact(str(number), "number") == number


def test_exact_numbers_that_could_not_be_written_are_refused() -> None:
    with pytest.raises(InputError, match=r"^rate: a number of \d+ bits; at most 13000 are read$"):
        exact("0." + "1" * 3900 + "e-3900", "rate")
