"""Training problems as fields of instances: a network, its weights, and the data it is trained on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Literal, TypeAlias

import torch
from torch import Tensor

from ..core import InputError
from ..graphs.fields import NetworkFields, Node
from .descent import Objective
from .forward import NetworkFunction, as_floats

__all__ = ["HOMOGENEOUS", "ActivationName", "ExactRows", "TrainingFields"]

ActivationName: TypeAlias = Literal[
    "relu", "leaky_relu", "abs", "identity", "relu_squared", "cube", "gelu", "silu", "tanh", "softplus"
]

HOMOGENEOUS = ("relu", "leaky_relu", "abs", "identity")
"""The activations that are positively homogeneous of degree 1."""

ExactRows: TypeAlias = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class TrainingFields(NetworkFields):
    """A network trained on data with the mean squared error.

    What is not given is drawn on the CPU from a generator with seed `data_seed`: first the data, then the targets, then the
    weights (standard normal; weights divided by the root of the in-degree of their head).

    Parameters
    ----------
    activation : str
        The same at all hidden nodes.
    bias : tuple of node names
        Inputs that are 1 on every sample; drawn data has no columns for them.
    data : rows of numbers, optional
        One row per sample, one number per input that is no bias.
    targets : rows of numbers, optional
        One row per sample, one number per output.
    teacher : tuple of numbers, optional
        Weights of the same network, whose outputs are the targets.
    samples : int
        Number of samples drawn.
    data_seed : int
        Of everything that is drawn.

    Raises
    ------
    InputError
        Where the instance is built, if the tables do not fit the network or each other.

    Examples
    --------
    >>> fields = TrainingFields(
    ...     edges=(("x", "v", Fraction(2)), ("v", "y", Fraction(1))), data=((Fraction(1),),), targets=((Fraction(0),),)
    ... )
    >>> fields.objective().value_and_gradient(fields.start())[1].tolist()
    [4.0, 8.0]
    """

    activation: ActivationName = "relu"
    bias: tuple[Node, ...] = ()
    data: ExactRows | None = None
    targets: ExactRows | None = None
    teacher: tuple[Fraction, ...] | None = None
    samples: int = 20
    data_seed: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "bias", tuple(map(str, self.bias)))
        network = self.network
        names = [network.names[v] for v in network.inputs]
        if unknown := sorted({str(name) for name in self.bias} - set(names)):
            raise InputError(f"bias={unknown!r}: not among the inputs {names!r}")
        if self.samples < 1:
            raise InputError(f"samples={self.samples!r}: at least one sample is needed")
        if self.targets is not None and self.teacher is not None:
            raise InputError("teacher: given beside targets, which it would define; leave one of them out")
        if self.teacher is not None and len(self.teacher) != network.edge_count:
            raise InputError(f"teacher: {len(self.teacher)} weights; the network has {network.edge_count} edges")
        _require_shape(self.data, "data", len(names) - len(self.bias))
        _require_shape(self.targets, "targets", len(network.outputs))
        if self.data is not None and self.targets is not None and len(self.data) != len(self.targets):
            raise InputError(
                f"targets: {len(self.targets)} rows, but data has {len(self.data)}; each sample has one of each"
            )

    def start(self, device: str = "cpu") -> Tensor:
        """Return the weights at the start, (m,), float64."""
        return self._drawn[2].to(device)

    def objective(self, device: str = "cpu", batch: int | None = None) -> Objective:
        """Return the loss on the data; of `batch` samples after the other where given."""
        data, targets, _ = self._drawn
        function = NetworkFunction(self.network, self.activation, device)
        return Objective(function, data.to(device), targets.to(device), batch=batch)

    def exact_start(self) -> tuple[Fraction, ...]:
        """Return the weights at the start, exactly: as they were given, or the values of the floats drawn."""
        weights = self.network.weights
        return tuple(map(Fraction, self.start().tolist() if weights is None else weights))

    def exact_data(self) -> ExactRows:
        """Return the data with a number for every input, 1 for the biases."""
        if self.data is None:
            return _exact_rows(self._drawn[0])
        names = [self.network.names[v] for v in self.network.inputs]
        rows = [iter(row) for row in self.data]
        return tuple(tuple(Fraction(1) if name in self.bias else next(row) for name in names) for row in rows)

    def exact_targets(self) -> ExactRows:
        """Return the targets as given, or as the exact values of the floats drawn or computed."""
        return _exact_rows(self._drawn[1]) if self.targets is None else self.targets

    @cached_property
    def _drawn(self) -> tuple[Tensor, Tensor, Tensor]:
        """Data (samples, inputs), targets (samples, outputs) and weights (m,) on the CPU."""
        network = self.network
        generator = torch.Generator().manual_seed(self.data_seed)

        def normal(*shape: int) -> Tensor:
            return torch.randn(*shape, generator=generator, dtype=torch.float64)

        given = [i for i, v in enumerate(network.inputs.tolist()) if network.names[v] not in self.bias]
        rows = len(self.data or self.targets or ()) or self.samples
        data = torch.ones(rows, len(network.inputs), dtype=torch.float64)
        data[:, given] = normal(rows, len(given)) if self.data is None else _floats(self.data)
        if self.teacher is not None:
            targets = NetworkFunction(network, self.activation)(_floats([self.teacher])[0], data)
        else:
            targets = normal(rows, len(network.outputs)) if self.targets is None else _floats(self.targets)
        if network.weights is None:
            weights = normal(network.edge_count) / torch.from_numpy(network.in_degree[network.head]).double().sqrt()
        else:
            weights = as_floats(network)
        return data, targets, weights


def _floats(rows: Sequence[Sequence[Fraction]]) -> Tensor:
    return torch.tensor([[float(x) for x in row] for row in rows], dtype=torch.float64)


def _exact_rows(rows: Tensor) -> ExactRows:
    return tuple(tuple(map(Fraction, row)) for row in rows.tolist())


def _require_shape(rows: ExactRows | None, field: str, columns: int) -> None:
    if rows is None:
        return
    if not rows:
        raise InputError(f"{field}=[]: at least one sample is needed")
    if wrong := [i for i, row in enumerate(rows) if len(row) != columns]:
        raise InputError(f"{field}[{wrong[0]}] has {len(rows[wrong[0]])} numbers; {columns} are needed")
