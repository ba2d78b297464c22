"""Networks of partly fixed layers as exact fields of instances: effective weights F + D ⊙ W, data, and permutations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..core import InputError
from .layers import require_permutation
from .matrices import Rows, product, require_rows, transpose

__all__ = ["NetworkFields", "layer_inputs"]


@dataclass(frozen=True)
class NetworkFields:
    """A ReLU network of partly fixed layers with effective weights F_l + D_l ⊙ W_l, data, and permutations.

    Parameters
    ----------
    F, D, W : tuples of rows of numbers
        For each layer, from the inputs on, the matrices of outputs × inputs of that layer.
    data : rows of numbers
        Points, of as many coordinates as the first layer has inputs.
    permutations : tuple of tuples of int
        For each hidden layer π_l as (π_l(0), π_l(1), …): neuron i takes the place of neuron π_l(i).

    Raises
    ------
    InputError
        If shapes do not fit, or a permutation is none.

    Examples
    --------
    >>> one = ((Fraction(1),),)
    >>> NetworkFields(F=(one, one), D=(one, one), W=(one, one), data=one, permutations=((0,),)).inputs[1]
    ((Fraction(2, 1),),)
    """

    F: tuple[Rows, ...]
    D: tuple[Rows, ...]
    W: tuple[Rows, ...]
    data: Rows
    permutations: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        require_rows(self.data, "data")
        if not self.F or len(self.D) != len(self.F) or len(self.W) != len(self.F):
            raise InputError(
                f"F: {len(self.F)}, D: {len(self.D)} and W: {len(self.W)} layers; as many of each are needed, at least one"
            )
        columns = len(self.data[0])
        for depth, F in enumerate(self.F):
            require_rows(F, f"F[{depth}]", columns=columns)
            for name in ("D", "W"):
                require_rows(getattr(self, name)[depth], f"{name}[{depth}]", columns=columns, count=len(F))
            columns = len(F)
        if len(self.permutations) != len(self.F) - 1:
            raise InputError(
                f"permutations: {len(self.permutations)}; one for each of the {len(self.F) - 1} hidden layers is needed"
            )
        for depth, permutation in enumerate(self.permutations):
            try:
                require_permutation(permutation, len(self.F[depth]))
            except InputError as error:
                raise InputError(f"permutations[{depth}]: {error}") from None

    @property
    def depth(self) -> int:
        """Number of layers."""
        return len(self.F)

    @property
    def places(self) -> tuple[tuple[int, ...], ...]:
        """Permutations of the inputs, of the hidden layers and of the outputs: the first and the last move nothing."""
        return (tuple(range(len(self.data[0]))), *self.permutations, tuple(range(len(self.F[-1]))))

    @cached_property
    def effective(self) -> tuple[Rows, ...]:
        """The matrices F_l + D_l ⊙ W_l."""
        return tuple(
            tuple(tuple(f + d * w for f, d, w in zip(*entries, strict=True)) for entries in zip(*matrices, strict=True))
            for matrices in zip(self.F, self.D, self.W, strict=True)
        )

    @cached_property
    def inputs(self) -> tuple[Rows, ...]:
        """What each layer gets on the data, one row for each point; the last entry are the outputs of the network."""
        return layer_inputs(self.data, self.effective)


def layer_inputs(data: Rows, weights: Sequence[Rows]) -> tuple[Rows, ...]:
    """Return what each layer of a ReLU network gets, one row for each point of `data`, and last the outputs of the network.

    Examples
    --------
    >>> layer_inputs(((Fraction(-2),),), (((Fraction(1),),), ((Fraction(3),),)))[1:]
    (((Fraction(0, 1),),), ((Fraction(0, 1),),))
    """
    found = [data]
    for depth, matrix in enumerate(weights):
        outputs = product(found[-1], transpose(matrix))
        if depth + 1 < len(weights):
            outputs = tuple(tuple(max(x, Fraction(0)) for x in row) for row in outputs)
        found.append(outputs)
    return tuple(found)
