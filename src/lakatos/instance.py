"""Instance files: which there are, and reading one."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from .arrays import ArrayFolder, nearest, read_bytes
from .conversion import Decimal, build_instance, plain_fields, short_text
from .core import InputError, Outcome, Theorem
from .theorems import load as load_theorem

__all__ = ["InstanceFile", "build_instance", "find_instances", "plain_fields", "read_instance", "require_variant"]

_LARGEST_FILE = 64 << 20
_LARGEST_SEED = (1 << 63) - 1


@dataclass(frozen=True)
class InstanceFile:
    """An instance file, read.

    Parameters
    ----------
    path : Path
        Where it was read from.
    theorem : Theorem
        What the instance is an instance of.
    title : str
        For humans; may be empty.
    variant : str or None
        The registered false variant that is to be verified in place of the theorem.
    expect : Outcome or None
        The outcome that the file declares.
    seed : int
        Seed of the measurement.
    instance : object
        Of the theorem's instance class.
    sha256 : str
        Of the file.
    arrays : dict
        SHA-256 of each file of arrays that was read, by its name in the instance.
    """

    path: Path
    theorem: Theorem
    title: str
    variant: str | None
    expect: Outcome | None
    seed: int
    instance: Any
    sha256: str
    arrays: dict[str, str]

    @cached_property
    def fields(self) -> dict[str, Any]:
        """The instance as plain data; made when first needed, since arrays are much larger as text."""
        return plain_fields(self.instance)

    @property
    def numbers(self) -> Literal["rational", "dyadic"]:
        """Whether all numbers are the rationals written in the file, or some are exact values of floats in other files."""
        return "dyadic" if self.arrays else "rational"


@dataclass(frozen=True)
class _Document:
    """The top level of an instance file."""

    theorem: str
    instance: Mapping[str, Any]
    title: str = ""
    variant: str | None = None
    expect: Outcome | None = None
    seed: int = 0


def read_instance(path: str | Path, load: Callable[[str], Theorem] = load_theorem) -> InstanceFile:
    """Return the instance file at `path`, its fields checked against the instance class of its theorem.

    Parameters
    ----------
    path : str or Path
        A TOML file of at most 64 MiB. Decimals in it are exact.
    load : callable
        Finds a theorem by name.

    Raises
    ------
    InputError
        Naming the file and the field (``instance.balance.h``), what would be valid and what to do.
    """
    path = Path(path)
    content = read_bytes(path, _LARGEST_FILE, str(path))
    try:
        table = _parsed(content)
        _require_instance(table)
        document = build_instance(_Document, table)
        if not 0 <= document.seed <= _LARGEST_SEED:
            raise InputError(f"seed={short_text(document.seed)}: a seed is between 0 and 2^63 - 1")
        theorem = load(document.theorem)
        require_variant(theorem, document.variant)
        arrays = ArrayFolder(path.parent)
        try:
            instance = build_instance(theorem.instance_class, document.instance, arrays)
        except InputError as error:
            raise InputError(f"instance.{error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return InstanceFile(
        path=path,
        theorem=theorem,
        title=document.title,
        variant=document.variant,
        expect=document.expect,
        seed=document.seed,
        instance=instance,
        sha256=hashlib.sha256(content).hexdigest(),
        arrays=arrays.hashes,
    )


def find_instances(paths: Iterable[str | Path]) -> list[Path]:
    """Return the instance files that `paths` stand for: files as given, and every ``*.toml`` below a folder, sorted.

    What lies in hidden folders below it (``.venv``, ``.git``) is left out.

    Raises
    ------
    InputError
        If a path does not exist or a folder holds no ``*.toml``.
    """
    found: dict[Path, None] = {}
    for path in map(Path, paths):
        if path.is_dir():
            below = sorted(file for file in path.rglob("*.toml") if file.is_file() and not _is_hidden(file, path))
            if not below:
                raise InputError(f"{path}: no *.toml in this folder or below it; give a folder with instance files")
            found.update(dict.fromkeys(below))
        elif path.exists():
            found[path] = None
        else:
            raise InputError(f"{path}: no such file or folder; check the name")
    return list(found)


def _is_hidden(file: Path, top: Path) -> bool:
    return any(part.startswith(".") for part in file.relative_to(top).parts)


def require_variant(theorem: Theorem, name: str | None) -> None:
    """Raise InputError unless `name` is None or a registered false variant of `theorem`."""
    if name is not None and name not in theorem.variants:
        raise InputError(f"variant={name!r}: not registered; {nearest(name, theorem.variants)}")


def _require_instance(table: Mapping[str, Any]) -> None:
    """Refuse files that are something else, rather than by the first of their keys."""
    if {"grid", "cases", "experiment"} & set(table):
        raise InputError("describes a sweep, not an instance; run it with `lakatos sweep`")
    if "theorem" not in table and not get_close_matches("theorem", table, n=1):
        raise InputError("theorem: missing; a text is needed, the name of one that `lakatos list` prints")


def _parsed(content: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(content.decode(), parse_float=Decimal)
    except UnicodeDecodeError as error:
        raise InputError(f"not text: byte {error.start} is not UTF-8; instance files are TOML") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"not TOML: {error}") from None
    except RecursionError:
        raise InputError("lists or tables are nested too deeply to be read") from None
    except ValueError as error:  # the limit on the digits of integers
        raise InputError(f"an integer is too long: {str(error).partition(';')[0]}") from None
