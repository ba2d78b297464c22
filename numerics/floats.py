"""Exact rows as arrays of floats."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["FloatArray", "floats"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def floats(rows: Sequence[Sequence[Fraction | int]]) -> FloatArray:
    """Return exact rows as an array, each number rounded to the nearest float."""
    return np.array([[float(x) for x in row] for row in rows], np.float64)
