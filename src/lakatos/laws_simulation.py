"""Training a linear net on symmetrized data, on plain data and with another loss, and how far its laws drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ._checker_groups import elements
from ._checker_laws import Law
from .core import InputError
from .numerics.averaged_training import averaged_moments, deep_linear_field, residual_field
from .numerics.integrators import Field, Vector, exact_flow
from .theory.law_count import law_count
from .theory.model_fields import ModelFields

__all__ = ["DriftCurve", "drift_curves"]

_SAMPLES = 20
_POINTS = 20
_TIME = 2.0


@dataclass(frozen=True)
class DriftCurve:
    """Largest change of the laws along one way of training, at `times`, divided by their largest value at the start."""

    training: str
    laws: str
    times: tuple[float, ...]
    drifts: tuple[float, ...]


def drift_curves(model: ModelFields, *, seed: int = 0) -> list[DriftCurve]:
    """Return the drifts of the laws of plain training and of those that the symmetry adds.

    Trained is by accurate gradient flow on random data: the squared loss averaged over the group, the squared loss as it is,
    and the loss log cosh on the symmetrized data.

    Raises
    ------
    InputError
        If the model is no linear net, or its group is not finite.
    """
    if model.architecture != "linear" or model.loss != "squared":
        raise InputError("simulate: linear nets with the squared loss are simulated, such as linear:1,2,5")
    maps = []
    if model.group is not None:
        act = model.group.action(model.sizes[0])
        if act.lie:
            raise InputError(f"group={model.group.name!r}: is infinite; finite groups are simulated")
        maps = [tuple(np.array([[float(e) for e in row] for row in m]) for m in pair) for pair in elements(act)]
    count = law_count(model.plain)
    classical = list(count.plain.laws)
    new = [law for law in count.main.laws if law not in classical]
    shapes = list(pairwise(model.sizes))
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((_SAMPLES, model.sizes[-1]))
    y = generator.standard_normal((_SAMPLES, model.sizes[0]))
    start = 0.6 * generator.standard_normal(sum(a * b for a, b in shapes))
    pairs = [(g, h) for g, h in maps]
    many = np.concatenate([x @ g.T for g, _ in pairs] or [x]), np.concatenate([y @ h.T for _, h in pairs] or [y])
    ways = {"plain": deep_linear_field(averaged_moments(x, y), shapes)}
    if pairs:
        ways = {"averaged": deep_linear_field(averaged_moments(x, y, pairs), shapes)} | ways
    ways["log cosh"] = residual_field(*many, shapes, np.tanh)
    return [
        _curve(name, kind, field, laws, start)
        for name, field in ways.items()
        for kind, laws in (("classical", classical), ("new", new))
        if laws
    ]


def _curve(name: str, kind: str, field: Field, laws: Sequence[Law], start: Vector) -> DriftCurve:
    times = np.linspace(0.0, _TIME, _POINTS + 1)
    before = _values(laws, start)
    scale = max(1.0, float(np.abs(before).max()))
    theta, drifts = start, [0.0]
    for a, b in pairwise(times):
        theta = exact_flow(field, theta, float(b - a))
        drifts.append(float(np.abs(_values(laws, theta) - before).max()) / scale)
    return DriftCurve(name, kind, tuple(times.tolist()), tuple(drifts))


def _values(laws: Sequence[Law], theta: Vector) -> Vector:
    parts = [[sum(float(c) * float(np.prod(theta[list(m)])) for m, c in part.items()) for part in law] for law in laws]
    return np.array([p / q for p, q in parts])
