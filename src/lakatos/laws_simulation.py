"""Training a model on symmetrized data, on plain data and with another loss, and how far its laws drift."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ._checker_groups import Action, elements
from ._checker_laws import Law
from .core import InputError
from .numerics.averaged_training import (
    Moments,
    averaged_moments,
    deep_linear_field,
    residual_field,
    rotated_quadratic_field,
)
from .numerics.integrators import Field, Vector, exact_flow
from .numerics.simulated_training import (
    KINKED,
    augmented,
    is_simulated,
    network_field,
    rotated_lightning_field,
    shapes_of,
)
from .theory.law_count import law_count
from .theory.model_fields import ModelFields

__all__ = ["DriftCurve", "drift_curves"]

_SAMPLES = 20
_POINTS = 20
_TIME = 2.0
_RTOL, _RTOL_OF_KINKS = 1e-12, 1e-9  # the second where the field jumps, which costs a method its digits
_MOST_SAMPLES = 5000


@dataclass(frozen=True)
class DriftCurve:
    """Largest change of some quantities along one way of training, at `times`, divided by their largest value at the start.

    `laws` is ``classical``, ``new``, or ``none`` for the squared norm of all parameters, which is no law: the control.
    """

    training: str
    laws: str
    times: tuple[float, ...]
    drifts: tuple[float, ...]


def drift_curves(model: ModelFields, *, seed: int = 0) -> list[DriftCurve]:
    """Return the drifts of the laws of plain training, of those that the symmetry adds, and of a quantity that is no law.

    Trained is by accurate gradient flow on random data: the squared loss averaged over the group, the squared loss as it is,
    and the loss log cosh on the symmetrized data. Averages over all rotations are taken for linear nets, layers of squares
    and lightning attention, whose squared loss allows them exactly; log cosh, which does not, is left out then.

    Raises
    ------
    InputError
        If there is no way to train the model, or to average it over its group.
    """
    if model.loss != "squared" or model.dynamics != "flow" or model.output_map or not is_simulated(model.architecture):
        raise InputError(
            "simulate: linear, relu, power, attention, lightning, rope, swiglu, residual and gated-experts models with the "
            "squared loss and no output map are simulated, such as linear:1,2,5"
        )
    assert model.architecture is not None
    count = law_count(model.without_uncounted_group.plain)
    classical = list(count.plain.laws)
    new = [law for law in count.main.laws if law not in classical]
    parameters, shape, outputs = shapes_of(model.architecture, model.sizes, bias=model.bias)
    generator = np.random.default_rng(seed)
    x = generator.standard_normal((_SAMPLES, *shape))
    y = generator.standard_normal((_SAMPLES, *outputs))
    start = 0.6 * generator.standard_normal(parameters)
    ways = {"plain": _field(model, x, y, "squared")}
    if model.group is None:
        ways["log cosh"] = _field(model, x, y, "log cosh")
    else:
        act = model.group.action(outputs[-1])
        if act.lie:
            ways = {"averaged": _rotated(model, x, y, act)} | ways
        else:
            many = augmented(x, y, _maps(act, shape, outputs))
            if len(many[0]) > _MOST_SAMPLES:
                raise InputError(
                    f"group={model.group.name!r}: has too many elements to be simulated; a smaller one is needed"
                )
            ways = {"averaged": _field(model, *many, "squared"), **ways, "log cosh": _field(model, *many, "log cosh")}
    norm: Law = ({(i, i): 1 for i in range(parameters)}, {(): 1})
    rtol = _RTOL_OF_KINKS if model.architecture in KINKED else _RTOL
    return [
        curve
        for name, field in ways.items()
        for curve in _curves(name, {"classical": classical, "new": new, "none": [norm]}, field, start, rtol)
    ]


def _field(model: ModelFields, x: Vector, y: Vector, loss: str) -> Field:
    assert model.architecture is not None
    if model.architecture != "linear":
        return network_field(model.architecture, model.sizes, x, y, bias=model.bias, loss=loss)
    shapes = list(pairwise(model.sizes))  # the squared loss of linear nets needs the moments of the data only
    return (
        deep_linear_field(averaged_moments(x, y), shapes)
        if loss == "squared"
        else residual_field(x, y, shapes, np.tanh)
    )


def _maps(act: Action, shape: tuple[int, ...], outputs: tuple[int, ...]) -> list[tuple[Vector, Vector]]:
    if (act.inputs, act.labels) != (shape[-1], outputs[-1]):
        raise InputError(
            f"group: acts on inputs and labels of dimensions {act.inputs} and {act.labels}, "
            f"but the model has {shape[-1]} and {outputs[-1]}"
        )
    pairs = elements(act)
    return [(np.array([[*map(float, r)] for r in g]), np.array([[*map(float, r)] for r in h])) for g, h in pairs]


def _rotated(model: ModelFields, x: Vector, y: Vector, act: Action) -> Field:
    """The squared loss averaged over all rotations."""
    d = act.inputs
    if model.architecture == "linear" and d > 1:
        second = float((x**2).sum(axis=1).mean()) / d
        return deep_linear_field(Moments(second * np.eye(d), np.zeros((y.shape[1], d))), list(pairwise(model.sizes)))
    if model.architecture == "power" and model.sizes[0] == 2:
        return rotated_quadratic_field(x, y[:, 0], model.sizes[1])
    if model.architecture == "lightning":
        return rotated_lightning_field(model.sizes, x)
    raise InputError(
        f"group={model.group and model.group.name!r}: is infinite; finite groups are simulated, and all rotations for "
        "linear nets of two inputs or more, power:2,... and lightning attention"
    )


def _curves(name: str, quantities: dict[str, list[Law]], field: Field, start: Vector, rtol: float) -> list[DriftCurve]:
    """Follow one flow and all quantities along it."""
    times = np.linspace(0.0, _TIME, _POINTS + 1)
    path = [start]
    for a, b in pairwise(times):
        path.append(exact_flow(field, path[-1], float(b - a), rtol=rtol))
    curves = []
    for kind, laws in quantities.items():
        if laws:
            before = _values(laws, start)
            scale = max(1.0, float(np.abs(before).max()))
            drifts = [float(np.abs(_values(laws, theta) - before).max()) / scale for theta in path]
            curves.append(DriftCurve(name, kind, tuple(times.tolist()), tuple(drifts)))
    return curves


def _values(laws: Sequence[Law], theta: Vector) -> Vector:
    parts = [[sum(float(c) * float(np.prod(theta[list(m)])) for m, c in part.items()) for part in law] for law in laws]
    return np.array([p / q for p, q in parts])
