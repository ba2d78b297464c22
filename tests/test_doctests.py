"""The examples in docstrings and in the documentation show what really happens."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest

PACKAGES = ("", ".graphs", ".theory", ".numerics", ".theorems")
DOCS = sorted((Path(__file__).parents[1] / "docs").glob("*.md"))


def modules() -> list[str]:
    """Every module of the distribution, by the name it is imported by."""
    packages = [importlib.import_module(f"lakatos{package}") for package in PACKAGES]
    return sorted(
        f"{package.__name__}.{found.name}" for package in packages for found in pkgutil.iter_modules(package.__path__)
    )


def is_search(name: str) -> bool:
    """Whether the examples are searches by Hypothesis, which take seconds each."""
    return name.startswith("lakatos._strategies")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] if is_search(name) else []) for name in modules()]
)
def test_examples_in_docstrings(name: str) -> None:
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_examples_in_the_documentation(path: Path) -> None:
    # The end of a block is no output of its last example.
    text = path.read_text("utf-8").replace("```", "")
    examples = doctest.DocTestParser().get_doctest(text, {}, path.name, str(path), 0)
    assert doctest.DocTestRunner().run(examples).failed == 0
