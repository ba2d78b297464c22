"""Stochastic gradient descent moves a quadratic law by at most half the sum of squared steps, times two constants.

Hypotheses
----------
h(θ) = θᵀSθ is a law of all data sets, with second derivatives of norm at most C_h = 2‖S‖. Steps θ_{i+1} = θ_i − τ_i g_i
are along gradients of batches, without momentum, and E‖g_i‖² ≤ C_L.

Statement
---------
E|h(θ_K) − h(θ_0)| ≤ ½ C_h C_L Σ τ_i². More exactly, h(θ_K) − h(θ_0) = Σ τ_i² h(g_i) on every run. Here: two-layer linear
nets and the balances |u_j|² − |v_j|² of their hidden units, C_h = 2, and C_L the largest mean of ‖g_i‖² over the runs.

Proof idea
----------
Each step changes h by exactly τ_i² h(g_i), and |h(g)| ≤ ‖S‖ ‖g‖².

Source
------
Proposition 5.1 of Marcotte, Gribonval, Peyré (2025); the identity is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

import numpy as np

from .. import numerics
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

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "conservation"
IDS = ("CL16",)
SOURCE = Source(("marcotte2025",), Provenance.PAPER, "the identity behind the bound is ours")

ROUNDING = 1e-10  # relative to the weights, for up to a thousand steps; momentum breaks the identity by more than 1e-3
RESOLUTION = 1e-4  # of the ratio to the bound; a bound that is half as large is missed by nearly 1/2
RUNS = 64
SAMPLES = 20


@dataclass(frozen=True)
class Instance:
    """Widths (n, r, m) and a schedule.

    Parameters
    ----------
    sizes : tuple of int
        Outputs, hidden units, inputs; at most 10 each.
    rate : Fraction
        τ_0.
    steps : int
        K, at most 1000.
    schedule : str
        ``constant``, or ``inverse``: τ_i = τ_0/(i + 1), whose squares have a finite sum.
    batch : int
        Samples in a batch.
    scale : Fraction
        Of the initial weights of the second layer, those of the first being of order one.
    momentum : Fraction
        μ.
    """

    sizes: tuple[int, int, int]
    rate: Fraction
    steps: int = 200
    schedule: Literal["constant", "inverse"] = "constant"
    batch: int = 2
    scale: Fraction = Fraction(1)
    momentum: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if not all(1 <= n <= 10 for n in self.sizes):
            raise InputError(f"sizes={self.sizes!r}: between 1 and 10 units in each layer are needed")
        if not (1 <= self.steps <= 1000 and 1 <= self.batch <= 100):
            raise InputError(f"steps={self.steps!r}, batch={self.batch!r}: up to 1000 steps and 100 samples are needed")
        if not (0 < self.rate <= 1 and 0 < self.scale <= 100 and 0 <= self.momentum < 1):
            raise InputError(
                f"rate={self.rate!r}, scale={self.scale!r}, momentum={self.momentum!r}: "
                "a rate up to 1, a scale up to 100 and a momentum below 1 are needed"
            )

    @property
    def rates(self) -> list[Fraction]:
        """τ_0, …, τ_{K−1}."""
        return [self.rate / (i + 1 if self.schedule == "inverse" else 1) for i in range(self.steps)]


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("steps along the gradient alone", instance.momentum == 0, f"μ = {instance.momentum}"),)


def predict(instance: Instance) -> Prediction:
    return _claims(instance, lambda rates: 1.0)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Mean drift over runs from random starts, divided by Σ τ_i² and by the largest mean ‖g_i‖²; C_h/2 = 1."""
    n, r, m = instance.sizes
    generator = np.random.default_rng(seed)
    x, y = generator.standard_normal((SAMPLES, m)), generator.standard_normal((SAMPLES, n))
    u = 0.5 * float(instance.scale) * generator.standard_normal((RUNS, n, r))
    v = 0.5 * generator.standard_normal((RUNS, m, r))
    rates = [float(rate) for rate in instance.rates]
    with np.errstate(over="ignore", invalid="ignore"):
        runs = numerics.stochastic_descent.stochastic_runs(
            x,
            y,
            u,
            v,
            steps=rates,
            batch=instance.batch,
            momentum=float(instance.momentum),
            generator=generator,
        )
    if not np.isfinite(runs.scale):
        raise Undecided(Reason.PRECISION, f"training diverges with rate={instance.rate!r}; take smaller steps")
    unit = float(runs.square_norms.max()) * sum(rate**2 for rate in rates)
    defect = float(np.abs(runs.drifts - runs.sums).max()) / runs.scale
    ratio = float(np.abs(runs.drifts).mean(axis=0).max()) / unit
    return Measurement(
        {
            "drift_over_bound": Estimate(ratio, ROUNDING * runs.scale / unit, f"mean of {RUNS} runs"),
            "defect_of_identity": Estimate(defect, how="largest of all runs and units"),
        }
    )


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    width = st.integers(1, 3)
    return st.fixed_dictionaries(
        {
            "sizes": st.tuples(width, width, width).map(list),
            "rate": st.sampled_from(["1/50", "1/100"]),
            "steps": st.sampled_from([1, 20, 100]),
            "schedule": st.sampled_from(["constant", "inverse"]),
            "scale": st.sampled_from([1, 5]),
        }
    )


def _with_momentum() -> SearchStrategy[Fields]:
    return instances().map(lambda fields: {**fields, "momentum": "9/10", "steps": 100})


def _claims(instance: Instance, factor: Callable[[list[float]], float]) -> Prediction:
    rates = [float(rate) for rate in instance.rates]
    return Prediction(
        (
            Claim("drift_over_bound", Relation.AT_MOST, factor(rates), RESOLUTION),
            Claim("defect_of_identity", Relation.AT_MOST, 0, ROUNDING),
        )
    )


def _cubes(rates: list[float]) -> float:
    return sum(rate**3 for rate in rates) / sum(rate**2 for rate in rates)


EXAMPLE = {"sizes": [1, 1, 1], "rate": "1/100", "steps": 1, "scale": 10}

VARIANTS = {
    "quarter": Variant(
        "a quarter of C_h C_L Σ τ_i² bounds the drift",
        predict=lambda instance: _claims(instance, lambda rates: 0.5),
        examples=(EXAMPLE,),
    ),
    "third_order": Variant(
        "the drift is of third order, ½ C_h C_L Σ τ_i³",
        predict=lambda instance: _claims(instance, _cubes),
        examples=(EXAMPLE,),
    ),
    "with_momentum": Variant(
        "also with momentum",
        hypotheses=lambda instance: (),
        instances=_with_momentum,
        examples=({"sizes": [2, 2, 2], "rate": "1/100", "momentum": "9/10"},),
    ),
}
