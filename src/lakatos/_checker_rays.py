"""Certificates of kind ``ray_ranks``: which gradients a margin loss with labels ±1 sees along rays of inputs.

The gradient of the averaged loss at tx with label y is y sum_g phi'(y z_g) v_g / |G|, with z_g = chi(g) f(gtx) and
v_g = chi(g) grad f(gtx). At integer points all z_g are integers, and phi' of them is a rational function of q = 1/e, which is
transcendental. So the gradients are as independent as they are for a variable q, and at least as independent as for any q
modulo a prime. They are at most as independent as the v_g, which are polynomials in t beyond the last kink: degree + 1 values
of t span what all of them do. Where the two ranks meet, nothing is lost. Standard library only.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from lakatos._checker_architectures import Malformed
from lakatos._checker_laws import PRIME, independent_rows
from lakatos._checker_orbits import Orbit, exact_rank, orbits, taylor_support
from lakatos._checker_reading import Invalid, record, sequence, show
from lakatos._checker_sets import Fact

__all__ = ["check_ray_ranks", "gradient_rows", "ray_orbits", "ray_points"]

_MOST_POINTS = 2000


def _reciprocal(value: int) -> int:
    try:
        return pow(value, -1, PRIME)
    except ValueError:
        raise Invalid("base: a denominator vanishes modulo the prime; choose another one") from None


def _polynomial(m: int) -> Callable[[int, int], int]:
    return lambda z, q: -m * (1 - z) ** (m - 1) % PRIME


SLOPES: dict[str, Callable[[int, int], int]] = {
    "logistic": lambda z, q: -_reciprocal(1 + pow(q, -z, PRIME)),
    "exponential": lambda z, q: -pow(q, z, PRIME),
    "sigmoid": lambda z, q: -_reciprocal((1 + pow(q, z, PRIME)) * (1 + pow(q, -z, PRIME))),
    "squared": lambda z, q: z - 1,
}
"""phi'(z) modulo the prime, with q in place of 1/e."""


def ray_points(fields: Mapping[str, Any]) -> range:
    """Return as many integers t as fix polynomials of the degree of values and gradients in t, none before a kink.

    A hidden unit is at t(w·x) + b, with integers w·x and b, so that its sign is settled for t > |b|.
    """
    model, sizes = fields.get("model"), [int(n) for n in fields.get("sizes") or ()]
    degree, first = 1, 1
    if str(model).startswith("power"):
        degree = sizes[0]
    elif model == "relu-bias":
        units, inputs = sizes
        weights = list(fields["weights"])
        first += max(abs(int(weights[units + j * (inputs + 1) + inputs])) for j in range(units))
    return range(first, first + degree + 1)


def ray_orbits(fields: Mapping[str, Any], points: Sequence[int]) -> list[list[Orbit]]:
    """Return for each input x of the instance its orbits at the inputs tx, t in `points`.

    Raises
    ------
    Malformed
        If fields do not fit together, or a hidden unit is at its kink.
    """
    inputs = [list(x) for x in fields.get("inputs") or ()]
    return [orbits({**fields, "inputs": [[t * entry for entry in x] for t in points]}) for x in inputs]


def gradient_rows(rays: Sequence[Sequence[Orbit]], loss: str, q: int) -> list[list[int]]:
    """Return gradients of the averaged loss at all points of `rays` with labels 1 and −1, modulo the prime."""
    slope = _polynomial(int(loss[11:])) if loss.startswith("polynomial-") else SLOPES[loss]
    rows = []
    for orbit in (orbit for ray in rays for orbit in ray):
        for y in (1, -1):
            factors = [y * slope(y * z, q) for z in orbit.values]
            columns = zip(*orbit.gradients, strict=True)
            rows.append([sum(s * v for s, v in zip(factors, column, strict=True)) % PRIME for column in columns])
    return rows


def check_ray_ranks(fields: Any, certificate: Mapping[str, Any]) -> dict[str, Fact]:
    """Return the rank of plain gradients along all rays of the instance, and that of averaged ones, which is the same."""
    record(certificate, "certificate", frozenset({"kind", "points", "base"}))
    points, base = list(sequence(certificate["points"], "points")), certificate["base"]
    if not all(type(t) is int for t in (*points, base)) or len(points) > _MOST_POINTS:
        raise Invalid(f"points, base: integers are needed, and at most {_MOST_POINTS} points")
    if not 1 < base < PRIME - 1:
        raise Invalid(f"base={base!r}: a number between 1 and {PRIME - 1} is needed")
    if not isinstance(fields, Mapping):
        raise Invalid(f"fields={show(fields)}: an object is needed")
    try:
        taylor_support(str(fields.get("loss")), 1)
        first = ray_points(fields)
        if any(t < first[0] for t in points):
            raise Invalid(f"points: {min(points)} may come before a kink; start at {first[0]}")
        plain = exact_rank([v for ray in ray_orbits(fields, first) for orbit in ray for v in orbit.gradients])
        rows = gradient_rows(ray_orbits(fields, points), str(fields["loss"]), base)
    except (Malformed, TypeError, ValueError) as error:
        raise Invalid(f"fields: {error}") from error
    if (rank := len(independent_rows(rows))) < plain:
        raise Invalid(f"points, base: only {rank} independent gradients of {plain}")
    return {"plain_rank": plain, "averaged_rank": plain}
