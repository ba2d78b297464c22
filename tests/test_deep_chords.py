"""Deviations of deep networks against networks that are run; second derivatives against differences; orders."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given

from lakatos.core import InputError, Undecided
from lakatos.instance import build_instance
from lakatos.numerics.chords import ACTIVATIONS, deviation, deviation_order
from lakatos.numerics.floats import floats
from lakatos.theorems import load
from lakatos.theory.chords import tent
from lakatos.theory.deep_chords import PairFields, between, deviations
from lakatos.theory.matrices import product, transpose
from lakatos.theory.smooth_chords import SMOOTH, curvature, curvature_bound, curvature_slope, leading_deviation

THEOREM = load("chord_deviations_pass_through_layers")
ONE = Fraction(1)


@given(THEOREM.instances())  # type: ignore[misc]
def test_recursion_is_the_network_between_the_ends(drawn: dict[str, object]) -> None:
    pair = build_instance(THEOREM.instance_class, drawn)
    layers = deviations(pair, pair.weight, pair.activation)
    assert layers[-1].inner == between(pair, pair.weight, pair.activation)
    t = float(pair.weight)
    runs = []
    for weights in (
        pair.first,
        pair.second,
        [(1 - t) * floats(a) + t * floats(b) for a, b in zip(pair.first, pair.second, strict=True)],
    ):
        h = floats(pair.data)
        for depth, W in enumerate(weights):
            h = h @ (W if isinstance(W, np.ndarray) else floats(W)).T
            if depth + 1 < len(weights):
                h = ACTIVATIONS[pair.activation](h)
        runs.append(h)
    assert np.allclose(floats(layers[-1].inner), runs[2] - (1 - t) * runs[0] - t * runs[1], atol=1e-9)


@given(THEOREM.instances())  # type: ignore[misc]
def test_chord_of_the_first_layer_is_the_tent(drawn: dict[str, object]) -> None:
    pair = build_instance(THEOREM.instance_class, {**drawn, "activation": "relu"})
    z0, z1 = (product(pair.data, transpose(W[0])) for W in (pair.first, pair.second))
    chord = deviations(pair, pair.weight, "relu")[0].chord
    expected = tuple(
        tuple(tent(a, b, pair.weight) for a, b in zip(*rows, strict=True)) for rows in zip(z0, z1, strict=True)
    )
    assert chord == expected


def test_shapes_are_checked() -> None:
    matrix = ((ONE, ONE),)
    with pytest.raises(InputError, match="first: 1 and second: 0"):
        PairFields(first=(matrix,), second=(), data=matrix)
    with pytest.raises(InputError, match=r"second\[1\]"):
        PairFields(first=(matrix, ((ONE,),)), second=(matrix, matrix), data=matrix)


@pytest.mark.parametrize("activation", SMOOTH)
def test_derivatives_of_smooth_activations(activation: str) -> None:
    """Against second differences, whose error is h²/12 times the fourth derivative, below 10."""
    eta, h = ACTIVATIONS[activation], 1e-3
    grid = np.linspace(-5, 5, 2001)
    second = (eta(grid + h) - 2 * eta(grid) + eta(grid - h)) / h**2
    assert np.abs(second).max() <= curvature_bound(activation) + 1e-5
    assert np.abs(second).max() >= curvature_bound(activation) - 1e-3
    slopes = np.abs(np.diff(second) / np.diff(grid))
    assert slopes.max() <= curvature_slope(activation) + 1e-3
    assert slopes.max() >= curvature_slope(activation) - 1e-2
    for at in (Fraction(-1), Fraction(1, 3), Fraction(2)):
        x = float(at)
        difference = (eta(np.array(x + h)) - 2 * eta(np.array(x)) + eta(np.array(x - h))) / h**2
        assert float(curvature(activation, at)) == pytest.approx(float(difference), abs=1e-5)


@pytest.mark.parametrize("activation", SMOOTH)
def test_rest_is_of_third_order(activation: str) -> None:
    rests = []
    for h in (Fraction(1, 64), Fraction(1, 128), Fraction(1, 256)):
        exact = float(deviation(0.5 + float(h), 0.5 - 2 * float(h), 0.25, activation))
        rests.append(abs(exact - leading_deviation(activation, Fraction(1, 2), h, -2 * h, Fraction(1, 4))))
    assert 7 < rests[0] / rests[1] < 9
    assert 7.5 < rests[1] / rests[2] < 8.5


def test_orders() -> None:
    c, t = np.array([0.0]), np.array([1.0])
    assert deviation_order(c, t, -t, 0.5, "relu")[0] == pytest.approx(1)
    # η'' vanishes at 0, and t⁰ = −t¹ makes the third order vanish too: nothing is left of an odd function.
    assert deviation_order(c, t, -2 * t, 0.5, "tanh")[0] == pytest.approx(3, abs=1e-3)
    assert deviation_order(c + 1, t, -t, 0.5, "gelu")[0] == pytest.approx(2, abs=1e-3)
    with pytest.raises(Undecided):
        deviation_order(c + 1, t, -t, 0.5, "relu")
