"""Sparse networks that one flow decides, against that flow: ``python benchmarks/connectivity_flow.py [--full]``.

The peer is OR-tools' `SimpleMaxFlow` on the graph that the theory asks for, built from arrays, solved and read. Here the
network is built too, and everything is decided: feasibility, the bottlenecks of both sides, frozen and regular-frozen.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from connectivity_bench import Arrays, Ints, funnel, medians, options, peak_gigabytes, report
from ortools.graph.python import max_flow
from ratios import record

from lakatos import Network, connectivity


def main() -> None:
    """Print a table: one line per network."""
    chosen = options(__doc__)
    sizes = [(20, 300, 2), (20, 1700, 2)]
    if chosen.full:
        sizes += [(30, 6000, 2), (30, 6000, 5), (60, 3000, 5), (8, 20000, 6)]
    report("| layers x width x degree | edges | bare flow s | all of it s | ratio | frozen |")
    report("|---|---|---|---|---|---|")
    for depth, width, degree in sizes:
        rng = np.random.default_rng(1)
        arrays = funnel(depth, width, degree, rng)
        balance = arrays.balance(rng, shift=10)
        ends = {"inputs": arrays.inputs, "outputs": arrays.outputs}

        def decide(arrays: Arrays = arrays, balance: Ints = balance, ends: dict[str, Ints] = ends) -> int:
            network = Network.from_arrays(arrays.tail, arrays.head, balance=balance, **ends)
            return len(connectivity(network).frozen_edges)

        times = medians(chosen.rounds, {"flow": bare_flow(arrays, balance), "all": decide})
        size = f"{depth} x {width} x {degree}: {len(arrays.tail):,} edges"
        record("one maximum flow decides", size, times["all"], "OR-tools, the flow alone", times["flow"], 1 / 1.5)
        report(
            f"| {depth} x {width} x {degree} | {len(arrays.tail):,} | {times['flow']:.3f} | {times['all']:.3f} | "
            f"{times['all'] / times['flow']:.2f} | {decide()} |"
        )
    report(f"\nlargest memory of the process: {peak_gigabytes():.2f} GB")


def bare_flow(arrays: Arrays, balance: Ints) -> Callable[[], int]:
    """Return the task to send what producers (c < 0) supply to consumers (c > 0) through all edges between hidden nodes."""
    hidden = np.ones(arrays.nodes, bool)
    hidden[arrays.inputs] = hidden[arrays.outputs] = False
    inner = hidden[arrays.tail] & hidden[arrays.head]
    producers, consumers = np.flatnonzero(balance < 0), np.flatnonzero(balance > 0)
    source, sink = arrays.nodes, arrays.nodes + 1
    supply = -int(balance[producers].sum())
    tail = np.concatenate([np.full(len(producers), source), arrays.tail[inner], consumers])
    head = np.concatenate([producers, arrays.head[inner], np.full(len(consumers), sink)])
    capacity = np.concatenate([-balance[producers], np.full(int(inner.sum()), supply + 1), balance[consumers]])

    def solve() -> int:
        solver = max_flow.SimpleMaxFlow()
        arcs = solver.add_arcs_with_capacity(tail, head, capacity)
        if solver.solve(source, sink) != solver.OPTIMAL:
            raise RuntimeError("the solver found no flow")
        solver.flows(arcs)
        return int(solver.optimal_flow())

    return solve


if __name__ == "__main__":
    main()
