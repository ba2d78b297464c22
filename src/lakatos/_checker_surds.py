"""Numbers a + b√d with rational a, b (standard library only): what the matrices of small groups are made of."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

__all__ = ["Entry", "Surd", "conjugate_free", "sqrt"]


@dataclass(frozen=True)
class Surd:
    """The number ``rational + coefficient * √radicand`` with a fixed square-free radicand > 1.

    Examples
    --------
    >>> (sqrt(5) + 1) * (sqrt(5) - 1) == 4
    True
    """

    rational: Fraction
    coefficient: Fraction
    radicand: int

    def _read(self, other: Entry) -> Surd:
        if not isinstance(other, Surd):
            return Surd(Fraction(other), Fraction(0), self.radicand)
        if other.radicand != self.radicand:
            raise ValueError(f"√{self.radicand} and √{other.radicand} do not mix; keep to one square root in a group")
        return other

    def __add__(self, other: Entry) -> Surd:
        o = self._read(other)
        return Surd(self.rational + o.rational, self.coefficient + o.coefficient, self.radicand)

    def __neg__(self) -> Surd:
        return Surd(-self.rational, -self.coefficient, self.radicand)

    def __sub__(self, other: Entry) -> Surd:
        return self + -self._read(other)

    def __mul__(self, other: Entry) -> Surd:
        o = self._read(other)
        return Surd(
            self.rational * o.rational + self.radicand * self.coefficient * o.coefficient,
            self.rational * o.coefficient + self.coefficient * o.rational,
            self.radicand,
        )

    __radd__ = __add__
    __rmul__ = __mul__

    def __rsub__(self, other: Entry) -> Surd:
        return -self + other

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (int, Fraction)):
            return not self.coefficient and self.rational == other
        return isinstance(other, Surd) and (self.rational, self.coefficient) == (other.rational, other.coefficient)

    def __hash__(self) -> int:
        return hash((self.rational, self.coefficient)) if self.coefficient else hash(self.rational)

    def __bool__(self) -> bool:
        return bool(self.rational or self.coefficient)

    def __float__(self) -> float:
        return float(self.rational) + float(self.coefficient) * math.sqrt(self.radicand)

    def __str__(self) -> str:
        return f"{self.rational}+{self.coefficient}*sqrt({self.radicand})"


Entry: TypeAlias = "int | Fraction | Surd"
"""An entry of a matrix of a group."""


def sqrt(radicand: int) -> Surd:
    """Return √radicand."""
    return Surd(Fraction(0), Fraction(1), radicand)


def conjugate_free(number: Entry) -> int | Fraction:
    """Return `number` as a rational.

    Raises
    ------
    ValueError
        If it is irrational.
    """
    if not isinstance(number, Surd):
        return number
    if number.coefficient:
        raise ValueError(f"{number} is irrational")
    return number.rational
