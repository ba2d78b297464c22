"""Gradient fields of simulated training against sums over samples, and over sampled rotations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from lakatos._checker_groups import action, elements
from lakatos.core import InputError, Undecided
from lakatos.numerics.averaged_training import averaged_moments, deep_linear_field
from lakatos.numerics.rotated_lightning import rotated_field
from lakatos.numerics.rotated_training import rotated_lightning_field, rotated_power_field
from lakatos.numerics.rotation_averages import icosian_rotations
from lakatos.numerics.simulated_networks import trainable
from lakatos.numerics.simulated_training import LOSSES, augmented, followed, loss_field, network_field


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


def by_hand(architecture: str, sizes: tuple[int, ...], theta: Tensor, x: Tensor) -> Tensor:
    """Outputs for one sample, entry by entry."""
    if architecture == "convolution":
        c0, c1, c2, n_u, n_v = sizes
        u, v = theta[: c1 * c2 * n_u].reshape(c1, c2, n_u), theta[c1 * c2 * n_u :].reshape(c1, c0, n_v)
        places = x.shape[1] - n_v + 1
        hidden = torch.stack(
            [torch.stack([(v[j] * x[:, t : t + n_v]).sum() for t in range(places)]) for j in range(c1)]
        ).clamp(min=0)
        return torch.stack(
            [
                torch.stack([(u[:, k] * hidden[:, t : t + n_u]).sum() for t in range(places - n_u + 1)])
                for k in range(c2)
            ]
        )
    if architecture == "lightning":
        d, a, c = sizes
        q, k, v, o = (part.reshape(d, -1) for part in torch.split(theta, [d * a, d * a, d * c, d * c]))
        return torch.stack([sum((row @ q @ k.T @ z) * (o @ (v.T @ z)) for z in x) for row in x])
    if architecture == "layer-norm":
        z = theta.reshape(sizes) @ x
        return (z - z.mean()) / z.var(correction=0).sqrt()
    n, r, m = sizes
    w1, w2 = theta[: n * r].reshape(n, r), theta[n * r :].reshape(r, m)
    return w1 @ (w2 @ x if architecture == "linear" else (w2 @ x).clamp(min=0))


def by_hand_loss(name: str, outputs: Tensor, labels: Tensor) -> Tensor:
    if name == "cross-entropy":
        return -(labels * (outputs - outputs.exp().sum(-1, keepdim=True).log())).sum()
    error = outputs - labels
    return (error**2).sum() / 2 if name == "squared" else error.cosh().log().sum()


@pytest.mark.parametrize(
    ("architecture", "sizes", "loss"),
    [
        ("convolution", (1, 2, 2, 2, 2), "squared"),
        ("lightning", (2, 1, 1), "log cosh"),
        ("linear", (3, 2, 2), "cross-entropy"),
        ("relu", (3, 2, 3), "cross-entropy"),
        ("layer-norm", (4, 2), "squared"),
    ],
)
@settings(max_examples=2, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_flows_are_those_of_plain_steps(architecture: str, sizes: tuple[int, ...], loss: str, seed: int) -> None:
    """Runge-Kutta steps along gradients of a loss written out, sample by sample."""
    made = trainable(architecture, sizes, output_map=architecture == "lightning")
    x, y = drawn(3, *made.shape, seed=seed), drawn(3, *made.outputs, seed=seed + 1)
    if loss == "cross-entropy":
        y = np.exp(y) / np.exp(y).sum(-1, keepdims=True)
    start = 0.6 * drawn(made.parameters, seed=seed + 2)

    def velocity(theta: Tensor) -> Tensor:
        at = theta.clone().requires_grad_()
        total = sum(
            by_hand_loss(loss, by_hand(architecture, sizes, at, torch.as_tensor(a)), torch.as_tensor(b))
            for a, b in zip(x, y, strict=True)
        )
        return -torch.autograd.grad(total / 3, at)[0]

    theta, step, steps = torch.as_tensor(start), 1e-3, 12
    for _ in range(steps):
        k1 = velocity(theta)
        k2 = velocity(theta + step / 2 * k1)
        k3 = velocity(theta + step / 2 * k2)
        theta = theta + step / 6 * (k1 + 2 * k2 + 2 * k3 + velocity(theta + step * k3))
    end = followed(loss_field(made.network, x, y, loss=loss), start, [0.0, step * steps], rtol=1e-10)[-1]
    # A kink that a step crosses costs the square of the step; nothing else is as large.
    kinks = 1e-4 if made.is_kinked else 1e-8
    assert end == pytest.approx(theta.numpy(), abs=kinks)
    assert np.abs(end - start).max() > 10 * kinks


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(
    ("architecture", "sizes", "bias"),
    [("relu", (2, 3, 2), True), ("attention", (2, 2), False), ("batch-norm", (3, 2), False)],
)
def test_fields_are_differences_of_the_loss(architecture: str, sizes: tuple[int, ...], bias: bool, loss: str) -> None:
    """Central differences of the mean loss, sample by sample."""
    made = trainable(architecture, sizes, bias=bias)
    x, y, theta = drawn(4, *made.shape), drawn(4, *made.outputs, seed=1), drawn(made.parameters, seed=2)

    def mean(t: np.ndarray) -> float:
        values = [made.network(torch.as_tensor(t), torch.as_tensor(sample)) for sample in x]
        return float(np.mean([by_hand_loss(loss, v, torch.as_tensor(b)) for v, b in zip(values, y, strict=True)]))

    h = 1e-5
    slopes = [(mean(theta + h * e) - mean(theta - h * e)) / (2 * h) for e in np.eye(made.parameters)]
    # Differences are off by h² and by rounding over h.
    assert network_field(architecture, sizes, x, y, bias=bias, loss=loss)(theta) == pytest.approx(
        -np.array(slopes), abs=1e-7
    )


def test_augmented_data_average_the_loss() -> None:
    pairs = [(np.array(g, float), np.array(h, float)) for g, h in elements(action("S3", natural_labels=True))]
    x, y, theta = drawn(5, 3), drawn(5, 3, seed=1), drawn(12, seed=2)
    by_moments = deep_linear_field(averaged_moments(x, y, pairs), [(3, 2), (2, 3)])
    many = augmented(x, y, pairs)
    assert many[0].shape == many[1].shape == (30, 3)
    assert network_field("linear", (3, 2, 3), *many)(theta) == pytest.approx(by_moments(theta), abs=1e-12)
    assert network_field("linear", (3, 2, 3), x, y)(theta) != pytest.approx(by_moments(theta), abs=1e-3)


def plane(turned: int, still: int, count: int) -> list[np.ndarray]:
    """Rotations and reflections of the last two coordinates by multiples of 2π/count: an average to degree count − 1."""
    assert turned == 2
    found = []
    for k in range(count):
        c, s = np.cos(2 * np.pi * k / count), np.sin(2 * np.pi * k / count)
        for sign in (1, -1):
            g = np.eye(still + 2)
            g[still:, still:] = [[c, -sign * s], [s, sign * c]]
            found.append(g)
    return found


@pytest.mark.parametrize(("exponent", "units"), [(1, 2), (2, 2), (3, 1), (4, 2)])
def test_rotated_powers_are_averages_over_enough_rotations(exponent: int, units: int) -> None:
    x, y, theta = drawn(5, 2), drawn(5, 1, seed=1), drawn(3 * units, seed=2)
    many = augmented(x, y, [(g, np.eye(1)) for g in plane(2, 0, 2 * exponent + 1)])
    expected = network_field("power", (exponent, units, 2), *many)(theta)
    assert rotated_power_field(x, y[:, 0], exponent, units)(theta) == pytest.approx(expected, rel=1e-10, abs=1e-10)


@pytest.mark.parametrize(("still", "output_map"), [(0, False), (0, True), (1, False), (2, False)])
def test_rotated_attention_is_the_average_over_enough_rotations(still: int, output_map: bool) -> None:
    """With coordinates that stay, labels do not drop out; with an output map they rotate too."""
    sizes = (2 + still, 2, 1)
    made = trainable("lightning", sizes, output_map=output_map)
    x, y, theta = drawn(3, *made.shape), drawn(3, *made.outputs, seed=1), drawn(made.parameters, seed=2)
    maps = [(g, g if output_map else np.eye(made.outputs[-1])) for g in plane(2, still, 9)]
    expected = loss_field(made.network, *augmented(x, y, maps))(theta)
    field = rotated_lightning_field(sizes, x, y, rotated=2, output_map=output_map)
    assert field(theta) == pytest.approx(expected, rel=1e-9, abs=1e-9)
    # The labels matter where they should.
    other = rotated_lightning_field(sizes, x, 2 * y, rotated=2, output_map=output_map)
    assert (np.abs(other(theta) - field(theta)).max() > 1e-3) == bool(still or output_map)


def test_rotated_attention_is_the_average_over_a_design() -> None:
    x, theta = 0.6 * drawn(6, 3, 4), 0.6 * drawn(12, seed=1)
    field = rotated_lightning_field((4, 1, 1), x, np.zeros((6, 3, 1)))
    by_design = rotated_field(x, np.zeros((6, 3)), icosian_rotations())
    assert field(theta) == pytest.approx(by_design(theta), abs=1e-10)


def test_a_flow_that_cannot_be_followed_is_undecided() -> None:
    with pytest.raises(Undecided, match="could not be followed beyond time"):
        followed(lambda theta: theta**2, np.array([1.0]), [0.0, 2.0], rtol=1e-10)
    with pytest.raises(Undecided, match="could not be followed beyond time 0 "):
        followed(lambda theta: theta * np.nan, np.array([1.0]), [0.0, 2.0], rtol=1e-10)
    with pytest.raises(Undecided, match="slides along kinks"):
        followed(lambda theta: -np.sign(theta), np.array([1.0]), [0.0, 2.0], rtol=1e-10)


def test_unknown_networks_are_named() -> None:
    with pytest.raises(InputError, match="architecture='perceptron': cannot be trained"):
        trainable("perceptron", (2, 2))
    with pytest.raises(InputError, match="at most 10"):
        rotated_lightning_field((11, 1, 1), drawn(1, 3, 11), drawn(1, 3, 1))
