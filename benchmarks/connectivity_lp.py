"""Ten thousand edges against one linear program per bottleneck edge: ``python benchmarks/connectivity_lp.py [--full]``.

The peer is the textbook way: minimize u_e over {u ≥ 0 : Bu = c} by HiGHS, for each edge that the degrees leave open. A sample
of them is solved, and the median time is multiplied by their number; both results are compared on the sample.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
from connectivity_bench import Arrays, dense, funnel, medians, options, report
from ratios import record
from scipy.optimize import linprog
from scipy.sparse import csr_array

from lakatos import Connectivity, Network, connectivity


def main() -> None:
    """Print a table: one line per network."""
    chosen = options(__doc__)
    rng = np.random.default_rng(2)
    networks = {
        "dense 70-70-70-1": dense([70, 70, 70, 1]),
        "dense 1-98-98-1-1": dense([1, 98, 98, 1, 1]),
        "sparse, 10 x 300 x 2": funnel(10, 300, 2, rng),
    }
    sample = 20 if chosen.full else 4
    report("| network | edges | bottleneck edges | programs solved | s each | s for all | ours s | ratio |")
    report("|---|---|---|---|---|---|---|---|")
    for name, arrays in networks.items():
        balance = arrays.balance(rng, shift=10)
        ends = {"inputs": arrays.inputs, "outputs": arrays.outputs}
        network = Network.from_arrays(arrays.tail, arrays.head, balance=balance, **ends)
        result = connectivity(network)
        assert result.examined is not None
        edges = result.examined.edges
        each = statistics.median(program_seconds(arrays, network, result, e) for e in rng.choice(edges, sample))
        ours = medians(
            chosen.rounds,
            {
                "all": lambda arrays=arrays, balance=balance, ends=ends: (
                    connectivity(Network.from_arrays(arrays.tail, arrays.head, balance=balance, **ends)).minima
                )
            },
        )["all"]
        total = each * len(edges)
        record(
            "minima of all bottlenecks",
            f"{name}: {len(arrays.tail):,} edges",
            ours,
            "HiGHS, a program each",
            total,
            1000,
        )
        report(
            f"| {name} | {len(arrays.tail):,} | {len(edges)} | {sample} | {each:.3f} | {total:.1f} | {ours:.4f} | "
            f"{total / ours:,.0f} |"
        )


def program_seconds(arrays: Arrays, network: Network, result: Connectivity, e: int) -> float:
    """Return how long HiGHS takes for the minimum of one edge, after comparing it with ours."""
    m, hidden = network.edge_count, network.hidden
    rows = np.full(network.node_count, -1)
    rows[hidden] = np.arange(hidden.sum())
    enters, leaves = np.flatnonzero(hidden[arrays.head]), np.flatnonzero(hidden[arrays.tail])
    entries = np.concatenate([np.ones(len(enters)), -np.ones(len(leaves))])
    places = np.concatenate([rows[arrays.head[enters]], rows[arrays.tail[leaves]]]), np.concatenate([enters, leaves])
    incidence = csr_array((entries, places), shape=(int(hidden.sum()), m))
    cost = np.zeros(m)
    cost[e] = 1.0
    c = network.require_balance()[hidden].astype(float)
    began = time.process_time()
    solution = linprog(cost, A_eq=incidence, b_eq=c, bounds=(0, None), method="highs")
    seconds = time.process_time() - began
    # The solver works to 1e-7 relative to the data; the balances are integers, so a wrong minimum is off by at least 1.
    if abs(solution.fun - float(result.minima.get(int(e), 0))) > 0.01:
        raise RuntimeError(
            f"edge {e}: the program gives {solution.fun!r}, the exact minimum is {result.minima.get(e, 0)}"
        )
    return seconds


if __name__ == "__main__":
    main()
