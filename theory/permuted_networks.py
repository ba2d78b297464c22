"""Networks whose hidden neurons change places while their function stays: what the least weights cost, exactly.

If neuron i of layer l takes over the outputs of neuron π_l(i), coordinate b of the inputs of the next layer holds what
coordinate π_l(b) held. So layer l has to realize permuted outputs on re-indexed inputs, with F_l and D_l where they were.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from .layers import LayerFields
from .matrices import Rows, Vector, dot, identity, square, transpose
from .network_fields import NetworkFields, layer_inputs
from .realization import Cost, CostTable, data_cost_table

__all__ = ["layer_sensitivity", "permuted_network"]


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
    return layer_inputs(network.data, weights)[-1], change


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
