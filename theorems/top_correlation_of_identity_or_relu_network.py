"""The top correlation of an identity or ReLU network with L hidden layers is η^(L+1) K F^L/n^L, and all above are zero.

Hypotheses
----------
L hidden layers, no biases, F = n^(−L/2) a·φ(W_L … φ(W_1 u)) at one input; φ is the identity or ReLU, no neuron at its kink.

Statement
---------
With K = u·u: C_{0,L+1}[x; x^{L+1}] = η^{L+1} K F(x)^L/n^L, and C_{0,d} = 0 for d > L + 1, off the kinks.
Claimed here without powers of η and n, which makes them rational: g = n^(L/2) F along its gradient.

Proof idea
----------
The top coefficient multiplies the directions of all layers. Each adjacent pair contributes φ(z)·φ'(z)δ/n = z·δ/n = F/n, by
φ = zφ' and φ'² = φ' and Euler's identity; the first layer contributes K.

Source
------
Ours; the correlations are those of Shem-Ur and Oz (2024).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
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
from ..theory.matrices import Rows, require_rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC16",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "the correlations are the paper's")

RESOLUTION = 1e-10  # times the sum of the absolute values of all terms: rounding only
_MOST_LAYERS = 4
TOP, ABOVE = "top coefficient", "coefficients above"


@dataclass(frozen=True)
class Instance:
    """A network and an input.

    Parameters
    ----------
    layers : matrices
        W_1, …, W_L.
    output : tuple of numbers
        a.
    u : tuple of numbers
        The input, divided by the root of its dimension.
    activation : str
        The statement is for ``identity`` and ``relu``; the slope of ``leaky_relu`` below 0 is ½.
    """

    layers: tuple[Rows, ...]
    output: tuple[Fraction, ...]
    u: tuple[Fraction, ...]
    activation: Literal["identity", "relu", "leaky_relu"] = "relu"

    def __post_init__(self) -> None:
        if not 1 <= len(self.layers) <= _MOST_LAYERS:
            raise InputError(f"layers: {len(self.layers)} of them; 1 to {_MOST_LAYERS} are needed")
        columns = len(self.u)
        for i, W in enumerate(self.layers):
            require_rows(W, f"layers[{i}]", columns=columns)
            columns = len(W)
        if len(self.output) != columns:
            raise InputError(
                f"output: {len(self.output)} numbers; {columns} are needed, one for each neuron of the last layer"
            )


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (_kind(instance), _regular(instance))


def _kind(instance: Instance) -> Hypothesis:
    is_covered = instance.activation in ("identity", "relu")
    return Hypothesis("φ is the identity or ReLU", is_covered, f"φ is {instance.activation}")


def _regular(instance: Instance) -> Hypothesis:
    before = theory.layer_polynomials.preactivations(instance.layers, instance.u, instance.activation)
    kinks = sum(z == 0 for layer in before for z in layer)
    is_regular = instance.activation == "identity" or not kinks
    return Hypothesis("no neuron is at its kink", is_regular, f"{kinks} neurons at 0, exactly")


def derive(instance: Instance) -> Derivation:
    """Multiply out g(θ + t∇g) exactly."""
    line = theory.layer_polynomials.line_polynomial(instance.layers, instance.output, instance.u, instance.activation)
    L = len(instance.layers)
    line = [*line, *[Fraction(0)] * (L + 2 - len(line))]
    residual = next((str(c) for c in (line[L + 1] - _top(instance), *line[L + 2 :]) if c), "0")
    return Derivation(
        "[t^(L+1)] g(θ + t∇g) = (u·u) g^L",
        residual,
        r"C_{0,L+1} = \eta^{L+1} K F^L / n^L",
        settles=(TOP, ABOVE),
    )


def _top(instance: Instance) -> Fraction:
    g = theory.layer_polynomials.network_value(instance.layers, instance.output, instance.u, instance.activation)
    return sum((x * x for x in instance.u), Fraction(0)) * g ** len(instance.layers)


def predict(instance: Instance) -> Prediction:
    return Prediction((Claim(TOP, Relation.EQUAL, _top(instance)), Claim(ABOVE, Relation.EQUAL, Fraction(0))))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Nested forward mode on the network itself, along its gradient."""
    L = len(instance.layers)
    found, sizes = numerics.layer_lines.line_coefficients(
        [[[float(w) for w in row] for row in W] for W in instance.layers],
        [float(a) for a in instance.output],
        [float(x) for x in instance.u],
        instance.activation,
        order=L + 2,
        device=device,
    )
    return Measurement(
        {
            TOP: Estimate(found[L + 1], RESOLUTION * sizes[L + 1], "nested forward mode"),
            ABOVE: Estimate(found[L + 2], RESOLUTION * max(sizes), "nested forward mode"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    return _networks(["identity", "relu"])


def _networks(activations: list[str]) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    @st.composite
    def networks(draw: st.DrawFn) -> Fields:
        # Weights that are not 0 and sums that are not either, for most draws: none of the terms ±1, ±3, ±5 cancel.
        weight = st.sampled_from([1, -1, 3, -3, "1/2", "-5/2"])
        n = draw(st.integers(1, 2))
        depth = draw(st.integers(1, 2))
        layers = [[[draw(weight)] for _ in range(n)]]
        layers += [[[draw(weight) for _ in range(n)] for _ in range(n)] for _ in range(depth - 1)]
        return {
            "layers": layers,
            "output": [draw(weight) for _ in range(n)],
            "u": [1],
            "activation": draw(st.sampled_from(activations)),
        }

    return networks()


# False variants.


def _quadratic_zero(instance: Instance) -> Prediction:
    """A linear activation makes the network linear in its parameters: the top coefficient is 0."""
    return Prediction((Claim(TOP, Relation.EQUAL, Fraction(0)), Claim(ABOVE, Relation.EQUAL, Fraction(0))))


def _one_power_less(instance: Instance) -> Prediction:
    L = len(instance.layers)
    g = theory.layer_polynomials.network_value(instance.layers, instance.output, instance.u, instance.activation)
    value = sum((x * x for x in instance.u), Fraction(0)) * g ** (L - 1)
    return Prediction((Claim(TOP, Relation.EQUAL, value), Claim(ABOVE, Relation.EQUAL, Fraction(0))))


def _nothing_derived(instance: Instance) -> Derivation:
    return Derivation("C_{0,L+1} as claimed", "0")


_NEURON = {"layers": [[[1]]], "output": [1], "u": [1], "activation": "identity"}
_LEAKY = {"layers": [[[-1]]], "output": [1], "u": [1], "activation": "leaky_relu"}

VARIANTS = {
    "linear_activation_is_linear_model": Variant(
        "C_{0,L+1} = 0 for the identity", predict=_quadratic_zero, derive=_nothing_derived, examples=(_NEURON,)
    ),
    "power_of_depth_minus_one": Variant(
        "C_{0,L+1} = η^(L+1) K F^(L−1)/n^(L−1)",
        predict=_one_power_less,
        derive=_nothing_derived,
        examples=({**_NEURON, "output": [2]},),
    ),
    "leaky_relu_too": Variant(
        "the same for leaky ReLU",
        hypotheses=lambda instance: (_regular(instance),),
        instances=lambda: _networks(["leaky_relu"]),
        examples=(_LEAKY,),
    ),
}
