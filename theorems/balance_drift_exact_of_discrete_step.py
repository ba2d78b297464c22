"""Gradient descent changes every balance by exactly η²Bg² per step; weight decay and momentum by exact recursions.

Hypotheses
----------
Those of the balance law: acyclic, activation positively homogeneous of degree 1, all weights trained and counted. The step
is that of gradient descent (on any batch), of gradient descent with weight decay, or of heavy ball without decay.

Statement
---------
With g_k the gradient at θ_k and c_k = Bθ_k²: gradient descent has c_{k+1} = c_k + η²Bg_k²; with θ ← (1 − ηλ)θ − ηg,
c_{k+1} = (1 − ηλ)²c_k + η²Bg_k². Heavy ball, v ← μv + g, θ ← θ − ηv, has c_{k+1} = c_k − 2ηq_k + η²Bv_{k+1}² with q_0 = 0,
q_k = μ(q_{k−1} − ηBv_k²). So over a fixed time the drift of c is of order η: conserved in the limit of small steps.

Proof idea
----------
Expand the square; the terms linear in g vanish by the balance law B(θ ⊙ g) = 0. A step s of any other kind changes c by
−2B(θ ⊙ s) + Bs², and Adam, RMSprop, sign steps and clipped entries have B(θ ⊙ s) ≠ 0.

Source
------
Ours; the balance law is in Nurisso, Leroy, Petri, Vaccarino (2026).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal, TypeAlias

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    InputError,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..graphs.structure import is_acyclic
from ..graphs.training_fields import HOMOGENEOUS, MethodName, TrainingFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..numerics.descent import Method
    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S3",)
SOURCE = Source(("nurisso2026",), Provenance.OURS, "the law is the paper's; the discrete identities are ours")

RESOLUTION = (
    1e-10  # rounding of a hundred steps leaves less than this of the summands; wrong recursions leave more than 1e-3
)
EXACT_STEPS = 3  # the numbers grow severalfold in length with each
HALVINGS = 3
_LONGEST = 128  # bits

Sums: TypeAlias = tuple[Fraction, ...]
Recursion: TypeAlias = Callable[["Instance", Sums, Sums, Sums, Sums], tuple[Sums, Sums]]
"""(instance, c_k, q_{k−1}, Bv_k², Bv_{k+1}²) to (c_{k+1}, q_k); without momentum v_{k+1} is the gradient."""


@dataclass(frozen=True)
class Instance(TrainingFields):
    """A network, its data, and the method that trains it.

    Parameters
    ----------
    method : str
        One of `lakatos.numerics.descent.METHODS`.
    rate, momentum, decay : Fraction
        η, μ and λ.
    clip : Fraction
        Of the methods that clip.
    steps : int
        Number of steps over which the recursion is followed.
    batch : int, optional
        Samples of each step, taken in turn; all if left out.
    """

    method: MethodName = "gd"
    rate: Fraction = Fraction(1, 100)
    momentum: Fraction = Fraction(0)
    decay: Fraction = Fraction(0)
    clip: Fraction = Fraction(1)
    steps: int = 20
    batch: int | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.steps < 1:
            raise InputError(f"steps={self.steps!r}: at least one step is needed")

    @property
    def follows_the_flow(self) -> bool:
        """Whether small steps follow gradient flow, without penalty and on all data, from the very start."""
        return self.decay == 0 and self.batch is None and self.method != "heavy_ball"


def _method(instance: Instance, rate: Fraction) -> Method:
    numbers = (float(x) for x in (rate, instance.momentum, instance.decay, instance.clip))
    return numerics.descent.Method(instance.method, *numbers)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    lawful = instance.method == "gd" or (instance.method == "heavy_ball" and instance.decay == 0)
    return (
        Hypothesis("acyclic", is_acyclic(instance.network), "topological order"),
        Hypothesis(
            "activation is positively homogeneous of degree 1",
            instance.activation in HOMOGENEOUS,
            f"activation = {instance.activation}",
        ),
        Hypothesis(
            "the step is of gradient descent, with decay or not, or of heavy ball without decay",
            lawful,
            f"method = {instance.method}, decay = {instance.decay}",
        ),
    )


def derive(instance: Instance) -> Derivation:
    """The balance law of the network, and the identities modulo that law."""
    rule: Literal["gd", "heavy_ball"] = "heavy_ball" if instance.method == "heavy_ball" else "gd"
    law = theory.conservation.conservation_residuals(instance.network)
    steps = theory.steps.drift_residuals(instance.network, rule)
    broken = [f"{residual} at {v}" for found in (law, steps) for v, residual in found.items() if residual != 0]
    return Derivation(
        identity=f"the recursion of c for {rule}, for all weights, gradients and rates",
        residual="; ".join(broken) or "0",
        latex=r"c_{k+1} = (1-\eta\lambda)^2 c_k + \eta^2 B g_k^2"
        if rule == "gd"
        else r"c_{k+1} = c_k - 2\eta q_k + \eta^2 B v_{k+1}^2,\quad q_k = \mu\,(q_{k-1} - \eta B v_k^2)",
    )


def predict(instance: Instance) -> Prediction:
    return _predicted(instance, _recursion)


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    """Trajectories in floating point. All that is random belongs to the instance, so the seed plays no part."""
    network = instance.network
    problem = numerics.training.problem_of(instance, device)
    objective, start = problem.objective(instance.batch), problem.start
    B = numerics.balances.Balances(network, device=device)
    method = _method(instance, instance.rate)
    kept = min(instance.steps, EXACT_STEPS)
    followed = numerics.drift.follow(objective, start, B, method, instance.steps, keep=kept)
    # Rounding of a step is at most 8 n eps of the summands, n the length of the longest sum, and that of steps adds up.
    widest = max(1, int(network.in_degree.max()), int(network.out_degree.max()))
    rounding = 8 * 2.0**-52 * len(objective.data) * widest * network.node_count
    columns = zip(*followed.balances, strict=True)
    estimates = {
        f"balance[{v}]": Estimate(column, kept * rounding * size, "floating point")
        for v, column, size in zip(network.hidden_names, columns, followed.sizes, strict=True)
    }
    estimates["recursion_defect"] = Estimate(followed.recursion_defect, instance.steps * rounding, "floating point")
    if instance.decay == 0:
        half = _method(instance, instance.rate / 2)
        defect = numerics.drift.one_step_defect(objective, start, B, method, half)
        estimates["one_step_defect"] = Estimate(defect, 8 * rounding, "one step beside one at half the rate")
    if instance.follows_the_flow:
        runs = [(_method(instance, instance.rate / 2**k), instance.steps * 2**k) for k in range(HALVINGS + 1)]
        if (verdict := numerics.drift.drift_order(objective, start, B, runs).verdict) is not None:
            estimates["small_step_limit"] = Estimate(
                verdict, 0.0, f"drift up to a fixed time, rate halved {HALVINGS} times"
            )
    return Measurement(estimates)


def _predicted(instance: Instance, recursion: Recursion) -> Prediction:
    network = instance.network
    problem = numerics.training.problem_of(instance)
    data, targets = problem.exact_data(), problem.exact_targets()
    size = instance.batch or len(data)
    batches = []
    for k in range(min(instance.steps, EXACT_STEPS)):
        rows = [(k * size + i) % len(data) for i in range(size)]
        batches.append(([data[i] for i in rows], [targets[i] for i in rows]))
    start = problem.exact_start()
    steps = theory.steps.exact_steps(
        network,
        start,
        batches,
        instance.activation,
        rate=instance.rate,
        decay=instance.decay,
        momentum=instance.momentum if instance.method == "heavy_ball" else Fraction(0),
    )
    c = theory.steps.node_sums(network, [w**2 for w in start])
    q: Sums = (Fraction(0),) * len(c)
    rows_of_c, largest = [], sum(w**2 for w in start)
    for step in steps:
        before, after = (
            theory.steps.node_sums(network, [v**2 for v in velocity])
            for velocity in (step.last_velocity, step.velocity)
        )
        c, q = recursion(instance, c, q, before, after)
        rows_of_c.append(tuple(map(_rounded_if_long, c)))
        largest = max(largest, sum(w**2 for w in step.before))
    resolution = RESOLUTION * float(largest)
    claims = [
        Claim(f"balance[{v}]", Relation.EQUAL, column, resolution)
        for v, column in zip(network.hidden_names, zip(*rows_of_c, strict=True), strict=True)
    ]
    claims.append(Claim("recursion_defect", Relation.EQUAL, 0, RESOLUTION))
    if instance.decay == 0:
        claims.append(Claim("one_step_defect", Relation.EQUAL, 0, RESOLUTION))
    if instance.follows_the_flow:
        claims.append(Claim("small_step_limit", Relation.EQUAL, "conserved"))
    return Prediction(tuple(claims))


def _rounded_if_long(number: Fraction) -> Fraction | float:
    """A verdict of thousands of digits helps nobody, and rounding to a float is far below the resolution."""
    return number if number.denominator.bit_length() <= _LONGEST else float(number)


def _recursion(instance: Instance, c: Sums, q: Sums, before: Sums, after: Sums) -> tuple[Sums, Sums]:
    """The statement: `before` and `after` are Bv_k² and Bv_{k+1}²; without momentum q stays 0 and v is the gradient."""
    eta, mu = instance.rate, instance.momentum if instance.method == "heavy_ball" else Fraction(0)
    shrink = (1 - eta * instance.decay) ** 2
    q = tuple(mu * (a - eta * b) for a, b in zip(q, before, strict=True))
    return tuple(shrink * a - 2 * eta * b + eta**2 * d for a, b, d in zip(c, q, after, strict=True)), q


# False variants: other recursions, and other methods.


def _no_drift(instance: Instance, c: Sums, q: Sums, before: Sums, after: Sums) -> tuple[Sums, Sums]:
    return c, q


def _decay_not_squared(instance: Instance, c: Sums, q: Sums, before: Sums, after: Sums) -> tuple[Sums, Sums]:
    eta = instance.rate
    return tuple((1 - eta * instance.decay) * a + eta**2 * b for a, b in zip(c, after, strict=True)), q


def _without_q(instance: Instance, c: Sums, q: Sums, before: Sums, after: Sums) -> tuple[Sums, Sums]:
    return tuple(a + instance.rate**2 * b for a, b in zip(c, after, strict=True)), q


def instances() -> SearchStrategy[Fields]:
    return _trainings(["gd", "heavy_ball"])


def _trainings(methods: Sequence[str], decay: bool = False) -> SearchStrategy[Fields]:
    """Small networks, two samples of which come with the instance, and a few small steps."""
    from hypothesis import strategies as st

    from ..testing import homogeneous_mlps

    def trained(fields: Fields, method: str, seed: int) -> Fields:
        extra = {"method": method, "samples": 2, "steps": 3, "data_seed": seed, "rate": "1/256", "momentum": "1/2"}
        return {**fields, **extra, "decay": 1 if decay else 0}

    return st.builds(trained, homogeneous_mlps(), st.sampled_from(methods), st.integers(0, 3))


_TWO_EDGES = {"edges": [["x", "v", 2], ["v", "y", 1]], "data": [[1]], "targets": [[0]], "rate": "1/20", "steps": 2}

VARIANTS = {
    "balance_conserved_exactly": Variant(
        "gradient descent keeps c",
        predict=lambda instance: _predicted(instance, _no_drift),
        examples=(_TWO_EDGES,),
    ),
    "decay_not_squared": Variant(
        "weight decay multiplies c by 1 − ηλ",
        predict=lambda instance: _predicted(instance, _decay_not_squared),
        instances=lambda: _trainings(["gd"], decay=True),
        examples=({**_TWO_EDGES, "decay": 1},),
    ),
    "momentum_without_memory": Variant(
        "heavy ball obeys the recursion of gradient descent with v in place of g",
        predict=lambda instance: _predicted(instance, _without_q),
        instances=lambda: _trainings(["heavy_ball"]),
        examples=({**_TWO_EDGES, "method": "heavy_ball", "momentum": "1/2"},),
    ),
    "any_method": Variant(
        "Adam, RMSprop, sign steps and clipped entries change c in second order only",
        hypotheses=lambda instance: hypotheses(instance)[:2],
        instances=lambda: _trainings(["adam", "adamw", "rmsprop", "sign"]),
        examples=tuple({**_TWO_EDGES, "method": name} for name in ("adam", "rmsprop", "sign", "clip_entries")),
    ),
}
