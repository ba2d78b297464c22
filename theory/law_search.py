"""Search for conservation laws: null spaces modulo a prime, lifted to rational coefficients and then proved as identities."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations_with_replacement
from math import comb

import numpy as np

from .._checker_laws import Law, broken_by, components
from .._checker_polynomials import Monomial, Polynomial, VectorField
from ..core import InputError
from .lie_rank import CompiledFields
from .modular import PRIME, Residues, fraction_of, null_space, random_residues

__all__ = ["LARGEST_SEARCH", "polynomial_laws"]

LARGEST_SEARCH = 6000
"""Most monomials that are searched; the matrix is square, so that 6000 take 300 MB."""

_EXTRA_ROWS = 10


def polynomial_laws(fields: Sequence[VectorField], dimension: int, degree: int, *, seed: int = 0) -> list[Law]:
    """Return a basis of the polynomial laws of degree at most `degree`, without constants; each is proved by its identity.

    Each row of the linear system is the change of all monomials along one combination of all fields at a point of its own:
    more rows at one point would have rank at most dim W there.

    Raises
    ------
    InputError
        If there are more than `LARGEST_SEARCH` monomials.

    Examples
    --------
    >>> from .._checker_polynomials import gradient
    >>> polynomial_laws([gradient({(0, 1): 1})], 2, 2)
    [({(0, 0): -1, (1, 1): 1}, {(): 1})]
    """
    count = comb(dimension + degree, degree) - 1
    if count > LARGEST_SEARCH:
        megabytes = 8 * count * count >> 20
        raise InputError(
            f"degree={degree!r}: {count} monomials in {dimension} parameters need about {megabytes} MB; "
            f"at most {LARGEST_SEARCH} are searched, choose a smaller degree"
        )
    monomials = list(
        chain.from_iterable(combinations_with_replacement(range(dimension), k) for k in range(1, degree + 1))
    )
    generator = np.random.default_rng(seed)
    rows = count + _EXTRA_ROWS
    points = random_residues(generator, rows, dimension)
    letters = -generator.integers(1, PRIME, (rows, 1))
    velocities = CompiledFields(fields, dimension).values(letters, points)
    kernel = null_space(_changes(monomials, points, velocities))
    index = components(fields)
    return [law for law in _lifted(monomials, kernel) if broken_by(law, fields, index) is None]


def _changes(monomials: Sequence[Monomial], points: Residues, velocities: Residues) -> Residues:
    """Entry (i, j) is the derivative of monomial j at point i along velocity i: products with one dual number."""
    changes = np.empty((len(points), len(monomials)), np.int64)
    for j, monomial in enumerate(monomials):
        value, change = np.ones(len(points), np.int64), np.zeros(len(points), np.int64)
        for k in monomial:
            change = (change * points[:, k] + value * velocities[:, k]) % PRIME
            value = value * points[:, k] % PRIME
        changes[:, j] = change
    return changes


def _lifted(monomials: Sequence[Monomial], kernel: Residues) -> Iterator[Law]:
    for row in kernel:
        law: Polynomial = {}
        for j in np.flatnonzero(row).tolist():
            coefficient = fraction_of(int(row[j]))
            law[monomials[j]] = coefficient.numerator if coefficient.denominator == 1 else coefficient
        yield law, {(): 1}
