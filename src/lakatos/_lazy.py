"""Submodules that load when first used, so that listing and graph checks start without torch and SymPy."""

from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

__all__ = ["lazy_submodules"]


def lazy_submodules(package: str, names: Sequence[str], name: str) -> ModuleType:
    """Return the submodule `name` of `package`; for use in a module's ``__getattr__``.

    Raises
    ------
    AttributeError
        If the package declares no such submodule.
    """
    if name in names:
        return import_module(f"{package}.{name}")
    raise AttributeError(f"module {package!r} has no attribute {name!r}")
