"""Barriers along the segment between two networks: four numbers called so, each with its definition."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal, TypeAlias

import numpy as np

from ..core import InputError
from .realization import FloatArray

__all__ = ["BARRIERS", "Barrier", "BarrierName", "barrier"]

BarrierName: TypeAlias = Literal["above_chord", "above_mean", "relative_accuracy", "midpoint_above_worse"]

BARRIERS = MappingProxyType(
    {
        "above_chord": "max over t of L(t) - (1 - t) L(0) - t L(1)",
        "above_mean": "max over t of L(t) - (L(0) + L(1))/2",
        "relative_accuracy": "100 (min over t of A(t) - max(A(0), A(1)))/max(A(0), A(1)), in percent, at most 0",
        "midpoint_above_worse": "L(1/2) - max(L(0), L(1))",
    }
)
"""The definitions in use, by name: L is a loss, A an accuracy, t runs from one network to the other."""


@dataclass(frozen=True)
class Barrier:
    """A barrier and what it is.

    Parameters
    ----------
    value : float
        In the units of the loss, or percent of accuracy. Barriers above the chord or the worse end can be negative.
    definition : str
        Key of `BARRIERS`.
    at : float
        Where along the segment it was found.
    """

    value: float
    definition: BarrierName
    at: float


def barrier(curve: FloatArray, definition: BarrierName = "above_chord") -> Barrier:
    """Return the barrier of a curve of losses (or accuracies) at equally spaced points from one end to the other.

    Raises
    ------
    InputError
        For fewer than three points, an unknown definition, NaN, or a midpoint that is not among the points.
    """
    values = np.asarray(curve, np.float64)
    n = len(values)
    if definition not in BARRIERS:
        raise InputError(f"definition={definition!r}: choose one of {', '.join(BARRIERS)}")
    if values.ndim != 1 or n < 3 or not np.isfinite(values).all():
        raise InputError(f"curve: {values!r}; three finite values or more are needed, the first and last at the ends")
    along = np.linspace(0, 1, n)
    if definition == "midpoint_above_worse":
        if n % 2 == 0:
            raise InputError(f"curve: {n} points do not include the middle; use an odd number")
        return Barrier(float(values[n // 2] - max(values[0], values[-1])), definition, 0.5)
    if definition == "relative_accuracy":
        best, at = float(max(values[0], values[-1])), int(values.argmin())
        return Barrier(100 * (float(values[at]) - best) / best if best else -math.inf, definition, float(along[at]))
    ends = (1 - along) * values[0] + along * values[-1] if definition == "above_chord" else (values[0] + values[-1]) / 2
    above = values - ends
    at = int(above.argmax())
    return Barrier(float(above[at]), definition, float(along[at]))
