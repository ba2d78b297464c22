"""Random elements of lift groups, and how exactly finite groups average.

Seeds are fixed, so that no test fails by chance. Each comparison of distributions would reject a correct sampler for one
seed in a million.
"""

from __future__ import annotations

from itertools import permutations, product
from typing import Any

import golden_laws as golden
import numpy as np
import pytest
from scipy import stats

from lakatos._checker_groups import Action, action, elements
from lakatos.core import Undecided
from lakatos.numerics.averaged_training import averaged_moments
from lakatos.numerics.haar import haar_of_lift_group, haar_orthogonal, symmetries
from lakatos.numerics.rotation_averages import icosian_average, icosian_rotations, pairing_average, rotation_average
from lakatos.theory.designs import (
    cyclic_moments,
    design_degree,
    icosian_moments,
    orthogonal_moments,
    trace_moments,
)

FALSE_ALARM = 1e-6
FINITE = [case for case in golden.LIFT if not case[0].startswith("O(") and case[0] != "icosahedral"]


def maps(name: str, **fields: Any) -> list[tuple[Any, Any]]:
    """All elements of a group as arrays."""
    return [
        (np.array([[float(e) for e in row] for row in g]), np.array([[float(e) for e in row] for row in h]))
        for g, h in elements(action(name, **fields))
    ]


@pytest.mark.parametrize(("name", "fields", "dimensions", "blocks"), FINITE, ids=str)
def test_dimensions_by_averaging(name: str, fields: dict[str, Any], dimensions: Any, blocks: Any) -> None:
    """The same dimensions as by exact elimination, in floating point and by another path."""
    found = symmetries(maps(name, **fields))
    assert tuple(map(len, (found.commutant, found.symmetric, found.intertwiners, found.lie))) == dimensions


@pytest.mark.parametrize(("name", "fields", "dimensions", "blocks"), FINITE, ids=str)
def test_members_leave_the_averaged_loss_alone_and_others_do_not(
    name: str, fields: dict[str, Any], dimensions: Any, blocks: Any
) -> None:
    group, generator = maps(name, **fields), np.random.default_rng(0)
    n, q = len(group[0][0]), len(group[0][1])
    moments = averaged_moments(generator.standard_normal((2 * n, n)), generator.standard_normal((2 * n, q)), group)
    m = generator.standard_normal((max(q, 2), n)) if q > 1 else generator.standard_normal((1, n))
    scale = float(np.abs(moments.a).sum() * (m**2).sum())

    def change(h: Any) -> float:
        return abs(moments.loss(m @ h) - moments.loss(m)) / scale

    members = haar_of_lift_group(symmetries(group), generator, 20)
    assert max(map(change, members)) <= 1e-12
    identity = np.broadcast_to(np.eye(n), members.shape)
    np.testing.assert_allclose(members @ members.transpose(0, 2, 1), identity, atol=1e-12)
    is_everything = dimensions[3] == n * (n - 1) // 2
    if not is_everything:
        assert min(map(change, haar_orthogonal(generator, n, 5))) > 1e-6


# Group, fields, a vector in one copy of an irreducible, its dimension and type, and the number of copies.
SAMPLED = [
    ("S4", {}, [1, -1, 0, 0], 3, 1, 1),
    ("S4", {"copies": 2}, [1, -1, 0, 0, 0, 0, 0, 0], 3, 1, 2),
    ("C3", {}, [1, -1, 0], 2, 1, 1),
    ("C3", {"copies": 2}, [1, -1, 0, 0, 0, 0], 2, 2, 2),
    ("Q8", {}, [1, 0, 0, 0], 4, 1, 1),
    ("Q8", {"copies": 2}, [1, 0, 0, 0, 0, 0, 0, 0], 4, 4, 2),
    ("Heis3", {}, [1, 0, 0, 0, 0, 0], 6, 1, 1),
    ("Heis3", {"copies": 2}, [1, 0, 0, 0, 0, 0] + [0] * 6, 6, 2, 2),
]


def chance(cosines: Any, n: int) -> float:
    """Probability of so large a distance from ⟨w, hw⟩² ~ Beta(1/2, (n − 1)/2), as for hw uniform on a sphere."""
    return float(stats.kstest(cosines**2, stats.beta(0.5, (n - 1) / 2).cdf).pvalue)


@pytest.mark.parametrize(("name", "fields", "vector", "n", "delta", "copies"), SAMPLED, ids=str)
def test_distribution(name: str, fields: dict[str, Any], vector: list[int], n: int, delta: int, copies: int) -> None:
    """O(n), U(n/2), Sp(n/4) move a vector uniformly; they differ in E tr², the dimension of what commutes: 1, 2, 4."""
    members = haar_of_lift_group(symmetries(maps(name, **fields)), np.random.default_rng(7), 4000)
    w = np.array(vector, float) / np.linalg.norm(vector)
    assert chance(members @ w @ w, n) > FALSE_ALARM
    rest = members.shape[1] - n * copies  # trivial components, where labels fix everything
    squares = ((np.einsum("kii->k", members) - rest) / copies) ** 2
    error = squares.std() / len(squares) ** 0.5
    assert abs(squares.mean() - delta) <= stats.norm.isf(FALSE_ALARM / 2) * error


def test_a_biased_sampler_is_seen() -> None:
    """Without its signs the triangular factor leaves the first diagonal entry of Q negative."""
    gaussian = np.random.default_rng(0).standard_normal((4000, 3, 3))
    biased = np.linalg.qr(gaussian)[0]
    traces = np.einsum("kii->k", biased)
    assert abs(traces.mean()) > stats.norm.isf(FALSE_ALARM / 2) * traces.std() / len(traces) ** 0.5
    stretched = gaussian[:, 0] / np.linalg.norm(gaussian, axis=(1, 2))[:, None]
    assert chance(stretched[:, 0], 3) < FALSE_ALARM


def test_matrices_that_are_no_group_are_undecided() -> None:
    with pytest.raises(Undecided, match="no group"):
        symmetries([(np.diag([1.0, 0.5]), np.eye(1))])


# Designs ---------------------------------------------------------------------------------------------------------------


def signed_permutations(n: int) -> Action:
    """Generated by permutations and one change of sign."""
    shift, swap, sign = ([[0] * n for _ in range(n)] for _ in range(3))
    for i in range(n):
        shift[(i + 1) % n][i] = 1
        swap[{0: 1, 1: 0}.get(i, i)][i] = 1
        sign[i][i] = -1 if i == 0 else 1
    return Action(tuple((tuple(map(tuple, m)), ((1,),)) for m in (shift, swap, sign)))


def test_degrees_of_designs() -> None:
    assert [design_degree(cyclic_moments(n), 2, special=True) for n in range(2, 9)] == [1, 2, 3, 4, 5, 6, 7]
    assert [design_degree(cyclic_moments(5), 2, special=True, highest=t) for t in (3, 4, 5)] == [3, 4, 4]
    assert design_degree(trace_moments(action("octahedral")), 3, special=True) == 3
    assert design_degree(trace_moments(action("icosahedral")), 3, special=True) == 5
    assert [design_degree(trace_moments(signed_permutations(n)), n, special=False) for n in (2, 3, 4)] == [3, 3, 3]
    assert design_degree(icosian_moments(), 4, special=True) == 11
    assert (icosian_moments()(12), orthogonal_moments(4, 12, special=True)) == (17689, 17424)


def test_degree_of_the_tetrahedral_rotations() -> None:
    half_turn = ((-1, 0, 0), (0, -1, 0), (0, 0, 1))
    cycle = ((0, 0, 1), (1, 0, 0), (0, 1, 0))
    act = Action(((half_turn, ((1,),)), (cycle, ((1,),))))
    assert len(elements(act)) == 12
    assert design_degree(trace_moments(act), 3, special=True) == 2


@pytest.mark.parametrize("n", [2, 3, 4])
def test_degree_of_permutations_of_a_simplex(n: int) -> None:
    """Permutations of n + 1 points act on the n dimensions orthogonal to the ones vector: the trace is one less."""
    traces = [sum(i == j for i, j in enumerate(p)) - 1 for p in permutations(range(n + 1))]
    moments = lambda s: sum(t**s for t in traces) / len(traces)  # noqa: E731
    assert design_degree(moments, n, special=False) == 2


@pytest.mark.parametrize(("n", "special"), [(2, False), (2, True), (3, False), (3, True), (4, True)])
def test_moments_of_all_rotations_by_sampling(n: int, special: bool) -> None:
    """Haar samples of 20000 rotations, within the range of one false alarm in a million."""
    g = haar_orthogonal(np.random.default_rng(n), n, 40_000)
    traces = np.einsum("kii->k", g[np.linalg.det(g) > 0] if special else g)
    for s in range(1, 7):
        error = (traces**s).std() / len(traces) ** 0.5
        exact = orthogonal_moments(n, s, special=special)
        assert abs((traces**s).mean() - exact) <= stats.norm.isf(FALSE_ALARM / 2) * error


def test_the_icosian_rotations_average_like_all_rotations() -> None:
    generator = np.random.default_rng(0)
    group = icosian_rotations()
    assert len({tuple(g.ravel().round(6) + 0.0) for g in group}) == 7200
    assert np.linalg.det(group) == pytest.approx(1)
    # Of the form of second moments, S⊗S⊗S with symmetric S: others tell SO(4) from O(4).
    s = generator.standard_normal((4, 4))
    s = s + s.T
    a = np.einsum("ad,be,cf->abcdef", s, s, s).reshape(64, 64)
    exact = pairing_average(a, 4)
    np.testing.assert_allclose(icosian_average(a, 3), exact, atol=1e-12 * np.abs(exact).max())


def test_averages_leave_the_other_coordinates_alone() -> None:
    """Two of three coordinates turn: against the mean over a group of rotations and reflections, a design of degree 7."""
    tensor = np.random.default_rng(0).standard_normal((3, 3, 3, 3))
    angles = 2 * np.pi * np.arange(8) / 8
    group = []
    for t, flip in product(angles, (1, -1)):
        g = np.eye(3)
        g[:2, :2] = np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) @ np.diag([1, flip])
        group.append(g)
    mean = np.mean([np.einsum("ai,bj,ck,dl,ijkl->abcd", g, g, g, g, tensor) for g in group], axis=0)
    np.testing.assert_allclose(rotation_average(tensor, 2), mean, atol=1e-13)
