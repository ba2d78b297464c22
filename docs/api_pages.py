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

CONVENTIONS = {
    "activation": "Name of the activation, e.g. ``relu`` or ``tanh``.",
    "checkpoint": "File with a state dict, loaded into the module before anything else.",
    "device": "Where tensors are: ``cpu``, ``cuda`` or ``cuda:N``. Random numbers are drawn on the CPU and moved.",
    "direction": "A tangent vector of the weights, of their shape.",
    "dtype": "Of tensors; ``float64`` unless it says otherwise.",
    "field": "A vector field on the weights: a function from weights (m,) to velocities (m,).",
    "generator": "Source of random numbers, on the CPU.",
    "head": "Number of the node that each edge leads to, integers (m,).",
    "inputs": "Inputs of a network, one per row; in graphs, the input terminals.",
    "layers": "Weight matrices in the order in which they are applied.",
    "loss": "Name of the loss, e.g. ``squared``.",
    "mlp": "The network, as a record of its layers.",
    "network": "A `lakatos.Network`, or the PyTorch module that is read as one.",
    "networks": "How many random networks are drawn.",
    "node_count": "Number of nodes of the graph; they are 0, 1, …",
    "objective": "What is minimized: a function of the weights, a scalar for each start.",
    "outputs": "Outputs of a network, one per row; in graphs, the output terminals.",
    "rate": "The learning rate η.",
    "samples": "How many independent draws an average is taken over.",
    "scales": "Scales under construction: which units have one factor (`lakatos.graphs.scales`).",
    "seed": "Of everything random; the same seed gives the same result on every machine.",
    "settings": "The record of settings that is defined beside the function.",
    "shape": "Sizes of the axes, outermost first.",
    "sigma": "A standard deviation.",
    "start": "The weights to begin with: (m,), or a stack of them (starts, m).",
    "step": "Length of a step of an integrator, in units of time.",
    "steps": "How many steps are made.",
    "tail": "Number of the node that each edge comes from, integers (m,).",
    "theta": "All weights of a network as one vector (m,).",
    "weights": "All weights as one vector (m,), or a stack of them.",
    "widths": "Sizes of the layers, inputs first.",
}
"""Parameters that mean the same wherever they occur, so that docstrings need not say it again."""


def pages() -> Iterator[tuple[str, str]]:
    """Yield file names and reStructuredText of the reference, its index first."""
    titles = {name: f"api_{name.replace('.', '_')}" for name in PACKAGES}
    lines = [*_heading("Reference", "="), ""]
    lines += ["The examples are run by the test suite. Every name here is in the ``__all__`` of its module.", ""]
    lines += [f"* :doc:`{name} <{page}>`: {PACKAGES[name]}" for name, page in titles.items()]
    lines += ["", *_heading("Parameters that mean the same everywhere", "-"), ""]
    for name, meaning in CONVENTIONS.items():
        lines += [f"``{name}``", f"   {meaning}", ""]
    lines += [".. toctree::", "   :hidden:", "", *(f"   {page}" for page in titles.values()), ""]
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
