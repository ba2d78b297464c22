"""Bounds of norms of networks, against the exact norms of one hidden layer and dense tensors."""

from __future__ import annotations

import math

import pytest
import torch

from lakatos.core import InputError
from lakatos.numerics import mlps, taylor_mode
from lakatos.numerics.activations import Activation
from lakatos.numerics.correlation_norms import correlation_norm_bounds
from lakatos.numerics.mlps import Architecture, Mlp
from lakatos.numerics.one_hidden import OneHidden

ONE = torch.ones(1, 1, dtype=torch.float64)


def problem(hidden: int, width: int = 6) -> tuple[Mlp, torch.Tensor]:
    drawn = mlps.draw(Architecture(3, width, hidden), [3])
    x = torch.tensor([[0.7, -1.1, 0.4]], dtype=torch.float64)
    return drawn.with_parameters([p[0] for p in drawn.parameters]), x


def exact(mlp: Mlp, x: torch.Tensor, D: int, d: int, rate: float) -> float:
    W, a = mlp.weights
    z = (W @ x[0] / math.sqrt(3))[None, :, None].expand(1, -1, 2)
    kernel = (x @ x.T / 3).flatten().expand(2)
    net = OneHidden.of(Activation("tanh"), a, z, kernel, ONE[0], rate=rate)
    return float(net.correlations([(D, d)])[D, d])


@pytest.mark.parametrize("d", [0, 1, 2])
def test_second_order_against_the_exact_norm_of_one_hidden_layer(d: int) -> None:
    mlp, x = problem(1)
    direction = taylor_mode.gradient_direction(mlp, x, ONE)
    found = correlation_norm_bounds(mlp, x, direction, 2, d, rate=0.5)
    assert found.kind == "bracket"
    assert found.lower * (1 - 1e-9) <= exact(mlp, x, 2, d, 0.5) <= found.upper
    assert found.upper <= 1.3 * found.lower


@pytest.mark.slow
def test_third_order_against_the_exact_norm_of_one_hidden_layer() -> None:
    mlp, x = problem(1, width=2)
    direction = taylor_mode.gradient_direction(mlp, x, ONE)
    found = correlation_norm_bounds(mlp, x, direction, 3, 0, restarts=4, iterations=15, steps=8)
    norm = exact(mlp, x, 3, 0, 1.0)
    assert found.kind == "bounds"
    assert found.lower <= norm * (1 + 1e-9)
    assert norm <= found.upper
    assert found.lower >= 0.9 * norm
    assert str(found).startswith("in [")


def test_second_order_of_two_hidden_layers_against_the_dense_hessian() -> None:
    mlp, x = problem(2, width=3)
    direction = taylor_mode.gradient_direction(mlp, x, ONE)
    theta = torch.cat([p.flatten() for p in mlp.parameters])
    sizes = [p.numel() for p in mlp.parameters]

    def coefficient(flat: torch.Tensor) -> torch.Tensor:
        parts = [part.reshape(p.shape) for part, p in zip(torch.split(flat, sizes), mlp.parameters, strict=True)]
        return taylor_mode.correlations(mlp.with_parameters(parts), x, direction, 1)[1].sum()

    dense = float(torch.linalg.matrix_norm(torch.func.hessian(coefficient)(theta), 2)) / 2
    found = correlation_norm_bounds(mlp, x, direction, 2, 1)
    assert found.lower * (1 - 1e-9) <= dense <= found.upper


def test_lower_bounds_say_so() -> None:
    mlp, x = problem(1, width=2)
    direction = taylor_mode.gradient_direction(mlp, x, ONE)
    found = correlation_norm_bounds(mlp, x, direction, 4, 0, restarts=2, iterations=5)
    assert (found.kind, found.upper) == ("lower bound", math.inf)
    assert str(found).startswith(">= ")
    assert found.lower <= exact(mlp, x, 4, 0, 1.0) * (1 + 1e-9)
    with pytest.raises(InputError, match="D=1"):
        correlation_norm_bounds(mlp, x, direction, 1, 0)
