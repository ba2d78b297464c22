"""How often a statistical measurement contradicts a claim over many seeds: false alarms where it is true, power where not."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .core import Claim, Evidence, InputError, Measurement, MeasurementKind, Theorem
from .instance import require_variant
from .judge import agreement

__all__ = ["Alarms", "alarms"]


@dataclass(frozen=True)
class Alarms:
    """Contradictions over seeds.

    Parameters
    ----------
    contradicted, trials : int
        Seeds on which a claim was contradicted, of how many.
    declared : float
        The declared false-alarm rate, the largest over the seeds.
    """

    contradicted: int
    trials: int
    declared: float

    @property
    def rate(self) -> float:
        """The observed rate."""
        return self.contradicted / self.trials

    @property
    def p_value(self) -> float:
        """The chance of as many contradictions or more, if each has the declared rate; small means that it is understated."""
        from scipy.stats import binomtest

        return float(binomtest(self.contradicted, self.trials, self.declared, "greater").pvalue)

    def interval(self, confidence: float = 0.99) -> tuple[float, float]:
        """Return the interval of Clopper and Pearson for the true rate."""
        from scipy.stats import binomtest

        low, high = binomtest(self.contradicted, self.trials).proportion_ci(confidence)
        return float(low), float(high)


def alarms(
    theorem: Theorem, instance: Any, seeds: Iterable[int], *, variant: str | None = None, device: str = "cpu"
) -> Alarms | None:
    """Return how often measurements contradict what `theorem`, or a false `variant` of it, claims about `instance`.

    None if the measurement is deterministic: then one seed says it all. Of the theorem the contradictions are false alarms,
    and their share over the seeds is to be at most the declared rate; of a variant they are the power to refute it.

    Parameters
    ----------
    device : str
        Where to measure: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises
    ------
    InputError
        For an unknown variant, or without seeds.
    """
    require_variant(theorem, variant)
    predict = (theorem.variants[variant].predict if variant is not None else None) or theorem.predict
    claims = predict(instance).claims
    contradicted, declared = [], 0.0
    for seed in seeds:
        measurement = theorem.measure(instance, seed, device)
        if measurement.kind is not MeasurementKind.STATISTICAL or measurement.evidence is Evidence.HEURISTIC:
            return None
        declared = max(declared, measurement.false_alarm_rate)
        contradicted.append(any(_contradicts(measurement, claim) for claim in claims))
    if not contradicted:
        raise InputError("seeds=(): at least one is needed")
    return Alarms(sum(contradicted), len(contradicted), declared)


def _contradicts(measurement: Measurement, claim: Claim) -> bool:
    estimate = measurement.estimates.get(claim.quantity)
    return estimate is not None and agreement(claim, estimate) is False
