"""Simulation and measurement (torch, SciPy; float64). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import gluing as gluing
    from . import gradients as gradients
    from . import linear_programs as linear_programs

__all__ = ["gluing", "gradients", "linear_programs"]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
