"""The realization cost read off data equals the cost in the subspace when the data span it.

Hypotheses
----------
U has orthonormal columns; the data points X lie in the image of U and span it.

Statement
---------
For wanted pre-activations y = Xᵀ U a, the least ‖w‖² with Xᵀ(f + d ⊙ w) = y is (y − Xᵀf)ᵀ (Xᵀ diag(d²) X)† (y − Xᵀf),
infinite off the range, and equals the realization cost of a. Without spanning it is at most that.

Proof idea
----------
The same least-norm problem with Xᵀ diag(d) in place of Uᵀ diag(d); if the data span, both have the same solutions w.

Source
------
Ours; the realization cost is that of Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from .. import numerics, theory
from ..core import Claim, Estimate, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..numerics.floats import floats
from ..theory.layers import FeatureFields
from ..theory.matrices import Rows, product, rank, require_rows, transpose

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("A2d",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

RESOLUTION = 1e-8  # relative to 1 + cost: it also carries the condition number of the sample covariance


@dataclass(frozen=True)
class Instance(FeatureFields):
    """A layer, features and data points.

    Parameters
    ----------
    data : rows of numbers
        Points, of length n.
    """

    data: Rows

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.data, "data", columns=self.n)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    spanned = rank(instance.data)
    inside = product(product(instance.data, instance.U), transpose(instance.U)) == instance.data
    return (
        instance.orthonormal(),
        Hypothesis("the data lie in the image of U", inside, "UUᵀx = x for every point, exactly"),
        Hypothesis("the data span the image of U", spanned == instance.k, f"rank {spanned}, k = {instance.k}"),
    )


def predict(instance: Instance) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    return _claims(instance, lambda i, j: table.costs[i][j])


def _claims(instance: Instance, cost: Callable[[int, int], Cost]) -> Prediction:
    claims = []
    for i in range(instance.m):
        for j in range(len(instance.A)):
            value = cost(i, j)
            resolution = 0.0 if math.isinf(value) else RESOLUTION * (1 + float(value))
            claims.append(Claim(f"data_cost[{i},{j}]", Relation.EQUAL, value, resolution))
    certificate = theory.realization.data_cost_table(instance, instance.A, instance.data).certificate
    return Prediction(tuple(claims), (certificate,))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Least squares in the weights, with one equation for each data point."""
    data, U, A = floats(instance.data), floats(instance.U), floats(instance.A)
    costs = numerics.realization.least_norm_costs(floats(instance.F), floats(instance.D), data.T, A @ U.T @ data.T)
    numerics.realization.require_decided(costs)
    return Measurement(
        {
            f"data_cost[{i},{j}]": Estimate(
                float(costs.values[i, j]), float(costs.errors[i, j]), "least squares on data"
            )
            for i in range(instance.m)
            for j in range(len(instance.A))
        }
    )


def instances() -> SearchStrategy[Fields]:
    from ..testing import featured_layers

    return featured_layers().map(lambda layer: {**layer, "data": _columns(layer)})


def _columns(layer: Fields) -> list[list[int | str]]:
    return [list(column) for column in zip(*layer["U"], strict=True)]


def _without_a_column() -> SearchStrategy[Fields]:
    from ..testing import featured_layers

    layers = featured_layers()
    return layers.map(lambda layer: {**layer, "data": _columns(layer)[:-1] or [[0] * len(layer["U"])]})


def _mean_instead_of_sum(instance: Instance) -> Prediction:
    table = theory.realization.cost_table(instance, instance.A)
    return _claims(instance, lambda i, j: table.costs[i][j] * Fraction(len(instance.data)))


_PLANE = {"U": [[1, 0], [0, 1]], "F": [[0, 0]], "D": [[1, 1]], "A": [[1, 1]]}

VARIANTS = {
    "data_need_not_span": Variant(
        "equality for data that span less",
        hypotheses=lambda instance: hypotheses(instance)[:2],
        instances=_without_a_column,
        examples=({**_PLANE, "data": [[1, 0]]},),
    ),
    "sample_covariance_for_the_sum": Variant(
        "the mean over samples in place of the sum",
        predict=_mean_instead_of_sum,
        examples=({**_PLANE, "data": [[1, 0], [0, 1]]},),
    ),
}
