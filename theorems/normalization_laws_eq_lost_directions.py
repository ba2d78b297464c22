"""Normalization adds laws: each shift and each scale that it removes is conserved, the scale only without eps.

Hypotheses
----------
Gradient flow of the squared loss; the layer in exactly the form listed; generic parameters.

Statement
---------
LN(Wx), W ∈ ℝ^{n×m}: the column sums 1ᵀW, and ‖W‖_F² iff eps = 0, so m + 1 laws or m. RMSNorm(Wx): ‖W‖_F² iff eps = 0.
BatchNorm: each ‖w_i‖² iff eps = 0. ReLU nets with n hidden units also keep one balance per unit: after LN of the
inputs the row sums of the first layer, n + n; before LN of the outputs ‖U‖² (iff eps = 0) and 1ᵀU, n + 1 + n; before
RMSNorm n + 1.

Proof idea
----------
The loss does not change along W + 1cᵀ or tW: the momentum maps of these symmetries are linear, or ½ d‖W‖²/dt = ⟨W,
∇E⟩ = 0 by Euler's identity. Completeness is a numerical count.

Source
------
Ours, after Marcotte, Gribonval, Peyré (2025).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from .. import numerics
from ..core import (
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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL15",)
SOURCE = Source(("marcotte2025",), Provenance.OURS)

LayerName = Literal["layer_norm", "rms_norm", "batch_norm", "pre_layer_norm_relu", "relu_layer_norm", "relu_rms_norm"]


@dataclass(frozen=True)
class Instance:
    """A normalized layer.

    Parameters
    ----------
    layer : str
        Where the normalization is.
    units, inputs : int
        n and m; for the ReLU nets outputs are as many as inputs.
    eps : Fraction
        Added to the variance.
    """

    layer: LayerName
    units: int
    inputs: int
    eps: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not (2 <= self.units <= 5 and 2 <= self.inputs <= 4):
            raise InputError(f"units={self.units!r}, inputs={self.inputs!r}: from 2 to 5 and from 2 to 4 are counted")
        if not 0 <= self.eps <= 10:
            raise InputError(f"eps={self.eps!r}: a number between 0 and 10 is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    outputs = instance.units if instance.layer in ("layer_norm", "rms_norm") else instance.inputs
    enough = outputs >= 3 or "layer_norm" not in instance.layer
    return (Hypothesis("more than a sign is left after centering", enough, f"{outputs} normalized numbers"),)


def predict(instance: Instance) -> Prediction:
    return _claim(instance, scale=int(instance.eps == 0), shift=1)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Rank of brackets of sample gradients of the layer, in floating point."""
    scout = numerics.normalized_layers.normalized_scout(
        instance.layer, instance.units, instance.inputs, float(instance.eps), seed=seed
    )
    return Measurement({"laws": Estimate(scout.laws, how=f"rank of brackets, gap {scout.gap:.0e}")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {
            "layer": st.sampled_from(["layer_norm", "rms_norm"]),
            "units": st.integers(3, 4),
            "inputs": st.integers(2, 3),
            "eps": st.sampled_from(["0", "1/10"]),
        }
    )


def _claim(instance: Instance, *, scale: int, shift: int) -> Prediction:
    n, m = instance.units, instance.inputs
    laws = {
        "layer_norm": shift * m + scale,
        "rms_norm": scale,
        "batch_norm": n * scale,
        "pre_layer_norm_relu": n + shift * n,
        "relu_layer_norm": n + scale + shift * n,
        "relu_rms_norm": n + scale,
    }[instance.layer]
    return Prediction((Claim("laws", Relation.EQUAL, laws),))


VARIANTS = {
    "eps_irrelevant": Variant(
        "the scale is conserved whatever eps",
        predict=lambda instance: _claim(instance, scale=1, shift=1),
        examples=({"layer": "layer_norm", "units": 4, "inputs": 3, "eps": "1/10"},),
    ),
    "scale_only": Variant(
        "centering conserves nothing",
        predict=lambda instance: _claim(instance, scale=int(instance.eps == 0), shift=0),
        examples=({"layer": "layer_norm", "units": 4, "inputs": 3},),
    ),
}
