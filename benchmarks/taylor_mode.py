"""Correlations by Taylor mode against nested forward mode and JAX: ``python benchmarks/taylor_mode.py --full``.

Each task runs in a process of its own, which reports the median processor time of three rounds after a first one, and its
largest memory with and without what it starts from. JAX comes from an environment of its own, whose Python `--jax` names.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from ratios import record

INPUTS = 8
ENSEMBLE = ("batched", "loop", "products")
PEERS = {"nested": "nested `torch.func.jvp`", "jet": "`jax.experimental.jet`"}
JAX_SCRIPT = Path(__file__).with_name("taylor_mode_jax.py")


def report(line: str) -> None:
    """Write a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def measured(call: Callable[[], object], rounds: int = 3) -> float:
    """Return the median processor time of `rounds` calls, after one that is not counted."""
    call()
    found = []
    for _ in range(rounds):
        began = time.process_time()
        call()
        found.append(time.process_time() - began)
    return statistics.median(found)


def megabytes() -> float:
    """Return the largest resident memory of this process so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def one_network(kind: str, width: int, order: int) -> dict[str, float]:
    """Return time and memory of the correlations of one network with two hidden layers, v = ∇F(x)."""
    import torch

    from lakatos.numerics import mlps, nested_jvp, taylor_mode

    torch.set_num_threads(1)
    made = mlps.draw(mlps.Architecture(INPUTS, width, 2), [0])
    mlp = made.with_parameters([p[0] for p in made.parameters])
    x = torch.ones(1, INPUTS, dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    before = megabytes()

    def taylor() -> torch.Tensor:
        return taylor_mode.correlations(mlp, x, taylor_mode.gradient_direction(mlp, x, one), order)

    def norms() -> torch.Tensor:
        return taylor_mode.first_order_norms(mlp, x, taylor_mode.gradient_direction(mlp, x, one), order)

    def nested() -> list[torch.Tensor]:
        nested_jvp.LARGEST_ORDER = order  # a peer may go where the package refuses to
        v = taylor_mode.gradient_direction(mlp, x, one).dense(False)
        theta = {str(i): p for i, p in enumerate(mlp.parameters)}

        def function(by_name: dict[str, torch.Tensor]) -> torch.Tensor:
            return mlps.forward(mlp.with_parameters([by_name[str(i)] for i in range(3)]), x).outputs

        return nested_jvp.line_coefficients(function, theta, {str(i): p for i, p in enumerate(v)}, order)

    seconds = measured({"taylor": taylor, "norms": norms, "nested": nested}[kind], 1 if kind == "nested" else 3)
    return {"seconds": seconds, "start": before, "peak": megabytes()}


def ensemble(kind: str, networks: int, widths: int) -> dict[str, float]:
    """Return the time of C_{0,0}…C_{0,6} of networks of widths 64, 128, …: in batches, one by one, or of products alone."""
    import torch

    from lakatos.numerics import mlps, taylor_mode

    torch.set_num_threads(1)
    x, one = torch.ones(1, INPUTS, dtype=torch.float64), torch.ones(1, 1, dtype=torch.float64)

    def correlations(mlp: mlps.Mlp) -> torch.Tensor:
        return taylor_mode.correlations(mlp, x, taylor_mode.gradient_direction(mlp, x, one), 6)

    def batched(mlp: mlps.Mlp, width: int) -> None:
        size = max(1, taylor_mode.NEURONS_AT_ONCE // width)
        for start in range(0, networks, size):
            correlations(mlp.with_parameters([p[start : start + size] for p in mlp.parameters]))

    def one_by_one(mlp: mlps.Mlp, width: int) -> None:
        for i in range(networks):
            correlations(mlp.with_parameters([p[i] for p in mlp.parameters]))

    def products(mlp: mlps.Mlp, width: int) -> None:
        """Multiply the matrices of `batched`, and nothing else."""
        size = max(1, taylor_mode.NEURONS_AT_ONCE // width)
        rows = torch.ones(size, 7, width, dtype=torch.float64)
        for start in range(0, networks, size):
            W, a = (p[start : start + size] for p in mlp.parameters)
            h = rows[: len(a)]
            products = (x @ W.mT, h[:, :1] @ a.mT, x @ W.mT, h[:, :1, :1] @ a, h @ a.mT, h[:, :6] @ h[:, :1].mT)
            del products

    call = {"batched": batched, "loop": one_by_one, "products": products}[kind]
    seconds = 0.0
    with torch.inference_mode():
        for width in [64 * 2**k for k in range(widths)]:
            mlp = mlps.draw(mlps.Architecture(INPUTS, width), range(networks))
            seconds += measured(partial(call, mlp, width))
    return {"seconds": seconds, "start": 0.0, "peak": megabytes()}


def run(*arguments: str, python: str = sys.executable, script: Path = Path(__file__)) -> dict[str, float]:
    """Return what a task reports from its own process."""
    done = subprocess.run([python, str(script), *arguments], stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Measure and print, or run one task."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--task", choices=("taylor", "norms", "nested", *ENSEMBLE))
    parser.add_argument("--width", type=int, default=4096)
    parser.add_argument("--order", type=int, default=6)
    parser.add_argument("--networks", type=int, default=200)
    parser.add_argument("--widths", type=int, default=8)
    parser.add_argument("--jax", help="Python of an environment with JAX, to compare with jax.experimental.jet")
    parser.add_argument("--full", action="store_true", help="also width 16384, and 200 networks of 8 widths")
    options = parser.parse_args()
    if options.task in ENSEMBLE:
        report(json.dumps(ensemble(options.task, options.networks, options.widths)))
        return
    if options.task:
        report(json.dumps(one_network(options.task, options.width, options.order)))
        return
    report("task | width | order | seconds | MB at the start | MB largest")
    rows = [("taylor", 1024, 4), ("nested", 1024, 4), ("taylor", 4096, 4), ("taylor", 4096, 6), ("norms", 4096, 4)]
    if options.full:
        rows += [("taylor", 2048, 6), ("nested", 2048, 6), ("nested", 4096, 4), ("taylor", 16384, 6)]
    times = {}
    for task, width, order in rows:
        found = run("--task", task, "--width", str(width), "--order", str(order))
        times[task, width, order] = found["seconds"]
        report(f"{task} | {width} | {order} | {found['seconds']:.3f} | {found['start']:.0f} | {found['peak']:.0f}")
    if options.jax:
        for width, order in ((1024, 4), (4096, 4), (4096, 6)):
            found = run(str(width), str(order), python=options.jax, script=JAX_SCRIPT)
            times["jet", width, order] = found["seconds"]
            report(f"jet | {width} | {order} | {found['seconds']:.3f} | {found['start']:.0f} | {found['peak']:.0f}")
    for (task, width, order), seconds in times.items():
        if task in PEERS:
            size = f"width {width}, d = {order}"
            record("correlations by Taylor mode", size, times["taylor", width, order], PEERS[task], seconds, 2)
    for networks, widths in ((200, 4), *([(200, 8)] if options.full else [])):
        batched, loop, products = (
            run("--task", task, "--networks", str(networks), "--widths", str(widths))["seconds"] for task in ENSEMBLE
        )
        size = f"{networks} networks of {widths} widths"
        record("correlations of many networks", size, batched, "one by one", loop, 5)
        report(f"{size}: batched {batched:.2f} s (products {products:.2f} s), one by one {loop:.2f} s")


if __name__ == "__main__":
    main()
