"""Hypotheses that are polynomials in their parameters, as fields of an instance: one polynomial for every input."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from .._checker_architectures import Malformed
from .._checker_polynomials import Polynomial
from .._checker_text import read_polynomial
from ..core import InputError

__all__ = ["PolynomialFields", "Terms"]

Terms = tuple[tuple[Fraction, tuple[int, ...]], ...]
"""A polynomial as plain data: coefficients, and for each the exponents of all parameters."""

_MOST_PARAMETERS = 12
_MOST_INPUTS = 8


@dataclass(frozen=True)
class PolynomialFields:
    """F(θ)(x) for inputs x_0, x_1, …, a point and a learning rate.

    Parameters
    ----------
    parameters : tuple of str
        Names of the entries of θ.
    functions : tuple of str
        F(θ)(x_0), F(θ)(x_1), …: polynomials in them such as ``"a*b^2 - 1/2*c"``.
    theta : tuple of numbers
        The point.
    rate : number
        η > 0.
    """

    parameters: tuple[str, ...]
    functions: tuple[str, ...]
    theta: tuple[Fraction, ...]
    rate: Fraction

    def __post_init__(self) -> None:
        names = self.parameters
        if not 1 <= len(names) <= _MOST_PARAMETERS or len(set(names)) < len(names):
            raise InputError(f"parameters={names!r}: 1 to {_MOST_PARAMETERS} different names are needed")
        if not 1 <= len(self.functions) <= _MOST_INPUTS:
            raise InputError(
                f"functions: {len(self.functions)} of them; 1 to {_MOST_INPUTS} are needed, one for each input"
            )
        if len(self.theta) != len(names):
            raise InputError(f"theta: {len(self.theta)} numbers; {len(names)} are needed, one for each parameter")
        if not self.rate > 0:
            raise InputError(f"rate={self.rate!s}: a positive number is needed")
        _ = self.polynomials  # read once, here

    @cached_property
    def polynomials(self) -> tuple[Polynomial, ...]:
        """The functions, read."""
        return tuple(_read(i, function, self.parameters) for i, function in enumerate(self.functions))

    @property
    def degree(self) -> int:
        """Largest degree in the parameters."""
        return max((len(monomial) for p in self.polynomials for monomial in p), default=0)

    @property
    def terms(self) -> tuple[Terms, ...]:
        """The functions as plain data."""
        size = len(self.parameters)
        return tuple(
            tuple((Fraction(c), tuple(m.count(i) for i in range(size))) for m, c in p.items()) for p in self.polynomials
        )

    def require_inputs(self, field: str, indices: tuple[int, ...]) -> None:
        """Raise InputError, naming `field`, unless all `indices` are numbers of inputs."""
        if any(not 0 <= i < len(self.functions) for i in indices):
            raise InputError(
                f"{field}={list(indices)!r}: numbers of inputs, 0 to {len(self.functions) - 1}, are needed"
            )

    def require_vector(self, field: str, vector: tuple[Fraction, ...]) -> None:
        """Raise InputError, naming `field`, unless `vector` has an entry for each parameter."""
        if len(vector) != len(self.parameters):
            raise InputError(
                f"{field}: {len(vector)} numbers; {len(self.parameters)} are needed, one for each parameter"
            )


def _read(i: int, function: str, parameters: tuple[str, ...]) -> Polynomial:
    try:
        return read_polynomial(function, parameters)
    except Malformed as error:
        raise InputError(f"functions[{i}]: {error}") from None
