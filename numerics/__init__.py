"""Simulation and measurement (torch, SciPy; float64). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import assignments as assignments
    from . import checkpoints as checkpoints
    from . import forward as forward
    from . import gluing as gluing
    from . import gradients as gradients
    from . import linear_programs as linear_programs
    from . import modules as modules
    from . import realization as realization
    from . import subspaces as subspaces

__all__ = [
    "assignments",
    "checkpoints",
    "forward",
    "gluing",
    "gradients",
    "linear_programs",
    "modules",
    "realization",
    "subspaces",
]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
