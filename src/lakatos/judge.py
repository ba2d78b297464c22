"""From what was predicted, established and measured to an outcome. Pure functions; no mathematics, no input or output.

Every comparison is written so that NaN fails it, and all finite numbers are compared as fractions, so that judging adds no
rounding of its own.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType
from typing import TypeAlias, TypeGuard

from .core import (
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InternalError,
    Judged,
    Measurement,
    MeasurementKind,
    Outcome,
    Reason,
    Relation,
    Undecided,
    Value,
)

__all__ = ["Judgment", "agreement", "closeness", "contradictions", "judge"]

Number: TypeAlias = int | Fraction | float

_NO_FACTS: Mapping[str, Value] = MappingProxyType({})


@dataclass(frozen=True)
class Judgment:
    """An outcome with its grounds: `reason` and `explanation` as in `lakatos.core.Verdict`."""

    outcome: Outcome
    evidence: Evidence
    reason: str = ""
    explanation: str = ""
    claims: tuple[Judged, ...] = ()


def judge(
    hypotheses: Sequence[Hypothesis],
    claims: Sequence[Claim] | Undecided,
    *,
    derivation: Derivation | Undecided | None = None,
    established: Mapping[str, Value] = _NO_FACTS,
    measurement: Measurement | Undecided | None = None,
) -> Judgment:
    """Return the outcome for one theorem on one instance.

    Where a step gave up, its `Undecided` takes the place of what it would have returned.

    Parameters
    ----------
    hypotheses : sequence of Hypothesis
        One that is not met makes the theorem inapplicable, whatever else is known.
    claims : sequence of Claim
        What the theorem predicts; not empty.
    derivation : Derivation, optional
        A residual other than ``"0"`` refutes; otherwise the quantities it settles are established.
    established : mapping from quantity to exact value
        Facts of certificates that were checked. A claim is established if its quantity is there and agrees.
    measurement : Measurement, optional
        What was measured; heuristic evidence can support a claim, but never contradict it.

    Raises
    ------
    InternalError
        If there are no claims, a claim or an estimate is malformed, or a quantity was measured or settled that no claim
        mentions.
    """
    if unmet := [hypothesis for hypothesis in hypotheses if not hypothesis.met]:
        explanation = "; ".join(f"not met: {hypothesis.name} ({hypothesis.how})" for hypothesis in unmet)
        return Judgment(Outcome.INAPPLICABLE, Evidence.EXACT, unmet[0].name, explanation)
    if isinstance(derivation, Derivation) and derivation.residual != "0":
        explanation = f"{derivation.identity} leaves the residual {derivation.residual}"
        return Judgment(Outcome.REFUTED, Evidence.EXACT, derivation.identity, explanation)
    if isinstance(claims, Undecided):
        return _inconclusive(claims, measurement)
    settled = derivation.settles if isinstance(derivation, Derivation) else ()
    _require_sound(claims, settled, measurement)

    by_fact = [_agreement_with_facts(claim, settled, established) for claim in claims]
    rows = tuple(_judged(c, fact, measurement) for c, fact in zip(claims, by_fact, strict=True))
    if False in by_fact:
        claim = claims[by_fact.index(False)]
        fact = _shown(established[claim.quantity])
        explanation = f"{_predicted(claim)}, but a certificate establishes {fact}"
        return Judgment(Outcome.REFUTED, Evidence.EXACT, claim.quantity, explanation, rows)
    if contradicted := [row for row in rows if row.agrees is False]:
        claim, estimate = contradicted[0].claim, contradicted[0].estimate
        explanation = f"{_predicted(claim)}, but {_measured(estimate)}"
        return Judgment(Outcome.REFUTED, _evidence(measurement), claim.quantity, explanation, rows)
    if all(row.established for row in rows):
        return Judgment(Outcome.PROVED, Evidence.EXACT, claims=rows)
    if all(row.established or row.agrees for row in rows):
        return Judgment(Outcome.SUPPORTED, _evidence(measurement), claims=rows)
    row = next(row for row in rows if not (row.established or row.agrees))
    return replace(_inconclusive(_why_open(row, derivation, measurement), measurement), claims=rows)


def agreement(claim: Claim, estimate: Estimate) -> bool | None:
    """Return whether `estimate` agrees with `claim` (True), contradicts it (False), or decides nothing (None).

    With d the distance of the measured value from satisfying the relation: contradicted iff d > resolution + error; agrees
    iff d <= resolution and error <= resolution. Tuples are compared entry by entry. Unequal discrete values, tuples of
    different lengths and a value in place of None are infinitely far apart. A measured infinity may be an
    overflow: it counts only under ``=`` and with error 0, as the name of a value that equals itself and nothing else.
    """
    resolution, error = Fraction(claim.resolution), _exact(estimate.error)
    distances = list(_distances(claim.relation, claim.value, estimate))
    if any(d > resolution + error for d in distances):
        return False
    if error <= resolution and all(d <= resolution for d in distances):
        return True
    return None


def closeness(claim: Claim, estimate: Estimate) -> float | None:
    """Return how close `estimate` is to contradicting `claim`, in [-1, 1]: a search for counterexamples climbs it.

    It is the signed distance from satisfying the relation relative to the numbers compared, the largest over the entries.
    None where nothing lies between agreement and contradiction: for discrete values, and without finite numbers.
    """
    if isinstance(claim.value, tuple) and isinstance(estimate.value, tuple):
        pairs = zip(claim.value, estimate.value, strict=False)
        scores = [closeness(replace(claim, value=p), replace(estimate, value=m)) for p, m in pairs]
        return max((score for score in scores if score is not None), default=None)
    if not (_is_number(claim.value) and _is_number(estimate.value)):
        return None
    if claim.relation is Relation.EQUAL and not (claim.resolution or estimate.error):
        return None
    p, m, slack = _exact(claim.value), _exact(estimate.value), _exact(claim.resolution + estimate.error)
    if not (isinstance(p, Fraction) and isinstance(m, Fraction) and isinstance(slack, Fraction)):
        return None
    excess = {Relation.EQUAL: abs(m - p), Relation.AT_MOST: m - p, Relation.AT_LEAST: p - m}[claim.relation]
    scale = abs(p) + abs(m) + slack
    return float((excess - slack) / scale) if scale else None


def contradictions(claim: Claim, estimate: Estimate) -> tuple[Claim, ...]:
    """Return claims of the same quantity, relation and resolution that `estimate` contradicts.

    They are the negative control of a theorem: `claim` moved beyond what was measured, in every direction that contradicts
    it, one entry at a time. Empty if nothing could contradict it, i.e. for an infinite error or a value NaN.
    """
    error = _exact(estimate.error)
    if not isinstance(error, Fraction):
        return ()
    reach = 2 * (Fraction(claim.resolution) + error) + 1
    return tuple(replace(claim, value=value) for value in _moved(claim.relation, estimate.value, reach))


def _agreement_with_facts(claim: Claim, settled: Sequence[str], established: Mapping[str, Value]) -> bool | None:
    if claim.quantity in established:
        return agreement(claim, Estimate(established[claim.quantity]))
    return True if claim.quantity in settled else None


def _judged(claim: Claim, by_fact: bool | None, measurement: Measurement | Undecided | None) -> Judged:
    estimate = measurement.estimates.get(claim.quantity) if isinstance(measurement, Measurement) else None
    agrees = None if estimate is None else agreement(claim, estimate)
    if agrees is False and _evidence(measurement) is Evidence.HEURISTIC:
        agrees = None
    return Judged(claim, estimate, by_fact is True, False if by_fact is False else agrees)


def _evidence(measurement: Measurement | Undecided | None) -> Evidence:
    """Return how strong a measurement is; without one there is nothing to rest on, which is the weakest of all."""
    if not isinstance(measurement, Measurement):
        return Evidence.HEURISTIC
    if measurement.kind is MeasurementKind.STATISTICAL and measurement.evidence is not Evidence.HEURISTIC:
        return Evidence.STATISTICAL
    return measurement.evidence


def _inconclusive(why: Undecided, measurement: Measurement | Undecided | None) -> Judgment:
    return Judgment(Outcome.INCONCLUSIVE, _evidence(measurement), why.reason.value, why.explanation)


def _why_open(
    row: Judged, derivation: Derivation | Undecided | None, measurement: Measurement | Undecided | None
) -> Undecided:
    """Return why a claim is neither established nor in agreement nor contradicted."""
    claim, estimate = row.claim, row.estimate
    if estimate is None:
        gave_up = [step for step in (measurement, derivation) if isinstance(step, Undecided)]
        missing = Undecided(Reason.INCOMPLETE_METHOD, f"{claim.quantity} was neither established nor measured")
        return gave_up[0] if gave_up else missing
    stated = f"{_predicted(claim)}; {_measured(estimate)}"
    evidence = _evidence(measurement)
    if evidence is Evidence.HEURISTIC:
        return Undecided(Reason.INCOMPLETE_METHOD, f"{stated}, by a heuristic that cannot contradict it")
    distance = max(_distances(claim.relation, claim.value, estimate), key=lambda d: math.inf if d != d else d)
    if not distance < math.inf:
        return Undecided(Reason.PRECISION, f"{stated}: not comparable, a finite value with a finite error is needed")
    reason = Reason.SAMPLING if evidence is Evidence.STATISTICAL else Reason.PRECISION
    if distance <= claim.resolution:
        return Undecided(reason, f"{stated}: an error of at most {claim.resolution:.3g} is needed")
    needed = min(distance - Fraction(claim.resolution), Fraction(sys.float_info.max))
    return Undecided(reason, f"{stated}: an error below {float(needed):.3g} is needed")


def _distances(relation: Relation, predicted: Value, estimate: Estimate) -> Iterator[Fraction | float]:
    """Yield for every entry how far it is from satisfying the relation: NaN where that is not decided."""
    measured = estimate.value
    if isinstance(predicted, tuple) and isinstance(measured, tuple) and len(predicted) == len(measured) > 0:
        for p, m in zip(predicted, measured, strict=True):
            yield from _distances(relation, p, replace(estimate, value=m))
    elif _is_number(predicted) and _is_number(measured):
        yield _numeric_distance(relation, predicted, measured, estimate.error)
    elif relation is Relation.EQUAL and (predicted is None or measured is None or type(predicted) is type(measured)):
        yield Fraction(0) if predicted == measured else math.inf
    elif predicted is None or measured is None:
        yield math.nan
    else:
        raise InternalError(f"predicted {predicted!r} and measured {measured!r} cannot be compared under {relation!s}")


def _numeric_distance(relation: Relation, predicted: Number, measured: Number, error: float) -> Fraction | float:
    p, m = _exact(predicted), _exact(measured)
    if isinstance(p, Fraction) and isinstance(m, Fraction):
        excess = m - p
        signed = {Relation.EQUAL: abs(excess), Relation.AT_MOST: excess, Relation.AT_LEAST: -excess}[relation]
        return max(signed, Fraction(0))
    if math.isinf(m) and (error != 0 or relation is not Relation.EQUAL):
        return math.nan
    if p == m:
        return Fraction(0)
    # Both orders are written out: for NaN neither holds.
    above, below = m > p, m < p
    violated = {Relation.EQUAL: above or below, Relation.AT_MOST: above, Relation.AT_LEAST: below}[relation]
    return math.inf if violated else math.nan


def _moved(relation: Relation, measured: Value, reach: Fraction) -> Iterator[Value]:
    if _is_number(measured):
        center = _exact(measured)
        if isinstance(center, Fraction):
            if relation is not Relation.AT_MOST:
                yield center + reach
            if relation is not Relation.AT_LEAST:
                yield center - reach
        elif math.isinf(center) and relation is Relation.EQUAL:
            yield Fraction(0)
    elif isinstance(measured, tuple):
        for i, entry in enumerate(measured):
            yield from ((*measured[:i], value, *measured[i + 1 :]) for value in _moved(relation, entry, reach))
        if relation is Relation.EQUAL:
            yield (*measured, None)
    elif relation is Relation.EQUAL:
        if isinstance(measured, bool):
            yield not measured
        else:
            yield f"not {measured}" if isinstance(measured, str) else Fraction(0)


def _require_sound(
    claims: Sequence[Claim], settled: Sequence[str], measurement: Measurement | Undecided | None
) -> None:
    if not claims:
        raise InternalError("the prediction has no claims")
    estimates = measurement.estimates if isinstance(measurement, Measurement) else {}
    claimed = {claim.quantity for claim in claims}
    if stray := sorted({*estimates, *settled} - claimed):
        raise InternalError(f"measured or settled, but claimed by no one: {stray!r}; claimed are {sorted(claimed)!r}")
    for claim in claims:
        if not 0 <= claim.resolution < math.inf:
            raise InternalError(f"{claim.quantity}: resolution={claim.resolution!r} is not a finite number >= 0")
    for quantity, estimate in estimates.items():
        if estimate.error < 0:
            raise InternalError(f"{quantity}: error={estimate.error!r} is negative")


def _is_number(value: Value) -> TypeGuard[Number]:
    return isinstance(value, (int, float, Fraction)) and not isinstance(value, bool)


def _exact(value: Number) -> Fraction | float:
    """Return a finite number as a fraction; infinities and NaN as they are."""
    return value if isinstance(value, float) and not math.isfinite(value) else Fraction(value)


def _predicted(claim: Claim) -> str:
    within = f" within {claim.resolution:.3g}" if claim.resolution else ""
    return f"{claim.quantity} {claim.relation} {_shown(claim.value)} is predicted{within}"


def _measured(estimate: Estimate | None) -> str:
    assert estimate is not None  # only estimates contradict or stay open
    error = f" ± {estimate.error:.3g}" if estimate.error else ""
    return f"{_shown(estimate.value)}{error} is measured"


def _shown(value: Value) -> str:
    if isinstance(value, tuple):
        return f"({', '.join(map(_shown, value))})"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
