"""Fields of instances that are a network with points of its invariant set, written as signed squares."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from ..core import InputError
from .fields import NetworkFields
from .points import balance_of_squares

__all__ = ["PathFields", "SignFields"]


@dataclass(frozen=True)
class _StartFields(NetworkFields):
    start: tuple[Fraction, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_one_per_edge("start", len(self.start))

    def balance_error(self, name: str, point: tuple[Fraction, ...]) -> str | None:
        """Return at which node the point misses the balance and by what, or None if it lies in the invariant set."""
        for v, value in balance_of_squares(self.network, point).items():
            if value != (goal := self.network.sum_of_balances([v])):
                return f"the balance of {self.network.names[v]!r} at the {name} is {value}, not {goal}"
        return None

    def _require_one_per_edge(self, name: str, count: int) -> None:
        if count != self.network.edge_count:
            raise InputError(
                f"{name}: {count} entries for {self.network.edge_count} edges; one for each edge is needed"
            )
        self.network.require_balance()


@dataclass(frozen=True)
class PathFields(_StartFields):
    """A network with balances, and two points.

    Parameters
    ----------
    start, end : tuple of Fraction
        Signed squares sign(θ)θ², one for each edge.

    Raises
    ------
    InputError
        Where the instance is built, if their lengths do not fit or the network has no balance.

    Examples
    --------
    >>> one = PathFields(edges=(("x", "v"), ("v", "y")), balance={"v": Fraction(1)},
    ...                  start=(Fraction(2), Fraction(1)), end=(Fraction(3), Fraction(1)))
    >>> one.balance_error("start", one.start), one.balance_error("end", one.end)
    (None, "the balance of 'v' at the end is 2, not 1")
    """

    end: tuple[Fraction, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_one_per_edge("end", len(self.end))


@dataclass(frozen=True)
class SignFields(_StartFields):
    """A network with balances, a point, and signs to reach from there.

    Parameters
    ----------
    start : tuple of Fraction
        Signed squares sign(θ)θ², one for each edge.
    signs : tuple of int
        1 or −1 for each edge.

    Raises
    ------
    InputError
        Where the instance is built, as for `PathFields`, or for another number as sign.

    Examples
    --------
    >>> SignFields(edges=(("x", "v"), ("v", "y")), balance={"v": Fraction(1)},
    ...            start=(Fraction(2), Fraction(1)), signs=(1, -1)).network
    Network(nodes=3, edges=2, hidden=1)
    """

    signs: tuple[int, ...] = field(kw_only=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._require_one_per_edge("signs", len(self.signs))
        if odd := [s for s in self.signs if s not in (-1, 1)]:
            raise InputError(f"signs={list(self.signs)!r}: {odd[0]!r} is no sign; give 1 or -1 for each edge")
