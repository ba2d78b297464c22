"""Costs of permuted networks against formulas in the basis, and against weights that are perturbed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lakatos.instance import build_instance
from lakatos.numerics.floats import floats
from lakatos.testing import permuted_layers
from lakatos.theorems import load
from lakatos.theory.layers import PermutedFields
from lakatos.theory.matrices import product, transpose
from lakatos.theory.network_fields import NetworkFields
from lakatos.theory.permuted_networks import layer_sensitivity, permuted_network
from lakatos.theory.realization import cost_table, sensitivity

THEOREM = load("permuting_hidden_layers_costs_the_sum_of_layer_sensitivities")


@given(permuted_layers(is_spread=True, max_inputs=3), st.data())
def test_sensitivity_of_a_layer_is_that_of_permuted_rows_of_the_basis(
    fields: dict[str, object], data: st.DataObject
) -> None:
    layer = build_instance(PermutedFields, fields)
    places = data.draw(st.permutations(range(layer.n)))
    moved = PermutedFields(
        U=tuple(layer.U[b] for b in places), F=layer.F, D=layer.D, A=layer.A, permutation=layer.permutation
    )
    own, table = cost_table(layer, layer.A).costs, cost_table(moved, layer.A).costs
    expected = sum(Fraction(table[i][j]) - Fraction(own[i][i]) for i, j in enumerate(layer.permutation))
    # D = 1, so that these weights have these features.
    W = tuple(
        tuple(x - f for x, f in zip(*pair, strict=True))
        for pair in zip(product(layer.A, transpose(layer.U)), layer.F, strict=True)
    )
    network = NetworkFields(F=(layer.F,), D=(layer.D,), W=(W,), data=transpose(layer.U), permutations=())
    assert layer_sensitivity(network, 0, layer.permutation, places) == expected
    assert layer_sensitivity(network, 0, layer.permutation, range(layer.n)) == sensitivity(own, layer.permutation)


@given(THEOREM.instances(), st.integers(0, 2**32 - 1))  # type: ignore[misc]
def test_no_other_weights_of_the_permuted_network_are_smaller(fields: dict[str, object], seed: int) -> None:
    """Any weights of a layer that realize the permuted outputs are at least as long as the least ones."""
    network = build_instance(NetworkFields, fields)
    built = permuted_network(network)
    assert built is not None
    outputs, _ = built
    assert outputs == network.inputs[-1]
    rng = np.random.default_rng(seed)
    for layer in range(network.depth):
        before, after = network.places[layer : layer + 2]
        X = floats(network.inputs[layer])[:, list(before)]
        D, F = floats(network.D[layer]), floats(network.F[layer])
        Y = floats(network.inputs[layer]) @ floats(network.effective[layer]).T
        total = 0.0
        for i, j in enumerate(after):
            w = np.linalg.pinv(X * D[i], rcond=1e-12) @ (Y[:, j] - X @ F[i])
            _, singular, rows = np.linalg.svd(X * D[i])
            free = rows[int((singular > 1e-12).sum()) :]
            w = w + free.T @ rng.normal(size=len(free))
            assert np.allclose(X @ (F[i] + D[i] * w), Y[:, j], atol=1e-8)
            total += float(w @ w)
        own = layer_sensitivity(network, layer, range(len(after)), range(len(before)))
        assert own == 0
        assert total >= float(layer_sensitivity(network, layer, after, before)) - 1e-8 + _least_norm(network, layer) * (
            1 - 1e-9
        )


def _least_norm(network: NetworkFields, layer: int) -> float:
    """‖W‖² of the least weights that give the given outputs on the given inputs."""
    X, D, F = floats(network.inputs[layer]), floats(network.D[layer]), floats(network.F[layer])
    Y = X @ floats(network.effective[layer]).T
    parts = [np.linalg.pinv(X * D[i], rcond=1e-12) @ (Y[:, i] - X @ F[i]) for i in range(len(F))]
    return float(sum(w @ w for w in parts))
