"""ReLU features far from a target direction miss the energy of its high degrees.

Hypotheses
----------
Inputs are N(0, 1_k); the target is relu⟨a*, z⟩ with ‖a*‖ = 1; the network is Σ c_i relu⟨a_i, z⟩, without biases.

Statement
---------
With P = Σ|c_i|‖a_i‖ and q = max_i |cos(a_i, a*)|, for every J the mean squared error is at least Σ_{j ≥ J} κ_j² (1 − P
q^j)₊² ≥ (1 − P q^J)₊² T_J, where κ_j² is the energy of ReLU in Hermite degree j and T_J = Σ_{j ≥ J} κ_j².

Proof idea
----------
The parts of degree j have inner product κ_j² Σ c_i‖a_i‖cos^j(a_i, a*) ≤ κ_j² P q^j; Cauchy-Schwarz degree by degree.

Source
------
Ours; the kernel is that of Cho, Saul (2009).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
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
from ..theory.matrices import Rows, Vector, dot, require_rows, square

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "identifiability"
IDS = ("G3",)
SOURCE = Source(("burgin2026", "cho2009"), Provenance.OURS, "on the notions of the paper")

SLACK = 1e-12  # round-off only: energies are at most 1/2 and errors of the size of the coefficients squared
DEGREES = (0, 1, 2, 4, 6)


@dataclass(frozen=True)
class Instance:
    """A network with one hidden layer, and a target direction.

    Parameters
    ----------
    features : rows of numbers
        a_i, of length k, none zero.
    coefficients : tuple of numbers
        c_i.
    target : tuple of numbers
        a*.
    """

    features: Rows
    coefficients: Vector
    target: Vector

    def __post_init__(self) -> None:
        require_rows(self.features, "features", columns=len(self.target), count=len(self.coefficients))

    @property
    def power(self) -> float:
        """P."""
        pairs = zip(self.coefficients, self.features, strict=True)
        return float(sum(abs(float(c)) * math.sqrt(square(a)) for c, a in pairs))

    @property
    def cosine(self) -> float:
        """q."""
        squares = (dot(a, self.target) ** 2 / (square(a) or 1) for a in self.features)
        return math.sqrt(max(squares) / square(self.target))


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    norm = square(instance.target)
    return (Hypothesis("the target has length 1", norm == 1, f"‖a*‖² = {norm}"),)


def derive(instance: Instance) -> Derivation:
    """Σ κ_j² = ½, as far as it is listed, against the closed tails."""
    first = sum(theory.directions.hermite_weight(j) for j in range(4))
    rest = theory.directions.hermite_tail(4) + first - theory.directions.HALF
    return Derivation(
        "T_4 + κ_0² + κ_1² + κ_2² + κ_3² = ½",
        str(rest.expand()),
        r"\kappa_j^2 = \frac{((j-3)!!)^2}{2\pi j!},\quad \mathbb{E}(f-y)^2 \ge \sum_{j\ge J}\kappa_j^2(1-Pq^j)_+^2",
    )


def predict(instance: Instance) -> Prediction:
    P, q = instance.power, instance.cosine
    return _claims(instance, lambda J: theory.directions.missed_energy(P, q, J))


def _claims(instance: Instance, bound: Callable[[int], float]) -> Prediction:
    slack = SLACK * (1 + instance.power) ** 2
    return Prediction(tuple(Claim("mean squared error", Relation.AT_LEAST, bound(J), slack) for J in DEGREES))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """The exact mean squared error, by the arc-cosine kernel."""
    value, error = numerics.directions.expressed_error(
        floats(instance.features), floats([instance.coefficients])[0], floats([instance.target])[0]
    )
    return Measurement({"mean squared error": Estimate(value, error, "arc-cosine kernel")})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    entry = st.integers(-3, 3)
    rows = st.lists(st.tuples(entry, entry).filter(any).map(list), min_size=1, max_size=4)

    def network(a: list[list[int]]) -> SearchStrategy[Fields]:
        coefficients = st.lists(st.sampled_from([0, "1/4", "1/2", 1, -1]), min_size=len(a), max_size=len(a))
        targets = st.sampled_from([[1, 0], ["3/5", "4/5"]])
        return st.builds(lambda c, t: {"features": a, "coefficients": c, "target": t}, coefficients, targets)

    return rows.flatmap(network)


def _without_square(instance: Instance) -> Prediction:
    P, q = instance.power, instance.cosine
    weights = [float(theory.directions.hermite_weight(j)) for j in range(60)]
    return _claims(instance, lambda J: sum(weights[j] * max(1 - P * q**j, 0.0) for j in range(J, 60)))


def _norms_forgotten(instance: Instance) -> Prediction:
    P, q = float(sum(abs(c) for c in instance.coefficients)), instance.cosine
    return _claims(instance, lambda J: theory.directions.missed_energy(P, q, J))


_ALONG = {"features": [[1, 0]], "coefficients": ["1/2"], "target": [1, 0]}

EXAMPLES = (_ALONG,)

VARIANTS = {
    "without_square": Variant("1 − P q^j in place of its square", predict=_without_square, examples=(_ALONG,)),
    "norms_forgotten": Variant("P = Σ|c_i|", predict=_norms_forgotten, examples=({**_ALONG, "features": [[2, 0]]},)),
    "orthogonal_features": Variant(
        "the energy of every degree is missed, as if features were orthogonal to the target",
        predict=lambda x: _claims(x, lambda J: theory.directions.missed_energy(x.power, 0.0, J)),
        examples=({**_ALONG, "coefficients": [1]},),
    ),
}
