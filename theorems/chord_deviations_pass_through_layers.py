"""The chord deviation of a deep network follows from its ends, layer by layer, and a sum of norms bounds it.

Hypotheses
----------
The activation has the Lipschitz constant 1. (The recursion holds for any activation.)

Statement
---------
In a layer z = W h, h' = η(z), let ξ be by how much a quantity at W^λ = (1 − λ)W⁰ + λW¹ is off the chord of the two ends. Then
ξ_z = W^λ ξ_h − λ(1 − λ)(W¹ − W⁰)(h¹ − h⁰) and ‖ξ_{h'}‖ ≤ ‖ξ_z‖ + ‖η(z̄) − (1 − λ)η(z⁰) − λη(z¹)‖ with z̄ = (1 − λ)z⁰ + λz¹;
the last term is the tent of single neurons. Unrolled, ‖ξ_z‖ ≤ ‖W^λ‖₂ ‖ξ_h‖ + λ(1 − λ)‖(W¹ − W⁰)(h¹ − h⁰)‖ bounds the outputs.

Proof idea
----------
Expand W^λ h^λ with h^λ = (1 − λ)h⁰ + λh¹ + ξ_h. η(z^λ) is ‖z^λ − z̄‖ away from η(z̄) at most.

Source
------
Ours; the chord deviation is defined by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

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
from ..numerics.floats import floats
from ..theory.deep_chords import Layer, PairFields
from ..theory.matrices import Rows, square

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("F3",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

SLACK = 1e-10  # of the product of the norms of all layers: round-off only


@dataclass(frozen=True)
class Instance(PairFields):
    """Two networks of one architecture, without biases, and data.

    Parameters
    ----------
    weight : number
        λ in (0, 1).
    activation : str
        ``square`` is not Lipschitz.
    """

    weight: Fraction = Fraction(1, 2)
    activation: Literal["relu", "leaky_relu", "square"] = "relu"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.weight < 1:
            raise InputError(f"weight={self.weight!r}: a number in (0, 1) is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    is_lipschitz = instance.activation != "square"
    return (
        Hypothesis("the activation has the Lipschitz constant 1", is_lipschitz, f"activation = {instance.activation}"),
    )


def derive(instance: Instance) -> Derivation:
    """The recursion against all three networks, run in exact arithmetic."""
    recursion = theory.deep_chords.deviations(instance, instance.weight, instance.activation)[-1].inner
    is_equal = recursion == theory.deep_chords.between(instance, instance.weight, instance.activation)
    return Derivation(
        "ξ_z = W^λ ξ_h − λ(1 − λ)(W¹ − W⁰)(h¹ − h⁰), from the first layer to the outputs",
        "0" if is_equal else "outputs of the network at λ",
        r"\xi_z = W^\lambda \xi_h - \lambda(1-\lambda)(W^1-W^0)(h^1-h^0)",
        settles=("output deviations",),
    )


def predict(instance: Instance) -> Prediction:
    layers = theory.deep_chords.deviations(instance, instance.weight, instance.activation)
    return _claims(instance, layers, layers[-1].inner, lambda layer: _norm(layer.inner) + _norm(layer.chord))


def _norm(rows: Rows) -> float:
    return math.sqrt(sum(map(square, rows)))


def _claims(instance: Instance, layers: Sequence[Layer], outputs: Rows, hidden: Callable[[Layer], float]) -> Prediction:
    slack = SLACK * _scale(instance)
    claims = [Claim("output deviations", Relation.EQUAL, outputs, slack)]
    bound = 0.0
    for depth, layer in enumerate(layers):
        middle = theory.deep_chords.mixed(instance.first[depth], instance.second[depth], instance.weight)
        bound = float(np.linalg.norm(floats(middle), 2)) * bound + _norm(layer.cross)
        if depth + 1 < len(layers):
            claims.append(Claim(f"norm behind layer {depth}", Relation.AT_MOST, hidden(layer), slack))
            bound += _norm(layer.chord)
    claims.append(Claim("norm of the output deviations", Relation.AT_MOST, bound, slack))
    return Prediction(tuple(claims))


def _scale(instance: Instance) -> float:
    """What rounding may be measured in: the product of the norms of all layers and of the data, or their squares."""
    size = 1 + _norm(instance.data)
    for W0, W1 in zip(instance.first, instance.second, strict=True):
        size *= 1 + _norm(W0) + _norm(W1)
        size = size**2 if instance.activation == "square" else size
    return size


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """All three networks run on the data in float64."""
    found = numerics.chords.network_deviations(
        [floats(W) for W in instance.first],
        [floats(W) for W in instance.second],
        floats(instance.data),
        float(instance.weight),
        instance.activation,
    )
    outputs, error = found[-1]
    estimates = {
        f"norm behind layer {depth}": Estimate(float(np.linalg.norm(xi)), e, "float64")
        for depth, (xi, e) in enumerate(found[:-1])
    }
    estimates["output deviations"] = Estimate(tuple(map(tuple, outputs.tolist())), error, "float64")
    estimates["norm of the output deviations"] = Estimate(float(np.linalg.norm(outputs)), error, "float64")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    return _pairs("relu", "leaky_relu")


def _pairs(*activations: str) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    entry = st.integers(-2, 2)

    def rows(count: int, width: int) -> SearchStrategy[list[list[int]]]:
        return st.lists(st.lists(entry, min_size=width, max_size=width), min_size=count, max_size=count)

    def pair(widths: list[int], points: int) -> SearchStrategy[Fields]:
        shapes = list(zip(widths[1:], widths[:-1], strict=True))
        weights = st.tuples(*(rows(*shape) for shape in shapes)).map(list)
        return st.fixed_dictionaries(
            {
                "first": weights,
                "second": weights,
                "data": rows(points, widths[0]),
                "weight": st.sampled_from(["1/2", "1/4", "7/8"]),
                "activation": st.sampled_from(activations),
            }
        )

    widths = st.lists(st.integers(1, 2), min_size=3, max_size=4)
    return st.tuples(widths, st.integers(1, 2)).flatmap(lambda drawn: pair(*drawn))


# False variants.


def _without_cross_terms(instance: Instance) -> Prediction:
    layers = theory.deep_chords.deviations(instance, instance.weight, instance.activation)
    return _claims(instance, layers, layers[-1].carried, lambda layer: _norm(layer.inner) + _norm(layer.chord))


def _without_chords(instance: Instance) -> Prediction:
    layers = theory.deep_chords.deviations(instance, instance.weight, instance.activation)
    return _claims(instance, layers, layers[-1].inner, lambda layer: _norm(layer.inner))


_SIGNS = {"first": [[[1]], [[1]]], "second": [[[-1]], [[2]]], "data": [[1]]}
_SQUARES = {"first": [[[0]], [[0]], [[0]]], "second": [[[1]], [[1]], [[0]]], "data": [[2]], "activation": "square"}

VARIANTS = {
    "no_cross_term": Variant("ξ_z = W^λ ξ_h in the last layer", predict=_without_cross_terms, examples=(_SIGNS,)),
    "no_chord_of_the_activation": Variant("‖ξ_{h'}‖ ≤ ‖ξ_z‖", predict=_without_chords, examples=(_SIGNS,)),
    "any_activation": Variant(
        "the bounds for η(z) = z²",
        hypotheses=lambda instance: (),
        instances=lambda: _pairs("square"),
        examples=(_SQUARES,),
    ),
}
