"""Dense networks against one search for strong components: ``python benchmarks/connectivity_mlp.py [--full]``.

The peer, `scipy.sparse.csgraph.connected_components` with ``connection="strong"``, looks once at every edge of the same graph
and decides much less. It is timed from the same arrays of edges, the sparse matrix that it needs included, and without that.
Here everything from arrays to the answer is timed: balances, feasibility with a point, all frozen weights; balances
are given, or computed exactly from weights in single or in double precision. Certificate and check are timed apart.
"""

from __future__ import annotations

import gc

import numpy as np
from connectivity_bench import Arrays, dense, medians, options, peak_gigabytes, report
from ratios import record
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components

from lakatos import Network, connectivity
from lakatos.graphs.checking import check_connectivity


def main() -> None:
    """Print a table: one line per network, in the order of layers and shuffled."""
    chosen = options(__doc__)
    rng = np.random.default_rng(0)
    large = [[784, 2000, 2000, 2000, 1], [784, 2000, 2000, 2000, 10], [100, 1700, 1700, 1, 1, 1700, 1700, 10]]
    small = [[78, 200, 200, 200, 1], [10, 170, 170, 1, 1, 170, 170, 10]]
    columns = ["widths", "order", "edges", "peer s", "of it search s", "given balances s", "ratio"]
    columns += ["single weights s", "ratio", "double weights s", "ratio", "certificate and check s"]
    report(f"| {' | '.join(columns)} |")
    report("|---" * len(columns) + "|")
    for widths in large if chosen.full else small:
        for order in ("layers", "shuffled"):
            arrays = dense(widths) if order == "layers" else dense(widths).shuffled(rng)
            report(line("-".join(map(str, widths)), order, arrays, chosen.rounds, rng))
            gc.collect()
    report(f"\nlargest memory of the process: {peak_gigabytes():.2f} GB")


def line(name: str, order: str, arrays: Arrays, rounds: int, rng: np.random.Generator) -> str:
    """Return the table line of one network."""
    tail, head, shape = arrays.tail, arrays.head, (arrays.nodes, arrays.nodes)
    weights = rng.normal(0, 0.02, len(tail))
    balance = arrays.balance(rng)
    ends = {"inputs": arrays.inputs, "outputs": arrays.outputs}
    matrix = csr_array((np.ones(len(tail)), (tail, head)), shape=shape)
    single = weights.astype(np.float32)
    network = Network.from_arrays(tail, head, weights=weights, **ends)
    times = medians(
        rounds,
        {
            "peer": lambda: connected_components(
                csr_array((np.ones(len(tail)), (tail, head)), shape=shape), connection="strong"
            ),
            "search": lambda: connected_components(matrix, connection="strong"),
            "balance": lambda: connectivity(Network.from_arrays(tail, head, balance=balance, **ends)).frozen_edges,
            "single": lambda: connectivity(Network.from_arrays(tail, head, weights=single, **ends)).frozen_edges,
            "double": lambda: connectivity(Network.from_arrays(tail, head, weights=weights, **ends)).frozen_edges,
            "check": lambda: check_connectivity(network, connectivity(network).certificate.to_json()),
        },
    )
    cells = [name, order, f"{len(tail):,}", f"{times['peer']:.3f}", f"{times['search']:.3f}"]
    for key in ("balance", "single", "double"):
        task = f"dense network, order of {order}, " + ("balances given" if key == "balance" else f"{key} weights")
        record(task, f"{name}: {len(tail):,} edges", times[key], "SciPy, strong components", times["peer"], 1 / 3)
        cells += [f"{times[key]:.3f}", f"{times[key] / times['peer']:.1f}"]
    return f"| {' | '.join(cells)} | {times['check']:.3f} |"


if __name__ == "__main__":
    main()
