"""How time grows with size: ``python benchmarks/connectivity_growth.py [--full]``.

Dense networks with float weights, sparse networks that a maximum flow decides, and dense networks with a skip around the
middle that closes cycles, from 10³ edges on. The slope of log time against log edges is fitted from 10⁴ edges on, where
overheads no longer matter: 1 is linear.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from connectivity_bench import Arrays, dense, funnel, medians, options, peak_gigabytes, report

from lakatos import Network, connectivity


def main() -> None:
    """Print a table: seconds by number of edges, and the slope."""
    chosen = options(__doc__)
    largest = 10**7 if chosen.full else 10**5
    families = {"dense, float weights": dense_networks, "sparse, one flow": sparse_networks, "cycles": cyclic_networks}
    for name, family in families.items():
        sizes, seconds = [], []
        for edges, task in family(largest):
            sizes.append(edges)
            seconds.append(medians(chosen.rounds if edges < 10**6 else min(3, chosen.rounds), {"task": task})["task"])
            report(f"| {name} | {edges:,} | {seconds[-1]:.4f} |")
        fitted = np.array(sizes) > 5000
        slope = np.polyfit(np.log(np.array(sizes)[fitted]), np.log(np.array(seconds)[fitted]), 1)[0]
        report(f"| {name} | slope | {slope:.2f} |")
    report(f"\nlargest memory of the process: {peak_gigabytes():.2f} GB")


def dense_networks(largest: int) -> Iterator[tuple[int, Callable[[], int]]]:
    """Yield dense networks with three equal hidden layers and one output."""
    for width in (18, 57, 180, 570, 1800):
        if 3 * width * width <= 1.2 * largest:
            arrays = dense([width, width, width, width, 1])
            weights = np.random.default_rng(3).normal(0, 0.02, len(arrays.tail))
            yield len(arrays.tail), decision(arrays, weights=weights)


def sparse_networks(largest: int) -> Iterator[tuple[int, Callable[[], int]]]:
    """Yield networks that run together into one node, up to a million edges: beyond, the flow takes minutes."""
    for width in (15, 150, 1500, 15_000):
        rng = np.random.default_rng(4)
        arrays = funnel(20, width, 2, rng)
        if len(arrays.tail) <= min(1.2 * largest, 10**6):
            yield len(arrays.tail), decision(arrays, balance=arrays.balance(rng, shift=10))


def cyclic_networks(largest: int) -> Iterator[tuple[int, Callable[[], int]]]:
    """Yield dense networks whose last hidden layer also leads back to the first."""
    for width in (18, 57, 180, 570, 1800):
        if 3 * width * width <= 1.2 * largest:
            arrays = dense([width, width, width, width, 2])
            first, last = width + np.arange(width), 3 * width + np.arange(width)
            tail, head = np.concatenate([arrays.tail, last]), np.concatenate([arrays.head, first])
            cyclic = Arrays(tail, head, arrays.inputs, arrays.outputs)
            weights = np.random.default_rng(5).normal(0, 0.02, len(tail))
            yield len(tail), decision(cyclic, weights=weights)


def decision(arrays: Arrays, **numbers: np.ndarray) -> Callable[[], int]:
    """Return the task to build and decide a network."""
    ends = {"inputs": arrays.inputs, "outputs": arrays.outputs}
    return lambda: len(connectivity(Network.from_arrays(arrays.tail, arrays.head, **ends, **numbers)).frozen_edges)


if __name__ == "__main__":
    main()
