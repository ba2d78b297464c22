"""Discrete descent on polynomial models in exact arithmetic, and the certificate that bounds its deviation from linear.

A model is a tuple of polynomials F_i(θ), one for each input. With g_i = ∇F_i(θ_0) and rate η, sizes are

    e_{D,d} = η^d/(D! d!) · max over i, j_1, …, j_d of ‖∇^(D+d) F_i (g_j1, …, g_jd)‖,

the norms of C_{D,d} without η^(D/2), which goes with ‖q‖ instead: every number stays rational. Norms of matrices and tensors
are replaced by Frobenius norms, and roots rounded up; both only weaken the certificate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import TypeAlias

from .._checker_polynomials import Polynomial, added, partial, scaled
from .correlations import evaluated

__all__ = [
    "Bound",
    "Point",
    "Step",
    "certificate",
    "descent",
    "root_above",
    "sizes",
]

Point: TypeAlias = "tuple[Fraction, ...]"
Sizes: TypeAlias = "Mapping[tuple[int, int], Fraction]"

_ROOT_BITS = 64


@dataclass(frozen=True)
class Step:
    """The state of training after some steps.

    Parameters
    ----------
    derivative : Fraction
        Loss derivative of the step that led here.
    deviation, kernel_drift : Fraction
        max_i |F_i(θ_s) − F_i(θ_0) + (Θ_0 p_s)_i| and max_ij |Θ_s − Θ_0|_ij.
    displacement : Fraction
        |p_s|, summed over inputs.
    """

    derivative: Fraction
    deviation: Fraction
    kernel_drift: Fraction
    displacement: Fraction


@dataclass(frozen=True)
class Bound:
    """The certificate after some steps, and the sums that it is made of.

    Parameters
    ----------
    series, Jq, mixed : Fraction
        Σ_{d≥2} e_{0,d}|p|^d, the bound of ‖Jq‖, and Σ e_{D,d}|p|^d‖q‖^D over D ≥ 1, (D, d) ≠ (1, 0).
    h, g_squared : Fraction
        h_s and g_s² of the kernel's bound.
    """

    series: Fraction
    Jq: Fraction
    mixed: Fraction
    h: Fraction
    g_squared: Fraction

    @property
    def deviation(self) -> Fraction:
        """R_s."""
        return self.series + self.Jq + self.mixed

    @property
    def kernel_drift(self) -> Fraction:
        """2h_s + g_s²."""
        return 2 * self.h + self.g_squared


def root_above(square: Fraction) -> Fraction:
    """Return √square if that is rational, else a rational number above it by less than one part in 2⁶³.

    Examples
    --------
    >>> root_above(Fraction(9, 4)), 0 < root_above(Fraction(2)) ** 2 - 2 < Fraction(1, 2**60)
    (Fraction(3, 2), True)
    """
    p, q = square.numerator, square.denominator
    if math.isqrt(p) ** 2 == p and math.isqrt(q) ** 2 == q:
        return Fraction(math.isqrt(p), math.isqrt(q))
    bits = _ROOT_BITS + max(0, (q.bit_length() - p.bit_length()) // 2 + 1)
    return Fraction(math.isqrt((p << (2 * bits)) // q) + 1, 1 << bits)


def sizes(outputs: Sequence[Polynomial], start: Point, rate: Fraction) -> Sizes:
    """Return e_{D,d} for all D and d with D + d up to the degree of the model.

    Examples
    --------
    >>> found = sizes([{(0,): 1, (0, 0): Fraction(1, 100)}], (Fraction(0),), Fraction(1))
    >>> [str(found[order]) for order in ((0, 1), (0, 2), (1, 1), (2, 0))]
    ['1', '1/100', '1/50', '1/100']
    """
    degree = max((len(monomial) for p in outputs for monomial in p), default=0)
    gradients = [tuple(evaluated(partial(p, i), start) for i in range(len(start))) for p in outputs]
    found: dict[tuple[int, int], Fraction] = {}
    for p in outputs:
        for d in range(degree + 1):
            for directions in combinations_with_replacement(gradients, d):
                contracted = p
                for v in directions:
                    contracted = added(*(scaled(partial(contracted, i), x) for i, x in enumerate(v)))
                for D in range(degree + 1 - d):
                    size = rate**d / (math.factorial(D) * math.factorial(d)) * _frobenius(contracted, start, D)
                    found[D, d] = max(found.get((D, d), Fraction(0)), size)
    return found


def _frobenius(p: Polynomial, at: Point, order: int) -> Fraction:
    """Return the root of the sum of squares of all partial derivatives of this order, each sequence of variables counted."""
    total = Fraction(0)
    for variables in product(range(len(at)), repeat=order):
        derivative = p
        for i in variables:
            derivative = partial(derivative, i)
        total += evaluated(derivative, at) ** 2
    return root_above(total)


def descent(
    outputs: Sequence[Polynomial],
    start: Point,
    rate: Fraction,
    steps: int,
    derivative: Callable[[int, Fraction], Fraction],
    trained: int,
) -> list[Step]:
    """Return the exact course of descent, one input of the first `trained` at each step, in turn.

    Parameters
    ----------
    derivative : callable
        From the number of an input and its output to the loss derivative.
    """
    slopes = [[partial(p, i) for i in range(len(start))] for p in outputs]

    def gradients(theta: Point) -> list[Point]:
        return [tuple(evaluated(slope, theta) for slope in row) for row in slopes]

    def kernel(rows: Sequence[Point]) -> list[list[Fraction]]:
        return [[rate * sum((x * y for x, y in zip(u, v, strict=True)), Fraction(0)) for v in rows] for u in rows]

    theta, p = start, [Fraction(0)] * len(outputs)
    first_outputs, first_kernel = [evaluated(f, start) for f in outputs], kernel(gradients(start))
    found = []
    for s in range(steps):
        j = s % trained
        c = derivative(j, evaluated(outputs[j], theta))
        theta = tuple(x - rate * c * y for x, y in zip(theta, gradients(theta)[j], strict=True))
        p[j] += c
        linear = [sum((x * y for x, y in zip(row, p, strict=True)), Fraction(0)) for row in first_kernel]
        deviation = max(
            abs(evaluated(f, theta) - f0 + step) for f, f0, step in zip(outputs, first_outputs, linear, strict=True)
        )
        now = kernel(gradients(theta))
        drift = max(abs(x - y) for a, b in zip(now, first_kernel, strict=True) for x, y in zip(a, b, strict=True))
        found.append(Step(c, deviation, drift, sum(map(abs, p), Fraction(0))))
    return found


def certificate(norms: Sizes, course: Sequence[Step], rate: Fraction) -> list[Bound]:
    """Return the certificate after every step, from sizes at the start and the sizes of the loss derivatives alone."""
    q, Jq, p = Fraction(0), Fraction(0), Fraction(0)
    found = []
    for step in course:
        h, g = _increments(norms, p, q)
        q += abs(step.derivative) * rate * g
        Jq += abs(step.derivative) * h
        p = step.displacement
        h, g = _increments(norms, p, q)
        series = sum((e * p**d for (D, d), e in norms.items() if D == 0 and d >= 2), Fraction(0))
        mixed = sum((e * p**d * q**D for (D, d), e in _mixed(norms).items()), Fraction(0))
        found.append(Bound(series, Jq, mixed, h, rate * g**2))
    return found


def _increments(norms: Sizes, p: Fraction, q: Fraction) -> tuple[Fraction, Fraction]:
    """Return h_s, and g_s over √η."""
    h = sum(
        ((d + 1) * norms.get((D - 1, d + 1), Fraction(0)) * p**d * q ** (D - 1) for D, d in _mixed(norms)), Fraction(0)
    )
    g = sum((D * e * p**d * q ** (D - 1) for (D, d), e in _mixed(norms).items()), Fraction(0))
    return h, g


def _mixed(norms: Sizes) -> Sizes:
    return {(D, d): e for (D, d), e in norms.items() if D >= 1 and (D, d) != (1, 0)}
