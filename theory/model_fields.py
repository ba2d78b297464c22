"""Fields of instances that are models with a loss, and perhaps a symmetry of their data."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, TypeAlias

from .._checker_architectures import Malformed
from .._checker_averages import NETWORKS
from .._checker_dynamics import group_action
from .._checker_groups import Action
from ..core import InputError

__all__ = ["GroupFields", "Matrices", "ModelFields"]

Matrices: TypeAlias = tuple[tuple[tuple[Fraction, ...], ...], ...]


@dataclass(frozen=True)
class GroupFields:
    """A compact group acting on inputs and labels: a name known to `lakatos._checker_groups.action`, or generators.

    Parameters
    ----------
    name : str, optional
        Such as ``C3``, ``S4``, ``Q8``, ``O(4)``.
    copies, trivial, tensor : int
        It acts on ℝ^trivial ⊕ ((ℝⁿ)^{⊗tensor})^copies, ℝⁿ its natural representation.
    natural_labels : bool
        Labels are one copy of ℝⁿ too; otherwise they are invariant.
    inputs, labels : matrices, optional
        Orthogonal generators of a finite group instead of a name; without `labels` these are invariant.
    """

    name: str | None = None
    copies: int = 1
    trivial: int = 0
    tensor: int = 1
    natural_labels: bool = False
    inputs: Matrices | None = None
    labels: Matrices | None = None

    def __post_init__(self) -> None:
        if (self.name is None) == (self.inputs is None):
            raise InputError("name: give either the name of a group or generators on `inputs`")

    @property
    def plain(self) -> dict[str, Any]:
        """The fields that are given, as plain data."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}

    def action(self, labels: int) -> Action:
        """Return the group with labels of dimension `labels`.

        Raises
        ------
        InputError
            If there is no such group.
        """
        try:
            return group_action({"group": self.plain}, labels)
        except Malformed as error:
            raise InputError(str(error)) from None


@dataclass(frozen=True)
class ModelFields:
    """A model, its loss and its dynamics; see `lakatos._checker_dynamics` for what is known.

    Parameters
    ----------
    architecture : str, optional
        Such as ``linear``, ``relu``, ``attention``.
    sizes : tuple of int
        Widths of the architecture, from the output to the input.
    bias : bool
        For ``relu``.
    loss : str
        ``squared``, or ``logits`` for cross-entropy.
    parameters, potentials : tuple of str
        Instead of an architecture: polynomials whose gradients span those of the loss.
    dynamics : str
        ``flow``, ``momentum`` or ``mirror``.
    output_map : bool
        For ``lightning``: followed by an output matrix.
    group : GroupFields, optional
        Symmetry of the data.
    """

    architecture: str | None = None
    sizes: tuple[int, ...] = ()
    bias: bool = False
    loss: str = "squared"
    parameters: tuple[str, ...] = ()
    potentials: tuple[str, ...] = ()
    dynamics: str = "flow"
    output_map: bool = False
    group: GroupFields | None = None

    @cached_property
    def plain(self) -> dict[str, Any]:
        """The fields as plain data."""
        own = {f.name: value for f in fields(ModelFields) if (value := getattr(self, f.name)) is not None}
        return own if self.group is None else own | {"group": self.group.plain}

    @property
    def is_averaged_exactly(self) -> bool:
        """Whether there is a group, and an exact average over it."""
        return self.group is not None and (self.architecture in NETWORKS or self.architecture == "lightning")

    @property
    def without_uncounted_group(self) -> ModelFields:
        """The model, without its group if there is no exact average over it."""
        return self if self.is_averaged_exactly else replace(self, group=None)
