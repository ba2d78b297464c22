"""What the readers of network files share: bounded reading, exact JSON, and graphs with attributes."""

from __future__ import annotations

import json
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches
from fractions import Fraction
from pathlib import Path
from typing import Any

from .core import InputError
from .exact import exact
from .graphs.network import Network, as_name

__all__ = ["attributed_network", "bounded_bytes", "bounded_file", "parse_json", "read_balance", "refuse_unknown"]

_MEBIBYTE = 1 << 20
_LARGEST_BALANCE = 64 * _MEBIBYTE
_KINDS = ("input", "output", "hidden")

Attributed = tuple[Any, Mapping[str, Any]]


def bounded_file(path: Path, largest: int) -> Path:
    """Return `path`, a regular file of at most `largest` bytes.

    Raises
    ------
    InputError
        Without the file's name, which the caller adds.
    """
    if path.is_dir():
        raise InputError("is a folder; name a file")
    if not path.exists():
        raise InputError("no such file")
    if not path.is_file():
        raise InputError("not a regular file")
    size = path.stat().st_size
    if size > largest:
        raise InputError(
            f"size={size} bytes: at most {largest // _MEBIBYTE} MiB are read; store large networks as .npz"
        )
    return path


def bounded_bytes(path: Path, largest: int) -> bytes:
    """Return the content of `path`.

    Raises
    ------
    InputError
        As `bounded_file`, with the limit of `largest` bytes, and if it cannot be read.
    """
    try:
        return bounded_file(path, largest).read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}") from None


def parse_json(content: bytes) -> Any:
    """Return the JSON value in `content`; decimals become exact fractions.

    Raises
    ------
    InputError
        With line and column where the text breaks off; for duplicate keys, NaN and infinities.
    """
    try:
        return json.loads(
            content.decode("utf-8-sig"),
            parse_float=lambda text: exact(text, "number"),
            parse_int=_integer,
            parse_constant=_refuse_constant,
            object_pairs_hook=_distinct,
        )
    except json.JSONDecodeError as error:
        raise InputError(f"line {error.lineno}, column {error.colno}: not valid JSON: {error.msg}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"byte {error.start}: not UTF-8 text") from None
    except RecursionError:
        raise InputError("nested too deeply for a network") from None


def read_balance(path: Path) -> dict[str, Any]:
    """Return the balance in `path`: a JSON or TOML table from node name to number.

    Raises
    ------
    InputError
        Naming the file, for anything else.

    Examples
    --------
    In TOML, names with dots are quoted::

        h = -4
        "h1.0" = "1/3"
    """
    try:
        content = bounded_bytes(path, _LARGEST_BALANCE)
        if path.suffix == ".toml":
            table = tomllib.loads(content.decode(), parse_float=lambda text: exact(text, "number"))
        elif path.suffix == ".json":
            table = parse_json(content)
        else:
            raise InputError(f"suffix={path.suffix!r}: a balance file is .json or .toml")
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    except (ValueError, RecursionError) as error:  # among them the limit on the digits of integers
        raise InputError(f"{path}: not valid TOML: {error}") from None
    if not isinstance(table, dict):
        raise InputError(f"{path}: a table from node name to number is needed, got a {type(table).__name__}")
    for name, value in table.items():
        if isinstance(value, dict):
            raise InputError(
                f"{path}: balance[{name!r}]={value!r}: a number is needed; quote names with dots and put no table around them"
            )
        exact(value, f"{path}: balance[{name!r}]")
    return table


def refuse_unknown(given: Iterable[str], valid: Sequence[str], where: str) -> None:
    """Raise InputError for the first of `given` that is not in `valid`, with the nearest valid name."""
    for key in given:
        if key not in valid:
            near = get_close_matches(key, valid, 1)
            hint = f"did you mean {near[0]!r}?" if near else f"valid are {', '.join(valid)}"
            raise InputError(f"{where}{key!r}: not known here; {hint}")


def attributed_network(nodes: Sequence[Attributed], edges: Sequence[tuple[Any, Any, Mapping[str, Any]]]) -> Network:
    """Return the network of a graph whose nodes and edges carry attributes, edges in the order given.

    Nodes may have a ``balance`` and a ``kind`` (input, output or hidden; for all of them or none), edges a ``weight``. Other
    attributes belong to other programs and are ignored, unless they look like one of these misspelled.

    Raises
    ------
    InputError
        Naming the node or edge.
    """
    kinds: dict[str, Any] = {}
    balance: dict[str, Any] = {}
    names: set[str] = set()
    for key, attributes in nodes:
        name = as_name(key, "nodes")
        if name in names:
            raise InputError(f"nodes: {name!r} is listed twice")
        names.add(name)
        _refuse_misspelled(attributes, ("balance", "kind"), f"node {name!r}")
        if "balance" in attributes:
            balance[name] = attributes["balance"]
        if "kind" in attributes:
            kinds[name] = attributes["kind"]
            if kinds[name] not in _KINDS:
                raise InputError(f"node {name!r}: kind={kinds[name]!r}; valid are {', '.join(_KINDS)}")
    if kinds and len(kinds) < len(names):
        bare = next(str(key) for key, _ in nodes if str(key) not in kinds)
        raise InputError(
            f"node {bare!r}: has no kind, but others do; give all nodes one of {', '.join(_KINDS)}, or none"
        )
    rows: list[tuple[Any, ...]] = []
    for e, (tail, head, attributes) in enumerate(edges):
        for end in (tail, head):
            if as_name(end, f"edges[{e}]") not in names:
                raise InputError(f"edges[{e}]: {end!r} is not among the nodes")
        _refuse_misspelled(attributes, ("weight",), f"edges[{e}]")
        rows.append((tail, head, attributes["weight"]) if "weight" in attributes else (tail, head))
    return Network.from_edges(
        rows,
        inputs=[name for name, kind in kinds.items() if kind == "input"] if kinds else None,
        outputs=[name for name, kind in kinds.items() if kind == "output"] if kinds else None,
        balance=balance or None,
        nodes=[key for key, _ in nodes],
    )


def _refuse_misspelled(attributes: Mapping[str, Any], valid: Sequence[str], where: str) -> None:
    for key in attributes:
        if key not in valid and (near := get_close_matches(key.lower(), valid, 1, cutoff=0.8)):
            raise InputError(f"{where}: attribute {key!r}; did you mean {near[0]!r}? rename or remove it")


def _integer(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise InputError(f"an integer of {len(text)} digits is too long to be read") from None


def _refuse_constant(text: str) -> Fraction:
    raise InputError(f"{text} is not a finite number; balances and weights are finite")


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    table = dict(pairs)
    if len(table) < len(pairs):
        twice, _ = Counter(key for key, _ in pairs).most_common(1)[0]
        raise InputError(f"key {twice!r} occurs twice in one object; keep one of them")
    return table
