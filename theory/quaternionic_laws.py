"""Laws of a block of quaternions whose range is conserved: P' = PC with Hermitian C, so that P₂P₁⁻¹ stays for P = (P₁; P₂).

Quaternions are four polynomials, the coefficients of 1, i, j, k.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from typing import TypeAlias

from .._checker_laws import Law
from .._checker_polynomials import Polynomial, added, multiplied, scaled

__all__ = ["RIGHT_UNITS", "Quaternion", "quaternionic_ratios"]

Quaternion: TypeAlias = "tuple[Polynomial, Polynomial, Polynomial, Polynomial]"

RIGHT_UNITS = (
    [[0, 1, 0, 0], [-1, 0, 0, 0], [0, 0, 0, -1], [0, 0, 1, 0]],
    [[0, 0, 1, 0], [0, 0, 0, 1], [-1, 0, 0, 0], [0, -1, 0, 0]],
    [[0, 0, 0, 1], [0, 0, -1, 0], [0, 1, 0, 0], [-1, 0, 0, 0]],
)
"""Images of 1, i, j, k under multiplication by i, j, k from the right, which commutes with that from the left."""

_PRODUCTS = {
    0: ((0, 0, 1), (1, 1, -1), (2, 2, -1), (3, 3, -1)),
    1: ((0, 1, 1), (1, 0, 1), (2, 3, 1), (3, 2, -1)),
    2: ((0, 2, 1), (2, 0, 1), (3, 1, 1), (1, 3, -1)),
    3: ((0, 3, 1), (3, 0, 1), (1, 2, 1), (2, 1, -1)),
}
"""For each unit the pairs of units whose product is plus or minus it."""


def quaternionic_ratios(p: Sequence[Sequence[Quaternion]]) -> Iterator[Law]:
    """Yield the entries of P₂P₁⁻¹ for P ∈ ℍ^{s × 2}, s > 2, with P₁ its first two rows: 8(s − 2) rational functions.

    P₁⁻¹ = (P₁*P₁)⁻¹P₁*, and the Hermitian P₁*P₁ has entries a, b, b̄, c with a, c real and the inverse of its adjugate over
    ac − |b|².
    """
    if len(p) <= 2 or len(p[0]) != 2:
        return
    (p00, p01), (p10, p11), *others = p
    a, c = _sum(_norm(p00), _norm(p10)), _sum(_norm(p01), _norm(p11))
    b = _plus(_times(_conjugate(p00), p01), _times(_conjugate(p10), p11))
    denominator = added(multiplied(a, c), scaled(_norm(b), -1))
    for x, y in others:
        first = _plus(_scaled(x, c), _negated(_times(y, _conjugate(b))))
        second = _plus(_scaled(y, a), _negated(_times(x, b)))
        for left, right in ((p00, p01), (p10, p11)):
            entry = _plus(_times(first, _conjugate(left)), _times(second, _conjugate(right)))
            yield from ((part, denominator) for part in entry)


def _times(p: Quaternion, q: Quaternion) -> Quaternion:
    parts = [added(*(scaled(multiplied(p[i], q[j]), sign) for i, j, sign in _PRODUCTS[unit])) for unit in range(4)]
    return parts[0], parts[1], parts[2], parts[3]


def _plus(p: Quaternion, q: Quaternion) -> Quaternion:
    return added(p[0], q[0]), added(p[1], q[1]), added(p[2], q[2]), added(p[3], q[3])


def _scaled(p: Quaternion, real: Polynomial) -> Quaternion:
    return multiplied(p[0], real), multiplied(p[1], real), multiplied(p[2], real), multiplied(p[3], real)


def _negated(p: Quaternion) -> Quaternion:
    return scaled(p[0], -1), scaled(p[1], -1), scaled(p[2], -1), scaled(p[3], -1)


def _conjugate(p: Quaternion) -> Quaternion:
    return p[0], scaled(p[1], -1), scaled(p[2], -1), scaled(p[3], -1)


def _norm(p: Quaternion) -> Polynomial:
    return reduce(_sum, (multiplied(part, part) for part in p))


def _sum(p: Polynomial, q: Polynomial) -> Polynomial:
    return added(p, q)
