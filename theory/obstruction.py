"""How likely a random network with one hidden layer and one output starts obstructed.

Unit k has incoming weights w_k (D of them, its bias included) and the output weight v_k. It is locked if
``|w_k|^2 - v_k^2 < 0``: then the sign of v_k can never change. For normal weights with variances s1 and s2 this has
probability P(F > D s1/s2), F the quotient of χ²_1 and χ²_D/D; for uniform ones it is the volume of a ball, averaged.
"""

from __future__ import annotations

from math import comb
from typing import Literal, TypeAlias

import mpmath

from ..core import InputError

__all__ = [
    "Scheme",
    "all_locked_negative_probability",
    "f_survival",
    "locked_probability",
    "some_locked_probability",
    "unreachable_probability",
]

Scheme: TypeAlias = Literal["kaiming_normal", "xavier_normal", "torch_default"]

_DIGITS = 30


def f_survival(x: float, degrees: int) -> float:
    """Return P(F > x) for F with 1 and `degrees` degrees of freedom: the regularized beta function I_{D/(D+x)}(D/2, 1/2).

    Raises
    ------
    InputError
        For arguments at which there is no such distribution.

    Examples
    --------
    >>> round(f_survival(10, 2), 12), round(1 - (10 / 12) ** 0.5, 12)
    (0.087129070825, 0.087129070825)
    """
    if degrees < 1 or not x >= 0:
        raise InputError(
            f"x={x!r}, degrees={degrees!r}: x is not negative, and there is at least one degree of freedom"
        )
    with mpmath.workdps(_DIGITS):
        D = mpmath.mpf(degrees)
        return float(mpmath.betainc(D / 2, mpmath.mpf(1) / 2, 0, D / (D + x), regularized=True))


def locked_probability(inputs: int, hidden: int, scheme: Scheme, *, bias: bool = False) -> float:
    """Return the probability that a hidden unit is locked at initialization.

    Parameters
    ----------
    inputs, hidden : int
        Numbers d of inputs and l of hidden units; there is one output.
    scheme : str
        ``kaiming_normal`` (variance 2/fan_in), ``xavier_normal`` (2/(fan_in + fan_out)), both without bias, or
        ``torch_default`` (`torch.nn.Linear`: uniform within 1/sqrt(fan_in), biases too).
    bias : bool
        Whether hidden units have a bias.

    Raises
    ------
    InputError
        For a bias with normal weights, where its distribution is not defined, and for ``torch_default`` with fewer hidden
        units than inputs, where the ball does not fit in the cube.

    Examples
    --------
    >>> round(locked_probability(2, 10, "torch_default"), 6), round(float(mpmath.pi / 60), 6)
    (0.05236, 0.05236)
    """
    if inputs < 1 or hidden < 1:
        raise InputError(f"inputs={inputs!r}, hidden={hidden!r}: positive integers are needed")
    if scheme == "torch_default":
        return _ball_in_cube(inputs, hidden, inputs + bias)
    if bias:
        raise InputError(f"bias={bias!r}: {scheme} says nothing about biases; leave them out or choose 'torch_default'")
    ratio = hidden if scheme == "kaiming_normal" else inputs * (hidden + 1) / (inputs + hidden)
    return f_survival(ratio, inputs)


def some_locked_probability(locked: float, hidden: int) -> float:
    """Return the probability that at least one of `hidden` units is locked, each with probability `locked`."""
    return 1 - (1 - locked) ** hidden


def all_locked_negative_probability(locked: float, hidden: int) -> float:
    """Return the probability that all units are locked with negative output weights."""
    return (locked / 2) ** hidden


def unreachable_probability(locked: float, hidden: int, negatives: int) -> float:
    """Return the probability that `negatives` negative output weights, and no more, cannot be reached from the start.

    The reachable numbers are those from the number of units locked negative to `hidden` minus the number locked positive.

    Raises
    ------
    InputError
        For more negative weights than hidden units.

    Examples
    --------
    >>> unreachable_probability(1.0, 2, 1), unreachable_probability(0.5, 1, 0)
    (0.5, 0.25)
    """
    if not 0 <= negatives <= hidden:
        raise InputError(f"negatives={negatives!r}: a number from 0 to {hidden} is needed")
    free, side = 1 - locked, locked / 2
    reachable = sum(
        comb(hidden, minus) * comb(hidden - minus, plus) * side ** (minus + plus) * free ** (hidden - minus - plus)
        for minus in range(negatives + 1)
        for plus in range(hidden - negatives + 1)
    )
    return 1 - reachable


def _ball_in_cube(inputs: int, hidden: int, degrees: int) -> float:
    """Return the mean volume of the ball of radius abs(v), v uniform within 1/sqrt(hidden), divided by that of the cube."""
    if hidden < inputs:
        raise InputError(
            f"hidden={hidden!r}: at least as many as inputs ({inputs}) are needed, or the ball leaves the cube of the weights"
        )
    with mpmath.workdps(_DIGITS):
        D = mpmath.mpf(degrees)
        volume = mpmath.pi ** (D / 2) / mpmath.gamma(D / 2 + 1)
        return float(volume / (D + 1) * (mpmath.sqrt(mpmath.mpf(inputs) / hidden) / 2) ** D)
