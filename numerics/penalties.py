"""Penalties on weights, as they are added to a loss."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from types import MappingProxyType

from torch import Tensor

from ..core import InputError
from .descent import Objective

__all__ = ["PENALTIES", "with_penalty"]

PENALTIES: Mapping[str, Callable[[Tensor], Tensor]] = MappingProxyType(
    {
        "half_square": lambda weights: (weights**2).sum() / 2,
        "square": lambda weights: (weights**2).sum(),
        "l1": lambda weights: weights.abs().sum(),
    }
)
"""Penalties of a weight vector (m,), by name, each to be multiplied by its strength."""


def with_penalty(objective: Objective, penalty: str, strength: float) -> Objective:
    """Return `objective` plus `strength` times a penalty, a key of `PENALTIES`; it replaces a penalty already there.

    Raises
    ------
    InputError
        For an unknown penalty.
    """
    if penalty not in PENALTIES:
        raise InputError(f"penalty={penalty!r}: not known; choose one of {', '.join(PENALTIES)}")
    return replace(objective, penalty=lambda weights: strength * PENALTIES[penalty](weights))
