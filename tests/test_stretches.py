"""Dense blocks among edges: what is summed up by rows and columns against plain loops."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.graphs import square_sums as sums
from lakatos.graphs import stretches as module
from lakatos.graphs.square_sums import square_sums
from lakatos.graphs.stretches import Stretch, degrees, first_edges, stretches

NODES = 12


@pytest.fixture(scope="module")
def small() -> Iterator[None]:
    """Blocks are seen among few edges, over several windows and chunks, from here on in this file."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WINDOW", 8)
        patch.setattr(module, "_NARROW", 2)
        patch.setattr(sums, "_CHUNK", 5)
        yield


def test_layers_are_blocks_in_both_orders() -> None:
    tail, head = np.repeat(np.arange(300), 400), np.tile(np.arange(300, 700), 300)
    more = np.tile(np.arange(300, 700), 50), np.repeat(np.arange(700, 750), 400)
    found = stretches(np.concatenate([tail, more[0]]), np.concatenate([head, more[1]]))
    assert found == (Stretch(0, 120_000, 400, False), Stretch(120_000, 140_000, 400, True))


@st.composite
def pieces(draw: st.DrawFn) -> list[tuple[int, int]]:
    """Blocks by tail and by head, whole or broken off, with repeated nodes, between single edges."""
    node = st.integers(0, NODES - 1)
    edges: list[tuple[int, int]] = []
    for _ in range(draw(st.integers(0, 4))):
        rows, columns = draw(st.lists(node, min_size=1, max_size=6)), draw(st.lists(node, min_size=1, max_size=6))
        block = [(a, b) for a in rows for b in columns]
        if draw(st.booleans()):
            block = [(b, a) for a, b in block]
        edges += block[: draw(st.integers(0, len(block)))] if draw(st.booleans()) else block
        edges += draw(st.lists(st.tuples(node, node), max_size=3))
    return edges


def arrays(edges: list[tuple[int, int]]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    table = np.array(edges, np.int64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


@pytest.mark.usefixtures("small")
@given(pieces())
@settings(max_examples=200)
def test_stretches_are_all_edges_and_blocks_are_blocks(edges: list[tuple[int, int]]) -> None:
    tail, head = arrays(edges)
    parts = stretches(tail, head)
    assert [e for part in parts for e in range(part.start, part.stop)] == list(range(len(edges)))
    for part in parts:
        if part.width:
            rows, columns = part.ends(tail, head)
            block = [(int(a), int(b)) for a in rows for b in columns]
            assert edges[part.edges] == ([(b, a) for a, b in block] if part.by_head else block)


@pytest.mark.usefixtures("small")
@given(pieces())
@settings(max_examples=200)
def test_degrees_and_first_edges(edges: list[tuple[int, int]]) -> None:
    tail, head = arrays(edges)
    parts = stretches(tail, head)
    for ends, degree, first in zip(
        (tail.tolist(), head.tolist()),
        degrees(tail, head, parts, NODES),
        first_edges(tail, head, parts, NODES),
        strict=True,
    ):
        assert degree.tolist() == [ends.count(v) for v in range(NODES)]
        assert first.tolist() == [ends.index(v) if v in ends else -1 for v in range(NODES)]


@pytest.mark.usefixtures("small")
@given(pieces(), st.data())
@settings(max_examples=200)
def test_sums_of_squares(edges: list[tuple[int, int]], data: st.DataObject) -> None:
    single = data.draw(st.booleans())
    floats = st.floats(width=32 if single else 64, allow_nan=False, allow_infinity=False)
    weights = data.draw(st.lists(floats, min_size=len(edges), max_size=len(edges)))
    sign = data.draw(st.sampled_from([-1, 1]))
    found, bits = square_sums(*arrays(edges), np.array(weights, np.float32 if single else np.float64), NODES, sign=sign)
    expected = [Fraction(0)] * NODES
    for (a, b), w in zip(edges, weights, strict=True):
        expected[a] += sign * Fraction(w) ** 2
        expected[b] += Fraction(w) ** 2
    assert [Fraction(total, 4**bits) for total in found] == expected
    assert 2**bits == max((Fraction(w).denominator for w in weights), default=1)
