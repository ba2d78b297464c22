"""Dense layered networks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from ..core import InputError
from .memory import require_memory
from .network import IntArray, Network

__all__ = ["layered_network"]

_LARGE = 1 << 20  # edges, below which memory is not worth a look
_BYTES_PER_EDGE = 40  # two numbers of 8 bytes, put together from pieces, and what checks them


def layered_network(
    widths: Sequence[int], balance: Sequence[Sequence[Any]] | None = None, *, bias: bool = False
) -> Network:
    """Return the dense layered network with these widths (inputs, hidden layers, outputs).

    Nodes are called ``x0…``, ``h1.0…`` (layer, unit) and ``y0…``; with `bias`, every unit and output also has an edge from
    ``b1``, ``b2``, … (one bias source per layer). Edges are ordered by layer, then tail, then head; bias edges come last in
    their layer.

    Raises
    ------
    Undecided
        If so many edges take more memory than there is.
    InputError
        If there are fewer than two widths, one is not positive, or the balance has another shape.

    Examples
    --------
    >>> layered_network([2, 3, 1], [[1, -1, 0]])
    Network(nodes=6, edges=9, hidden=3)
    """
    sizes = [int(w) for w in widths]
    if len(sizes) < 2 or min(sizes) < 1:
        raise InputError(f"widths={list(widths)!r}: at least two positive integers (inputs, …, outputs) are needed")
    last = len(sizes) - 1
    count = sum(a * b for a, b in pairwise(sizes))
    if count > _LARGE:
        require_memory(_BYTES_PER_EDGE * count, f"widths={sizes!r}: a network of {count} edges")
    prefix = ["x", *(f"h{i}." for i in range(1, last)), "y"]
    sources = [f"b{i}" for i in range(1, last + 1)] if bias else []
    layers = [[f"{prefix[i]}{k}" for k in range(size)] for i, size in enumerate(sizes)]
    # Terminals first, so that all edges lead to larger numbers.
    names = [*sources, *(name for layer in layers for name in layer)]
    starts = [len(sources), *(len(sources) + total for total in accumulate(sizes))]
    below = [np.arange(starts[i], starts[i + 1]) for i in range(last + 1)]
    tails: list[IntArray] = []
    heads: list[IntArray] = []
    for i, (lower, upper) in enumerate(pairwise(below)):
        tails.append(np.repeat(lower, len(upper)))
        heads.append(np.tile(upper, len(lower)))
        if bias:
            tails.append(np.full(len(upper), i))
            heads.append(upper)
    values = None
    if balance is not None:
        shape = [len(row) for row in balance]
        if shape != sizes[1:-1]:
            raise InputError(f"balance has rows of lengths {shape!r}; the hidden widths are {sizes[1:-1]!r}")
        values = {
            name: value
            for layer, row in zip(layers[1:-1], balance, strict=True)
            for name, value in zip(layer, row, strict=True)
        }
    return Network.from_arrays(
        np.concatenate(tails),
        np.concatenate(heads),
        inputs=np.concatenate([below[0], np.arange(len(sources))]),
        outputs=below[-1],
        balance=values,
        names=names,
    )
