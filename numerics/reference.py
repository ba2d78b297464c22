"""The reference problem: a perceptron 3-5-4-2 with PyTorch's default initialization, and its balances under optimizers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import torch
from torch import Tensor, nn

from ..graphs.layered import layered_network
from ..graphs.network import Network
from .balances import Balances
from .descent import Method, Objective, descend
from .drift import first_order_defect
from .forward import NetworkFunction

__all__ = ["OptimizerRun", "ReferenceProblem", "optimizer_runs", "reference_problem"]


@dataclass(frozen=True, eq=False)
class ReferenceProblem:
    """Network, weights at the start (m,), data (20, 6) with three columns of ones for the biases, and targets (20, 2)."""

    network: Network
    start: Tensor
    data: Tensor
    targets: Tensor

    def objective(self, activation: str = "relu") -> Objective:
        """Return the mean squared error."""
        return Objective(NetworkFunction(self.network, activation, self.data.device), self.data, self.targets)


@dataclass(frozen=True)
class OptimizerRun:
    """What a method did to the balances of the reference problem.

    Parameters
    ----------
    drifts : tuple of float
        Largest change of a balance after each recorded step.
    first_step_defect, largest_defect : float
        max_v |B(θ ⊙ s)|_v / max_e |θ_e s_e| of the first step s, and the largest over all steps: rounding for a lawful step.
    """

    method: Method
    steps: tuple[int, ...]
    drifts: tuple[float, ...]
    losses: tuple[float, ...]
    first_step_defect: float
    largest_defect: float


def reference_problem(seed: int = 0, device: str = "cpu") -> ReferenceProblem:
    """Return the problem: layers created in order, then normal data and targets, all from PyTorch's own generator.

    Examples
    --------
    >>> problem = reference_problem()
    >>> round(float(problem.objective().value_and_gradient(problem.start)[0]), 6)
    1.216581
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        layers = [nn.Linear(a, b, dtype=torch.float64) for a, b in pairwise([3, 5, 4, 2])]
        data, targets = (torch.randn(20, columns, dtype=torch.float64) for columns in (3, 2))
    start = torch.cat([torch.cat([layer.weight.T.flatten(), layer.bias]) for layer in layers]).detach()
    with_ones = torch.cat([data, torch.ones(20, 3, dtype=torch.float64)], 1)
    placed = (tensor.to(device) for tensor in (start, with_ones, targets))
    return ReferenceProblem(layered_network([3, 5, 4, 2], bias=True), *placed)


def optimizer_runs(methods: Sequence[tuple[Method, int]], seed: int = 0, *, records: int = 100) -> list[OptimizerRun]:
    """Return what each of the methods does to the balances in its number of steps.

    Examples
    --------
    >>> gd, adam = optimizer_runs([(Method("gd", 0.005), 20), (Method("adam", 0.005), 20)])
    >>> gd.largest_defect < 1e-12, adam.first_step_defect > 1
    (True, True)
    """
    problem = reference_problem(seed)
    B = Balances(problem.network)
    start = B(problem.start**2)
    runs = []
    for method, steps in methods:
        every = max(1, steps // records)
        kept, drifts = [0], [0.0]
        losses: list[float] = []
        defects: list[float] = []
        for step in descend(problem.objective(), problem.start, method, steps):
            defects.append(first_order_defect(step, B))
            losses = losses or [float(step.loss)]
            if step.index % every == 0 or step.index == steps:
                kept.append(step.index)
                drifts.append(float((B(step.after**2) - start).abs().max()))
                losses.append(float(problem.objective().value_and_gradient(step.after)[0]))
        runs.append(OptimizerRun(method, tuple(kept), tuple(drifts), tuple(losses), defects[0], max(defects)))
    return runs
