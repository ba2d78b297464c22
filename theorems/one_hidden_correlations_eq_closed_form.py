"""The correlations of a network with one hidden layer are sums and maxima over neurons, with explicit Gaussian means.

Hypotheses
----------
One hidden layer; φ is D + d times differentiable (here: analytic); for the means, weights are independent N(0, 1), γ = ½, and
there is one input.

Statement
---------
F(x) = n^−½ Σ_j a_j φ(z_j), v = Σ_b c_b ∇F(x_b), α = n^−½ Σ_b c_b φ(z_b), ζ = n^−½ a Σ_b c_b φ'(z_b) K(x, x_b). Then
C_{0,d}[x; v^d] = η^d n^−½ Σ_j (a φ^(d) ζ^d/d! + α φ^(d−1) ζ^(d−1)/(d−1)!), and C_{D,d} is the form A u_x^D + B u_a u_x^(D−1)
for each neuron; its norm is (Σ A² + B²)^½ for D = 1, and for D ≥ 2 the largest of (|A| + |B| t)/(1 + t²)^(D/2), with
t = 2|B|/(D|A| + √(D²A² + 4(D−1)B²)). The means in `lakatos.theory.gaussian_constants` hold for every n.

Proof idea
----------
F(θ + tv) = n^−½ Σ (a + tα) φ(z + tζ). Forms on separate neurons, homogeneous of degree D ≥ 2, are largest on one neuron,
where stationarity is quadratic in the tangent. Neurons are independent.

Source
------
Ours; the correlations are those of Shem-Ur and Oz (2024).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
    Estimate,
    Evidence,
    Hypothesis,
    InputError,
    Measurement,
    MeasurementKind,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..theory.activation_fields import KINKED, require_activation
from ..theory.one_hidden_fields import OneHiddenFields

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "correlations"
IDS = ("WC06",)
SOURCE = Source(("shemur2024",), Provenance.OURS, "the correlations are the paper's")

RESOLUTION = 1e-10  # times the size of the terms: rounding only
ROUNDING = 1e-12
MEAN_RESOLUTION = 0.1  # times the size of the terms, before they cancel
_MOST_WEIGHTS = 60
_LARGEST_ORDER = 5
_STANDARD_ERRORS = 4.0


@dataclass(frozen=True)
class Instance:
    """A random layer, whose means are claimed, or a network with given weights.

    Parameters
    ----------
    activation : str, optional
        φ of the random layer.
    coefficients : tuple of numbers
        Of a polynomial φ, the constant first.
    kernel : number
        K = |x|²/d0.
    width, networks : int
        n, and how many random networks are drawn.
    network : table, optional
        Weights, inputs and a direction in place of all these.
    orders : rows of two numbers
        (D, d) of the correlations of `network` that are claimed, D + d ≤ 5.
    """

    activation: str | None = None
    coefficients: tuple[Fraction, ...] = ()
    kernel: Fraction = Fraction(1)
    width: int = 4
    networks: int = 100_000
    network: OneHiddenFields | None = None
    orders: tuple[tuple[int, int], ...] = ((0, 1), (0, 2), (0, 3), (1, 1), (2, 0))

    def __post_init__(self) -> None:
        if (self.activation is None) == (self.network is None):
            raise InputError("activation: give either this or the table `network`")
        if self.activation is not None:
            require_activation(self.activation, self.coefficients)
        if not self.kernel > 0 or self.width < 1 or self.networks < 100:
            raise InputError(
                f"kernel={self.kernel!s}, width={self.width!r}, networks={self.networks!r}: kernel > 0, width >= 1 and at "
                "least 100 networks are needed"
            )
        if not self.orders or any(min(order) < 0 or not 0 < sum(order) <= _LARGEST_ORDER for order in self.orders):
            raise InputError(f"orders={self.orders!r}: pairs (D, d) with 1 <= D + d <= {_LARGEST_ORDER} are needed")
        if self.network is not None and len(self.network.output) * (1 + len(self.network.hidden[0])) > _MOST_WEIGHTS:
            raise InputError(f"network: more than {_MOST_WEIGHTS} weights, which dense derivatives are too large for")

    @property
    def phi(self) -> str:
        """Name of the activation."""
        return self.network.activation if self.network is not None else str(self.activation)


def hypotheses(instance: Instance) -> tuple[Hypothesis, ...]:
    return (Hypothesis("φ is analytic", instance.phi not in KINKED, instance.phi),)


def derive(instance: Instance) -> Derivation:
    """Differentiate (a + tα) φ(z + tζ) for an undetermined φ, and the forms of single neurons.

    For a polynomial φ and given weights, C_{0,d} is settled: F along the line is expanded as well.
    """
    residuals = [theory.one_hidden.series_identity_residual(_LARGEST_ORDER)]
    residuals += [theory.one_hidden.block_identity_residual(D, d) for D, d in ((1, 0), (1, 2), (2, 1), (3, 1))]
    settled = []
    if (network := instance.network) is not None and network.activation in ("identity", "polynomial"):
        line = theory.one_hidden.expanded(network)
        neurons = theory.one_hidden.neurons(network, _LARGEST_ORDER)
        for d in [d for D, d in instance.orders if D == 0]:
            residuals.append(neurons.series_coefficient(d) - (line[d] if d < len(line) else 0))
            settled.append(_quantity((0, d)))
    residual = next((str(r) for r in residuals if r != 0), "0")
    return Derivation(
        "coefficient d of (a + tα) φ(z + tζ) is a φ^(d) ζ^d/d! + α φ^(d−1) ζ^(d−1)/(d−1)!",
        residual,
        r"C_{0,d} = \eta^d n^{-1/2} \sum_j \left(a_j \varphi^{(d)} \zeta_j^d/d! "
        r"+ \alpha_j \varphi^{(d-1)} \zeta_j^{d-1}/(d-1)!\right)",
        settles=tuple(settled),
    )


def predict(instance: Instance) -> Prediction:
    if instance.network is not None:
        return _values(instance, instance.network)
    return _means(instance, _constants())


# Given weights.


def _quantity(order: tuple[int, int]) -> str:
    D, d = order
    return f"C_{{0,{d}}}" if D == 0 else f"‖C_{{{D},{d}}}‖"


def _values(instance: Instance, network: OneHiddenFields, *, with_alpha: bool = True) -> Prediction:
    neurons = theory.one_hidden.neurons(network, _LARGEST_ORDER)
    n, eta = len(network.output), network.rate
    claims = []
    for D, d in instance.orders:
        scale = float(eta) ** (D / 2 + d) / n ** ((d + 1) / 2)
        value = neurons.norm(D, d) if D else neurons.series_coefficient(d, with_alpha=with_alpha)
        size = scale * float(neurons.size(D, d))
        root = math.isqrt(n)
        exact = isinstance(value, Fraction) and (d % 2 == 1 or root * root == n)
        shown: Any = scale * float(value)
        if exact:
            shown = value * eta**d / (Fraction(n) ** ((d + 1) // 2) if d % 2 else Fraction(root) ** (d + 1))
        relation = Relation.EQUAL if D < 3 else Relation.AT_MOST
        claims.append(Claim(_quantity((D, d)), relation, shown, RESOLUTION * size))
    return Prediction(tuple(claims))


def _measured_values(instance: Instance, fields: OneHiddenFields, seed: int, device: str) -> Measurement:
    """Differentiate the network itself; for D ≥ 3 the largest value that power iteration finds bounds the norm from below."""
    poly = numerics.polynomials
    network = numerics.series_residuals.Network(
        numerics.activations.Activation(fields.activation, tuple(map(float, fields.coefficients))),
        poly.as_vector(fields.output, device),
        poly.as_matrix(fields.hidden, device),
        poly.as_matrix(fields.inputs, device),
        poly.as_vector(fields.c, device),
        float(fields.rate),
    )
    found = numerics.one_hidden_reference.reference_correlations(network, instance.orders, seed=seed)
    return Measurement(
        {_quantity(order): Estimate(r.value, ROUNDING * r.size, "dense derivatives") for order, r in found.items()}
    )


# Random weights.

_THETA, _C02, _C03, _C05, _C11 = "E Θ", "n² Var C_{0,2}", "n E C_{0,3}", "n² E C_{0,5}", "n E‖C_{1,1}‖²"


def _constants() -> dict[str, Any]:
    constants = theory.gaussian_constants
    return {
        _THETA: constants.mean(1),
        _C02: constants.variance(2),
        _C03: constants.mean(3),
        _C05: constants.mean(5),
        _C11: constants.slope_square(1),
    }


def _means(instance: Instance, constants: Mapping[str, Any]) -> Prediction:
    claims = []
    for quantity, constant in constants.items():
        found = theory.gaussian_constants.expectation(instance.phi, instance.coefficients, constant, instance.kernel)
        claims.append(Claim(quantity, Relation.EQUAL, found.value, MEAN_RESOLUTION * found.size + found.error))
    return Prediction(tuple(claims))


def measure(instance: Instance, seed: int, device: str) -> Measurement:
    if instance.network is not None:
        return _measured_values(instance, instance.network, seed, device)
    n, K = instance.width, float(instance.kernel)
    samples = numerics.one_hidden.correlation_samples(
        numerics.activations.Activation(instance.phi, tuple(map(float, instance.coefficients))),
        [n],
        [(0, 1), (0, 2), (0, 3), (0, 5), (1, 1)],
        np.full((2, 2), K),
        np.ones(1),
        networks=instance.networks,
        seed=seed,
        device=device,
    )
    values = {
        _THETA: samples[0, 1][0],
        _C02: (n * samples[0, 2][0]) ** 2,
        _C03: n * samples[0, 3][0],
        _C05: n**2 * samples[0, 5][0],
        _C11: n * samples[1, 1][0] ** 2,
    }
    how = f"mean of {instance.networks} networks, {_STANDARD_ERRORS:g} standard errors"
    estimates = {}
    for quantity, found in values.items():
        error = _STANDARD_ERRORS * float(found.std(ddof=1)) / math.sqrt(len(found))
        estimates[quantity] = Estimate(float(found.mean()), error, how)
    return Measurement(estimates, MeasurementKind.STATISTICAL, Evidence.STATISTICAL, false_alarm_rate=1e-3)


def instances() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import activations, small_fractions

    @st.composite
    def networks(draw: st.DrawFn) -> Fields:
        n = draw(st.integers(1, 2))
        numbers = st.lists(small_fractions(), min_size=n, max_size=n)
        hidden = [[draw(small_fractions())] for _ in range(n)]
        net = {**draw(activations()), "output": draw(numbers), "hidden": hidden, "inputs": [[1], [1]], "c": [1]}
        return {"network": net, "orders": [[0, 1], [0, 2], [0, 3], [1, 1], [2, 0]]}

    return networks()


def _layers() -> SearchStrategy[Fields]:
    from hypothesis import strategies as st

    from ..testing import activations

    fields = activations(["identity", "tanh"], polynomials=False)
    return st.builds(lambda layer: {**layer, "networks": 20_000}, fields)


# False variants.


def _dropped(instance: Instance) -> Prediction:
    """The closed form without α."""
    if instance.network is not None:
        return _values(instance, instance.network, with_alpha=False)
    return predict(instance)


def _theta_is_kernel(instance: Instance) -> Prediction:
    """Θ of a random layer is its kernel: only the hidden weights are counted."""
    if instance.network is not None:
        return predict(instance)
    constants = _constants()
    return _means(instance, {**constants, _THETA: constants[_THETA][:1]})


def _largest_blocks(instance: Instance) -> Prediction:
    """Norms from the neuron with the largest A² + B² in place of the largest form."""
    prediction = predict(instance)
    if instance.network is None:
        return prediction
    neurons = theory.one_hidden.neurons(instance.network, _LARGEST_ORDER)
    n, eta = len(instance.network.output), float(instance.network.rate)
    claims = []
    for (D, d), claim in zip(instance.orders, prediction.claims, strict=True):
        if D >= 2:
            A, B = max(neurons.blocks(D, d), key=lambda block: block[0] ** 2 + block[1] ** 2)
            value = float((A**2 + B**2) ** 0.5) * eta ** (D / 2 + d) / n ** ((d + 1) / 2)
            claim = Claim(claim.quantity, claim.relation, value, claim.resolution)
        claims.append(claim)
    return Prediction(tuple(claims))


_SQUARE = {
    "network": {
        "activation": "polynomial",
        "coefficients": [0, 0, 1],
        "output": [1],
        "hidden": [[1]],
        "inputs": [[1], [1]],
        "c": [1],
    }
}

VARIANTS = {
    "output_weights_stand_still": Variant(
        "C_{0,d} without the term in α",
        predict=_dropped,
        derive=lambda instance: Derivation("C_{0,d} = η^d n^−½ Σ a φ^(d) ζ^d/d!", "0"),
        examples=(_SQUARE,),
    ),
    "theta_is_the_kernel_of_hidden_weights": Variant(
        "E Θ = K E φ'², which is K for the identity",
        predict=_theta_is_kernel,
        instances=_layers,
        examples=({"activation": "identity", "networks": 20_000},),
    ),
    "norm_of_the_largest_block": Variant(
        "‖C_{D,d}‖ is the largest (A² + B²)^½",
        predict=_largest_blocks,
        examples=(_SQUARE,),
    ),
}
