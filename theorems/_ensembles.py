"""What the statements on networks of several widths share: how they are built, their exponents, and random instances."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .. import numerics
from ..core import Estimate, Hypothesis
from ..numerics.ensemble_fields import ANALYTIC, EnsembleFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..numerics.mlps import Architecture
    from ..numerics.power_laws import PowerLaw
    from ..testing import Fields

RESOLUTION = 0.2  # of an exponent over a factor of 16 in the width or more; orders that are told apart differ by 1/2
TRAIN, TEST = "exponent of F − F_lin at inputs of training", "exponent of F − F_lin at other inputs"

SMALL = {"widths": [16, 23, 32, 45, 64, 91, 128, 181, 256], "networks": 200}
"""Nine widths: an exponent is refuted only if the upper half of them refutes it, too, which three widths cannot."""


def analytic(fields: EnsembleFields) -> Hypothesis:
    """Return whether the activation has all derivatives."""
    return Hypothesis("the activation is analytic", fields.activation in ANALYTIC, f"φ = {fields.activation}")


def built(fields: EnsembleFields) -> str:
    """Return the parametrization and the depth in words."""
    return f"parametrization = {fields.parametrization}, hidden layers = {fields.hidden}"


def architecture(fields: EnsembleFields, n: int) -> Architecture:
    """Return the networks of width n."""
    return numerics.mlps.Architecture(
        fields.inputs, n, fields.hidden, activation=fields.activation, parametrization=fields.parametrization
    )


def estimate(law: PowerLaw) -> Estimate:
    """Return an exponent with its error, for a claim of the resolution that is common here."""
    found = numerics.power_laws.exponent_interval(law, RESOLUTION)
    return Estimate(found.value, found.error, f"{len(law.widths)} widths, bootstrap over networks")


def ensembles(choices: Mapping[str, list[Any]], **fixed: Any) -> SearchStrategy[Fields]:
    """Return the strategy of small ensembles with one of the `choices` of each field."""
    from hypothesis import strategies as st

    return st.fixed_dictionaries(
        {name: st.just(value) for name, value in {**SMALL, **fixed}.items()}
        | {name: st.sampled_from(values) for name, values in choices.items()}
    )
