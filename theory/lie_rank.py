"""Rank of the Lie algebra that polynomial vector fields generate, at a random point modulo a prime.

Iterated brackets are written as words (see `lakatos._checker_laws`) and evaluated for many words at once, with nilpotent
numbers: arrays whose leading axis of length 2^L counts the subsets of L numbers eps_i with eps_i² = 0. Every independent
value is a proof, since rank modulo a prime ≤ rank over ℚ; that no further bracket helps is only very likely.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .._checker_laws import LONGEST_WORD
from .._checker_polynomials import VectorField, residue
from .modular import PRIME, Echelon, Residues, random_residues

__all__ = ["CompiledFields", "LieRank", "lie_rank"]

_LARGEST_BATCH = 1 << 22  # products of monomials times 2^L at once: about 32 MB per array
_MISSES = 4


@dataclass(frozen=True)
class LieRank:
    """Independent generators and brackets at a point; `stopped` says that no further bracket was found.

    Parameters
    ----------
    dimension : int
        D, the number of parameters.
    span_rank : int
        Rank of the generators alone.
    point : tuple of int
        Where everything was evaluated.
    generators, brackets
        Words whose values are independent there.
    stopped : bool
        True if a level of brackets added nothing, or the rank is D: then `rank` is exact but for a chance of about D²/PRIME.
    """

    dimension: int
    span_rank: int
    point: tuple[int, ...]
    generators: tuple[int, ...]
    brackets: tuple[tuple[int, ...], ...]
    stopped: bool

    @property
    def rank(self) -> int:
        """Proved lower bound of the generic dimension of the Lie algebra."""
        return len(self.generators) + len(self.brackets)

    @property
    def laws(self) -> int:
        """D − rank, a proved upper bound of the number of laws."""
        return self.dimension - self.rank

    @property
    def depth(self) -> int:
        """Letters of the longest bracket needed; 1 if the generators suffice."""
        return max(map(len, self.brackets), default=1)


class CompiledFields:
    """Polynomial vector fields as arrays, for evaluating words in them.

    Parameters
    ----------
    fields : sequence of VectorField
        On the space of variables 0, …, dimension − 1.
    """

    def __init__(self, fields: Sequence[VectorField], dimension: int) -> None:
        self.count, self.dimension = len(fields), dimension
        terms = [
            (g, i, residue(coefficient, PRIME), monomial)
            for g, field in enumerate(fields)
            for i, component in field.items()
            for monomial, coefficient in component.items()
        ]
        degree = max((len(monomial) for *_, monomial in terms), default=0)
        padded = [(*monomial, *(dimension,) * (degree - len(monomial))) for *_, monomial in terms]
        self._generator = np.array([term[0] for term in terms], np.int64)
        self._component = np.array([term[1] for term in terms], np.int64)
        self._coefficient = np.array([term[2] for term in terms], np.int64)
        self._variables = np.array(padded, np.int64).reshape(len(terms), degree)
        self._start = np.searchsorted(self._generator, np.arange(self.count + 1))

    def values(self, words: Residues, point: Sequence[int] | Residues) -> Residues:
        """Return the values of `words` (one per row, all of one length) at `point`, or each at its row of `point`."""
        points = np.broadcast_to(np.asarray(point, np.int64) % PRIME, (len(words), self.dimension))
        longest = int(np.max(self._start[1:] - self._start[:-1], initial=1))
        terms = len(self._generator) if (words < 0).any() else longest
        size = max(1, _LARGEST_BATCH // max(1, terms << (words.shape[1] - 1)))
        parts = []
        for first in range(0, len(words), size):
            batch = words[first : first + size]
            ones = np.ones((len(batch), 1), np.int64)  # the variable that pads short monomials
            theta = np.concatenate([points[first : first + size], ones], axis=1)[None]
            parts.append(self._bracket(batch, theta)[0])
        return np.concatenate(parts) if parts else np.zeros((0, self.dimension), np.int64)

    def sample_of_each_component(self, generator: np.random.Generator) -> list[int]:
        """Return for each component up to three generators that have it."""
        order = generator.permutation(len(self._component))
        by_component = order[np.argsort(self._component[order], kind="stable")]
        first = np.searchsorted(self._component[by_component], np.arange(self.dimension + 1))
        picked = [by_component[a : min(a + 3, b)] for a, b in itertools.pairwise(first)]
        return list(dict.fromkeys(self._generator[np.concatenate(picked)].tolist())) if picked else []

    def _bracket(self, words: Residues, theta: Residues) -> Residues:
        """[F, H] = DH·F − DF·H, the derivatives being the new halves of H(θ + eps F) and F(θ + eps H)."""
        if words.shape[1] == 1:
            return self._letter(words[:, 0], theta)
        half = len(theta)
        f, h = self._bracket(words[:, :-1], theta), self._letter(words[:, -1], theta)
        along_f = self._letter(words[:, -1], _extended(theta, f))[half:]
        along_h = self._bracket(words[:, :-1], _extended(theta, h))[half:]
        return (along_f - along_h) % PRIME

    def _letter(self, letters: Residues, theta: Residues) -> Residues:
        chosen, rows, weights = [], [], []
        for row, letter in enumerate(letters.tolist()):
            dense = letter < 0
            first, last = (0, len(self._generator)) if dense else (self._start[letter], self._start[letter + 1])
            terms = np.arange(first, last)
            weight = self._coefficient[first:last]
            chosen.append(terms)
            rows.append(np.full(len(terms), row))
            weights.append(weight * self._powers(-letter)[self._generator] % PRIME if dense else weight)
        term, row_of = np.concatenate(chosen), np.concatenate(rows)
        value = np.zeros((len(theta), len(term)), np.int64)
        value[0] = np.concatenate(weights)
        for column in self._variables[term].T:
            value = _times(value, theta[:, row_of, column])
        out = np.zeros((len(theta), len(letters) * self.dimension), np.int64)
        place = row_of * self.dimension + self._component[term]
        for subset in range(len(theta)):
            np.add.at(out[subset], place, value[subset])
        return (out % PRIME).reshape(len(theta), len(letters), self.dimension)

    def _powers(self, base: int) -> Residues:
        powers = np.ones(self.count, np.int64)
        for j in range(1, self.count):
            powers[j] = powers[j - 1] * base % PRIME
        return powers


def lie_rank(
    fields: Sequence[VectorField],
    dimension: int,
    *,
    seed: int = 0,
    laws: int = 0,
    longest: int = LONGEST_WORD,
) -> LieRank:
    """Return independent generators and brackets of `fields` at a random point, as many as are found.

    Parameters
    ----------
    fields : sequence of VectorField
        Generators.
    dimension : int
        D.
    laws : int
        Number of independent laws that are known; the search stops at rank D − laws, which cannot be exceeded.
    longest : int
        Most letters of a bracket.

    Examples
    --------
    >>> from .._checker_polynomials import gradient
    >>> lie_rank([gradient({(0, 1): 1})], 2).laws
    1
    """
    generator = np.random.default_rng(seed)
    # No zero entry: a coordinate hyperplane is not generic.
    point = tuple(generator.integers(1, PRIME, dimension).tolist())
    compiled = CompiledFields(fields, dimension)
    echelon, limit = Echelon(dimension), dimension - laws
    generators = _independent_generators(compiled, point, echelon, limit, generator)
    span_rank = echelon.rank
    brackets: list[tuple[int, ...]] = []
    level: list[tuple[int, ...]] = [(g,) for g in range(compiled.count)]
    length = 2
    while level and echelon.rank < limit and length <= longest:
        level = _next_level(compiled, point, echelon, limit, level, generator)
        brackets += level
        length += 1
    stopped = echelon.rank == limit or not level
    return LieRank(dimension, span_rank, point, tuple(generators), tuple(brackets), stopped)


def _independent_generators(
    compiled: CompiledFields, point: Sequence[int], echelon: Echelon, limit: int, generator: np.random.Generator
) -> list[int]:
    """Try generators until a few rounds of D, and then a few combinations of all, add nothing.

    A few generators with each component come first, since rare components would be met late in a random order.
    """
    order = compiled.sample_of_each_component(generator)
    order += generator.permutation(compiled.count).tolist()
    kept: list[int] = []
    idle = 0
    size = 2 * compiled.dimension + 10

    def attempt(letters: Residues) -> int:
        raised = echelon.add(compiled.values(letters[:, None], point), limit)
        kept.extend(int(letters[i]) for i in raised)
        return len(raised)

    for first in range(0, len(order), size):
        idle = 0 if attempt(np.array(order[first : first + size])) else idle + 1
        if idle > _MISSES or echelon.rank >= limit:
            break
    while idle > _MISSES and echelon.rank < limit:
        if not attempt(-generator.integers(1, PRIME, _MISSES)):
            break
    return kept


def _next_level(
    compiled: CompiledFields,
    point: Sequence[int],
    echelon: Echelon,
    limit: int,
    level: Sequence[tuple[int, ...]],
    generator: np.random.Generator,
) -> list[tuple[int, ...]]:
    """Return the independent words one letter longer: first words in few letters, which are cheap to check, then dense ones.

    Words in generators may stop early although brackets are missing; combinations of all generators do not, but for a
    chance of about (number of generators)/PRIME, since a bracket is linear in each of them.
    """
    length = len(level[0]) + 1
    found: list[tuple[int, ...]] = []

    def attempt(words: Residues) -> int:
        raised = echelon.add(compiled.values(words, point), limit)
        found.extend(tuple(words[i].tolist()) for i in raised)
        return len(raised)

    prefixes = np.array(level, np.int64)
    for _ in range(3):
        missing = limit - echelon.rank
        count = min(8 * missing + 16, 1024)
        chosen = prefixes[generator.integers(0, len(prefixes), count)]
        letters = generator.integers(0, compiled.count, (count, 1))
        if not missing or 4 * attempt(np.concatenate([chosen, letters], axis=1)) < missing:
            break
    while echelon.rank < limit:
        dense = -random_residues(generator, min(limit - echelon.rank, 64) + _MISSES, length)
        if not attempt(np.where(dense == 0, -1, dense)):
            break
    return found


def _extended(theta: Residues, direction: Residues) -> Residues:
    """θ + eps·direction for a new eps; the last column of θ is the constant 1."""
    padded = np.concatenate([direction, np.zeros((*direction.shape[:2], 1), np.int64)], axis=2)
    return np.concatenate([theta, padded])


def _times(a: Residues, b: Residues) -> Residues:
    if len(a) == 1:
        return a * b % PRIME
    out = np.zeros_like(a)
    for subset in range(len(a)):
        part = subset
        while True:
            out[subset] += a[part] * b[subset ^ part] % PRIME
            if part == 0:
                break
            part = (part - 1) & subset
        out[subset] %= PRIME
    return out
