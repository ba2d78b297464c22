"""A dense layered net is connected iff no balance at a boundary of width one has the wrong sign; a closed form counts.

Hypotheses
----------
Dense layers without bias, at least one hidden layer.

Statement
---------
Let the widths be n_0 = d, n_1, …, n_L, n_{L+1} = o, all hidden ones at least 2. The invariant set is connected iff (o
≥ 2 or c_v ≥ 0 on the last hidden layer) and (d ≥ 2 or c_v ≤ 0 on the first). With hidden layers of width one an edge
from layer i to i+1 has minimum max(0, out, in), where out applies if i ≥ 1 and n_{i+1} = 1: −c_tail if n_i ≥ 2, else
max over 1 ≤ j ≤ i of −(N_j + σ_{j+1} + … + σ_i); and in applies if i < L and n_i = 1: c_head if n_{i+1} ≥ 2, else max
over i < j ≤ L of σ_{i+1} + … + σ_{j−1} + Q_j. Here σ_i, N_i, Q_i are the sums of all, of the negative and of the
positive balances of layer i.

Proof idea
----------
A unit with a sibling catches nobody's paths but its own; a unit without catches everything upstream, and a closed set
there is part of one layer and all later layers. The mirror image downstream.

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for wide layers; the condition on widths and the closed form are ours.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.connectivity import connectivity
from ..graphs.fields import LayeredFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S7",)
SOURCE = Source(("nurisso2026",), Provenance.SHARPENED, "width condition, unit widths and closed form are ours")

Instance = LayeredFields

Rows = tuple[tuple[Fraction, ...], ...]


def hypotheses(instance: LayeredFields) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("no bias", not instance.bias, f"bias = {str(instance.bias).lower()}"),
        Hypothesis("at least one hidden layer", len(instance.widths) > 2, f"widths = {list(instance.widths)}"),
    )


def predict(instance: LayeredFields) -> Prediction:
    return _claims(instance, closed_form(instance.widths, instance.balance))


def measure(instance: LayeredFields, seed: int, device: str) -> Measurement:
    """One linear program per edge; the count by gluing sign pieces if the net is small."""
    network = instance.network
    measured = numerics.linear_programs.minima(network)
    estimates = {
        f"minimum[{e}]": Estimate(value, measured.error, "linear program")
        for e, value in zip(measured.edges, measured.values, strict=True)
    }
    if network.edge_count <= numerics.gluing.LARGEST:
        count = numerics.gluing.components(network)
        estimates["log2_components"] = Estimate(count.bit_length() - 1, how=f"{count} classes of glued sign pieces")
    elif measured.is_decisive:
        estimates["log2_components"] = Estimate(len(measured.frozen), how="positive minima of the linear programs")
    return Measurement(estimates)


def closed_form(widths: tuple[int, ...], balance: Rows) -> list[Fraction]:
    """Return the minimum of every edge, in the order of `layered_network`: layer, tail, head."""
    minima = []
    for i in range(len(widths) - 1):
        for tail in range(widths[i]):
            for head in range(widths[i + 1]):
                minima.append(max([Fraction(0), *_out(widths, balance, i, tail), *_in(widths, balance, i, head)]))
    return minima


def _out(widths: tuple[int, ...], balance: Rows, i: int, tail: int) -> list[Fraction]:
    """What keeps an edge from layer i to a layer of width one away from zero, seen from its tail."""
    if i == 0 or widths[i + 1] != 1:
        return []
    if widths[i] >= 2:
        return [-balance[i - 1][tail]]
    negative = [sum((min(c, Fraction(0)) for c in row), Fraction(0)) for row in balance]
    return [-(negative[j - 1] + sum(map(sum, balance[j:i]))) for j in range(1, i + 1)]


def _in(widths: tuple[int, ...], balance: Rows, i: int, head: int) -> list[Fraction]:
    """What keeps an edge from a layer of width one to layer i + 1 away from zero, seen from its head."""
    last = len(widths) - 2
    if i == last or widths[i] != 1:
        return []
    if widths[i + 1] >= 2:
        return [balance[i][head]]
    positive = [sum((max(c, Fraction(0)) for c in row), Fraction(0)) for row in balance]
    return [sum(map(sum, balance[i : j - 1])) + positive[j - 1] for j in range(i + 1, last + 1)]


def _claims(instance: LayeredFields, minima: list[Fraction]) -> Prediction:
    resolution = 1e-7 * max(1.0, float(sum(abs(c) for row in instance.balance for c in row)))  # of a linear program
    return Prediction(
        (
            Claim("log2_components", Relation.EQUAL, sum(m > 0 for m in minima)),
            *(Claim(f"minimum[{e}]", Relation.EQUAL, m, resolution) for e, m in enumerate(minima)),
        ),
        (connectivity(instance.network).certificate,),
    )


def _widths_irrelevant(instance: LayeredFields) -> Prediction:
    """The rule for wide layers, applied to hidden layers of width one as well."""
    widths = (instance.widths[0], *(max(2, n) for n in instance.widths[1:-1]), instance.widths[-1])
    rows = tuple(row if len(row) > 1 else (*row, Fraction(0)) for row in instance.balance)
    wide = iter(closed_form(widths, rows))
    minima = []
    for i in range(len(widths) - 1):
        for tail in range(widths[i]):
            for head in range(widths[i + 1]):
                minimum = next(wide)
                if tail < instance.widths[i] and head < instance.widths[i + 1]:
                    minima.append(minimum)
    return _claims(instance, minima)


def _negated(instance: LayeredFields) -> Prediction:
    return _claims(instance, closed_form(instance.widths, tuple(tuple(-c for c in row) for row in instance.balance)))


def _bias_changes_nothing(instance: LayeredFields) -> Prediction:
    minima = iter(closed_form(instance.widths, instance.balance))
    names = instance.network.names
    tails = [names[v] for v in instance.network.tail]
    return _claims(instance, [Fraction(0) if tail.startswith("b") else next(minima) for tail in tails])


def instances() -> SearchStrategy[Fields]:
    return _balanced_layers(bias=False)


def _balanced_layers(bias: bool) -> SearchStrategy[Fields]:
    from ..testing import balanced_layers

    return balanced_layers(bias=bias)


VARIANTS = {
    "one_output_needs_nonpositive": Variant(
        "with one output the last balances have to be ≤ 0, with one input the first ≥ 0",
        predict=_negated,
        examples=({"widths": [2, 2, 1], "balance": [[1, 1]]},),
    ),
    "widths_irrelevant": Variant(
        "the rule for wide layers also where a hidden layer has width one",
        predict=_widths_irrelevant,
        examples=({"widths": [2, 2, 1, 2, 2], "balance": [[-1, -1], [0], [1, 1]]},),
    ),
    "bias_changes_nothing": Variant(
        "the closed form for nets with biases as well",
        predict=_bias_changes_nothing,
        hypotheses=lambda instance: hypotheses(instance)[1:],
        instances=lambda: _balanced_layers(bias=True),
        examples=({"widths": [1, 1, 1], "balance": [[1]], "bias": True},),
    ),
}
