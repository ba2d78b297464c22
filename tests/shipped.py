"""What the prover says of the shipped instances, without measuring: claims, certificates, the result that would be saved."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lakatos.checker import check_certificate
from lakatos.core import Prediction, Undecided, Verdict
from lakatos.instance import read_instance
from lakatos.judge import judge
from lakatos.results import results_to_json
from lakatos.theorems import NAMES

INSTANCES = Path(__file__).parents[1] / "instances"
FILES = tuple(sorted(INSTANCES.rglob("*.toml")))
SMALL = 3000  # bytes; larger instances make slow tests of what small ones show as well


@dataclass(frozen=True)
class Shipped:
    """An instance whose theorem applies to it, with what is proved of it.

    Parameters
    ----------
    facts : dict
        What the certificates establish, by quantity.
    result : dict
        The document that `lakatos verify --json` would write, but for what is measured.
    """

    path: Path
    theorem: str
    fields: dict[str, Any]
    prediction: Prediction
    facts: dict[str, Any]
    result: dict[str, Any]

    @property
    def certificates(self) -> list[dict[str, Any]]:
        """The certificates as they are written to files."""
        return [certificate.to_json() for certificate in self.prediction.certificates]


def label(path: Path) -> str:
    """Return the path as it is shown in test names."""
    return path.relative_to(INSTANCES).with_suffix("").as_posix()


@cache
def small_files() -> tuple[Path, ...]:
    """Return the small ones of the shipped files whose theorem is registered."""
    small = [path for path in FILES if path.stat().st_size < SMALL]
    return tuple(path for path in small if tomllib.loads(path.read_text("utf-8"))["theorem"] in NAMES)


@cache
def shipped(path: Path) -> Shipped | None:
    """Return what is proved of the instance at `path`; None where its theorem does not apply or the prover gives up."""
    if tomllib.loads(path.read_text("utf-8")).get("expect", "proved") not in ("proved", "supported"):
        return None
    file = read_instance(path)
    theorem, instance = file.theorem, file.instance
    try:
        derivation = None if theorem.derive is None else theorem.derive(instance)
        prediction = theorem.predict(instance)
    except Undecided:
        return None
    facts: dict[str, Any] = {}
    for certificate in prediction.certificates:
        facts |= check_certificate(file.fields, certificate.to_json())
    judgment = judge((), prediction.claims, derivation=derivation, established=facts)
    verdict = Verdict(
        theorem.name,
        judgment.outcome,
        judgment.evidence,
        derivation=derivation,
        claims=judgment.claims,
        certificates=prediction.certificates,
        fields=file.fields,
        instance=path.name,
        provenance={"instance_sha256": file.sha256},
    )
    return Shipped(path, theorem.name, file.fields, prediction, facts, results_to_json([verdict]))


@cache
def with_certificates() -> tuple[Shipped, ...]:
    """Return the small instances of which something is proved by certificates."""
    found = (shipped(path) for path in small_files())
    return tuple(proved for proved in found if proved is not None and proved.facts)
