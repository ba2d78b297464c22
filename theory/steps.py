"""How a discrete step changes the balances: the identity derived, and trajectories in exact arithmetic.

With the gradient g of a function that obeys the balance law, B(theta * g) = 0, and so for every step size eta

* gradient descent: ``c_{k+1} = c_k + eta^2 B g_k^2``;
* with weight decay, theta <- (1 - eta lam) theta - eta g: ``c_{k+1} = (1 - eta lam)^2 c_k + eta^2 B g_k^2``;
* heavy ball, v <- mu v + g, theta <- theta - eta v: ``q_k = mu (q_{k-1} - eta B v_k^2)`` with q_0 = 0 and
  ``c_{k+1} = c_k - 2 eta q_k + eta^2 B v_{k+1}^2``, where q_k = B(theta_k * v_{k+1}).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy

from ..core import InputError, Reason, Undecided
from ..graphs.network import Network
from ..graphs.structure import topological_order

__all__ = ["ExactStep", "Rule", "drift_residuals", "exact_gradient", "exact_steps", "law_remainder", "node_sums"]

Rule: TypeAlias = Literal["gd", "heavy_ball"]
Rows: TypeAlias = Sequence[Sequence[Fraction]]

_SLOPES = {
    "relu": (Fraction(0), Fraction(0)),
    "leaky_relu": (Fraction(1, 10), Fraction(1, 10)),
    "abs": (Fraction(-1), Fraction(0)),
    "identity": (Fraction(1), Fraction(1)),
}
"""The slope for z < 0 and the one taken at z = 0; for z > 0 it is 1."""

_MOST_BITS = 4_000_000  # of all weights together; beyond, exact steps take minutes


@dataclass(frozen=True)
class ExactStep:
    """One exact step: `before`, the gradient there, and the velocity before and after its update (the gradient for gd)."""

    before: tuple[Fraction, ...]
    gradient: tuple[Fraction, ...]
    last_velocity: tuple[Fraction, ...]
    velocity: tuple[Fraction, ...]


def drift_residuals(network: Network, rule: Rule) -> dict[str, sympy.Expr]:
    """Return, by hidden node, what is left of the identities in the module docstring; all are 0 if they hold.

    Weights, gradients, velocities, step size, decay and momentum are symbols; the only relation used between them is the
    balance law of the gradient, one linear equation per hidden node.

    Examples
    --------
    >>> drift_residuals(Network.from_edges([("x", "v"), ("v", "y")]), "gd")
    {'v': 0}
    """
    eta, lam, mu = sympy.symbols("eta lam mu")
    edges = range(network.edge_count)
    t, g, v = ([sympy.Symbol(f"{name}{e}") for e in edges] for name in ("t", "g", "v"))

    def at(node: int, values: Sequence[sympy.Expr]) -> sympy.Expr:
        entering = sum((values[e] for e in edges if network.head[e] == node), sympy.S.Zero)
        return entering - sum((values[e] for e in edges if network.tail[e] == node), sympy.S.Zero)

    def squares(values: Sequence[sympy.Expr]) -> list[sympy.Expr]:
        return [value**2 for value in values]

    residuals = {}
    for node in network.hidden_nodes.tolist():
        if rule == "gd":
            position = t
            after = [(1 - eta * lam) * a - eta * b for a, b in zip(t, g, strict=True)]
            claimed = (1 - eta * lam) ** 2 * at(node, squares(t)) + eta**2 * at(node, squares(g))
            left = at(node, squares(after)) - claimed
        else:
            # t and v are the weights before the last step and its velocity, so `position` are the present weights.
            position = [a - eta * b for a, b in zip(t, v, strict=True)]
            new = [mu * a + b for a, b in zip(v, g, strict=True)]
            after = [a - eta * b for a, b in zip(position, new, strict=True)]
            q = at(node, [a * b for a, b in zip(position, new, strict=True)])
            last_q = at(node, [a * b for a, b in zip(t, v, strict=True)])
            left_q = q - mu * (last_q - eta * at(node, squares(v)))
            claimed = at(node, squares(position)) - 2 * eta * q + eta**2 * at(node, squares(new))
            # A symbol apart keeps the two residuals from canceling each other.
            left = at(node, squares(after)) - claimed + sympy.Symbol("u") * left_q
        law = sympy.expand(at(node, [a * b for a, b in zip(position, g, strict=True)]))
        residuals[network.names[node]] = law_remainder(sympy.expand(left), law, g)
    return residuals


def exact_gradient(
    network: Network, weights: Sequence[Fraction], data: Rows, targets: Rows, activation: str
) -> tuple[Fraction, ...]:
    """Return the gradient of the mean squared error, exactly.

    At a kink the slope is the one that PyTorch takes.

    Parameters
    ----------
    weights : sequence of Fraction, length m
    data, targets : rows of Fraction
        One row per sample: a number per input, a number per output.
    activation : str
        ``relu``, ``leaky_relu`` (slope 1/10), ``abs`` or ``identity``.

    Raises
    ------
    InputError
        For another activation, or a directed cycle.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")])
    >>> [int(g) for g in exact_gradient(G, [Fraction(2), Fraction(1)], [[Fraction(1)]], [[Fraction(0)]], "relu")]
    [4, 8]
    """
    if activation not in _SLOPES:
        raise InputError(f"activation={activation!r}: exact gradients are known for {', '.join(_SLOPES)}")
    order = topological_order(network)
    if order is None:
        raise InputError("edges: the network has a directed cycle; remove one of its edges")
    negative, at_zero = _SLOPES[activation]
    into: dict[int, list[tuple[int, int]]] = {v: [] for v in range(network.node_count)}
    for e, (a, b) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True)):
        into[b].append((e, a))
    nodes = order.tolist()
    scale = Fraction(2, max(1, len(targets) * len(network.outputs)))
    total = [Fraction(0)] * network.edge_count
    for x, y in zip(data, targets, strict=True):
        value = dict.fromkeys(nodes, Fraction(0))
        value.update(zip(network.inputs.tolist(), x, strict=True))
        slope = dict.fromkeys(nodes, Fraction(1))
        for v in nodes:
            z = value[v] + sum((weights[e] * value[a] for e, a in into[v]), Fraction(0))
            if network.hidden[v]:
                slope[v] = Fraction(1) if z > 0 else at_zero if z == 0 else negative
            value[v] = slope[v] * z
        back = dict.fromkeys(nodes, Fraction(0))
        for o, wanted in zip(network.outputs.tolist(), y, strict=True):
            back[o] = scale * (value[o] - wanted)
        for v in reversed(nodes):
            signal = back[v] * slope[v]
            for e, a in into[v]:
                total[e] += signal * value[a]
                back[a] += signal * weights[e]
    return tuple(total)


def exact_steps(
    network: Network,
    weights: Sequence[Fraction],
    batches: Sequence[tuple[Rows, Rows]],
    activation: str,
    *,
    rate: Fraction,
    decay: Fraction = Fraction(0),
    momentum: Fraction = Fraction(0),
) -> Iterator[ExactStep]:
    """Yield exact steps of gradient descent or, with `momentum`, of heavy ball; one for each batch (data, targets).

    The number of digits grows by a factor with every step, so only a few are practical.

    Raises
    ------
    Undecided
        If the numbers become too long (incomplete method).
    """
    theta = tuple(weights)
    velocity = (Fraction(0),) * len(theta)
    for data, targets in batches:
        if sum(w.numerator.bit_length() + w.denominator.bit_length() for w in theta) * len(data) > _MOST_BITS:
            raise Undecided(
                Reason.INCOMPLETE_METHOD, "the numbers in exact steps have become too long; make fewer steps"
            )
        gradient = exact_gradient(network, theta, data, targets, activation)
        last, velocity = velocity, tuple(momentum * a + b for a, b in zip(velocity, gradient, strict=True))
        yield ExactStep(theta, gradient, last, velocity)
        theta = tuple((1 - rate * decay) * a - rate * b for a, b in zip(theta, velocity, strict=True))


def node_sums(network: Network, values: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """Return B applied to `values`, (m,) to (hidden nodes,): what enters minus what leaves.

    Examples
    --------
    >>> [int(c) for c in node_sums(Network.from_edges([("x", "v"), ("v", "y")]), [Fraction(4), Fraction(1)])]
    [3]
    """
    total = [Fraction(0)] * network.node_count
    for a, b, value in zip(network.tail.tolist(), network.head.tolist(), values, strict=True):
        total[a] -= value
        total[b] += value
    return tuple(total[v] for v in network.hidden_nodes.tolist())


def law_remainder(polynomial: sympy.Expr, law: sympy.Expr, gradient: Sequence[sympy.Symbol]) -> sympy.Expr:
    """Return the remainder of `polynomial` on division by `law`, which is linear in the gradient: 0 if the law implies 0."""
    involved = [g for g in gradient if law.has(g)]
    if not involved:
        return polynomial
    remainder: sympy.Expr = sympy.reduced(
        polynomial, [law], *involved, *sorted(law.free_symbols - set(involved), key=str)
    )[1]
    return remainder
