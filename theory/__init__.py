"""Exact derivations (SymPy, exact linear algebra). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import assignments as assignments
    from . import chords as chords
    from . import conservation as conservation
    from . import directions as directions
    from . import jacobians as jacobians
    from . import layers as layers
    from . import masks as masks
    from . import matrices as matrices
    from . import realization as realization
    from . import separation as separation
    from . import steps as steps

__all__ = [
    "assignments",
    "chords",
    "conservation",
    "directions",
    "jacobians",
    "layers",
    "masks",
    "matrices",
    "realization",
    "separation",
    "steps",
]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
