"""Derivative correlations of networks with one hidden layer: closed forms, and their proof from the definition.

F(x) = n^−½ Σ_j a_j φ(z_j). Along v = Σ_b c_b ∇F(x_b), neuron j moves by a → a + tα, z → z + tζ with α = n^−½ Σ_b c_b φ(z_b),
ζ = n^−½ a Σ_b c_b φ'(z_b) K(x, x_b). Each correlation is a sum, or a maximum, over neurons.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import wraps
from itertools import zip_longest
from math import factorial, hypot, sqrt
from typing import Any, ParamSpec, TypeVar

import mpmath
import sympy as sp

from .activations import derivative, singular_distance, z
from .matrices import dot
from .one_hidden_fields import OneHiddenFields

__all__ = [
    "Neurons",
    "block_identity_residual",
    "expanded",
    "largest_displacement_ratio",
    "neurons",
    "series_identity_residual",
]

_DIGITS = 30
_POLYNOMIAL = ("identity", "polynomial")


P = ParamSpec("P")
R = TypeVar("R")


def _with_digits(function: Callable[P, R]) -> Callable[P, R]:
    """Return `function` with the working precision of this module."""

    @wraps(function)
    def precise(*args: P.args, **kwargs: P.kwargs) -> R:
        with mpmath.workdps(_DIGITS):
            return function(*args, **kwargs)

    return precise


@dataclass(frozen=True)
class Neurons:
    """A network and a direction, neuron by neuron, without the powers of n and η.

    Parameters
    ----------
    a, alpha, zeta : tuple
        Output weights, and √n times how fast a and z move; exact for polynomials, otherwise with 30 digits.
    phi : tuple of tuples
        φ, φ', … at z, for each neuron.
    K : Fraction
        K(x, x).
    """

    a: tuple[Any, ...]
    alpha: tuple[Any, ...]
    zeta: tuple[Any, ...]
    phi: tuple[tuple[Any, ...], ...]
    K: Fraction

    @_with_digits
    def series_coefficient(self, d: int, *, with_alpha: bool = True) -> Any:
        """Return n^((d+1)/2) η^−d C_{0,d}: Σ_j a φ^(d) ζ^d/d! + α φ^(d−1) ζ^(d−1)/(d−1)!."""
        return sum(self._terms(j, d, 0, with_alpha)[0] for j in range(len(self.a)))

    @_with_digits
    def blocks(self, D: int, d: int) -> list[tuple[Any, Any]]:
        """Return (A, B) for every neuron, n^((d+1)/2) η^−(D/2+d) times: C_{D,d} is A u_x^D + B u_a u_x^(D−1) there; D ≥ 1."""
        found = []
        root = mpmath.sqrt(_real(self.K))
        for j in range(len(self.a)):
            main, mixed = self._terms(j, d, D, True)
            A = _real(main) * root**D / factorial(D)
            found.append((A, _real(mixed) * root ** (D - 1) / factorial(D - 1)))
        return found

    @_with_digits
    def norm(self, D: int, d: int) -> Any:
        """Return n^((d+1)/2) η^−(D/2+d) ‖C_{D,d}‖, D ≥ 1."""
        blocks = self.blocks(D, d)
        if D == 1:
            return mpmath.sqrt(sum(A**2 + B**2 for A, B in blocks))
        return max(block_norm(A, B, D) for A, B in blocks)

    @_with_digits
    def size(self, D: int, d: int) -> Any:
        """Return the same as `series_coefficient` (D = 0) or `norm` with the absolute values of all terms."""
        absolute = Neurons(
            a=tuple(map(abs, self.a)),
            alpha=tuple(map(abs, self.alpha)),
            zeta=tuple(map(abs, self.zeta)),
            phi=tuple(tuple(map(abs, row)) for row in self.phi),
            K=self.K,
        )
        return absolute.norm(D, d) if D else absolute.series_coefficient(d)

    def _terms(self, j: int, d: int, D: int, with_alpha: bool) -> tuple[Any, Any]:
        """Return the coefficients of the D-form of neuron j in u_z^D/D! and u_a u_z^(D−1)/(D−1)!."""
        phi, zeta = self.phi[j], self.zeta[j]
        power = zeta**d / factorial(d)
        main = self.a[j] * phi[D + d] * power
        if d and with_alpha:
            main += self.alpha[j] * phi[D + d - 1] * (zeta ** (d - 1) / factorial(d - 1))
        return main, (phi[D + d - 1] * power if D else 0)


def block_norm(A: Any, B: Any, D: int) -> Any:
    """Return max |cos^(D−1) (A cos + B sin)|, D ≥ 2: (|A| + |B| t)/(1 + t²)^(D/2), the tangent t the root of a quadratic.

    Examples
    --------
    >>> float(block_norm(mpmath.mpf(0), mpmath.mpf(2), 2)), float(block_norm(mpmath.mpf(3), mpmath.mpf(0), 5))
    (1.0, 3.0)
    """
    A, B = abs(A), abs(B)
    below = D * A + mpmath.sqrt(D * D * A * A + 4 * (D - 1) * B * B)
    t = 2 * B / below if below else mpmath.mpf(0)
    return (A + B * t) / (1 + t * t) ** (mpmath.mpf(D) / 2)


@_with_digits
def neurons(fields: OneHiddenFields, order: int) -> Neurons:
    """Return the network of `fields` with derivatives of φ up to `order`."""
    x, *others = fields.inputs
    number = Fraction if fields.activation in _POLYNOMIAL else _real
    phis = [_function(fields, k) for k in range(max(order, 1) + 1)]
    c = [number(weight) for weight in fields.c]
    slopes = [weight * number(dot(x, y)) for weight, y in zip(c, others, strict=True)]
    a = tuple(number(weight) for weight in fields.output)
    alpha, zeta, phi = [], [], []
    for weight, w in zip(a, fields.hidden, strict=True):
        before = [dot(w, y) for y in others]
        alpha.append(sum(k * phis[0](at) for k, at in zip(c, before, strict=True)))
        zeta.append(weight * sum(k * phis[1](at) for k, at in zip(slopes, before, strict=True)))
        phi.append(tuple(f(dot(w, x)) for f in phis))
    return Neurons(a, tuple(alpha), tuple(zeta), tuple(phi), dot(x, x))


def expanded(fields: OneHiddenFields) -> list[Fraction]:
    """Return the coefficients in t of √n F(θ + t√n v) for a polynomial φ, by multiplying out: n^((d+1)/2) η^−d C_{0,d}.

    Examples
    --------
    >>> one = (Fraction(1),)
    >>> square = (Fraction(0), Fraction(0), Fraction(1))
    >>> [int(c) for c in expanded(OneHiddenFields("polynomial", one, (one,), (one, one), one, square))]
    [1, 5, 8, 4]
    """
    found = neurons(fields, 1)
    coefficients = fields.coefficients or (Fraction(0), Fraction(1))
    total: list[Fraction] = []
    for a, alpha, zeta, w in zip(found.a, found.alpha, found.zeta, fields.hidden, strict=True):
        line: list[Fraction] = []
        for c in reversed(coefficients):  # Horner
            line = _plus(_times(line, [dot(w, fields.inputs[0]), zeta]), [c])
        total = _plus(total, _times([a, alpha], line))
    return total


def _times(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    product = [Fraction(0)] * (len(p) + len(q) - 1 if p and q else 0)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return product


def _plus(p: list[Fraction], q: list[Fraction]) -> list[Fraction]:
    return [a + b for a, b in zip_longest(p, q, fillvalue=Fraction(0))]


def largest_displacement_ratio(fields: OneHiddenFields) -> float:
    """Return the largest |ηζ|/√n over the distance of z to the singularities of φ, all of which lie on the imaginary axis."""
    found = neurons(fields, 1)
    distance = float(singular_distance(fields.activation))
    x = fields.inputs[0]
    size = float(fields.rate) / sqrt(len(fields.output))
    return max(
        size * abs(float(zeta)) / hypot(float(dot(w, x)), distance)
        for zeta, w in zip(found.zeta, fields.hidden, strict=True)
    )


def _function(fields: OneHiddenFields, k: int) -> Any:
    """Return φ^(k) as a function of a fraction: exact for polynomials."""
    expression = derivative(fields.activation, fields.coefficients, k)
    if fields.activation in _POLYNOMIAL:
        terms = [(Fraction(int(c.p), int(c.q)), int(m)) for (m,), c in sp.Poly(expression, z).terms()]
        return lambda at: sum((c * at**m for c, m in terms), Fraction(0))
    function = sp.lambdify(z, expression, "mpmath")
    return lambda at: function(_real(at)) + mpmath.mpf(0)


def _real(value: Any) -> Any:
    """Return an exact number as one of mpmath, at its working precision; others as they are."""
    return mpmath.mpf(value.numerator) / value.denominator if isinstance(value, (int, Fraction)) else value


def series_identity_residual(order: int, *, with_alpha: bool = True) -> sp.Expr:
    """Return what is left of coefficient d of (a + tα) φ(z + tζ) minus its closed form, for any φ and all d ≤ `order`.

    Examples
    --------
    >>> series_identity_residual(3), series_identity_residual(1, with_alpha=False) == 0
    (0, False)
    """
    a, alpha, zeta, t = sp.symbols("a alpha zeta t")
    phi = sp.Function("phi")
    total = sp.Integer(0)
    for d in range(order + 1):
        taylor = sp.diff((a + t * alpha) * phi(z + t * zeta), t, d).subs(t, 0).doit() / factorial(d)
        closed = a * sp.diff(phi(z), z, d) * zeta**d / factorial(d)
        if d and with_alpha:
            closed += alpha * sp.diff(phi(z), z, d - 1) * zeta ** (d - 1) / factorial(d - 1)
        total += sp.Symbol(f"e{d}") * sp.expand(taylor - closed)
    return sp.expand(total)


def block_identity_residual(D: int, d: int) -> sp.Expr:
    """Return what is left of the D-form of one neuron minus A u_x^D + B u_a u_x^(D−1), for any φ.

    The form is the part of degree D in (u_a, u_x) of the coefficient of t^d of (a + u_a + tα) φ(z + √K u_x + tζ).

    Examples
    --------
    >>> block_identity_residual(2, 1)
    0
    """
    a, alpha, zeta, t, s, ua, ux = sp.symbols("a alpha zeta t s u_a u_x")
    K = sp.Symbol("K", positive=True)
    phi = sp.Function("phi")
    line = (a + s * ua + t * alpha) * phi(z + s * sp.sqrt(K) * ux + t * zeta)
    taylor = sp.diff(sp.diff(line, s, D).subs(s, 0).doit(), t, d).subs(t, 0).doit() / (factorial(D) * factorial(d))

    def slope(k: int) -> sp.Expr:
        return sp.diff(phi(z), z, k)

    A = a * slope(D + d) * zeta**d / factorial(d)
    if d:
        A += alpha * slope(D + d - 1) * zeta ** (d - 1) / factorial(d - 1)
    A *= K ** sp.Rational(D, 2) / factorial(D)
    B = slope(D + d - 1) * zeta**d / factorial(d) * K ** sp.Rational(D - 1, 2) / factorial(D - 1)
    return sp.expand(sp.expand(taylor - A * ux**D - B * ua * ux ** (D - 1)))
