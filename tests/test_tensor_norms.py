"""Brackets of spectral norms against dense matrices and tensors, with all that could make them fail."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.core import InputError
from lakatos.numerics.tensor_norms import matrix_norm_bracket, norm_lower_bound, unfolding_bracket


def symmetric(P: int, order: int, seed: int) -> torch.Tensor:
    T = torch.randn(*[P] * order, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    from itertools import permutations

    every = list(permutations(range(order)))
    return sum((T.permute(p) for p in every), torch.zeros_like(T)) / len(every)


@settings(max_examples=60)
@given(P=st.integers(1, 30), seed=st.integers(0, 10**6))
def test_norm_lies_in_the_bracket(P: int, seed: int) -> None:
    A = symmetric(P, 2, seed)
    exact = float(torch.linalg.matrix_norm(A, 2))
    found = matrix_norm_bracket(lambda u: A @ u, P, steps=24, seed=seed)
    assert found.lower <= exact * (1 + 1e-12)
    assert exact <= found.upper
    assert found.upper <= 1.35 * found.lower or P == 1


def test_bracket_narrows_with_steps_and_is_infinite_with_few() -> None:
    A = symmetric(200, 2, 0)
    widths = [matrix_norm_bracket(lambda u: A @ u, 200, steps=k) for k in (4, 24, 48)]
    assert widths[0].upper == math.inf
    assert widths[2].upper / widths[2].lower < widths[1].upper / widths[1].lower


@pytest.mark.parametrize(
    ("P", "steps", "stated"),
    [
        (1312, 32, 0.19265 / 0.18470),
        (67840, 16, 0.1079 / 0.08278),
        (67840, 24, 0.0914 / 0.08278),
        (67840, 32, 0.0872 / 0.08278),
        (67840, 48, 0.0847 / 0.08278),
    ],
)
def test_width_of_the_bracket_is_that_of_the_theorem(P: int, steps: int, stated: float) -> None:
    """√(1/(1 − ε)) with ε = (log(1.648 √P/10⁻⁶)/(2k − 1))², as stated for two networks."""
    spectrum = torch.linspace(-1, 0.9, P, dtype=torch.float64)
    found = matrix_norm_bracket(lambda u: spectrum * u, P, steps=steps)
    assert found.upper / found.lower == pytest.approx(stated, rel=1e-3)
    epsilon = (math.log(1.648 * math.sqrt(P) / 1e-6) / (2 * steps - 1)) ** 2
    assert found.upper / found.lower == pytest.approx(1 / math.sqrt(1 - epsilon), rel=1e-12)
    assert found.lower <= 1 <= found.upper


def test_zero_and_rank_one_matrices() -> None:
    zero = matrix_norm_bracket(lambda u: 0 * u, 5)
    assert (zero.lower, zero.upper) == (0.0, 0.0)
    v = torch.arange(1.0, 6.0, dtype=torch.float64)
    found = matrix_norm_bracket(lambda u: -v * (v @ u), 5)
    assert found.lower == pytest.approx(float(v @ v), rel=1e-12)


@settings(max_examples=20)
@given(P=st.integers(1, 3), seed=st.integers(0, 10**6))
def test_bounds_of_order_three_enclose_the_norm(P: int, seed: int) -> None:
    """The norm itself by a fine net of the sphere, of which every point is a lower bound."""
    T = symmetric(P, 3, seed)
    net = torch.randn(20000, P, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    net = net / net.norm(dim=1, keepdim=True)
    by_net = float(torch.einsum("ijk,ni,nj,nk->n", T, net, net, net).abs().max())
    lower = norm_lower_bound(lambda u: torch.einsum("ijk,i,j->k", T, u, u), P, restarts=8, iterations=100)
    unfolded = T.reshape(P, -1)
    upper = unfolding_bracket(lambda u: unfolded @ (unfolded.T @ u), P).upper
    assert lower <= float(torch.linalg.matrix_norm(unfolded, 2)) * (1 + 1e-12)
    assert by_net <= upper
    assert by_net <= lower * (1 + 1e-9) + 0.02 * upper


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_power_iteration_finds_forms_of_order_four_of_both_signs(sign: float) -> None:
    """±(3u₁⁴ + 2u₂⁴ + u₃⁴ + u₄⁴) has the norm 3."""
    weights = torch.tensor([3.0, 2.0, 1.0, 1.0], dtype=torch.float64)
    found = norm_lower_bound(lambda u: sign * weights * u**3, 4)
    assert found == pytest.approx(3, rel=1e-9)
    assert found <= 3 * (1 + 1e-12)


def test_bad_steps() -> None:
    with pytest.raises(InputError, match="steps=0"):
        matrix_norm_bracket(lambda u: u, 3, steps=0)
