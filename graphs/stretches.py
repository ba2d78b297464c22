"""Where the edges of a graph come in dense blocks, as those of layers do: whatever is summed up over edges can then be summed
up over rows and columns, which takes a fraction of the time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

__all__ = ["Stretch", "degrees", "first_edges", "stretches"]

_WINDOW = 1 << 16  # edges that are looked at together
_NARROW = 32  # edges per row below which a block is not worth its bookkeeping

_Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Stretch:
    """The edges from `start` up to `stop`.

    If `width` is positive they are rows of a matrix: all edges of a row share one end, and all edges of a column the other.
    Rows share their tails, or their heads if `by_head`.
    """

    start: int
    stop: int
    width: int = 0
    by_head: bool = False

    @property
    def edges(self) -> slice:
        """All of them."""
        return slice(self.start, self.stop)

    def ends(self, tail: _Ints, head: _Ints) -> tuple[_Ints, _Ints]:
        """Return the common end of each row and that of each column of a block."""
        rows, columns = (head, tail) if self.by_head else (tail, head)
        return rows[self.start : self.stop : self.width], columns[self.start : self.start + self.width]


def stretches(tail: _Ints, head: _Ints) -> tuple[Stretch, ...]:
    """Return stretches that make up all edges, in order.

    Examples
    --------
    >>> stretches(np.repeat([0, 1, 2], 40), np.tile(np.arange(3, 43), 3))
    (Stretch(start=0, stop=120, width=40, by_head=False),)
    >>> stretches(np.array([0, 1]), np.array([1, 2]))
    (Stretch(start=0, stop=2, width=0, by_head=False),)
    """
    found: list[Stretch] = []
    start = 0
    while start < len(tail):
        next_one = _continued(tail, head, found[-1], start) if found else None
        if next_one is None:
            next_one = _one(tail, head, start)
            if found and not found[-1].width and not next_one.width:
                next_one = Stretch(found.pop().start, next_one.stop)
        else:
            found.pop()
        found.append(next_one)
        start = next_one.stop
    return tuple(found)


def _one(tail: _Ints, head: _Ints, start: int) -> Stretch:
    """Return the stretch that begins at an edge, as far as one window shows."""
    stop = min(start + _WINDOW, len(tail))
    runs = _run(tail[start:stop]), _run(head[start:stop])
    by_head = runs[1] > runs[0]
    width = runs[by_head]
    if width >= _NARROW:
        rows = _rows(tail, head, start, start, width, by_head)
        # Blocks so small that they do not fill a window are no better than single edges.
        if 2 * rows * width >= stop - start:
            return Stretch(start, start + rows * width, width, by_head)
    return Stretch(start, stop)


def _continued(tail: _Ints, head: _Ints, block: Stretch, start: int) -> Stretch | None:
    """Return the block with the rows that begin at `start`, None if there are none."""
    if not block.width or start + block.width > len(tail):
        return None
    rows = _rows(tail, head, start, block.start, block.width, block.by_head)
    return Stretch(block.start, start + rows * block.width, block.width, block.by_head) if rows else None


def _rows(tail: _Ints, head: _Ints, start: int, first: int, width: int, by_head: bool) -> int:
    """Return how many rows in a window belong to the block whose first row begins at edge `first`."""
    count = min(max(1, _WINDOW // width), (len(tail) - start) // width)
    part = slice(start, start + count * width)
    across, along = (head, tail) if by_head else (tail, head)
    shared = across[part].reshape(count, width)
    belongs = (shared == shared[:, :1]).all(axis=1)
    belongs &= (along[part].reshape(count, width) == along[first : first + width]).all(axis=1)
    return count if belongs.all() else int(belongs.argmin())


def _run(ends: _Ints) -> int:
    """Return how many entries at the beginning are equal."""
    if len(ends) > 1 and ends[1] != ends[0]:
        return 1
    differs = ends != ends[0]
    return int(differs.argmax()) if differs.any() else len(ends)


def degrees(tail: _Ints, head: _Ints, parts: Sequence[Stretch], nodes: int) -> tuple[_Ints, _Ints]:
    """Return the numbers of edges that leave and that enter each node, with multiplicity.

    Examples
    --------
    >>> [list(map(int, d)) for d in degrees(np.array([0, 0]), np.array([1, 1]), [Stretch(0, 2)], 2)]
    [[2, 0], [0, 2]]
    """
    out, into = (np.zeros(nodes, np.int64) for _ in range(2))
    for part in parts:
        if not part.width:
            out += np.bincount(tail[part.edges], minlength=nodes)
            into += np.bincount(head[part.edges], minlength=nodes)
            continue
        rows, columns = part.ends(tail, head)
        np.add.at(into if part.by_head else out, rows, part.width)
        np.add.at(out if part.by_head else into, columns, len(rows))
    return out, into


def first_edges(tail: _Ints, head: _Ints, parts: Sequence[Stretch], nodes: int) -> tuple[_Ints, _Ints]:
    """Return the first edge that leaves and the first one that enters each node, -1 without one.

    Examples
    --------
    >>> [list(map(int, e)) for e in first_edges(np.array([0, 0]), np.array([1, 1]), [Stretch(0, 2)], 2)]
    [[0, -1], [-1, 0]]
    """
    out, into = (np.full(nodes, -1) for _ in range(2))
    # Of several values for one place the last is kept, so the edges are taken backwards.
    for part in reversed(parts):
        if part.width:
            rows, columns = part.ends(tail, head)
            by_row, by_column = (into, out) if part.by_head else (out, into)
            by_row[rows[::-1]] = np.arange(part.start, part.stop, part.width)[::-1]
            by_column[columns[::-1]] = np.arange(part.start, part.start + part.width)[::-1]
            continue
        for stop in range(part.stop, part.start, -_WINDOW):
            start = max(part.start, stop - _WINDOW)
            edges = np.arange(stop - 1, start - 1, -1)
            out[tail[start:stop][::-1]] = edges
            into[head[start:stop][::-1]] = edges
    return out, into
