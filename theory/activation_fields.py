"""Activations as fields of an instance: their names, and what is known of them by name."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from ..core import InputError

__all__ = ["ANALYTIC", "ENTIRE", "KINKED", "require_activation"]

ENTIRE = ("identity", "polynomial", "erf", "sin", "gelu", "gaussian")
"""Analytic in the whole plane: every Taylor series converges everywhere. ``gaussian`` is exp(−z²)."""

ANALYTIC = (*ENTIRE, "tanh", "sigmoid", "softplus", "silu", "arctan", "lorentzian")
"""Analytic on the real line; ``lorentzian`` is 1/(1 + z²)."""

KINKED = ("relu", "leaky_relu", "elu", "hard_tanh")
"""Not analytic; they have names so that a statement can say that it does not apply to them."""


def require_activation(name: str, coefficients: Sequence[Fraction]) -> None:
    """Raise InputError unless this is the name of an activation, with coefficients iff it is a polynomial."""
    if name not in (*ANALYTIC, *KINKED):
        raise InputError(f"activation={name!r}: choose one of {', '.join((*ANALYTIC, *KINKED))}")
    if (name == "polynomial") != bool(coefficients):
        raise InputError(
            f"coefficients: {len(coefficients)} of them; a polynomial has coefficients, and nothing else does"
        )
