"""How fast a truncated series of a network with one hidden layer approaches the true step as the step is halved."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from torch import Tensor

from .activations import Activation
from .frequencies import Interval
from .one_hidden import OneHidden

__all__ = ["Network", "residual_orders"]

_HALVINGS = 16
_LEAST_POINTS = 5
_SETTLING = 0.75  # of the change before: it is halved where the next term is the only error
_SETTLED = 1e-3
_CLEAR = 1e4 * 2.0**-52  # residuals above this, relative to the terms, are no rounding


@dataclass(frozen=True, eq=False)
class Network:
    """F(x) = n^−½ Σ_j a_j φ(w_j·x) and a direction v = Σ_b c_b ∇F(x_b).

    Parameters
    ----------
    a : Tensor (n,)
    w : Tensor (n, d0)
    inputs : Tensor (1 + B, d0)
        x, then x_1, …, x_B.
    c : Tensor (B,)
    """

    activation: Activation
    a: Tensor
    w: Tensor
    inputs: Tensor
    c: Tensor
    rate: float = 1.0

    def output(self, a: Tensor, w: Tensor) -> Tensor:
        """Return F at the first input with these weights."""
        return (a * self.activation(w @ self.inputs[0])).sum() / math.sqrt(len(self.a))

    def direction(self) -> tuple[Tensor, Tensor]:
        """Return v as (n,) and (n, d0)."""
        values, slopes = self.activation.derivatives(self.inputs[1:] @ self.w.T, 1)
        root = math.sqrt(len(self.a))
        return self.c @ values / root, ((self.c[:, None] * slopes * self.a).T @ self.inputs[1:]) / root

    def closed_form(self) -> OneHidden:
        """Return what its correlations are functions of."""
        z = (self.inputs @ self.w.T).T[None]
        kernel = self.inputs @ self.inputs[0]
        return OneHidden.of(self.activation, self.a[None], z, kernel, self.c, rate=self.rate)


def residual_orders(network: Network, orders: Sequence[int]) -> dict[int, Interval]:
    """Return for each k the order in t of F(θ − ηtv) − F(θ) − Σ_{1 ≤ d ≤ k} (−t)^d C_{0,d}, for t halved again and again.

    The true step moves the weights; the terms are closed forms. The order is that of the last halving before rounding shows,
    and its error three times how much it differs from the one before. NaN where fewer than five residuals are clear of
    rounding, or their ratios do not settle.
    """
    top = max(orders)
    found = network.closed_form().correlations([(0, d) for d in range(top + 1)])
    terms = [float(found[0, d]) for d in range(top + 1)]
    scale = max(float(network.closed_form().scales(d)) for d in range(top + 1))
    va, vw = network.direction()
    steps = [2.0**-j for j in range(_HALVINGS)]
    moved = []
    for t in steps:
        shift = network.rate * t
        moved.append(float(network.output(network.a - shift * va, network.w - shift * vw)) - terms[0])
    result = {}
    for k in orders:
        residuals = [
            change - math.fsum((-t) ** d * terms[d] for d in range(1, k + 1))
            for t, change in zip(steps, moved, strict=True)
        ]
        result[k] = _last_order(residuals, _CLEAR * scale)
    return result


def _last_order(residuals: Sequence[float], least: float) -> Interval:
    """Return the binary logarithm of the last ratio of residuals larger than `least`, if the ratios settle."""
    count = next((j for j, r in enumerate(residuals) if not abs(r) > least), len(residuals))
    clear = residuals[:count]
    # Before a change of sign two terms cancel, and the leading one does not lead yet.
    start = max((j for j in range(1, count) if (clear[j] > 0) != (clear[j - 1] > 0)), default=0)
    logs = [math.log2(abs(r)) for r in clear[start:]]
    orders = [before - after for before, after in pairwise(logs)]
    changes = [abs(after - before) for before, after in pairwise(orders)]
    if len(logs) < _LEAST_POINTS or changes[-1] > max(_SETTLING * changes[-2], _SETTLED):
        return Interval(math.nan, math.nan)
    return Interval(orders[-1], 3 * changes[-1])
