"""One step of gradient descent moves a quadratic law by exactly η² h(g).

Hypotheses
----------
h(θ) = θᵀSθ is a law of all data sets, and g the gradient of any risk at θ, for instance of one mini-batch.

Statement
---------
h(θ − ηg) = h(θ) + η² h(g) for every η. Here: two-layer linear nets f = UVᵀx, squared loss, and the balances UᵀU − VᵀV.

Proof idea
----------
Expand: the term linear in η is −2η θᵀSg = −η⟨∇h, g⟩ = 0.

Source
------
Ours; the bound of the drift along stochastic gradient descent is Proposition 5.1 of Marcotte, Gribonval, Peyré (2025).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
from ..theory.exact_matrices import Rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL16",)
SOURCE = Source(("marcotte2025",), Provenance.OURS, "the bound along stochastic gradient descent is the paper's")


@dataclass(frozen=True)
class Instance:
    """Weights, a batch and a step.

    Parameters
    ----------
    u, v : matrices
        U ∈ ℝ^{n×r} and V ∈ ℝ^{m×r}.
    inputs, labels : rows of numbers
        The batch; at most 1000 entries.
    rate : Fraction
        η.
    """

    u: Rows
    v: Rows
    inputs: Rows
    labels: Rows
    rate: Fraction

    def __post_init__(self) -> None:
        widths = {len(row) for row in (*self.u, *self.v)}
        if not self.u or not self.v or len(widths) != 1 or 0 in widths:
            raise InputError("u, v: rows of one common length, the number of hidden units, are needed")
        fits = all(len(x) == len(self.v) for x in self.inputs) and all(len(y) == len(self.u) for y in self.labels)
        if not self.inputs or len(self.inputs) != len(self.labels) or not fits:
            raise InputError(f"inputs, labels: as many rows of {len(self.v)} as of {len(self.u)} numbers are needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    moving = any(entry for part in _gradients(instance) for row in part for entry in row)
    return (Hypothesis("the gradient does not vanish", moving, "exact"),)


def predict(instance: Instance) -> Prediction:
    return _claim(instance, lambda h, g, rate: h + rate**2 * g)


def derive(instance: Instance) -> Derivation:
    """Make the step in exact arithmetic."""
    gu, gv = _gradients(instance)
    after = _balance(_moved(instance.u, gu, instance.rate), _moved(instance.v, gv, instance.rate))
    before, of_gradient = _balance(instance.u, instance.v), _balance(gu, gv)
    residual = sum(
        (
            (a - b - instance.rate**2 * g) ** 2
            for a, b, g in zip(_flat(after), _flat(before), _flat(of_gradient), strict=True)
        ),
        Fraction(0),
    )
    return Derivation("‖h(θ − ηg) − h(θ) − η² h(g)‖²", str(residual), settles=("h_after",))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Make the step in floating point, with the gradient of the network by another path: through its second moments."""
    u, v, x, y = (_floats(rows) for rows in (instance.u, instance.v, instance.inputs, instance.labels))
    field = numerics.averaged_training.deep_linear_field(
        numerics.averaged_training.averaged_moments(x, y), [u.shape, v.T.shape]
    )
    theta = np.concatenate([u.ravel(), v.T.ravel()])
    moved = numerics.integrators.gradient_descent(field, theta, float(instance.rate), 1)
    after_u, after_v = moved[: u.size].reshape(u.shape), moved[u.size :].reshape(v.T.shape).T
    balance = after_u.T @ after_u - after_v.T @ after_v
    scale = float((moved**2).sum() + (theta**2).sum() + 1)
    return Measurement({"h_after": Estimate(tuple(balance.ravel().tolist()), 1e-12 * scale, "one step")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    number = st.integers(-3, 3)
    pair = st.lists(number, min_size=2, max_size=2)
    return st.fixed_dictionaries(
        {
            "u": st.lists(pair, min_size=1, max_size=2),
            "v": st.lists(pair, min_size=1, max_size=1),
            "inputs": st.just([[1], [2]]),
            "labels": st.just([[1], [0]]),
            "rate": st.just("1/10"),
        }
    ).map(_one_label_per_output)


def _one_label_per_output(fields: dict[str, Any]) -> Fields:
    return {**fields, "labels": [row * len(fields["u"]) for row in fields["labels"]]}


def _gradients(instance: Instance) -> tuple[Rows, Rows]:
    """Gradients in U and V of the mean of half the squared errors, by definition."""
    r, n = len(instance.u[0]), len(instance.inputs)
    gu = [[Fraction(0)] * r for _ in instance.u]
    gv = [[Fraction(0)] * r for _ in instance.v]
    for x, y in zip(instance.inputs, instance.labels, strict=True):
        hidden = [sum((row[j] * e for row, e in zip(instance.v, x, strict=True)), Fraction(0)) for j in range(r)]
        for a, row in enumerate(instance.u):
            error = (sum((w * z for w, z in zip(row, hidden, strict=True)), Fraction(0)) - y[a]) / n
            for j in range(r):
                gu[a][j] += error * hidden[j]
                for b, entry in enumerate(x):
                    gv[b][j] += error * row[j] * entry
    return theory.exact_matrices.rows(gu), theory.exact_matrices.rows(gv)


def _balance(u: Rows, v: Rows) -> Rows:
    times, transpose = theory.exact_matrices.times, theory.exact_matrices.transpose
    left, right = times(transpose(u), u), times(transpose(v), v)
    return theory.exact_matrices.rows(
        [[a - b for a, b in zip(p, q, strict=True)] for p, q in zip(left, right, strict=True)]
    )


def _moved(weights: Rows, gradient: Rows, rate: Fraction) -> Rows:
    return theory.exact_matrices.rows(
        [[w - rate * g for w, g in zip(p, q, strict=True)] for p, q in zip(weights, gradient, strict=True)]
    )


def _flat(rows: Rows) -> list[Fraction]:
    return [entry for row in rows for entry in row]


def _floats(rows: Rows) -> numerics.integrators.Vector:
    return np.array([[float(entry) for entry in row] for row in rows])


def _claim(instance: Instance, after: Callable[[Fraction, Fraction, Fraction], Fraction]) -> Prediction:
    before, of_gradient = _balance(instance.u, instance.v), _balance(*_gradients(instance))
    values = tuple(after(h, g, instance.rate) for h, g in zip(_flat(before), _flat(of_gradient), strict=True))
    weights = sum((entry**2 for entry in (*_flat(instance.u), *_flat(instance.v))), Fraction(1))
    # Rounding of a step is far below this; a wrong sign of η² h(g) is far above.
    return Prediction((Claim("h_after", Relation.EQUAL, values, 1e-10 * float(weights)),))


EXAMPLE = {"u": [[2]], "v": [[1]], "inputs": [[1]], "labels": [[0]], "rate": "1/10"}
KEEP_SETTLED = Derivation("", "0")

VARIANTS = {
    "opposite_sign": Variant(
        "h(θ) − η² h(g)",
        predict=lambda instance: _claim(instance, lambda h, g, rate: h - rate**2 * g),
        derive=lambda instance: KEEP_SETTLED,
        examples=(EXAMPLE,),
    ),
    "conserved_exactly": Variant(
        "gradient descent conserves h",
        predict=lambda instance: _claim(instance, lambda h, g, rate: h),
        derive=lambda instance: KEEP_SETTLED,
        examples=(EXAMPLE,),
    ),
    "first_order": Variant(
        "the error is of first order, −η h(g)",
        predict=lambda instance: _claim(instance, lambda h, g, rate: h - rate * g),
        derive=lambda instance: KEEP_SETTLED,
        examples=(EXAMPLE,),
    ),
}
