"""Gradient fields of simulated training against sums over samples, and over sampled rotations."""

from __future__ import annotations

import numpy as np
import pytest

from lakatos._checker_groups import action, elements
from lakatos.numerics.averaged_training import averaged_moments, deep_linear_field, lightning_field, lightning_moments
from lakatos.numerics.model_losses import SCOUTED
from lakatos.numerics.rotated_lightning import rotated_field
from lakatos.numerics.rotation_averages import icosian_rotations, pairing_average
from lakatos.numerics.simulated_training import (
    SLOPES,
    augmented,
    is_simulated,
    network_field,
    rotated_lightning_field,
    shapes_of,
)


def drawn(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize("loss", SLOPES)
@pytest.mark.parametrize(
    ("architecture", "sizes", "bias"),
    [
        ("relu", (2, 3, 2), True),
        ("power", (3, 2, 2), False),
        ("attention", (2, 2), False),
        ("swiglu", (2, 2, 2), False),
    ],
)
def test_fields_are_differences_of_the_loss(architecture: str, sizes: tuple[int, ...], bias: bool, loss: str) -> None:
    """Central differences of the mean loss, sample by sample."""
    import torch

    parameters, shape, outputs = shapes_of(architecture, sizes, bias=bias)
    x, y, theta = drawn(4, *shape), drawn(4, *outputs, seed=1), drawn(parameters, seed=2)
    _, network, _ = SCOUTED[architecture](sizes, bias)
    of_error = {"squared": lambda e: e**2 / 2, "log cosh": lambda e: np.log(np.cosh(e))}[loss]

    def mean(t: np.ndarray) -> float:
        values = [network(torch.as_tensor(t), torch.as_tensor(sample)).numpy() for sample in x]
        return float(np.mean([of_error(value - label).sum() for value, label in zip(values, y, strict=True)]))

    h = 1e-5
    slopes = [(mean(theta + h * e) - mean(theta - h * e)) / (2 * h) for e in np.eye(parameters)]
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


def test_rotated_attention_is_the_average_over_a_design() -> None:
    x, theta = 0.6 * drawn(6, 3, 4), 0.6 * drawn(12, seed=1)
    field = rotated_lightning_field((4, 1, 1), x)
    moments = lightning_moments(x, np.zeros((6, 3)))
    by_hand = lightning_field(type(moments)(pairing_average(moments.a, 4), 0 * moments.b), 4)
    assert field(theta) == pytest.approx(by_hand(theta), abs=1e-12)
    by_design = rotated_field(x, np.zeros((6, 3)), icosian_rotations())
    assert field(theta) == pytest.approx(by_design(theta), abs=1e-10)


def test_wide_rotated_attention_is_equivariant() -> None:
    """Its loss does not change under a rotation of Q, K and V, and it falls along the field."""
    x, theta = drawn(4, 3, 3), drawn(3 * (2 + 2 + 2), seed=1)
    field = rotated_lightning_field((3, 2, 2), x)
    q, _ = np.linalg.qr(drawn(3, 3, seed=2))
    cuts = [part.reshape(3, 2) for part in np.split(theta, 3)]
    turned = np.concatenate([(q @ part).ravel() for part in cuts])
    slopes = np.concatenate([(q @ part.reshape(3, 2)).ravel() for part in np.split(field(theta), 3)])
    # Sums of products of order a thousand.
    assert field(turned) == pytest.approx(slopes, rel=1e-9, abs=1e-9)


def test_what_is_simulated() -> None:
    assert is_simulated("relu")
    assert not is_simulated("convolution")
    assert not is_simulated(None)
