"""The chord deviation of a ReLU layer is at most β^{3/2}/√(3π) times the fixed part of its weights.

Hypotheses
----------
The activation is ReLU; inputs are centered and rotation invariant after whitening (Gaussian, say); for every neuron and
both runs ‖t_i^q‖ ≤ β ‖f_i‖ with β ≤ 1, where f_i is the fixed and t_i^q the trained part in whitened coordinates.

Statement
---------
For one neuron with end weights of lengths s₀, s₁ at an angle θ: E ξ² = (2/π)(p² G(u) + q² G(θ − u)), where p = (1 − λ)s₀, q
= λs₁, tan u = q sin θ/(p + q cos θ), G(u) = u/2 − sin(2u)/4. Hence sup_λ (E‖ξ(λ)‖²)^{1/2} ≤ β^{3/2}/√(3π) ‖F‖, and
1/√(3π) is sharp for β → 0. Weights with this β are a convex set: it holds on the whole segment.

Proof idea
----------
The tent in polar coordinates; the worst case is symmetric, by concavity of log G and of the logarithm of the radius; a
scalar inequality with interval arithmetic.

Source
------
Bürgin, Herbst, Lin, Jegelka (2026) for the rate O(β^{3/2}); formula, constant and proof are ours. Kernel: Cho, Saul (2009).
"""

from __future__ import annotations

import math
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
from ..theory.matrices import Rows, require_rows, square

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("F2",)
SOURCE = Source(("burgin2026", "cho2009"), Provenance.SHARPENED, "rate of the paper; constant, formula and proof ours")

RESOLUTION = 1e-10  # times the squared weights, or the bound: rounding only
WEIGHTS = tuple(Fraction(i, 8) for i in range(1, 8))


@dataclass(frozen=True)
class Instance:
    """A layer in whitened coordinates: the inputs have covariance 1.

    Parameters
    ----------
    fixed, first, second : rows of numbers
        F Σ^{1/2}, and the trained parts of the two runs, m × k each.
    inputs : str
        ``gaussian``, or ``axes``: uniform on ±√k e_1, …, ±√k e_k, which is not rotation invariant.
    activation : str
        The statement is for ReLU.
    """

    fixed: Rows
    first: Rows
    second: Rows
    inputs: Literal["gaussian", "axes"] = "gaussian"
    activation: Literal["relu", "gelu"] = "relu"

    def __post_init__(self) -> None:
        require_rows(self.fixed, "fixed")
        for name in ("first", "second"):
            require_rows(getattr(self, name), name, columns=len(self.fixed[0]), count=len(self.fixed))
        if not all(map(any, self.fixed)):
            raise InputError("fixed: a row is zero; β of a neuron without a fixed part is infinite")

    @property
    def beta_square(self) -> Fraction:
        """β², the largest over neurons and runs."""
        rows = zip(self.fixed, self.first, self.second, strict=True)
        return max(theory.chords.relative_shift(f, (a, b)) for f, a, b in rows)

    @property
    def ends(self) -> tuple[Rows, Rows]:
        """Effective weights of the two runs."""
        return _sum(self.fixed, self.first), _sum(self.fixed, self.second)


def _sum(left: Rows, right: Rows) -> Rows:
    return tuple(tuple(x + y for x, y in zip(a, b, strict=True)) for a, b in zip(left, right, strict=True))


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_laws(instance), _dominated(instance))


def _dominated(instance: Instance) -> Hypothesis:
    return Hypothesis("β ≤ 1", instance.beta_square <= 1, f"β² = {instance.beta_square}, the largest over neurons")


def _laws(instance: Instance) -> tuple[Hypothesis, ...]:
    return (
        Hypothesis("the activation is ReLU", instance.activation == "relu", f"activation = {instance.activation}"),
        Hypothesis("inputs are rotation invariant", instance.inputs == "gaussian", f"inputs = {instance.inputs}"),
    )


def derive(instance: Instance) -> Derivation:
    """The closed form from the angle integral and from the arc-cosine kernel, and the leading term of its series."""
    chords = theory.chords
    left = [name for name, rest in (("kernel", chords.arc_cosine_residual()),) if rest != 0]
    if chords.small_angle_series(5) != chords.theta**3 / (24 * chords.PI):
        left.append("series")
    return Derivation(
        "E ξ(½)² = s²(θ − sin θ)/4π = s²θ³/24π + …",
        "; ".join(left) or "0",
        r"\sup_\lambda (\mathbb{E}\|\xi(\lambda)\|^2)^{1/2} \le \frac{\beta^{3/2}}{\sqrt{3\pi}} \|F\Sigma^{1/2}\|",
    )


def predict(instance: Instance) -> Prediction:
    return _claims(instance, theory.chords.deviation_bound(instance.fixed, instance.beta_square))


def _claims(instance: Instance, bound: float) -> Prediction:
    first, second = instance.ends
    scale = float(sum(square(row) for row in (*first, *second)))
    beta = math.sqrt(instance.beta_square)
    claims = [
        Claim("largest root mean square", Relation.AT_MOST, bound, RESOLUTION * (1 + bound)),
        Claim("largest β on the segment", Relation.AT_MOST, beta, RESOLUTION * (1 + beta)),
    ]
    if instance.inputs == "gaussian" and instance.activation == "relu":
        for weight in WEIGHTS:
            value = sum(theory.chords.mean_square(a, b, weight) for a, b in zip(first, second, strict=True))
            claims.append(Claim(f"mean square at {weight}", Relation.EQUAL, value, RESOLUTION * scale))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Quadrature over the angle in the plane of the two end weights; on the axes, the mean over all inputs."""
    first, second = map(floats, instance.ends)
    found = [_mean_square(instance, first, second, float(weight)) for weight in WEIGHTS]
    largest = max(value for value, _ in found)
    error = max(error for _, error in found)
    # sqrt(x + e) − sqrt(x) ≤ min(√e, e/2√x)
    root = min(math.sqrt(error), error / (2 * math.sqrt(largest))) if largest else math.sqrt(error)
    fixed, start, end = floats(instance.fixed), floats(instance.first), floats(instance.second)
    weights = [float(weight) for weight in (Fraction(0), *WEIGHTS, Fraction(1))]
    shifts = np.stack([(1 - t) * start + t * end for t in weights])
    beta = float((np.linalg.norm(shifts, axis=2) / np.linalg.norm(fixed, axis=1)).max())
    estimates = {
        "largest root mean square": Estimate(math.sqrt(largest), root, "largest of 7 weights"),
        "largest β on the segment": Estimate(beta, 1e-14 * (1 + beta), "largest of 9 weights"),
    }
    if instance.inputs == "gaussian" and instance.activation == "relu":
        for weight, (value, e) in zip(WEIGHTS, found, strict=True):
            estimates[f"mean square at {weight}"] = Estimate(value, e, "Gauss quadrature over the angle")
    return Measurement(estimates)


def _mean_square(
    instance: Instance, first: numerics.realization.FloatArray, second: numerics.realization.FloatArray, weight: float
) -> tuple[float, float]:
    if instance.inputs == "axes":
        k = first.shape[1]
        points = math.sqrt(k) * np.concatenate([np.eye(k), -np.eye(k)])
        value = numerics.chords.deviation_on_points(first, second, weight, points, instance.activation)
        return value, 1e-13 * (1 + value)
    parts = [numerics.chords.gaussian_mean_square(a, b, weight) for a, b in zip(first, second, strict=True)]
    return sum(value for value, _ in parts), sum(error for _, error in parts)


def instances() -> SearchStrategy[Fields]:
    return _layers("gaussian")


def _layers(inputs: str, *, most_neurons: int = 2, spread: int = 1) -> SearchStrategy[Fields]:
    """Fixed parts ±e_1 times 4, and trained parts of length at most 4; opposite displacements at a right angle occur."""
    from hypothesis import strategies as st

    def layer(m: int) -> SearchStrategy[Fields]:
        steps = st.sampled_from([(0, 0), (0, 1), (0, 2), (0, 4), (1, 1), (2, -2), (-1, 2), (-4, 0)])
        run = st.lists(steps, min_size=m, max_size=m)
        opposite = run.map(lambda t: (t, [(-x, -y) for x, y in t]))
        return st.builds(
            lambda pair: {
                "fixed": [[4 * spread, 0]] * m,
                "first": [list(x) for x in pair[0]],
                "second": [list(x) for x in pair[1]],
                "inputs": inputs,
            },
            opposite | st.tuples(run, run),
        )

    return st.integers(1, most_neurons).flatmap(layer)


# False variants.


def _scaled_bound(instance: Instance, factor: float) -> Prediction:
    return _claims(instance, factor * theory.chords.deviation_bound(instance.fixed, instance.beta_square))


def _quadratic(instance: Instance) -> Prediction:
    """β² in place of β^{3/2}, with the constant of β = 1."""
    return _scaled_bound(instance, float(instance.beta_square) ** 0.25)


def _aggregate(instance: Instance) -> Prediction:
    total = sum((square(f) for f in instance.fixed), Fraction(0))
    runs = (instance.first, instance.second)
    beta_square = max(sum((square(t) for t in run), Fraction(0)) for run in runs) / total
    return _claims(instance, theory.chords.deviation_bound(instance.fixed, beta_square))


_SMALL = {"fixed": [[10, 0]], "first": [[0, 1]], "second": [[0, -1]]}

VARIANTS = {
    "smaller_constant": Variant(
        "1/√(4π) in place of 1/√(3π)",
        predict=lambda instance: _scaled_bound(instance, math.sqrt(3 / 4)),
        examples=(_SMALL,),
    ),
    "quadratic_rate": Variant("β² for ReLU", predict=_quadratic, examples=(_SMALL,)),
    "aggregate_beta": Variant(
        "β as the ratio of the norms of whole layers",
        predict=_aggregate,
        examples=(
            {
                "fixed": [[1, 0]] * 16,
                "first": [[0, 1]] + [[0, 0]] * 15,
                "second": [[0, -1]] + [[0, 0]] * 15,
            },
        ),
    ),
    "any_distribution": Variant(
        "the bound for inputs on the axes",
        hypotheses=lambda instance: (_laws(instance)[0], _dominated(instance)),
        instances=lambda: _layers("axes"),
        examples=({**_SMALL, "inputs": "axes"},),
    ),
}
