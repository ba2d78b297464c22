"""A balance at which no sign is locked, close to the one that the weights have: the aim of a rescaling that frees a network.

A weight that is the only way out of its tail is locked iff Σ_W c ≤ 0 for some of the sets W that only it leaves, and
mirrored. So the unlocked balances are an open cone, given by one strict inequality for each set. Those that are
violated are found by maximum flows and added to a linear program one by one, which minimizes the total change of
balances. Whether no sign is locked is decided exactly afterwards, so that nothing rests on floating point here.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import linprog
from scipy.sparse import csr_array, eye_array, hstack, vstack

from ..core import InputError, Reason, Undecided
from ..graphs.bottlenecks import one_sided
from ..graphs.feasibility import Side
from ..graphs.network import Network
from ..graphs.structure import every_hidden_node_on_terminal_walk, is_acyclic
from .rescaling import FloatArray, float_weights
from .unlocked_cycles import locking_sets

__all__ = ["unlocked_balance"]

_MARGIN = 0.5
"""Half of all squared weights at a bottleneck: its single weight is then at most as large as a quarter of them."""

_SIDES: tuple[Side, Side] = ("out", "in")
_MOST_ROUNDS = 200
_BITS = 60  # balances in units of 2^-60 of the largest for the flows, which take integers
_SLACK = 1e-7  # of the largest balance: what the linear program may leave violated, far below the margins
_INFEASIBLE = 2  # `status` of scipy.optimize.linprog
_NAMES_SHOWN = 5


@dataclass(frozen=True)
class _Cut:
    """The inequality ± Σ over `nodes` of the balance >= `margin`; the sign is that of the side."""

    side: Side
    nodes: tuple[int, ...]
    margin: float


def unlocked_balance(network: Network) -> FloatArray:
    """Return a balance at which no weight of the network is locked, shape (n,), 0 on terminals.

    At every bottleneck the inequality holds with a margin of half of the squared weights there, so that training with
    finite steps does not lock it again at once; with directed cycles, this holds for the sets that locked a sign. Balances
    that need no change stay.

    Raises
    ------
    InputError
        If there is no such balance, or the network has dead ends or no weights.
    Undecided
        If none was found within the number of rounds.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v", 0.1), ("z", "v", 0.1), ("v", "y", 1.0)])
    >>> unlocked_balance(G).round(3).tolist()
    [0.0, 0.51, 0.0, 0.0]
    """
    if not every_hidden_node_on_terminal_walk(network):
        raise InputError(
            "rescale='unlocked': the network has a dead end, for which no target is chosen automatically; give a file with a "
            "balance for every hidden neuron"
        )
    c, volume = _balances_and_volumes(network)
    unit = float(volume.max(initial=0.0)) or 1.0
    separate = _by_bottlenecks if is_acyclic(network) else _by_locked_signs
    cuts: dict[tuple[Side, tuple[int, ...]], _Cut] = {}
    current = c / unit
    for _ in range(_MOST_ROUNDS):
        found = separate(network, current, volume / unit)
        new = [cut for cut in found if (cut.side, cut.nodes) not in cuts]
        if not new:
            return current * unit
        cuts.update({(cut.side, cut.nodes): cut for cut in new})
        current = _closest(network, c / unit, list(cuts.values()))
    raise Undecided(
        Reason.INCOMPLETE_METHOD, f"no unlocked balance was found in {_MOST_ROUNDS} rounds; give one in a file"
    )


def _by_bottlenecks(network: Network, balance: FloatArray, volume: FloatArray) -> list[_Cut]:
    return [cut for side in _SIDES for cut in _violated(network, side, balance, _margins(network, side, volume))]


def _by_locked_signs(network: Network, balance: FloatArray, volume: FloatArray) -> list[_Cut]:
    """Return the sets that lock a sign: with cycles, there is no list of bottlenecks to look at instead."""
    return [
        _Cut(side, nodes, _MARGIN * (at_end or 1.0)) for side, nodes, at_end in locking_sets(network, balance, volume)
    ]


def _balances_and_volumes(network: Network) -> tuple[FloatArray, FloatArray]:
    """Return incoming minus outgoing and incoming plus outgoing squared weights, 0 on terminals."""
    squares = float_weights(network) ** 2
    inward = np.bincount(network.head, weights=squares, minlength=network.node_count)
    outward = np.bincount(network.tail, weights=squares, minlength=network.node_count)
    return np.where(network.hidden, inward - outward, 0.0), np.where(network.hidden, inward + outward, 0.0)


def _margins(network: Network, side: str, volume: FloatArray) -> FloatArray:
    degree = network.out_degree if side == "out" else network.in_degree
    margins: FloatArray = np.where(network.hidden & (degree == 1), _MARGIN * volume, 0.0)
    return margins


def _violated(network: Network, side: Side, balance: FloatArray, margins: FloatArray) -> list[_Cut]:
    """Return for every bottleneck of this side the worst set, if it misses the margins of the bottlenecks in it.

    The margins are taken off the balances, so that every set has to sum to at least 0 (at most, on the in-side).
    """
    sign = 1 if side == "out" else -1
    shifted: npt.NDArray[Any] = np.array(
        [int(Fraction(float(x)) * (1 << _BITS)) for x in balance - sign * margins], object
    )
    limit = _SLACK * (1 << _BITS)
    return [
        _Cut(side, found.critical, float(margins[list(found.critical)].sum()))
        for found in one_sided(network, side, shifted)
        if found.minimum > limit
    ]


def _closest(network: Network, c: FloatArray, cuts: list[_Cut]) -> FloatArray:
    """Return the balance that obeys all cuts and minimizes the sum of absolute changes."""
    n = network.node_count
    rows = np.repeat(np.arange(len(cuts)), [len(cut.nodes) for cut in cuts])
    columns = np.concatenate([np.array(cut.nodes) for cut in cuts])
    signs = np.repeat([-1.0 if cut.side == "out" else 1.0 for cut in cuts], [len(cut.nodes) for cut in cuts])
    sums = csr_array((signs, (rows, columns)), shape=(len(cuts), n))
    change = eye_array(n)
    bounds: list[tuple[float | None, float | None]] = [
        *((None, None) if hidden else (0.0, 0.0) for hidden in network.hidden),
        *[(0.0, None)] * n,
    ]
    empty = csr_array((len(cuts), n))
    # The stubs of linprog only know dense matrices.
    inequalities: Any = vstack([hstack([sums, empty]), hstack([change, -change]), hstack([-change, -change])])
    answer = linprog(
        np.concatenate([np.zeros(n), np.ones(n)]),
        A_ub=inequalities,
        b_ub=np.concatenate([[-cut.margin for cut in cuts], c, -c]),
        bounds=bounds,
        method="highs",
    )
    if answer.status == _INFEASIBLE:
        raise InputError(_why_locked(network, cuts))
    if answer.x is None:
        raise Undecided(
            Reason.INCOMPLETE_METHOD, f"the linear program for an unlocked balance failed: {answer.message}"
        )
    balance: FloatArray = answer.x[:n]
    return balance


def _why_locked(network: Network, cuts: list[_Cut]) -> str:
    single = np.flatnonzero(network.hidden & (network.in_degree == 1) & (network.out_degree == 1)).tolist()
    names = [network.names[v] for v in single[:_NAMES_SHOWN]]
    why = (
        f"neurons with a single incoming and a single outgoing weight ({', '.join(names)}) always keep one of the two signs"
        if names
        else f"{len(cuts)} conditions of its bottlenecks exclude each other"
    )
    return (
        f"rescale='unlocked': no rescaling frees all signs of this network, since {why}; widen these layers or add skip "
        "connections. rescale='balanced' joins the invariant set, through points that gradient flow does not reach"
    )
