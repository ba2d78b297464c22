"""Certificates of kind ``orbit_ranks``: which gradients a margin loss sees along the orbits of a finite group.

For a scalar model f, a label character chi and a loss phi(y f), put z_g = chi(g) f(gx) and v_g = chi(g) grad f(gx). The
gradients of the averaged loss at x, for all labels y near 0, span the sums b_k = sum_g z_g^k v_g, k in K, the k with
phi^(k+1)(0) != 0. All of it is an integer here, and ranks are exact. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import count, islice
from typing import Any

from lakatos._checker_architectures import Malformed
from lakatos._checker_dynamics import group_action
from lakatos._checker_groups import elements
from lakatos._checker_reading import Invalid, record, sequence, show
from lakatos._checker_sets import Fact

__all__ = [
    "HOMOGENEOUS",
    "LOSSES",
    "MODELS",
    "Orbit",
    "check_orbit_ranks",
    "exact_rank",
    "orbit_rows",
    "orbits",
    "taylor_support",
]

_MOST_ORBIT = 200
_LARGEST_VALUE = 10**6

LOSSES: dict[str, Callable[[int], bool]] = {
    "logistic": lambda k: k == 0 or k % 2 == 1,
    "exponential": lambda k: True,
    "sigmoid": lambda k: k % 2 == 0,
    "squared": lambda k: k <= 1,
}
"""For each loss whether k is in K; ``polynomial-m`` is (1 − z)^m with K = {0, …, m − 1}."""


@dataclass(frozen=True)
class Orbit:
    """Signed values and gradients along the orbit of one input."""

    values: tuple[int, ...]
    gradients: tuple[tuple[int, ...], ...]

    @property
    def is_separated(self) -> bool:
        """Whether the absolute values are pairwise distinct."""
        return len({abs(z) for z in self.values}) == len(self.values)


def taylor_support(loss: str, length: int) -> list[int]:
    """Return the first `length` members of K (all, if there are fewer).

    Raises
    ------
    Malformed
        If the loss is unknown.
    """
    if loss.startswith("polynomial-") and loss[11:].isdigit() and 1 <= int(loss[11:]) <= 64:
        return list(range(int(loss[11:])))[:length]
    if loss not in LOSSES:
        raise Malformed(f"loss={loss!r}: unknown; choose one of {', '.join(LOSSES)} or polynomial-m with 1 <= m <= 64")
    if loss == "squared":
        return [0, 1][:length]
    return list(islice((k for k in count() if LOSSES[loss](k)), length))


def orbits(fields: Mapping[str, Any]) -> list[Orbit]:
    """Return the orbits of an instance with fields model, sizes, weights, inputs, group and character.

    Raises
    ------
    Malformed
        If they do not fit together.
    """
    act = group_action(fields, 1)
    model, sizes = fields.get("model"), [int(n) for n in fields.get("sizes") or ()]
    if model not in MODELS:
        raise Malformed(f"model={model!r}: unknown; choose one of {', '.join(MODELS)}")
    evaluate, shape, parameters = MODELS[model]
    if len(sizes) != shape or min(sizes) < 1:
        raise Malformed(f"sizes={sizes!r}: {model} takes {shape} positive integers")
    weights = _integers(fields.get("weights"), "weights", parameters(sizes))
    group = elements(act)
    if len(group) > _MOST_ORBIT:
        raise Malformed(f"group: {len(group)} elements; orbits of at most {_MOST_ORBIT} are handled")
    found = []
    for i, x in enumerate(fields.get("inputs") or ()):
        point = _integers(x, f"inputs[{i}]", act.inputs)
        values, gradients = [], []
        for matrix, _ in group:
            integral = [[entry for entry in row if isinstance(entry, int)] for row in matrix]
            if any(len(row) < act.inputs for row in integral):
                raise Malformed("group: integer matrices are needed for exact orbits")
            image = [_dot(row, point) for row in integral]
            sign = _character(fields.get("character", "trivial"), matrix)
            value, gradient = evaluate(weights, image, sizes)
            values.append(sign * value)
            gradients.append(tuple(sign * entry for entry in gradient))
        found.append(Orbit(tuple(values), tuple(gradients)))
    if not found:
        raise Malformed("inputs: at least one input is needed")
    return found


def orbit_rows(orbit: Orbit, exponents: Sequence[int]) -> list[list[int]]:
    """Return the rows b_k, k in `exponents`, with 0⁰ = 1."""
    return [
        [
            sum(z**k * v[i] for z, v in zip(orbit.values, orbit.gradients, strict=True))
            for i in range(len(orbit.gradients[0]))
        ]
        for k in exponents
    ]


def exact_rank(rows: Sequence[Sequence[int]]) -> int:
    """Return the rank over the rationals.

    Examples
    --------
    >>> exact_rank([[1, 2], [2, 4], [0, 1]])
    2
    """
    echelon: list[tuple[int, list[Fraction]]] = []
    for row in rows:
        rest = [Fraction(entry) for entry in row]
        for pivot, other in echelon:
            if factor := rest[pivot]:
                rest = [a - factor * b for a, b in zip(rest, other, strict=True)]
        pivot = next((i for i, entry in enumerate(rest) if entry), -1)
        if pivot >= 0:
            echelon.append((pivot, [entry / rest[pivot] for entry in rest]))
        if len(echelon) == len(rest):
            break
    return len(echelon)


def check_orbit_ranks(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the exact ranks over all inputs: of plain gradients, of the averaged loss, and of the averaged squared loss.

    2|G| members of K suffice: the first |G| of one parity span what all of that parity do (Descartes' rule of signs).
    They are seen by labels in an interval; by labels ±1 if scaling the input scales the value, so that inputs on the ray
    through x do the work of labels.
    """
    record(certificate, "certificate", frozenset({"kind"}))
    if not isinstance(fields, Mapping):
        raise Invalid(f"fields={show(fields)}: an object is needed")
    if fields.get("labels", "interval") != "interval" and fields.get("model") not in HOMOGENEOUS:
        raise Invalid(f"labels={show(fields['labels'])}: orbit sums are what they see of homogeneous models only")
    try:
        found = orbits(fields)
        size = len(found[0].values)
        support = taylor_support(str(fields.get("loss")), 2 * size + 1)
    except (Malformed, TypeError, ValueError) as error:
        raise Invalid(f"fields: {error}") from error
    return {
        "plain_rank": exact_rank([v for orbit in found for v in orbit.gradients]),
        "averaged_rank": exact_rank([row for orbit in found for row in orbit_rows(orbit, support)]),
        "squared_rank": exact_rank([row for orbit in found for row in orbit_rows(orbit, (0, 1))]),
    }


def _integers(values: Any, where: str, length: int) -> list[int]:
    numbers = list(sequence(values, where))
    if len(numbers) != length or not all(type(v) is int and abs(v) <= _LARGEST_VALUE for v in numbers):
        raise Malformed(f"{where}={show(values)}: {length} integers of at most {_LARGEST_VALUE} are needed")
    return numbers


def _character(name: Any, matrix: Sequence[Sequence[Any]]) -> int:
    if name == "trivial":
        return 1
    if name != "sign":
        raise Malformed(f"character={name!r}: choose trivial or sign")
    rows = [list(map(Fraction, row)) for row in matrix]
    determinant = Fraction(1)
    for i in range(len(rows)):
        pivot = next(j for j in range(i, len(rows)) if rows[j][i])
        if pivot != i:
            rows[i], rows[pivot] = rows[pivot], rows[i]
            determinant = -determinant
        determinant *= rows[i][i]
        for j in range(i + 1, len(rows)):
            factor = rows[j][i] / rows[i][i]
            rows[j] = [a - factor * b for a, b in zip(rows[j], rows[i], strict=True)]
    return int(determinant)


def _linear(w: Sequence[int], x: Sequence[int], sizes: Sequence[int]) -> tuple[int, list[int]]:
    return _dot(w, x), list(x)


def _units(w: Sequence[int], x: Sequence[int], sizes: Sequence[int], biases: bool) -> list[tuple[int, int, list[int]]]:
    """Output weight, preactivation and what it is linear in, of each hidden unit."""
    r, d = sizes[-2], sizes[-1]
    inputs = [*x, 1] if biases else list(x)
    width = d + biases
    return [(w[j], _dot(w[r + j * width : r + (j + 1) * width], inputs), inputs) for j in range(r)]


def _relu(w: Sequence[int], x: Sequence[int], sizes: Sequence[int], biases: bool = False) -> tuple[int, list[int]]:
    units = _units(w, x, sizes, biases)
    if any(z == 0 for _, z, _ in units):
        raise Malformed("inputs: a hidden unit is at its kink; choose other weights or inputs")
    first = [max(z, 0) for _, z, _ in units]
    return sum(a * z for (a, _, _), z in zip(units, first, strict=True)), first + [
        (a if z > 0 else 0) * entry for a, z, inputs in units for entry in inputs
    ]


def _power(w: Sequence[int], x: Sequence[int], sizes: Sequence[int], biases: bool = False) -> tuple[int, list[int]]:
    m = sizes[0]
    units = _units(w, x, sizes, biases)
    slopes = [m * a * z ** (m - 1) * entry for a, z, inputs in units for entry in inputs]
    return sum(a * z**m for a, z, _ in units), [z**m for _, z, _ in units] + slopes


def _dot(a: Sequence[int], b: Sequence[int]) -> int:
    return sum(p * q for p, q in zip(a, b, strict=True))


MODELS: dict[
    str,
    tuple[
        Callable[[Sequence[int], Sequence[int], Sequence[int]], tuple[int, list[int]]],
        int,
        Callable[[Sequence[int]], int],
    ],
] = {
    "linear": (_linear, 1, lambda s: s[0]),
    "relu": (_relu, 2, lambda s: s[0] * (1 + s[1])),
    "relu-bias": (lambda w, x, s: _relu(w, x, s, True), 2, lambda s: s[0] * (2 + s[1])),
    "power": (_power, 3, lambda s: s[1] * (1 + s[2])),
    "power-bias": (lambda w, x, s: _power(w, x, s, True), 3, lambda s: s[1] * (2 + s[2])),
}
"""Value and gradient, number of sizes, and number of weights: sizes are ([exponent,] [units,] inputs)."""

HOMOGENEOUS = frozenset({"linear", "relu", "power"})
"""Models with f(tx) = t^m f(x), for which labels ±1 along a ray of inputs see what labels in an interval do."""
