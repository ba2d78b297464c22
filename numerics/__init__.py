"""Simulation and measurement (torch, SciPy; float64). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import checkpoints as checkpoints
    from . import forward as forward
    from . import gluing as gluing
    from . import gradients as gradients
    from . import linear_programs as linear_programs
    from . import modules as modules

__all__ = ["checkpoints", "forward", "gluing", "gradients", "linear_programs", "modules"]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
