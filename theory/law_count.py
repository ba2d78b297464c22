"""How many independent conservation laws a system has, certified from both sides, and which."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .._checker_architectures import Malformed
from .._checker_dynamics import System, systems
from .._checker_laws import Law, broken_by, components, law_slope
from .._checker_polynomials import Polynomial, text
from .._checker_reading import Invalid
from ..core import Certificate, InputError
from .known_laws import classical_laws
from .law_search import polynomial_laws
from .lie_rank import LieRank, lie_rank
from .modular import Echelon
from .range_laws import symmetry_laws

__all__ = ["LawCount", "Laws", "independent_laws", "law_count", "law_text", "model_systems"]


@dataclass(frozen=True)
class Laws:
    """The laws of one system.

    Parameters
    ----------
    system : System
        Names and vector fields.
    lie : LieRank
        Proves that there are at most ``lie.laws`` laws.
    laws : tuple of Law
        Independent laws, each proved.
    """

    system: System
    lie: LieRank
    laws: tuple[Law, ...]

    @property
    def at_least(self) -> int:
        """Proved lower bound of the number of laws; a single vector field has D − 1 by itself."""
        alone = self.system.dimension - 1 if len(self.system.fields) == 1 else 0
        return max(len(self.laws), alone)

    @property
    def at_most(self) -> int:
        """Proved upper bound of the number of laws."""
        return self.lie.laws

    @property
    def count(self) -> int | None:
        """The number of laws where the bounds meet."""
        return self.at_most if self.at_least == self.at_most else None

    @property
    def trace(self) -> int:
        """D − dim W, counted without brackets."""
        return self.system.dimension - self.lie.span_rank

    def formulas(self) -> list[str]:
        """The laws in the names of the parameters."""
        return [law_text(law, self.system.names) for law in self.laws]


@dataclass(frozen=True)
class LawCount:
    """Laws of plain training and, if there is a group, of training averaged over it."""

    plain: Laws
    averaged: Laws | None

    @property
    def main(self) -> Laws:
        """The laws under the symmetry, or of plain training without one."""
        return self.averaged or self.plain

    @property
    def new(self) -> int | None:
        """How many laws the symmetry adds, where both counts are certified."""
        if self.averaged is None or self.averaged.count is None or self.plain.count is None:
            return None
        return self.averaged.count - self.plain.count

    @property
    def certificate(self) -> Certificate:
        """Both bounds for each system, see ``docs/certificates.md``."""
        parts = {"plain": self.plain} | ({"averaged": self.averaged} if self.averaged else {})
        return Certificate("law_count", {"systems": {name: _certified(part) for name, part in parts.items()}})


def model_systems(fields: Mapping[str, Any]) -> dict[str, System]:
    """Return the systems of an instance.

    Raises
    ------
    InputError
        If the fields do not describe a model.
    """
    try:
        return systems(fields)
    except (Malformed, ValueError) as error:
        raise InputError(str(error)) from None


def law_count(fields: Mapping[str, Any], *, extra: Iterable[Law] = (), degree: int = 0, seed: int = 0) -> LawCount:
    """Return the laws of the model that `fields` describe, with and without its group.

    Parameters
    ----------
    fields : mapping
        See `lakatos._checker_dynamics`.
    extra : iterable of Law
        Further candidates for the averaged system (for the only one without a group).
    degree : int
        Also search polynomial laws up to this degree, if the bounds do not meet without.
    seed : int
        Of the point and the brackets.

    Raises
    ------
    InputError
        If the fields do not describe a model, or the search is too large.

    Examples
    --------
    >>> law_count({"architecture": "linear", "sizes": [2, 2, 2]}).plain.count
    3
    """
    found = _systems(json.dumps(fields, sort_keys=True, default=str))
    candidates = classical_laws(fields, found["plain"].names)
    if "averaged" not in found:
        return LawCount(_laws(found["plain"], [*candidates, *extra], degree, seed), None)
    plain = _laws(found["plain"], candidates, degree, seed)
    candidates += symmetry_laws(fields, found["plain"].names)
    return LawCount(plain, _laws(found["averaged"], [*candidates, *extra], degree, seed))


@lru_cache(maxsize=32)
def _systems(fields: str) -> dict[str, System]:
    """The averages over a large group take seconds, and one instance asks for them several times."""
    return model_systems(json.loads(fields))


def _laws(system: System, candidates: Sequence[Law], degree: int, seed: int) -> Laws:
    index = components(system.fields)
    laws = [law for law in candidates if broken_by(law, system.fields, index) is None]
    d = system.dimension
    known = d - 1 if len(system.fields) == 1 else 0
    point = lie_rank((), d, seed=seed).point
    lie = lie_rank(system.fields, d, seed=seed, laws=max(known, len(independent_laws(laws, point, d))))
    if degree and max(known, len(independent_laws(laws, point, d))) < lie.laws:
        laws += polynomial_laws(system.fields, d, degree, seed=seed)
    chosen = [laws[i] for i in independent_laws(laws, point, d)]
    return Laws(system, lie, tuple(chosen))


def independent_laws(laws: Sequence[Law], point: Sequence[int], dimension: int) -> list[int]:
    """Return the numbers of laws with independent gradients at `point`; a law with a pole there is left out."""
    echelon, kept = Echelon(dimension), []
    for i, law in enumerate(laws):
        try:
            slope = law_slope(law, point, dimension)
        except Invalid:
            continue
        if echelon.add([slope]):
            kept.append(i)
    return kept


def law_text(law: Law, names: Sequence[str]) -> str:
    """Return a law as people write it."""
    numerator, denominator = (text(part, names) for part in law)
    return numerator if denominator == "1" else f"({numerator}) / ({denominator})"


def _certified(laws: Laws) -> dict[str, Any]:
    return {
        "point": list(laws.lie.point),
        "generators": list(laws.lie.generators),
        "brackets": [list(word) for word in laws.lie.brackets],
        "laws": [_plain(law) for law in laws.laws],
    }


def _plain(law: Law) -> dict[str, Any]:
    numerator, denominator = law
    data = {"numerator": _terms(numerator)}
    return data if denominator == {(): 1} else data | {"denominator": _terms(denominator)}


def _terms(p: Polynomial) -> list[list[Any]]:
    return [[str(coefficient), list(monomial)] for monomial, coefficient in p.items()]
