"""Fields of instances about one scalar model along rays of inputs, with labels ±1."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from itertools import combinations
from typing import Any, Literal

from .._checker_architectures import Malformed
from .._checker_laws import independent_rows
from .._checker_orbits import Orbit, exact_rank
from .._checker_rays import gradient_rows, ray_orbits, ray_points
from ..core import Certificate, InputError
from .orbit_fields import OrbitFields

__all__ = ["RayFields"]

_BASES = (3, 48271, 1664525)
"""Values for q; any will do that does not happen to make a minor vanish."""


@dataclass(frozen=True)
class RayFields(OrbitFields):
    """The same as `OrbitFields`, at all inputs tx with t beyond the last kink; labels are 1 and −1.

    Parameters
    ----------
    inputs : tuple of tuples of int
        One point x of each ray.
    """

    labels: Literal["binary"] = "binary"

    def _check(self) -> None:
        _ = self.rays

    @cached_property
    def rays(self) -> list[list[Orbit]]:
        """For each ray, orbits at as many of its points as determine what is a polynomial along it."""
        return self._orbits_at(ray_points(self._own))

    @property
    def plain_rank(self) -> int:
        """Dimension of the span of the gradients of the model along the orbits of all rays."""
        return exact_rank([v for ray in self.rays for orbit in ray for v in orbit.gradients])

    @property
    def is_separated(self) -> bool:
        """Whether |z_g|, for the exponential loss z_g, are pairwise different by more than a constant along every ray."""
        signs = (1,) if self.loss == "exponential" else (1, -1)
        for ray in self.rays:
            for a, b in combinations(range(len(ray[0].values)), 2):
                if any(len({orbit.values[a] - sign * orbit.values[b] for orbit in ray}) == 1 for sign in signs):
                    return False
        return True

    @property
    def certificate(self) -> Certificate | None:
        """Points and a base at which averaged gradients are as many as plain ones; None if none were found."""
        rank, first = self.plain_rank, ray_points(self._own)
        size = len(self.rays[0][0].values)
        points = list(range(first[0], first[0] + size * len(first) + 1))
        rays = self._orbits_at(points)
        for base in _BASES:
            if len(independent_rows(gradient_rows(rays, self.loss, base))) == rank:
                return Certificate("ray_ranks", {"points": points, "base": base})
        return None

    def _orbits_at(self, points: Any) -> list[list[Orbit]]:
        try:
            return ray_orbits(self._own, points)
        except (Malformed, ValueError) as error:
            raise InputError(str(error)) from None

    @property
    def _own(self) -> dict[str, Any]:
        own: dict[str, Any] = {f.name: getattr(self, f.name) for f in fields(OrbitFields)}
        return own | {"group": self.group.plain}
