"""Training a model on symmetrized data, on plain data and with another loss, and how far its laws drift."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._checker_laws import Law
from .core import InputError, Reason, Undecided
from .laws import LawsAnswer
from .laws_subjects import Subject, averages, labels_of
from .numerics.integrators import Field, Vector
from .numerics.simulated_training import followed, loss_field

__all__ = ["ANOTHER_LOSS", "STRETCHES", "DriftCurve", "drift_curves"]

ANOTHER_LOSS = {"squared": "log cosh", "cross-entropy": "squared"}
"""What a model is trained with for comparison."""

STRETCHES = 20
_TIME = 2.0
_RTOL, _RTOL_OF_KINKS = 1e-12, 1e-9  # the second where the field jumps, which costs a method its digits
_SAMPLES, _SAMPLES_OF_KINKS = 20, 6  # each sample has a kink of its own for each unit
_MOST_SAMPLES = 5000
_DRAWS = 6


@dataclass(frozen=True)
class DriftCurve:
    """Largest change of some quantities along one way of training, at `times`, divided by their largest value at the start.

    `laws` is ``classical``, ``loss`` (laws of cross-entropy alone), ``new`` (of the symmetry alone), or ``none`` for the
    squared norm of all parameters, the control; where that is a law, the square of the first one.
    """

    training: str
    laws: str
    times: tuple[float, ...]
    drifts: tuple[float, ...]


def drift_curves(
    subject: Subject,
    answer: LawsAnswer,
    *,
    data: tuple[Vector, Vector] | None = None,
    seed: int = 0,
    on_stretch: Callable[[], None] = lambda: None,
) -> list[DriftCurve]:
    """Return the drifts of the laws of plain training, of those that loss and symmetry add, and of a quantity that is no law.

    Trained is by accurate gradient flow: the loss averaged over the group, the loss as it is, and for comparison another one:
    log cosh, or the squared loss in place of cross-entropy. Averages over all rotations are exact for the squared loss alone;
    then there is no other.

    Parameters
    ----------
    subject : Subject
        From `lakatos.laws_subjects.subject_of`.
    answer : LawsAnswer
        Its laws.
    data : pair of arrays, optional
        Inputs and labels to train on; normal ones if left out. Where ReLUs get stuck at their kinks along the flow, which no
        method follows, half the time is tried, with fewer data drawn anew if none were given.
    on_stretch : callable
        Called `STRETCHES` times for each way of training.

    Raises
    ------
    InputError
        If the data do not fit, or nothing averages them over the group.
    Undecided
        If a flow cannot be followed.
    """
    kinds = {"classical": answer.classical, "loss": answer.of_loss, "new": answer.added}
    quantities = {kind: laws for kind, laws in kinds.items() if laws}
    quantities["none"] = (_control([law for laws in quantities.values() for law in laws], subject.trained.parameters),)
    for draw in range(_DRAWS):
        generator = np.random.default_rng((seed, draw) if draw else seed)
        x, y = _drawn(subject, answer.loss, generator, draw) if data is None else _fitting(subject, answer.loss, data)
        start = 0.6 * generator.standard_normal(subject.trained.parameters) if subject.start is None else subject.start
        try:
            return [
                curve
                for name, field in _ways(subject, answer.loss, x, y).items()
                for curve in _curves(
                    name, quantities, field, start, _TIME / 2**draw, subject.trained.is_kinked, on_stretch
                )
            ]
        except Undecided:
            if draw == _DRAWS - 1:
                raise
    raise AssertionError


def _drawn(subject: Subject, loss: str, generator: np.random.Generator, draw: int) -> tuple[Vector, Vector]:
    """Normal inputs, and normal labels or classes, so few that all their images under the group can be trained on."""
    usual = _SAMPLES_OF_KINKS if subject.trained.is_kinked else _SAMPLES
    usual >>= min(draw, 2)  # fewer samples, fewer kinks
    count = max(2, min(usual, _MOST_SAMPLES // max(1, len(subject.elements))))
    x = generator.standard_normal((count, *subject.trained.shape))
    if loss == "cross-entropy":
        classes = subject.trained.outputs[-1]
        return x, np.eye(classes)[generator.integers(classes, size=(count, *subject.trained.outputs[:-1]))]
    return x, generator.standard_normal((count, *subject.trained.outputs))


def _fitting(subject: Subject, loss: str, data: tuple[Vector, Vector]) -> tuple[Vector, Vector]:
    x, y = data
    if x.shape[1:] != subject.trained.shape:
        raise InputError(f"x has shape {list(x.shape)}; samples of shape {list(subject.trained.shape)} are needed")
    if not np.isfinite(x).all():
        raise InputError("x has entries that are not finite; give a number for each")
    count = len(x) * max(1, len(subject.elements))
    if count > _MOST_SAMPLES:
        images = f" times {len(subject.elements)} group elements" if subject.elements else ""
        raise InputError(f"x has {len(x)} samples{images}; at most {_MOST_SAMPLES} are trained on")
    return x, labels_of(y, loss, len(x), subject.trained.outputs)


def _ways(subject: Subject, loss: str, x: Vector, y: Vector) -> dict[str, Field]:
    network = subject.trained.network
    plain = {"plain": loss_field(network, x, y, loss=loss)}
    other = ANOTHER_LOSS[loss]
    if not subject.is_symmetric:
        return plain | {other: loss_field(network, x, y, loss=other)}
    field, (many_x, many_y) = averages(subject, x, y)
    if field is not None:
        return {"averaged": field} | plain
    averaged = loss_field(network, many_x, many_y, loss=loss)
    return {"averaged": averaged} | plain | {other: loss_field(network, many_x, many_y, loss=other)}


def _control(laws: Sequence[Law], parameters: int) -> Law:
    """The squared norm of all parameters, or of the first one where the other is a law: its gradient is a sum of theirs."""
    point = np.random.default_rng(0).standard_normal(parameters)
    slopes = np.array([_slope(law, point) for law in laws]).reshape(-1, parameters)
    norm: Law = ({(i, i): 1 for i in range(parameters)}, {(): 1})
    left = point - slopes.T @ np.linalg.lstsq(slopes.T, point, rcond=None)[0] if len(laws) else point
    return norm if np.linalg.norm(left) > 1e-6 * np.linalg.norm(point) else ({(0, 0): 1}, {(): 1})


def _slope(law: Law, point: Vector) -> Vector:
    """Gradient of a law, by complex steps: exact to rounding."""
    step = 1e-30
    return np.array([_value(law, point + step * 1j * e).imag / step for e in np.eye(len(point))])


def _curves(
    name: str,
    quantities: Mapping[str, Sequence[Law]],
    field: Field,
    start: Vector,
    time: float,
    is_kinked: bool,
    on_stretch: Callable[[], None],
) -> list[DriftCurve]:
    """Follow one flow and all quantities along it."""
    times = tuple(np.linspace(0.0, time, STRETCHES + 1).tolist())
    rtol = _RTOL_OF_KINKS if is_kinked else _RTOL
    path = followed(field, start, times, rtol=rtol, on_stretch=on_stretch)
    curves = []
    for kind, laws in quantities.items():
        before = _values(laws, start)
        scale = max(1.0, float(np.abs(before).max()))
        drifts = tuple(float(np.abs(_values(laws, theta) - before).max()) / scale for theta in path)
        if not np.isfinite(drifts).all():
            raise Undecided(Reason.PRECISION, f"laws are not finite along {name} training; try another seed")
        curves.append(DriftCurve(name, kind, times, drifts))
    return curves


def _values(laws: Sequence[Law], theta: Vector) -> Vector:
    return np.array([_value(law, theta) for law in laws])


def _value(law: Law, theta: NDArray[Any]) -> Any:
    p, q = (sum(float(c) * np.prod(theta[list(m)]) for m, c in part.items()) for part in law)
    return p / q
