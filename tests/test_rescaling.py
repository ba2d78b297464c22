"""Rescaling: the balance aimed at, the same function, and no locked sign where that is possible."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import brute_force
import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from lakatos import InputError, Network, connectivity
from lakatos.core import Undecided
from lakatos.graphs.layered import layered_network
from lakatos.graphs.network import balance_of_weights
from lakatos.graphs.structure import every_hidden_node_on_terminal_walk
from lakatos.numerics.forward import NetworkFunction
from lakatos.numerics.rescaling import RESOLUTION, rescale
from lakatos.numerics.unlocked_balances import unlocked_balance
from lakatos.testing import dags, layered_dags, multigraphs


def weighted(network: Network, weights: Any) -> Network:
    """The same graph with these float weights."""
    theta = np.asarray(weights, np.float64)
    numerators, denominator = balance_of_weights(network.tail, network.head, network.hidden, theta)
    return replace(network, numerators=numerators, denominator=denominator, weights=theta, rounding=2.0**-53)


def function_change(before: Network, after: Network) -> float:
    """Largest change of an output, relative to the largest that it could be if nothing canceled."""
    data = torch.randn(50, len(before.inputs), generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    function = NetworkFunction(before, "relu")
    old, new = (function(torch.from_numpy(np.asarray(net.weights)), data) for net in (before, after))
    scale = function(torch.from_numpy(np.abs(np.asarray(before.weights))), data.abs())
    return float((old - new).abs().max() / scale.abs().max().clamp(min=1e-300))


weights_of = st.floats(0.1, 10).flatmap(lambda w: st.sampled_from([w, -w]))


@given(st.one_of(dags(max_hidden=6, max_edges=14), layered_dags()), st.data())
@settings(max_examples=80)
def test_every_balance_is_reached_and_the_function_stays(fields: dict[str, Any], data: st.DataObject) -> None:
    fields.pop("balance", None)
    network = Network.from_edges(**fields)
    size = network.edge_count
    before = weighted(network, data.draw(st.lists(weights_of, min_size=size, max_size=size)))
    target = np.zeros(network.node_count)
    count = len(network.hidden_nodes)
    target[network.hidden_nodes] = data.draw(st.lists(st.floats(-10, 10), min_size=count, max_size=count))
    found = rescale(before, target)
    after = weighted(network, found.weights)
    reached = np.array([float(after.sum_of_balances([v])) for v in network.hidden_nodes])
    # Rounding of the new weights adds less than this to what the method itself leaves.
    assert np.abs(reached - target[network.hidden_nodes]).max() <= 2 * RESOLUTION * max(1, np.abs(target).max())
    assert function_change(before, after) < 1e-12
    assert (np.sign(found.weights) == np.sign(before.weights)).all()


@given(st.integers(0, 1000), st.floats(-2, 2))
@settings(max_examples=30)
def test_the_rescaling_is_unique(seed: int, shift: float) -> None:
    rng = np.random.default_rng(seed)
    network = layered_network([2, 3, 2, 1])
    network = weighted(network, rng.normal(size=network.edge_count))
    target = rng.normal(size=network.node_count)
    one, other = (rescale(network, target, start=np.full(network.node_count, x)) for x in (0.0, shift))
    # Both balances are within the resolution, and the Hessian of Φ at the solution turns that into an error of log α.
    assert np.abs(one.log_scale - other.log_scale).max() < 1e-7


def test_closed_forms() -> None:
    pair = Network.from_edges([("x", "v", 2.0), ("v", "y", 1.0)])
    np.testing.assert_allclose(rescale(pair, np.zeros(3)).weights, [2**0.5, 2**0.5], rtol=1e-13)
    chain = Network.from_edges([("x", "a", 1.0), ("a", "b", 2.0), ("b", "y", 3.0)])
    found = rescale(chain, [0, -1, 1, 0])
    np.testing.assert_allclose(found.weights, [3**0.5, 2, 3**0.5], rtol=1e-13)
    assert np.prod(found.weights) == pytest.approx(6, rel=1e-14)


def test_remedy_for_two_locked_neurons() -> None:
    """Incoming weights of norm 0.3, outgoing ones 1: from balance −0.91 to 0.91 takes the factor 10/3, in six steps."""
    angles = {"a": 0.3, "b": 1.9}
    edges = [[x, v, 0.3 * f(t)] for v, t in angles.items() for x, f in (("x1", np.cos), ("x2", np.sin))]
    network = Network.from_edges([*edges, ["a", "y", 1.0], ["b", "y", 1.0]])
    found = rescale(network, np.where(network.hidden, 0.91, 0.0))
    np.testing.assert_allclose(np.exp(found.log_scale[network.hidden]), [10 / 3, 10 / 3], rtol=1e-12)
    np.testing.assert_allclose(found.weights[4:], [0.3, 0.3], rtol=1e-12)
    assert found.steps == 6
    assert function_change(network, weighted(network, found.weights)) < 1e-14


def test_what_is_out_of_reach_is_not_claimed() -> None:
    dead_end = Network.from_edges([("x", "v", 1.0), ("v", "y", 0.0)])
    with pytest.raises(Undecided, match="a balance is off by 1"):
        rescale(dead_end, [0, -1, 0])
    with pytest.raises(InputError, match="no weights"):
        rescale(Network.from_edges([("x", "v"), ("v", "y")]), [0, 0, 0])
    loose = Network.from_edges([("x", "a", 0.0), ("a", "b", 1.0), ("b", "y", 0.0)])
    with pytest.raises(Undecided, match=r"a balance is off|not unique"):
        rescale(loose, [0, 1, 1, 0])


def test_large_steps_overflow_and_are_halved() -> None:
    chain = Network.from_edges([("x", "v", 1e-120), ("v", "y", 1e120)])
    into, out = rescale(chain, [0, 3, 0]).weights
    # Their product stays 1, and x² − 1/x² = 3.
    assert into**2 == pytest.approx((3 + 13**0.5) / 2, rel=1e-12)
    assert into * out == pytest.approx(1, rel=1e-12)


# Unlocked balances ------------------------------------------------------------------------------------------------------


def strictly_unlockable(network: Network) -> bool:
    """Whether some balances obey the strict inequalities of all sets that one edge leaves or enters alone."""
    graph = brute_force.graph_of(network.with_balance(dict.fromkeys(network.hidden_names, 0)))
    rows = []
    for k in range(1, len(graph.hidden) + 1):
        for W in combinations(graph.hidden, k):
            inside = [float(v in W) for v in graph.hidden]
            if len(brute_force.leaving(graph, W)) == 1:
                rows.append([-x for x in inside])
            if len(brute_force.entering(graph, W)) == 1:
                rows.append(inside)
    if not rows:
        return True
    return linprog(np.zeros(len(graph.hidden)), A_ub=rows, b_ub=-np.ones(len(rows)), bounds=(None, None)).status == 0


@given(dags(max_hidden=5, max_edges=11), st.data())
@settings(max_examples=80)
def test_unlocked_wherever_possible(fields: dict[str, Any], data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    size = network.edge_count
    before = weighted(network, data.draw(st.lists(weights_of, min_size=size, max_size=size)))
    if not strictly_unlockable(network):
        with pytest.raises(InputError, match="no rescaling frees"):
            unlocked_balance(before)
        return
    target = unlocked_balance(before)
    result = connectivity(weighted(network, rescale(before, target).weights))
    assert result.connected
    assert result.regular_connected
    assert result.regular_log2_components == 0


def test_what_is_unlocked_by_far_is_left_alone() -> None:
    network = weighted(layered_network([3, 4, 2]), np.ones(20))
    np.testing.assert_array_equal(unlocked_balance(network)[network.hidden_nodes], [1, 1, 1, 1])


def test_no_target_is_chosen_for_dead_ends() -> None:
    edges = [("x", "v", 1.0), ("v", "y", 2.0), ("x", "w", 1.0)]
    network = Network.from_edges(edges, inputs=["x"], outputs=["y"])
    with pytest.raises(InputError, match="dead end"):
        unlocked_balance(network)


@given(multigraphs(max_hidden=4, max_edges=12), st.data())
@settings(max_examples=150, deadline=None)
def test_cycles_are_unlocked_wherever_possible(fields: dict[str, Any], data: st.DataObject) -> None:
    network = Network.from_edges(**fields)
    assume(every_hidden_node_on_terminal_walk(network) and network.edge_count > 0)
    size = network.edge_count
    before = weighted(network, data.draw(st.lists(weights_of, min_size=size, max_size=size)))
    if not strictly_unlockable(network):
        with pytest.raises(InputError, match="no rescaling frees"):
            unlocked_balance(before)
        return
    target = unlocked_balance(before)
    result = connectivity(weighted(network, rescale(before, target).weights))
    assert result.connected
    assert result.regular_connected


def test_a_locked_cycle_is_freed() -> None:
    edges = [("x", "v", 1.0), ("z", "v", 1.0), ("v", "w", 1.0), ("w", "v", 1.0), ("x", "w", 0.5), ("v", "y", 3.0)]
    network = Network.from_edges([*edges, ("w", "y", 0.1)], inputs=["x", "z"], outputs=["y"])
    locked = Network.from_edges(edges, inputs=["x", "z"], outputs=["y"])
    assert connectivity(locked).frozen_edges == (5,)
    after = weighted(locked, rescale(locked, unlocked_balance(locked)).weights)
    assert connectivity(after).regular_frozen_edges == ()
    assert unlocked_balance(network)[network.hidden_nodes].tolist() == [
        float(network.sum_of_balances([v])) for v in network.hidden_nodes
    ]


def test_both_locked_becomes_both_free() -> None:
    """Two hidden neurons with small incoming and large outgoing weights: the remedy takes |v| from 1 to less than |w|."""
    edges = [
        ["x1", "a", 0.28],
        ["x2", "a", 0.09],
        ["x1", "b", -0.1],
        ["x2", "b", 0.28],
        ["a", "y", 1.0],
        ["b", "y", 1.0],
    ]
    network = Network.from_edges(edges)
    assert connectivity(network).frozen_edges == (4, 5)
    after = weighted(network, rescale(network, unlocked_balance(network)).weights)
    assert connectivity(after).regular_frozen_edges == ()
    assert function_change(network, after) < 1e-14
