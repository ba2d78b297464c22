"""What the benchmarks of connectivity share: networks as arrays, timed rounds, and a table."""

from __future__ import annotations

import argparse
import gc
import resource
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Arrays:
    """Edges from `tail` to `head`, and the terminals."""

    tail: Ints
    head: Ints
    inputs: Ints
    outputs: Ints

    @property
    def nodes(self) -> int:
        """Number of nodes."""
        return int(max(self.tail.max(), self.head.max())) + 1

    def shuffled(self, rng: np.random.Generator) -> Arrays:
        """Return the same graph with nodes and edges in random order."""
        name, order = rng.permutation(self.nodes), rng.permutation(len(self.tail))
        return Arrays(name[self.tail][order], name[self.head][order], name[self.inputs], name[self.outputs])

    def balance(self, rng: np.random.Generator, shift: int = 0) -> Ints:
        """Return random balances around `shift`, 0 on terminals."""
        c = rng.integers(-1000 + shift, 1001 + shift, self.nodes)
        c[self.inputs] = c[self.outputs] = 0
        return c


def dense(widths: Sequence[int]) -> Arrays:
    """Return the dense layered network with these widths."""
    ends = np.cumsum([0, *widths])
    layers = [np.arange(a, b) for a, b in pairwise(ends)]
    tail = np.concatenate([np.repeat(a, len(b)) for a, b in pairwise(layers)])
    head = np.concatenate([np.tile(b, len(a)) for a, b in pairwise(layers)])
    return Arrays(tail, head, layers[0], layers[-1])


def funnel(depth: int, width: int, degree: int, rng: np.random.Generator) -> Arrays:
    """Return a sparse layered network that runs together into two nodes, one after the other.

    Every stable set of their edges counts, so nothing but a maximum flow through the whole network decides them. The input
    leads to every node.
    """
    layers = 1 + np.arange(depth * width).reshape(depth, width)
    last = depth * width + 1
    tail = [np.repeat(a, degree) for a in layers[:-1]]
    head = [b[rng.integers(0, width, width * degree)] for b in layers[1:]]
    tail += [layers[-1], np.array([last, last + 1]), np.zeros(depth * width, np.int64)]
    head += [np.full(width, last), np.array([last + 1, last + 2]), layers.ravel()]
    return Arrays(np.concatenate(tail), np.concatenate(head), np.array([0]), np.array([last + 2]))


def medians(rounds: int, tasks: Mapping[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median of the processor seconds of each task; no task uses more than one core.

    Tasks take turns, and processor time is what is measured, since other programs may keep the machine busy.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for _ in range(rounds):
        for name, task in tasks.items():
            gc.collect()
            began = time.process_time()
            task()
            seconds[name].append(time.process_time() - began)
    return {name: statistics.median(times) for name, times in seconds.items()}


def peak_gigabytes() -> float:
    """Return the largest memory that this process has held."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 1e9


def options(description: str | None) -> argparse.Namespace:
    """Return the options of the command line: ``--full`` and ``--rounds``."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the sizes that the README quotes, in minutes")
    parser.add_argument("--rounds", type=int, default=5, help="medians over this many rounds")
    return parser.parse_args()


def report(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()
