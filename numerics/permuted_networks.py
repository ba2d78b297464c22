"""Networks whose hidden neurons change places: weights of least norm found layer by layer, and the network run with them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..core import Reason, Undecided
from .realization import EPS, SAFETY, FloatArray, least_norm_costs, least_norm_weights, require_decided

__all__ = ["Permuted", "permuted_network"]


@dataclass(frozen=True)
class Permuted:
    """What a network is after its hidden neurons have changed places.

    Parameters
    ----------
    cost, cost_error : float
        By how much the squared norm of its weights grows, and a bound on the rounding error; infinite if some neuron cannot
        take the place it is given.
    outputs, output_error : float
        The largest change of an output on the data, and a bound on what rounding makes of 0.
    """

    cost: float
    cost_error: float
    outputs: float
    output_error: float


def permuted_network(
    F: Sequence[FloatArray],
    D: Sequence[FloatArray],
    W: Sequence[FloatArray],
    data: FloatArray,
    permutations: Sequence[Sequence[int]],
) -> Permuted:
    """Return the ReLU network with effective weights F + D ⊙ W after neuron i of hidden layer l took the place of π_l(i).

    Every layer is fitted by least squares to the re-indexed inputs that it has to expect, and the network is run with the
    fitted weights from the data on. (What the fitted layers give differs from that by rounding, which may raise the rank.)

    Raises
    ------
    Undecided
        If rounding does not tell whether some outputs can be realized.
    """
    outputs = [data]
    for depth, (f, d, w) in enumerate(zip(F, D, W, strict=True)):
        weights = f + d * w
        Y = outputs[-1] @ weights.T
        rounding = SAFETY * EPS * np.abs(outputs[-1]) @ (np.abs(f) + np.abs(d * w)).T
        if bool(((Y != 0) & (np.abs(Y) <= rounding)).any()):
            raise Undecided(Reason.PRECISION, f"layer {depth}: rounding does not tell whether a pre-activation is 0")
        outputs.append(np.maximum(Y, 0) if depth + 1 < len(F) else Y)
    places = [np.asarray(p) for p in (range(data.shape[1]), *permutations, range(len(F[-1])))]
    got, cost, cost_error, reach = data, 0.0, 0.0, 0.0
    for depth, (f, d, w) in enumerate(zip(F, D, W, strict=True)):
        Y = outputs[depth] @ (f + d * w).T
        own = least_norm_costs(f, d, outputs[depth].T, Y.T)
        expected = outputs[depth][:, places[depth]]
        moved = least_norm_costs(f, d, expected.T, Y.T)
        require_decided(own)
        require_decided(moved)
        rows = np.arange(len(f))
        chosen = places[depth + 1]
        cost += float((moved.values[rows, chosen] - own.values[rows, rows]).sum())
        cost_error += float((moved.errors[rows, chosen] + own.errors[rows, rows]).sum())
        if math.isinf(cost):
            return Permuted(math.inf, 0.0, math.inf, 0.0)
        fitted = np.stack(
            [least_norm_weights(expected * d[i], Y[:, j] - expected @ f[i]) for i, j in enumerate(chosen)]
        )
        weights = f + d * fitted
        size = float(np.linalg.norm(expected)) * float(np.linalg.norm(f) + np.linalg.norm(d * fitted))
        # A least-squares solution leaves a residual of the order of rounding, whatever the condition.
        reach = float(np.linalg.norm(weights, 2)) * reach + SAFETY * max(got.shape) * EPS * size
        got = got @ weights.T
        if depth + 1 < len(F):
            got = np.maximum(got, 0)
    return Permuted(cost, cost_error, float(np.abs(got - outputs[-1]).max()), reach)
