"""Dense networks against one search for strong components: ``python benchmarks/connectivity_mlp.py [--full]``.

The peer, `scipy.sparse.csgraph.connected_components` with ``connection="strong"``, looks once at every edge of the same graph
and decides much less. It is timed from the same arrays of edges, the sparse matrix that it needs included, and without that.
Here everything from arrays to the answer is timed: balances, feasibility with a point, all frozen weights; in one case the
balances are given, in the other they are computed exactly from weights. Certificate and check are timed apart.
"""

from __future__ import annotations

import gc

import numpy as np
from connectivity_bench import Arrays, dense, medians, options, peak_gigabytes, report
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
    report(
        "| widths | order | edges | peer s | of it search s | given balances s | ratio | float weights s | ratio "
        "| certificate and check s |"
    )
    report("|---|---|---|---|---|---|---|---|---|---|")
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
    network = Network.from_arrays(tail, head, weights=weights, **ends)
    times = medians(
        rounds,
        {
            "peer": lambda: connected_components(
                csr_array((np.ones(len(tail)), (tail, head)), shape=shape), connection="strong"
            ),
            "search": lambda: connected_components(matrix, connection="strong"),
            "balance": lambda: connectivity(Network.from_arrays(tail, head, balance=balance, **ends)).frozen_edges,
            "weights": lambda: connectivity(Network.from_arrays(tail, head, weights=weights, **ends)).frozen_edges,
            "check": lambda: check_connectivity(network, connectivity(network).certificate.to_json()),
        },
    )
    ratio = {key: times[key] / times["peer"] for key in ("balance", "weights")}
    return (
        f"| {name} | {order} | {len(tail):,} | {times['peer']:.3f} | {times['search']:.3f} | {times['balance']:.3f} | "
        f"{ratio['balance']:.2f} | {times['weights']:.3f} | {ratio['weights']:.2f} | {times['check']:.3f} |"
    )


if __name__ == "__main__":
    main()
