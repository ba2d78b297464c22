"""Rescaling neurons keeps the function and takes the weights to exactly one point with any balance that can be reached.

Hypotheses
----------
The network is acyclic; σ(αz) = ασ(z) for α > 0; the Jacobian of the balances has full rank at the weights.

Statement
---------
θ_e → θ_e α_head / α_tail with α > 0, and α = 1 on terminals, does not change the outputs. With S the set of non-zero
weights, the orbit of θ meets H(c') iff c' ∈ B(ℝ^S_{>0}), and then in exactly one point: α = exp(x) for the minimizer x
of the strictly convex Φ(x) = ½ Σ_e θ_e² exp(2(Bᵀx)_e) − c'·x. If every hidden node is on a walk from terminal to
terminal and no weight is zero, every c' is reached.

Proof idea
----------
∇Φ = B(θ² exp(2Bᵀx)) − c'. Φ is strictly convex iff the rank is full, and attains its minimum iff c' lies in the open
cone; a positive circulation through all edges makes the cone everything.

Source
------
Ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import numerics
from ..core import (
    Certificate,
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..exact import exact
from ..graphs.fields import NetworkFields
from ..graphs.rank import jacobian_rank
from ..graphs.structure import is_acyclic
from ..graphs.vanishing import attainment

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S12",)
SOURCE = Source(("nurisso2026",), Provenance.OURS)

HOMOGENEOUS = ("relu", "leaky_relu", "abs", "identity")
BALANCE = 1e-10  # relative to the largest balance aimed at, at least 1: Newton's method ends far below, at 1e-12
FUNCTION = 1e-12  # relative: rounding of two evaluations of a small network; another function differs by far more
SCALES = 1e-7  # of log α: an error of 1e-13 in the balance, times the condition of the Hessian of Φ


@dataclass(frozen=True)
class Instance(NetworkFields):
    """A network with weights, and a balance to rescale it to.

    Parameters
    ----------
    target : mapping from node name to Fraction
        One number for every hidden node.
    activation : str
        The same at all hidden nodes.
    """

    target: Mapping[str, Fraction] = field(kw_only=True, hash=False)
    activation: Literal["relu", "leaky_relu", "abs", "identity", "tanh", "softplus"] = field(
        default="relu", kw_only=True
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.network.weights is None:
            raise InputError("edges: have no weights, so there is nothing to rescale; give weights for all edges")
        target = {str(v): exact(c, f"target[{v!r}]") for v, c in self.target.items()}
        object.__setattr__(self, "target", target)
        self.network.with_balance(target)  # which names a missing or unknown node

    def target_array(self) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
        """The target by node, 0 on terminals, shape (n,)."""
        return np.array([float(self.target.get(name, 0)) for name in self.network.names])


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    network = instance.network
    assert network.weights is not None  # see `Instance`
    rank, full = jacobian_rank(network, network.weights), len(network.hidden_nodes)
    homogeneous = instance.activation in HOMOGENEOUS
    return (
        Hypothesis("acyclic", is_acyclic(network), "topological order"),
        Hypothesis("activation is positively homogeneous", homogeneous, f"activation = {instance.activation}"),
        Hypothesis("the Jacobian has full rank", rank == full, f"rank {rank} of {full}"),
    )


def predict(instance: Instance) -> Prediction:
    found = attainment(instance.network, instance.target)
    if not found.attained:
        return Prediction((Claim("attained", Relation.EQUAL, False),), (found.certificate,))
    goal = instance.target_array()[instance.network.hidden_nodes]
    return _claims(goal, found.certificate)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """A linear program for whether there is a rescaling; Newton's method from two starts; outputs on random data."""
    network, target = instance.network, instance.target_array()
    attained = numerics.attainment.is_attained(network, target)
    estimates = {"attained": Estimate(attained, how="linear program")}
    if not attained:
        return Measurement(estimates)
    found = numerics.rescaling.rescale(network, target)
    start = np.random.default_rng(seed).normal(size=network.node_count)
    other = numerics.rescaling.rescale(network, target, start=start)
    reached = numerics.jacobians.incidence(network) @ found.weights**2
    change = numerics.function_change.network_change(
        network,
        numerics.rescaling.float_weights(network),
        found.weights,
        activation=instance.activation,
        seed=seed,
        device=device,
    )
    spread = float(np.abs(found.log_scale - other.log_scale).max())
    estimates |= {
        "balance": Estimate(tuple(reached.tolist()), how=f"{found.steps} Newton steps"),
        "function_change": Estimate(change, how="outputs on 64 random inputs"),
        "spread": Estimate(spread, how="log α from two starts"),
    }
    return Measurement(estimates)


def _claims(balance: np.ndarray[tuple[int], np.dtype[np.float64]], *certificates: Certificate) -> Prediction:
    return Prediction(
        (
            Claim("attained", Relation.EQUAL, True),
            Claim(
                "balance",
                Relation.EQUAL,
                tuple(balance.tolist()),
                BALANCE * max(1.0, float(np.abs(balance).max(initial=0))),
            ),
            Claim("function_change", Relation.AT_MOST, 0.0, FUNCTION),
            Claim("spread", Relation.AT_MOST, 0.0, SCALES),
        ),
        certificates,
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import small_fractions, weighted_dags

    def with_target(fields: Fields) -> SearchStrategy[Fields]:
        terminals = {*fields["inputs"], *fields["outputs"]}
        hidden = sorted({v for a, b, _ in fields["edges"] for v in (a, b)} - terminals)
        targets = st.fixed_dictionaries({v: small_fractions() for v in hidden})
        return targets.map(lambda target: {**fields, "target": target})

    return weighted_dags(max_edges=7).flatmap(with_target)


def _always_attained(instance: Instance) -> Prediction:
    return Prediction((Claim("attained", Relation.EQUAL, True),))


def _inverse_exponent(instance: Instance) -> Prediction:
    """The balance of θ_e α_tail / α_head, with α from the same minimizer."""
    network = instance.network
    found = numerics.rescaling.rescale(network, instance.target_array())
    x = found.log_scale
    weights = numerics.rescaling.float_weights(network) * np.exp(x[network.tail] - x[network.head])
    return _claims(numerics.jacobians.incidence(network) @ weights**2)


VARIANTS = {
    "every_balance_for_all_weights": Variant(
        "every balance is reached, whichever weights are zero",
        predict=_always_attained,
        examples=({"edges": [["x", "v", 1], ["v", "y", 0]], "target": {"v": -1}},),
    ),
    "inverse_exponent": Variant(
        "θ_e → θ_e α_tail / α_head with the same minimizer",
        predict=_inverse_exponent,
        examples=({"edges": [["x", "v", 2], ["v", "y", 1]], "target": {"v": 0}},),
    ),
    "any_activation": Variant(
        "the outputs stay the same for activations that are not homogeneous",
        hypotheses=lambda instance: (),
        examples=({"edges": [["x", "v", 2], ["v", "y", 1]], "target": {"v": 0}, "activation": "tanh"},),
    ),
}
