"""Training runs with known outcomes: laws under integrators, averages over groups, other losses, and optimizers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lakatos.numerics import integrators
from lakatos.numerics.averaged_training import (
    Moments,
    averaged_moments,
    deep_linear_field,
    margin_field,
    residual_field,
)
from lakatos.numerics.integrators import METHODS, Vector, conservation, exact_flow, gradient_descent, slopes
from lakatos.numerics.ranges import EPSILON, direction_drift

SHIFTS = [np.roll(np.eye(3), k, axis=0) for k in range(3)]
CENTER = np.eye(3) - 1 / 3


def cyclic(x: Vector, y: Vector) -> Moments:
    """Moments averaged over the three shifts, labels invariant."""
    return averaged_moments(x, y, [(g, np.eye(y.shape[1])) for g in SHIFTS])


class Cyclic:
    """The first experiment: twenty random samples in three dimensions."""

    _generator = np.random.default_rng(0)
    x = _generator.standard_normal((20, 3))
    y = _generator.standard_normal(20)
    w = _generator.standard_normal(3)


@pytest.mark.parametrize("method", ["gd", "rk4", "heavy_ball"])
def test_the_centered_direction_moves_by_rounding_only(method: str) -> None:
    field = deep_linear_field(cyclic(Cyclic.x, Cyclic.y[:, None]), [(1, 3)])
    for step in (0.1, 0.05, 0.025):
        end = METHODS[method](field, Cyclic.w, step, round(2 / step))
        assert direction_drift(CENTER @ Cyclic.w, CENTER @ end) <= 100 * EPSILON


def test_the_centered_norm_decays_at_the_rate_of_the_data() -> None:
    moments = cyclic(Cyclic.x, Cyclic.y[:, None])
    end = exact_flow(deep_linear_field(moments, [(1, 3)]), Cyclic.w, 2.0)
    rate = moments.a[0, 0] - moments.a[0, 1]
    before, after = np.linalg.norm(CENTER @ Cyclic.w), np.linalg.norm(CENTER @ end)
    assert rate == pytest.approx(0.69336, abs=1e-5)
    assert (before, after) == pytest.approx((0.5947, 0.1486), abs=5e-5)
    assert after == pytest.approx(before * np.exp(-rate * 2), rel=1e-11)  # the flow is integrated to 1e-12


def test_without_the_average_and_with_adam_the_direction_moves() -> None:
    plain = deep_linear_field(averaged_moments(Cyclic.x, Cyclic.y[:, None]), [(1, 3)])
    averaged = deep_linear_field(cyclic(Cyclic.x, Cyclic.y[:, None]), [(1, 3)])
    for step, drift, adam in ((0.1, 0.742, 1.58), (0.05, 0.737, 1.30), (0.025, 0.734, 0.50)):
        end = gradient_descent(plain, Cyclic.w, step, round(2 / step))
        assert direction_drift(CENTER @ Cyclic.w, CENTER @ end) == pytest.approx(drift, abs=1e-3)
        end = METHODS["adam"](averaged, Cyclic.w, step, round(2 / step))
        assert direction_drift(CENTER @ Cyclic.w, CENTER @ end) == pytest.approx(adam, abs=6e-3)
    assert direction_drift(CENTER @ Cyclic.w, CENTER @ exact_flow(plain, Cyclic.w, 2.0)) == pytest.approx(
        0.732, abs=1e-3
    )
    # The direction that was not projected moves along the flow itself.
    assert direction_drift(Cyclic.w, exact_flow(averaged, Cyclic.w, 2.0)) == pytest.approx(0.823, abs=1e-3)


def test_several_outputs_and_other_groups() -> None:
    """Two outputs; half of the orbit; labels that shift along, for which only inputs must not be averaged."""
    generator = np.random.default_rng(0)
    draws = [generator.standard_normal(shape) for shape in ((20, 3), 20, 3, (2, 3), (20, 2), (20, 3), (3, 3))]
    x, y, w, w2, y2, y3, w3 = draws

    def drift(moments: Moments, start: Vector, step: float = 0.025) -> float:
        end = gradient_descent(deep_linear_field(moments, [start.shape]), start.ravel(), step, round(2 / step))
        return direction_drift(start @ CENTER, end.reshape(start.shape) @ CENTER)

    for step in (0.1, 0.05, 0.025):
        assert drift(cyclic(x, y2), w2, step) <= 100 * EPSILON
    assert drift(averaged_moments(x, y2), w2) == pytest.approx(0.29, abs=0.01)
    half = averaged_moments(x, y[:, None], [(g, np.eye(1)) for g in SHIFTS[:2]])
    assert drift(half, w[None]) == pytest.approx(1.3, abs=0.05)
    joint = averaged_moments(x, y3, [(g, g) for g in SHIFTS])
    for step, expected in ((0.1, 0.137), (0.05, 0.133), (0.025, 0.130)):
        assert drift(joint, w3, step) == pytest.approx(expected, abs=1e-3)
    assert drift(cyclic(x, y3), w3) <= 100 * EPSILON


LOSSES = {
    "logistic": (lambda z: -1 / (1 + np.exp(z)), 2.0, 5.6768e-3),
    "exponential": (lambda z: -np.exp(-z), 2.0, 1.6633e-2),
    "sigmoid": (lambda z: -1 / (4 * np.cosh(z / 2) ** 2), 2.0, 2.6867e-3),
    "quartic": (lambda z: -((1 - z) ** 3), 0.2, 3.0753e-3),
}


@pytest.mark.parametrize("loss", LOSSES)
def test_other_losses_break_the_direction_however_accurate_the_flow(loss: str) -> None:
    slope, time, expected = LOSSES[loss]
    x = np.concatenate([Cyclic.x @ g.T for g in SHIFTS])
    labels = np.tile(np.sign(Cyclic.y), 3)
    for rtol in (1e-8, 1e-12):
        end = exact_flow(margin_field(x, labels, slope), Cyclic.w, time, rtol=rtol)
        assert direction_drift(CENTER @ Cyclic.w, CENTER @ end) == pytest.approx(expected, rel=1e-3)


def plane(order: int) -> tuple[Vector, Vector, Vector]:
    """The third experiment: ten random samples in the plane, rotated; labels, and the start."""
    generator = np.random.default_rng(2)
    x, y = generator.standard_normal((10, 2)), generator.standard_normal(10)
    angles = 2 * np.pi * np.arange(order) / order
    rotations = [np.array([[np.cos(t), -np.sin(t)], [np.sin(t), np.cos(t)]]) for t in angles]
    return np.concatenate([x @ g.T for g in rotations]), np.tile(y, order), np.array([1.2, -0.5])


def turned(before: Vector, after: Vector) -> float:
    """The angle between two vectors of the plane."""
    return abs(float(np.arctan2(before[0] * after[1] - before[1] * after[0], before @ after)))


PLANE = {
    1: (6.5e-2, 2.2e-2, 1.3e-1),
    2: (2.9e-2, 1.5e-2, 2.3e-3),
    3: (0.0, 1.4e-3, 2.3e-1),
    4: (0.0, 3.1e-3, 3.0e-2),
    5: (0.0, 2.4e-5, 1.5e-2),
    6: (0.0, 1.4e-3, 4.7e-3),
    8: (0.0, 2.5e-4, 1.9e-4),
    10: (0.0, 2.4e-5, 3.1e-6),
    12: (0.0, 8.4e-7, 1.9e-8),
    16: (0.0, 5.3e-8, 4.3e-12),
}


@pytest.mark.parametrize("order", PLANE)
def test_tiny_drifts_under_many_rotations_are_real(order: int) -> None:
    x, y, w = plane(order)
    squared, logistic, exponential = PLANE[order]
    signs = np.sign(y)
    end = exact_flow(margin_field(x, np.ones(len(y)), lambda z: z - y), w, 1.0)
    # 1e-14: the flow is integrated to 1e-12, but linear, and its errors share the symmetry.
    assert turned(w, end) == pytest.approx(squared, rel=0.03, abs=1e-14)
    end = exact_flow(margin_field(x, signs, LOSSES["logistic"][0]), w, 1.0, rtol=1e-13)
    assert turned(w, end) == pytest.approx(logistic, rel=0.04)
    ends = [exact_flow(margin_field(x, signs, LOSSES["exponential"][0]), w, 1.0, rtol=rtol) for rtol in (1e-10, 1e-13)]
    assert turned(w, ends[1]) == pytest.approx(exponential, rel=0.04)
    # Errors of the integration share the symmetry, so that they do not hide a drift far below its tolerance.
    assert turned(w, ends[0]) == pytest.approx(turned(w, ends[1]), rel=1e-3)


@pytest.mark.parametrize(("degree", "drift"), [(3, 0.1), (4, 3e-2), (5, 3e-2), (6, 2e-2)])
def test_the_angle_stays_once_there_are_more_rotations_than_the_degree(degree: int, drift: float) -> None:
    """(1 − z)^m/m: as many rotations as its degree turn w, one more does not."""
    for order, expected in ((degree, drift), (degree + 1, 0.0)):
        x, y, w = plane(order)
        end = exact_flow(margin_field(x, np.sign(y), lambda z: -((1 - z) ** (degree - 1))), w, 0.2)
        assert turned(w, end) == pytest.approx(expected, rel=0.15, abs=1e-14)


def balanced() -> tuple[Any, Vector, Any]:
    """The fourth experiment: a (3, 2, 3) linear net, its start and its balance."""
    generator = np.random.default_rng(0)
    x, y = generator.standard_normal((20, 3)), generator.standard_normal((20, 3))
    theta = 0.7 * generator.standard_normal(12)
    start = np.concatenate([theta[:6], theta[6:].reshape(3, 2).T.ravel()])

    def law(t: Vector) -> Vector:
        u, v = t[:6].reshape(3, 2), t[6:].reshape(2, 3)
        return (u.T @ u - v @ v.T).ravel()

    return deep_linear_field(averaged_moments(x, y), [(3, 2), (2, 3)]), start, law


DRIFTS = {
    "gd": ([1.46e-2, 7.16e-3, 3.55e-3, 1.77e-3], 1),
    "ab2": ([5.7e-4, 1.59e-4, 4.17e-5, 1.07e-5], 2),
    "rk4": ([2.55e-6, 1.47e-7, 8.85e-9, 5.4e-10], 4),
    "heavy_ball": ([0.150, 0.115, 0.0636, 0.0326], 1),
}
STEPS = (0.08, 0.04, 0.02, 0.01)


@pytest.mark.parametrize("method", DRIFTS)
def test_a_law_drifts_at_the_order_of_the_method(method: str) -> None:
    field, start, law = balanced()
    found = [float(np.abs(law(METHODS[method](field, start, h, round(2 / h))) - law(start)).max()) for h in STEPS]
    expected, order = DRIFTS[method]
    assert found == pytest.approx(expected, rel=0.01)
    assert slopes(STEPS, found)[-1] == pytest.approx(order, abs=0.15)  # the orders seen at these steps


def test_the_midpoint_rule_keeps_quadratic_laws() -> None:
    field, start, law = balanced()
    for h in STEPS:
        # Two hundred steps, each solved to 1e-15.
        assert np.abs(law(METHODS["midpoint"](field, start, h, round(2 / h))) - law(start)).max() <= 1e-14


def test_the_flow_keeps_its_laws_to_its_tolerance() -> None:
    field, start, law = balanced()
    drifts = [
        float(np.abs(law(exact_flow(field, start, 2.0, rtol=rtol)) - law(start)).max())
        for rtol in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)
    ]
    assert all(drift <= 1e-2 * rtol for drift, rtol in zip(drifts, (1e-4, 1e-6, 1e-8, 1e-10, 1e-12), strict=True))
    assert drifts == sorted(drifts, reverse=True)


def test_with_momentum_the_angular_momentum_stays_and_the_balance_goes() -> None:
    """θ'' + τθ' = F(θ), τ = 1/2: e^{τt}(W'ᵀW − WᵀW') of W = (U; V), against it without factor and against UᵀU − VᵀV."""
    field, start, law = balanced()
    generator = np.random.default_rng(0)
    drawn = [generator.standard_normal(shape) for shape in ((20, 3), (20, 3), 12, 12)][-1]
    speed = 0.3 * np.concatenate([drawn[:6], drawn[6:].reshape(3, 2).T.ravel()])
    friction = 0.5

    def along(state: Vector) -> Vector:
        theta, velocity = state[:12], state[12:]
        return np.concatenate([velocity, field(theta) - friction * velocity])

    def stacked(theta: Vector) -> Vector:
        return np.concatenate([theta[:6].reshape(3, 2), theta[6:].reshape(2, 3).T])

    def charge(state: Vector, part: slice = slice(None)) -> float:
        w, v = stacked(state[:12])[part], stacked(state[12:])[part]
        return float(v[:, 0] @ w[:, 1] - v[:, 1] @ w[:, 0])

    def difference(state: Vector) -> float:
        return charge(state, slice(3)) - charge(state, slice(3, 6))

    state = np.concatenate([start, speed])
    end = exact_flow(along, state, 2.0)
    factor = np.exp(friction * 2)
    assert factor * charge(end) == pytest.approx(charge(state), abs=1e-11)  # the flow is integrated to 1e-12
    assert abs(charge(end) - charge(state)) == pytest.approx(2.6e-2, rel=0.02)
    assert abs(factor * difference(end) - difference(state)) == pytest.approx(0.94, abs=5e-3)
    assert np.abs(law(end[:12]) - law(start)).max() == pytest.approx(1.48, abs=5e-3)


def test_weight_decay_rescales_the_balance_by_twice_its_exponent() -> None:
    field, start, law = balanced()
    end = exact_flow(lambda theta: field(theta) - 0.3 * theta, start, 2.0)
    drifts = [float(np.abs(np.exp(k * 0.3 * 2.0) * law(end) - law(start)).max()) for k in (2, 1, 0)]
    assert drifts[0] <= 1e-12  # the flow is integrated to 1e-12
    assert drifts[1:] == pytest.approx([0.617, 0.956], abs=1e-3)


def test_what_is_no_law_drifts_by_the_same_amount_at_every_step() -> None:
    field, start, law = balanced()
    norms = [
        abs(float(t @ t - start @ start)) for t in (gradient_descent(field, start, h, round(2 / h)) for h in STEPS)
    ]
    assert abs(slopes(STEPS, norms)[-1]) <= 0.15
    assert norms[-1] == pytest.approx(1.33, abs=0.01)
    adam = [float(np.abs(law(METHODS["adam"](field, start, h, round(2 / h))) - law(start)).max()) for h in STEPS]
    assert min(adam) > 1


def test_verdicts_about_conservation() -> None:
    field, start, law = balanced()
    assert conservation(field, law, start, 2.0).conserved is True
    assert conservation(field, lambda t: np.array([t @ t]), start, 2.0).conserved is False


@pytest.mark.parametrize(
    ("drifts", "conserved"),
    [
        ((0.0, 1e-15, 5e-16, 2e-15), True),  # rounding
        ((3e-9, 3e-11, 3e-12, 4e-13), True),
        ((3e-11, 3e-11, 3e-11, 3e-11), True),
        ((1e-12, 1e-12, 1e-12, 1e-11), None),  # it grows
        ((3e-9, 3e-9, 3e-9, 3e-9), None),
        ((0.0, 0.0, 2e-2, 1e-2), None),  # no two agree
        ((2e-2, 1e-2, 1e-2, 1e-2), False),
    ],
)
def test_the_rule_of_conservation(
    drifts: tuple[float, ...], conserved: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    ends = iter(drifts)
    monkeypatch.setattr(integrators, "exact_flow", lambda *_, **__: np.array([1.0, next(ends)]))
    found = conservation(lambda t: t, lambda t: t[1:], np.zeros(2), 1.0)
    assert found.conserved is conserved


def test_gradients_are_those_of_their_losses() -> None:
    generator = np.random.default_rng(0)
    x, y, theta = generator.standard_normal((7, 3)), generator.standard_normal((7, 2)), generator.standard_normal(10)
    shapes = [(2, 2), (2, 3)]
    by_moments = deep_linear_field(averaged_moments(x, y), shapes)(theta)
    by_residuals = residual_field(x, y, shapes, lambda e: e)(theta)
    np.testing.assert_allclose(by_moments, by_residuals, rtol=1e-12)  # the same sums in another order
    moments = averaged_moments(x, y)

    def loss(t: Vector) -> float:
        return moments.loss(t[:4].reshape(2, 2) @ t[4:].reshape(2, 3))

    central = [(loss(theta + 1e-5 * e) - loss(theta - 1e-5 * e)) / 2e-5 for e in np.eye(10)]
    np.testing.assert_allclose(-by_moments, central, atol=1e-8)  # of central differences with step 1e-5
