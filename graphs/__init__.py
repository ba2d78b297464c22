"""Exact combinatorics of network graphs: feasibility, frozen weights, components of invariant sets."""

from ..core import InputError as InputError

__all__ = ["InputError"]
