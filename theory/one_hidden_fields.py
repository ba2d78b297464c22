"""Networks with one hidden layer and given weights, as fields of an instance."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from ..core import InputError
from .activation_fields import require_activation
from .matrices import Rows, require_rows

__all__ = ["OneHiddenFields"]


@dataclass(frozen=True)
class OneHiddenFields:
    """F(x) = n^−½ Σ_j a_j φ(w_j·x), with inputs that are already divided by the root of their dimension.

    Parameters
    ----------
    activation : str
        φ: a name, or ``polynomial``.
    output : tuple of numbers
        a_1, …, a_n.
    hidden : rows of numbers
        w_1, …, w_n.
    inputs : rows of numbers
        x, at which F is evaluated, then x_1, …, x_B of the direction v = Σ_b c_b ∇F(x_b).
    c : tuple of numbers
        c_1, …, c_B.
    coefficients : tuple of numbers
        Of a polynomial activation, the constant first.
    rate : number
        η > 0.
    """

    activation: str
    output: tuple[Fraction, ...]
    hidden: Rows
    inputs: Rows
    c: tuple[Fraction, ...]
    coefficients: tuple[Fraction, ...] = ()
    rate: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        require_activation(self.activation, self.coefficients)
        require_rows(self.hidden, "hidden", count=len(self.output))
        require_rows(self.inputs, "inputs", columns=len(self.hidden[0]), count=1 + len(self.c))
        if not self.c:
            raise InputError(
                "c: empty; give one weight for every row of inputs but the first, of which there is at least one"
            )
        if not self.rate > 0:
            raise InputError(f"rate={self.rate!s}: a positive number is needed")
