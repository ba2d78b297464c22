"""Maximum flow in exact integer arithmetic.

OR-tools decides where every number fits into 64 bits and its status says so; everything else, and installations without
OR-tools, goes through NetworkX on Python integers, which do not overflow.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .network import BoolArray, IntArray
from .structure import reachable

__all__ = ["Flow", "max_flow"]

_INT64_SAFE = 1 << 62

try:
    from ortools.graph.python import max_flow as _ortools
except ImportError:
    _ortools = None


@dataclass(frozen=True, eq=False)
class Flow:
    """A maximum flow: its value, the flow on every arc, and the source side of a minimum cut.

    `sink_side` holds the nodes from which the sink can still be reached in the residual graph; its complement is the largest
    source side among the minimum cuts, `source_side` (what the source still reaches) the smallest.
    """

    value: int
    flow: npt.NDArray[Any]
    source_side: BoolArray
    sink_side: BoolArray


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
    flow = _by_ortools(tail, head, capacity, source, sink)
    if flow is None:
        flow = _by_networkx(node_count, tail, head, capacity, source, sink)
    forward = flow < capacity
    backward = flow > 0
    residual_tail = np.concatenate([tail[forward], head[backward]])
    residual_head = np.concatenate([head[forward], tail[backward]])
    value = sum(flow[tail == source].tolist()) - sum(flow[head == source].tolist())
    return Flow(
        value,
        flow,
        reachable(node_count, residual_tail, residual_head, source),
        reachable(node_count, residual_head, residual_tail, sink),
    )


def _by_ortools(
    tail: IntArray, head: IntArray, capacity: npt.NDArray[Any], source: int, sink: int
) -> npt.NDArray[Any] | None:
    """Return the flow, or None if OR-tools is missing or the numbers might not fit."""
    if _ortools is None or not len(tail) or int(capacity.max()) >= _INT64_SAFE:
        return None
    if sum(capacity[tail == source].tolist()) >= _INT64_SAFE:
        return None
    solver = _ortools.SimpleMaxFlow()
    arcs = solver.add_arcs_with_capacity(tail, head, capacity.astype(np.int64))
    if solver.solve(source, sink) != solver.OPTIMAL:
        return None
    return np.asarray(solver.flows(arcs), dtype=np.int64)


def _by_networkx(
    node_count: int, tail: IntArray, head: IntArray, capacity: npt.NDArray[Any], source: int, sink: int
) -> npt.NDArray[Any]:
    import networkx as nx
    from networkx.algorithms.flow import preflow_push

    graph: nx.DiGraph[int] = nx.DiGraph()
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
