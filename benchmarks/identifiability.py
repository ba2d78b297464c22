"""How fast realization costs, margins and batched training are: ``python benchmarks/identifiability.py``.

The matrix of all costs against one least-squares problem per pair (timed on a few pairs, and multiplied), the second-best
assignment, and 16 networks trained as one batch against ordinary modules one after the other (one is timed).
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from ratios import record
from torch import nn
from torch.nn import functional

from lakatos.numerics.assignments import assignment_margin
from lakatos.numerics.masked import MaskedLinear
from lakatos.numerics.masked_batches import MlpShape, drawn_layers
from lakatos.numerics.paired_mlps import trained_pairs
from lakatos.numerics.realization import FloatArray, least_norm_costs, realization_costs
from lakatos.numerics.subspaces import random_basis

_PAIRS = 64
_NETWORKS, _BATCH = 16, 50


def layer(m: int, n: int, k: int) -> tuple[FloatArray, ...]:
    """Return F, D, U and features of m neurons, an eighth of whose weights is fixed."""
    generator = np.random.default_rng(0)
    U = random_basis(n, k, 0)
    D = (generator.random((m, n)) > 0.125).astype(np.float64)
    F = (1 - D) * generator.standard_normal((m, n))
    return F, D, U, F @ U + 0.1 * generator.standard_normal((m, k))


def seconds(call: Callable[[], object]) -> float:
    """Return the processor time of a call: the machine may be shared."""
    began = time.process_time()
    call()
    return time.process_time() - began


def data(shape: MlpShape) -> tuple[torch.Tensor, torch.Tensor]:
    """Return random inputs and classes."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1400, shape.widths[0], generator=generator), torch.randint(10, (1400,), generator=generator)


def train_together(shape: MlpShape, steps: int) -> None:
    """Train all networks as one batch."""
    x, y = data(shape)
    layers = drawn_layers(shape, "w_asymmetric", [0.125] * shape.depth, [1.0] * shape.depth, 0)
    rows = steps * _BATCH
    trained_pairs(
        shape,
        layers,
        (x[:rows], y[:rows]),
        pairs=_NETWORKS // 2,
        epochs=-(-rows // len(x)),
        batch=_BATCH,
        generator=torch.Generator().manual_seed(0),
    )


def train_one(shape: MlpShape, steps: int) -> None:
    """Train one network as an ordinary module with the default optimizer, for as many steps as `train_together` makes."""
    x, y = data(shape)
    layers = drawn_layers(shape, "w_asymmetric", [0.125] * shape.depth, [1.0] * shape.depth, 0)
    parts: list[nn.Module] = []
    for layer, n, m in zip(layers, shape.widths, shape.widths[1:], strict=False):
        parts += [MaskedLinear(nn.Linear(n, m), layer.F.T, layer.D.T), nn.GELU()]
    network = nn.Sequential(*parts[:-1])
    optimizer = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=1e-2)
    for _ in range(-(-steps * _BATCH // len(x))):
        order = torch.randperm(min(len(x), steps * _BATCH))
        for rows in order[: len(order) - len(order) % _BATCH].split(_BATCH):
            optimizer.zero_grad()
            functional.cross_entropy(network(x[rows]), y[rows]).backward()
            optimizer.step()


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
        record("all realization costs", f"m = {m}, n = {n}, k = {k}", batched, "`lstsq` for each pair", single, 100)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        report(
            f"m={m}, k={k}: all costs in {batched:.2f} s; per pair {single:.0f} s, {single / batched:.0f} times as long; "
            f"{memory:.0f} MiB at most"
        )
    costs = realization_costs(*layer(512, 784, 64)).values
    report(f"m=512: second-best assignment in {seconds(lambda: assignment_margin(costs)):.2f} s")
    for widths in ((64, 64, 64, 10), (784, 128, 128, 10), (784, 512, 512, 512, 10)):
        shape, steps = MlpShape(widths, "gelu"), 20 if widths[1] > 64 else 100
        train_together(shape, 1), train_one(shape, 1)  # the first call loads much
        together = seconds(lambda: train_together(shape, steps))  # noqa: B023
        apart = _NETWORKS * seconds(lambda: train_one(shape, steps))  # noqa: B023
        name = "-".join(map(str, widths))
        record(f"training {_NETWORKS} networks at once", name, together, "modules one by one", apart, 3)
        report(
            f"{_NETWORKS} networks {name}, {steps} steps: one batch {together:.2f} s, "
            f"modules one by one {apart:.2f} s, {apart / together:.1f} times as long"
        )


if __name__ == "__main__":
    main()
