"""Gradient flow conserves the balance of every hidden node whose activation is positively homogeneous of degree 1.

Hypotheses
----------
The network is acyclic; σ(αz) = ασ(z) for α > 0; every weight at a hidden node is a trainable parameter of its own,
biases among them (edges from a terminal); the loss depends on the weights through the outputs only.

Statement
---------
B(θ ⊙ ∇L(θ)) = 0 for every differentiable loss, i.e. Σ_in θ_e ∂_e L = Σ_out θ_e ∂_e L at every hidden node. Hence θ' =
−∇L keeps the balance c = Bθ², because dc/dt = −2B(θ ⊙ ∇L).

Proof idea
----------
Multiplying the incoming weights of v by α and dividing the outgoing ones by α does not change the outputs;
differentiate at α = 1. At kinks the identity holds for whatever slope automatic differentiation picks, since only
σ'(z)z = σ(z) is used.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) and Nurisso, Leroy, Vaccarino (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .. import numerics, theory
from ..core import (
    Certificate,
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..graphs.fields import NetworkFields, Node
from ..graphs.structure import is_acyclic

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S1",)
SOURCE = Source(("nurisso2026", "nurisso2024"), Provenance.PAPER)

HOMOGENEOUS = ("relu", "leaky_relu", "abs", "identity")
RESOLUTION = 1e-12  # rounding leaves less than this of the summands in float64; wrong laws leave more than 1e-3


@dataclass(frozen=True)
class Instance(NetworkFields):
    """A network with an activation at every hidden node.

    Parameters
    ----------
    activation : str
        The same at all hidden nodes.
    bias : tuple of node names
        Inputs that are 1 on every sample.
    loss : str
        Mean over samples and outputs.
    samples : int
        Number of random samples that the gradient is measured on.
    fixed : tuple of int
        Edges that are not trained, or left out of the balance.
    """

    activation: Literal["relu", "leaky_relu", "abs", "identity", "relu_squared", "gelu", "silu", "tanh", "softplus"] = (
        "relu"
    )
    bias: tuple[Node, ...] = ()
    loss: Literal["mse", "log_cosh"] = "mse"
    samples: int = 20
    fixed: tuple[int, ...] = ()


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    homogeneous = instance.activation in HOMOGENEOUS
    at_hidden = [e for e in instance.fixed if _touches_hidden(instance, e)]
    return (
        Hypothesis("acyclic", is_acyclic(instance.network), "topological order"),
        Hypothesis(
            "activation is positively homogeneous of degree 1", homogeneous, f"activation = {instance.activation}"
        ),
        Hypothesis("every weight at a hidden node is trained and counted", not at_hidden, f"fixed = {at_hidden}"),
    )


def derive(instance: Instance) -> Derivation:
    return _derivation(instance, factor=1)


def predict(instance: Instance) -> Prediction:
    claims = [Claim(f"residual[{v}]", Relation.EQUAL, 0, RESOLUTION) for v in instance.network.hidden_names]
    # The certificate speaks of trained weights and homogeneous activations; a false variant may claim more than that.
    certified = all(hypothesis.met for hypothesis in hypotheses(instance))
    certificate = Certificate("conservation_identity", {"degree": 1})
    return Prediction(tuple(claims), (certificate,) if certified else ())


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Residuals by automatic differentiation on random data, relative to the sum of absolute values of their summands."""
    return _measured(instance, seed, device, factor=1)


def _measured(instance: Instance, seed: int, device: str, factor: int) -> Measurement:
    law = numerics.gradients.balance_residual(
        instance.network,
        instance.activation,
        factor,
        samples=instance.samples,
        seed=seed,
        loss=instance.loss,
        bias=[str(name) for name in instance.bias],
        fixed=instance.fixed,
        device=device,
    )
    return Measurement(
        {
            f"residual[{v}]": Estimate(residual / scale if scale else 0.0, bound / scale if scale else 0.0, "autograd")
            for v, residual, scale, bound in zip(law.nodes, law.residual, law.scale, law.bound, strict=True)
        }
    )


def _derivation(instance: Instance, factor: int) -> Derivation:
    """The law Σ_in θ∂L − factor·Σ_out θ∂L = 0 with a symbol for every weight, input, slope and loss derivative."""
    found = theory.conservation.conservation_identity(instance.network, factor=factor)
    broken = [f"{residual} at {v}" for v, residual in found.residuals.items() if residual != 0]
    return Derivation(
        identity=f"Σ_in θ ∂L − {factor}·Σ_out θ ∂L = 0 ({found.way.value})",
        residual="; ".join(broken) or "0",
        latex=theory.conservation.conservation_identity_latex(instance.network),
    )


def _touches_hidden(instance: Instance, e: int) -> bool:
    network = instance.network
    return bool(network.hidden[network.tail[e]] or network.hidden[network.head[e]])


def instances() -> SearchStrategy[Fields]:
    from ..testing import homogeneous_mlps, weighted_dags

    return homogeneous_mlps() | weighted_dags()


def _mlps_with(*activations: str) -> SearchStrategy[Fields]:
    from ..testing import homogeneous_mlps

    return homogeneous_mlps(activations=activations)


def _mlps_with_fixed_biases() -> SearchStrategy[Fields]:
    from ..testing import homogeneous_mlps

    return homogeneous_mlps(bias=True).map(
        lambda fields: {**fields, "fixed": [e for e, edge in enumerate(fields["edges"]) if edge[0] in fields["bias"]]}
    )


_PAIR = {"edges": [["x", "v", 2], ["v", "y", 3]]}

VARIANTS = {
    "sum_instead_of_difference": Variant(
        "Σ_in θ ∂L + Σ_out θ ∂L = 0",
        derive=lambda instance: _derivation(instance, factor=-1),
        examples=(_PAIR,),
    ),
    "biases_left_out": Variant(
        "the law without the bias edges",
        hypotheses=lambda instance: hypotheses(instance)[:2],
        instances=_mlps_with_fixed_biases,
        examples=({"edges": [["x", "v", 1], ["b", "v", 1], ["v", "y", 2]], "bias": ["b"], "fixed": [1]},),
    ),
    "any_activation": Variant(
        "the law for activations that are not homogeneous",
        hypotheses=lambda instance: hypotheses(instance)[::2],
        instances=lambda: _mlps_with("tanh", "softplus", "silu", "gelu"),
        examples=({"edges": [["x", "v", 1], ["v", "y", 1]], "activation": "tanh"},),
    ),
    "wrong_degree": Variant(
        "in − out = 0 also for the square of ReLU, which is homogeneous of degree 2",
        hypotheses=lambda instance: hypotheses(instance)[::2],
        instances=lambda: _mlps_with("relu_squared"),
        examples=({"edges": [["x", "v", 1], ["v", "y", 1]], "activation": "relu_squared"},),
    ),
}
