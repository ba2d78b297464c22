"""Deep networks of identity or (leaky) ReLU layers as polynomials along their own gradient, exactly.

g(θ) = a·φ(W_L φ(… φ(W_1 u))) without powers of n. Near θ every φ is multiplication by fixed slopes, so g along θ + t∇g is a
polynomial of degree L + 1 in t. With F = n^(−L/2) g: n^(L(d+1)/2) η^−d C_{0,d} is its coefficient of t^d.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TypeAlias

from ..core import InputError
from .matrices import Rows

__all__ = ["SLOPES", "line_polynomial", "network_value", "preactivations"]

Polynomial: TypeAlias = "list[Fraction]"

SLOPES = {
    "identity": (Fraction(1), Fraction(1)),
    "relu": (Fraction(0), Fraction(1)),
    "leaky_relu": (Fraction(1, 2), Fraction(1)),
}
"""Slopes of the activations below and above 0; that of leaky ReLU below 0 is ½."""


def preactivations(layers: Sequence[Rows], u: Sequence[Fraction], activation: str) -> list[list[Fraction]]:
    """Return W_1 u, W_2 φ(W_1 u), …, layer by layer."""
    found, h = [], list(u)
    for W in layers:
        before = [sum((w * x for w, x in zip(row, h, strict=True)), Fraction(0)) for row in W]
        found.append(before)
        h = [_slope(activation, z) * z for z in before]
    return found


def network_value(
    layers: Sequence[Rows], output: Sequence[Fraction], u: Sequence[Fraction], activation: str
) -> Fraction:
    """Return g.

    Examples
    --------
    >>> one = Fraction(1)
    >>> network_value([((2 * one,),)], (3 * one,), (one,), "relu")
    Fraction(6, 1)
    """
    last = preactivations(layers, u, activation)[-1]
    return sum((a * _slope(activation, z) * z for a, z in zip(output, last, strict=True)), Fraction(0))


def line_polynomial(
    layers: Sequence[Rows], output: Sequence[Fraction], u: Sequence[Fraction], activation: str
) -> Polynomial:
    """Return the coefficients of t ↦ g(θ + t∇g(θ)), slopes held fixed.

    Raises
    ------
    InputError
        If a neuron is exactly at its kink.

    Examples
    --------
    One neuron with a = w = u = 1: (1 + t)².

    >>> one = Fraction(1)
    >>> [int(c) for c in line_polynomial([((one,),)], (one,), (one,), "identity")]
    [1, 2, 1]
    """
    before = preactivations(layers, u, activation)
    if activation != "identity" and any(z == 0 for layer in before for z in layer):
        raise InputError("layers: a neuron is exactly at its kink, where there is no gradient; change a weight")
    slopes = [[_slope(activation, z) for z in layer] for layer in before]
    inputs = [list(u)] + [
        [s * z for s, z in zip(row, layer, strict=True)] for row, layer in zip(slopes, before, strict=True)
    ]
    # Back-signals dg/dz of every layer.
    signals = [[a * s for a, s in zip(output, slopes[-1], strict=True)]]
    for W, row in zip(reversed(layers[1:]), reversed(slopes[:-1]), strict=True):
        above = signals[0]
        back = [sum((above[i] * W[i][j] for i in range(len(W))), Fraction(0)) for j in range(len(row))]
        signals.insert(0, [b * s for b, s in zip(back, row, strict=True)])
    h: list[Polynomial] = [[x] for x in u]
    for W, delta, given, row in zip(layers, signals, inputs[:-1], slopes, strict=True):
        moved = []
        for i, weights in enumerate(W):
            total: Polynomial = []
            for j, x in enumerate(h):
                total = _plus(total, _times([weights[j], delta[i] * given[j]], x))
            moved.append(total)
        h = [[s * c for c in p] for s, p in zip(row, moved, strict=True)]
    total = []
    for a, given_last, p in zip(output, inputs[-1], h, strict=True):
        total = _plus(total, _times([a, given_last], p))
    return total


def _slope(activation: str, z: Fraction) -> Fraction:
    return SLOPES[activation][z > 0]


def _times(p: Polynomial, q: Polynomial) -> Polynomial:
    product = [Fraction(0)] * (len(p) + len(q) - 1 if p and q else 0)
    for i, a in enumerate(p):
        for j, b in enumerate(q):
            product[i + j] += a * b
    return product


def _plus(p: Polynomial, q: Polynomial) -> Polynomial:
    longer, shorter = (p, q) if len(p) >= len(q) else (q, p)
    return [c + (shorter[k] if k < len(shorter) else 0) for k, c in enumerate(longer)]
