"""The version of the code that a result depends on: a hash of the source of everything that a module imports.

Imports are read from the source, those within functions too. ``from .. import numerics`` counts for the submodules that are
used as ``numerics.NAME``. Type-checking imports do not run and do not count, nor do packages and registries, which only name
other modules: a theorem more changes no result.
"""

from __future__ import annotations

import ast
import hashlib
import platform
import sys
from collections.abc import Iterator
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

__all__ = ["code_version", "modules_behind"]

_PACKAGES = ("numpy", "scipy", "sympy", "torch")
_ROOT = __name__.partition(".")[0]
_ATTEMPTS = 5
_REGISTRIES = (f"{_ROOT}.numerics.registry",)


@cache
def code_version(*modules: str) -> str:
    """Return a hash of the sources behind `modules` (full names) and of the versions of Python and the numerical packages.

    Examples
    --------
    >>> code_version("lakatos.judge") == code_version("lakatos.judge") != code_version("lakatos.core")
    True
    """
    digest = hashlib.sha256()
    for name, source in sorted(modules_behind(*modules).items()):
        digest.update(f"{name}\0{hashlib.sha256(source).hexdigest()}\0".encode())
    for package in _PACKAGES:
        digest.update(f"{package}\0{_version(package)}\0".encode())
    digest.update(".".join(platform.python_version_tuple()[:2]).encode())
    return digest.hexdigest()[:16]


def modules_behind(*modules: str) -> dict[str, bytes]:
    """Return the sources of `modules` and of all that they import from their own packages and this one, by name."""
    packages = {_ROOT, *(module.partition(".")[0] for module in modules)}
    found: dict[str, bytes] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        path = _file(name) if name.partition(".")[0] in packages and name not in found else None
        if path is None or name in _REGISTRIES:
            continue
        source = path.read_bytes()
        is_package = path.stem == "__init__"
        waiting += _imported(_parsed(source), name if is_package else name.rpartition(".")[0], packages)
        if not is_package or name in modules:
            found[name] = source
    return found


def _parsed(source: bytes) -> ast.Module:
    """Return the syntax tree; Python 3.11 sometimes fails where another thread builds one, too (python/cpython#106905)."""
    for _ in range(_ATTEMPTS):
        try:
            return ast.parse(source)
        except SystemError:
            continue
    return ast.parse(source)


@cache
def _file(name: str) -> Path | None:
    try:
        found = sys.modules[name].__spec__ if name in sys.modules else find_spec(name)
    except (ImportError, ValueError, AttributeError):
        return None
    origin = None if found is None or found.origin is None else Path(found.origin)
    return origin if origin is not None and origin.suffix == ".py" and origin.is_file() else None


def _imported(tree: ast.AST, package: str, wanted: set[str]) -> Iterator[str]:
    packages: dict[str, str] = {}  # local name to full name of an imported package, whose submodules load when used
    nodes = list(_running(tree))
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = _base(node, package)
            if base.partition(".")[0] not in wanted:
                continue  # looking for a submodule of torch would import torch
            if not _is_package(base):
                yield base
                continue
            for alias in node.names:
                full = f"{base}.{alias.name}"
                if _file(full) is None:
                    yield base  # a name that the package defines
                elif _is_package(full):
                    packages[alias.asname or alias.name] = full
                else:
                    yield full
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in packages:
            yield f"{packages[node.value.id]}.{node.attr}"


def _running(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below `node` without those that only type checkers see."""
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            children: list[ast.AST] = list(node.orelse)
        case _:
            children = list(ast.iter_child_nodes(node))
    yield node
    for child in children:
        yield from _running(child)


def _base(node: ast.ImportFrom, package: str) -> str:
    parts = package.split(".")
    above = parts[: len(parts) + 1 - node.level] if node.level else []
    return ".".join([*above, *filter(None, [node.module])])


def _is_package(name: str) -> bool:
    path = _file(name)
    return path is not None and path.stem == "__init__"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "absent"
