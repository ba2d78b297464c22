"""A module beside its linearization: against networks whose runs are known, and refusals by name."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from linearized_modules import (
    Wrapped,
    Wrapper,
    data,
    dropped,
    images,
    in_place,
    in_place_inside,
    kinked,
    linear,
    normalized,
    several,
    smooth,
    tied,
)
from torch import nn

from lakatos.core import InputError
from lakatos.numerics import mlps, taylor_mode
from lakatos.numerics.linearization import Settings, linearization
from lakatos.numerics.linearized_training import Schedule, runs_beside_linearization
from lakatos.numerics.mlps import Architecture
from lakatos.numerics.module_kinks import kinks
from lakatos.numerics.module_mlps import sequential_mlp
from lakatos.numerics.schedules import record_steps


def test_runs_equal_those_of_networks_and_correlations_those_of_taylor_mode() -> None:
    mlp = mlps.draw(Architecture(3, 8, 2, 2, "tanh"), [5])
    x, y = data()
    settings = Settings(rate=0.5, steps=4, train=4)
    found = linearization(Wrapped(mlp), x, y, settings)
    runs = runs_beside_linearization(
        mlp, x, nn.functional.one_hot(y[:4]).double(), Schedule(0.5, 4, loss="cross_entropy"), records=[1, 2, 3, 4]
    )
    assert found.records == (1, 2, 3, 4)
    expected = runs.deviation[:, 0].square().mean((1, 2)).sqrt()
    np.testing.assert_allclose(found.measured, expected, rtol=1e-8)
    movement = (runs.linear - runs.start)[:, 0].square().mean((1, 2)).sqrt()
    np.testing.assert_allclose(found.movement, movement, rtol=1e-10)
    one = mlp.with_parameters([p[0] for p in mlp.parameters])
    outputs = mlps.forward(one, x[:4]).outputs
    c = (outputs.softmax(1) - nn.functional.one_hot(y[:4])) / 4
    direction = taylor_mode.gradient_direction(one, x[:4], c)
    values = taylor_mode.correlations(one, x, direction, 3, rate=0.5)
    np.testing.assert_allclose(found.correlations, values.square().mean((1, 2)).sqrt(), rtol=1e-8)
    norms = taylor_mode.first_order_norms(one, x[:4], direction, 2, rate=0.5)
    np.testing.assert_allclose(found.norms, norms.square().mean((1, 2)).sqrt(), rtol=1e-8)


LAYERS: dict[str, Any] = {
    "tanh": nn.Tanh,
    "sigmoid": nn.Sigmoid,
    "softplus": nn.Softplus,
    "gelu": nn.GELU,
    "silu": nn.SiLU,
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_taylor_mode_of_sequences_agrees_with_nested_forward_mode(name: str, bias: bool) -> None:
    torch.manual_seed(1)
    inner = nn.Sequential(nn.Linear(3, 5, bias=bias), LAYERS[name](), nn.Linear(5, 4, bias=bias), LAYERS[name]())
    module = nn.Sequential(nn.Flatten(), nn.Identity(), inner, nn.Linear(4, 2, bias=bias)).double()
    x, y = data()
    mlp = sequential_mlp(module)
    assert mlp is not None
    assert mlp.activation == name
    torch.testing.assert_close(mlps.forward(mlp, x).outputs, module(x))
    settings = Settings(rate=0.3, steps=1, order=4)
    found, nested = (linearization(m, x, y, settings) for m in (module, Wrapper(module)))
    np.testing.assert_allclose(found.correlations, nested.correlations, rtol=1e-9, atol=1e-14)
    np.testing.assert_allclose(found.norms, nested.norms, rtol=1e-9, atol=1e-14)


def test_high_orders_sum_to_the_step() -> None:
    """Along the gradient, Σ (−1)^d C_{0,d} is what a step does, up to terms of higher order."""
    torch.manual_seed(3)
    module = nn.Sequential(nn.Linear(3, 6), nn.Tanh(), nn.Linear(6, 1)).double()
    x, y = torch.tensor([[0.3, -0.7, 1.1]], dtype=torch.float64), torch.tensor([[2.0]], dtype=torch.float64)
    errors = []
    mlp = sequential_mlp(module)
    assert mlp is not None
    direction = taylor_mode.gradient_direction(mlp, x, mlps.forward(mlp, x).outputs - y)
    stepped = [p - 0.05 * v for p, v in zip(mlp.parameters, direction.dense(True), strict=True)]
    after = mlps.forward(mlp.with_parameters(stepped), x).outputs
    for order in (3, 6, 9):
        found = linearization(module, x, y, Settings(loss="squared", rate=0.05, steps=1, order=order))
        values = taylor_mode.correlations(mlp, x, direction, order, rate=0.05)[:, 0, 0]
        np.testing.assert_allclose(found.correlations, values.abs(), rtol=1e-12)
        errors.append(abs(float(sum((-1) ** d * c for d, c in enumerate(values)) - after)))
    assert errors[2] < errors[1] / 100 < errors[0] / 10_000


@pytest.mark.parametrize(
    "module",
    [
        nn.Linear(3, 2),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 4), nn.Sigmoid(), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.GELU("tanh"), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.Softplus(2.0), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4, bias=False), nn.Tanh(), nn.Linear(4, 2)),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2).requires_grad_(False)),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Tanh()),
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2), nn.Flatten(0)),
        Wrapper(smooth()),
    ],
)
def test_other_modules_are_no_sequences(module: nn.Module) -> None:
    assert sequential_mlp(module) is None
    assert sequential_mlp(smooth(), 3) is None
    x, y = data()
    if module(x.float()).shape == (6, 2) and not any(isinstance(part, nn.ReLU) for part in module.modules()):
        with pytest.raises(InputError, match=r"order=5: more than 4 only for an nn\.Sequential"):
            linearization(module, x, y, Settings(order=5, steps=1))


def test_prediction_is_right_to_first_order_in_the_deviation() -> None:
    """Halving the rate at a fixed number of steps halves the relative error of the prediction, at least."""
    x, y = data()
    torch.manual_seed(0)
    module, errors = smooth(), []
    for rate in (0.02, 0.01, 0.005):
        found = linearization(module, x, y, Settings(rate=rate, steps=5))
        assert found.predicted is not None
        errors.append(abs(found.predicted[-1] / found.measured[-1] - 1))
    assert errors[1] < 0.7 * errors[0]
    assert errors[2] < 0.7 * errors[1]


def test_a_linear_model_is_its_own_linearization() -> None:
    x, y = data()
    found = linearization(linear(), x, y, Settings(rate=1.0, steps=30))
    assert max(found.measured) < 1e-12
    assert found.predicted is not None
    assert max(found.predicted) < 1e-12
    assert found.correlations[2] == found.correlations[3] == found.norms[1] == 0
    assert found.verdict == "linear regime"


def test_kinks_are_found_where_they_are() -> None:
    assert kinks(kinked(), torch.zeros(2, 3)) == ("relu (1)",)
    assert kinks(smooth(), torch.zeros(2, 3)) == ()
    x, y = data()
    found = linearization(kinked(), x, y, Settings(steps=2))
    assert found.predicted is None
    assert len(found.correlations) == 2
    with pytest.raises(InputError, match=r"order=2: relu \(1\) has kinks"):
        linearization(kinked(), x, y, Settings(steps=2, order=2))


@pytest.mark.parametrize(
    ("factory", "message"),
    [
        (tied, r"2\.weight: is the same parameter as 0\.weight"),
        (in_place, "model: cannot be differentiated"),
        (in_place_inside, r"0\.inner\.1: cannot be differentiated"),
        (several, "model: returns tuple"),
        (images, r"model: returns \(6, 2, 2\)"),
        (normalized, "1: BatchNorm in training mode"),
        (dropped, "1: dropout in training mode"),
        (nn.Identity, "none of its parameters"),
    ],
)
def test_what_is_not_supported_is_named(factory: Any, message: str) -> None:
    x, y = data()
    with pytest.raises(InputError, match=message):
        linearization(factory(), x, y, Settings(steps=1))


def test_evaluation_mode_is_accepted() -> None:
    x, y = data()
    for factory in (normalized, dropped):
        linearization(factory().eval(), x, y, Settings(steps=2))


@pytest.mark.parametrize(
    ("y", "loss", "message"),
    [
        (torch.tensor([0, 1, 2, 0, 1, 0]), "cross_entropy", "classes 0 to 2; the model has 2 outputs"),
        (torch.zeros(6, dtype=torch.float64), "cross_entropy", "loss='cross_entropy'"),
        (torch.zeros(6, 3, dtype=torch.float64), "squared", "2 numbers for each sample"),
        (torch.zeros(6, 2, dtype=torch.float64), "logistic", "labels 1 and -1"),
        (torch.zeros(5, dtype=torch.int64), "cross_entropy", "y has 5 entries for 6 samples"),
    ],
)
def test_targets_that_do_not_fit(y: torch.Tensor, loss: Any, message: str) -> None:
    x, _ = data()
    with pytest.raises(InputError, match=message):
        linearization(smooth(), x, y, Settings(loss=loss, steps=1))


def test_one_output_and_batches() -> None:
    x, y = data()
    module = nn.Sequential(nn.Linear(3, 8), nn.Sigmoid(), nn.Linear(8, 1), nn.Flatten(0))
    signs = 2.0 * y - 1
    for loss in ("squared", "logistic"):
        found = linearization(module, x, signs, Settings(loss=loss, steps=6, batch=2, rate=0.3))  # type: ignore[arg-type]
        assert found.outputs == 1
        again = linearization(module, x, signs, Settings(loss=loss, steps=6, batch=2, rate=0.3))  # type: ignore[arg-type]
        assert found == again
        other = linearization(module, x, signs, Settings(loss=loss, steps=6, batch=2, rate=0.3, seed=1))  # type: ignore[arg-type]
        assert found.measured != other.measured


@pytest.mark.parametrize(
    "fields", [{"rate": 0.0}, {"rate": float("nan")}, {"steps": 0}, {"batch": 0}, {"order": 17}, {"loss": "hinge"}]
)
def test_bad_settings(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(fields))}="):
        Settings(**fields)


def test_steps_that_are_recorded() -> None:
    assert record_steps(1, 24) == (1,)
    assert record_steps(3, 24) == (1, 2, 3)
    assert record_steps(1000, 4) == (1, 10, 100, 1000)
