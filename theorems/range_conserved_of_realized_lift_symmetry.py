"""The range of a block of parameters is conserved if its rotations act through the lift group.

Hypotheses
----------
A network f = M(θ)T(x) under the squared loss averaged over a group; a block P ∈ ℝ^{d×k}, k < d, of θ with M(κP) =
M(P)σ(κ) and σ(κ) in the lift group for all rotations κ. Here: the first layer of a two-layer linear net on an
irreducible that occurs once in the inputs and not in the labels, or the inner weights of power units averaged over
O(d).

Statement
---------
range(P) is conserved for every data set, although the group itself may be finite.

Proof idea
----------
The averaged loss does not change under P ↦ κP, so that ZPᵀ is symmetric for its gradient Z, hence Z = PC and P(t) =
P(0)X(t) with X invertible. Checked as a polynomial identity for every averaged potential.

Source
------
Theorem 4 of Galley, Shahverdi, Flinth (2026).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics, theory
from .._checker_architectures import transposed
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
from ..numerics.integrators import Field, Vector
from ..theory.model_fields import ModelFields
from ._laws_of_models import float_elements

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields
    from ..theory.lift_group import Block

FAMILY = "conservation"
IDS = ("CL9",)
SOURCE = Source(("galley2026",), Provenance.SHARPENED, "which groups realize all rotations, and rank-deficient blocks")

RESOLUTION = 1e-10  # rounding of a hundred steps with a well conditioned P; other blocks move by more than 1e-3

STEP = 0.02
STEPS = 50


@dataclass(frozen=True)
class Instance(ModelFields):
    """A two-layer linear net (sizes q, r, h) with a permutation group or Q8, or power units with a group O(d).

    Parameters
    ----------
    averaged : bool
        Whether training averages over the group.
    """

    averaged: bool = True

    def __post_init__(self) -> None:
        if self.group is None or self.group.name is None or self.group.copies != 1 or self.group.trivial:
            raise InputError("group: a named group on one copy of its natural representation is needed")
        if (self.architecture, len(self.sizes)) not in (("linear", 3), ("power", 3)):
            raise InputError("architecture: 'linear' with sizes (q, r, h) or 'power' with (m, r, d) is needed")

    @property
    def basis(self) -> list[list[int]]:
        """Basis vectors of the irreducible: all of ℝᵈ, or without the ones vector for a permutation group."""
        assert self.group is not None
        d = self.sizes[2]
        units = [[int(i == j) for j in range(d)] for i in range(d)]
        permutes = str(self.group.name)[0] in "CS" and str(self.group.name)[1:].isdigit()
        return [[a - b for a, b in zip(row, units[-1], strict=True)] for row in units[:-1]] if permutes else units


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_applicable(instance), _not_in_labels(instance))


def predict(instance: Instance) -> Prediction:
    return Prediction((Claim("range_drift", Relation.AT_MOST, 0, RESOLUTION),))


def derive(instance: Instance) -> Derivation:
    """ZPᵀ − PZᵀ for the gradient of every averaged potential, projected to the irreducible."""
    system = theory.law_count.model_systems(instance.plain)["averaged" if instance.averaged else "plain"]
    matrices = theory.known_laws.parameter_matrices(system.names)
    block = transposed(matrices["w" if instance.architecture == "power" else "W2"])
    centered = len(instance.basis) < len(block)
    residual = theory.range_identity.skew_residual(system.potentials, block, centered=centered)
    return Derivation("ZPᵀ − PZᵀ", residual, r"Z P^\top = P Z^\top", settles=("range_drift",))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Gradient descent on random data, averaged exactly or not at all."""
    generator = np.random.default_rng(seed)
    inputs, outputs = instance.sizes[2], instance.sizes[0]
    x = generator.standard_normal((3 * inputs, inputs))
    if instance.architecture == "linear":
        y = generator.standard_normal((3 * inputs, outputs))
        field, first = _linear_field(instance, x, y), outputs * instance.sizes[1]
    elif instance.averaged and outputs == 2:
        y = generator.standard_normal(3 * inputs)
        first = instance.sizes[1]
        field = numerics.averaged_training.rotated_quadratic_field(x, y, first)
    else:
        return Measurement({})
    start = 0.6 * generator.standard_normal(first + instance.sizes[1] * inputs)
    end = numerics.integrators.gradient_descent(field, start, STEP, STEPS)
    basis = np.linalg.qr(np.array(instance.basis, np.float64).T)[0]
    before, after = (basis.T @ theta[first:].reshape(instance.sizes[1], inputs).T for theta in (start, end))
    error = numerics.ranges.range_tolerance(before, after)
    return Measurement({"range_drift": Estimate(numerics.ranges.range_drift(before, after), error, "gradient descent")})


def _linear_field(instance: Instance, x: Vector, y: Vector) -> Field:
    assert instance.group is not None
    q, r, h = instance.sizes
    act = instance.group.action(q)
    if act.lie:
        plain = numerics.averaged_training.averaged_moments(x, y)
        moments = numerics.averaged_training.Moments(np.eye(h) * np.trace(plain.a) / h, np.zeros((q, h)))
    else:
        moments = numerics.averaged_training.averaged_moments(x, y, float_elements(act) if instance.averaged else ())
    return numerics.averaged_training.deep_linear_field(moments, [(q, r), (r, h)])


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def fields(n: int, q: int, r: int, name: str) -> Fields:
        return {"architecture": "linear", "sizes": [q, min(r, n - 2), n], "group": {"name": f"{name}{n}"}}

    return st.builds(fields, st.integers(3, 4), st.integers(1, 2), st.integers(1, 2), st.just("S"))


def _in_labels() -> SearchStrategy[Fields]:
    def fields(drawn: Fields) -> Fields:
        n = drawn["sizes"][2]
        return {**drawn, "sizes": [n, *drawn["sizes"][1:]], "group": {**drawn["group"], "natural_labels": True}}

    return instances().map(fields)


def _plain() -> SearchStrategy[Fields]:
    return instances().map(lambda fields: {**fields, "averaged": False})


def _applicable(instance: Instance) -> tuple[Hypothesis, ...]:
    k, d = instance.sizes[1], len(instance.basis)
    realized = instance.architecture != "power" or str(instance.group and instance.group.name).startswith("O(")
    return (
        Hypothesis("training averages over the group", instance.averaged, f"averaged = {instance.averaged}"),
        Hypothesis("all rotations are realized", realized, f"{instance.architecture} with {instance.group}"),
        Hypothesis("fewer columns than dimensions", k < d, f"k = {k}, d = {d}"),
    )


def _not_in_labels(instance: Instance) -> Hypothesis:
    irreducible = _irreducible(instance)
    met = irreducible is not None and irreducible.label_multiplicity == 0
    return Hypothesis("one irreducible, not in the labels", met, f"{irreducible}")


def _irreducible(instance: Instance) -> Block | None:
    """The block on the whole of `basis`, if it is irreducible."""
    assert instance.group is not None
    labels = instance.sizes[0] if instance.architecture == "linear" else 1
    blocks = theory.lift_group.lift_group(instance.group.action(labels)).blocks
    return next((b for b in blocks if b.dimension == len(instance.basis) and b.multiplicity == 1), None)


def _never_averaged(instance: Instance) -> tuple[Hypothesis, ...]:
    return (*_applicable(instance)[1:], _not_in_labels(instance))


VARIANTS = {
    "labels_may_contain_it": Variant(
        "also if the irreducible occurs in the labels",
        hypotheses=_applicable,
        instances=_in_labels,
        examples=({"architecture": "linear", "sizes": [4, 1, 4], "group": {"name": "S4", "natural_labels": True}},),
    ),
    "average_not_needed": Variant(
        "also for training on the data as they are",
        hypotheses=_never_averaged,
        instances=_plain,
        examples=({"architecture": "linear", "sizes": [1, 2, 5], "group": {"name": "S5"}, "averaged": False},),
    ),
}
