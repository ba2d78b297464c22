"""The nuclear norm of the Jacobian J = 2B diag(θ) through the grounded Laplacian L, to many digits.

JJᵀ = 4L, so ‖J‖_* = 2 tr √L, and where L is invertible its derivative by θ_e is 2θ_e q_e, q_e = b_eᵀ L^{−1/2} b_e.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import mpmath
import sympy

from ..graphs.network import Network
from ..graphs.rank import jacobian_rank

__all__ = [
    "GradientFactors",
    "NormBounds",
    "factorization_residual",
    "grounded_laplacian",
    "norm_bounds",
    "nuclear_norm",
    "spectral_factors",
]

_DIGITS = 50


def grounded_laplacian(network: Network, squares: Sequence[Any]) -> list[list[Any]]:
    """Return the Laplacian with edge weights `squares` (m,) and grounded terminals, by rows; hidden nodes in order.

    Examples
    --------
    >>> grounded_laplacian(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]), [1, 4, 9])
    [[5, -4], [-4, 13]]
    """
    row = {v: i for i, v in enumerate(network.hidden_nodes.tolist())}
    L: list[list[Any]] = [[0] * len(row) for _ in row]
    for a, b, square in zip(network.tail.tolist(), network.head.tolist(), squares, strict=True):
        for v in (a, b):
            if v in row:
                L[row[v]][row[v]] += square
        if a in row and b in row:
            L[row[a]][row[b]] -= square
            L[row[b]][row[a]] -= square
    return L


def factorization_residual(network: Network) -> sympy.Matrix:
    """Return JJᵀ − 4L with a symbol for every weight, expanded; it is zero.

    Examples
    --------
    >>> factorization_residual(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")])).is_zero_matrix
    True
    """
    t = [sympy.Symbol(f"t{e}") for e in range(network.edge_count)]
    row = {v: i for i, v in enumerate(network.hidden_nodes.tolist())}
    J = sympy.zeros(len(row), network.edge_count)
    for e, (a, b) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        if b in row:
            J[row[b], e] += 2 * t[e]
        if a in row:
            J[row[a], e] -= 2 * t[e]
    L = sympy.Matrix(len(row), len(row), [x for line in grounded_laplacian(network, [w**2 for w in t]) for x in line])
    return (J * J.T - 4 * L).applyfunc(sympy.expand)


@dataclass(frozen=True)
class GradientFactors:
    """For every edge, b_eᵀ L^{−1/2} b_e and b_eᵀ L^{−1} b_e."""

    root: tuple[float, ...]
    inverse: tuple[float, ...]


def nuclear_norm(network: Network, weights: Sequence[Fraction]) -> float:
    """Return 2 tr √L, correct to all digits of a float.

    Examples
    --------
    >>> nuclear_norm(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]), [Fraction(1)] * 3)
    5.464101615137754
    """
    with mpmath.workdps(_DIGITS):
        values = _spectrum(network, weights)[0]
        return float(2 * sum(mpmath.sqrt(max(value, mpmath.mpf(0))) for value in values))


def spectral_factors(network: Network, weights: Sequence[Fraction]) -> GradientFactors:
    """Return the factors of the gradient; L has to be invertible.

    Examples
    --------
    >>> factors = spectral_factors(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]), [Fraction(1)] * 3)
    >>> [round(q, 4) for q in factors.root], [round(q, 4) for q in factors.inverse]
    ([0.7887, 1.1547, 0.7887], [0.6667, 0.6667, 0.6667])
    """
    row = {v: i for i, v in enumerate(network.hidden_nodes.tolist())}
    with mpmath.workdps(_DIGITS):
        values, vectors = _spectrum(network, weights)
        root, inverse = [], []
        for a, b in zip(network.tail.tolist(), network.head.tolist(), strict=True):
            # The components of b_e along the eigenvectors.
            along = [
                (vectors[row[b], k] if b in row else 0) - (vectors[row[a], k] if a in row else 0)
                for k in range(len(row))
            ]
            root.append(float(sum((x**2 / mpmath.sqrt(w) for x, w in zip(along, values, strict=True)), mpmath.mpf(0))))
            inverse.append(float(sum((x**2 / w for x, w in zip(along, values, strict=True)), mpmath.mpf(0))))
        return GradientFactors(tuple(root), tuple(inverse))


@dataclass(frozen=True)
class NormBounds:
    """Bounds of ‖J‖_*, from below (`l2`) and from above, with n_e = 1, √2 or 0 for one, two or no hidden ends of edge e.

    `l2` is 2‖(n_e θ_e)‖₂, `group_lasso` 2 Σ_v ‖θ_~v‖₂, `rank` √rank J times `l2`, `l1` 2 Σ n_e |θ_e|, `root_2_l1` 2√2 ‖θ‖₁.
    """

    l2: float
    group_lasso: float
    rank: float
    l1: float
    root_2_l1: float


def norm_bounds(network: Network, weights: Sequence[Fraction]) -> NormBounds:
    """Return the bounds, correct to all digits of a float.

    Examples
    --------
    >>> bounds = norm_bounds(Network.from_edges([("x", "a"), ("a", "b"), ("b", "y")]), [Fraction(1)] * 3)
    >>> [round(value, 4) for value in (bounds.l2, bounds.group_lasso, bounds.rank, bounds.l1, bounds.root_2_l1)]
    [4.0, 5.6569, 5.6569, 6.8284, 8.4853]
    """
    ends = (network.hidden[network.tail].astype(int) + network.hidden[network.head].astype(int)).tolist()
    L = grounded_laplacian(network, [w**2 for w in weights])
    with mpmath.workdps(_DIGITS):
        l2 = 2 * _root(sum((n * w**2 for n, w in zip(ends, weights, strict=True)), Fraction(0)))
        return NormBounds(
            l2=float(l2),
            group_lasso=float(2 * sum((_root(L[i][i]) for i in range(len(L))), mpmath.mpf(0))),
            rank=float(l2 * mpmath.sqrt(jacobian_rank(network, weights))),
            l1=float(
                2 * sum((mpmath.sqrt(n) * _number(abs(w)) for n, w in zip(ends, weights, strict=True)), mpmath.mpf(0))
            ),
            root_2_l1=float(2 * mpmath.sqrt(2) * _number(sum(map(abs, weights), Fraction(0)))),
        )


def _number(value: Fraction | int) -> Any:
    return mpmath.mpf(Fraction(value).numerator) / Fraction(value).denominator


def _root(value: Fraction | int) -> Any:
    return mpmath.sqrt(_number(value))


def _spectrum(network: Network, weights: Sequence[Fraction]) -> tuple[list[Any], Any]:
    """Return eigenvalues and eigenvectors (columns) of L at the present precision."""
    exact = grounded_laplacian(network, [Fraction(w) ** 2 for w in weights])
    size = len(exact)
    if size == 0:
        return [], mpmath.matrix(0, 0)
    L = mpmath.matrix(size, size)
    for i, line in enumerate(exact):
        for j, value in enumerate(line):
            L[i, j] = _number(value)
    values, vectors = mpmath.eigsy(L)
    return list(values), vectors
