"""Training for a fixed number of steps deviates from its linearization by at most 1/m in a weakly correlated network.

Hypotheses
----------
The activation is analytic, and the network is m-weakly correlated with m → ∞ in its width: m = n in the NTK parametrization,
m = n² with one hidden layer in the standard one with rate η/n; not in the mean-field one. The number of steps is fixed.
Widths are past the first corrections: 16 or more, 32 or more in the standard parametrization.

Statement
---------
F(θ_s) − F_lin(s) = O(1/m) for every fixed s, at inputs of training and others, with any loss and the discrete linearization;
√η(∇F(θ_s) − ∇F(θ_0)) = O(m^−½); Θ_s − Θ_0 = O(1/m). If only the last layer is trained, F(θ_s) = F_lin(s).

Proof idea
----------
In the certificate of the deviation q = O(m^−½) and Jq = O(1/m), so R = O(1/m); p − p_lin obeys |Δ_{s+1}| ≤ |Δ_s| +
L|F − F_lin| with F − F_lin = −Θ_0(p − p_lin) + O(1/m): Grönwall over the steps.

Source
------
Shem-Ur and Oz (2024), Theorem 3.1, one direction; the rates of kernel and gradient come from the certificate.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from .. import numerics
from ..core import (
    Claim,
    Estimate,
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
from ..numerics.ensemble_fields import EnsembleFields
from ._ensembles import RESOLUTION, SMALL, TEST, TRAIN, analytic, architecture, built, ensembles, estimate

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC09",)
SOURCE = Source(("shemur2024",), Provenance.PAPER, "Theorem 3.1, ⇒, in operational form; proof by the certificate")

ROUNDING = 1e-9  # of the outputs, over the steps
KERNEL, GRADIENT = "exponent of the drift of the kernel", "exponent of the drift of √η ∇F"
EXACT = "largest |F − F_lin| over largest |F|"
_LEAST_WIDTHS = {"ntk": 16, "standard": 32}  # from 16 on slopes in the latter are shallower by a quarter
_POWERS = {"ntk": Fraction(1), "standard": Fraction(2), "mean_field": Fraction(0)}


@dataclass(frozen=True)
class Instance(EnsembleFields):
    """An ensemble of networks and its training by full-batch descent, or on batches.

    Parameters
    ----------
    steps : int
        The same for all widths.
    batch : int, optional
        Of the four inputs of training, drawn anew in each step.
    loss : str
        ``squared`` or ``logistic``.
    trained : str
        ``all`` layers or the ``last``: a model linear in its parameters.
    """

    steps: int = 20
    batch: int | None = None
    loss: Literal["squared", "logistic"] = "squared"
    trained: Literal["all", "last"] = "all"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1:
            raise InputError(f"steps={self.steps!r}: at least one is needed")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (analytic(instance), _correlated(instance), _wide(instance))


def _correlated(instance: Instance) -> Hypothesis:
    grows = _POWERS[instance.parametrization] > 0 and instance.has_one_input_exponent
    return Hypothesis("m grows with a known power of the width", grows, built(instance))


def _wide(instance: Instance) -> Hypothesis:
    least = 1 if instance.trained == "last" else _LEAST_WIDTHS.get(instance.parametrization, 1)
    how = f"widths from {instance.widths[0]} on, of {least} or more"
    return Hypothesis("widths are past the first corrections", instance.widths[0] >= least, how)


def predict(instance: Instance) -> Prediction:
    return _claims(instance, _POWERS[instance.parametrization])


def _claims(instance: Instance, power: Fraction, kernel: Callable[[Fraction], Claim] | None = None) -> Prediction:
    if instance.trained == "last":
        return Prediction((Claim(EXACT, Relation.EQUAL, 0, ROUNDING),))

    def at_most(quantity: str, value: Fraction) -> Claim:
        return Claim(quantity, Relation.AT_MOST, value, RESOLUTION)

    drift = kernel(power) if kernel else at_most(KERNEL, -power)
    return Prediction((at_most(TRAIN, -power), at_most(TEST, -power), drift, at_most(GRADIENT, -power / 2)))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Train all networks of every width beside their linearizations, in one batch for each width."""
    exponents = numerics.linearization_exponents

    def schedule(n: int) -> numerics.linearized_training.Schedule:
        return numerics.linearized_training.Schedule(
            float(instance.rate) * architecture(instance, n).rate_factor,
            instance.steps,
            batch=instance.batch,
            loss=instance.loss,
            trained=instance.trained,
        )

    ensemble = exponents.Ensemble(partial(architecture, instance), instance.widths, instance.networks)
    if instance.trained == "last":
        ratios = []
        for n in instance.widths:
            runs = exponents.sphere_runs(ensemble, n, schedule(n), seed, device=device)
            ratios.append(float(runs.deviation.abs().max() / runs.outputs.abs().max()))
        largest = Estimate(max(ratios), 1e-13 * instance.steps, "both trained, in floating point")
        return Measurement({EXACT: largest})
    laws = exponents.deviation_laws(ensemble, schedule, seed, drifts=True, device=device)
    named = {TRAIN: "train", TEST: "test", KERNEL: "kernel", GRADIENT: "gradient"}
    estimates = {quantity: estimate(laws[name]) for quantity, name in named.items()}
    return Measurement(estimates, MeasurementKind.STATISTICAL, false_alarm_rate=4e-3)


def instances() -> SearchStrategy[Fields]:
    # In the standard parametrization tails are heavy: as many networks as one can draw here leave most exponents undecided.
    return _ensembles({"activation": ["tanh", "sin", "erf"], "networks": [400]})


def _ensembles(choices: dict[str, list[Any]]) -> SearchStrategy[Fields]:
    return ensembles({"steps": [5, 10], **choices})


_SMALL = {**SMALL, "steps": 10}

VARIANTS = {
    "wide_is_linear_whatever_gamma": Variant(
        "1/n in the mean-field parametrization too",
        predict=lambda instance: _claims(instance, Fraction(1)),
        hypotheses=lambda instance: (analytic(instance),),
        instances=lambda: _ensembles({"parametrization": ["mean_field"]}),
        examples=({**_SMALL, "parametrization": "mean_field"},),
    ),
    "kinks_do_not_matter": Variant(
        "1/n for ReLU",
        hypotheses=lambda instance: (_correlated(instance),),
        instances=lambda: _ensembles({"activation": ["relu"]}),
        examples=({**_SMALL, "activation": "relu"},),
    ),
    "kernel_drifts_like_its_gradients": Variant(
        "the kernel drifts as m^−½",
        predict=lambda instance: _claims(
            instance, _POWERS[instance.parametrization], lambda m: Claim(KERNEL, Relation.EQUAL, -m / 2, RESOLUTION)
        ),
        examples=(_SMALL,),
    ),
    "mean_square_for_root_mean_square": Variant(
        "the exponent of the mean square, 2, for that of F − F_lin",
        predict=lambda instance: _claims(instance, 2 * _POWERS[instance.parametrization]),
        examples=(_SMALL,),
    ),
}
