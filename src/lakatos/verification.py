"""The pipeline from an instance to a verdict.

::

    instance ─► hypotheses ─► derive ─► predict ─► certificates ─► checked facts ─┐
        └─────────────────────────────► measure ──────────────────────────────────┴─► judge ─► Verdict

A prediction and a measurement are made by two functions of the instance; neither is given what the other returned.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from . import __version__
from .checker import Invalid, check_certificate
from .core import (
    Certificate,
    Claim,
    Derivation,
    Evidence,
    InputError,
    InternalError,
    Measurement,
    Outcome,
    Reason,
    Theorem,
    Undecided,
    Value,
    Variant,
    Verdict,
)
from .instance import InstanceFile, build_instance, plain_fields, read_instance, require_variant
from .judge import judge
from .theorems import load

__all__ = ["lost_verdict", "require_device", "verify", "verify_file", "verify_instance"]

T = TypeVar("T")

_LARGEST_SEED = (1 << 63) - 1
_PACKAGES = ("numpy", "scipy", "sympy", "torch")


def verify(
    theorem: str | Theorem, *, seed: int = 0, device: str = "cpu", variant: str | None = None, **fields: Any
) -> Verdict:
    """Return the verdict for `theorem` on the instance with these `fields`.

    Parameters
    ----------
    theorem : str or Theorem
        A name that `lakatos list` shows, or ``package.module`` of an installed plug-in.
    seed : int
        Of the measurement.
    device : str
        Where to measure: ``cpu``, ``cuda`` or ``cuda:N``.
    variant : str, optional
        A registered false variant to verify in place of the theorem.
    **fields
        As in the table ``[instance]`` of an instance file; also fractions, floats (their exact value) and arrays.

    Raises
    ------
    InputError
        For an unknown theorem, variant or device, and for fields that do not make an instance.
    InternalError
        For a certificate that does not check, and whatever else is our mistake.

    Examples
    --------
    >>> from lakatos import verify
    >>> verdict = verify(
    ...     "invariant_set_connected_iff_no_weight_frozen", edges=[["x", "v"], ["v", "y"]], balance={"v": 1}
    ... )
    >>> verdict.outcome, [row.claim.value for row in verdict.claims if row.claim.quantity == "log2_components"]
    (<Outcome.PROVED: 'proved'>, [1])
    """
    loaded = load(theorem) if isinstance(theorem, str) else theorem
    instance = build_instance(loaded.instance_class, fields)
    return verify_instance(loaded, instance, seed=seed, device=device, variant=variant)


def verify_file(path: str | PathLike[str], *, seed: int | None = None, device: str = "cpu") -> Verdict:
    """Return the verdict for the instance file at `path`; without `seed`, with the seed that the file gives.

    Raises
    ------
    InputError
        Naming file and field; also for an unknown device.
    InternalError
        As `verify`.
    """
    file = read_instance(Path(path))
    used = file.seed if seed is None else seed
    verdict = verify_instance(file.theorem, file.instance, seed=used, device=device, variant=file.variant)
    return _of_file(verdict, file)


def verify_instance(
    theorem: Theorem, instance: Any, *, seed: int = 0, device: str = "cpu", variant: str | None = None
) -> Verdict:
    """Return the verdict for `theorem`, or the false `variant` of it that has this name, on an instance of its class.

    Raises
    ------
    InputError
        For an unknown variant or device or a seed out of range.
    InternalError
        As `verify`.
    """
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed <= _LARGEST_SEED:
        raise InputError(f"seed={seed!r}: a seed is an integer between 0 and 2^63 - 1")
    require_device(device)
    require_variant(theorem, variant)
    began = time.perf_counter()
    fields = plain_fields(instance)
    statement = theorem if variant is None else _varied(theorem, theorem.variants[variant])
    evaluated = _attempt("check of the hypotheses", statement.hypotheses, instance)
    hypotheses = () if isinstance(evaluated, Undecided) else evaluated
    if isinstance(evaluated, Undecided):
        predicted = _Predicted(claims=evaluated)
    elif all(hypothesis.met for hypothesis in hypotheses):
        predicted = _predicted(statement, instance, fields)
    else:
        predicted = _Predicted()
    measurement = _measured(statement, instance, seed, device) if predicted.is_open else None
    judgment = judge(
        hypotheses,
        predicted.claims,
        derivation=predicted.derivation,
        established=predicted.established,
        measurement=measurement,
    )
    return Verdict(
        theorem=theorem.name,
        outcome=judgment.outcome,
        evidence=judgment.evidence,
        variant=variant,
        reason=judgment.reason,
        explanation=judgment.explanation,
        hypotheses=hypotheses,
        derivation=predicted.derivation if isinstance(predicted.derivation, Derivation) else None,
        claims=judgment.claims,
        certificates=predicted.certificates,
        fields=fields,
        seconds=time.perf_counter() - began,
        provenance=_provenance(seed, device, _sha256_of_fields(fields)),
    )


def lost_verdict(path: str | PathLike[str], reason: Reason, explanation: str, seconds: float) -> Verdict:
    """Return the inconclusive verdict for the instance file at `path`, whose verification was cut short.

    Parameters
    ----------
    reason, explanation : Reason, str
        Why, for programs and for people.
    seconds : float
        For how long it had run.

    Raises
    ------
    InputError
        If the file cannot be read.
    """
    file = read_instance(Path(path))
    verdict = Verdict(
        theorem=file.theorem.name,
        outcome=Outcome.INCONCLUSIVE,
        evidence=Evidence.HEURISTIC,
        variant=file.variant,
        reason=reason.value,
        explanation=explanation,
        seconds=seconds,
        fields=file.fields,
        provenance=_provenance(file.seed, "cpu", file.sha256),
    )
    return _of_file(verdict, file)


def require_device(device: str) -> None:
    """Raise InputError unless measurements can run on `device`."""
    if device == "cpu":
        return
    match = re.fullmatch(r"cuda(?::([0-9]{1,4}))?", device) if isinstance(device, str) else None
    if match is None:
        raise InputError(f"device={device!r}: unknown; choose 'cpu', 'cuda' or 'cuda:N'")
    import torch

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    if int(match[1] or 0) >= count:
        raise InputError(f"device={device!r}: not available, PyTorch sees {count} CUDA devices here; choose 'cpu'")


@dataclass(frozen=True)
class _Predicted:
    """What the theorem says about the instance, as far as it came, with the facts of its checked certificates."""

    derivation: Derivation | Undecided | None = None
    claims: tuple[Claim, ...] | Undecided = ()
    certificates: tuple[Certificate, ...] = ()
    established: Mapping[str, Value] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        """Whether there are claims to measure; there are none after a refuted derivation or a step that gave up."""
        return not isinstance(self.claims, Undecided) and bool(self.claims)


def _varied(theorem: Theorem, variant: Variant) -> Theorem:
    """Return `theorem` with the functions that `variant` overrides; what is measured is never one of them."""
    return replace(
        theorem,
        predict=variant.predict or theorem.predict,
        hypotheses=variant.hypotheses or theorem.hypotheses,
        derive=variant.derive or theorem.derive,
    )


def _predicted(theorem: Theorem, instance: Any, fields: Mapping[str, Any]) -> _Predicted:
    derivation = None if theorem.derive is None else _attempt("derivation", theorem.derive, instance)
    if isinstance(derivation, Derivation) and derivation.residual != "0":
        return _Predicted(derivation)
    prediction = _attempt("prediction", theorem.predict, instance)
    if isinstance(prediction, Undecided):
        return _Predicted(derivation, prediction)
    facts = _attempt("check of the certificates", _established, fields, prediction.certificates)
    if isinstance(facts, Undecided):
        return _Predicted(derivation, facts)
    return _Predicted(derivation, prediction.claims, prediction.certificates, facts)


def _measured(theorem: Theorem, instance: Any, seed: int, device: str) -> Measurement | Undecided:
    """Measure, from the instance alone: there is no argument through which a prediction could come in."""
    return _attempt("measurement", theorem.measure, instance, seed, device)


def _established(fields: Mapping[str, Any], certificates: tuple[Certificate, ...]) -> dict[str, Value]:
    """Return the facts of all certificates; one that does not check is a defect of this program, never a verdict."""
    facts: dict[str, Value] = {}
    for certificate in certificates:
        try:
            found = check_certificate(fields, certificate.to_json())
        except Invalid as error:
            raise InternalError(f"a certificate of kind {certificate.kind!r} does not check: {error}") from error
        for quantity, fact in found.items():
            if facts.setdefault(quantity, fact) != fact:
                raise InternalError(f"certificates establish {quantity} = {facts[quantity]!r} and = {fact!r}")
    return facts


def _attempt(step: str, function: Callable[..., T], *arguments: Any) -> T | Undecided:
    """Return what `function` returns, or why it gave up."""
    try:
        return function(*arguments)
    except Undecided as error:
        # A new exception, since the old one holds on to the frames it passed through and to all their data.
        return Undecided(error.reason, error.explanation)
    except MemoryError:
        return Undecided(Reason.MEMORY, f"memory ran out during the {step}")
    except RuntimeError as error:
        # PyTorch reports memory in its own way: a subclass of RuntimeError on a GPU, only a text on the CPU.
        if type(error).__name__ != "OutOfMemoryError" and "DefaultCPUAllocator" not in str(error):
            raise
        return Undecided(Reason.MEMORY, f"memory ran out during the {step} ({str(error).splitlines()[0]})")


def _of_file(verdict: Verdict, file: InstanceFile) -> Verdict:
    """Return `verdict` with what the file says beside its fields, and with the hash of the file itself."""
    provenance = {**verdict.provenance, "instance_sha256": file.sha256, "numbers": file.numbers, "arrays": file.arrays}
    return replace(verdict, instance=str(file.path), title=file.title, expected=file.expect, provenance=provenance)


def _provenance(seed: int, device: str, instance_sha256: str) -> dict[str, Any]:
    return {
        "lakatos": __version__,
        "python": platform.python_version(),
        **{package: _version(package) for package in _PACKAGES},
        "seed": seed,
        "device": device,
        "dtype": "float64",
        "instance_sha256": instance_sha256,
    }


@cache
def _version(package: str) -> str | None:
    """Return the installed version without importing the package, which takes seconds for some."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def _sha256_of_fields(fields: Mapping[str, Any]) -> str:
    """Return the hash of an instance that was never a file: of its fields as compact JSON with sorted keys."""
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
