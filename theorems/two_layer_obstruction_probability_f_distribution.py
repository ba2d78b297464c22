"""A random unit of a scalar two-layer network is locked with the survival probability of an F distribution.

Hypotheses
----------
One hidden layer, one output; every hidden unit has at least two incoming weights, its bias included. Weights are
independent: normal (Kaiming, Xavier; no bias), or uniform as `torch.nn.Linear` draws them, with at least as many hidden
units as inputs.

Statement
---------
A unit with incoming weights w (D of them) and output weight v is locked iff c = ‖w‖² − v² < 0; then gradient flow keeps the
sign of v and |v| ≥ √(−c). With variances s₁ and s₂ the probability is p = P(F_{1,D} > D s₁/s₂): P(F_{1,d} > l) for Kaiming,
P(F_{1,d} > d(l+1)/(d+l)) for Xavier, and V_D/(D+1)·(√(d/l)/2)^D for the uniform default, V_D the volume of the unit ball.
The numbers of negative output weights that can be reached are exactly those from λ₋ to l − λ₊, the numbers of units locked
negative and positive, so a target that needs r of them is out of reach with probability P(λ₋ > r or λ₊ > l − r).

Proof idea
----------
Only the output weight is an only way out, so only it can be frozen; c < 0 compares independent χ² variables, or a uniform
variable with the volume of a ball. Units are independent and the sign of v is fair.

Source
------
Nurisso, Leroy, Vaccarino (2024) for the obstruction; the probabilities are ours.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from .. import numerics, theory
from ..core import (
    Claim,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    Measurement,
    MeasurementKind,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S14",)
SOURCE = Source(("nurisso2024",), Provenance.SHARPENED, "the obstruction is the paper's; the probabilities are ours")

SIGMAS = 4.5
FALSE_ALARMS = 6.8e-6  # two-sided tail of the normal distribution beyond SIGMAS


@dataclass(frozen=True)
class Instance:
    """An architecture and how it is initialized.

    Parameters
    ----------
    inputs, hidden : int
        d and l.
    scheme : str
        Distribution of the weights.
    bias : bool
        Whether hidden units have a bias; for ``torch_default``.
    negatives : int
        r: how many negative output weights the target needs.
    networks : int
        How many random networks are drawn.
    """

    inputs: int
    hidden: int
    scheme: Literal["kaiming_normal", "xavier_normal", "torch_default"] = "torch_default"
    bias: bool = False
    negatives: int = 0
    networks: int = 200_000

    def __post_init__(self) -> None:
        for field in ("inputs", "hidden", "networks"):
            if (value := getattr(self, field)) < 1:
                raise InputError(f"{field}={value!r}: a positive integer is needed")
        if not 0 <= self.negatives <= self.hidden:
            raise InputError(f"negatives={self.negatives!r}: a number from 0 to hidden={self.hidden} is needed")
        if self.bias and self.scheme != "torch_default":
            raise InputError(f"bias={self.bias!r}: {self.scheme} says nothing about biases; leave it out")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    degree = instance.inputs + instance.bias
    fits = instance.scheme != "torch_default" or instance.hidden >= instance.inputs
    return (
        Hypothesis("every hidden unit has at least two incoming weights", degree >= 2, f"D = {degree}"),
        Hypothesis("uniform weights: at least as many hidden units as inputs", fits, f"l = {instance.hidden}"),
    )


def predict(instance: Instance) -> Prediction:
    return _predicted(instance, _locked(instance))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Counts over random networks, with exact binomial confidence intervals."""
    found = numerics.initializations.lock_counts(
        instance.inputs,
        instance.hidden,
        instance.scheme,
        bias=instance.bias,
        networks=instance.networks,
        seed=seed,
        device=device,
    )
    units, r = instance.hidden, instance.negatives
    table = found.counts.tolist()
    cells = [(minus, plus, table[minus][plus]) for minus in range(units + 1) for plus in range(units + 1)]
    successes = {
        "locked": (sum((minus + plus) * n for minus, plus, n in cells), found.networks * units),
        "some_locked": (sum(n for minus, plus, n in cells if minus + plus), found.networks),
        "all_locked_negative": (table[units][0], found.networks),
        "unreachable": (sum(n for minus, plus, n in cells if minus > r or plus > units - r), found.networks),
    }
    estimates = {}
    for quantity, (k, n) in successes.items():
        interval = numerics.initializations.proportion(k, n, confidence=1 - FALSE_ALARMS)
        estimates[quantity] = Estimate(interval.value, interval.error, f"{k} of {n}")
    return Measurement(
        estimates, MeasurementKind.STATISTICAL, Evidence.STATISTICAL, false_alarm_rate=len(estimates) * FALSE_ALARMS
    )


def _locked(instance: Instance) -> float:
    return theory.obstruction.locked_probability(instance.inputs, instance.hidden, instance.scheme, bias=instance.bias)


def _predicted(
    instance: Instance, p: float, unreachable: Callable[[float, int, int], float] | None = None
) -> Prediction:
    units = instance.hidden
    out_of_reach = unreachable or theory.obstruction.unreachable_probability
    probabilities = {
        "locked": (p, instance.networks * units),
        "some_locked": (theory.obstruction.some_locked_probability(p, units), instance.networks),
        "all_locked_negative": (theory.obstruction.all_locked_negative_probability(p, units), instance.networks),
        "unreachable": (out_of_reach(p, units, instance.negatives), instance.networks),
    }
    return Prediction(
        tuple(Claim(name, Relation.EQUAL, q, _resolution(q, n)) for name, (q, n) in probabilities.items())
    )


def _resolution(q: float, trials: int) -> float:
    """Twice the half-width of a confidence interval, so that the interval found agrees unless it misses q.

    SIGMAS²/trials covers how far the exact interval is from the normal one where successes are rare.
    """
    return 2 * SIGMAS * math.sqrt(max(0.0, q * (1 - q)) / trials) + 2 * SIGMAS**2 / trials


def _inverted(instance: Instance) -> float:
    d, units = instance.inputs, instance.hidden
    ratio = units if instance.scheme == "kaiming_normal" else d * (units + 1) / (d + units)
    return theory.obstruction.f_survival(d * d / ratio, d)


def instances() -> SearchStrategy[Fields]:
    return _architectures(["kaiming_normal", "xavier_normal", "torch_default"])


def _architectures(schemes: list[str]) -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    def architecture(inputs: int, more: int, scheme: str, r: int) -> Fields:
        hidden = inputs + more
        return {"inputs": inputs, "hidden": hidden, "scheme": scheme, "negatives": min(r, hidden), "networks": 20_000}

    return st.builds(architecture, st.integers(2, 4), st.integers(0, 4), st.sampled_from(schemes), st.integers(0, 8))


_KAIMING = {"inputs": 2, "hidden": 10, "scheme": "kaiming_normal", "negatives": 10, "networks": 20_000}

VARIANTS = {
    "ratio_inverted": Variant(
        "p = P(F > D s₂/s₁)",
        predict=lambda instance: _predicted(instance, _inverted(instance)),
        instances=lambda: _architectures(["kaiming_normal"]),
        examples=(_KAIMING,),
    ),
    "locked_iff_balance_positive": Variant(
        "a unit is locked iff c > 0",
        predict=lambda instance: _predicted(instance, 1 - _locked(instance)),
        examples=(_KAIMING,),
    ),
    "any_lock_obstructs": Variant(
        "a target is out of reach as soon as one unit is locked",
        predict=lambda instance: _predicted(
            instance, _locked(instance), lambda p, units, r: theory.obstruction.some_locked_probability(p, units)
        ),
        examples=(_KAIMING,),
    ),
}
