"""Training many starts at once, and the nuclear norm: ``python benchmarks/training.py [--full] [--device cuda]``.

* 256 starts of the network with one out-bottleneck, and of a 30-20-1 perceptron, trained as one batch, against a loop over
  the starts: seconds per step of all starts. The loop calls the same gradient, 16 starts are timed and counted 16 times.
* Value and gradient of the nuclear norm for two hidden layers of h/2 units, against automatic differentiation through the
  singular values of the dense Jacobian, where that fits into memory; and the stochastic estimate.

Medians on one thread; ratios are of the same run.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable

import torch
from ratios import record
from torch import Tensor

from lakatos.graphs.layered import layered_network
from lakatos.graphs.network import Network
from lakatos.numerics.descent import Method, Objective, descend
from lakatos.numerics.forward import ModuleFunction, NetworkFunction
from lakatos.numerics.laplacians import Laplacian, jacobian, lanczos_nuclear_norm
from lakatos.numerics.nuclear import nuclear_norm
from lakatos.numerics.obstruction_experiments import TOY_NETWORK
from lakatos.numerics.penalized_training import classifier

_STARTS = 256
_STEPS = 5
_REPEATS = 5
_LARGEST_JACOBIAN = 1 << 30  # bytes; its decomposition takes several times as much
_INPUTS = 100
_QUICK = 1024  # hidden units up to which runs are repeated


def main() -> int:
    """Print two tables; return 0."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="the largest sizes, too (minutes)")
    parser.add_argument("--device", default="cpu")
    options = parser.parse_args()
    torch.set_num_threads(1)
    sys.stdout.write(f"torch {torch.__version__}, {options.device}, one thread\n\n")
    sys.stdout.write("256 starts           batched s/step   loop s/step   ratio\n")
    for name, objective, starts in ensembles(options.device):
        sys.stdout.write(ensemble_line(name, objective, starts, options.device))
        sys.stdout.flush()
    sys.stdout.write("\nnuclear norm      h    edges   gradient s   autograd s   ratio   estimate s\n")
    for hidden in (256, 1024, 4096) if options.full else (256, 1024):
        network = layered_network([_INPUTS, hidden // 2, hidden // 2, 10], bias=True)
        sys.stdout.write(norm_line(network, hidden, options.device))
        sys.stdout.flush()
    return 0


def ensembles(device: str) -> list[tuple[str, Objective, Tensor]]:
    """Return name, objective and starts (256, m) of the ensembles."""
    generator = torch.Generator().manual_seed(0)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64).to(device)

    toy = Objective(NetworkFunction(TOY_NETWORK, "relu", device), normal(200, 2), normal(200, 1))
    module = classifier(30, [20], 0).to(device)
    function = ModuleFunction(module)
    starts = function.weights() + 0.1 * normal(_STARTS, function.weight_count)
    data, targets = normal(400, 30), normal(400, 1)
    perceptrons = [
        (f"30-20-1, {rows} rows", Objective(function, data[:rows], targets[:rows]), starts) for rows in (64, 400)
    ]
    return [("bottleneck, 200 rows", toy, normal(_STARTS, 7)), *perceptrons]


def ensemble_line(name: str, objective: Objective, starts: Tensor, device: str) -> str:
    """Return the line of the table for one ensemble."""
    batched = median(lambda: train(objective, starts, _STEPS), device) / _STEPS
    alone = median(lambda: [train(objective, start, _STEPS) for start in starts[::16]], device) / _STEPS * 16
    record("256 starts, a step of descent", name, batched, "a loop over starts", alone, 5)
    return f"{name:20} {batched:14.5f} {alone:13.5f} {alone / batched:7.1f}\n"


def train(objective: Objective, starts: Tensor, steps: int) -> Tensor:
    """Return the weights after some steps of gradient descent."""
    end = starts
    for step in descend(objective, starts, Method("gd", 1e-4), steps):
        end = step.after
    return end


def norm_line(network: Network, hidden: int, device: str) -> str:
    """Return the line of the table for one network."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(network.edge_count, generator=generator, dtype=torch.float64).to(device).requires_grad_()
    laplacian = Laplacian(network, device)
    repeats = _REPEATS if hidden <= _QUICK else 1
    exact = median(lambda: torch.autograd.grad(nuclear_norm(laplacian, weights), weights), device, repeats)
    estimate = median(lambda: lanczos_nuclear_norm(laplacian, weights.detach()), device, repeats)
    if hidden * network.edge_count * 8 > _LARGEST_JACOBIAN:
        peer, ratio = "-", "-"
    else:
        seconds = median(
            lambda: torch.autograd.grad(torch.linalg.svdvals(jacobian(network, weights)).sum(), weights), device, 1
        )
        size = f"{network.edge_count:,} edges"
        record("nuclear norm and gradient", size, exact, "autograd through `svdvals`", seconds)
        peer, ratio = f"{seconds:.3f}", f"{seconds / exact:.1f}"
    return f"{hidden:19} {network.edge_count:8} {exact:12.3f} {peer:>12} {ratio:>7} {estimate:12.3f}\n"


def median(work: Callable[[], object], device: str, repeats: int = _REPEATS) -> float:
    """Return the median of the seconds that `work` takes, after one run that does not count."""
    times = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        work()
        if device != "cpu":
            torch.cuda.synchronize()
        times.append(time.perf_counter() - began)
    return statistics.median(times[1:])


if __name__ == "__main__":
    sys.exit(main())
