"""Random networks of several widths and their training, as fields of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ..core import InputError

__all__ = ["ANALYTIC", "EnsembleFields"]

ANALYTIC = ("identity", "square", "cubic", "sin", "erf", "tanh", "sigmoid", "softplus", "gelu", "silu")
"""Activations with all derivatives; ``relu`` is the other one that there is."""

_FEWEST_WIDTHS = 6
_MOST_NUMBERS = 1 << 31  # activations and weights of all networks


@dataclass(frozen=True)
class EnsembleFields:
    """Fully connected networks at random initialization, several of each width.

    Parameters
    ----------
    activation : str
        φ.
    hidden, inputs : int
        Number of hidden layers, and d0.
    parametrization : str
        ``ntk``, ``standard`` (rate η/n) or ``mean_field`` (rate ηn).
    widths : tuple of int
        At least six, increasing, about geometric.
    networks : int
        Of each width.
    rate : number
        η, before powers of the width.
    """

    activation: str = "tanh"
    hidden: int = 1
    inputs: int = 8
    parametrization: Literal["ntk", "standard", "mean_field"] = "ntk"
    widths: tuple[int, ...] = (32, 45, 64, 91, 128, 181, 256, 362, 512)
    networks: int = 200
    rate: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        if self.activation not in (*ANALYTIC, "relu"):
            raise InputError(f"activation={self.activation!r}: choose one of {', '.join((*ANALYTIC, 'relu'))}")
        if len(self.widths) < _FEWEST_WIDTHS or list(self.widths) != sorted(set(self.widths)) or self.widths[0] < 2:
            raise InputError(f"widths={list(self.widths)!r}: {_FEWEST_WIDTHS} increasing widths from 2 on are needed")
        if self.networks < 2 or self.inputs < 1 or not 1 <= self.hidden <= 4:
            raise InputError(
                f"networks={self.networks!r}, inputs={self.inputs!r}, hidden={self.hidden!r}: at least 2 networks, one "
                "input, and 1 to 4 hidden layers are needed"
            )
        if not self.rate > 0:
            raise InputError(f"rate={self.rate!s}: a positive number is needed")
        size = sum(n * (self.inputs + n * (self.hidden - 1)) for n in self.widths) * self.networks
        if size > _MOST_NUMBERS:
            raise InputError(f"widths, networks: {size} weights in all; at most {_MOST_NUMBERS}")

    @property
    def has_one_input_exponent(self) -> bool:
        """Whether the power of the width in m is known for this depth and parametrization."""
        return self.parametrization == "ntk" or self.hidden == 1
