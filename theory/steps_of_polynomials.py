"""One step of descent on a polynomial model as a polynomial in the loss derivative, and bounds of its coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise

from .._checker_polynomials import Polynomial, partial
from .correlations import evaluated

__all__ = ["chebyshev", "coefficients_by_interpolation", "markov_constants", "step_values"]


def step_values(p: Polynomial, theta: Sequence[Fraction], rate: Fraction, nodes: Sequence[Fraction]) -> list[Fraction]:
    """Return f(t) = F(θ − ηt∇F) − F + ηt|∇F|² at `nodes`, by evaluation of F alone."""
    slopes = [evaluated(partial(p, i), theta) for i in range(len(theta))]
    kernel = rate * sum((s * s for s in slopes), Fraction(0))
    start = evaluated(p, theta)
    moved = ([x - rate * t * s for x, s in zip(theta, slopes, strict=True)] for t in nodes)
    return [evaluated(p, point) - start + t * kernel for t, point in zip(nodes, moved, strict=True)]


def coefficients_by_interpolation(nodes: Sequence[Fraction], values: Sequence[Fraction]) -> list[Fraction]:
    """Return the coefficients of the polynomial of degree below len(nodes) through these points: Newton's form, expanded.

    Examples
    --------
    >>> coefficients_by_interpolation([Fraction(0), Fraction(1), Fraction(2)], [Fraction(1), Fraction(2), Fraction(5)])
    [Fraction(1, 1), Fraction(0, 1), Fraction(1, 1)]
    """
    differences = list(values)
    for level in range(1, len(nodes)):
        for i in range(len(nodes) - 1, level - 1, -1):
            differences[i] = (differences[i] - differences[i - 1]) / (nodes[i] - nodes[i - level])
    found = [Fraction(0)] * len(nodes)
    for node, difference in zip(reversed(nodes), reversed(differences), strict=True):
        found = [difference - node * found[0], *(a - node * b for a, b in pairwise(found))]
    return found


def chebyshev(degree: int) -> list[int]:
    """Return the coefficients of T_degree.

    Examples
    --------
    >>> chebyshev(4)
    [1, 0, -8, 0, 8]
    """
    last, now = [1], [0, 1]
    if degree == 0:
        return last
    for _ in range(degree - 1):
        doubled = [0, *(2 * c for c in now)]
        last, now = now, [a - b for a, b in zip(doubled, [*last, 0, 0], strict=True)]
    return now


def markov_constants(degree: int) -> list[int]:
    """Return for each d the largest |coefficient d| of polynomials of this degree with |f| ≤ 1 on [−1, 1] (V. Markov 1892).

    It is that of T_degree, or of T_(degree−1) where the parity differs, and already |f| ≤ 1 at the extremal points of that
    Chebyshev polynomial suffices.
    """
    even, odd = chebyshev(degree), chebyshev(max(degree - 1, 0))
    return [abs(even[d]) if (degree - d) % 2 == 0 else abs(odd[d]) for d in range(degree + 1)]
