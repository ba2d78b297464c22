"""Exact derivations (SymPy, exact linear algebra). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import conservation as conservation

__all__ = ["conservation"]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
