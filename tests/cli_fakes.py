"""A theorem that ends in whatever its instance says, registered only while a test runs; and the command line in-process."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import pytest

from lakatos import theorems
from lakatos.core import (
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Reason,
    Relation,
    Source,
    Undecided,
    Variant,
)

NAME = "zero_is_zero"
Ending = Literal["proved", "supported", "refuted", "inconclusive", "inapplicable", "bug", "interrupt", "print", "sleep"]


@dataclass(frozen=True)
class Instance:
    ending: Ending


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("it applies", instance.ending != "inapplicable", "by looking at the ending"),)


def derive(instance: Instance) -> Derivation:
    return Derivation("0 = 0", "0", "0 = 0", ("zero",) if instance.ending == "proved" else ())


def predict(_: Instance) -> Prediction:
    return Prediction((Claim("zero", Relation.EQUAL, 0.0, 0.5),))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    match instance.ending:
        case "inconclusive":
            raise Undecided(Reason.SAMPLING, "more samples are needed")
        case "bug":
            raise KeyError("a bug")
        case "interrupt":
            raise KeyboardInterrupt
        case "print":
            print("noise")  # noqa: T201
        case "sleep":
            Path("asleep").touch()
            time.sleep(60)
    return Measurement({"zero": Estimate(7.0 if instance.ending == "refuted" else 0.0, 0.25)})


def module() -> ModuleType:
    made = ModuleType(f"lakatos.theorems.{NAME}", "Zero is zero.\n\nHypotheses\n----------\nIt applies.\n")
    made.__dict__.update(
        FAMILY="invariant_sets",
        IDS=("S0",),
        SOURCE=Source(("nurisso2026",), Provenance.OURS, "made up"),
        Instance=Instance,
        hypotheses=hypotheses,
        derive=derive,
        predict=predict,
        measure=measure,
        VARIANTS={"zero_is_one": Variant("1 instead of 0")},
    )
    return made


def register(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the theorem the only one."""
    monkeypatch.setattr(theorems, "NAMES", (NAME,))
    monkeypatch.setitem(sys.modules, f"lakatos.theorems.{NAME}", module())


def write(folder: Path, name: str, ending: str, **top_level: Any) -> Path:
    """Return the path of an instance file."""
    lines = [f'theorem = "{NAME}"', *(f"{key} = {value!r}" for key, value in top_level.items())]
    path = folder / f"{name}.toml"
    path.write_text("\n".join([*lines, "[instance]", f'ending = "{ending}"', ""]))
    return path
