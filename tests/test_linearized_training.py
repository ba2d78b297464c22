"""Training beside the linearization, against the same descent written out with autograd in parameter space."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from lakatos.core import InputError
from lakatos.numerics import mlps
from lakatos.numerics.forward_mode import jvp, vjp
from lakatos.numerics.linearized_training import LOSS_DERIVATIVES, Schedule, ensemble_runs
from lakatos.numerics.mlps import Architecture


def data(outputs: int, loss: str, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(seed)
    inputs = torch.randn(5, 3, generator=generator, dtype=torch.float64)
    classes = torch.randint(0, max(outputs, 2), (3,), generator=generator)
    if loss == "cross_entropy":
        return inputs, torch.nn.functional.one_hot(classes, outputs).double()
    return inputs, (2.0 * classes.double() - 1)[:, None].expand(3, outputs).contiguous()


def by_hand(
    architecture: Architecture, seed: int, inputs: torch.Tensor, targets: torch.Tensor, schedule: Schedule
) -> tuple[torch.Tensor, torch.Tensor]:
    """Both models in parameter space: the network, and its Taylor model of order one, with products of Jacobians."""
    mlp = mlps.draw(architecture, [seed])
    derivative = LOSS_DERIVATIVES[schedule.loss]

    def function(parameters: tuple[torch.Tensor, ...]) -> torch.Tensor:
        return mlps.forward(mlp.with_parameters(parameters), inputs).outputs[0]

    start, n = mlp.parameters, len(targets)
    is_free = [
        schedule.trained == "all" or i in (architecture.hidden, 2 * architecture.hidden + 1) for i in range(len(start))
    ]
    outputs0, back0 = vjp(function, start)
    now, moved = start, tuple(torch.zeros_like(p) for p in start)
    for _ in range(schedule.steps):
        values, back = vjp(function, now)
        c = torch.zeros_like(values)
        c[:n] = derivative(values[:n], targets) / n
        now = tuple(p - schedule.rate * g * f for p, g, f in zip(now, back(c)[0], is_free, strict=True))
        linear = outputs0 + jvp(function, (start,), (moved,))[1]
        c = torch.zeros_like(values)
        c[:n] = derivative(linear[:n], targets) / n
        moved = tuple(p - schedule.rate * g * f for p, g, f in zip(moved, back0(c)[0], is_free, strict=True))
    return function(now), outputs0 + jvp(function, (start,), (moved,))[1]


@settings(max_examples=12)
@given(
    hidden=st.integers(1, 2),
    loss=st.sampled_from(["squared", "logistic", "cross_entropy"]),
    bias=st.booleans(),
    trained=st.sampled_from(["all", "last"]),
    parametrization=st.sampled_from(["ntk", "standard"]),
    seed=st.integers(0, 100),
)
def test_both_runs_equal_descent_in_parameter_space(
    hidden: int, loss: Any, bias: bool, trained: Any, parametrization: Any, seed: int
) -> None:
    outputs = 3 if loss == "cross_entropy" else 1
    architecture = Architecture(3, 6, hidden, outputs, "tanh", parametrization, bias=bias)
    inputs, targets = data(outputs, loss, seed)
    schedule = Schedule(0.3, 4, loss=loss, trained=trained)
    runs = ensemble_runs(architecture, [seed], inputs, targets, schedule)
    network, linear = by_hand(architecture, seed, inputs, targets, schedule)
    torch.testing.assert_close(runs.outputs[-1, 0], network, rtol=1e-10, atol=1e-12)
    torch.testing.assert_close(runs.linear[-1, 0], linear, rtol=1e-10, atol=1e-12)
    if trained == "last":  # the mandatory control: a model linear in its parameters is its own linearization
        torch.testing.assert_close(runs.outputs, runs.linear, rtol=1e-12, atol=1e-13)
    else:
        assert float(runs.deviation.abs().max()) > 1e-6


def test_seeds_and_chunks_do_not_change_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    architecture = Architecture(3, 8)
    inputs, targets = data(1, "squared", 0)
    schedule = Schedule(0.5, 6, batch=2)
    together = ensemble_runs(architecture, [1, 2, 3], inputs, targets, schedule, records=[2, 6], drifts=True)
    one_by_one = [
        ensemble_runs(architecture, [s], inputs, targets, schedule, records=[2, 6], drifts=True) for s in (1, 2, 3)
    ]
    for i, run in enumerate(one_by_one):
        torch.testing.assert_close(together.outputs[:, i], run.outputs[:, 0], rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(together.linear[:, i], run.linear[:, 0], rtol=1e-12, atol=1e-13)
        torch.testing.assert_close(together.kernel_drift[:, i], run.kernel_drift[:, 0], rtol=1e-9, atol=1e-12)
    assert float(together.outputs[0].sub(together.outputs[1]).abs().max()) > 0
    monkeypatch.setattr(mlps, "_BUDGET", 1)
    in_chunks = ensemble_runs(architecture, [1, 2, 3], inputs, targets, schedule, records=[2, 6], drifts=True)
    for name in ("start", "outputs", "linear", "kernel_drift", "gradient_drift"):
        torch.testing.assert_close(getattr(in_chunks, name), getattr(together, name), rtol=1e-9, atol=1e-12)


def test_a_wide_network_stays_close_and_a_mean_field_one_does_not() -> None:
    inputs, targets = data(1, "squared", 3)
    sizes = {}
    for name in ("ntk", "mean_field"):
        for n in (64, 1024):
            architecture = Architecture(3, n, parametrization=name)
            schedule = Schedule(0.5 * architecture.rate_factor, 20)
            runs = ensemble_runs(architecture, range(10), inputs, targets, schedule)
            sizes[name, n] = float(runs.deviation.square().mean().sqrt())
    assert sizes["ntk", 1024] < sizes["ntk", 64] / 6
    assert sizes["mean_field", 1024] > sizes["mean_field", 64] / 2


def test_drifts_vanish_at_the_start_and_for_the_last_layer() -> None:
    inputs, targets = data(1, "squared", 3)
    schedule = Schedule(0.5, 3, trained="last")
    runs = ensemble_runs(Architecture(3, 8), [0], inputs, targets, schedule, drifts=True)
    assert float(runs.kernel_drift.max()) <= 1e-14
    moving = ensemble_runs(Architecture(3, 8), [0], inputs, targets, replace(schedule, trained="all"), drifts=True)
    assert float(moving.kernel_drift.max()) > 1e-4
    assert float(moving.gradient_drift.max()) > 1e-3


def test_random_labels_are_drawn_anew_in_each_step() -> None:
    inputs, targets = data(1, "squared", 3)
    fixed, random = (
        ensemble_runs(Architecture(3, 8), [0], inputs, targets, Schedule(0.5, 40, batch=1, random_labels=flag))
        for flag in (False, True)
    )
    assert float((fixed.outputs[-1, 0, :3] - targets).abs().max()) < float(
        (random.outputs[-1, 0, :3] - targets).abs().max()
    )


@pytest.mark.parametrize("fields", [{"rate": 0.0}, {"steps": 0}, {"batch": 0}, {"loss": "hinge"}])
def test_bad_schedules(fields: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=f"{next(iter(fields))}="):
        Schedule(**{"rate": 0.1, "steps": 1, **fields})


def test_bad_records() -> None:
    inputs, targets = data(1, "squared", 0)
    with pytest.raises(InputError, match="records="):
        ensemble_runs(Architecture(3, 4), [0], inputs, targets, Schedule(0.1, 2), records=[3])
