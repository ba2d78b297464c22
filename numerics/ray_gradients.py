"""Ranks of gradients of margin losses along rays of inputs with labels ±1, in arithmetic of 300 digits.

Along a ray exponentials of different sizes meet, and what tells them apart is soon smaller than the rounding of doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from typing import Any, TypeAlias

import numpy as np

from ..core import Reason, Undecided
from .integrators import Vector
from .orbit_gradients import model_values

__all__ = ["rank", "ray_ranks"]

Elements: TypeAlias = "Sequence[tuple[Vector, int]]"
Decimals: TypeAlias = Any  # an array of decimals, which NumPy has no type for

_DIGITS = 300
_KEPT, _NOISE = Decimal("1e-120"), Decimal("1e-240")  # pivots are above the one or below the other

SLOPES: dict[str, Callable[[Decimal], Decimal]] = {
    "logistic": lambda z: -1 / (1 + z.exp()),
    "exponential": lambda z: -(-z).exp(),
    "sigmoid": lambda z: -1 / ((1 + z.exp()) * (1 + (-z).exp())),
    "squared": lambda z: z - 1,
}
"""φ' by the name of the loss."""


def ray_ranks(
    model: str,
    sizes: Sequence[int],
    weights: Sequence[int],
    inputs: Sequence[Sequence[int]],
    elements: Elements,
    loss: str,
) -> tuple[int, int]:
    """Return the ranks of plain and of averaged gradients at many points tx of the rays through `inputs`, labels ±1.

    Raises
    ------
    Undecided
        If pivots leave a rank open.
    """
    with localcontext(Context(prec=_DIGITS)):
        theta = _decimals(weights)
        maps = [(_decimals(g), sign) for g, sign in elements]
        plain, averaged = [], []
        for x in inputs:
            point = _decimals(x)
            first, step = _reach(model, sizes, theta, point, maps)
            # Any piece of the ray without a kink shows what the whole of it does, since gradients are analytic there.
            count = len(maps) * (1 + (sizes[0] if model.startswith("power") else 1)) + 2
            for k in range(1, count + 1):
                values, gradients = _orbit(model, sizes, theta, point * (first + k * step / count), maps)
                plain += list(gradients)
                for y in (1, -1):
                    slopes = np.array([y * _slope(loss, y * z) for z in values], object)
                    row = slopes @ gradients
                    if max(abs(row)) > _NOISE * max(abs(slopes) @ abs(gradients)):  # what cancels is rounding
                        averaged.append(row)
        return rank(plain), rank(averaged)


def rank(rows: Sequence[Decimals]) -> int:
    """Return the rank by elimination with complete pivoting, rows of decimals scaled to largest entry one.

    Raises
    ------
    Undecided
        If a pivot is neither clearly there nor rounding.
    """
    largest = max((abs(entry) for row in rows for entry in row), default=Decimal(0))
    sizes = [max(map(abs, row)) for row in rows]
    kept = [row / size for row, size in zip(rows, sizes, strict=True) if size > _NOISE * largest]
    rest, found = np.array(kept, object), 0
    while rest.size:
        i, j = np.unravel_index(int(np.argmax(np.abs(rest))), rest.shape)
        pivot = abs(rest[i, j])
        if pivot < _NOISE:
            break
        if pivot < _KEPT:
            raise Undecided(Reason.PRECISION, f"a pivot of {float(pivot):.0e} after {found} larger ones")
        rest = rest - np.outer(rest[:, j] / rest[i, j], rest[i])
        rest, found = np.delete(np.delete(rest, i, 0), j, 1), found + 1
    return found


def _reach(model: str, sizes: Sequence[int], theta: Decimals, x: Decimals, maps: Elements) -> tuple[Decimal, Decimal]:
    """Return a t beyond the last kink of the ray, and how far from there values of the model vary by about one."""
    first = Decimal(0)
    if model == "relu-bias":
        rows = theta[sizes[0] :].reshape(sizes[0], -1)
        for g, _ in maps:
            for row in rows:
                if slope := row[:-1] @ (g @ x):
                    first = max(first, -row[-1] / slope)
    start = _orbit(model, sizes, theta, x * (first + Decimal("1e-9")), maps)[0]
    step = Decimal(1)
    for _ in range(60):
        end = _orbit(model, sizes, theta, x * (first + step), maps)[0]
        if max(abs(end - start)) <= 1:
            break
        step /= 2
    return first, step


def _orbit(model: str, sizes: Sequence[int], theta: Decimals, x: Decimals, maps: Elements) -> tuple[Decimals, Decimals]:
    pairs = [(sign, *model_values(model, sizes, theta, g @ x)) for g, sign in maps]
    values = np.array([sign * value for sign, value, _ in pairs], object)
    return values, np.array([sign * gradient for sign, _, gradient in pairs], object)


def _slope(loss: str, z: Decimal) -> Decimal:
    if loss.startswith("polynomial-"):
        m = int(loss.removeprefix("polynomial-"))
        return -m * (1 - z) ** (m - 1)
    return SLOPES[loss](z)


def _decimals(array: Any) -> Decimals:
    flat = [Decimal(round(entry)) for entry in np.asarray(array, object).ravel()]
    return np.array(flat, object).reshape(np.shape(array))
