"""Sparse polynomials with exact coefficients, and polynomial vector fields (standard library only).

A polynomial is a dictionary from monomials to coefficients that are not 0; a monomial is the ascending tuple of its
variables, each repeated by its exponent: ``{(0, 0): 1, (1, 2): -3}`` is x0² − 3 x1 x2. A vector field is a dictionary from
variables to the components that are not 0.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import TypeAlias

__all__ = [
    "Monomial",
    "Number",
    "Polynomial",
    "VectorField",
    "added",
    "along",
    "constant",
    "gradient",
    "multiplied",
    "partial",
    "power",
    "product",
    "residue",
    "scaled",
    "text",
    "value_and_gradient",
    "variable",
]

Number: TypeAlias = "int | Fraction"
Monomial: TypeAlias = "tuple[int, ...]"
Polynomial: TypeAlias = "dict[Monomial, Number]"
VectorField: TypeAlias = "dict[int, Polynomial]"


def variable(i: int) -> Polynomial:
    """Return the variable number `i`."""
    return {(i,): 1}


def constant(value: Number) -> Polynomial:
    """Return the constant polynomial `value`."""
    return {(): value} if value else {}


def added(*terms: Polynomial) -> Polynomial:
    """Return the sum of `terms`."""
    total: defaultdict[Monomial, Number] = defaultdict(int)
    for term in terms:
        for monomial, coefficient in term.items():
            total[monomial] += coefficient
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def scaled(p: Polynomial, factor: Number) -> Polynomial:
    """Return `factor` times `p`."""
    return {monomial: factor * coefficient for monomial, coefficient in p.items()} if factor else {}


def multiplied(p: Polynomial, q: Polynomial) -> Polynomial:
    """Return the product of `p` and `q`.

    Examples
    --------
    >>> multiplied({(0,): 1, (1,): 1}, {(0,): 1, (1,): -1})
    {(0, 0): 1, (1, 1): -1}
    """
    total: defaultdict[Monomial, Number] = defaultdict(int)
    for a, ca in p.items():
        for b, cb in q.items():
            total[tuple(sorted(a + b))] += ca * cb
    return {monomial: coefficient for monomial, coefficient in total.items() if coefficient}


def product(factors: Iterable[Polynomial]) -> Polynomial:
    """Return the product of `factors`; 1 if there are none."""
    total = constant(1)
    for factor in factors:
        total = multiplied(total, factor)
    return total


def power(p: Polynomial, exponent: int) -> Polynomial:
    """Return `p` to the power `exponent` ≥ 0."""
    return product([p] * exponent)


def partial(p: Polynomial, i: int) -> Polynomial:
    """Return the derivative of `p` by variable `i`."""
    derivative: Polynomial = {}
    for monomial, coefficient in p.items():
        if exponent := monomial.count(i):
            at = monomial.index(i)
            derivative[monomial[:at] + monomial[at + 1 :]] = exponent * coefficient
    return derivative


def gradient(p: Polynomial) -> VectorField:
    """Return the Euclidean gradient of `p`.

    Examples
    --------
    >>> gradient({(0, 0, 1): 1})
    {0: {(0, 1): 2}, 1: {(0, 0): 1}}
    """
    return {i: partial(p, i) for i in sorted({i for monomial in p for i in monomial})}


def along(field: VectorField, p: Polynomial) -> Polynomial:
    """Return ⟨∇p, field⟩, the derivative of `p` along `field`."""
    slopes = gradient(p)
    return added(*(multiplied(slope, field[i]) for i, slope in slopes.items() if i in field))


def value_and_gradient(p: Polynomial, point: Sequence[int], prime: int) -> tuple[int, dict[int, int]]:
    """Return the value and the non-zero partial derivatives of `p` at an integer `point`, modulo `prime`."""
    value, slopes = 0, defaultdict[int, int](int)
    for monomial, coefficient in p.items():
        c = residue(coefficient, prime)
        total = c
        for i in monomial:
            total = total * point[i] % prime
        value += total
        for k, i in enumerate(monomial):
            rest = c
            for j in monomial[:k] + monomial[k + 1 :]:
                rest = rest * point[j] % prime
            slopes[i] += rest
    return value % prime, {i: s % prime for i, s in slopes.items() if s % prime}


def residue(number: Number, prime: int) -> int:
    """Return `number` modulo `prime`.

    Raises
    ------
    ValueError
        If the denominator is divisible by `prime`.
    """
    if isinstance(number, int):
        return number % prime
    return number.numerator * pow(number.denominator, -1, prime) % prime


def text(p: Mapping[Monomial, Number], names: Sequence[str]) -> str:
    """Return `p` as people write it.

    Examples
    --------
    >>> text({(0, 0): 1, (0, 1): Fraction(-3, 2), (): 5}, ["u", "v"])
    '5 + u^2 - 3/2*u*v'
    """
    written = ""
    for monomial in sorted(p, key=lambda m: (len(m), m)):
        coefficient = p[monomial]
        factors = [
            names[i] + (f"^{exponent}" if (exponent := monomial.count(i)) > 1 else "") for i in sorted(set(monomial))
        ]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = ("-" if coefficient < 0 else "") if not written else (" - " if coefficient < 0 else " + ")
        written += sign + "*".join(factors)
    return written or "0"
