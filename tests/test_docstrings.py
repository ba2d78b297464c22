"""Docstrings of the public surface: a summary everywhere, and what is raised; in what users call, also every parameter.

Public are the names in ``__all__`` of the modules without a leading underscore, of `lakatos`, `graphs`, `theory`, `numerics`.
Commands say in the help of their options what is not in their docstring.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import textwrap
from collections.abc import Iterator
from typing import Any

import pytest

from lakatos.core import InputError

PACKAGES = ("lakatos", "lakatos.graphs", "lakatos.theory", "lakatos.numerics")
CALLED = {
    *("catalog", "false_alarms", "instance", "judge", "networks", "refute", "results", "verification"),
    *(
        "graphs.connectivity",
        "graphs.network",
        "graphs.fields",
        "numerics.pruning",
        "numerics.nuclear",
        "numerics.masked",
    ),
}  # modules that programs of users call, by name within `lakatos`
MANY = 3  # parameters from which on the text has to name each
RAISED = ("InputError", "Undecided", "InternalError")


def modules() -> list[str]:
    found = []
    for package in PACKAGES:
        names = [
            item.name for item in pkgutil.iter_modules(importlib.import_module(package).__path__) if not item.ispkg
        ]
        found += [f"{package}.{name}" for name in names if not name.startswith("_")]
    return sorted(found)


def public(module: Any) -> Iterator[tuple[str, Any]]:
    """Yield the public functions, classes and methods that `module` defines, by qualified name."""
    for name in getattr(module, "__all__", ()):
        thing = getattr(module, name)
        if not (inspect.isfunction(thing) or inspect.isclass(thing)) or thing.__module__ != module.__name__:
            continue
        yield name, thing
        if inspect.isclass(thing):
            for own, member in vars(thing).items():
                made = member.__func__ if isinstance(member, (staticmethod, classmethod)) else member
                made = made.fget if isinstance(made, property) else made
                if inspect.isfunction(made) and not own.startswith("_") and made.__module__ == module.__name__:
                    yield f"{name}.{own}", made


def raised(function: Any) -> set[str]:
    """Return the names of our exceptions that the body of `function` raises itself."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except OSError:
        return set()  # made by a decorator, so that there is no source
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and isinstance(node.exc.func, ast.Name):
            found.add(node.exc.func.id)
    return found & set(RAISED)


def faults(name: str, thing: Any, *, strict: bool = True) -> Iterator[str]:
    """Yield what the docstring of `thing` lacks; parameters are only looked for if `strict`."""
    doc = inspect.getdoc(thing) if thing.__doc__ else None
    if not doc:
        yield f"{name}: no docstring"
        return
    summary = doc.split("\n\n")[0]
    if not summary.rstrip().endswith((".", ":", "?")):
        yield f"{name}: the summary is no sentence: {summary!r}"
    if inspect.isclass(thing):
        return
    for exception in sorted(raised(thing)):
        if not re.search(rf"\b{exception}\b", doc):
            yield f"{name}: raises {exception}, which no section ``Raises`` says"
    parameters = [p for p in inspect.signature(thing).parameters if p not in ("self", "cls")]
    if strict and len(parameters) >= MANY:
        unsaid = [p for p in parameters if not re.search(rf"(?<!\w){re.escape(p)}(?!\w)", doc)]
        if unsaid:
            yield f"{name}: nothing about {', '.join(unsaid)}"


@pytest.mark.parametrize("name", modules())
def test_docstrings(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    if name.startswith("lakatos.cli_"):
        return
    strict = name.removeprefix("lakatos.") in CALLED
    found = [fault for qualified, thing in public(module) for fault in faults(qualified, thing, strict=strict)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("package", ["lakatos", "lakatos.testing"])
def test_names_at_the_top(package: str) -> None:
    top = importlib.import_module(package)
    things = [(name, getattr(top, name)) for name in top.__all__]
    found = [fault for name, thing in things if inspect.isfunction(thing) for fault in faults(name, thing)]
    assert not found, "\n".join(found)


def test_what_is_lacking_is_seen() -> None:
    def bare(a: int) -> int:
        return a

    def silent(a: int, b: int, c: int) -> int:
        """Return the sum of a and b."""
        raise InputError(f"a={a!r}")

    assert list(faults("bare", bare)) == ["bare: no docstring"]
    assert list(faults("silent", silent)) == [
        "silent: raises InputError, which no section ``Raises`` says",
        "silent: nothing about c",
    ]
