"""Who may import whom, read from the source: imports within functions count, imports for type checkers do not run.

::

    core ◄── graphs ◄──┬── theory   ──┐
                       └── numerics ──┴──◄ theorems ◄── verification, cli

A measurement that could read the prediction would be no check, so `theory` and `numerics` never meet below `theorems`.
"""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

PACKAGES = ("lakatos", "lakatos.graphs", "lakatos.theory", "lakatos.numerics", "lakatos.theorems")
NOTEBOOKS = ("lakatos.markup", "lakatos.notebook", "lakatos.values")  # how records show themselves
VOCABULARY = ("lakatos.core", "lakatos.exact", "lakatos._lazy", *NOTEBOOKS)
CHECKER = "checker"
# Polynomial models are defined once: an exact count and the checker of its certificate have to mean the same vector fields.
MODELS = tuple(
    f"lakatos._checker_{part}"
    for part in (
        "architectures",
        "averages",
        "dynamics",
        "groups",
        "laws",
        "lift",
        "orbits",
        "polynomials",
        "rays",
        "reading",
        "surds",
        "text",
    )
)

LAYERS = {
    "lakatos.graphs": (*VOCABULARY, "lakatos.graphs"),
    "lakatos.theory": (*VOCABULARY, *MODELS, "lakatos.graphs", "lakatos.theory"),
    "lakatos.numerics": (*VOCABULARY, "lakatos.graphs", "lakatos.numerics"),
    "lakatos.theorems": (
        *VOCABULARY,
        *MODELS,
        "lakatos.graphs",
        "lakatos.theory",
        "lakatos.numerics",
        "lakatos.testing",
        "lakatos.theorems",
    ),
    "lakatos.judge": VOCABULARY,
    "lakatos.results": VOCABULARY,
}
FORBIDDEN = {
    "lakatos.graphs": {"torch", "sympy"},
    "lakatos.theory": {"torch", "scipy"},
    "lakatos.numerics": {"sympy"},
}


@dataclass(frozen=True)
class Import:
    """A dotted name that `module` imports in `line`."""

    module: str
    name: str
    line: int

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.name}"


def sources() -> dict[str, Path]:
    """Every module of the distribution and its file."""
    found = {}
    for package in PACKAGES:
        for folder in importlib.import_module(package).__path__:
            for path in Path(folder).glob("*.py"):
                found[package if path.stem == "__init__" else f"{package}.{path.stem}"] = path
    return found


def imports(module: str, path: Path) -> list[Import]:
    """What `module` imports, as absolute names; ``from a import b`` counts as ``a.b``."""
    package = module if path.stem == "__init__" else module.rpartition(".")[0]
    return [Import(module, name, line) for name, line in _names(ast.parse(path.read_text("utf-8")), package)]


def _names(node: ast.AST, package: str) -> Iterator[tuple[str, int]]:
    match node:
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            for other in node.orelse:
                yield from _names(other, package)
        case ast.Import():
            yield from ((alias.name, node.lineno) for alias in node.names)
        case ast.ImportFrom():
            parts = package.split(".")[: len(package.split(".")) + 1 - node.level] if node.level else []
            base = ".".join([*parts, *filter(None, [node.module])])
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)
        case _:
            for child in ast.iter_child_nodes(node):
                yield from _names(child, package)


SOURCES = sources()
IMPORTS = [found for module, path in SOURCES.items() for found in imports(module, path)]


def is_below(name: str, package: str) -> bool:
    return name == package or name.startswith(f"{package}.")


def is_checker(module: str) -> bool:
    return module.rpartition(".")[2].lstrip("_").startswith(CHECKER)


def test_imports_are_found(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text(
        "from typing import TYPE_CHECKING\n"
        "from ..core import Claim\n"
        "from . import network as n\n"
        "if TYPE_CHECKING:\n    import sympy\nelse:\n    import scipy.sparse\n"
        "def f():\n    try:\n        import torch\n    except ImportError:\n        from ..theory import laws\n"
    )
    assert [(found.name, found.line) for found in imports("lakatos.graphs.module", path)] == [
        ("typing.TYPE_CHECKING", 1),
        ("lakatos.core.Claim", 2),
        ("lakatos.graphs.network", 3),
        ("scipy.sparse", 7),
        ("torch", 10),
        ("lakatos.theory.laws", 12),
    ]
    assert len(SOURCES) > 20
    assert len(IMPORTS) > len(SOURCES)


@pytest.mark.parametrize("layer", LAYERS)
def test_layer_imports_only_layers_below(layer: str) -> None:
    upward = [
        found
        for found in IMPORTS
        if is_below(found.module, layer)
        and is_below(found.name, "lakatos")
        and not any(is_below(found.name, allowed) for allowed in LAYERS[layer])
    ]
    assert not upward, [str(found) for found in upward]


@pytest.mark.parametrize("layer", FORBIDDEN)
def test_layer_never_imports_what_the_other_side_computes_with(layer: str) -> None:
    forbidden = [
        found for found in IMPORTS if is_below(found.module, layer) and found.name.partition(".")[0] in FORBIDDEN[layer]
    ]
    assert not forbidden, [str(found) for found in forbidden]


def test_vocabulary_imports_nothing_but_itself_and_the_standard_library() -> None:
    foreign = [
        found
        for found in IMPORTS
        if found.module in VOCABULARY
        and not any(is_below(found.name, allowed) for allowed in VOCABULARY)
        and found.name.partition(".")[0] not in sys.stdlib_module_names
    ]
    assert not foreign, [str(found) for found in foreign]


def test_checker_imports_nothing_but_itself_and_the_standard_library() -> None:
    checker = [found for found in IMPORTS if is_checker(found.module)]
    assert any(found.module == "lakatos.checker" for found in checker)
    foreign = [
        found
        for found in checker
        if found.name.partition(".")[0] not in sys.stdlib_module_names
        and not any(is_below(found.name, module) for module in SOURCES if is_checker(module))
    ]
    assert not foreign, [str(found) for found in foreign]


def test_generic_folder_names_are_not_importable_from_the_repository() -> None:
    generic = [
        found for found in IMPORTS if found.name.partition(".")[0] in {"graphs", "theory", "numerics", "theorems"}
    ]
    assert not generic, [str(found) for found in generic]


START = "import sys; import {module}; print(*sorted({{'torch', 'sympy'}} & sys.modules.keys()))"
CHECK = "import sys; import lakatos.checker; print(*sorted(m for m in sys.modules if m.partition('.')[0] in {heavy!r}))"


@pytest.mark.parametrize(
    "module",
    [
        "lakatos",
        "lakatos.cli",
        "lakatos.cli_app",
        "lakatos.graphs.connectivity",
        "lakatos.networks",
        "lakatos.results",
        "lakatos.theorems",
        "lakatos.verification",
    ],
)
def test_start_loads_neither_torch_nor_sympy(module: str) -> None:
    assert loaded(START.format(module=module)) == []


def test_checker_loads_the_standard_library_only() -> None:
    third_party = ("numpy", "scipy", "sympy", "torch", "networkx", "typer", "rich", "hypothesis", "ortools")
    assert loaded(CHECK.format(heavy=third_party)) == []


def loaded(program: str) -> list[str]:
    """What a fresh interpreter prints after running `program`."""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=120)
    return result.stdout.split()
