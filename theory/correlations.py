"""Derivative correlations of polynomial hypotheses, exactly: of numbers at a point, or as polynomials in the parameters.

    C_{D,d} = η^(D/2+d)/(D! d!) ∇^(D+d) F(x) (∇F(x_1), …, ∇F(x_d)),   D free indices

The free indices are always contracted with vectors √η u, so that only whole powers of η occur. The gradients are frozen: they
are vectors at θ, and nothing differentiates them again.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import factorial

from .._checker_polynomials import Polynomial, added, constant, multiplied, partial, scaled, text, variable

__all__ = [
    "PolynomialVector",
    "added",
    "constant",
    "correlation",
    "derivative_along",
    "evaluated",
    "gradient_vector",
    "lowered_order_factor",
    "normalization",
    "scaled",
    "series_at_displacement",
    "series_of_step",
    "shifted",
    "text",
    "variable",
]

PolynomialVector = Sequence[Polynomial]


def evaluated(p: Polynomial, point: Sequence[Fraction]) -> Fraction:
    """Return the value of `p` at `point`.

    Examples
    --------
    >>> evaluated({(0, 1): 2, (): 1}, (Fraction(1, 2), Fraction(3)))
    Fraction(4, 1)
    """
    total = Fraction(0)
    for monomial, coefficient in p.items():
        value = Fraction(coefficient)
        for i in monomial:
            value *= point[i]
        total += value
    return total


def gradient_vector(p: Polynomial, size: int) -> list[Polynomial]:
    """Return the `size` partial derivatives of `p`."""
    return [partial(p, i) for i in range(size)]


def derivative_along(p: Polynomial, vectors: Sequence[PolynomialVector]) -> Polynomial:
    """Return ∇^k p (v_1, …, v_k), where the vectors, with polynomial entries, are not differentiated.

    Examples
    --------
    >>> derivative_along({(0, 0): 1}, [[{(0,): 2}], [{(0,): 2}]])
    {(0, 0): 8}
    """
    if not vectors:
        return p
    first, *rest = vectors
    parts = [(entry, partial(p, i)) for i, entry in enumerate(first) if entry]
    return added(*(multiplied(entry, derivative_along(slope, rest)) for entry, slope in parts if slope))


def normalization(D: int, d: int, *, free_factorial: bool = True) -> Fraction:
    """Return 1/(D! d!), or 1/d! where the free indices carry no factorial."""
    return Fraction(1, (factorial(D) if free_factorial else 1) * factorial(d))


def correlation(
    functions: Sequence[Polynomial],
    free: Sequence[PolynomialVector],
    copies: Sequence[int],
    rate: Polynomial,
    size: int,
    *,
    output: int = 0,
    free_factorial: bool = True,
) -> Polynomial:
    """Return C_{D,d}[√η u_1, …, √η u_D; x_1, …, x_d] at the input number `output`, as a polynomial.

    Parameters
    ----------
    functions : sequence of polynomials
        F(θ)(x) for all inputs.
    free : sequence of vectors
        u_1, …, u_D, with polynomial entries.
    copies : sequence of int
        Numbers of the inputs x_1, …, x_d.
    rate : polynomial
        η, in whatever variable.
    size : int
        P.

    Examples
    --------
    The second order of F = t³ is η²/2 · 6t · (3t²)² = 27 η² t⁵.

    >>> correlation([{(0, 0, 0): 1}], [], [0, 0], {(1,): 1}, 1)
    {(0, 0, 0, 0, 0, 1, 1): Fraction(27, 1)}
    """
    vectors = [*free, *(gradient_vector(functions[i], size) for i in copies)]
    value = derivative_along(functions[output], vectors)
    for _ in vectors:
        value = multiplied(value, rate)
    return scaled(value, normalization(len(free), len(copies), free_factorial=free_factorial))


def lowered_order_factor(D: int, d: int, *, contracted: int = 1, free_factorial: bool = True) -> Fraction:
    """Return f with C_{D,d}[J^k] = f · C_{D−k,d+k} for k = `contracted` free indices: (d+1)/D for one, binom(D+d, D) for all.

    Examples
    --------
    >>> lowered_order_factor(2, 1), lowered_order_factor(2, 1, contracted=2)
    (Fraction(1, 1), Fraction(3, 1))
    """
    below = normalization(D - contracted, d + contracted, free_factorial=free_factorial)
    return normalization(D, d, free_factorial=free_factorial) / below


def series_of_step(
    functions: Sequence[Polynomial],
    theta: Sequence[Fraction],
    rate: Fraction,
    c: Sequence[Fraction],
    free: Sequence[Sequence[Fraction]] = (),
    *,
    signs: bool = True,
    factorials: bool = True,
) -> Fraction:
    """Return Σ_{d ≥ 1} (−1)^d C_{D,d} c^{⊗d} at input 0: the change of F (D = 0), or of a derivative, in one step of descent.

    The sum over inputs is that of one vector v = Σ_b c_b ∇F(x_b), by linearity. For polynomials it is finite.

    Parameters
    ----------
    c : sequence of Fraction
        Loss derivative at every input.
    free : sequence of vectors
        u_1, …, u_D; contracted as √η u.
    signs, factorials : bool
        Whether the sum carries (−1)^d and 1/(D! d!); false variants leave them out.
    """
    size = len(theta)
    v = [Fraction(0)] * size
    for weight, p in zip(c, functions, strict=True):
        v = [old + weight * evaluated(partial(p, i), theta) for i, old in enumerate(v)]
    fixed = [[constant(entry) for entry in u] for u in free]
    total, D, d = Fraction(0), len(free), 1
    derived = derivative_along(functions[0], fixed)
    frozen = [constant(entry) for entry in v]
    while derived := derivative_along(derived, [frozen]):
        factor = normalization(D, d) if factorials else Fraction(1)
        total += (-1 if signs and d % 2 else 1) * factor * rate ** (D + d) * evaluated(derived, theta)
        d += 1
    return total


def series_at_displacement(
    functions: Sequence[Polynomial],
    theta: Sequence[Fraction],
    rate: Fraction,
    p: Sequence[Fraction],
    q: Sequence[Fraction],
    u: Sequence[Fraction] | None = None,
    *,
    factorials: bool = True,
    choices: bool = True,
) -> Fraction:
    """Return Σ_{D,d} C_{D,d}[(−p)^d; (√η q)^D] at input 0: F(θ + η(−Σ_b p_b ∇F(x_b) + q)) by the series.

    Parameters
    ----------
    u : sequence of Fraction, optional
        In place of F its derivative along √η u is returned, Σ_{D ≥ 1, d} D C_{D,d}[(−p)^d; (√η q)^(D−1), √η u].
    factorials, choices : bool
        Whether the sum carries 1/(D! d!) and, with `u`, the factor D; false variants leave them out.
    """
    size = len(theta)
    v = [
        sum((weight * evaluated(partial(f, i), theta) for weight, f in zip(p, functions, strict=True)), Fraction(0))
        for i in range(size)
    ]
    along, aside = [constant(-entry) for entry in v], [constant(entry) for entry in q]
    total, row, D = Fraction(0), functions[0], 0
    if u is not None:
        row, D = derivative_along(row, [[constant(entry) for entry in u]]), 1
    while row:
        cell, d = row, 0
        while cell:
            factor = normalization(D, d) if factorials else Fraction(1)
            factor *= D if u is not None and choices else 1
            total += factor * rate ** (D + d) * evaluated(cell, theta)
            cell, d = derivative_along(cell, [along]), d + 1
        row, D = derivative_along(row, [aside]), D + 1
    return total


def shifted(theta: Sequence[Fraction], direction: Sequence[Fraction], factor: Fraction) -> tuple[Fraction, ...]:
    """Return θ + factor · direction."""
    return tuple(t + factor * v for t, v in zip(theta, direction, strict=True))
