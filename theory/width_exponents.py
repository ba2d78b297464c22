"""Exponents in the width n of derivative correlations, each with the reason, for networks of any depth.

Depth 1 is proved from the closed forms: sums of n independent terms obey a law of large numbers if their mean is not 0, and a
central limit theorem otherwise. Deeper networks have the same exponents for generic smooth activations (measured; proved for
polynomial ones by others), and one power less per order for identity and ReLU, whose top correlation is a power of F.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from ..core import InputError

__all__ = [
    "Exponent",
    "Family",
    "largest_power_order",
    "largest_weak_order",
    "one_hidden_exponent",
    "rate_and_output_shift",
    "smooth_exponent",
    "standard_shift",
    "top_exponent",
]

Family: TypeAlias = Literal["smooth", "piecewise_linear"]

_HALF = Fraction(1, 2)


@dataclass(frozen=True)
class Exponent:
    """The order n^value (log n)^logs, or an exact zero (value None), and why."""

    value: Fraction | None
    reason: str
    logs: Fraction = Fraction(0)

    def shifted(self, by: Fraction, reason: str) -> Exponent:
        """Return the exponent moved by `by`; zeros stay."""
        return (
            self if self.value is None or not by else Exponent(self.value + by, f"{self.reason}; {reason}", self.logs)
        )


def smooth_exponent(D: int, d: int) -> Exponent:
    """Return the exponent for a generic smooth φ at γ = ½ and η of order 1.

    Examples
    --------
    >>> [str(smooth_exponent(0, d).value) for d in range(1, 7)]
    ['0', '-1', '-1', '-2', '-2', '-3']
    >>> [str(smooth_exponent(D, 1).value) for D in (1, 2, 3)]
    ['-1/2', '-1', '-1']
    """
    _require(D, d)
    if D == 0:
        parity = "a mean that is not 0: law of large numbers" if d % 2 else "mean 0 by a → −a: central limit theorem"
        return Exponent(Fraction(-(d // 2)), f"sum of n terms n^−{Fraction(d + 1, 2)} with {parity}")
    if D == 1:
        return Exponent(Fraction(-d, 2), f"root of a sum of n squares of order n^−{d + 1}: law of large numbers")
    order = Fraction(d + 1, 2)
    return Exponent(-order, f"maximum of n independent terms n^−{order}", order)


def top_exponent(depth: int, d: int) -> Exponent:
    """Return the exponent of C_{0,d} for identity or ReLU (almost everywhere) with `depth` hidden layers: 1 − d, then zeros.

    Raises
    ------
    InputError
        Without a hidden layer.

    Examples
    --------
    >>> [top_exponent(3, d).value for d in (2, 3, 4, 5)]
    [Fraction(-1, 1), Fraction(-2, 1), Fraction(-3, 1), None]
    """
    _require(0, d)
    if depth < 1:
        raise InputError(f"depth={depth!r}: at least one hidden layer is needed")
    if d > depth + 1:
        return Exponent(None, f"F is a polynomial of degree {depth + 1} along v")
    return Exponent(Fraction(1 - max(d, 1)), "each further order joins two adjacent layers, which gives a factor F/n")


def rate_and_output_shift(D: int, d: int, gamma: Fraction) -> Fraction:
    """Return how output n^−γ with η ∝ n^(2γ−1) moves an exponent: (γ − ½)(D + d − 1)."""
    return (gamma - _HALF) * (D + d - 1)


def standard_shift(D: int, d: int) -> Fraction:
    """Return how the standard parametrization with rate η₀/n moves an exponent: each gradient of hidden weights loses n^−½.

    Of the terms of the closed form those with the fewest factors K → K/n lead: the ones in which output weights move.
    """
    _require(D, d)
    if D == 0:
        return Fraction(-max(d - 1, 0))
    if D == 1:
        return min(_HALF - d, Fraction(0))
    return Fraction(1 - D, 2) if d == 0 else 1 - d - Fraction(D, 2)


def one_hidden_exponent(D: int, d: int, *, gamma: Fraction = _HALF, is_standard: bool = False) -> Exponent:
    """Return the exponent for one hidden layer with a generic smooth φ.

    Parameters
    ----------
    gamma : Fraction
        Output n^−γ, rate η ∝ n^(2γ−1).
    is_standard : bool
        Standard parametrization with rate η₀/n in place of both.

    Examples
    --------
    >>> [str(one_hidden_exponent(0, d, gamma=Fraction(1)).value) for d in range(1, 5)]
    ['0', '-1/2', '0', '-1/2']
    >>> [str(one_hidden_exponent(1, d, is_standard=True).value) for d in range(4)]
    ['0', '-1', '-5/2', '-4']
    """
    exponent = smooth_exponent(D, d)
    if is_standard:
        return exponent.shifted(standard_shift(D, d), "gradients of hidden weights lose n^−½")
    return exponent.shifted(rate_and_output_shift(D, d, gamma), f"output n^−{gamma}, rate n^{2 * gamma - 1}")


def largest_power_order(exponents: Mapping[int, Exponent]) -> Fraction | None:
    """Return the largest p with C_{0,d} = O(m^(−d/2)) for m = n^p and the given d: the minimum of 2|e|/d; None if all vanish.

    Examples
    --------
    >>> largest_power_order({d: smooth_exponent(0, d) for d in range(2, 8)})
    Fraction(2, 3)
    """
    bounds = [-2 * e.value / d for d, e in exponents.items() if d >= 2 and e.value is not None]
    return min(bounds, default=None)


def largest_weak_order(exponents: Mapping[tuple[int, int], Exponent]) -> Fraction | None:
    """Return the largest p with C_{0,d} = O(1/m), d ≥ 2, and C_{D,d} = O(1/√m), D, d ≥ 1, for m = n^p; None if all vanish.

    Examples
    --------
    >>> orders = [(0, 2), (0, 3), (0, 4), (1, 1), (1, 2)]
    >>> largest_weak_order({order: smooth_exponent(*order) for order in orders})
    Fraction(1, 1)
    >>> largest_weak_order({order: one_hidden_exponent(*order, gamma=Fraction(1)) for order in orders})
    Fraction(0, 1)
    """
    bounds = []
    for (D, d), e in exponents.items():
        if e.value is not None and ((D == 0 and d >= 2) or (D >= 1 and d >= 1)):
            bounds.append(-e.value if D == 0 else -2 * e.value)
    return min(bounds, default=None)


def _require(D: int, d: int) -> None:
    if D < 0 or d < 0:
        raise InputError(f"D={D!r}, d={d!r}: numbers from 0 on are needed")
