"""Training by the sign of the gradient conserves nothing, unless there is a single input or a single output.

Hypotheses
----------
θ' = −sign ∇E(θ), entry by entry, for losses of UVᵀ only, U ∈ ℝ^{n×r}, V ∈ ℝ^{m×r}, on all data sets; U and V generic:
entries of the gradient change their signs across as few common hyperplanes as the sizes allow, and no column vanishes.

Statement
---------
The number of laws near (U, V) is 0 for n, m ≥ 2; (r − 1)m for n = 1 < m, and (r − 1)n for m = 1 < n; 2r − 1 for n = m
= 1, where |u_k| − |v_k| is among them. This is Adam without its averages.

Proof idea
----------
With G the derivative in UVᵀ, which is any matrix, the gradient is (GV, GᵀU). Near (U, V) its signs are constant, so that
brackets vanish and the laws are counted by the span of all sign vectors. Each entry is linear in G. Crossing the
hyperplane of an entry changes its sign and that of the entries with the same hyperplane, no other: the span has one
dimension for each hyperplane. Normals are v_k in row a, or u_k in column b; generic ones are parallel only where rows or
columns have length one.

Source
------
Ours; that r = 1 between more than two ends leaves no law, and one for n = m = r = 1, is in Marcotte, Gribonval, Peyré (2025).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from ..core import (
    Claim,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..theory.exact_matrices import Rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL17",)
SOURCE = Source(("marcotte2025",), Provenance.OURS, "the paper has the case of one hidden unit between scalars")


@dataclass(frozen=True)
class Instance:
    """Weights near which laws are counted.

    Parameters
    ----------
    u, v : matrices
        U ∈ ℝ^{n×r} and V ∈ ℝ^{m×r}; at most 100 entries.
    """

    u: Rows
    v: Rows

    def __post_init__(self) -> None:
        widths = {len(row) for row in (*self.u, *self.v)}
        if not self.u or not self.v or len(widths) != 1 or 0 in widths:
            raise InputError("u, v: rows of one common length, the number of hidden units, are needed")
        if self.parameters > 100:
            raise InputError(f"u, v: {self.parameters} entries; at most 100 are counted")

    @property
    def sizes(self) -> tuple[int, int, int]:
        """n, m and r."""
        return len(self.u), len(self.v), len(self.u[0])

    @property
    def parameters(self) -> int:
        """D."""
        n, m, r = self.sizes
        return (n + m) * r


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    found = theory.sign_flow.hyperplanes(instance.u, instance.v)
    expected = theory.sign_flow.generic_hyperplanes(*instance.sizes)
    return (
        Hypothesis("no entry of the gradient is always zero", found is not None, "columns of U and V"),
        Hypothesis("generic weights", found == expected, f"{found} hyperplanes, generically {expected}"),
    )


def predict(instance: Instance) -> Prediction:
    return _claim(instance, lambda n, m, r: (n + m) * r - theory.sign_flow.generic_hyperplanes(n, m, r))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Rank of the signs of gradients on random data: a lower bound, so that more data may leave fewer laws."""
    n, m, r = instance.sizes
    u, v = (np.array([[float(entry) for entry in row] for row in rows]) for rows in (instance.u, instance.v))
    theta = np.concatenate([u.ravel(), v.T.ravel()])
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(20 * instance.parameters):
        x, y = generator.standard_normal((m, m)), 10 * generator.standard_normal((m, n))
        moments = numerics.averaged_training.averaged_moments(x, y)
        rows.append(np.sign(numerics.averaged_training.deep_linear_field(moments, [(n, r), (r, m)])(theta)))
    rank = int(np.linalg.matrix_rank(np.array(rows)))
    return Measurement(
        {"laws": Estimate(instance.parameters - rank, how=f"{len(rows)} random data sets")}, evidence=Evidence.HEURISTIC
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    # Columns (1, a) and (b, 1) with different a, b > 1 are pairwise not parallel, nor coordinate vectors.
    def fields(n: int, m: int, numbers: list[int]) -> Fields:
        return {"u": [numbers, [1] * len(numbers)][:n], "v": [[1] * len(numbers), numbers[::-1]][:m]}

    numbers = st.lists(st.integers(2, 9), min_size=1, max_size=3, unique=True)
    return st.builds(fields, st.integers(1, 2), st.integers(1, 2), numbers)


def _claim(instance: Instance, laws: Callable[[int, int, int], int]) -> Prediction:
    certificate = theory.sign_flow.sign_certificate(instance.u, instance.v)
    return Prediction((Claim("laws", Relation.EQUAL, laws(*instance.sizes)),), (certificate,))


def _balances(n: int, m: int, r: int) -> int:
    t = min(n + m, r)
    return t * (2 * r + 1 - t) // 2


VARIANTS = {
    "scalars_only": Variant(
        "no law but |u| − |v| for n = m = r = 1",
        predict=lambda instance: _claim(instance, lambda n, m, r: int(n == m == r == 1)),
        examples=({"u": [[2, 3]], "v": [[1, 1], [5, 7]]},),
    ),
    "laws_of_the_flow": Variant(
        "the balances of gradient flow survive",
        predict=lambda instance: _claim(instance, _balances),
        examples=({"u": [[2], [1]], "v": [[1], [3]]},),
    ),
}
