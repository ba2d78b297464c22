"""Gradient flow conserves incoming minus p times outgoing squared weight where the activation is homogeneous of degree p.

Hypotheses
----------
The network is acyclic; σ(αz) = α^p σ(z) for α > 0, with p > 0; every weight at a hidden node is a trainable parameter of
its own, biases among them (edges from a terminal); the loss depends on the weights through the outputs only.

Statement
---------
Σ_in θ_e ∂_e L = p Σ_out θ_e ∂_e L at every hidden node, for every differentiable loss. Hence θ' = −∇L keeps c_v =
Σ_in θ² − p Σ_out θ². For p = 1 this is the balance.

Proof idea
----------
Multiplying the incoming weights of v by α and the outgoing ones by α^(−p) does not change the outputs; differentiate at
α = 1.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for p = 1; laws for two layers are in Marcotte, Gribonval, Peyré (2023); the form
for graphs is ours.
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
IDS = ("S2",)
SOURCE = Source(("nurisso2026", "marcotte2023"), Provenance.SHARPENED, "laws for two layers are known; graphs are ours")

DEGREES = {"relu": 1, "leaky_relu": 1, "abs": 1, "identity": 1, "relu_squared": 2, "cube": 3}
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
    tied : tuple of tuples of int
        Edges that share one parameter.
    """

    activation: Literal[
        "relu", "leaky_relu", "abs", "identity", "relu_squared", "cube", "gelu", "silu", "tanh", "softplus"
    ] = "relu_squared"
    bias: tuple[Node, ...] = ()
    loss: Literal["mse", "log_cosh"] = "mse"
    samples: int = 20
    fixed: tuple[int, ...] = ()
    tied: tuple[tuple[int, ...], ...] = ()

    @property
    def degree(self) -> int:
        """The degree of the activation; 1 for those that have none, so that the law can be tried and fail."""
        return DEGREES.get(self.activation, 1)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    network = instance.network
    at_hidden = [e for e in instance.fixed if network.hidden[network.tail[e]] or network.hidden[network.head[e]]]
    degree = DEGREES.get(instance.activation)
    known = f"{instance.activation} has " + ("no degree" if degree is None else f"degree {degree}")
    return (
        Hypothesis("acyclic", is_acyclic(network), "topological order"),
        Hypothesis("activation is positively homogeneous", degree is not None, known),
        Hypothesis("every weight at a hidden node is trained and counted", not at_hidden, f"fixed = {at_hidden}"),
        Hypothesis("every weight is a parameter of its own", not instance.tied, f"tied = {list(instance.tied)}"),
    )


def derive(instance: Instance) -> Derivation:
    return _derivation(instance, instance.degree)


def predict(instance: Instance) -> Prediction:
    law = _quantity(instance)
    claims = [Claim(f"{law}[{v}]", Relation.EQUAL, 0, RESOLUTION) for v in instance.network.hidden_names]
    # The certificate speaks of trained weights and homogeneous activations; a false variant may claim more than that.
    certified = all(hypothesis.met for hypothesis in hypotheses(instance))
    certificate = Certificate("conservation_identity", {"degree": instance.degree})
    return Prediction(tuple(claims), (certificate,) if certified else ())


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Residuals by automatic differentiation on random data, relative to the sum of absolute values of their summands."""
    law = numerics.gradients.balance_residual(
        instance.network,
        instance.activation,
        instance.degree,
        samples=instance.samples,
        seed=seed,
        loss=instance.loss,
        bias=[str(name) for name in instance.bias],
        fixed=instance.fixed,
        tied=instance.tied,
        device=device,
    )
    return Measurement(
        {
            f"{_quantity(instance)}[{v}]": Estimate(
                r / scale if scale else 0.0, b / scale if scale else 0.0, "autograd"
            )
            for v, r, scale, b in zip(law.nodes, law.residual, law.scale, law.bound, strict=True)
        }
    )


def _quantity(instance: Instance) -> str:
    """Laws of different degree are different quantities; the name is the one that certificates use."""
    return "residual" if instance.degree == 1 else f"residual_{instance.degree}"


def _derivation(instance: Instance, factor: int) -> Derivation:
    """The law Σ_in θ∂L − factor·Σ_out θ∂L = 0 with a symbol for every weight, input, slope and loss derivative."""
    found = theory.conservation.conservation_identity(instance.network, instance.degree, factor=factor)
    broken = [f"{residual} at {v}" for v, residual in found.residuals.items() if residual != 0]
    return Derivation(
        identity=f"Σ_in θ ∂L − {factor}·Σ_out θ ∂L = 0 ({found.way.value})",
        residual="; ".join(broken) or "0",
        latex=theory.conservation.conservation_identity_latex(instance.network, instance.degree),
    )


def _degree_on_the_incoming_side(instance: Instance) -> Derivation:
    p = instance.degree
    incoming = theory.conservation.conservation_residuals(instance.network, p, factor=0)
    difference = theory.conservation.conservation_residuals(instance.network, p, factor=1)
    # p in − out, put together from in and in − out.
    residuals = {v: ((p - 1) * incoming[v] + difference[v]).expand() for v in incoming}
    broken = [f"{residual} at {v}" for v, residual in residuals.items() if residual != 0]
    return Derivation(f"{p}·Σ_in θ ∂L − Σ_out θ ∂L = 0", "; ".join(broken) or "0")


def instances() -> SearchStrategy[Fields]:
    return _mlps(*DEGREES)


def _mlps(*activations: str) -> SearchStrategy[Fields]:
    from ..testing import homogeneous_mlps

    return homogeneous_mlps(activations=activations)


def _mlps_with_tied_weights() -> SearchStrategy[Fields]:
    """An incoming and an outgoing weight of the first hidden unit are one parameter."""

    def tied(fields: Fields) -> Fields:
        ends = [[edge[end] for edge in fields["edges"]].index("h1.0") for end in (0, 1)]
        return {**fields, "tied": [sorted(ends)]}

    return _mlps("relu_squared", "cube").map(tied)


_SQUARE = {"edges": [["x", "v", 1], ["v", "y", 1]], "activation": "relu_squared"}

VARIANTS = {
    "degree_forgotten": Variant(
        "in − out = 0 whatever the degree",
        derive=lambda instance: _derivation(instance, factor=1),
        examples=(_SQUARE,),
    ),
    "degree_on_the_incoming_side": Variant(
        "p·in − out = 0", derive=_degree_on_the_incoming_side, examples=(_SQUARE, {**_SQUARE, "activation": "cube"})
    ),
    "tied_weights": Variant(
        "the law for weights that share a parameter",
        hypotheses=lambda instance: hypotheses(instance)[:-1],
        instances=_mlps_with_tied_weights,
        examples=({**_SQUARE, "tied": [[0, 1]]},),
    ),
    "any_activation": Variant(
        "the law of degree 1 for activations that are not homogeneous",
        hypotheses=lambda instance: (*hypotheses(instance)[:1], *hypotheses(instance)[2:]),
        instances=lambda: _mlps("tanh", "softplus", "silu", "gelu"),
        examples=({**_SQUARE, "activation": "softplus"},),
    ),
}
