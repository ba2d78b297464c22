"""Random networks with one hidden layer at several widths, as fields of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from ..core import InputError
from .activation_fields import require_activation

__all__ = ["WidthFields"]

_LEAST_WIDTHS = 6
_LARGEST_ORDER = 8
_MOST_NEURONS = 1 << 27


@dataclass(frozen=True)
class WidthFields:
    """A random hidden layer at one input x, its correlations along ∇F(x), and the widths at which they are drawn.

    Parameters
    ----------
    activation : str
        φ.
    coefficients : tuple of numbers
        Of a polynomial φ, the constant first.
    kernel : number
        K = |x|²/d0.
    orders : rows of two numbers
        (D, d) of the correlations.
    widths : tuple of int
        At least six, increasing, about geometric.
    networks : int
        How many are drawn at each width.
    gamma : number
        Output n^−γ with rate η₀ n^(2γ−1).
    parametrization : str
        ``output``, as above, or ``standard``: output weights of variance 1/n, and one rate η₀/n.
    output_mean : number
        Mean of the output weights, for controls.
    paired : bool
        Whether neurons come in pairs with opposite output weights, for controls.
    """

    activation: str
    coefficients: tuple[Fraction, ...] = ()
    kernel: Fraction = Fraction(1)
    orders: tuple[tuple[int, int], ...] = ((0, 1), (0, 2), (0, 3), (1, 1), (2, 0))
    widths: tuple[int, ...] = (64, 128, 256, 512, 1024, 2048, 4096)
    networks: int = 400
    gamma: Fraction = Fraction(1, 2)
    parametrization: Literal["output", "standard"] = "output"
    output_mean: Fraction = Fraction(0)
    paired: bool = False

    def __post_init__(self) -> None:
        require_activation(self.activation, self.coefficients)
        if not self.kernel > 0:
            raise InputError(f"kernel={self.kernel!s}: a positive number is needed")
        if not self.orders or any(min(order) < 0 or not 0 < sum(order) <= _LARGEST_ORDER for order in self.orders):
            raise InputError(f"orders={self.orders!r}: pairs (D, d) with 1 <= D + d <= {_LARGEST_ORDER} are needed")
        if len(set(self.orders)) < len(self.orders):
            raise InputError(f"orders={self.orders!r}: each pair once")
        widths = list(self.widths)
        if len(widths) < _LEAST_WIDTHS or widths != sorted(set(widths)) or widths[0] < 2:
            raise InputError(f"widths={widths!r}: at least {_LEAST_WIDTHS} increasing widths from 2 on are needed")
        if self.networks < 20 or self.networks * sum(widths) > _MOST_NEURONS:
            raise InputError(
                f"networks={self.networks!r}: at least 20, and at most {_MOST_NEURONS} neurons in all, are needed"
            )
        if self.paired and any(n % 2 for n in widths):
            raise InputError(f"widths={widths!r}: pairs of neurons need even widths")
        if self.parametrization == "standard" and (self.gamma != Fraction(1, 2) or any(D >= 2 for D, _ in self.orders)):
            raise InputError(
                f"gamma={self.gamma!s}, orders={self.orders!r}: the standard parametrization has gamma 1/2, and its "
                "exponents are known for D <= 1"
            )

    @property
    def is_standard(self) -> bool:
        """Whether the parametrization is the standard one."""
        return self.parametrization == "standard"

    def vanishes(self, D: int, d: int) -> bool:
        """Whether C_{D,d} is zero for all weights: φ is a polynomial of degree below D + d − 1."""
        if self.activation == "identity":
            return D + d - 1 > 1
        nonzero = [k for k, c in enumerate(self.coefficients) if c]
        return self.activation == "polynomial" and D + d - 1 > max(nonzero, default=-1)
