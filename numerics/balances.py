"""Balances of flat weight vectors, and how fast a quantity stops changing as the step size falls."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import torch
from torch import Tensor

from ..core import InputError
from ..graphs.network import Network

__all__ = ["Balances", "Order", "order_of_drift"]


class Balances:
    """The map B from edges to hidden nodes: what enters minus `degree` times what leaves.

    ``Balances(network)(theta**2)`` are the balances of the weights theta, with the last axis over hidden nodes.

    Examples
    --------
    >>> B = Balances(Network.from_edges([("x", "v"), ("v", "y")]))
    >>> B(torch.tensor([2.0, 1.0]) ** 2).tolist()
    [3.0]
    """

    def __init__(self, network: Network, degree: float = 1, device: str | torch.device = "cpu") -> None:
        self._tail, self._head, self._hidden = (
            torch.from_numpy(nodes).to(device) for nodes in (network.tail, network.head, network.hidden_nodes)
        )
        self._count = network.node_count
        self._degree = degree

    def __call__(self, values: Tensor) -> Tensor:
        """Return B applied to `values`, (..., m) to (..., hidden nodes)."""
        zero = values.new_zeros(*values.shape[:-1], self._count)
        entering = zero.index_add(-1, self._head, values)
        return entering.index_add(-1, self._tail, -self._degree * values)[..., self._hidden]

    def sizes(self, values: Tensor) -> Tensor:
        """Return the sum of absolute values of the summands in ``self(values)``."""
        zero = values.new_zeros(*values.shape[:-1], self._count)
        entering = zero.index_add(-1, self._head, values.abs())
        return entering.index_add(-1, self._tail, abs(self._degree) * values.abs())[..., self._hidden]


@dataclass(frozen=True)
class Order:
    """How a drift falls with the step size.

    `slope` is that of log drift against log step, by least squares; `verdict` is ``conserved`` if the drift vanishes in
    proportion to the step (or is rounding), ``not conserved`` if it tends to something else, and None where neither shows.
    """

    slope: float
    verdict: Literal["conserved", "not conserved"] | None


_TOLERATED = 0.05  # of a slope measured over at least three steps
_SETTLED = 1.1  # a drift that halving the step changes by less than 10 % is a limit, not an error of order one


def order_of_drift(steps: Sequence[float], drifts: Sequence[float], *, rounding: float = 0.0) -> Order:
    """Return at what order `drifts`, measured with step sizes `steps` up to one and the same time, tend to zero.

    No absolute size enters the verdict: a law holds if and only if the drift falls in proportion to the step.

    Parameters
    ----------
    steps : sequence of float
        At least three, each half of the one before.
    drifts : sequence of float
        Not negative.
    rounding : float
        What rounding alone may leave; drifts below are zero.

    Raises
    ------
    InputError
        For fewer than three steps, or steps that are not halved.

    Examples
    --------
    >>> order_of_drift([0.4, 0.2, 0.1], [8e-3, 4e-3, 2e-3]).verdict
    'conserved'
    >>> order_of_drift([0.4, 0.2, 0.1], [0.52, 0.51, 0.505]).verdict
    'not conserved'
    """
    if len(steps) < 3 or len(steps) != len(drifts):
        raise InputError(f"steps={list(steps)!r}: at least three, with one drift each, are needed")
    # Halves are exact in floating point; a step that is rounded on the way is close enough.
    if not all(math.isclose(a, 2 * b, rel_tol=1e-9) for a, b in pairwise(steps)):
        raise InputError(f"steps={list(steps)!r}: each has to be half of the one before")
    if all(drift <= rounding for drift in drifts):
        return Order(math.inf, "conserved")
    if not all(rounding < drift < math.inf for drift in drifts):
        return Order(math.nan, None)
    x, y = [math.log(step) for step in steps], [math.log(drift) for drift in drifts]
    x_mean, y_mean = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / sum((a - x_mean) ** 2 for a in x)
    ratios = [a / b for a, b in pairwise(drifts)]
    if slope >= 1 - _TOLERATED and all(ratio >= 2 ** (1 - 2 * _TOLERATED) for ratio in ratios):
        return Order(slope, "conserved")
    if all(1 / _SETTLED < ratio < _SETTLED for ratio in ratios[-2:]):
        return Order(slope, "not conserved")
    return Order(slope, None)
