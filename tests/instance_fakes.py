"""Instance classes with a field of every kind, and theorems that only read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import Any, Literal

import pytest

from lakatos.arrays import Array
from lakatos.core import InputError, Prediction, Provenance, Source, Theorem
from lakatos.graphs.fields import LayeredFields, NetworkFields


class Loss(StrEnum):
    SQUARED = "squared"
    LOGISTIC = "logistic"


@dataclass(frozen=True)
class Step:
    size: Fraction
    count: int = 1


@dataclass(frozen=True)
class Fields:
    """One field of every kind that an instance may have."""

    name: str
    width: int = 3
    bias: bool = False
    rate: Fraction = Fraction(1, 10)
    loss: Loss = Loss.SQUARED
    norm: Literal["l1", "l2"] = "l2"
    bound: Fraction | None = None
    pair: tuple[str, int] = ("a", 1)
    rows: tuple[tuple[Fraction, ...], ...] = ()
    balance: Mapping[str, Fraction] = field(default_factory=dict)
    step: Step | None = None
    steps: tuple[Step, ...] = ()
    edges: tuple[tuple[str, str] | tuple[str, str, Fraction], ...] = ()
    matrix: Array | None = None


@dataclass(frozen=True)
class UnsupportedFields:
    ratio: complex


def fake_theorem(name: str, instance_class: type[Any] = Fields) -> Theorem:
    classes: dict[str, type[Any]] = {"anything": instance_class, "network": NetworkFields, "layered": LayeredFields}
    if name not in classes:
        raise InputError(f"theorem={name!r}: no such theorem")
    return Theorem(
        name=name,
        family="tests",
        ids=(),
        doc="Anything goes.",
        source=Source((), Provenance.OURS),
        instance_class=classes[name],
        hypotheses=lambda instance: (),
        predict=lambda instance: Prediction(()),
        measure=lambda instance, seed, device: pytest.fail("reading measures nothing"),
    )


def write(folder: Path, content: str | bytes, name: str = "i.toml") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path
