"""A hypothesis after a step of gradient descent is the alternating series of its derivative correlations.

Hypotheses
----------
F is analytic in θ, and the displacement is within the radius of convergence: always for polynomials and entire activations.

Statement
---------
With v = Σ_b c_b ∇F(x_b): F(θ − ηv) − F(θ) = Σ_{d ≥ 1} (−1)^d C_{0,d}[v^d], and C_{D,0} changes by Σ_{d ≥ 1} (−1)^d
C_{D,d}[v^d].
F(θ + √η(−J p + q)) = Σ_{D,d ≥ 0} C_{D,d}(θ)[(−p)^d; q^D], and √η∇F is there Σ_{D ≥ 1, d} D C_{D,d}(θ)[(−p)^d; q^(D−1), ·].
Cut off after d = k, the first leaves an error of order k + 1 in v.

Proof idea
----------
Taylor's formula, regrouped by how often J p and q occur.

Source
------
Shem-Ur and Oz (2024) for the expansion; exact form, and the order of derivatives as D + d, are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

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
from ..theory.activation_fields import ENTIRE, KINKED
from ..theory.one_hidden_fields import OneHiddenFields
from ..theory.polynomial_fields import PolynomialFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC02",)
SOURCE = Source(("shemur2024",), Provenance.SHARPENED, "the expansion is the paper's; its exact form is ours")

RESOLUTION = 1e-10  # times the sum of the absolute values of all terms: rounding only
ORDER_RESOLUTION = 0.2
_LARGEST_ORDER = 6
_MOST_FREE = 4


@dataclass(frozen=True)
class Instance:
    """A polynomial hypothesis and what moves it, or a network whose series is cut off.

    Parameters
    ----------
    hypothesis : table, optional
        Polynomials F(θ)(x_0), F(θ)(x_1), …, a point and a rate.
    c : tuple of numbers
        Loss derivative at every input of it.
    p, q : tuples of numbers, optional
        A further displacement η(−Σ_b p_b ∇F(x_b) + q).
    free : rows of numbers, optional
        u_1, …, u_D: C_{D,0}[√η u_1, …, √η u_D] is expanded too, and with `q` the derivative of F along √η u_1.
    network : table, optional
        A network with one hidden layer in place of the polynomials.
    orders : tuple of int
        Where its series is cut off: d ≤ k, for k from 1 to 6.
    """

    hypothesis: PolynomialFields | None = None
    c: tuple[Fraction, ...] = ()
    p: tuple[Fraction, ...] = ()
    q: tuple[Fraction, ...] = ()
    free: tuple[tuple[Fraction, ...], ...] = ()
    network: OneHiddenFields | None = None
    orders: tuple[int, ...] = (1, 2, 3)

    def __post_init__(self) -> None:
        if (self.hypothesis is None) == (self.network is None):
            raise InputError("hypothesis: give either this table or the table `network`")
        if self.network is not None and (not self.orders or not all(1 <= k <= _LARGEST_ORDER for k in self.orders)):
            raise InputError(f"orders={list(self.orders)!r}: numbers from 1 to {_LARGEST_ORDER} are needed")
        if (model := self.hypothesis) is None:
            return
        count = len(model.functions)
        if len(self.c) != count or len(self.p) not in (0, count):
            raise InputError(f"c, p: {len(self.c)} and {len(self.p)} numbers; {count} are needed, one for each input")
        if self.q:
            model.require_vector("q", self.q)
        for i, u in enumerate(self.free):
            model.require_vector(f"free[{i}]", u)
        if len(self.free) > _MOST_FREE:
            raise InputError(f"free: {len(self.free)} rows; at most {_MOST_FREE}")
        if bool(self.p) != bool(self.q):
            raise InputError("p, q: give both or neither")


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    if instance.network is None:
        return (Hypothesis("F is analytic", True, "a polynomial"),)
    name = instance.network.activation
    if name in KINKED:
        return (Hypothesis("F is analytic", False, f"{name} has a kink, which no derivative sees"),)
    return (Hypothesis("F is analytic", True, name), _converges(instance.network))


def _converges(network: OneHiddenFields) -> Hypothesis:
    """Every neuron moves by less than its distance to the nearest singularity of φ."""
    name = "the displacement is within the radius of convergence"
    if network.activation in ENTIRE:
        return Hypothesis(name, True, f"{network.activation} is entire")
    ratio = theory.one_hidden.largest_displacement_ratio(network)
    return Hypothesis(name, ratio < 1, f"largest displacement of a neuron over its radius: {ratio:.3g}")


STEP, CHANGE = "F(θ − ηv) − F(θ)", "C_{D,0}(θ − ηv) − C_{D,0}(θ), along √η u"
MOVED, SLOPE = "F(θ + η(−p·∇F + q))", "√η u·∇F(θ + η(−p·∇F + q))"


def _series(
    instance: Instance, *, signs: bool = True, factorials: bool = True, choices: bool = True
) -> dict[str, Fraction]:
    """Return the sums of the series."""
    model = instance.hypothesis
    assert model is not None
    functions, theta, eta, exact = model.polynomials, model.theta, model.rate, theory.correlations
    sums = {STEP: exact.series_of_step(functions, theta, eta, instance.c, signs=signs, factorials=factorials)}
    if free := instance.free:
        sums[CHANGE] = exact.series_of_step(functions, theta, eta, instance.c, free, signs=signs, factorials=factorials)
    if instance.q:
        at = (functions, theta, eta, instance.p, instance.q)
        sums[MOVED] = exact.series_at_displacement(*at, factorials=factorials)
        if free:
            sums[SLOPE] = exact.series_at_displacement(*at, free[0], factorials=factorials, choices=choices)
    return sums


def _displaced(instance: Instance) -> dict[str, Fraction]:
    """Return the same by moving θ."""
    model = instance.hypothesis
    assert model is not None
    exact, size, eta = theory.correlations, len(model.parameters), model.rate
    at = model.theta
    slopes = [[exact.evaluated(s, at) for s in exact.gradient_vector(f, size)] for f in model.polynomials]

    def combined(weights: Sequence[Fraction]) -> list[Fraction]:
        return [sum((w * s[i] for w, s in zip(weights, slopes, strict=True)), Fraction(0)) for i in range(size)]

    F = model.polynomials[0]
    after = exact.shifted(at, combined(instance.c), -eta)
    values = {STEP: exact.evaluated(F, after) - exact.evaluated(F, at)}
    free = [[exact.constant(entry) for entry in u] for u in instance.free]
    if free:
        along, factor = exact.derivative_along(F, free), exact.normalization(len(free), 0) * eta ** len(free)
        values[CHANGE] = factor * (exact.evaluated(along, after) - exact.evaluated(along, at))
    if instance.q:
        there = exact.shifted(exact.shifted(at, combined(instance.p), -eta), instance.q, eta)
        values[MOVED] = exact.evaluated(F, there)
        if free:
            values[SLOPE] = eta * exact.evaluated(exact.derivative_along(F, free[:1]), there)
    return values


def derive(instance: Instance) -> Derivation:
    return _derivation(instance)


def _derivation(instance: Instance, **changes: bool) -> Derivation:
    """Move θ exactly and subtract the series; for networks there is nothing to settle."""
    identity = "F(θ − ηv) = Σ_d (−1)^d C_{0,d}[v^d]"
    if instance.hypothesis is None:
        return Derivation(identity, "0")
    sums, values = _series(instance, **changes), _displaced(instance)
    residual = next((str(values[key] - sums[key]) for key in sums if values[key] != sums[key]), "0")
    return Derivation(identity, residual, r"F(\theta - \eta v) = \sum_d (-1)^d C_{0,d}[v^d]", settles=tuple(sums))


def predict(instance: Instance) -> Prediction:
    return _prediction(instance)


def _prediction(instance: Instance, *, more: int = 1, **changes: bool) -> Prediction:
    if instance.hypothesis is not None:
        return Prediction(tuple(Claim(name, Relation.EQUAL, v) for name, v in _series(instance, **changes).items()))
    return Prediction(
        tuple(Claim(_quantity(k), Relation.AT_LEAST, k + more, ORDER_RESOLUTION) for k in instance.orders)
    )


def _quantity(k: int) -> str:
    return f"order of the error after {k} term{'s' * (k > 1)}"


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    if instance.network is not None:
        return _measured_orders(instance, device)
    model, poly = instance.hypothesis, numerics.polynomials
    assert model is not None
    eta = float(model.rate)
    values: list[dict[str, float]] = []
    for majorant in (False, True):
        sign = 1.0 if majorant else -1.0
        functions = [poly.polynomial(terms, device, majorant=majorant) for terms in model.terms]
        theta, c, p, q, *free = (
            poly.as_vector(numbers, device).abs() if majorant else poly.as_vector(numbers, device)
            for numbers in (model.theta, instance.c, instance.p, instance.q, *instance.free)
        )
        slopes = [poly.gradient(f, theta) for f in functions]
        after = theta + sign * eta * sum(w * s for w, s in zip(c, slopes, strict=True))
        F = functions[0]
        found = {STEP: float(F(after) + sign * F(theta))}
        if free:
            change = poly.derivative_along(F, after, free) + sign * poly.derivative_along(F, theta, free)
            found[CHANGE] = eta ** len(free) * change / math.factorial(len(free))
        if instance.q:
            there = theta + eta * (sign * sum(w * s for w, s in zip(p, slopes, strict=True)) + q)
            found[MOVED] = float(F(there))
            if free:
                found[SLOPE] = eta * poly.derivative_along(F, there, free[:1])
        values.append(found)
    measured, sizes = values
    return Measurement({name: Estimate(value, RESOLUTION * sizes[name], "θ moved") for name, value in measured.items()})


def _measured_orders(instance: Instance, device: str) -> Measurement:
    net, poly = instance.network, numerics.polynomials
    assert net is not None
    coefficients = tuple(map(float, net.coefficients))
    network = numerics.series_residuals.Network(
        numerics.activations.Activation(net.activation, coefficients),
        poly.as_vector(net.output, device),
        poly.as_matrix(net.hidden, device),
        poly.as_matrix(net.inputs, device),
        poly.as_vector(net.c, device),
        float(net.rate),
    )
    orders = numerics.series_residuals.residual_orders(network, instance.orders)
    return Measurement({_quantity(k): Estimate(o.value, o.error, "steps halved") for k, o in orders.items()})


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import polynomial_hypotheses, small_fractions

    @st.composite
    def displacements(draw: st.DrawFn) -> Fields:
        model = draw(polynomial_hypotheses())

        def numbers(count: int) -> list[Any]:
            return draw(st.lists(small_fractions(), min_size=count, max_size=count))

        inputs, size = len(model["functions"]), len(model["parameters"])
        fields: Fields = {"hypothesis": model, "c": numbers(inputs)}
        if draw(st.booleans()):
            fields |= {"p": numbers(inputs), "q": numbers(size)}
        return {**fields, "free": [numbers(size) for _ in range(draw(st.integers(0, 2)))]}

    return displacements()


def _networks() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    nets = st.builds(
        lambda name, a, w: {"activation": name, "output": [a], "hidden": [[w]], "inputs": [[1], [1]], "c": [1]},
        st.sampled_from(["sin", "erf"]),
        st.sampled_from(["1/2", 1]),
        st.sampled_from(["1/2", "1/3"]),
    )
    return st.builds(lambda net: {"network": net, "orders": [1]}, nets)


# False variants.


def _order_of_the_derivative(instance: Instance) -> Prediction:
    """The first index counts all derivatives, so that the series starts with Θ itself."""
    model = instance.hypothesis
    if model is None:
        return predict(instance)
    exact, size = theory.correlations, len(model.parameters)
    slopes = [exact.gradient_vector(f, size) for f in model.polynomials]
    at = model.theta
    first = sum(
        (
            c * exact.evaluated(a, at) * exact.evaluated(b, at)
            for c, other in zip(instance.c, slopes, strict=True)
            for a, b in zip(slopes[0], other, strict=True)
        ),
        Fraction(0),
    )
    rest = tuple(claim for claim in predict(instance).claims if claim.quantity != STEP)
    return Prediction((Claim(STEP, Relation.EQUAL, -model.rate * first), *rest))


_CUBE = {
    "hypothesis": {"parameters": ["t"], "functions": ["t^3"], "theta": [1], "rate": "1/10"},
    "c": [1],
}
_MOVED_CUBE = {**_CUBE, "p": [0], "q": [1], "free": [[1]]}
_NET = {
    "network": {"activation": "sin", "output": [1, "1/2"], "hidden": [[1], ["-1/2"]], "inputs": [[1], [1]], "c": [1]},
    "orders": [1],
}

VARIANTS = {
    "factorials_dropped": Variant(
        "C_{D,d} without 1/(D! d!)",
        predict=lambda instance: _prediction(instance, factorials=False),
        derive=lambda instance: _derivation(instance, factorials=False),
        examples=(_CUBE,),
    ),
    "sign_does_not_alternate": Variant(
        "the series without (−1)^d",
        predict=lambda instance: _prediction(instance, signs=False),
        derive=lambda instance: _derivation(instance, signs=False),
        examples=(_CUBE,),
    ),
    "stops_after_the_first_order": Variant(
        "F(θ − ηv) − F(θ) = −Θ c",
        predict=_order_of_the_derivative,
        derive=lambda instance: Derivation("F(θ − ηv) − F(θ) = −Θ c", "0"),
        examples=(_CUBE,),
    ),
    "free_indices_are_not_chosen": Variant(
        "√η∇F at a displacement is the sum of C_{D,d}, without D for the free index that is left",
        predict=lambda instance: _prediction(instance, choices=False),
        derive=lambda instance: _derivation(instance, choices=False),
        examples=(_MOVED_CUBE,),
    ),
    "one_order_more": Variant(
        "the error after k terms is of order k + 2",
        predict=lambda instance: _prediction(instance, more=2),
        instances=_networks,
        examples=(_NET,),
    ),
}
