"""Linear algebra modulo the prime against Python's integers, with the largest residues there are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.theory import modular
from lakatos.theory.modular import PRIME, Echelon, fraction_of, matmul_mod, null_space, rank


def by_integers(a: list[list[int]], b: list[list[int]]) -> list[list[int]]:
    columns = list(zip(*b, strict=True))
    return [[sum(x * y for x, y in zip(row, column, strict=True)) % PRIME for column in columns] for row in a]


@pytest.mark.parametrize("shape", [(1, 1, 1), (3, 70, 2), (40, 90, 60), (1, 3000, 1), (2, 20000, 5)])
@pytest.mark.parametrize("large", [False, True])
def test_products_are_those_of_integers(shape: tuple[int, int, int], large: bool) -> None:
    m, k, n = shape
    generator = np.random.default_rng(0)
    low = PRIME - 3 if large else 0  # where sums of products are largest
    a, b = generator.integers(low, PRIME, (m, k)), generator.integers(low, PRIME, (k, n))
    expected = by_integers(a.tolist(), b.tolist())
    assert matmul_mod(a, b).tolist() == expected
    assert modular._large_product(a, b).tolist() == expected


def test_stacks_of_matrices_are_multiplied() -> None:
    generator = np.random.default_rng(1)
    a, b = generator.integers(0, PRIME, (5, 3, 70)), generator.integers(0, PRIME, (5, 70, 40))
    stacked = matmul_mod(a, b)
    assert all((stacked[i] == matmul_mod(a[i], b[i])).all() for i in range(5))


@given(st.lists(st.lists(st.integers(-4, 4), min_size=5, max_size=5), min_size=1, max_size=7))
@settings(max_examples=60)
def test_ranks_and_null_spaces_are_those_of_fractions(rows: list[list[int]]) -> None:
    # Minors of such matrices are at most 5! · 4⁵ < PRIME, so that the rank modulo the prime is the rank.
    expected = np.linalg.matrix_rank(np.array(rows, float))
    assert rank(rows) == expected
    kernel = null_space(rows)
    assert len(kernel) == 5 - expected
    assert rank(kernel) == len(kernel) if len(kernel) else expected == 5
    assert not (np.array(rows) @ kernel.T % PRIME).any()


@given(st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=2, max_size=8), st.integers(1, 7))
@settings(max_examples=60)
def test_rows_may_come_in_pieces(rows: list[list[int]], cut: int) -> None:
    at_once, in_pieces = Echelon(4), Echelon(4)
    raised = at_once.add(rows)
    first = in_pieces.add(rows[:cut])
    second = in_pieces.add(np.array(rows[cut:]).reshape(-1, 4))
    assert raised == first + [min(cut, len(rows)) + i for i in second]
    assert at_once.pivots == in_pieces.pivots
    order = np.argsort(at_once.pivots)
    assert (at_once.rows[order] == in_pieces.rows[order]).all()


@given(st.fractions(min_value=-50, max_value=50, max_denominator=100))
def test_small_fractions_are_recovered(number: Fraction) -> None:
    assert fraction_of(number.numerator * pow(number.denominator, -1, PRIME)) == number
