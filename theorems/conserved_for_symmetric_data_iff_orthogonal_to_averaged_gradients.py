"""A function is conserved for all symmetric data iff its gradient is orthogonal to every averaged loss gradient.

Hypotheses
----------
A compact group acts jointly on inputs and labels; the loss is smooth in θ; the class of data is all of those
symmetric under the group.

Statement
---------
I is conserved by training on every symmetric data set iff ⟨∇I(θ), ∇ℓᴳ(θ; x, y)⟩ = 0 for all θ, x, y, where ℓᴳ is the
loss averaged over the group. Here: f = Wx, squared loss, I = p/q a ratio of polynomials in the entries of W.

Proof idea
----------
On symmetric data the risk equals the averaged risk. Conversely the average of the point mass at (x, y) over the group
is symmetric data whose risk is ℓᴳ(θ; x, y).

Source
------
Proposition 1 of Galley, Shahverdi, Flinth (2026).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from .. import numerics
from .._checker_architectures import Malformed
from .._checker_averages import averaged, network_potentials
from .._checker_groups import elements
from .._checker_laws import Law, broken_by, components
from .._checker_polynomials import Monomial, Number, Polynomial, VectorField, gradient
from .._checker_text import read_polynomial
from ..core import (
    Claim,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Undecided,
    Variant,
)
from ..numerics.integrators import Vector
from ..theory.model_fields import GroupFields
from ._laws_of_models import float_elements

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL1",)
SOURCE = Source(("galley2026",), Provenance.PAPER)

STARTS = 3  # one data set is one vector field, which has D − 1 laws of its own


@dataclass(frozen=True)
class Instance:
    """A group, the number of outputs, and a candidate law in the entries w0, w1, … of W, row by row.

    Parameters
    ----------
    group : GroupFields
        Finite.
    outputs : int
        q; with natural labels, the dimension of the natural representation.
    numerator, denominator : str
        Polynomials.
    """

    group: GroupFields
    numerator: str
    denominator: str = "1"
    outputs: int = 1

    def __post_init__(self) -> None:
        _ = self.law

    @cached_property
    def inputs(self) -> int:
        """Dimension of the inputs."""
        return self.group.action(self.outputs).inputs

    @cached_property
    def law(self) -> Law:
        """Numerator and denominator, read."""
        names = [f"w{i}" for i in range(self.outputs * self.inputs)]
        try:
            law = read_polynomial(self.numerator, names), read_polynomial(self.denominator, names)
        except Malformed as error:
            raise InputError(f"numerator, denominator: {error}") from None
        if not law[1]:
            raise InputError("denominator: the zero polynomial; give another one")
        return law


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    finite = not instance.group.action(instance.outputs).lie
    constant = not any(gradient(part) for part in instance.law)
    return (
        Hypothesis("a finite group", finite, f"group = {instance.group.name}"),
        Hypothesis("the candidate is not constant", not constant, instance.numerator),
    )


def predict(instance: Instance) -> Prediction:
    act = instance.group.action(instance.outputs)
    fields = [gradient(p) for p in network_potentials("linear", _sizes(instance), act)[1]]
    return _claims(instance, fields)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Follow the flow from three starts, each on random data of its own, symmetrized and as they are."""
    generator = np.random.default_rng(seed)
    maps = float_elements(instance.group.action(instance.outputs))
    shape = (instance.outputs, instance.inputs)
    found: dict[str, list[bool | None]] = {"conserved_if_symmetric": [], "conserved_in_general": []}
    for _ in range(STARTS):
        x, y = generator.standard_normal((8, shape[1])), generator.standard_normal((8, shape[0]))
        start = generator.standard_normal(shape[0] * shape[1])
        for name, symmetric in (("conserved_if_symmetric", True), ("conserved_in_general", False)):
            moments = numerics.averaged_training.averaged_moments(x, y, maps if symmetric else ())
            field = numerics.averaged_training.deep_linear_field(moments, [shape])
            found[name].append(numerics.integrators.conservation(field, _values(instance.law), start, 1.0).conserved)
    estimates = {}
    for name, answers in found.items():
        # One start where it moves refutes conservation; that it stays has to be seen at every start.
        if not (False in answers or all(answers)):
            raise Undecided(Reason.PRECISION, f"{name}: the drifts {answers} are no clear answer")
        estimates[name] = Estimate(all(answers), how=f"flows from {STARTS} starts at four tolerances")
    return Measurement(estimates)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    ratios = [("w0 - w1", "w1 - w2"), ("w0", "w1"), ("w0 + w1 - 2*w2", "w0 - w1"), ("w0 + w1 + w2", "1")]
    return st.builds(
        lambda name, ratio: {"group": {"name": name}, "numerator": ratio[0], "denominator": ratio[1]},
        st.sampled_from(["C3", "S3"]),
        st.sampled_from(ratios),
    )


def _shifted_labels() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    ratios = [("w0 - w1", "w1 - w2"), ("w3 - w4", "w0 - w2"), ("w0 - w1", "w6 - w7")]
    return st.sampled_from([{**SHIFTED_LABELS, "numerator": p, "denominator": q} for p, q in ratios])


def _sizes(instance: Instance) -> tuple[int, int]:
    return instance.outputs, instance.inputs


def _claims(instance: Instance, fields: Sequence[VectorField]) -> Prediction:
    """Evaluate the orthogonality as a polynomial identity, for the averaged fields given and for plain ones."""
    plain = [gradient(p) for p in network_potentials("linear", _sizes(instance), None)[1]]
    return Prediction(
        tuple(
            Claim(name, Relation.EQUAL, broken_by(instance.law, generators, components(generators)) is None)
            for name, generators in (("conserved_if_symmetric", fields), ("conserved_in_general", plain))
        )
    )


def _values(law: Law) -> numerics.integrators.Field:
    parts = [[(float(c), list(monomial)) for monomial, c in part.items()] for part in law]

    def ratio(theta: Vector) -> Vector:
        p, q = (sum(c * float(np.prod(theta[monomial])) for c, monomial in part) for part in parts)
        return np.array([p / q])

    return ratio


def _inputs_only(instance: Instance) -> Prediction:
    invariant = GroupFields(**{**instance.group.plain, "natural_labels": False})
    potentials = network_potentials("linear", _sizes(instance), invariant.action(instance.outputs))[1]
    return _claims(instance, [gradient(p) for p in potentials])


def _half_of_the_group(instance: Instance) -> Prediction:
    """Average over the identity and the first generator alone, which is no group."""
    act = instance.group.action(instance.outputs)
    first = instance.outputs * instance.inputs
    some = elements(act)[:2]

    def average(monomial: Monomial) -> dict[Monomial, Number]:
        total: dict[Monomial, Number] = {}
        for x, _ in some:
            moved = tuple(sorted(first + next(j for j, e in enumerate(x[i - first]) if e) for i in monomial))
            total[moved] = total.get(moved, 0) + 1
        return total

    # (w·x)², the part of the squared loss that is quadratic in w, suffices to break a law.
    loss: Polynomial = {(i, i, first + i, first + i): 1 for i in range(instance.inputs)}
    loss |= {(i, j, first + i, first + j): 2 for j in range(instance.inputs) for i in range(j)}
    return _claims(instance, [gradient(p) for p in averaged(loss, first, average)])


SHIFTED_LABELS = {
    "group": {"name": "C3", "natural_labels": True},
    "outputs": 3,
    "numerator": "w0 - w1",
    "denominator": "w1 - w2",
}

VARIANTS = {
    "average_over_inputs_only": Variant(
        "labels are left alone although they transform",
        predict=_inputs_only,
        instances=_shifted_labels,
        examples=(SHIFTED_LABELS,),
    ),
    "average_over_part_of_the_group": Variant(
        "the identity and one shift are enough",
        predict=_half_of_the_group,
        examples=({"group": {"name": "C3"}, "numerator": "w0 - w1", "denominator": "w1 - w2"},),
    ),
}
