"""Fields of instances about one scalar model along the orbits of a finite group."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, Literal

from .._checker_architectures import Malformed
from .._checker_orbits import HOMOGENEOUS, Orbit, exact_rank, orbit_rows, orbits, taylor_support
from ..core import InputError
from .model_fields import GroupFields

__all__ = ["OrbitFields"]


@dataclass(frozen=True)
class OrbitFields:
    """A scalar model with integer weights at integer inputs, a finite group of integer matrices, and a margin loss.

    Parameters
    ----------
    model : str
        ``linear``, ``relu``, ``relu-bias``, ``power`` or ``power-bias``.
    sizes : tuple of int
        ([exponent,] [units,] inputs).
    weights : tuple of int
        Output weights, then the rows of the hidden units, each with its bias last.
    inputs : tuple of tuples of int
        Where gradients are taken.
    group : GroupFields
        Acts on the inputs: a name such as ``C3``, or generators.
    loss : str
        ``logistic``, ``exponential``, ``sigmoid``, ``squared`` or ``polynomial-m``.
    character : str
        How labels transform: ``trivial``, or ``sign`` for the determinant.
    labels : str
        ``interval`` around 0, or ``binary`` for ±1 and inputs along rays, which sees the same of homogeneous models.
    """

    model: str
    sizes: tuple[int, ...]
    weights: tuple[int, ...]
    inputs: tuple[tuple[int, ...], ...]
    group: GroupFields
    loss: str = "logistic"
    character: Literal["trivial", "sign"] = "trivial"
    labels: Literal["interval", "binary"] = "interval"

    def __post_init__(self) -> None:
        try:
            taylor_support(self.loss, 1)
        except Malformed as error:
            raise InputError(str(error)) from None
        if self.is_finite:
            self._check()

    def _check(self) -> None:
        _ = self.orbits

    @property
    def is_finite(self) -> bool:
        """Whether the group is finite, so that there are orbits to list."""
        return not self.group.action(1).lie

    @cached_property
    def orbits(self) -> list[Orbit]:
        """Values and gradients along the orbits of the inputs."""
        own: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(OrbitFields)}
        try:
            return orbits(own | {"group": self.group.plain})
        except (Malformed, ValueError) as error:
            raise InputError(str(error)) from None

    @property
    def has_rich_labels(self) -> bool:
        """Whether labels see every coefficient of the Taylor series: they fill an interval, or scaling inputs does it."""
        return self.labels == "interval" or self.model in HOMOGENEOUS

    @property
    def support(self) -> list[int]:
        """The first 2|G| + 1 members of K, which span what all of them do."""
        return taylor_support(self.loss, 2 * len(self.orbits[0].values) + 1)

    @property
    def is_polynomial(self) -> bool:
        """Whether the loss is a polynomial, so that K is finite."""
        return self.loss == "squared" or self.loss.startswith("polynomial-")

    @property
    def plain_rank(self) -> int:
        """Dimension of the span of the gradients of the model along the orbits."""
        return exact_rank([v for orbit in self.orbits for v in orbit.gradients])

    def averaged_rank(self, exponents: list[int]) -> int:
        """Return the dimension of the span of the orbit sums b_k, k in `exponents`, over all inputs."""
        return exact_rank([row for orbit in self.orbits for row in orbit_rows(orbit, exponents)])
