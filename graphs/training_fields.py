"""Fields of instances that are training problems: a network with weights, an activation, and the data it is trained on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

from ..core import InputError
from .fields import NetworkFields, Node

__all__ = ["HOMOGENEOUS", "ActivationName", "ExactRows", "MethodName", "RunFields", "TrainingFields"]

ActivationName: TypeAlias = Literal[
    "relu", "leaky_relu", "abs", "identity", "relu_squared", "cube", "gelu", "silu", "tanh", "softplus"
]

MethodName: TypeAlias = Literal["gd", "heavy_ball", "adam", "adamw", "rmsprop", "sign", "clip_entries", "clip_norm"]

HOMOGENEOUS = ("relu", "leaky_relu", "abs", "identity")
"""The activations that are positively homogeneous of degree 1."""

ExactRows: TypeAlias = tuple[tuple[Fraction, ...], ...]


@dataclass(frozen=True)
class TrainingFields(NetworkFields):
    """A network trained on data with the mean squared error.

    What is not given is drawn from `data_seed`, see `lakatos.numerics.training`.

    Parameters
    ----------
    activation : str
        The same at all hidden nodes.
    bias : tuple of node names
        Inputs that are 1 on every sample; the data has no columns for them.
    data : rows of numbers, optional
        One row per sample, one number per input that is no bias.
    targets : rows of numbers, optional
        One row per sample, one number per output.
    teacher : tuple of numbers, optional
        Weights of the same network, whose outputs are the targets.
    samples : int
        Number of samples where they are drawn.
    data_seed : int
        Of everything that is drawn.

    Raises
    ------
    InputError
        Where the instance is built, if the tables do not fit the network or each other.

    Examples
    --------
    >>> fields = TrainingFields(edges=(("x", "v"), ("one", "v"), ("v", "y")), bias=("one",), data=((Fraction(2),),))
    >>> fields.data_inputs
    ('x',)
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
        if unknown := sorted({*map(str, self.bias)} - {*names}):
            raise InputError(f"bias={unknown!r}: not among the inputs {names!r}")
        if self.samples < 1:
            raise InputError(f"samples={self.samples!r}: at least one sample is needed")
        if self.data_seed < 0:
            raise InputError(f"data_seed={self.data_seed!r}: a seed is not negative")
        if self.targets is not None and self.teacher is not None:
            raise InputError("teacher: given beside targets, which it would define; leave one of them out")
        if self.teacher is not None and len(self.teacher) != network.edge_count:
            raise InputError(f"teacher: {len(self.teacher)} weights; the network has {network.edge_count} edges")
        _require_shape(self.data, "data", len(self.data_inputs))
        _require_shape(self.targets, "targets", len(network.outputs))
        if self.data is not None and self.targets is not None and len(self.data) != len(self.targets):
            raise InputError(
                f"targets: {len(self.targets)} rows, but data has {len(self.data)}; a sample has one of each"
            )

    @property
    def data_inputs(self) -> tuple[str, ...]:
        """Names of the inputs that are no biases: the columns of the data."""
        return tuple(name for v in self.network.inputs if (name := self.network.names[v]) not in self.bias)


@dataclass(frozen=True)
class RunFields(TrainingFields):
    """A training problem with weights at the start, and a run of gradient flow, or of gradient descent, from there.

    Parameters
    ----------
    method : str
        ``flow`` or ``gd``.
    duration : Fraction
        Time at the end of the run.
    rate : Fraction
        Of gradient descent, which makes duration / rate steps.

    Raises
    ------
    InputError
        Where the instance is built, for weights that are missing and numbers that are not positive.
    """

    method: Literal["flow", "gd"] = "flow"
    duration: Fraction = Fraction(1)
    rate: Fraction = Fraction(1, 100)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.weights is None:
            raise InputError(
                "edges: weights are missing, and a run starts from them; write edges as [tail, head, weight]"
            )
        for field in ("duration", "rate"):
            if (value := getattr(self, field)) <= 0:
                raise InputError(f"{field}={str(value)!r}: a positive number is needed")

    @property
    def steps(self) -> int:
        """Number of steps of gradient descent: duration / rate, rounded."""
        return max(1, round(self.duration / self.rate))


def _require_shape(rows: ExactRows | None, field: str, columns: int) -> None:
    if rows is None:
        return
    if not rows:
        raise InputError(f"{field}=[]: at least one sample is needed")
    if wrong := [i for i, row in enumerate(rows) if len(row) != columns]:
        raise InputError(f"{field}[{wrong[0]}] has {len(rows[wrong[0]])} numbers; {columns} are needed")
