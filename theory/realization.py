"""What it costs a neuron to have a feature, exactly: the least squared norm of its trainable weights.

Neuron i with fixed weights f and scales d has on data x = Uz the pre-activation ⟨v + M w, z⟩ with v = Uᵀf, M = Uᵀ diag(d).
It realizes the feature a iff M w = b with b = a − v. The least squared norm of such a w is found with a multiplier μ:
w = Mᵀμ, M Mᵀ μ = S μ = b, and the cost is μ·b; where S μ = b has no solution, some y has S y = 0 and y·b ≠ 0, which
is Mᵀy = 0 and y·Mw ≠ 0 at once: no weights realize a, and the cost is infinite.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache, cached_property
from typing import TypeAlias

import sympy

from ..core import Certificate
from .layers import LayerFields
from .matrices import (
    Rows,
    Solution,
    Vector,
    dot,
    identity,
    inverse,
    kernel,
    product,
    scaled_gram,
    solve,
    square,
    subtract,
    transpose,
)

__all__ = [
    "Cost",
    "CostTable",
    "Ridge",
    "cost_table",
    "data_cost_table",
    "is_free",
    "lagrangian_residual",
    "least_weights",
    "ridge",
    "same_costs",
    "sensitivity",
    "swap_residual",
]

Cost: TypeAlias = "Fraction | float"
"""A rational, or infinity."""


@dataclass(frozen=True)
class CostTable:
    """Realization costs, row = neuron and column = feature, with what proves them.

    Parameters
    ----------
    solutions : tuple of tuples of Solution
        Of S_i μ = a_j − v_i.
    displacements : tuple of tuples of vectors
        a_j − v_i.
    kind : str
        Prefix of the quantities in the certificate: ``cost`` or ``data_cost``.
    """

    solutions: tuple[tuple[Solution, ...], ...]
    displacements: tuple[tuple[Vector, ...], ...]
    kind: str = "cost"

    @cached_property
    def costs(self) -> tuple[tuple[Cost, ...], ...]:
        """C_ij = (a_j − v_i)ᵀ S_i† (a_j − v_i), or infinity."""
        return tuple(
            tuple(math.inf if s.x is None else dot(s.x, b) for s, b in zip(row, bs, strict=True))
            for row, bs in zip(self.solutions, self.displacements, strict=True)
        )

    @property
    def certificate(self) -> Certificate:
        """Multipliers and obstructions, for `lakatos.checker`."""
        return Certificate(
            "realization_costs", {"of": self.kind, "rows": [[_plain(s) for s in r] for r in self.solutions]}
        )


def cost_table(layer: LayerFields, features: Rows) -> CostTable:
    """Return the costs of all `features` (rows of length k) in all neurons.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> layer = LayerFields(U=((one,),), F=((zero,), (one,)), D=((one,), (zero,)))
    >>> cost_table(layer, ((Fraction(3),),)).costs
    ((Fraction(9, 1),), (inf,))
    """
    return _table(layer.centers, layer.grams, features, "cost")


def data_cost_table(layer: LayerFields, features: Rows, data: Rows) -> CostTable:
    """Return the costs from data points (rows of length n) alone: (y − Xᵀf)ᵀ (Xᵀ diag(d²) X)† (y − Xᵀf), y = Xᵀ U a.

    Examples
    --------
    >>> one, zero = Fraction(1), Fraction(0)
    >>> layer = LayerFields(U=((one, zero), (zero, one)), F=((zero, zero),), D=((one, one),))
    >>> data_cost_table(layer, ((one, one),), ((one, zero),)).costs
    ((Fraction(1, 1),),)
    """
    basis = transpose(data)
    centers = product(layer.F, basis)
    grams = tuple(scaled_gram(basis, tuple(x * x for x in row)) for row in layer.D)
    outputs = product(features, product(transpose(layer.U), basis))
    return _table(centers, grams, outputs, "data_cost")


def _table(centers: Rows, grams: Sequence[Rows], features: Rows, kind: str) -> CostTable:
    displacements = tuple(tuple(subtract(a, v) for a in features) for v in centers)
    solutions = tuple(tuple(solve(S, b) for b in row) for S, row in zip(grams, displacements, strict=True))
    return CostTable(solutions, displacements, kind)


def same_costs(layer: LayerFields, i: int, j: int) -> bool:
    """Return whether neurons i and j have the same cost for every feature, by exact comparison at enough features.

    Where it is finite the cost is a quadratic function, and those are determined by their values at v, v + S e_p and
    v + S (e_p + e_q): at the corners of a triangle in every pair of directions.

    Examples
    --------
    >>> one = Fraction(1)
    >>> layer = LayerFields(U=((one,),), F=((one,), (one,)), D=((one,), (-one,)))
    >>> same_costs(layer, 0, 1)
    True
    """
    probes = (*_probes(layer, i), *_probes(layer, j))
    costs = cost_table(layer, probes).costs
    return costs[i] == costs[j]


def _probes(layer: LayerFields, i: int) -> Rows:
    v, S = layer.centers[i], layer.grams[i]
    steps = [*S, *(tuple(x + y for x, y in zip(S[p], S[q], strict=True)) for p in range(len(S)) for q in range(p))]
    return (v, *(tuple(x + y for x, y in zip(v, step, strict=True)) for step in steps))


def least_weights(layer: LayerFields, i: int, multiplier: Vector) -> Vector:
    """Return w* = diag(d_i) U μ, the weights of least norm that realize the feature of this multiplier in neuron i.

    Examples
    --------
    >>> layer = LayerFields(U=((Fraction(1),),), F=((Fraction(0),),), D=((Fraction(2),),))
    >>> least_weights(layer, 0, (Fraction(1, 4),))
    (Fraction(1, 2),)
    """
    return tuple(d * dot(u, multiplier) for d, u in zip(layer.D[i], layer.U, strict=True))


def sensitivity(costs: Sequence[Sequence[Cost]], permutation: Sequence[int]) -> Cost:
    """Return Δ_π = Σ_i (C_iπ(i) − C_ii); infinite if some C_iπ(i) is.

    Examples
    --------
    >>> sensitivity(((Fraction(0), Fraction(9)), (Fraction(1), Fraction(4))), (1, 0))
    Fraction(6, 1)
    """
    total: Cost = Fraction(0)
    for i, j in enumerate(permutation):
        if math.isinf(costs[i][j]):
            return math.inf
        total += Fraction(costs[i][j]) - Fraction(costs[i][i])
    return total


def is_free(layer: LayerFields) -> bool:
    """Return whether all swaps of two neurons with one Gram matrix S cost nothing, at features v_i and v_i + S e_p.

    Δ_(ij) is affine in the features, and these span all that neurons i and j can have: it is 0 for all of them.

    Examples
    --------
    >>> one, two = Fraction(1), Fraction(2)
    >>> is_free(LayerFields(U=((one,),), F=((two,), (two,)), D=((one,), (one,))))
    True
    >>> is_free(LayerFields(U=((one,),), F=((one,), (two,)), D=((one,), (one,))))
    False
    """
    for j in range(layer.m):
        for i in range(j):
            moved = [tuple(x + y for x, y in zip(layer.centers[i], step, strict=True)) for step in layer.grams[i]]
            for feature in (layer.centers[i], *moved):
                features = [*layer.centers]
                features[i] = feature
                places = list(range(layer.m))
                places[i], places[j] = j, i
                if sensitivity(cost_table(layer, tuple(features)).costs, places) != 0:
                    return False
    return True


@dataclass(frozen=True)
class Ridge:
    """min_w ‖w‖² + β⁻¹ E(⟨a, z⟩ − ⟨v + M w, z⟩)² for b = a − v, with R = (S + β Σ⁻¹)⁻¹.

    Parameters
    ----------
    value : Fraction
        The minimum, bᵀ R b.
    squared_norm : Fraction
        ‖w_β‖² = bᵀ R S R b at the minimum.
    scaled_limit : Fraction
        The limit of β · value for β → 0: 0 iff the feature is feasible.
    residual : Fraction
        The minimum from the normal equations in w, minus `value`: 0 by Woodbury's identity.
    """

    value: Fraction
    squared_norm: Fraction
    scaled_limit: Fraction
    residual: Fraction


def ridge(layer: LayerFields, i: int, feature: Vector, covariance: Rows, beta: Fraction) -> Ridge:
    """Return the ridge problem of neuron i, exactly; `covariance` is Σ_z, positive definite, and beta > 0.

    Examples
    --------
    >>> one = Fraction(1)
    >>> layer = LayerFields(U=((one,),), F=((Fraction(0),),), D=((one,),))
    >>> found = ridge(layer, 0, (one,), ((Fraction(4),),), one)
    >>> found.value, found.squared_norm, found.residual
    (Fraction(4, 5), Fraction(16, 25), Fraction(0, 1))
    """
    b, S = subtract(feature, layer.centers[i]), layer.grams[i]
    inverted = _inverted(covariance)
    R = _inverted(
        tuple(tuple(s + beta * t for s, t in zip(x, y, strict=True)) for x, y in zip(S, inverted, strict=True))
    )
    Rb = _times(R, b)
    Q = kernel(S)
    limit = Fraction(0)
    if Q:
        Qb = _times(Q, b)
        limit = dot(Qb, _times(_inverted(product(product(Q, inverted), transpose(Q))), Qb))
    return Ridge(dot(b, Rb), dot(Rb, _times(S, Rb)), limit, _normal_minimum(layer, i, b, covariance, beta) - dot(b, Rb))


def _normal_minimum(layer: LayerFields, i: int, b: Vector, covariance: Rows, beta: Fraction) -> Fraction:
    """Return the minimum over w in n dimensions: (1 + Mᵀ Σ M/β) w = Mᵀ Σ b/β."""
    M = transpose(tuple(tuple(d * x for x in u) for d, u in zip(layer.D[i], layer.U, strict=True)))
    pulled = product(transpose(M), covariance)
    normal = tuple(
        tuple(one + x / beta for one, x in zip(unit, row, strict=True))
        for unit, row in zip(identity(layer.n), product(pulled, M), strict=True)
    )
    w = _times(_inverted(normal), tuple(x / beta for x in _times(pulled, b)))
    rest = subtract(b, _times(M, w))
    return square(w) + dot(rest, _times(covariance, rest)) / beta


@cache
def lagrangian_residual(n: int = 3, k: int = 2) -> sympy.Expr:
    """Return ‖w‖² at the stationary point of the Lagrangian minus bᵀ S⁻¹ b, symbolic in M and b; it is 0.

    Examples
    --------
    >>> lagrangian_residual(2, 1)
    0
    """
    M = sympy.Matrix(k, n, sympy.symbols(f"M:{k * n}", real=True))
    b = sympy.Matrix(sympy.symbols(f"b:{k}", real=True))
    w = sympy.Matrix(sympy.symbols(f"w:{n}", real=True))
    mu = sympy.Matrix(sympy.symbols(f"mu:{k}", real=True))
    lagrangian = (w.T * w)[0] + 2 * (mu.T * (b - M * w))[0]
    unknowns = [*w, *mu]
    stationary = sympy.solve([sympy.diff(lagrangian, x) for x in unknowns], unknowns, dict=True)[0]
    least = w.subs(stationary)
    return sympy.simplify((least.T * least)[0] - (b.T * (M * M.T).inv() * b)[0])


@cache
def swap_residual(k: int = 2) -> sympy.Expr:
    """Return Δ_(12) − 2 (a₁ − a₂)ᵀ P (v₁ − v₂) for a common P = S⁻¹, symbolic in everything; it is 0.

    Examples
    --------
    >>> swap_residual(1)
    0
    """
    a = [sympy.Matrix(sympy.symbols(f"a{i}_:{k}", real=True)) for i in range(2)]
    v = [sympy.Matrix(sympy.symbols(f"v{i}_:{k}", real=True)) for i in range(2)]
    P = sympy.Matrix(k, k, lambda i, j: sympy.Symbol(f"P{min(i, j)}{max(i, j)}", real=True))

    def cost(i: int, j: int) -> sympy.Expr:
        return ((a[j] - v[i]).T * P * (a[j] - v[i]))[0]

    swap = cost(0, 1) + cost(1, 0) - cost(0, 0) - cost(1, 1)
    return sympy.expand(swap - 2 * ((a[0] - a[1]).T * P * (v[0] - v[1]))[0])


def _inverted(matrix: Rows) -> Rows:
    found = inverse(matrix)
    assert found is not None, "positive definite"
    return found


def _times(matrix: Rows, x: Vector) -> Vector:
    return tuple(dot(row, x) for row in matrix)


def _plain(solution: Solution) -> dict[str, list[str]]:
    if solution.x is not None:
        return {"multiplier": [str(x) for x in solution.x]}
    assert solution.obstruction is not None
    return {"obstruction": [str(x) for x in solution.obstruction]}
