"""Maximum flow in exact integer arithmetic.

OR-tools decides where every number fits into 64 bits and its status says so. Larger numbers are split: a maximum flow for
the leading digits is refined digit by digit, each time by a maximum flow of 64-bit numbers in the residual graph.
Installations without OR-tools go through NetworkX on Python integers, which do not overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .adjacency import reachable
from .network import BoolArray, IntArray

__all__ = ["Flow", "max_flow"]

_INT64_SAFE = 1 << 62

try:
    from ortools.graph.python import max_flow as _ortools
except ImportError:
    _ortools = None


@dataclass(frozen=True, eq=False)
class Flow:
    """A maximum flow: the flow on every arc, its value, and the sides of two minimum cuts, computed when asked for."""

    node_count: int
    tail: IntArray
    head: IntArray
    capacity: npt.NDArray[Any]
    source: int
    sink: int
    flow: npt.NDArray[Any]

    @cached_property
    def value(self) -> int:
        """What leaves the source minus what enters it."""
        leaving, entering = (self.flow[end == self.source].tolist() for end in (self.tail, self.head))
        return int(sum(leaving)) - int(sum(entering))

    @cached_property
    def source_side(self) -> BoolArray:
        """The nodes that the source still reaches in the residual graph: the smallest source side of a minimum cut."""
        return reachable(self.node_count, *self._residual_arcs, self.source)

    @cached_property
    def sink_side(self) -> BoolArray:
        """The nodes from which the sink can still be reached; the complement is the largest source side of a minimum cut."""
        tail, head = self._residual_arcs
        return reachable(self.node_count, head, tail, self.sink)

    @property
    def _residual_arcs(self) -> tuple[IntArray, IntArray]:
        forward = self.flow < self.capacity
        backward = self.flow > 0
        return (
            np.concatenate([self.tail[forward], self.head[backward]]),
            np.concatenate([self.head[forward], self.tail[backward]]),
        )


def max_flow(
    node_count: int, tail: IntArray, head: IntArray, capacity: npt.NDArray[Any], source: int, sink: int
) -> Flow:
    """Return a maximum flow from `source` to `sink`, exactly.

    Parameters
    ----------
    tail, head : int64 arrays, shape (a,)
        Arcs; parallel arcs are kept apart.
    capacity : int64 or object array, shape (a,)
        Non-negative integers of any size.

    Examples
    --------
    >>> import numpy as np
    >>> f = max_flow(3, np.array([0, 1]), np.array([1, 2]), np.array([5, 2]), 0, 2)
    >>> f.value, f.flow.tolist(), f.source_side.tolist()
    (2, [2, 2], [True, True, False])
    """
    arguments = node_count, tail, head, capacity, source, sink
    flow = None
    if _ortools is not None and len(tail):
        largest = max(int(capacity.max()), _total(capacity[tail == source]))
        flow = _by_ortools(*arguments[1:]) if largest < _INT64_SAFE else _by_digits(*arguments)
    return Flow(*arguments, _by_networkx(*arguments) if flow is None else flow)


def _total(values: npt.NDArray[Any]) -> int:
    """Return the exact sum, which 64 bits may not hold."""
    if values.dtype == object:
        return int(values.sum())
    return (int((values >> 32).sum()) << 32) + int((values & 0xFFFFFFFF).sum())


def _by_ortools(
    tail: IntArray, head: IntArray, capacity: npt.NDArray[Any], source: int, sink: int
) -> npt.NDArray[np.int64] | None:
    """Return the flow, or None if the solver says that it did not find one."""
    solver = _ortools.SimpleMaxFlow()
    arcs = solver.add_arcs_with_capacity(tail, head, capacity.astype(np.int64, copy=False))
    if solver.solve(source, sink) != solver.OPTIMAL:
        return None
    return np.asarray(solver.flows(arcs), dtype=np.int64)


def _by_digits(
    node_count: int, tail: IntArray, head: IntArray, capacity: npt.NDArray[Any], source: int, sink: int
) -> npt.NDArray[Any] | None:
    """Return the flow, or None if the solver says that it did not find one.

    If f is maximum for the capacities ⌊c / 2^(s+d)⌋, some cut is saturated by it, and on each of the a arcs ⌊c / 2^s⌋ exceeds
    2^d times that capacity by less than 2^d. So a maximum flow for ⌊c / 2^s⌋ has at most a·2^d more than 2^d·f, and residual
    capacities above that bound may be cut down to it.
    """
    digit = 60 - len(tail).bit_length()
    bound = len(tail) << digit
    capacity = capacity.astype(object)
    flow = np.zeros(len(tail), object)
    start = node_count  # one arc from here to the source bounds what leaves it
    shift = -(-max(int(c).bit_length() for c in capacity.tolist()) // digit) * digit
    while shift > 0:
        shift -= digit
        flow = flow << digit
        ahead = np.minimum((capacity >> shift) - flow, bound).astype(np.int64)
        back = np.minimum(flow, bound).astype(np.int64)
        forward, backward = np.flatnonzero(ahead), np.flatnonzero(back)
        change = _by_ortools(
            np.concatenate([[start], tail[forward], head[backward]]),
            np.concatenate([[source], head[forward], tail[backward]]),
            np.concatenate([[bound], ahead[forward], back[backward]]),
            start,
            sink,
        )
        if change is None:
            return None
        flow[forward] += change[1 : 1 + len(forward)]
        flow[backward] -= change[1 + len(forward) :]
    return flow


def _by_networkx(
    node_count: int, tail: IntArray, head: IntArray, capacity: npt.NDArray[Any], source: int, sink: int
) -> npt.NDArray[Any]:
    import networkx as nx
    from networkx.algorithms.flow import preflow_push

    graph: Any = nx.DiGraph()
    graph.add_nodes_from(range(node_count))
    parallel: dict[tuple[int, int], list[int]] = {}
    for arc, ends in enumerate(zip(tail.tolist(), head.tolist(), strict=True)):
        parallel.setdefault(ends, []).append(arc)
    capacities = capacity.tolist()
    for (a, b), arcs in parallel.items():
        graph.add_edge(a, b, capacity=sum(capacities[arc] for arc in arcs))
    _, by_node = nx.maximum_flow(graph, source, sink, flow_func=preflow_push)
    flow = [0] * len(capacities)
    for (a, b), arcs in parallel.items():
        left = by_node[a][b]
        for arc in arcs:
            flow[arc] = min(left, capacities[arc])
            left -= flow[arc]
    return np.array(flow, dtype=object if capacity.dtype == object else np.int64)
