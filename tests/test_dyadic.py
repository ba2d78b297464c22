"""Exact sums of squares of doubles, against the plain loop over fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from lakatos.graphs import dyadic
from lakatos.graphs.dyadic import limb_count, signed_square_sums

SMALLEST = 5e-324
LARGEST = float(np.finfo(np.float64).max)

weights = st.one_of(
    st.floats(allow_nan=False, allow_infinity=False),
    st.floats(1e-300, 1e300),
    st.floats(0, 2.3e-308),
    st.sampled_from([0.0, -0.0, 1.0, SMALLEST, -SMALLEST, LARGEST, 1 - 2.0**-53, 1 + 2.0**-52]),
)
NODES = 4
edges = st.lists(st.tuples(st.integers(0, NODES - 1), st.integers(0, NODES - 1), weights), max_size=12)


def naive(rows: list[tuple[int, int, float]]) -> list[Fraction]:
    c = [Fraction(0)] * NODES
    for tail, head, weight in rows:
        c[tail] -= Fraction(weight) ** 2
        c[head] += Fraction(weight) ** 2
    return c


def columns(rows: list[tuple[int, int, float]]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tail, head = (np.array([row[i] for row in rows], np.int64) for i in (0, 1))
    return tail, head, np.array([row[2] for row in rows], np.float64)


@given(edges)
@example([(0, 1, LARGEST), (1, 2, SMALLEST)])
@example([(0, 1, LARGEST)] * 3 + [(1, 2, LARGEST)] * 2)
@example([])
def test_sums_equal_those_of_fractions(rows: list[tuple[int, int, float]]) -> None:
    tail, head, w = columns(rows)
    limbs, bits = limb_count(w)
    sums = signed_square_sums(tail, head, w, NODES, limbs, bits)
    assert [Fraction(total, 4**bits) for total in sums] == naive(rows)


@given(edges)
def test_unit_is_the_coarsest_that_divides_all_weights(rows: list[tuple[int, int, float]]) -> None:
    w = columns(rows)[2]
    bits = limb_count(w)[1]
    assert 2**bits == max((Fraction(x).denominator for x in w.tolist()), default=1)


def test_carries_and_limbs_are_right_at_full_mantissas() -> None:
    # All 53 bits set at every alignment to a limb: the largest digits and carries there are.
    w = np.array([(2.0**53 - 1) * 2.0**k for k in range(-40, 40)])
    tail, head = np.zeros(len(w), np.int64), np.ones(len(w), np.int64)
    limbs, bits = limb_count(w)
    exact = sum(Fraction(x) ** 2 for x in w.tolist())
    assert [Fraction(s, 4**bits) for s in signed_square_sums(tail, head, w, 2, limbs, bits)] == [-exact, exact]


def test_chunks_do_not_change_the_sums(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    rows = [
        (int(a), int(b), float(x))
        for a, b, x in zip(*rng.integers(0, NODES, (2, 50)), rng.normal(size=50), strict=True)
    ]
    monkeypatch.setattr(dyadic, "_CHUNK", 7)
    tail, head, w = columns(rows)
    limbs, bits = limb_count(w)
    assert [Fraction(s, 4**bits) for s in signed_square_sums(tail, head, w, NODES, limbs, bits)] == naive(rows)
