"""Chord deviations of ReLU neurons whose fixed part is spread evenly over an interval, whatever the trained parts are.

The pre-activations at the ends are c + t⁰ and c + t¹. Given the trained parts (t⁰, t¹), c is uniform on an interval, or a
single number. Which pairs occur, and how often, is a finite list.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from ..core import InputError

__all__ = ["MixtureFields", "density_bound", "mean_square", "small_ball_bound"]

ZERO = Fraction(0)


@dataclass(frozen=True)
class MixtureFields:
    """A neuron at the two ends of a segment, with a finite list of cases for its trained parts.

    Parameters
    ----------
    chances : tuple of numbers
        Probability of each case; positive, of sum 1.
    first, second : tuples of numbers
        t⁰ and t¹ in each case.
    low, high : tuples of numbers
        In each case the fixed part c is uniform on [low, high]; equal ends are a single number.

    Raises
    ------
    InputError
        If there are not as many of each, chances do not sum to 1, or an interval is reversed.

    Examples
    --------
    >>> one = Fraction(1)
    >>> MixtureFields(chances=(one,), first=(one,), second=(-one,), low=(-one,), high=(one,)).density
    Fraction(1, 2)
    """

    chances: tuple[Fraction, ...]
    first: tuple[Fraction, ...]
    second: tuple[Fraction, ...]
    low: tuple[Fraction, ...]
    high: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        for name in ("first", "second", "low", "high"):
            if len(getattr(self, name)) != len(self.chances):
                raise InputError(
                    f"{name}: {len(getattr(self, name))} numbers; one for each of {len(self.chances)} chances is needed"
                )
        if not self.chances or min(self.chances) <= 0 or sum(self.chances) != 1:
            raise InputError(f"chances={[str(x) for x in self.chances]!r}: positive numbers of sum 1 are needed")
        for i, (low, high) in enumerate(zip(self.low, self.high, strict=True)):
            if low > high:
                raise InputError(f"low[{i}]={str(low)!r}: at most high[{i}]={str(high)!r} is needed")

    @property
    def density(self) -> Fraction | None:
        """The largest conditional density of c given the trained parts; None where c is a single number."""
        widths = [high - low for low, high in zip(self.low, self.high, strict=True)]
        return None if min(widths) == 0 else 1 / min(widths)

    @property
    def small_ball(self) -> Fraction | None:
        """The largest P(|c| ≤ τ)/τ given the trained parts, over τ > 0; None where c is 0 with positive probability."""
        found = [_small_ball(low, high) for low, high in zip(self.low, self.high, strict=True)]
        return None if None in found else max(x for x in found if x is not None)

    @property
    def third_moment(self) -> Fraction:
        """The larger one of E|t⁰|³ and E|t¹|³, which is (βs)³."""
        return max(_mean(self.chances, [abs(t) ** 3 for t in run]) for run in (self.first, self.second))


def _small_ball(low: Fraction, high: Fraction) -> Fraction | None:
    nearest, furthest = (ZERO if low <= 0 <= high else min(abs(low), abs(high))), max(abs(low), abs(high))
    if furthest == 0:
        return None
    if low == high or nearest > 0:
        return 1 / furthest  # P(|c| ≤ τ)/τ grows until everything is inside
    return (2 if low < 0 < high else 1) / (high - low)


def _mean(chances: Sequence[Fraction], values: Sequence[Fraction]) -> Fraction:
    return sum((p * x for p, x in zip(chances, values, strict=True)), ZERO)


def density_bound(fields: MixtureFields) -> Fraction | None:
    """Return κβ³s²/6 = (largest density) · (βs)³/6, which bounds E ξ² at every λ; None without a density.

    Examples
    --------
    >>> one = Fraction(1)
    >>> density_bound(MixtureFields(chances=(one,), first=(one,), second=(-one,), low=(-one,), high=(one,)))
    Fraction(1, 12)
    """
    return None if fields.density is None else fields.density * fields.third_moment / 6


def small_ball_bound(fields: MixtureFields) -> Fraction | None:
    """Return κ₀β³s²/2, with κ₀/s the largest P(|c| ≤ τ)/τ; None if c is 0 with positive probability.

    Examples
    --------
    >>> one = Fraction(1)
    >>> small_ball_bound(MixtureFields(chances=(one,), first=(one,), second=(-one,), low=(-one,), high=(one,)))
    Fraction(1, 2)
    """
    return None if fields.small_ball is None else fields.small_ball * fields.third_moment / 2


def mean_square(fields: MixtureFields, weight: Fraction) -> Fraction:
    """Return E ξ² at λ = `weight`, exactly.

    Examples
    --------
    >>> one = Fraction(1)
    >>> mean_square(
    ...     MixtureFields(chances=(one,), first=(one,), second=(-one,), low=(-one,), high=(one,)), Fraction(1, 2)
    ... )
    Fraction(1, 12)
    """
    cases = zip(fields.first, fields.second, fields.low, fields.high, strict=True)
    return _mean(fields.chances, [_case(*case, weight) for case in cases])


def _case(t0: Fraction, t1: Fraction, low: Fraction, high: Fraction, weight: Fraction) -> Fraction:
    from .chords import tent  # its module loads SymPy, which reading an instance does not need

    if low == high:
        return tent(low + t0, low + t1, weight) ** 2
    # ξ is linear in c between the values at which an end or the point between them changes its sign.
    kinks = {-t0, -t1, -((1 - weight) * t0 + weight * t1)}
    knots = [low, *sorted(c for c in kinks if low < c < high), high]
    total = ZERO
    for a, b in pairwise(knots):
        left, middle, right = (tent(c + t0, c + t1, weight) ** 2 for c in (a, (a + b) / 2, b))
        total += (b - a) * (left + 4 * middle + right) / 6  # Simpson's rule is exact for squares
    return total / (high - low)
