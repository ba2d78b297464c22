"""The balances along discrete training, beside the recursions that they should follow.

A step s = theta_k − theta_{k+1} changes c = B theta² by −2B(theta * s) + B s², whatever the method. Where the steps are
those of a lawful method, what the recursion claims is computed here from gradients and steps alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from .balances import Balances, Order, order_of_drift
from .descent import Method, Objective, Step, descend

__all__ = ["Followed", "drift_order", "first_order_defect", "follow", "one_step_defect"]

_ROUNDING = 1e-12  # of the summands, below which a drift is no drift


@dataclass(frozen=True)
class Followed:
    """A trajectory, summed up.

    Parameters
    ----------
    balances : tuple of rows
        c after each of the first steps, one number per hidden node.
    sizes : tuple of float
        Per hidden node, the largest sum of the squares that c is made of.
    recursion_defect : float
        Largest distance of c from its recursion at any step, divided by these sizes.
    drift : float
        Largest change of a balance at any step.
    """

    balances: tuple[tuple[float, ...], ...]
    sizes: tuple[float, ...]
    recursion_defect: float
    drift: float


def follow(objective: Objective, start: Tensor, B: Balances, method: Method, steps: int, *, keep: int = 0) -> Followed:
    """Return how the balances go from `start` (m,) under `method`; the recursion is that of ``gd`` and ``heavy_ball``.

    Parameters
    ----------
    keep : int
        Number of first steps whose balances are listed.
    """
    c_start = c = B(start**2)
    size, defect, drift = B.sizes(start**2), torch.zeros_like(c), torch.zeros_like(c)
    # q is multiplied by the rate throughout, so that steps can stand for rate times velocity.
    q, last = torch.zeros_like(c), torch.zeros_like(start)
    kept: list[tuple[float, ...]] = []
    for step in descend(objective, start, method, steps):
        if method.name == "heavy_ball":
            moved = step.before - step.after
            q = method.momentum * (q - B(last**2))
            c = c - 2 * q + B(moved**2)
            last = moved
        else:
            c = (1 - method.rate * method.decay) ** 2 * c + method.rate**2 * B(step.gradient**2)
        reached = B(step.after**2)
        size = torch.maximum(size, B.sizes(step.after**2))
        defect = torch.maximum(defect, (reached - c).abs())
        drift = torch.maximum(drift, (reached - c_start).abs())
        if len(kept) < keep:
            kept.append(tuple(reached.tolist()))
    return Followed(tuple(kept), tuple(size.tolist()), _largest(defect, size), _most(drift))


def one_step_defect(objective: Objective, start: Tensor, B: Balances, method: Method, half: Method) -> float:
    """Return by how much the change of c in one step of `method` is not four times that of `half`, relative to the sizes.

    Under gradient descent the change is exactly quadratic in the rate, so `half` the rate makes a quarter of it; any
    method whose steps have B(theta * s) ≠ 0 is found out, since that term is linear.
    """
    changes = []
    for used in (method, half):
        step = next(iter(descend(objective, start, used, 1)))
        moved = step.before - step.after
        changes.append(-2 * B(step.before * moved) + B(moved**2))
    return _largest((changes[0] - 4 * changes[1]).abs(), B.sizes(start**2))


def drift_order(objective: Objective, start: Tensor, B: Balances, runs: Sequence[tuple[Method, int]]) -> Order:
    """Return the order at which the drift of c vanishes over `runs`: methods with halved rates, and twice the steps each."""
    drifts = []
    for method, steps in runs:
        end = start
        for step in descend(objective, start, method, steps):
            end = step.after
        drifts.append(_most((B(end**2) - B(start**2)).abs()))
    rounding = _ROUNDING * runs[-1][1] * _most(B.sizes(start**2))
    return order_of_drift([method.rate for method, _ in runs], drifts, rounding=rounding)


def first_order_defect(step: Step, B: Balances) -> float:
    """Return max_v |B(theta * s)|_v / max_e |theta_e s_e| for the step s; rounding alone if c changes by B s² only.

    Examples
    --------
    >>> from ..graphs.network import Network
    >>> B = Balances(Network.from_edges([("x", "v"), ("v", "y")]))
    >>> theta, s = torch.tensor([2.0, 1.0]), torch.tensor([0.5, 0.5])
    >>> first_order_defect(Step(1, theta, theta - s, s, torch.tensor(0.0)), B)
    0.5
    """
    terms = step.before * (step.before - step.after)
    largest = _most(terms.abs())
    return _most(B(terms).abs()) / largest if largest else 0.0


def _largest(values: Tensor, sizes: Tensor) -> float:
    """Return the largest quotient; where a size is 0, so is the value."""
    return _most(torch.where(sizes > 0, values / sizes, 0.0))


def _most(values: Tensor) -> float:
    return float(values.max()) if values.numel() else 0.0
