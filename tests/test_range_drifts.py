"""Ranges of weights under averaged, sampled and missing averages: conserved, or drifting at the rate they should."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from lakatos.numerics.averaged_training import (
    Moments,
    averaged_moments,
    deep_linear_field,
    lightning_field,
    lightning_moments,
)
from lakatos.numerics.haar import haar_orthogonal
from lakatos.numerics.integrators import METHODS, Vector, gradient_descent
from lakatos.numerics.ranges import range_drift, range_tolerance
from lakatos.numerics.rotated_lightning import fresh_descent, logistic_slope, rotated_field
from lakatos.numerics.rotation_averages import icosian_rotations, pairing_average, rotation_average
from lakatos.numerics.stochastic_descent import stochastic_runs


def permuted() -> tuple[Any, Any, Vector]:
    """The fifth experiment: two hidden units under all permutations of five inputs; averaged and plain fields, start."""
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((12, 5)), generator.standard_normal((12, 1))
    start = 0.6 * generator.standard_normal(12)
    maps = [(np.eye(5)[list(p)], np.eye(1)) for p in itertools.permutations(range(5))]
    shapes = [(1, 2), (2, 5)]
    return (
        deep_linear_field(averaged_moments(x, y, maps), shapes),
        deep_linear_field(averaged_moments(x, y), shapes),
        start,
    )


def block(theta: Vector) -> Vector:
    """Columns of the first layer, centered."""
    p = theta[2:].reshape(2, 5).T
    return np.asarray(p - p.mean(axis=0))


def test_a_finite_group_conserves_a_range_under_every_linear_method() -> None:
    averaged, plain, start = permuted()
    for step, adam in ((0.1, 0.735), (0.05, 0.657), (0.025, 0.957)):
        for method in ("gd", "rk4", "heavy_ball"):
            end = METHODS[method](averaged, start, step, round(2 / step))
            assert range_drift(block(start), block(end)) <= range_tolerance(block(start), block(end))
        end = gradient_descent(plain, start, step, round(2 / step))
        assert range_drift(block(start), block(end)) == pytest.approx(0.353, abs=2e-3)
        end = METHODS["adam"](averaged, start, step, round(2 / step))
        assert range_drift(block(start), block(end)) == pytest.approx(adam, abs=2e-3)


def attention() -> tuple[Moments, Vector]:
    """The second experiment: six sequences of three tokens in four dimensions, and the start (Q, K, V)."""
    generator = np.random.default_rng(0)
    x, y = 0.6 * generator.standard_normal((6, 3, 4)), generator.standard_normal((6, 3))
    return lightning_moments(x, y), 0.6 * generator.standard_normal(12)


def columns(theta: Vector) -> Vector:
    """[Q, K, V]."""
    return theta.reshape(3, 4).T


def test_attention_conserves_its_column_space_on_rotated_data_only() -> None:
    moments, start = attention()
    averaged = Moments(pairing_average(moments.a, 4), np.zeros_like(moments.b))
    for method in ("gd", "rk4", "heavy_ball"):
        for step in (0.02, 0.01, 0.005):
            end = METHODS[method](lightning_field(averaged, 4), start, step, round(0.4 / step))
            assert range_drift(columns(start), columns(end)) <= 10 * range_tolerance(columns(start), columns(end))
    for step, adam, plain in ((0.02, 0.168, 0.340), (0.01, 0.136, 0.338), (0.005, 0.114, 0.337)):
        end = METHODS["adam"](lightning_field(averaged, 4), start, step, round(0.4 / step))
        assert range_drift(columns(start), columns(end)) == pytest.approx(adam, abs=1e-3)
        end = gradient_descent(lightning_field(moments, 4), start, step, round(0.4 / step))
        assert range_drift(columns(start), columns(end)) == pytest.approx(plain, abs=1e-3)
    end = METHODS["rk4"](lightning_field(moments, 4), start, 0.01, 40)
    assert range_drift(columns(start), columns(end)) == pytest.approx(0.335, abs=1e-3)


def test_the_skew_part_that_moves_the_range_vanishes_on_rotated_data() -> None:
    """ZPᵀ, Z the gradient in P = [Q, K, V], at the start."""
    moments, start = attention()
    averaged = Moments(pairing_average(moments.a, 4), np.zeros_like(moments.b))
    for data, expected in ((averaged, 0.0), (moments, 0.700)):
        product = columns(lightning_field(data, 4)(start)) @ columns(start).T
        skew = np.linalg.norm(product - product.T) / np.linalg.norm(product)
        assert skew == pytest.approx(expected, abs=1e-3 if expected else 1e-14)


def test_rotated_data_lose_their_labels() -> None:
    """E yTᵀ is a tensor of odd degree, so that its average over the rotations vanishes."""
    moments, rotations = attention()[0], icosian_rotations()
    images = np.einsum("nai,nbj,nck,ijk->nabc", rotations, rotations, rotations, moments.b.reshape(4, 4, 4))
    assert np.abs(images.mean(axis=0)).max() <= 1e-14 * np.abs(moments.b).max()


def sequences() -> tuple[Vector, Vector]:
    """Inputs and labels of the second experiment."""
    generator = np.random.default_rng(0)
    return 0.6 * generator.standard_normal((6, 3, 4)), generator.standard_normal((6, 3))


def test_fields_on_rotated_data_are_those_of_averaged_moments() -> None:
    (x, y), (moments, start) = sequences(), attention()
    plain = rotated_field(x, y, np.eye(4)[None])(start)
    np.testing.assert_allclose(plain, lightning_field(moments, 4)(start), atol=1e-13)
    rotations = icosian_rotations()
    exact = lightning_field(Moments(pairing_average(moments.a, 4), np.zeros_like(moments.b)), 4)(start)
    np.testing.assert_allclose(rotated_field(x, y, rotations)(start), exact, atol=1e-13)


def test_another_loss_breaks_the_range_beyond_the_degree_of_the_design() -> None:
    """7200 rotations average degree 11 exactly and a logistic loss nearly: its drift is tiny and the same at every step."""
    (x, y), (_, start) = sequences(), attention()
    field = rotated_field(x, y, icosian_rotations(), logistic_slope)
    for step, expected in ((0.1, 2.870e-6), (0.05, 2.869e-6)):
        end = METHODS["rk4"](field, start, step, round(0.4 / step))
        assert range_drift(columns(start), columns(end)) == pytest.approx(expected, rel=1e-3)
    plain = METHODS["rk4"](rotated_field(x, y, np.eye(4)[None], logistic_slope), start, 0.05, 8)
    assert range_drift(columns(start), columns(plain)) == pytest.approx(0.1019, abs=1e-4)


def test_no_block_of_attention_keeps_its_range_by_itself() -> None:
    """As far as [Q, K, V] is from moving, so far its parts move."""
    moments, start = attention()
    field = lightning_field(Moments(pairing_average(moments.a, 4), np.zeros_like(moments.b)), 4)
    before, after = columns(start), columns(gradient_descent(field, start, 0.005, 80))
    for block, expected in (([0], 0.07), ([1], 0.43), ([2], 0.09), ([0, 1], 0.58)):
        assert range_drift(before[:, block], after[:, block]) == pytest.approx(expected, abs=0.006)
    assert np.linalg.svd(before, compute_uv=False) == pytest.approx([1.73, 0.68, 0.25], abs=0.006)
    assert np.linalg.svd(after, compute_uv=False) == pytest.approx([1.34, 0.67, 0.24], abs=0.006)


def in_context() -> tuple[Moments, Moments, float, Vector]:
    """Tokens (x, y) with a linear rule for each sequence: moments averaged over rotations of x and not, half the mean
    square of the labels, and the start.
    """
    generator = np.random.default_rng(3)
    rules, x = generator.standard_normal((8, 4)), generator.standard_normal((8, 5, 4))
    start = 0.7 * generator.standard_normal(15)
    answers = np.einsum("Na,Nta->Nt", rules, x)
    tokens = np.concatenate([x, answers[:, :, None]], axis=2)
    tokens[:, -1, 4] = 0.0
    gram = np.einsum("Nta,Ntb->Nab", tokens, tokens) / 5
    t = np.einsum("Na,Nbe->Nabe", tokens[:, -1], gram).reshape(8, -1)
    plain = Moments(t.T @ t / 8, answers[:, -1][None] @ t / 8)
    averaged = Moments(
        rotation_average(plain.a.reshape((5,) * 6), 4).reshape(125, 125),
        rotation_average(plain.b.reshape(5, 5, 5), 4).reshape(1, 125),
    )
    return averaged, plain, float((answers[:, -1] ** 2).mean() / 2), start


def test_attention_in_context_conserves_the_range_of_what_sees_the_inputs() -> None:
    averaged, plain, constant, start = in_context()
    assert np.abs(averaged.b).max() == pytest.approx(2.0, abs=0.05)  # here the labels take part

    def block(theta: Vector) -> Vector:
        return theta.reshape(3, 5)[:, :4].T

    def loss(theta: Vector) -> float:
        q, k, v = theta.reshape(3, 5)
        return constant + averaged.loss(np.einsum("a,b,e->abe", q, k, v).reshape(1, -1))

    field = lightning_field(averaged, 5)
    for step in (0.01, 0.005, 0.0025):
        end = gradient_descent(field, start, step, round(0.5 / step))
        assert range_drift(block(start), block(end)) <= 10 * range_tolerance(block(start), block(end))
    assert (loss(start), loss(end)) == pytest.approx((5.48, 3.14), abs=5e-3)
    moved = gradient_descent(lightning_field(plain, 5), start, 0.0025, 200)
    assert range_drift(block(start), block(moved)) == pytest.approx(0.55, abs=0.01)


def test_a_range_that_collapses_is_known_less_well() -> None:
    averaged, _, _, start = in_context()
    before, after = (
        theta.reshape(3, 5)[:, :4].T
        for theta in (start, gradient_descent(lightning_field(averaged, 5), start, 0.0025, 800))
    )
    assert np.linalg.svd(after, compute_uv=False)[-1] < 1e-3
    assert 1e-15 < range_drift(before, after) <= range_tolerance(before, after) < 1e-9


def test_fresh_rotations_drift_at_their_rate() -> None:
    """√(ηT/N), up to a constant that is the same for all N: means of 60 runs, whose errors are below a tenth."""
    (x, y), (_, start) = sequences(), attention()
    generator = np.random.default_rng(1)
    scaled = []
    for count in (1, 4, 16, 64):
        ends = [fresh_descent(x, y, start, 0.01, 40, count, generator) for _ in range(60)]
        drifts = [range_drift(columns(start), columns(end)) for end in ends]
        scaled.append(float(np.mean(drifts)) / (0.01 * 0.4 / count) ** 0.5)
    assert max(scaled) <= 1.25 * min(scaled)


@pytest.mark.slow
def test_a_sampled_average_drifts_at_its_rate() -> None:
    """One over the square root of the number of rotations: means of 100 runs agree up to five standard errors."""
    (x, y), (_, start) = sequences(), attention()
    generator = np.random.default_rng(1)
    means, errors = [], []
    for count in (50, 200, 800):
        drifts = []
        for _ in range(100):
            field = rotated_field(x, y, haar_orthogonal(generator, 4, count))
            drifts.append(range_drift(columns(start), columns(gradient_descent(field, start, 0.01, 40))))
        scaled = np.array(drifts) * count**0.5
        means.append(scaled.mean())
        errors.append(scaled.std() / 10)
    assert max(errors) <= 0.1 * min(means)  # small enough to tell this rate from the fourth root
    assert max(means) - min(means) <= 5 * 2**0.5 * max(errors)
    assert min(means) > 10 * max(errors)


def test_stochastic_steps_are_those_of_the_field() -> None:
    """With a single sample every batch is the whole data set."""
    generator = np.random.default_rng(5)
    x, y = generator.standard_normal((1, 3)), generator.standard_normal((1, 2))
    u, v = generator.standard_normal((1, 2, 2)), generator.standard_normal((1, 3, 2))
    found = stochastic_runs(x, y, u, v, steps=[0.1, 0.05], batch=1, generator=generator)
    field = deep_linear_field(averaged_moments(x, y), [(2, 2), (2, 3)])
    theta = np.concatenate([u[0].ravel(), v[0].T.ravel()])
    end = gradient_descent(field, gradient_descent(field, theta, 0.1, 1), 0.05, 1)

    def balance(t: Vector) -> Vector:
        return np.asarray((t[:4].reshape(2, 2) ** 2).sum(axis=0) - (t[4:].reshape(2, 3) ** 2).sum(axis=1))

    np.testing.assert_allclose(found.drifts[0], balance(end) - balance(theta), rtol=1e-12)
    np.testing.assert_allclose(found.sums, found.drifts, rtol=1e-10)
    assert found.square_norms[0] == pytest.approx(float((field(theta) ** 2).sum()))
