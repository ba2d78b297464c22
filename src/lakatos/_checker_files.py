"""Saved results and the instance files they speak of (standard library only)."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

from lakatos._checker_network import LAYERED_KEYS, NETWORK_KEYS, Subject, read_subject
from lakatos._checker_reading import Invalid, number, show

__all__ = ["instance_problems", "read_json"]

_LARGEST_INSTANCE = 64 << 20


def read_json(path: Path) -> Any:
    """Return the content of a JSON file; NaN and infinities are no JSON.

    Raises
    ------
    Invalid
        If there is no such file or it is not JSON.
    """
    try:
        return json.loads(path.read_bytes(), parse_constant=_refuse)
    except OSError as error:
        raise Invalid(f"cannot be read: {error.strerror or 'no such file'}") from None
    except RecursionError:
        raise Invalid("not JSON that can be read: nested too deeply") from None
    except ValueError as error:  # not JSON, not UTF-8, an integer of too many digits, a path that cannot be
        raise Invalid(f"not JSON: {show(str(error))}") from None


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def instance_problems(verdict: Mapping[str, Any], folder: Path) -> list[str]:
    """Return in what the instance file of `verdict` differs from what the verdict says of it; nothing if there is no file.

    The hash of the file has to be the recorded one, and what the table ``[instance]`` says has to be in the fields. Arrays
    that the table takes from other files, and what it leaves to defaults, are not looked at.
    """
    instance = verdict.get("instance")
    if instance is None:
        return []
    if not isinstance(instance, str):
        raise Invalid(f"instance={show(instance)}: a path or null is needed")
    contents = _contents(instance, folder)
    if not contents:
        return []
    provenance = verdict.get("provenance")
    recorded = provenance.get("instance_sha256") if isinstance(provenance, Mapping) else None
    unchanged = [content for content in contents if hashlib.sha256(content).hexdigest() == recorded]
    if not unchanged:
        return [f"instance changed since: {show(instance)} does not have the recorded SHA-256"]
    fields = verdict.get("fields")
    if not isinstance(fields, Mapping):
        return ["fields: an object is needed"]
    return _differences(_instance_table(unchanged[0]), fields)


def _contents(instance: str, folder: Path) -> list[bytes]:
    """Return what the file holds, looked up in both folders.

    A result is data of strangers: a path that leads out of the two folders is not followed, so that checking neither reads
    nor tells anything about other files.
    """
    try:
        here = Path.cwd()
        paths = [path.resolve() for path in (folder / instance, here / instance)]
        inside = [path for path in paths if any(path.is_relative_to(top.resolve()) for top in (folder, here))]
        files = [path for path in inside if path.is_file()]
        if any(path.stat().st_size > _LARGEST_INSTANCE for path in files):
            raise Invalid(f"instance={show(instance)}: larger than any instance file")
        return [path.read_bytes() for path in files]
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise Invalid(f"instance={show(instance)}: {show(str(error))}") from None


def _instance_table(content: bytes) -> Mapping[str, Any]:
    try:
        document = tomllib.loads(content.decode(), parse_float=_decimal)
    except ValueError as error:
        raise Invalid(f"instance: not TOML: {show(str(error))}") from None
    table = document.get("instance")
    if not isinstance(table, dict):
        raise Invalid("instance: the file has no table [instance]")
    return table


def _decimal(text: str) -> Fraction:
    return number(text.replace("_", ""), "instance")


def _differences(table: Mapping[str, Any], fields: Mapping[str, Any]) -> list[str]:
    problems = [
        f"fields: {show(key)} is not what the instance file says"
        for key, written in table.items()
        if not _is_reference(written) and not (key in fields and _same(written, fields[key]))
    ]
    # Above, the names '10' and '1e1' are the same, and a field that the file leaves out may hold anything; not in a network.
    recorded = _network(fields)
    if recorded is not None and recorded != _network(table):
        problems.append("fields: the network is not that of the instance file")
    return problems


def _network(fields: Mapping[str, Any]) -> Subject | None:
    # Elsewhere, widths alone are those of a sweep.
    keys = LAYERED_KEYS if {"widths", "balance"} <= set(fields) else NETWORK_KEYS
    try:
        return read_subject({key: value for key, value in fields.items() if key in keys})
    except Invalid:
        return None


def _is_reference(written: Any) -> bool:
    """Return whether this is an array in another file."""
    return isinstance(written, dict) and set(written) == {"file", "key"}


def _same(written: Any, recorded: Any) -> bool:
    """Return whether the two are equal, numbers as numbers; a record may add what the file leaves to defaults."""
    if isinstance(written, dict):
        has_keys = isinstance(recorded, Mapping) and set(written) <= set(recorded)
        return has_keys and all(_same(value, recorded[key]) for key, value in written.items())
    if isinstance(written, list):
        same_length = isinstance(recorded, (list, tuple)) and len(recorded) == len(written)
        return same_length and all(map(_same, written, recorded))
    try:
        return number(written, "") == number(recorded, "")
    except Invalid:
        return type(written) is type(recorded) and bool(written == recorded)
