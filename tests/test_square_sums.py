"""Exact balances and volumes from doubles: two vectorized implementations against the plain loop over fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from test_dyadic import LARGEST, NODES, SMALLEST, columns, edges, naive

from lakatos.graphs import square_sums as module
from lakatos.graphs.balances import as_integers, balance_of_weights, volume_of_weights
from lakatos.graphs.dyadic import limb_count, signed_square_sums
from lakatos.graphs.square_sums import square_sums


@given(edges)
@example([(0, 1, LARGEST), (1, 2, SMALLEST)])
@example([(0, 1, LARGEST)] * 3 + [(1, 2, LARGEST)] * 2)
@example([(0, 1, 1.0), (1, 2, 2.0**-200), (2, 3, 2.0**-199)])  # at the edges of a class of exponents
@example([])
def test_balances_equal_those_of_fractions(rows: list[tuple[int, int, float]]) -> None:
    tail, head, w = columns(rows)
    sums, bits = square_sums(tail, head, w, NODES)
    assert [Fraction(total, 4**bits) for total in sums] == naive(rows)
    assert 2**bits == max((Fraction(x).denominator for x in w.tolist()), default=1)


@given(edges)
def test_volumes_add_what_balances_subtract(rows: list[tuple[int, int, float]]) -> None:
    sums, bits = square_sums(*columns(rows), NODES, sign=1)
    by_node = [Fraction(0)] * NODES
    for tail, head, weight in rows:
        by_node[tail] += Fraction(weight) ** 2
        by_node[head] += Fraction(weight) ** 2
    assert [Fraction(total, 4**bits) for total in sums] == by_node


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("shuffled", [False, True])
def test_dense_blocks_and_many_chunks(dtype: type, shuffled: bool) -> None:
    """Runs of equal tails are summed up first, others one by one; both against the sums of limbs."""
    rng = np.random.default_rng(0)
    tail, head = np.repeat(np.arange(200), 200), np.tile(np.arange(200, 400), 200)
    if shuffled:
        order = rng.permutation(len(tail))
        tail, head = tail[order], head[order]
    w = rng.normal(size=len(tail)).astype(dtype).astype(np.float64)
    assert len(w) > module._CHUNK
    sums, bits = square_sums(tail, head, w, 400)
    limbs, same = limb_count(w)
    assert bits == same
    assert sums.tolist() == signed_square_sums(tail, head, w, 400, limbs, bits)


def test_many_squares_at_one_node_leave_room_on_the_grid() -> None:
    """A star with 2^16 full mantissas of one sign: the sums of pieces come as close to 2^53 steps as they can."""
    count = 1 << 16
    w = np.full(count, 1 - 2.0**-53)
    sums, bits = square_sums(np.arange(1, count + 1), np.zeros(count, np.int64), w, count + 1)
    assert sums[0] == count * (2**53 - 1) ** 2
    assert bits == 53


@given(edges, st.lists(st.booleans(), min_size=NODES, max_size=NODES))
def test_doubles_and_fractions_give_the_same_integers(rows: list[tuple[int, int, float]], hidden: list[bool]) -> None:
    tail, head, w = columns(rows)
    mask = np.array(hidden)
    exact = [Fraction(x) for x in w.tolist()]
    fast, plain = balance_of_weights(tail, head, mask, w), balance_of_weights(tail, head, mask, exact)
    assert fast[0].tolist() == plain[0].tolist()
    assert fast[0].dtype == plain[0].dtype
    assert fast[1] == plain[1]
    assert not any(fast[0][~mask])
    assert volume_of_weights(tail, head, mask, w).tolist() == volume_of_weights(tail, head, mask, exact).tolist()


@given(st.lists(st.integers(-(2**63), 2**63 - 1), max_size=6))
def test_integers_are_64_bits_wide_only_where_no_sum_overflows(values: list[int]) -> None:
    for array in (np.array(values, np.int64), np.array(values, object)):
        result = as_integers(array)
        assert result.tolist() == values
        if result.dtype == np.int64:
            assert sum(map(abs, values)) < 2**62
        else:
            assert sum(map(abs, values)) >= 2**61
