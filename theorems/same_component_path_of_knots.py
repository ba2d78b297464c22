"""Two points of the invariant set are joined inside it, by finitely many knots, iff the signs of all frozen weights agree.

Hypotheses
----------
Both points lie in the invariant set.

Statement
---------
If θ⁰ and θ¹ in H agree in the signs of all frozen weights, finitely many segments θ(t) = s ⊙ √((1−t)u_i + t u_{i+1})
join them inside H, where s is constant on a segment and the u_i are in P; otherwise nothing joins them.

Proof idea
----------
B u = c is linear in u, so each segment stays in H. Go to a point of P at which as many weights with differing signs as
possible vanish, flip these, and repeat: a weight that is not frozen vanishes somewhere. A frozen one keeps its sign on
any path.

Source
------
Ours.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .. import numerics
from ..core import Claim, Estimate, Evidence, Hypothesis, Measurement, Prediction, Provenance, Relation, Source, Variant
from ..graphs.paths import component_path
from ..graphs.point_fields import PathFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S16",)
SOURCE = Source(("nurisso2026",), Provenance.OURS, "the components are those of the paper")

Instance = PathFields

RESOLUTION = (
    1e-12  # of the largest square on the path: rounding of a sum at a node leaves less, a straight line 0.1 and more
)


def hypotheses(instance: PathFields) -> tuple[Hypothesis, ...]:
    errors = [instance.balance_error("start", instance.start), instance.balance_error("end", instance.end)]
    how = "; ".join(error for error in errors if error) or "exact balances of both"
    return (Hypothesis("both points lie in the invariant set", not any(errors), how),)


def predict(instance: PathFields) -> Prediction:
    path = component_path(instance.network, instance.start, instance.end)
    claims = [Claim("joined", Relation.EQUAL, path.joined)]
    if path.knots is not None:
        largest = max((abs(w) for knot in path.knots for w in knot), default=0)
        resolution = RESOLUTION * max(1.0, float(largest))
        claims.append(Claim("residual_along_the_path", Relation.AT_MOST, 0, resolution))
    return Prediction(tuple(claims), (path.certificate,))


def measure(instance: PathFields, seed: int, device: str) -> Measurement:
    """Gluing of sign pieces for whether there is a path, if there are few edges; points along one."""
    network = instance.network
    estimates = {}
    if network.edge_count <= numerics.gluing.LARGEST:
        ends = zip(instance.start, instance.end, strict=True)
        differing = sum(1 << e for e, (a, b) in enumerate(ends) if a * b < 0)
        estimates["joined"] = Estimate(differing in numerics.gluing.sign_changes(network), how="glued sign pieces")
    path = component_path(network, instance.start, instance.end)
    if path.knots is not None:
        seen = numerics.path_samples.sample_path(network, path.knots)
        # A sign that changes elsewhere than at zero is a jump: the path leaves the set there, by at least that square.
        residual = max(seen.residual, seen.largest_crossing**2)
        estimates["residual_along_the_path"] = Estimate(residual, how=f"{len(path.knots)} knots, 400 points each")
    return Measurement(estimates, evidence=Evidence.INTERVAL)


def instances() -> SearchStrategy[Fields]:
    from ..testing import dags_with_points

    return dags_with_points("start", "end")


# False variants: other conditions for being joined.


def _straight_line(instance: PathFields) -> Prediction:
    """On the segment from θ⁰ to θ¹, Bθ² is quadratic in time: it is constant iff B(θ⁰ − θ¹)² = 0."""
    network = instance.network
    moved = {v: 0.0 for v in network.hidden_nodes.tolist()}
    for a, b, w, z in zip(network.tail.tolist(), network.head.tolist(), instance.start, instance.end, strict=True):
        roots = [(1 if x >= 0 else -1) * float(abs(x)) ** 0.5 for x in (w, z)]
        for v, sign in ((a, -1), (b, 1)):
            if v in moved:
                moved[v] += sign * (roots[0] - roots[1]) ** 2
    # Squares of differences of roots: zero up to rounding, or not.
    return _claims(all(abs(x) < RESOLUTION for x in moved.values()))


def _always(instance: PathFields) -> Prediction:
    return _claims(True)


def _bottlenecks_agree(instance: PathFields) -> Prediction:
    network = instance.network
    single = [
        e
        for e, (a, b) in enumerate(zip(network.tail.tolist(), network.head.tolist(), strict=True))
        if (network.hidden[a] and network.out_degree[a] == 1) or (network.hidden[b] and network.in_degree[b] == 1)
    ]
    agree = all(instance.start[e] * instance.end[e] >= 0 for e in single)
    return _claims(agree)


def _claims(joined: bool) -> Prediction:
    path = Claim("residual_along_the_path", Relation.AT_MOST, 0, RESOLUTION)
    return Prediction((Claim("joined", Relation.EQUAL, joined), path))


TWO_IN = [["x1", "v"], ["x2", "v"], ["v", "y"]]

VARIANTS = {
    "straight_line": Variant(
        "joined iff the straight line between the two stays in the set",
        predict=_straight_line,
        examples=({"edges": TWO_IN, "balance": {"v": 1}, "start": [1, 1, 1], "end": [-1, 1, 1]},),
    ),
    "equal_balances_suffice": Variant(
        "any two points with the same balances are joined",
        predict=_always,
        examples=({"edges": [["x", "v"], ["v", "y"]], "balance": {"v": 1}, "start": [2, 1], "end": [-2, 1]},),
    ),
    "bottleneck_signs_have_to_agree": Variant(
        "joined iff the signs of all single incoming and single outgoing weights agree, frozen or not",
        predict=_bottlenecks_agree,
        examples=({"edges": TWO_IN, "balance": {"v": 1}, "start": [1, 1, 1], "end": [1, 1, -1]},),
    ),
}
