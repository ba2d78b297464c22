"""How gradient flow of a loss with a penalty changes the balances, derived.

Along θ' = −∇L − ∇R the balance c = Bθ² has c' = −2B(θ ⊙ ∇L) − 2B(θ ⊙ ∇R), of which the first part vanishes by the balance
law. For R = (λ/2)‖θ‖² this is c' = −2λc; for R = λ‖θ‖², c' = −4λc; for R = λ‖θ‖₁, c' = −2λB|θ|, no function of c.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, TypeAlias

import sympy

from ..graphs.network import Network
from .steps import law_remainder

__all__ = ["DECAY_RATES", "Penalty", "decayed", "flow_residuals"]

Penalty: TypeAlias = Literal["half_square", "square", "l1"]

DECAY_RATES = {"half_square": 2, "square": 4}
"""k in c' = −kλc."""


def flow_residuals(network: Network, penalty: Penalty, rate: int) -> dict[str, sympy.Expr]:
    """Return c' + rate·λ·c at every hidden node, by name, for gradient flow with this penalty; all are 0 iff c' = −rate·λ·c.

    Weights and gradients are symbols, related by the balance law alone; so are the signs of the weights.

    Examples
    --------
    >>> G = Network.from_edges([("x", "v"), ("v", "y")])
    >>> flow_residuals(G, "half_square", 2), flow_residuals(G, "half_square", 1)
    ({'v': 0}, {'v': -lam*t0**2 + lam*t1**2})
    """
    lam = sympy.Symbol("lam")
    edges = range(network.edge_count)
    t, g, sign = ([sympy.Symbol(f"{name}{e}") for e in edges] for name in ("t", "g", "sign"))
    slope = {"half_square": [lam * w for w in t], "square": [2 * lam * w for w in t], "l1": [lam * s for s in sign]}[
        penalty
    ]

    def at(node: int, values: Sequence[sympy.Expr]) -> sympy.Expr:
        entering = sum((values[e] for e in edges if network.head[e] == node), sympy.S.Zero)
        return entering - sum((values[e] for e in edges if network.tail[e] == node), sympy.S.Zero)

    residuals = {}
    for node in network.hidden_nodes.tolist():
        change = at(node, [-2 * w * (a + b) for w, a, b in zip(t, g, slope, strict=True)])
        law = sympy.expand(at(node, [w * a for w, a in zip(t, g, strict=True)]))
        left = sympy.expand(change + rate * lam * at(node, [w**2 for w in t]))
        residuals[network.names[node]] = law_remainder(left, law, g)
    return residuals


def decayed(balance: Fraction, rate: Fraction, time: Fraction) -> float:
    """Return balance·exp(−rate·time), correctly rounded.

    Examples
    --------
    >>> decayed(Fraction(1, 2), Fraction(2), Fraction(1))
    0.06766764161830635
    """
    exponent = sympy.Rational(rate * time)
    return float((sympy.Rational(balance) * sympy.exp(-exponent)).evalf(40))
