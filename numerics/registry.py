"""Experiments by name: what `lakatos sweep` can run over a grid of settings and seeds.

`HOMES` is the registry: the name of an experiment and the module of this package whose ``EXPERIMENTS`` holds it. A plug-in
registers ``name = "package.module"`` in the entry point group ``lakatos.experiments`` instead.

An experiment is a function of a list of settings, as many seeds, and a device; all of one call train as one batch where
they can. It returns one row of plain numbers for each, and has not seen any prediction.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, TypeAlias

from ..core import InputError

__all__ = ["HOMES", "Experiment", "Row", "load_experiment", "names"]

Row: TypeAlias = "Mapping[str, bool | int | float | str | tuple[float, ...]]"
"""What was measured, by column; a tuple is a curve, such as the drifts at the times of another column."""

HOMES: Mapping[str, str] = {
    "toy_obstruction": "training_sweeps",
    "two_neuron_obstruction": "training_sweeps",
    "balance_drift": "training_sweeps",
    "linear_law_drift": "training_sweeps",
    "penalized_training": "penalty_sweeps",
    "cyclic_direction": "symmetry_sweeps",
    "symmetrized_network": "symmetry_sweeps",
    "attention_range": "symmetry_sweeps",
    "coherence_barriers": "identifiability_sweeps",
    "subspace_barriers": "identifiability_sweeps",
    "image_barriers": "identifiability_sweeps",
    "architecture_barriers": "identifiability_sweeps",
    "linearization_error": "linearization_sweeps",
    "one_hidden_correlations": "correlation_sweeps",
}


@dataclass(frozen=True)
class Experiment:
    """An experiment that can be swept.

    Parameters
    ----------
    statement : str
        What it measures, in one line.
    settings : type
        A frozen dataclass; its fields are what a grid can range over.
    run : callable
        Settings, as many seeds, and a device (``cpu``, ``cuda``, ``cuda:N``) to as many rows.
    varying : tuple of str
        Settings in which the cells of one batch may differ; all others are equal within a batch.
    batch : int
        How many cells `run` is given at once, at most; 1 if it takes them one by one anyway.
    rounding : float
        How much a number may differ between batches of other sizes and between devices, relative to its size (or to 1).

    Raises
    ------
    ValueError
        If `varying` names no settings, or the batch is empty.
    """

    statement: str
    settings: type[Any]
    run: Callable[[Sequence[Any], Sequence[int], str], Sequence[Row]]
    varying: tuple[str, ...] = ()
    batch: int = 1
    rounding: float = 0.0

    def __post_init__(self) -> None:
        fields = {field.name for field in dataclasses.fields(self.settings)}
        if unknown := set(self.varying) - fields:
            raise ValueError(f"varying={self.varying!r}: {sorted(unknown)!r} are no fields of {self.settings.__name__}")
        if self.batch < 1:
            raise ValueError(f"batch={self.batch!r}: at least one cell is needed")


def names() -> list[str]:
    """Return the names of all experiments, those of plug-ins last.

    Examples
    --------
    >>> "toy_obstruction" in names()
    True
    """
    plug_ins = sorted(point.name for point in entry_points(group="lakatos.experiments"))
    return [*HOMES, *(name for name in plug_ins if name not in HOMES)]


def load_experiment(name: str) -> tuple[Experiment, str]:
    """Return the experiment called `name`, and the full name of the module that defines it.

    Raises
    ------
    InputError
        If there is no such experiment.
    """
    if name in HOMES:
        module = import_module(f".{HOMES[name]}", __package__)
        return module.EXPERIMENTS[name], module.__name__
    for point in entry_points(group="lakatos.experiments"):
        if name == point.name:
            module = point.load()
            return module.EXPERIMENTS[name], module.__name__
    raise InputError(f"experiment={name!r}: no such experiment; there are {', '.join(names())}")
