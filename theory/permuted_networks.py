"""Networks whose hidden neurons change places while their function stays: what the least weights cost, exactly.

If neuron i of layer l takes over the outputs of neuron π_l(i), coordinate b of the inputs of the next layer holds what
coordinate π_l(b) held. So layer l has to realize permuted outputs on re-indexed inputs, with F_l and D_l where they were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ..core import InputError
from .layers import LayerFields, require_permutation
from .matrices import Rows, Vector, dot, identity, product, require_rows, square, transpose
from .realization import Cost, CostTable, data_cost_table

__all__ = ["NetworkFields", "layer_sensitivity", "permuted_network"]


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
        return _passed(self.data, self.effective)


def _passed(data: Rows, weights: Sequence[Rows]) -> tuple[Rows, ...]:
    found = [data]
    for depth, matrix in enumerate(weights):
        outputs = product(found[-1], transpose(matrix))
        if depth + 1 < len(weights):
            outputs = tuple(tuple(max(x, Fraction(0)) for x in row) for row in outputs)
        found.append(outputs)
    return tuple(found)


def layer_sensitivity(network: NetworkFields, layer: int, outputs: Sequence[int], inputs: Sequence[int]) -> Cost:
    """Return Δ_{π,τ} of a layer: its neurons exchange outputs by π, and its inputs are re-indexed by τ; may be infinite.

    Examples
    --------
    >>> zero, one = Fraction(0), Fraction(1)
    >>> network = NetworkFields(
    ...     F=(((zero,), (one,)), ((zero, one),)),
    ...     D=(((one,), (one,)), ((one, one),)),
    ...     W=(((zero,), (one,)), ((one, one),)),
    ...     data=((one,),),
    ...     permutations=((1, 0),),
    ... )
    >>> layer_sensitivity(network, 0, (1, 0), (0,))
    Fraction(4, 1)
    """
    moved, own = _table(network, layer, inputs).costs, _table(network, layer, range(len(inputs))).costs
    total: Cost = Fraction(0)
    for i, j in enumerate(outputs):
        total = math.inf if math.isinf(moved[i][j]) else total + Fraction(moved[i][j]) - Fraction(own[i][i])
        if math.isinf(total):
            break
    return total


def permuted_network(network: NetworkFields) -> tuple[Rows, Fraction] | None:
    """Return the outputs of the permuted network, and by how much its squared norm exceeds that of the given one.

    Both have the least weights that realize their outputs. The permuted one is run from the data on with these weights, so
    that each layer gets what the ones before it give. None if some output cannot be realized.
    """
    weights, change = [], Fraction(0)
    for layer in range(network.depth):
        before, after = network.places[layer : layer + 2]
        moved, own = _table(network, layer, before), _table(network, layer, range(len(before)))
        rows = []
        for i, j in enumerate(after):
            new, old = (
                _weights(network, layer, i, places, mu.x)
                for places, mu in ((before, moved.solutions[i][j]), (range(len(before)), own.solutions[i][i]))
            )
            if new is None or old is None:
                return None
            change += square(new) - square(old)
            rows.append(tuple(f + d * w for f, d, w in zip(network.F[layer][i], network.D[layer][i], new, strict=True)))
        weights.append(tuple(rows))
    return _passed(network.data, weights)[-1], change


def _weights(
    network: NetworkFields, layer: int, i: int, places: Sequence[int], multiplier: Vector | None
) -> Vector | None:
    """Return diag(d_i) Xᵀ μ, the weights of least norm with this multiplier."""
    if multiplier is None:
        return None
    columns = transpose(_reindexed(network.inputs[layer], places))
    return tuple(d * dot(column, multiplier) for d, column in zip(network.D[layer][i], columns, strict=True))


def _table(network: NetworkFields, layer: int, places: Sequence[int]) -> CostTable:
    """Return what the outputs of all neurons cost all neurons, where input b holds what input ``places[b]`` held."""
    fields = LayerFields(U=identity(len(places)), F=network.F[layer], D=network.D[layer])
    return data_cost_table(
        fields, _reindexed(network.effective[layer], places), _reindexed(network.inputs[layer], places)
    )


def _reindexed(rows: Rows, places: Sequence[int]) -> Rows:
    return tuple(tuple(row[b] for b in places) for row in rows)
