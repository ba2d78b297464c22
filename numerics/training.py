"""The data, the objective and the weights at the start of a training problem that is given by its fields.

What the fields leave out is drawn on the CPU from a generator with their `data_seed`: first the data, then the targets, then
the weights, all standard normal; weights are divided by the root of the in-degree of their head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import torch
from torch import Tensor

from ..graphs.training_fields import ExactRows, TrainingFields
from .descent import Objective
from .forward import NetworkFunction, as_floats

__all__ = ["Problem", "problem_of"]


@dataclass(frozen=True, eq=False)
class Problem:
    """Data (samples, inputs), targets (samples, outputs) and weights at the start (m,), in float64.

    Examples
    --------
    >>> from fractions import Fraction
    >>> problem = problem_of(
    ...     TrainingFields(edges=(("x", "v", Fraction(2)), ("v", "y", Fraction(1))), data=((1,),), targets=((0,),))
    ... )
    >>> problem.objective().value_and_gradient(problem.start)[1].tolist()
    [4.0, 8.0]
    """

    fields: TrainingFields
    data: Tensor
    targets: Tensor
    start: Tensor

    def objective(self, batch: int | None = None) -> Objective:
        """Return the mean squared error, of `batch` samples after the other where given."""
        function = NetworkFunction(self.fields.network, self.fields.activation, self.data.device)
        return Objective(function, self.data, self.targets, batch=batch)

    def exact_start(self) -> tuple[Fraction, ...]:
        """Return the weights exactly: as they were given, or the values of the floats drawn."""
        weights = self.fields.network.weights
        return tuple(Fraction(w) for w in (self.start.tolist() if weights is None else weights))

    def exact_data(self) -> ExactRows:
        """Return the data exactly, with a number for every input, 1 for the biases."""
        if self.fields.data is None:
            return _exact_rows(self.data)
        names = [self.fields.network.names[v] for v in self.fields.network.inputs]
        rows = [iter(row) for row in self.fields.data]
        return tuple(tuple(Fraction(1) if name in self.fields.bias else next(row) for name in names) for row in rows)

    def exact_targets(self) -> ExactRows:
        """Return the targets as they were given, or the values of the floats drawn or computed."""
        return _exact_rows(self.targets) if self.fields.targets is None else self.fields.targets


def problem_of(fields: TrainingFields, device: str = "cpu") -> Problem:
    """Return the training problem with these fields, placed on `device`.

    Raises
    ------
    InputError
        If a weight is beyond the range of floats, or the network has a directed cycle.
    """
    network = fields.network
    generator = torch.Generator().manual_seed(fields.data_seed)

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=generator, dtype=torch.float64)

    columns = [i for i, v in enumerate(network.inputs.tolist()) if network.names[v] not in fields.bias]
    rows = len(fields.data or fields.targets or ()) or fields.samples
    data = torch.ones(rows, len(network.inputs), dtype=torch.float64)
    data[:, columns] = normal(rows, len(columns)) if fields.data is None else _floats(fields.data)
    if fields.teacher is not None:
        targets = NetworkFunction(network, fields.activation)(_floats([fields.teacher])[0], data)
    else:
        targets = normal(rows, len(network.outputs)) if fields.targets is None else _floats(fields.targets)
    if network.weights is None:
        start = normal(network.edge_count) / torch.from_numpy(network.in_degree[network.head]).double().sqrt()
    else:
        start = as_floats(network)
    return Problem(fields, *(tensor.to(device) for tensor in (data, targets, start)))


def _floats(rows: Sequence[Sequence[Fraction]]) -> Tensor:
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64)


def _exact_rows(rows: Tensor) -> ExactRows:
    return tuple(tuple(Fraction(x) for x in row) for row in rows.tolist())
