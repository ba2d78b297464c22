"""Experiments on symmetric data for sweeps: what exact, sampled and missing averages do to ranges and directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from ..core import InputError, Reason, Undecided
from .averaged_training import Moments, averaged_moments, deep_linear_field, lightning_field, lightning_moments
from .haar import haar_orthogonal
from .integrators import METHODS, Field, Vector
from .ranges import range_drift, range_tolerance
from .registry import Experiment, Row
from .rotated_lightning import fresh_descent, rotated_field
from .rotation_averages import pairing_average
from .simulated_training import augmented, network_field

__all__ = [
    "EXPERIMENTS",
    "CyclicSettings",
    "NetworkSettings",
    "RotationSettings",
    "attention_range",
    "cyclic_direction",
    "symmetrized_network",
]

MethodName: TypeAlias = Literal["gd", "heavy_ball", "ab2", "rk4", "midpoint", "adam"]


@dataclass(frozen=True)
class CyclicSettings:
    """f = Wx on three inputs, trained on normal data that cyclic shifts of the inputs leave invariant.

    Parameters
    ----------
    average : str
        ``exact`` over the three shifts; ``none``; ``half``, over the identity and one shift; or ``labels``: the labels,
        three of them, shift too.
    method : str
        Of `lakatos.numerics.integrators`.
    step, time : float
        time/step steps are made.
    outputs, samples : int
        Rows of W (three with ``labels``) and of data.
    """

    average: Literal["exact", "none", "half", "labels"] = "exact"
    method: MethodName = "gd"
    step: float = 0.05
    time: float = 2.0
    outputs: int = 1
    samples: int = 20

    def __post_init__(self) -> None:
        _require_steps(self.step, self.time)
        if self.outputs < 1 or self.samples < 1:
            raise InputError(
                f"outputs={self.outputs!r}: at least one output and one of samples={self.samples!r} are needed"
            )
        if self.average == "labels" and self.outputs != 3:
            raise InputError(f"outputs={self.outputs!r}: 3 are needed where labels shift")


def cyclic_direction(settings: CyclicSettings, seed: int) -> Row:
    """Return the sine of the angle by which the rows of W, less their means, have turned, and how their norm has changed.

    Examples
    --------
    >>> cyclic_direction(CyclicSettings(), 0)["drift"] < 1e-14
    True
    """
    generator = np.random.default_rng(seed)
    q = settings.outputs
    x, y = generator.standard_normal((settings.samples, 3)), generator.standard_normal((settings.samples, q))
    start = generator.standard_normal((q, 3))
    shifts = [np.roll(np.eye(3), k, axis=0) for k in range(3)]
    maps = {
        "exact": [(g, np.eye(q)) for g in shifts],
        "none": [],
        "half": [(g, np.eye(q)) for g in shifts[:2]],
        "labels": [(g, g) for g in shifts],
    }[settings.average]
    field = deep_linear_field(averaged_moments(x, y, maps), [(q, 3)])
    end = _run(settings.method, field, start.ravel(), settings).reshape(q, 3)
    before, after = (w - w.mean(axis=1, keepdims=True) for w in (start, end))
    return {
        "training": f"{settings.method}, {settings.average}",
        # Up to sign: with momentum the rows may swing through zero.
        "drift": range_drift(before.reshape(-1, 1), after.reshape(-1, 1)),
        "norm_ratio": float(np.linalg.norm(after) / np.linalg.norm(before)),
    }


@dataclass(frozen=True)
class NetworkSettings:
    """A network with one hidden layer on three inputs, trained on normal data that cyclic shifts leave invariant, or not.

    Parameters
    ----------
    activation : str
        ``relu``, ``tanh`` or ``linear``.
    average : str
        ``exact`` over the three shifts of the inputs, or ``none``.
    loss : str
        ``squared`` or ``log cosh``.
    method : str
        Of `lakatos.numerics.integrators`.
    step, time : float
        time/step steps are made.
    width, samples : int
        Hidden units and data.
    """

    activation: Literal["relu", "tanh", "linear"] = "relu"
    average: Literal["exact", "none"] = "exact"
    loss: Literal["squared", "log cosh"] = "squared"
    method: MethodName = "gd"
    step: float = 0.05
    time: float = 2.0
    width: int = 1
    samples: int = 20

    def __post_init__(self) -> None:
        _require_steps(self.step, self.time)
        if self.width < 1 or self.samples < 1:
            raise InputError(f"width={self.width!r}: at least one unit and one of samples={self.samples!r} are needed")


def symmetrized_network(settings: NetworkSettings, seed: int) -> Row:
    """Return how far the balances of the units have moved, and by what angle the rows of W₂, less their means, have turned.

    The first is small for relu and linear units, however the data are averaged; the second for linear units and the squared
    loss on averaged data alone: there the symmetry brings a law that ReLU networks do not have.

    Examples
    --------
    >>> row = symmetrized_network(NetworkSettings(activation="linear"), 0)
    >>> row["turn"] < 1e-14 < row["balance_drift"]
    True
    """
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((settings.samples, 3)), generator.standard_normal((settings.samples, 1))
    start = 0.6 * generator.standard_normal(4 * settings.width)
    if settings.average == "exact":
        x, y = augmented(x, y, [(np.roll(np.eye(3), k, axis=0), np.eye(1)) for k in range(3)])
    field = network_field(settings.activation, (1, settings.width, 3), x, y, loss=settings.loss)
    end = _run(settings.method, field, start, settings)
    moved = _unit_balances(end, settings.width) - _unit_balances(start, settings.width)
    before, after = (theta[settings.width :].reshape(-1, 3) for theta in (start, end))
    before, after = (w - w.mean(axis=1, keepdims=True) for w in (before, after))
    return {
        "training": f"{settings.activation}, {settings.loss}, {settings.average}",
        "balance_drift": float(np.abs(moved).max()),
        "turn": max(range_drift(p[:, None], q[:, None]) for p, q in zip(before, after, strict=True)),
    }


def _unit_balances(theta: Vector, width: int) -> Vector:
    out, into = theta[:width], theta[width:].reshape(width, 3)
    return np.asarray(out**2 - (into**2).sum(axis=1), np.float64)


@dataclass(frozen=True)
class RotationSettings:
    """Lightning attention X Q Kᵀ XᵀX V with single columns, trained on normal sequences that rotate.

    Parameters
    ----------
    average : str
        ``exact`` over O(d); ``none``; ``fixed`` over a sample of rotations; or ``fresh`` over a new one each step.
    rotations : int
        How many are sampled.
    method : str
        Of `lakatos.numerics.integrators`; ``gd`` with fresh samples.
    step, time : float
        time/step steps are made.
    dimension, tokens, samples : int
        d, more than 3 so that three columns have a range, sequences of `tokens` tokens, and how many.
    """

    average: Literal["exact", "none", "fixed", "fresh"] = "exact"
    rotations: int = 16
    method: MethodName = "gd"
    step: float = 0.01
    time: float = 0.4
    dimension: int = 4
    tokens: int = 3
    samples: int = 6

    def __post_init__(self) -> None:
        _require_steps(self.step, self.time)
        if not 4 <= self.dimension <= 6:
            raise InputError(f"dimension={self.dimension!r}: between 4 and 6 are needed, more than the columns Q, K, V")
        if min(self.rotations, self.tokens, self.samples) < 1 or self.rotations > 100_000:
            raise InputError(
                f"rotations={self.rotations!r}: from 1 to 100000, and positive tokens and samples, are needed"
            )
        if self.average == "fresh" and self.method != "gd":
            raise InputError(f"method={self.method!r}: fresh samples are drawn for gd only")


def attention_range(settings: RotationSettings, seed: int) -> Row:
    """Return the sine of the angle by which the range of [Q, K, V] has turned, and what rounding could turn it by.

    Raises
    ------
    Undecided
        If training diverges.

    Examples
    --------
    >>> attention_range(RotationSettings(), 0)["drift"] < 1e-13
    True
    """
    generator = np.random.default_rng(seed)
    d = settings.dimension
    x = 0.6 * generator.standard_normal((settings.samples, settings.tokens, d))
    y = generator.standard_normal((settings.samples, settings.tokens))
    start = 0.6 * generator.standard_normal(3 * d)
    if settings.average == "fresh":
        steps = round(settings.time / settings.step)
        end = fresh_descent(x, y, start, settings.step, steps, settings.rotations, generator)
    else:
        end = _run(settings.method, _lightning(settings, x, y, generator), start, settings)
    before, after = start.reshape(3, d).T, end.reshape(3, d).T
    if not np.isfinite(end).all():
        raise Undecided(Reason.PRECISION, f"training diverges with step={settings.step!r}; take smaller steps")
    return {
        "training": f"{settings.method}, {settings.average}",
        "drift": range_drift(before, after),
        "rounding": range_tolerance(before, after),
        "smallest_singular_value": float(np.linalg.svd(after, compute_uv=False)[-1]),
    }


def _lightning(settings: RotationSettings, x: Vector, y: Vector, generator: np.random.Generator) -> Field:
    d = settings.dimension
    if settings.average == "fixed":
        return rotated_field(x, y, haar_orthogonal(generator, d, settings.rotations))
    moments = lightning_moments(x, y)
    if settings.average == "exact":
        # B is a tensor of odd rank: its average over O(d) vanishes.
        moments = Moments(pairing_average(moments.a, d), np.zeros_like(moments.b))
    return lightning_field(moments, d)


def _run(
    method: str, field: Field, start: Vector, settings: CyclicSettings | NetworkSettings | RotationSettings
) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        return METHODS[method](field, start, settings.step, round(settings.time / settings.step))


def _require_steps(step: float, time: float) -> None:
    if not (step > 0 and time >= step):
        raise InputError(f"step={step!r}: a positive step of at most time={time!r} is needed")


EXPERIMENTS: Mapping[str, Experiment] = {
    "cyclic_direction": Experiment(
        "turn of the centered direction of a linear model on data that cyclic shifts leave invariant",
        CyclicSettings,
        lambda settings, seeds, _: [cyclic_direction(one, seed) for one, seed in zip(settings, seeds, strict=True)],
    ),
    "symmetrized_network": Experiment(
        "balances and turn of the first layer of a small network on data that cyclic shifts leave invariant",
        NetworkSettings,
        lambda settings, seeds, _: [symmetrized_network(one, seed) for one, seed in zip(settings, seeds, strict=True)],
    ),
    "attention_range": Experiment(
        "turn of the column space of lightning attention on rotated data",
        RotationSettings,
        lambda settings, seeds, _: [attention_range(one, seed) for one, seed in zip(settings, seeds, strict=True)],
    ),
}
