"""The reference of the public surface: one page per package, one section per module with a public name."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

__all__ = ["pages"]

PACKAGES = {
    "lakatos": "Vocabulary, verification, reading, searching, saving; first what most programs need.",
    "lakatos.graphs": "Exact combinatorics of network graphs.",
    "lakatos.theory": "Exact derivations, with SymPy and exact linear algebra; never floating point of PyTorch or SciPy.",
    "lakatos.numerics": "Simulation and measurement with PyTorch and SciPy, in double precision; never SymPy.",
}


def pages() -> Iterator[tuple[str, str]]:
    """Yield file names and reStructuredText of the reference, its index first."""
    titles = {name: f"api_{name.replace('.', '_')}" for name in PACKAGES}
    lines = [*_heading("Reference", "="), ""]
    lines += ["The examples are run by the test suite. Every name here is in the ``__all__`` of its module.", ""]
    lines += [f"* :doc:`{name} <{page}>`: {PACKAGES[name]}" for name, page in titles.items()]
    lines += ["", ".. toctree::", "   :hidden:", "", *(f"   {page}" for page in titles.values()), ""]
    yield "api.rst", "\n".join(lines)
    for name, page in titles.items():
        yield f"{page}.rst", "\n".join(_package(importlib.import_module(name)))


def _package(package: ModuleType) -> Iterator[str]:
    yield from [*_heading(package.__name__, "="), "", PACKAGES[package.__name__], ""]
    if package.__name__ == "lakatos":
        yield from _top_level(package)
    for found in sorted(pkgutil.iter_modules(package.__path__), key=lambda found: found.name):
        module = importlib.import_module(f"{package.__name__}.{found.name}")
        if not found.ispkg and not found.name.startswith("_") and getattr(module, "__all__", ()):
            yield from [*_heading(found.name, "-"), "", f".. automodule:: {module.__name__}", "   :members:", ""]


def _top_level(package: ModuleType) -> Iterator[str]:
    """Yield the section on ``import lakatos``, whose names load when first used and so are listed one by one."""
    yield from [*_heading("import lakatos", "-"), ""]
    for name in package.__all__:
        if not name.startswith("_"):
            home = getattr(package, name).__module__
            yield f"* `lakatos.{name} <{home}.{name}>`"
    yield ""


def _heading(text: str, line: str) -> list[str]:
    return [text, line * len(text)]
