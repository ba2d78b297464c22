"""What one step of a wide ReLU network adds to its linearization, to leading order: only neurons that cross 0 do."""

from __future__ import annotations

import math

import sympy

__all__ = ["kink_mean", "kink_rms", "residuals"]


def kink_mean(step: float, kernel: float) -> float:
    """Return sign(c) (ηc)² K^(3/2)/(2π): the mean of √n (F − F_lin) at the input of the step.

    Examples
    --------
    >>> round(kink_mean(-1.0, 1.0), 6)
    -0.159155
    """
    return math.copysign(step**2 * math.pow(kernel, 1.5) / (2 * math.pi), step)


def kink_rms(step: float, cross: float, other: float) -> float:
    """Return |ηcK(x, x')|^(3/2) K(x', x')^(−¼) √(4/(3π)): the root mean square of n^¾ (F − F_lin) at another input.

    Examples
    --------
    >>> round(kink_rms(1.0, 1.0, 1.0), 6)
    0.65147
    """
    return math.pow(abs(step * cross), 1.5) * math.pow(other, -0.25) * math.sqrt(4 / (3 * math.pi))


def residuals() -> str:
    """Return what is left of both constants after integration over the neurons that cross 0: ``"0"``.

    A neuron moves by δ = −sKa/√n =: −b a, and adds a|z + δ| = a(ba − z) for z < ba (and a > 0, c > 0) at x, where only active
    ones, z > 0, move. At x' half of the neurons move, those active at x, in either direction: (z', a) with |z'| < b|a| add
    a²(b|a| − |z'|)² to the second moment on the side that crosses. The density of z at 0 is 1/√(2πK).
    """
    s, K, a, z, b = sympy.symbols("s K a z b", positive=True)
    density = 1 / sympy.sqrt(2 * sympy.pi * K)
    normal = sympy.exp(-(a**2) / 2) / sympy.sqrt(2 * sympy.pi)
    # √n · n · E[a (ba − z); 0 < z < ba, a > 0]/√n with b = sK/√n: the powers of n cancel.
    crossing = sympy.integrate(a * (b * a - z), (z, 0, b * a)) * density
    mean = sympy.integrate(crossing * normal, (a, 0, sympy.oo)).subs(b, s * K)
    square = sympy.integrate(a**2 * (b * a - z) ** 2, (z, 0, b * a)) * density
    # One side of 0 for each sign of a, and half of the neurons: 2 · ½.
    second = sympy.integrate(square * normal, (a, 0, sympy.oo)).subs(b, s)
    left = (
        sympy.simplify(mean - s**2 * K ** sympy.Rational(3, 2) / (2 * sympy.pi)),
        sympy.simplify(second - s**3 / sympy.sqrt(K) * 4 / (3 * sympy.pi)),
    )
    return "; ".join(str(entry) for entry in left if entry != 0) or "0"
