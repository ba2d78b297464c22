"""Fixed-step methods and an accurate flow for θ' = F(θ), and what they say about a quantity that should not change.

A law of the flow drifts under a method of order p as the p-th power of the step; a quantity that is no law drifts by the same
amount at every step size. So conservation is judged by how a drift depends on the step or the tolerance, never by its size.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

from ..core import InternalError

__all__ = [
    "METHODS",
    "Conservation",
    "Field",
    "Vector",
    "adam",
    "conservation",
    "exact_flow",
    "gradient_descent",
    "heavy_ball",
    "implicit_midpoint",
    "runge_kutta",
    "slopes",
    "two_step",
]

Vector: TypeAlias = NDArray[np.float64]
Field: TypeAlias = Callable[[Vector], Vector]
Method: TypeAlias = Callable[[Field, Vector, float, int], Vector]

RTOLS = (1e-6, 1e-8, 1e-10, 1e-12)
"""Tolerances of the flow at which a drift is compared with itself."""

_MOMENTUM = 0.9
_FIXED_POINT = 1e-15


def gradient_descent(field: Field, theta: Vector, step: float, steps: int) -> Vector:
    """Return θ after explicit Euler steps, order 1."""
    for _ in range(steps):
        theta = theta + step * field(theta)
    return theta


def heavy_ball(field: Field, theta: Vector, step: float, steps: int) -> Vector:
    """Return θ after steps with momentum 0.9 from rest, scaled so that the flow is followed as the step goes to 0."""
    velocity = np.zeros_like(theta)
    for _ in range(steps):
        velocity = _MOMENTUM * velocity + step * (1 - _MOMENTUM) * field(theta)
        theta = theta + velocity
    return theta


def two_step(field: Field, theta: Vector, step: float, steps: int) -> Vector:
    """Return θ after Adams–Bashforth steps of order 2, started by an Euler step."""
    last = field(theta)
    theta = theta + step * last
    for _ in range(steps - 1):
        now = field(theta)
        theta = theta + step * (1.5 * now - 0.5 * last)
        last = now
    return theta


def runge_kutta(field: Field, theta: Vector, step: float, steps: int) -> Vector:
    """Return θ after classical Runge–Kutta steps, order 4."""
    for _ in range(steps):
        a = field(theta)
        b = field(theta + step / 2 * a)
        c = field(theta + step / 2 * b)
        d = field(theta + step * c)
        theta = theta + step / 6 * (a + 2 * b + 2 * c + d)
    return theta


def implicit_midpoint(field: Field, theta: Vector, step: float, steps: int) -> Vector:
    """Return θ after implicit midpoint steps, solved by iteration: order 2, exact for quadratic laws."""
    for _ in range(steps):
        slope = field(theta)
        for _ in range(200):
            last, slope = slope, field(theta + step / 2 * slope)
            if np.abs(slope - last).max() <= _FIXED_POINT * max(1.0, np.abs(slope).max()):
                break
        theta = theta + step * slope
    return theta


def adam(field: Field, theta: Vector, step: float, steps: int) -> Vector:
    """Return θ after Adam steps with (0.9, 0.999, 1e-12): not linear in the gradient, so that no range law survives."""
    mean, square = np.zeros_like(theta), np.zeros_like(theta)
    for k in range(1, steps + 1):
        gradient = -field(theta)
        mean = 0.9 * mean + 0.1 * gradient
        square = 0.999 * square + 0.001 * gradient**2
        theta = theta - step * (mean / (1 - 0.9**k)) / (np.sqrt(square / (1 - 0.999**k)) + 1e-12)
    return theta


METHODS: dict[str, Method] = {
    "gd": gradient_descent,
    "heavy_ball": heavy_ball,
    "ab2": two_step,
    "rk4": runge_kutta,
    "midpoint": implicit_midpoint,
    "adam": adam,
}
"""Methods by name; `theorems` compare the slopes they show with their orders."""


def exact_flow(field: Field, theta: Vector, time: float, *, rtol: float = 1e-12) -> Vector:
    """Return θ(time) by DOP853 with atol = rtol/1000, from `theta` (m,) along `field`.

    Raises
    ------
    InternalError
        If the solver gives up.
    """
    solution = solve_ivp(lambda _, y: field(y), (0.0, time), theta, method="DOP853", rtol=rtol, atol=rtol / 1000)
    if not solution.success:
        raise InternalError(f"the flow was not integrated: {solution.message}")
    return np.asarray(solution.y[:, -1], np.float64)


def slopes(steps: Sequence[float], drifts: Sequence[float]) -> list[float]:
    """Return the orders seen between neighboring steps; NaN where a drift is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        orders = np.diff(np.log(np.asarray(drifts, np.float64))) / np.diff(np.log(np.asarray(steps, np.float64)))
    return [float(order) if np.isfinite(order) else float("nan") for order in orders]


@dataclass(frozen=True)
class Conservation:
    """Whether a quantity was conserved along the flow from one start, by its drifts at `RTOLS`; None is no clear answer."""

    conserved: bool | None
    drifts: tuple[float, ...]


def conservation(field: Field, quantity: Field, theta: Vector, time: float) -> Conservation:
    """Return whether `quantity` is conserved from `theta` on.

    Drifts are divided by what a generic quantity would show, ‖∇h‖ max(‖θ_T − θ_0‖, 10⁻³). Conserved: the drift at the finest
    tolerance is at most 10³ of it and no larger than at the coarsest, or not even the tolerance itself: what is conserved at
    every tolerance drifts by rounding, which grows with the number of steps. Not conserved: the two finest agree to 10⁻³ and
    exceed 10⁴ of it. A drift that is small but does not depend on the tolerance is a drift.
    """
    start = quantity(theta)
    drifts = []
    end = theta
    for rtol in RTOLS:
        end = exact_flow(field, theta, time, rtol=rtol)
        drifts.append(float(np.abs(quantity(end) - start).max()))
    scale = _sensitivity(quantity, theta) * max(float(np.linalg.norm(end - theta)), 1e-3)
    relative = tuple(drift / scale for drift in drifts)
    conserved = None
    if relative[-1] <= 1e3 * RTOLS[-1] and relative[-1] <= max(relative[0], RTOLS[-1]):
        conserved = True
    elif relative[-1] > 1e4 * RTOLS[-1] and abs(drifts[-1] - drifts[-2]) <= 1e-3 * drifts[-1]:
        conserved = False
    return Conservation(conserved, relative)


def _sensitivity(quantity: Field, theta: Vector) -> float:
    h = 1e-6  # a scale needs no accuracy
    columns = [(quantity(theta + h * e) - quantity(theta - h * e)) / (2 * h) for e in np.eye(len(theta))]
    return float(np.linalg.norm(columns))
