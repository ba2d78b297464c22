"""How fast realization costs, margins and batched training are: ``python benchmarks/identifiability.py``.

The matrix of all costs against one least-squares problem per pair (timed on a few pairs, and multiplied), the second-best
assignment, and 16 networks trained as one batch against one after the other.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import torch

from lakatos.numerics import experiments
from lakatos.numerics.assignments import assignment_margin
from lakatos.numerics.realization import FloatArray, least_norm_costs, realization_costs
from lakatos.numerics.subspaces import random_basis

_PAIRS = 64


def layer(m: int, n: int, k: int) -> tuple[FloatArray, ...]:
    """Return F, D, U and features of m neurons, an eighth of whose weights is fixed."""
    generator = np.random.default_rng(0)
    U = random_basis(n, k, 0)
    D = (generator.random((m, n)) > 0.125).astype(np.float64)
    F = (1 - D) * generator.standard_normal((m, n))
    return F, D, U, F @ U + 0.1 * generator.standard_normal((m, k))


def seconds(call: Callable[[], object]) -> float:
    """Return the wall time of a call."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began


def report(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", action="store_true", help="also m = 4096, k = 256, which takes minutes on few cores")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    report(f"{torch.get_num_threads()} threads, {options.device}")
    for m, n, k in [(512, 784, 64), *([(4096, 512, 256)] if options.large else [])]:
        F, D, U, A = layer(m, n, k)
        batched = seconds(lambda: realization_costs(F, D, U, A, device=options.device))  # noqa: B023
        single = seconds(lambda: least_norm_costs(F[:1], D[:1], U, A[:_PAIRS])) / _PAIRS * m * m  # noqa: B023
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report(
            f"m={m}, k={k}: all costs in {batched:.2f} s; per pair {single:.0f} s, {single / batched:.0f} times as long; "
            f"{memory:.0f} MiB at most"
        )
    costs = realization_costs(*layer(512, 784, 64)).values
    report(f"m=512: second-best assignment in {seconds(lambda: assignment_margin(costs)):.2f} s")
    experiments.coherence_barriers(
        experiments.CoherenceSettings(pairs=1, epochs=1), seed=0
    )  # the first call loads much
    settings = experiments.CoherenceSettings(pairs=8, epochs=10)
    together = seconds(lambda: experiments.coherence_barriers(settings, seed=0))
    apart = seconds(
        lambda: [
            experiments.coherence_barriers(experiments.CoherenceSettings(pairs=1, epochs=10), seed=i) for i in range(8)
        ]
    )
    report(f"16 networks in one batch {together:.2f} s, in pairs {apart:.2f} s, {apart / together:.1f} times as long")


if __name__ == "__main__":
    main()
