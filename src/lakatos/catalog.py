"""What there is: theorems with their families, references and shipped instances."""

from __future__ import annotations

import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import cache
from importlib.metadata import entry_points
from importlib.resources import files
from pathlib import Path
from typing import Any

from . import theorems as registry
from .core import InternalError, Theorem

__all__ = ["Field", "bibtex", "fields_of", "paragraphs", "shipped_instances", "theorems"]

_FAMILIES = ("invariant_sets", "identifiability", "correlations", "conservation")
_ENTRY = re.compile(r"^@\w+\{([^,\s]+),.*?^\}", re.MULTILINE | re.DOTALL)


def theorems() -> dict[str, tuple[Theorem, ...]]:
    """Return all theorems by family, those of installed plug-ins included; families of plug-ins come last."""
    plug_ins = sorted(point.name for point in entry_points(group="lakatos.theorems"))
    by_family: dict[str, list[Theorem]] = {family: [] for family in _FAMILIES}
    for name in (*registry.NAMES, *plug_ins):
        theorem = registry.load(name)
        by_family.setdefault(theorem.family, []).append(theorem)
    return {family: tuple(members) for family, members in by_family.items() if members}


@cache
def shipped_instances() -> Mapping[str, tuple[Path, ...]]:
    """Return the instance files by theorem, from the folder ``instances`` of the source tree or the current folder.

    Instances belong to the source distribution, not to the installed package: without such a folder there are none.
    """
    places = (Path(__file__).resolve().parents[2] / "instances", Path.cwd() / "instances")
    folder = next((place for place in places if place.is_dir()), None)
    found: dict[str, list[Path]] = {}
    for path in sorted(folder.rglob("*.toml")) if folder else ():
        try:
            theorem = tomllib.loads(path.read_text(encoding="utf-8")).get("theorem")
        except (OSError, ValueError):
            continue  # a file that cannot be read is no instance of anything; `lakatos verify` says what is wrong with it
        found.setdefault(str(theorem), []).append(path)
    return {theorem: tuple(paths) for theorem, paths in found.items()}


def bibtex(theorem: Theorem) -> str:
    """Return the BibTeX entries of the sources of `theorem`, in the order of its keys.

    Raises
    ------
    InternalError
        If neither ``references.bib`` nor the theorem itself has one.
    """
    text = files("lakatos").joinpath("references.bib").read_text(encoding="utf-8")
    entries = {match[1]: match[0] for match in _ENTRY.finditer(f"{text}\n{theorem.bibtex}")}
    if missing := [key for key in theorem.source.keys if key not in entries]:
        raise InternalError(f"{theorem.name}: {missing!r} neither in references.bib nor in BIBTEX of its module")
    return "\n\n".join(entries[key] for key in theorem.source.keys)


@dataclass(frozen=True)
class Field:
    """A field of the instances of a theorem.

    Parameters
    ----------
    name : str
        As in the file.
    type : str
        As annotated.
    meaning : str
        What the docstring of the instance class, or of the class that it extends, says; may be empty.
    default : str or None
        The value where the file leaves the field out, as Python shows it; None if the field is needed.
    """

    name: str
    type: str
    meaning: str
    default: str | None


def fields_of(theorem: Theorem) -> Iterator[Field]:
    """Yield the fields of an instance of `theorem`, in their order."""
    meanings: dict[str, str] = {}
    for part in reversed(theorem.instance_class.__mro__):
        meanings |= _meanings(inspect.cleandoc(part.__doc__ or ""))
    for field in fields(theorem.instance_class):
        if field.init:
            yield Field(field.name, str(field.type), meanings.get(field.name, ""), _default(field))


def _default(field: dataclasses.Field[Any]) -> str | None:
    if field.default is not MISSING:
        return str(field.default) if isinstance(field.default, Fraction) else repr(field.default)
    return None if field.default_factory is MISSING else repr(field.default_factory())


def _meanings(doc: str) -> dict[str, str]:
    """Return what the section ``Parameters`` of a numpydoc docstring says, by name."""
    section = doc.partition("Parameters\n----------\n")[2].partition("\n----")[0]
    found: dict[str, str] = {}
    names: list[str] = []
    for line in section.splitlines():
        if line and not line.startswith(" "):
            names = [name.strip() for name in line.partition(" : ")[0].split(",")]
        else:
            found |= {name: f"{found.get(name, '')} {line.strip()}".strip() for name in names if line.strip()}
    return found


def paragraphs(theorem: Theorem) -> Iterator[tuple[str, list[str]]]:
    """Yield the paragraphs of the docstring of `theorem`, as lines, each with its heading.

    The heading is the name of the section on its first paragraph, and empty on all others and before the first section.
    """
    for block in theorem.doc.strip().split("\n\n"):
        heading, lines = "", block.splitlines()
        if len(lines) > 1 and set(lines[1]) == {"-"}:
            heading, lines = lines[0], lines[2:]
        yield heading, lines
