"""Training beside its certificate: how far a network is from linear, and the bound from norms at initialization alone.

Networks have one hidden layer and one input, so that all norms are exact (`lakatos.numerics.one_hidden`), and an entire
activation, so that the series converge for every displacement. Orders that are not computed are not left out but bounded.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import torch
from torch import Tensor

from ..core import InputError, Reason, Undecided
from .one_hidden import OneHidden, Order, block_norm
from .polynomials import Terms, gradient, polynomial

__all__ = ["DERIVATIVE_BOUNDS", "Course", "certified_course", "correlation_sizes", "polynomial_course"]

_EXACT, _BOUNDED = 8, 18


def _factorial(k: int) -> float:
    return float(math.factorial(k))


def _cramer(order: int) -> float:
    """Return a bound of |erf^(j)|: Cramér's inequality for Hermite functions, without their decay."""
    if order == 0:
        return 1.0
    k = order - 1
    return 2 / math.sqrt(math.pi) * 1.086435 * math.sqrt(2.0**k * _factorial(k))


DERIVATIVE_BOUNDS: Mapping[str, Callable[[int], float]] = MappingProxyType({"sin": lambda order: 1.0, "erf": _cramer})
"""sup |φ^(j)| over the line, for entire activations that have one for every j."""


@dataclass(frozen=True)
class Course:
    """What happened in every step (first axis), to every network (second), beside the certificate.

    Parameters
    ----------
    deviation, bound : Tensor (steps, networks)
        |F(θ_s) − F_0 + Θ_0 p_s| and R_s.
    drift, drift_bound : Tensor (steps, networks)
        |Θ_s − Θ_0| and 2h_s + g_s².
    rounding : Tensor (steps, networks)
        Bound of the rounding of the deviation.
    """

    deviation: Tensor
    bound: Tensor
    drift: Tensor
    drift_bound: Tensor
    rounding: Tensor


def correlation_sizes(networks: OneHidden, *, exact: int = _EXACT, last: int = _BOUNDED) -> dict[Order, Tensor]:
    """Return upper bounds of ‖C_{D,d}‖ for D + d ≤ `last`: the norms themselves up to order `exact`, above from sup |φ^(j)|.

    The bounds of the last order are doubled, for those beyond it: `certified_course` makes sure that they shrink twofold with
    each order.

    Raises
    ------
    InputError
        For an activation without such bounds.
    """
    name = networks.activation.name
    if name not in DERIVATIVE_BOUNDS:
        raise InputError(
            f"activation={name!r}: derivatives of all orders are bounded for {', '.join(DERIVATIVE_BOUNDS)} only"
        )
    orders = [(D, d) for D in range(exact + 1) for d in range(exact + 1 - D)]
    found = {order: value.abs() for order, value in networks.correlations(orders).items()}
    powers = [torch.ones_like(networks.zeta)]
    for _ in range(last):
        powers.append(powers[-1] * networks.zeta.abs())
    for total in range(exact + 1, last + 1):
        scale = networks.activation.scale
        top, below = (scale**j * DERIVATIVE_BOUNDS[name](j) for j in (total, total - 1))
        for D in range(total + 1):
            size = _bounded(networks, D, total - D, top, below, powers)
            found[D, total - D] = 2 * size if total == last else size
    return found


def _bounded(networks: OneHidden, D: int, d: int, top: float, below: float, powers: Sequence[Tensor]) -> Tensor:
    """Return an upper bound of ‖C_{D,d}‖ from |φ^(D+d)| ≤ top and |φ^(D+d−1)| ≤ below; `powers` are those of |ζ|."""
    K = networks.kernel
    A = networks.a.abs() * powers[d] * (top / _factorial(d))
    if d:
        A = A + networks.alpha.abs() * powers[d - 1] * (below / _factorial(d - 1))
    rate = float(networks.rate ** (D / 2 + d))
    if D == 0:
        return rate * networks.scale * A.sum(-1)
    A = A * (networks.scale * K ** (D / 2) / _factorial(D))
    B = powers[d] * (networks.scale * below * K ** ((D - 1) / 2) / (_factorial(d) * _factorial(D - 1)))
    norm: Tensor = (A**2 + B**2).sum(-1).sqrt() if D == 1 else block_norm(A, B, D).amax(-1)
    return rate * norm


def certified_course(
    networks: OneHidden, target: float, steps: int, *, sizes: Mapping[Order, Tensor] | None = None
) -> Course:
    """Return descent on (F − target)²/2 at the one input of `networks`, with α and ζ those of ∇F at that input.

    Only the products z_j = w_j·x move, by the gradient in w times x.

    Raises
    ------
    Undecided
        If the terms of the series do not shrink fast enough for their last order to stand for all beyond it.
    """
    norms = correlation_sizes(networks) if sizes is None else sizes
    a, z, s, rate, K = networks.a, networks.z, networks.scale, networks.rate, networks.kernel
    first, theta = None, None
    p = q = Jq = torch.zeros(len(a), dtype=a.dtype, device=a.device)
    rows: dict[str, list[Tensor]] = {"deviation": [], "bound": [], "drift": [], "drift_bound": [], "rounding": []}
    for _ in range(steps + 1):
        phi, slope = networks.activation.derivatives(z, 1)
        F = s * (a * phi).sum(-1)
        kernel = rate * s * s * ((phi**2).sum(-1) + K * ((a * slope) ** 2).sum(-1))
        if first is None or theta is None:
            first, theta = F, kernel
        else:
            g, h, bound = _bounds(norms, p.abs(), q, Jq)
            rows["deviation"].append((F - first + theta * p).abs())
            rows["bound"].append(bound)
            rows["drift"].append((kernel - theta).abs())
            rows["drift_bound"].append(2 * h + g * g)
            # Sums of n terms, and the steps before, each round relative to the sum of the absolute values.
            size = s * (a * phi).abs().sum(-1) + first.abs() + (theta * p).abs()
            rows["rounding"].append(2.0**-52 * (steps + math.log2(a.shape[1] + 1) + 8) * size)
        c = F - target
        g, h, _ = _bounds(norms, p.abs(), q, Jq)
        q, Jq, p = q + c.abs() * g, Jq + c.abs() * h, p + c
        a, z = a - rate * s * c[:, None] * phi, z - rate * s * K * c[:, None] * a * slope
    _require_decay(norms, p.abs(), q)
    return Course(**{name: torch.stack(values) for name, values in rows.items()})


def _bounds(norms: Mapping[Order, Tensor], p: Tensor, q: Tensor, Jq: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return g_s, h_s and R_s."""
    g, h, R = torch.zeros_like(p), torch.zeros_like(p), Jq
    for (D, d), e in norms.items():
        if D == 0:
            R = R + e * p**d if d >= 2 else R
        elif (D, d) != (1, 0):
            g = g + D * e * p**d * q ** (D - 1)
            h = h + (d + 1) * norms[D - 1, d + 1] * p**d * q ** (D - 1)
            R = R + e * p**d * q**D
    return g, h, R


def _require_decay(norms: Mapping[Order, Tensor], p: Tensor, q: Tensor) -> None:
    last = max(D + d for D, d in norms)
    before, end = (
        sum(((D + 1) * e * p**d * q**D for (D, d), e in norms.items() if D + d == total), torch.zeros_like(p))
        for total in (last - 1, last)
    )
    if not bool((torch.isfinite(end) & (end <= before)).all()):  # those of the last order are doubled
        raise Undecided(
            Reason.PRECISION, f"the series has not converged at order {last}; take a smaller rate or fewer steps"
        )


def polynomial_course(
    outputs: Sequence[Terms],
    start: Tensor,
    rate: float,
    steps: int,
    derivative: Callable[[int, float], float],
    trained: int,
) -> tuple[list[float], list[float], float]:
    """Return deviation and kernel drift of polynomial models after every step, and a bound of their rounding.

    Training takes the first `trained` inputs in turn; `derivative` is that of the loss, of an input's number and its output.
    """
    functions = [polynomial(terms) for terms in outputs]
    majorants = [polynomial(terms, majorant=True) for terms in outputs]
    theta, size = start, start.abs()
    values, rows = _state(functions, theta)
    first, kernel = values, rate * rows @ rows.T
    p = torch.zeros_like(first)
    deviations, drifts, largest = [], [], 1.0
    for s in range(steps):
        values, rows = _state(functions, theta)
        i = s % trained
        c = derivative(i, float(values[i]))
        theta = theta - rate * c * rows[i]
        p[i] += c
        bounds, slopes = _state(majorants, size)
        size = size + rate * abs(c) * slopes[i]
        values, rows = _state(functions, theta)
        bounds, slopes = _state(majorants, size)
        largest = max(largest, float(bounds.max() + rate * (slopes @ slopes.T).max() * (1 + p.abs().sum())))
        deviations.append(float((values - first + kernel @ p).abs().max()))
        drifts.append(float((rate * rows @ rows.T - kernel).abs().max()))
    return deviations, drifts, 1e3 * 2.0**-52 * largest


def _state(functions: Sequence[Callable[[Tensor], Tensor]], theta: Tensor) -> tuple[Tensor, Tensor]:
    return torch.stack([f(theta) for f in functions]), torch.stack([gradient(f, theta) for f in functions])
