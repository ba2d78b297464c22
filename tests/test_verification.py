"""The pipeline, on small theorems about one network that end in every way there is."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from lakatos import verification
from lakatos.core import (
    Certificate,
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    InternalError,
    Measurement,
    Outcome,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Theorem,
    Undecided,
    Variant,
)
from lakatos.graphs.fields import NetworkFields
from lakatos.verification import lost_verdict, require_device, verify, verify_file, verify_instance

CHAIN: dict[str, Any] = {"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 1}}
POINT = Certificate("invariant_set_point", {"squares": {"0": "1"}})
FEASIBLE = Claim("feasible", Relation.EQUAL, True)
FIRST_WEIGHT = Claim("first_weight", Relation.AT_LEAST, Fraction(1), resolution=0.25)
FILE = """
theorem = "invariant_set_connected_iff_no_weight_frozen"
title   = "a chain"
expect  = "proved"
seed    = 7

[instance]
edges   = [["x", "v"], ["v", "y"]]
balance = { v = 1 }
"""


def theorem(
    *claims: Claim,
    certificates: tuple[Certificate, ...] = (),
    met: bool = True,
    derivation: Derivation | None = None,
    **estimates: Estimate,
) -> Theorem:
    """A theorem about networks that claims, derives and measures what it is told to."""
    return Theorem(
        name="toy",
        family="invariant_sets",
        ids=("T1",),
        doc="A toy.",
        source=Source(("nurisso2026",), Provenance.OURS),
        instance_class=NetworkFields,
        hypotheses=lambda instance: (Hypothesis("toy hypothesis", met, "declared"),),
        predict=lambda instance: Prediction(claims, certificates),
        measure=lambda instance, seed, device: Measurement(estimates),
        derive=None if derivation is None else lambda instance: derivation,
    )


def raising(error: Exception) -> Callable[..., Any]:
    def function(*arguments: Any) -> Any:
        raise error

    return function


# Outcomes ------------------------------------------------------------------------------------------------------------


def test_checked_certificate_proves() -> None:
    verdict = verify(theorem(FEASIBLE, certificates=(POINT,), feasible=Estimate(True)), **CHAIN)
    assert (verdict.outcome, verdict.evidence) == (Outcome.PROVED, Evidence.EXACT)
    assert verdict.certificates == (POINT,)
    assert verdict.claims[0].established
    assert verdict.claims[0].agrees


def test_measurement_that_gives_up_leaves_the_proof_standing() -> None:
    statement = theorem(FEASIBLE, certificates=(POINT,))
    for error in (Undecided(Reason.TIMEOUT, "60 s"), MemoryError()):
        verdict = verify(replace(statement, measure=raising(error)), **CHAIN)
        assert verdict.outcome is Outcome.PROVED
        assert verdict.claims[0].estimate is None
        assert verdict.claims[0].agrees is None


def test_derivation_proves_what_it_settles() -> None:
    derivation = Derivation("Bu = c", "0", settles=("first_weight",))
    verdict = verify(theorem(FIRST_WEIGHT, derivation=derivation), **CHAIN)
    assert (verdict.outcome, verdict.derivation) == (Outcome.PROVED, derivation)


def test_agreeing_measurement_supports() -> None:
    verdict = verify(theorem(FIRST_WEIGHT, first_weight=Estimate(0.9, 0.1)), **CHAIN)
    assert (verdict.outcome, verdict.evidence) == (Outcome.SUPPORTED, Evidence.INTERVAL)


def test_fact_refutes() -> None:
    verdict = verify(theorem(replace(FEASIBLE, value=False), certificates=(POINT,)), **CHAIN)
    assert (verdict.outcome, verdict.evidence, verdict.reason) == (Outcome.REFUTED, Evidence.EXACT, "feasible")


def test_measurement_refutes() -> None:
    verdict = verify(theorem(FIRST_WEIGHT, first_weight=Estimate(0.5, 0.1)), **CHAIN)
    assert (verdict.outcome, verdict.evidence, verdict.reason) == (Outcome.REFUTED, Evidence.INTERVAL, "first_weight")


def test_derivation_refutes_and_nothing_else_is_asked() -> None:
    statement = theorem(FEASIBLE, derivation=Derivation("Bu = c", "u_0 - 1"))
    unused = raising(AssertionError("called after the verdict was clear"))
    verdict = verify(replace(statement, predict=unused, measure=unused), **CHAIN)
    assert (verdict.outcome, verdict.evidence, verdict.reason) == (Outcome.REFUTED, Evidence.EXACT, "Bu = c")


def test_unmet_hypothesis_is_named_and_nothing_else_is_asked() -> None:
    unused = raising(AssertionError("called although the theorem does not apply"))
    verdict = verify(replace(theorem(FEASIBLE, met=False), derive=unused, predict=unused, measure=unused), **CHAIN)
    assert (verdict.outcome, verdict.reason) == (Outcome.INAPPLICABLE, "toy hypothesis")
    assert verdict.explanation == "not met: toy hypothesis (declared)"


@pytest.mark.parametrize("estimate", [Estimate(math.nan), Estimate(-math.inf), Estimate(1.0, math.nan)])
def test_nan_and_infinity_are_inconclusive(estimate: Estimate) -> None:
    verdict = verify(theorem(FIRST_WEIGHT, first_weight=estimate), **CHAIN)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, Reason.PRECISION)


class OutOfMemoryError(RuntimeError):
    """As PyTorch calls it."""


@pytest.mark.parametrize("step", ["hypotheses", "derive", "predict", "measure"])
@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (Undecided(Reason.UNSUPPORTED_OP, "sorting"), Reason.UNSUPPORTED_OP),
        (MemoryError(), Reason.MEMORY),
        (OutOfMemoryError("CUDA out of memory"), Reason.MEMORY),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), Reason.MEMORY),
    ],
)
def test_step_that_gives_up_makes_inconclusive(step: str, error: Exception, reason: Reason) -> None:
    overridden: dict[str, Any] = {step: raising(error)}
    statement = replace(theorem(FIRST_WEIGHT), **overridden)
    verdict = verify(statement, **CHAIN)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, reason)
    assert verdict.explanation


# Defects -------------------------------------------------------------------------------------------------------------


def test_invalid_certificate_is_our_defect_never_a_verdict() -> None:
    wrong = Certificate("invariant_set_point", {"squares": {"0": "2"}})
    with pytest.raises(InternalError, match="'invariant_set_point' does not check"):
        verify(theorem(FEASIBLE, certificates=(wrong,)), **CHAIN)


def test_certificates_that_contradict_each_other_are_our_defect(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "check_certificate", lambda fields, data: {"feasible": data["squares"]})
    certificates = (replace(POINT, data={"squares": True}), replace(POINT, data={"squares": False}))
    with pytest.raises(InternalError, match="feasible"):
        verify(theorem(FEASIBLE, certificates=certificates), **CHAIN)


def test_memory_that_runs_out_in_a_check_is_inconclusive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verification, "check_certificate", raising(MemoryError()))
    verdict = verify(theorem(FEASIBLE, certificates=(POINT,), feasible=Estimate(True)), **CHAIN)
    assert (verdict.outcome, verdict.reason) == (Outcome.INCONCLUSIVE, Reason.MEMORY)


def test_prediction_without_claims_is_our_defect() -> None:
    with pytest.raises(InternalError, match="no claims"):
        verify(theorem(), **CHAIN)


def test_measured_quantity_that_no_claim_mentions_is_our_defect() -> None:
    with pytest.raises(InternalError, match="stray"):
        verify(theorem(FEASIBLE, stray=Estimate(1)), **CHAIN)


def test_other_errors_pass_through() -> None:
    with pytest.raises(RuntimeError, match="mat1 and mat2"):
        verify(replace(theorem(FEASIBLE), measure=raising(RuntimeError("mat1 and mat2 shapes differ"))), **CHAIN)


# What surrounds a verdict ----------------------------------------------------------------------------------------------


def test_measurement_gets_instance_seed_and_device_and_nothing_else() -> None:
    calls: list[tuple[Any, ...]] = []

    def measure(*arguments: Any) -> Measurement:
        calls.append(arguments)
        return Measurement({"first_weight": Estimate(2.0)})

    instance = NetworkFields(edges=(("x", "v"), ("v", "y")), balance={"v": Fraction(1)})
    verify_instance(replace(theorem(FIRST_WEIGHT), measure=measure), instance, seed=5)
    assert calls == [(instance, 5, "cpu")]


def test_variant_overrides_prediction_and_hypotheses_and_is_recorded() -> None:
    statement = theorem(FEASIBLE, certificates=(POINT,), met=False)
    variant = Variant(
        "never feasible, whatever the instance",
        predict=lambda instance: Prediction((replace(FEASIBLE, value=False),), (POINT,)),
        hypotheses=lambda instance: (Hypothesis("none", True, "vacuous"),),
    )
    instance = NetworkFields(edges=(("x", "v"), ("v", "y")), balance={"v": Fraction(1)})
    statement = replace(statement, variants={"never": variant})
    verdict = verify_instance(statement, instance, variant="never")
    assert verdict.outcome is Outcome.REFUTED
    assert verdict.variant == "never"
    assert verify_instance(statement, instance).outcome is Outcome.INAPPLICABLE


def test_variant_overrides_the_derivation() -> None:
    statement = theorem(FEASIBLE, certificates=(POINT,), derivation=Derivation("Bu = c", "0"))
    variant = Variant("the other sign", derive=lambda instance: Derivation("Bu = -c", "2*c_v"))
    instance = NetworkFields(edges=(("x", "v"), ("v", "y")), balance={"v": Fraction(1)})
    assert verify_instance(statement, instance).outcome is Outcome.PROVED
    statement = replace(statement, variants={"other_sign": variant})
    assert verify_instance(statement, instance, variant="other_sign").reason == "Bu = -c"
    with pytest.raises(InputError, match="variant='other_sing': not registered; did you mean 'other_sign'"):
        verify_instance(statement, instance, variant="other_sing")


def test_provenance_identifies_the_run() -> None:
    verdict = verify(theorem(FEASIBLE, certificates=(POINT,)), seed=3, **CHAIN)
    assert {"lakatos", "python", "numpy", "torch", "sympy"} <= verdict.provenance.keys()
    assert (verdict.provenance["seed"], verdict.provenance["device"]) == (3, "cpu")
    assert verdict.seconds > 0
    compact = json.dumps(verdict.fields, sort_keys=True, separators=(",", ":"))
    assert verdict.provenance["instance_sha256"] == hashlib.sha256(compact.encode()).hexdigest()
    again = verify(theorem(FEASIBLE, certificates=(POINT,)), **{**CHAIN, "balance": {"v": "1"}})
    assert again.provenance["instance_sha256"] == verdict.provenance["instance_sha256"]


@pytest.mark.parametrize("seed", [-1, 1 << 63, True, 0.5, "0"])
def test_bad_seed_is_refused(seed: Any) -> None:
    with pytest.raises(InputError, match="seed="):
        verify(theorem(FEASIBLE), seed=seed, **CHAIN)


@pytest.mark.parametrize("device", ["gpu", "", "cuda:", "cuda:-1", "CPU", None, "cuda:x"])
def test_unknown_device_is_refused(device: Any) -> None:
    with pytest.raises(InputError, match="unknown"):
        verify(theorem(FEASIBLE), device=device, **CHAIN)


def test_device_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    require_device("cuda")
    require_device("cuda:1")
    with pytest.raises(InputError, match="2 CUDA devices"):
        require_device("cuda:2")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(InputError, match="not available"):
        require_device("cuda")


def test_unknown_theorem_and_unknown_field_are_refused() -> None:
    with pytest.raises(InputError, match="no_such_theorem"):
        verify("no_such_theorem", **CHAIN)
    with pytest.raises(InputError, match="wieghts"):
        verify(theorem(FEASIBLE), wieghts=[1], **CHAIN)


def test_file_gives_title_expectation_and_seed(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text(FILE)
    verdict = verify_file(path)
    assert verdict.outcome is Outcome.PROVED
    assert verdict.as_expected
    assert (verdict.instance, verdict.title, verdict.expected) == (str(path), "a chain", Outcome.PROVED)
    assert verdict.provenance["seed"] == 7
    assert verdict.provenance["numbers"] == "rational"
    assert verdict.provenance["instance_sha256"] == hashlib.sha256(FILE.encode()).hexdigest()
    assert verify_file(path, seed=8).provenance["seed"] == 8


def test_lost_verification_is_inconclusive_with_its_reason(tmp_path: Path) -> None:
    path = tmp_path / "chain.toml"
    path.write_text(FILE)
    verdict = lost_verdict(path, Reason.TIMEOUT, "no answer within 1 s", 1.0)
    assert (verdict.outcome, verdict.reason, verdict.seconds) == (Outcome.INCONCLUSIVE, "timeout", 1.0)
    assert (verdict.instance, verdict.title, verdict.as_expected) == (str(path), "a chain", False)
    assert verdict.fields == verify_file(path).fields
