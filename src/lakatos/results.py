"""Verdicts as JSON and back, and files that are either written completely or not at all.

Exact numbers are strings ``"p/q"``, floats are numbers, infinities are ``"inf"`` and ``"-inf"``; NaN becomes null. Text that
could be taken for one of these strings is written as ``{"text": ...}``.
"""

from __future__ import annotations

import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from typing import Any, TypeAlias

from .core import (
    Certificate,
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    InternalError,
    Judged,
    Outcome,
    Relation,
    Value,
    Verdict,
)

__all__ = [
    "SCHEMA",
    "Json",
    "results_from_json",
    "results_to_json",
    "value_from_json",
    "value_to_json",
    "write_atomically",
]

Json: TypeAlias = "bool | int | float | str | list[Json] | dict[str, Json] | None"

SCHEMA = "lakatos/verdict/1"

_NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?|-?inf")


def results_to_json(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """Return a JSON document with these verdicts, as described by ``schemas/verdict-1.json``."""
    return {"schema": SCHEMA, "verdicts": [_verdict_to_json(verdict) for verdict in verdicts]}


def results_from_json(document: Any) -> tuple[Verdict, ...]:
    """Return the verdicts of a document written by `results_to_json`.

    Raises
    ------
    InputError
        If it is no such document, naming the verdict and the key.
    """
    if not isinstance(document, Mapping) or document.get("schema") != SCHEMA:
        schema = document.get("schema") if isinstance(document, Mapping) else None
        raise InputError(f"schema={schema!r}: not a result; `lakatos verify --json` writes {SCHEMA!r}")
    records = document.get("verdicts")
    if not isinstance(records, list):
        raise InputError(f"verdicts={records!r}: a list is needed")
    verdicts = []
    for i, record in enumerate(records):
        try:
            verdicts.append(_verdict_from_json(record))
        except KeyError as error:
            raise InputError(f"verdicts[{i}]: the key {error} is missing") from None
        except (ArithmeticError, AttributeError, TypeError, ValueError, RecursionError) as error:
            raise InputError(f"verdicts[{i}]: {error}") from None
    return tuple(verdicts)


def value_to_json(value: Value) -> Json:
    """Return `value` as JSON data.

    Raises
    ------
    InternalError
        If it is none of the types of `lakatos.core.Value`.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, (int, Fraction)):
        return str(value)
    if isinstance(value, float):
        return _float_to_json(value)
    if isinstance(value, str):
        return {"text": value} if _NUMBER.fullmatch(value) else value
    if isinstance(value, tuple):
        return [value_to_json(entry) for entry in value]
    raise InternalError(f"{value!r} of type {type(value).__name__} is no value of a claim or estimate")


def value_from_json(data: Json) -> Value:
    """Return the value that `value_to_json` has written as `data`.

    Raises
    ------
    ValueError
        If it has written nothing like that.
    """
    if isinstance(data, list):
        return tuple(value_from_json(entry) for entry in data)
    if isinstance(data, dict):
        if list(data) != ["text"] or not isinstance(data["text"], str):
            raise ValueError(f"value={data!r}: neither a value nor {{'text': ...}}")
        return data["text"]
    if isinstance(data, str) and _NUMBER.fullmatch(data):
        if data.endswith("inf"):
            return float(data)
        return Fraction(data) if "/" in data else int(data)
    return data


def write_atomically(path: str | os.PathLike[str], content: str | bytes) -> None:
    """Write `content` to the file `path`, text as UTF-8: after a crash it holds either the old content or all of the new one.

    Raises
    ------
    InputError
        If the folder is missing or read-only, or `path` is something other than a regular file.
    """
    target = Path(path)
    if target.exists() and not target.is_file():
        raise InputError(f"{target}: exists and is not a regular file; choose another path")
    # A rename is atomic only within one file system, so the new content is first written beside the old.
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        with draft.open("xb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
        reason = error.strerror or str(error)
        raise InputError(f"{target}: cannot be written ({reason}); the folder has to exist and be writable") from error


def _verdict_to_json(verdict: Verdict) -> dict[str, Any]:
    derivation = verdict.derivation
    return {
        "theorem": verdict.theorem,
        "variant": verdict.variant,
        "instance": verdict.instance,
        "title": verdict.title,
        "outcome": verdict.outcome.value,
        "expected": verdict.expected.value if verdict.expected else None,
        "reason": verdict.reason or None,
        "explanation": verdict.explanation,
        "evidence": verdict.evidence.value,
        "hypotheses": [{"name": h.name, "met": h.met, "how": h.how} for h in verdict.hypotheses],
        "derivation": derivation
        and {
            "identity": derivation.identity,
            "residual": derivation.residual,
            "latex": derivation.latex,
            "settles": list(derivation.settles),
        },
        "claims": [_judged_to_json(row) for row in verdict.claims],
        "certificates": [certificate.to_json() for certificate in verdict.certificates],
        "fields": dict(verdict.fields),
        "seconds": verdict.seconds,
        "provenance": dict(verdict.provenance),
    }


def _verdict_from_json(record: Any) -> Verdict:
    derivation = record["derivation"]
    return Verdict(
        theorem=record["theorem"],
        variant=record["variant"],
        instance=record["instance"],
        title=record["title"],
        outcome=Outcome(record["outcome"]),
        expected=None if record["expected"] is None else Outcome(record["expected"]),
        reason=record["reason"] or "",
        explanation=record["explanation"],
        evidence=Evidence(record["evidence"]),
        hypotheses=tuple(Hypothesis(h["name"], h["met"], h["how"]) for h in record["hypotheses"]),
        derivation=None
        if derivation is None
        else Derivation(
            derivation["identity"], derivation["residual"], derivation["latex"], tuple(derivation["settles"])
        ),
        claims=tuple(_judged_from_json(row) for row in record["claims"]),
        certificates=tuple(
            Certificate(data["kind"], {key: data[key] for key in data if key != "kind"})
            for data in record["certificates"]
        ),
        fields=dict(record["fields"]),
        seconds=record["seconds"],
        provenance=dict(record["provenance"]),
    )


def _judged_to_json(row: Judged) -> dict[str, Any]:
    claim, estimate = row.claim, row.estimate
    return {
        "quantity": claim.quantity,
        "relation": claim.relation.value,
        "predicted": value_to_json(claim.value),
        "measured": None if estimate is None else value_to_json(estimate.value),
        "error": None if estimate is None else _float_to_json(estimate.error),
        "resolution": _float_to_json(claim.resolution),
        "agrees": row.agrees,
        "established": row.established,
        "how": "" if estimate is None else estimate.how,
    }


def _judged_from_json(row: Any) -> Judged:
    relation = Relation(row["relation"])
    claim = Claim(row["quantity"], relation, value_from_json(row["predicted"]), float(row["resolution"]))
    estimate = None
    if row["measured"] is not None or row["error"] is not None:
        error = math.nan if row["error"] is None else float(row["error"])
        estimate = Estimate(value_from_json(row["measured"]), error, row["how"])
    return Judged(claim, estimate, row["established"], row["agrees"])


def _float_to_json(value: float) -> float | str | None:
    if math.isnan(value):
        return None
    if math.isinf(value):
        return "inf" if value > 0 else "-inf"
    return float(value)
