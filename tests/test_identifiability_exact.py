"""Realization costs, margins and laws in exact arithmetic: golden values, brute force, identities."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import permutations
from typing import Any

import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from lakatos import theory
from lakatos.core import InputError
from lakatos.testing import featured_layers, permuted_layers, subspaces
from lakatos.theory.layers import FeatureFields, LayerFields, PermutedFields, SubspaceFields, cycles
from lakatos.theory.matrices import Rows, dot, identity, inverse, is_positive_semidefinite, kernel, product, rank, solve

GOLDEN = {
    "U": [["2/3", "1/3"], ["-2/3", "2/3"], ["1/3", "2/3"]],
    "F": [[0, 0, 0], [1, 0, 1]],
    "D": [[1, 2, 1], [1, 2, 1]],
}

small = st.integers(-3, 3).map(Fraction)
squares = st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(small, min_size=n, max_size=n), min_size=n, max_size=n))


def rows(value: Any) -> Rows:
    return tuple(tuple(map(Fraction, row)) for row in value)


def layer(fields: dict[str, Any]) -> FeatureFields:
    return FeatureFields(**{key: rows(fields[key]) for key in ("F", "D", "U", "A")})


# Linear algebra ----------------------------------------------------------------------------------------------------------


@given(squares)
def test_elimination_agrees_with_sympy(matrix: list[list[Fraction]]) -> None:
    exact, reference = rows(matrix), sympy.Matrix([[sympy.Rational(str(x)) for x in row] for row in matrix])
    assert rank(exact) == reference.rank()
    assert len(kernel(exact)) == len(matrix) - reference.rank()
    assert all(dot(row, x) == 0 for x in kernel(exact) for row in exact)
    found = inverse(exact)
    assert (found is None) == (reference.det() == 0)
    assert found is None or product(exact, found) == identity(len(exact))


@given(squares, st.lists(small, min_size=4, max_size=4))
def test_symmetric_systems_are_solved_or_obstructed(matrix: list[list[Fraction]], right: list[Fraction]) -> None:
    S = product(rows(matrix), rows(zip(*matrix, strict=True)))
    b = tuple(right[: len(S)])
    found = solve(S, b)
    if found.x is not None:
        assert tuple(dot(row, found.x) for row in S) == b
    else:
        assert found.obstruction is not None
        assert all(dot(row, found.obstruction) == 0 for row in S)
        assert dot(found.obstruction, b) != 0


@given(squares)
def test_semidefinite_iff_all_principal_minors_are_not_negative(matrix: list[list[Fraction]]) -> None:
    n = len(matrix)
    S = rows([[(matrix[i][j] + matrix[j][i]) / 2 for j in range(n)] for i in range(n)])
    reference = sympy.Matrix([[sympy.Rational(str(x)) for x in row] for row in S])
    subsets = [[i for i in range(n) if bits >> i & 1] for bits in range(1, 1 << n)]
    assert is_positive_semidefinite(S) == all(reference.extract(s, s).det() >= 0 for s in subsets)


# Costs -------------------------------------------------------------------------------------------------------------------


def test_golden_costs() -> None:
    golden = layer({**GOLDEN, "A": [[1, 0], [1, 1]]})
    assert golden.grams[0] == rows([["7/3", "-4/3"], ["-4/3", "7/3"]])
    table = theory.realization.cost_table(golden, golden.A)
    assert table.costs[0][0] == Fraction(7, 11)
    assert table.costs[1][1] == 0
    found = table.solutions[0][0].x
    assert found is not None
    assert theory.realization.least_weights(golden, 0, found) == rows([["6/11", "-4/11", "5/11"]])[0]


def test_golden_infeasible_features() -> None:
    masked = layer({**GOLDEN, "D": [[1, 0, 0], [0, 0, 0]], "F": [[0, 0, 0]] * 2, "A": [[1, 1], [2, 1], [0, 0]]})
    assert theory.realization.cost_table(masked, masked.A).costs == ((math.inf, 9, 0), (math.inf, math.inf, 0))


def test_golden_ridge() -> None:
    golden = layer({**GOLDEN, "A": [[1, 0]]})
    found = theory.realization.ridge(golden, 0, golden.A[0], identity(2), Fraction(1))
    assert (found.value, found.squared_norm, found.scaled_limit, found.residual) == (
        Fraction(5, 14),
        Fraction(41, 196),
        0,
        0,
    )


@given(featured_layers(max_neurons=2, max_inputs=4, max_dimension=2))
def test_costs_do_not_exceed_the_norm_of_any_weights_that_realize_the_feature(fields: dict[str, Any]) -> None:
    subject = layer(fields)
    table = theory.realization.cost_table(subject, subject.A)
    for i in range(subject.m):
        M = tuple(
            tuple(d * x for d, x in zip(subject.D[i], column, strict=True)) for column in zip(*subject.U, strict=True)
        )
        for j, found in enumerate(table.solutions[i]):
            if found.x is None:
                continue
            w = theory.realization.least_weights(subject, i, found.x)
            for direction in kernel(M):
                other = tuple(x + y for x, y in zip(w, direction, strict=True))
                assert dot(other, other) > table.costs[i][j]


def test_derivations_leave_nothing() -> None:
    assert theory.realization.lagrangian_residual(3, 2) == 0
    assert theory.realization.swap_residual(3) == 0
    assert theory.chords.tent_integral_residual() == 0
    assert theory.chords.arc_cosine_residual() == 0
    assert theory.masks.sherman_morrison_residual(3) == 0
    assert theory.masks.bernstein_remainder().is_positive


# Margins -----------------------------------------------------------------------------------------------------------------


@given(permuted_layers(max_neurons=4))
def test_margin_is_the_least_sensitivity(fields: dict[str, Any]) -> None:
    subject = layer(fields)
    costs = theory.realization.cost_table(subject, subject.A).costs
    others = [p for p in permutations(range(subject.m)) if p != tuple(range(subject.m))]
    found = theory.assignments.margin(costs)
    assert found.value == min((theory.realization.sensitivity(costs, p) for p in others), default=math.inf)
    assert found.second is None or theory.realization.sensitivity(costs, found.second) == found.value


@given(permuted_layers(max_neurons=5))
def test_sensitivity_adds_up_over_cycles(fields: dict[str, Any]) -> None:
    subject = layer(fields)
    costs = theory.realization.cost_table(subject, subject.A).costs
    permutation = fields["permutation"]
    total: Fraction | float = Fraction(0)
    for cycle in cycles(permutation):
        alone = [permutation[i] if i in cycle else i for i in range(subject.m)]
        total += theory.realization.sensitivity(costs, alone)
    assert total == theory.realization.sensitivity(costs, permutation)


# Laws --------------------------------------------------------------------------------------------------------------------


def test_chord_bound_is_sharp_for_small_beta() -> None:
    fixed, shift = (Fraction(1), Fraction(0)), Fraction(1, 10**6)
    ends = [(Fraction(1), sign * shift) for sign in (1, -1)]
    value = theory.chords.mean_square(ends[0], ends[1], Fraction(1, 2)) ** 0.5
    bound = theory.chords.deviation_bound((fixed,), shift**2)
    assert 1 - 1e-10 < value / bound <= 1  # the ratio is 1 − β²/10 + … on this family


def test_orthogonal_family_is_the_closed_form() -> None:
    beta = Fraction(1, 3)
    symbol = next(iter(theory.chords.orthogonal_family().free_symbols))
    exact = theory.chords.orthogonal_family().subs(symbol, sympy.Rational(1, 3))
    ends = [(Fraction(1), sign * beta) for sign in (1, -1)]
    assert theory.chords.mean_square(ends[0], ends[1], Fraction(1, 2)) == pytest.approx(float(exact), rel=1e-15)


@pytest.mark.parametrize("j", range(7))
def test_hermite_weights_are_squared_coefficients(j: int) -> None:
    z = sympy.Symbol("z", positive=True)
    hermite = sympy.expand(2 ** sympy.Rational(-j, 2) * sympy.hermite(j, z / sympy.sqrt(2)))
    density = sympy.exp(-(z**2) / 2) / sympy.sqrt(2 * sympy.pi)
    coefficient = sympy.integrate(sympy.expand(z * hermite) * density, (z, 0, sympy.oo))
    assert sympy.simplify(coefficient**2 / sympy.factorial(j) - theory.directions.hermite_weight(j)) == 0


def test_separation_constants() -> None:
    values = [float(theory.separation.separation_constant(k)) for k in (1, 2, 8, 32)]
    assert values == pytest.approx([3.545, 2, 1.147, 0.942], abs=5e-4)  # as printed in the reference, three decimals
    assert float(theory.separation.limit_constant()) == pytest.approx(math.sqrt(2 / math.e), rel=1e-15)


@given(st.integers(2, 3), st.floats(0.01, 1.57))
def test_cap_measure_is_its_integral(k: int, angle: float) -> None:
    exact = theory.directions.cap_measure_symbolic(k)
    value = float(exact.subs(next(iter(exact.free_symbols)), angle))
    assert theory.directions.cap_measure(angle, k) == pytest.approx(value, rel=1e-9)


# Bad input ---------------------------------------------------------------------------------------------------------------

one = rows([[1]])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: SubspaceFields(U=rows([[1, 0]])), "k <= n"),
        (lambda: SubspaceFields(U=((Fraction(1),), ())), "rows of lengths"),
        (lambda: LayerFields(U=one, F=rows([[1, 2]]), D=one), "F: rows of length 2"),
        (lambda: LayerFields(U=one, F=rows([[1], [2]]), D=one), "D: 1 rows; 2"),
        (lambda: FeatureFields(U=one, F=one, D=one, A=rows([[1, 2]])), "A: rows of length 2"),
        (lambda: PermutedFields(U=one, F=one, D=one, A=one, permutation=(1,)), "permutation=\\[1\\]"),
    ],
)
def test_shapes_that_do_not_fit_are_named(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@given(subspaces())
def test_orthonormality_is_decided_exactly(U: list[list[Any]]) -> None:
    assert SubspaceFields(U=rows(U)).orthonormal().met
    stretched = [[Fraction(x) * 2 for x in row] for row in U]
    assert not SubspaceFields(U=rows(stretched)).orthonormal().met
