"""A convex Lipschitz loss turns the chord deviation of a layer into a bound on the barrier.

Hypotheses
----------
The loss is convex and K-Lipschitz in the outputs; the outputs are linear in the layer, with the same head A at both ends.

Statement
---------
For every λ, L(W^λ) − (1 − λ) L(W⁰) − λ L(W¹) ≤ K E‖Aξ‖ ≤ K‖A‖₂ (E‖ξ(λ)‖²)^{1/2}; K = √2 for the cross-entropy of logits. With
heads A⁰, A¹ interpolated too, the outputs deviate by A^λξ − λ(1 − λ)(A¹ − A⁰)(H¹ − H⁰).

Proof idea
----------
ℓ(ō + Aξ) ≤ ℓ(ō) + K‖Aξ‖ for the interpolated outputs ō, and ℓ(ō) is below the chord.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026), in words; bounds and proof are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import theory
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
from ..numerics.floats import FloatArray, floats
from ..theory.matrices import Rows, dot, product, require_rows, square, transpose

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("F3",)
SOURCE = Source(("burgin2026",), Provenance.SHARPENED, "the paper says it in words")

SLACK = 1e-9  # of the scale of losses and outputs: round-off only
LIPSCHITZ = {"cross_entropy": math.sqrt(2), "absolute": 1.0}
WEIGHTS = (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4))


@dataclass(frozen=True)
class Instance:
    """Two ReLU layers with heads, and data.

    Parameters
    ----------
    first, second : rows of numbers
        Effective weights of the layer in the two runs, m × n.
    head : rows of numbers
        A, c × m, of the first run.
    second_head : rows of numbers, optional
        Of the second run, if it is another one.
    data : rows of numbers
        Points, of length n.
    targets : tuple of int
        A class from 0 to c − 1 for each point (cross-entropy), or a number for each (other losses, c = 1).
    loss : str
        ``cross_entropy``, ``absolute``, or ``negative_square``, which is not convex.
    """

    first: Rows
    second: Rows
    head: Rows
    data: Rows
    targets: tuple[int, ...]
    second_head: Rows | None = None
    loss: Literal["cross_entropy", "absolute", "negative_square"] = "cross_entropy"

    def __post_init__(self) -> None:
        require_rows(self.first, "first")
        n, m = len(self.first[0]), len(self.first)
        require_rows(self.second, "second", columns=n, count=m)
        require_rows(self.data, "data", columns=n)
        require_rows(self.head, "head", columns=m)
        if self.second_head is not None:
            require_rows(self.second_head, "second_head", columns=m, count=len(self.head))
        if len(self.targets) != len(self.data):
            raise InputError(f"targets: {len(self.targets)}; one for each of {len(self.data)} points is needed")
        if self.loss == "cross_entropy" and not all(0 <= t < len(self.head) for t in self.targets):
            raise InputError(f"targets={list(self.targets)!r}: classes from 0 to {len(self.head) - 1} are needed")
        if self.loss != "cross_entropy" and len(self.head) != 1:
            raise InputError(f"head: {len(self.head)} rows; the loss {self.loss} is for one output")

    @property
    def heads(self) -> tuple[Rows, Rows]:
        """The heads of both runs."""
        return self.head, self.head if self.second_head is None else self.second_head


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (_convex(instance), _shared(instance))


def _convex(instance: Instance) -> Hypothesis:
    convex = instance.loss in LIPSCHITZ
    return Hypothesis("the loss is convex and Lipschitz", convex, f"loss = {instance.loss}")


def _shared(instance: Instance) -> Hypothesis:
    return Hypothesis("both runs have the same head", instance.heads[0] == instance.heads[1], "equal numbers")


def _deviations(instance: Instance, weight: Fraction) -> Rows:
    """ξ for every point, N × m, exactly."""
    ends = [product(instance.data, transpose(W)) for W in (instance.first, instance.second)]
    return tuple(
        tuple(theory.chords.tent(a, b, weight) for a, b in zip(x, y, strict=True)) for x, y in zip(*ends, strict=True)
    )


def derive(instance: Instance) -> Derivation:
    """The deviation of the outputs with interpolated heads, in exact arithmetic on all points."""
    H0, H1 = (
        tuple(tuple(max(z, Fraction(0)) for z in row) for row in product(instance.data, transpose(W)))
        for W in (instance.first, instance.second)
    )
    A0, A1 = instance.heads
    left = []
    for weight in WEIGHTS:
        mixed = _mixed(A0, A1, weight)
        xi = _deviations(instance, weight)
        hidden = tuple(
            tuple(x + e for x, e in zip(row, rest, strict=True))
            for row, rest in zip(_mixed(H0, H1, weight), xi, strict=True)
        )
        for h, x, h0, h1 in zip(hidden, xi, H0, H1, strict=True):
            for a, a0, a1 in zip(mixed, A0, A1, strict=True):
                cross = dot(_minus(a1, a0), _minus(h1, h0))
                rest = dot(a, h) - (1 - weight) * dot(a0, h0) - weight * dot(a1, h1)
                if rest != dot(a, x) - weight * (1 - weight) * cross:
                    left.append(f"λ = {weight}")
    return Derivation(
        "A^λH^λ − (1 − λ)A⁰H⁰ − λA¹H¹ = A^λξ − λ(1 − λ)(A¹ − A⁰)(H¹ − H⁰)",
        "; ".join(left) or "0",
        r"A^\lambda H^\lambda - (1-\lambda)A^0H^0 - \lambda A^1H^1 = A^\lambda\xi - \lambda(1-\lambda)(A^1-A^0)(H^1-H^0)",
    )


def _mixed(left: Rows, right: Rows, weight: Fraction) -> Rows:
    return tuple(
        tuple((1 - weight) * x + weight * y for x, y in zip(a, b, strict=True))
        for a, b in zip(left, right, strict=True)
    )


def _minus(x: tuple[Fraction, ...], y: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    return tuple(a - b for a, b in zip(x, y, strict=True))


def predict(instance: Instance) -> Prediction:
    return _claims(instance, LIPSCHITZ.get(instance.loss, 1.0))


def _claims(instance: Instance, lipschitz: float) -> Prediction:
    claims = []
    spectral = float(np.linalg.norm(floats(instance.head), 2))
    for weight in WEIGHTS:
        xi = _deviations(instance, weight)
        outputs = product(xi, transpose(_mixed(*instance.heads, weight)))
        mean = sum(math.sqrt(square(row)) for row in outputs) / len(outputs)
        root = math.sqrt(sum(square(row) for row in xi) / len(xi))
        slack = SLACK * (1 + mean + root * spectral)
        claims.append(Claim(f"barrier at {weight}", Relation.AT_MOST, lipschitz * mean, slack))
        claims.append(Claim(f"barrier at {weight}", Relation.AT_MOST, lipschitz * spectral * root, slack))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Losses at the ends and between them, on the same data, in float64."""
    X, W0, W1 = floats(instance.data), floats(instance.first), floats(instance.second)
    A0, A1 = map(floats, instance.heads)
    targets = np.array(instance.targets)
    loss = _LOSSES[instance.loss]
    estimates = {}
    for weight in WEIGHTS:
        t = float(weight)
        at, start, end = (
            loss(np.maximum(X @ W.T, 0) @ A.T, targets)
            for W, A in (((1 - t) * W0 + t * W1, (1 - t) * A0 + t * A1), (W0, A0), (W1, A1))
        )
        value = at - (1 - t) * start - t * end
        rounding = 1e-13 * (1 + abs(at) + abs(start) + abs(end))
        estimates[f"barrier at {weight}"] = Estimate(value, rounding, "losses on all points")
    return Measurement(estimates)


def _cross_entropy(outputs: FloatArray, targets: FloatArray) -> float:
    largest = outputs.max(1, keepdims=True)
    total = np.log(np.exp(outputs - largest).sum(1)) + largest[:, 0]
    return float((total - outputs[np.arange(len(targets)), targets.astype(int)]).mean())


_LOSSES: dict[str, Callable[[FloatArray, FloatArray], float]] = {
    "cross_entropy": _cross_entropy,
    "absolute": lambda outputs, targets: float(np.abs(outputs[:, 0] - targets).mean()),
    "negative_square": lambda outputs, targets: -float(((outputs[:, 0] - targets) ** 2).mean()),
}


def instances() -> SearchStrategy[Fields]:
    return _problems("cross_entropy")


def _problems(loss: str, *, is_shared: bool = True) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    entry = st.integers(-3, 3)

    def problem(m: int, n: int, points: int) -> SearchStrategy[Fields]:
        def rows(count: int, width: int) -> SearchStrategy[list[list[int]]]:
            return st.lists(st.lists(entry, min_size=width, max_size=width), min_size=count, max_size=count)

        classes = 2 if loss == "cross_entropy" else 1
        fields = {
            "first": rows(m, n),
            "second": rows(m, n),
            "head": rows(classes, m),
            "data": rows(points, n),
            "targets": st.lists(st.integers(0, 1), min_size=points, max_size=points),
            "loss": st.just(loss),
        }
        return st.fixed_dictionaries(fields if is_shared else {**fields, "second_head": rows(classes, m)})

    size = st.integers(1, 2)
    return st.tuples(size, size, size).flatmap(lambda sizes: problem(*sizes))


# With a single positive neuron nothing deviates: every chord of a concave loss shows.
_CONCAVE = {"first": [[0]], "second": [[2]], "head": [[1]], "data": [[1]], "targets": [1], "loss": "negative_square"}
# The second neuron keeps the loss on its steep side along the whole segment.
_STEEP = {
    "first": [[10], [50]],
    "second": [[-10], [50]],
    "head": [[10, -10], [-10, 10]],
    "data": [[1]],
    "targets": [0],
}
_HEADS = {
    "first": [[0]],
    "second": [[1]],
    "head": [[0]],
    "second_head": [[1]],
    "data": [[1]],
    "targets": [1],
    "loss": "absolute",
}

VARIANTS = {
    "convexity_not_needed": Variant(
        "the bound for −(o − y)²",
        hypotheses=lambda instance: (_shared(instance),),
        instances=lambda: _problems("negative_square"),
        examples=(_CONCAVE,),
    ),
    "lipschitz_constant_one": Variant(
        "K = 1 for the cross-entropy", predict=lambda instance: _claims(instance, 1.0), examples=(_STEEP,)
    ),
    "no_cross_term": Variant(
        "the bound with interpolated heads, without λ(1 − λ)(A¹ − A⁰)(H¹ − H⁰)",
        hypotheses=lambda instance: (_convex(instance),),
        instances=lambda: _problems("absolute", is_shared=False),
        examples=(_HEADS,),
    ),
}
