"""Permuting the hidden neurons of a network costs the sum of the sensitivities of its layers and leaves its function.

Hypotheses
----------
Every neuron can have, on the data, the outputs of the neuron whose place it takes.

Statement
---------
Let Δ_{π,τ} of a layer be by how much the least squared norm grows if its neurons exchange outputs by π and its inputs are
re-indexed by τ. Permuting all hidden layers costs Σ_l Δ_{π_l,π_{l−1}} with π_0 = π_L = id, and the outputs on the data stay.
So a single hidden layer that is permuted by π costs Δ_{π,id} there and Δ_{id,π} in the layer above.

Proof idea
----------
If the first l layers give permuted outputs, layer l + 1 gets its inputs re-indexed, and has to give what it gave before in
other places: least squares, neuron by neuron.

Source
------
Ours; the sensitivity of a layer is defined by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import (
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
from ..numerics.floats import floats
from ..theory.network_fields import NetworkFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("B1a",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

RESOLUTION = 1e-8  # relative to 1 + the squared norms and outputs: costs cancel, and carry squared condition numbers

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    infinite = [layer for layer in range(instance.depth) if math.isinf(_sensitivity(instance, layer))]
    return (
        Hypothesis(
            "every neuron can take the place that it is given", not infinite, f"layers where one cannot: {infinite}"
        ),
    )


def _sensitivity(instance: NetworkFields, layer: int) -> Cost:
    before, after = instance.places[layer : layer + 2]
    return theory.permuted_networks.layer_sensitivity(instance, layer, after, before)


def derive(instance: NetworkFields) -> Derivation:
    """The permuted network, built and run in exact arithmetic."""
    built = theory.permuted_networks.permuted_network(instance)
    if built is None:
        left = ["outputs that cannot be realized"]
    else:
        outputs, change = built
        total = sum(Fraction(_sensitivity(instance, layer)) for layer in range(instance.depth))
        left = ["outputs"] * (outputs != instance.inputs[-1]) + ["squared norm"] * (change != total)
    return Derivation(
        "‖W_π‖² − ‖W‖² = Σ_l Δ_{π_l,π_{l−1}}, and the outputs are those of the given network",
        "; ".join(left) or "0",
        r"\|W_\pi\|^2 - \|W\|^2 = \sum_l \Delta_{\pi_l,\pi_{l-1}}",
        settles=("cost of the permutation", "change of the outputs"),
    )


def predict(instance: NetworkFields) -> Prediction:
    return _claims(instance, lambda layer: _sensitivity(instance, layer))


def _claims(instance: NetworkFields, part: Callable[[int], Cost]) -> Prediction:
    """The claim that the cost is the sum of these parts over the layers."""
    parts = [part(layer) for layer in range(instance.depth)]
    total = math.inf if any(map(math.isinf, parts)) else sum((Fraction(x) for x in parts), Fraction(0))
    size = 1 + sum(float(x * x) for rows in (*instance.W, *instance.inputs) for row in rows for x in row)
    resolution = 0.0 if math.isinf(total) else RESOLUTION * (size + sum(abs(float(x)) for x in parts))
    return Prediction(
        (
            Claim("cost of the permutation", Relation.EQUAL, total, resolution),
            Claim("change of the outputs", Relation.AT_MOST, 0, RESOLUTION * size),
        )
    )


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """Layers fitted by least squares to re-indexed inputs, and the network run with them from the data on."""
    F, D, W = ([floats(rows) for rows in layers] for layers in (instance.F, instance.D, instance.W))
    found = numerics.permuted_networks.permuted_network(F, D, W, floats(instance.data), instance.permutations)
    return Measurement(
        {
            "cost of the permutation": Estimate(found.cost, found.cost_error, "least squares, layer by layer"),
            "change of the outputs": Estimate(found.outputs, found.output_error, "the fitted network on the data"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    # Scales are not 0, so that every neuron can have every output.
    scales: SearchStrategy[int | str] = st.sampled_from([1, 2, "1/2"])
    entries = st.integers(-2, 2)

    def rows(count: int, width: int, entry: SearchStrategy[int | str]) -> SearchStrategy[list[list[int | str]]]:
        return st.lists(st.lists(entry, min_size=width, max_size=width), min_size=count, max_size=count)

    def network(widths: list[int], points: int) -> SearchStrategy[Fields]:
        shapes = list(zip(widths[1:], widths[:-1], strict=True))
        return st.fixed_dictionaries(
            {
                "F": st.tuples(*(rows(*shape, entries) for shape in shapes)).map(list),
                "D": st.tuples(*(rows(*shape, scales) for shape in shapes)).map(list),
                "W": st.tuples(*(rows(*shape, entries) for shape in shapes)).map(list),
                "data": rows(points, widths[0], entries),
                "permutations": st.tuples(*(st.permutations(range(width)) for width in widths[1:-1])).map(list),
            }
        )

    widths = st.tuples(st.integers(1, 2), st.lists(st.integers(2, 3), min_size=1, max_size=2), st.just(1))
    return st.tuples(widths, st.integers(1, 2)).flatmap(
        lambda drawn: network([drawn[0][0], *drawn[0][1], drawn[0][2]], drawn[1])
    )


# False variants.


def _inputs_stay(instance: NetworkFields) -> Prediction:
    sensitivity = theory.permuted_networks.layer_sensitivity
    return _claims(
        instance, lambda layer: sensitivity(instance, layer, instance.places[layer + 1], _identity(instance, layer))
    )


def _inverse_at_the_inputs(instance: NetworkFields) -> Prediction:
    sensitivity = theory.permuted_networks.layer_sensitivity
    return _claims(
        instance,
        lambda layer: sensitivity(instance, layer, instance.places[layer + 1], _inverse(instance.places[layer])),
    )


def _one_after_the_other(instance: NetworkFields) -> Prediction:
    """Each layer pays for its outputs at the old inputs, and for the new inputs at the old outputs."""
    sensitivity = theory.permuted_networks.layer_sensitivity

    def part(layer: int) -> Cost:
        before, after = instance.places[layer : layer + 2]
        at_outputs = sensitivity(instance, layer, after, _identity(instance, layer))
        return at_outputs + sensitivity(instance, layer, range(len(after)), before)

    return _claims(instance, part)


def _identity(instance: NetworkFields, layer: int) -> range:
    return range(len(instance.places[layer]))


def _inverse(permutation: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(permutation.index(i) for i in range(len(permutation)))


_ONE_HIDDEN = {
    "F": [[[0], [0]], [[0, 1]]],
    "D": [[[1], [1]], [[1, 1]]],
    "W": [[[1], [2]], [[1, 1]]],
    "data": [[1]],
    "permutations": [[1, 0]],
}
_CYCLE = {
    "F": [[[0], [0], [0]], [[0, 1, 3]]],
    "D": [[[1], [1], [1]], [[1, 1, 1]]],
    "W": [[[1], [2], [3]], [[1, 1, 1]]],
    "data": [[1]],
    "permutations": [[1, 2, 0]],
}
_TWO_HIDDEN = {
    "F": [[[0], [0]], [[0, 1], [2, 0]], [[0, 0]]],
    "D": [[[1], [1]], [[1, 1], [1, 1]], [[1, 1]]],
    "W": [[[1], [2]], [[1, 1], [1, 0]], [[1, 1]]],
    "data": [[1]],
    "permutations": [[1, 0], [1, 0]],
}

VARIANTS = {
    "inputs_keep_their_places": Variant(
        "the layer above a permuted one pays nothing: Σ Δ_{π_l,id}", predict=_inputs_stay, examples=(_ONE_HIDDEN,)
    ),
    "inverse_at_the_inputs": Variant(
        "inputs are re-indexed by the inverse: Σ Δ_{π_l,π_{l−1}⁻¹}",
        predict=_inverse_at_the_inputs,
        examples=(_CYCLE,),
    ),
    "layers_pay_one_after_the_other": Variant(
        "adjacent layers pay as if only one were permuted: Σ (Δ_{π_l,id} + Δ_{id,π_{l−1}})",
        predict=_one_after_the_other,
        examples=(_TWO_HIDDEN,),
    ),
}
