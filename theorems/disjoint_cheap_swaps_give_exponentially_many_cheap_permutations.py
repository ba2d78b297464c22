"""M disjoint swaps that cost at most ε each give 2^M permutations that cost at most Mε.

Hypotheses
----------
U has orthonormal columns; every neuron can have its own feature; the given pairs are disjoint, and each swap costs at
most ε ≥ 0.

Statement
---------
At least 2^M permutations have Δ_π ≤ Mε.

Proof idea
----------
Sensitivity adds up over disjoint cycles; take the products of all subsets of the swaps.

Source
------
Ours; the sensitivity is defined by Bürgin, Herbst, Lin, Jegelka (2026).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TYPE_CHECKING

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
from ..theory.layers import FeatureFields
from ..theory.matrices import require_rows

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

if TYPE_CHECKING:
    from ..theory.realization import Cost

FAMILY = "identifiability"
IDS = ("B1d",)
SOURCE = Source(("burgin2026",), Provenance.OURS)

_MOST_NEURONS = 7  # 5040 permutations


@dataclass(frozen=True)
class Instance(FeatureFields):
    """A layer, a feature for each neuron, and disjoint pairs of neurons.

    Parameters
    ----------
    pairs : tuple of pairs of int
        The swaps.
    epsilon : number
        What each may cost.
    """

    pairs: tuple[tuple[int, int], ...]
    epsilon: Fraction

    def __post_init__(self) -> None:
        super().__post_init__()
        require_rows(self.A, "A", count=self.m)
        if self.m > _MOST_NEURONS:
            raise InputError(f"F: {self.m} neurons; permutations are counted for at most {_MOST_NEURONS}")
        if any(not 0 <= i < self.m for pair in self.pairs for i in pair):
            raise InputError(f"pairs={self.pairs!r}: neurons are numbered from 0 to {self.m - 1}")
        if self.epsilon < 0:
            raise InputError(f"epsilon={self.epsilon!r}: a number >= 0 is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_own_features(instance), _disjoint(instance), _cheap(instance))


def _own_features(instance: Instance) -> tuple[Hypothesis, ...]:
    finite = all(math.isfinite(row[i]) for i, row in enumerate(_costs(instance)))
    return instance.orthonormal(), Hypothesis("every neuron can have its own feature", finite, "costs are finite")


def _disjoint(instance: Instance) -> Hypothesis:
    flat = [i for pair in instance.pairs for i in pair]
    return Hypothesis("the pairs are disjoint", len(set(flat)) == len(flat), f"pairs {instance.pairs}")


def _cheap(instance: Instance) -> Hypothesis:
    swaps = [_swap(instance, i, j) for i, j in instance.pairs]
    cheap = all(x <= instance.epsilon for x in swaps)
    return Hypothesis(
        "each swap costs at most epsilon", cheap, f"Δ = {[str(x) for x in swaps]}, ε = {instance.epsilon}"
    )


def _costs(instance: Instance) -> tuple[tuple[Cost, ...], ...]:
    return theory.realization.cost_table(instance, instance.A).costs


def _swap(instance: Instance, i: int, j: int) -> Cost:
    swapped = list(range(instance.m))
    swapped[i], swapped[j] = j, i
    return theory.realization.sensitivity(_costs(instance), swapped)


def derive(instance: Instance) -> Derivation:
    """The products of all subsets of the swaps, each with its exact sensitivity."""
    bound = len(instance.pairs) * instance.epsilon
    costs = _costs(instance)
    left = []
    for size in range(len(instance.pairs) + 1):
        for chosen in combinations(instance.pairs, size):
            product = list(range(instance.m))
            for i, j in chosen:
                product[i], product[j] = product[j], product[i]
            if not theory.realization.sensitivity(costs, product) <= bound:
                left.append(f"swaps {chosen}")
    return Derivation(
        "every product of swaps costs at most Mε",
        "; ".join(left) or "0",
        r"\#\{\pi : \Delta_\pi \le M\varepsilon\} \ge 2^M",
        settles=("cheap permutations",),
    )


def predict(instance: Instance) -> Prediction:
    return _claims(2 ** len(instance.pairs))


def _claims(count: int) -> Prediction:
    return Prediction((Claim("cheap permutations", Relation.AT_LEAST, count),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Count over all permutations in float64."""
    bound = len(instance.pairs) * float(instance.epsilon)
    F, D, U, A = (floats(rows) for rows in (instance.F, instance.D, instance.U, instance.A))
    costs = numerics.realization.least_norm_costs(F, D, U, A)
    numerics.realization.require_decided(costs)
    found = numerics.assignments.sensitivities(costs.values).values()
    slack = float(costs.errors.sum())
    # Permutations at the bound within rounding count: the product of all swaps is often there.
    count = sum(x <= bound + slack for x in found)
    return Measurement({"cheap permutations": Estimate(count, how="all permutations")})


def instances() -> SearchStrategy[Fields]:
    from ..testing import permuted_layers

    return permuted_layers(max_neurons=4).map(_with_pairs)


def _with_pairs(layer: Fields) -> Fields:
    """Take pairs that the permutation brings together and whose swap is possible, and the dearest swap as ε."""
    permutation = layer["permutation"]
    fields = {key: layer[key] for key in ("F", "D", "U", "A")}
    rows = {key: tuple(tuple(map(Fraction, row)) for row in value) for key, value in fields.items()}
    swaps = {}
    for i, j in zip(permutation[::2], permutation[1::2], strict=False):
        probe = Instance(**rows, pairs=((i, j),), epsilon=Fraction(0))
        if math.isfinite(cost := _swap(probe, i, j)):
            swaps[i, j] = Fraction(cost)
    return {**fields, "pairs": [list(pair) for pair in swaps], "epsilon": str(max([Fraction(0), *swaps.values()]))}


# False variants.


def _within_epsilon(instance: Instance) -> Derivation:
    """The same products against ε in place of Mε."""
    costs = _costs(instance)
    everything = list(range(instance.m))
    for i, j in instance.pairs:
        everything[i], everything[j] = j, i
    total = theory.realization.sensitivity(costs, everything)
    return Derivation("every product of swaps costs at most ε", "0" if total <= instance.epsilon else f"Δ = {total}")


def _line(points: list[int], pairs: list[list[int]], epsilon: int) -> Fields:
    return {
        "U": [[1]],
        "F": [[x] for x in points],
        "D": [[1]] * len(points),
        "A": [[x] for x in points],
        "pairs": pairs,
        "epsilon": epsilon,
    }


def _overlapping_instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    points = st.lists(st.integers(0, 3), min_size=3, max_size=3, unique=True)
    return points.map(lambda x: _line(x, [[0, 1], [1, 2], [0, 2]], 2 * (max(x) - min(x)) ** 2))


VARIANTS = {
    "within_epsilon": Variant(
        "the 2^M permutations cost at most ε",
        derive=_within_epsilon,
        examples=(_line([0, 1, 10, 11], [[0, 1], [2, 3]], 2),),
    ),
    "pairs_need_not_be_disjoint": Variant(
        "one factor 2 for every cheap swap",
        hypotheses=lambda instance: (*_own_features(instance), _cheap(instance)),
        derive=lambda instance: Derivation("nothing is derived for overlapping pairs", "0"),
        instances=_overlapping_instances,
        examples=(_line([0, 1, 2], [[0, 1], [1, 2], [0, 2]], 8),),
    ),
}
