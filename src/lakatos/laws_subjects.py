"""What is trained to see laws drift: a network by name, from a file or from a module, with the symmetry of its data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import nn

from ._checker_groups import Action, elements
from .core import InputError
from .laws import is_named, model_of, parsed, read_group
from .networks import is_factory, read_module, read_network
from .numerics.averaged_training import Moments, deep_linear_field
from .numerics.integrators import Field, Vector
from .numerics.rotated_training import rotated_lightning_field, rotated_power_field
from .numerics.simulated_networks import Trainable, module_network, relu_graph, trainable
from .numerics.simulated_training import augmented
from .theory.model_fields import ModelFields

__all__ = ["EPS", "Subject", "averages", "input_shape_of", "labels_of", "subject_of"]

EPS = 0.1
"""What ``+eps`` adds to the variance in a normalization."""


@dataclass(frozen=True)
class Subject:
    """A network and how its data are symmetric.

    Parameters
    ----------
    trained : Trainable
        The network.
    start : array, optional
        Its weights, where there are some.
    elements : sequence of pairs of matrices
        Of a finite group, on inputs and labels.
    rotated : Action, optional
        Or all rotations.
    model : ModelFields, optional
        The architecture, where it has a name.
    """

    trained: Trainable
    start: Vector | None = None
    elements: Sequence[tuple[Vector, Vector]] = ()
    rotated: Action | None = None
    model: ModelFields | None = None

    @property
    def is_symmetric(self) -> bool:
        """Whether there is a group."""
        return bool(self.elements) or self.rotated is not None


def subject_of(
    source: str,
    *,
    group: str | None = None,
    natural_labels: bool = False,
    input_shape: Sequence[int] | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    seed: int = 0,
) -> Subject:
    """Return what `lakatos.laws.laws_of` counts the laws of, to be trained; arguments as there.

    Networks from files and modules start at their weights, where they have some.

    Raises
    ------
    InputError
        If there is no such network, or no average over its group.
    """
    if is_named(source):
        name = parsed(source)
        model = None
        if name.suffix != "+eps" and "norm" not in name.architecture:
            model = model_of(source, group=group, natural_labels=natural_labels)[0]
        trained = trainable(
            name.architecture,
            name.sizes,
            bias=name.suffix == "+b",
            output_map=name.suffix == "+output",
            eps=EPS if name.suffix == "+eps" else 0.0,
        )
        if model is None or model.group is None:
            return Subject(trained, model=model)
        return _symmetric(Subject(trained, model=model), model.group.action(trained.outputs[-1]), group)
    if not is_factory(source):
        graph = read_network(source)
        start = None if graph.weights is None else np.array([float(w) for w in graph.weights])
        return Subject(relu_graph(graph), start=start)
    torch.manual_seed(seed)
    module = read_module(source, checkpoint=checkpoint).double()
    shape = tuple(input_shape) if input_shape else input_shape_of(module, source)
    count, network = module_network(module)
    start = torch.cat([p.detach().reshape(-1) for p in module.parameters()]).numpy()
    outputs = tuple(network(torch.as_tensor(start), torch.zeros(shape, dtype=torch.float64)).shape)
    subject = Subject(Trainable(count, network, shape, outputs, is_kinked=True), start=start)
    if group is None:
        return subject
    return _symmetric(subject, read_group(group, shape[-1], natural_labels).action(outputs[-1]), group)


def _symmetric(subject: Subject, act: Action, group: str | None) -> Subject:
    trained = subject.trained
    if act.lie:
        return Subject(trained, subject.start, rotated=act, model=subject.model)
    if (act.inputs, act.labels) != (trained.shape[-1], trained.outputs[-1]):
        raise InputError(
            f"group={group!r}: acts on inputs and labels of dimensions {act.inputs} and {act.labels}, but the model has "
            f"{trained.shape[-1]} and {trained.outputs[-1]}"
        )
    pairs = [tuple(np.array([[*map(float, row)] for row in g]) for g in pair) for pair in elements(act)]
    return Subject(trained, subject.start, elements=[(g, h) for g, h in pairs], model=subject.model)


def averages(subject: Subject, x: Vector, y: Vector) -> tuple[Field | None, tuple[Vector, Vector]]:
    """Return the field of the squared loss averaged over all rotations, or none and the data moved by a finite group.

    Raises
    ------
    InputError
        If no average over the rotations is known.
    """
    if subject.rotated is None:
        return None, augmented(x, y, subject.elements)
    model, d = subject.model, subject.rotated.inputs
    if model is not None and model.architecture == "linear" and d > 1:
        second = float((x**2).sum(axis=1).mean()) / d
        shapes = list(zip(model.sizes[:-1], model.sizes[1:], strict=True))
        return deep_linear_field(Moments(second * np.eye(d), np.zeros((y.shape[1], d))), shapes), (x, y)
    if model is not None and model.architecture == "power" and d > 1:
        return rotated_power_field(x, y[:, 0], model.sizes[0], model.sizes[1]), (x, y)
    if model is not None and model.architecture == "lightning":
        assert model.group is not None
        turned = d - model.group.trivial
        return rotated_lightning_field(model.sizes, x, y, rotated=turned, output_map=model.output_map), (x, y)
    raise InputError(
        f"group: is infinite, of dimension {len(subject.rotated.lie)}; finite groups are simulated, and all rotations for "
        "linear nets and powers of two inputs or more and lightning attention"
    )


def labels_of(y: Vector, loss: str, samples: int, outputs: tuple[int, ...]) -> Vector:
    """Return labels for outputs of this shape: numbers as they are, classes as probabilities.

    Raises
    ------
    InputError
        If they do not fit.
    """
    if len(y) != samples:
        raise InputError(f"y has {len(y)} labels for {samples} samples; one is needed for each")
    if loss == "cross-entropy" and y.shape == (samples, *outputs[:-1]) and y.dtype.kind == "i":
        if y.min() < 0 or y.max() >= outputs[-1]:
            raise InputError(f"y has classes from {y.min()} to {y.max()}; the model tells 0 to {outputs[-1] - 1} apart")
        one_hot: Vector = np.eye(outputs[-1])[y]
        return one_hot
    if outputs == (1,) and y.shape == (samples,):
        y = y[:, None]
    if y.shape != (samples, *outputs):
        classes = ", or a class (an integer) for each sample" if loss == "cross-entropy" else ""
        raise InputError(f"y has shape {list(y.shape)}; labels of shape {[samples, *outputs]} are needed{classes}")
    if not np.isfinite(y).all():
        raise InputError("y has entries that are not finite; give a number for each")
    if loss == "cross-entropy" and not (y.min() >= 0 and np.allclose(y.sum(axis=-1), 1, rtol=0, atol=1e-6)):
        raise InputError("y has rows that are no probabilities; cross-entropy needs classes, or rows that add up to 1")
    return np.asarray(y, np.float64)


def input_shape_of(module: nn.Module, source: str) -> tuple[int, ...]:
    """Return the shape of one input of a module, read from its first linear layer.

    Raises
    ------
    InputError
        If there is none.
    """
    for part in module.modules():
        if isinstance(part, nn.Linear):
            return (part.in_features,)
    raise InputError(f"{source}: has no linear layer to read the shape of an input from; give --input-shape")
