"""The nuclear norm of the Jacobian of the balances is 2 tr √L, L the grounded Laplacian, with gradient 2θ_e b_eᵀL^(−1/2)b_e.

Hypotheses
----------
None for the value; for the gradient J has full rank.

Statement
---------
Let L = B diag(θ²) Bᵀ, the Laplacian of the undirected graph with weights θ² and grounded terminals. Then ‖J‖_* = 2 tr √L.
Where rank J is full, ∂‖J‖_*/∂θ_e = 2θ_e q_e with q_e = b_eᵀ L^{−1/2} b_e, b_e the column of B that belongs to e. So Σ θ_e
∂_e‖J‖_* = ‖J‖_*.

Proof idea
----------
JJᵀ = 4L, so the singular values of J are twice the roots of the eigenvalues of L; d tr √L = ½ tr(L^{−1/2} dL).

Source
------
Nurisso, Leroy, Petri, Vaccarino (2026) for the regularizer; the formulas are ours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .. import numerics, theory
from ..core import (
    Claim,
    Derivation,
    Estimate,
    Hypothesis,
    Measurement,
    Prediction,
    Provenance,
    Relation,
    Source,
    Variant,
)
from ..graphs.fields import NetworkFields
from ..graphs.rank import is_regular

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

    from ..testing import Fields

FAMILY = "invariant_sets"
IDS = ("S15",)
SOURCE = Source(("nurisso2026",), Provenance.OURS, "the regularizer is the paper's; the formulas are ours")

RESOLUTION = 1e-9  # of the norm, and of 2 for the factors of the gradient; rounding of a decomposition leaves less

Instance = NetworkFields


def hypotheses(instance: NetworkFields) -> tuple[Hypothesis, ...]:
    return (Hypothesis("weights are given", instance.network.weights is not None, "edges as [tail, head, weight]"),)


def derive(instance: NetworkFields) -> Derivation:
    residual = theory.laplacian.factorization_residual(instance.network)
    return Derivation(
        identity="JJᵀ = 4L",
        residual="0" if residual.is_zero_matrix else str(residual.tolist()),
        latex=r"\|J\|_* = 2\operatorname{tr}\sqrt{L},\quad L = B\operatorname{diag}(\theta^2)B^\top",
    )


def predict(instance: NetworkFields) -> Prediction:
    weights = _weights(instance)
    norm = theory.laplacian.nuclear_norm(instance.network, weights)
    return _predicted(instance, norm, lambda: theory.laplacian.spectral_factors(instance.network, weights).root)


def measure(instance: NetworkFields, seed: int, device: str) -> Measurement:
    """Singular values of J by a decomposition of J itself, and their derivative by automatic differentiation."""
    network = instance.network
    found = numerics.laplacians.measured_norm(network, numerics.forward.as_floats(network).to(device))
    estimates = {"nuclear_norm": Estimate(found.value, found.error, "singular values of J")}
    if is_regular(network, _weights(instance)):
        estimates["gradient"] = Estimate(found.gradient, found.gradient_error, "automatic differentiation")
    return Measurement(estimates)


def _weights(instance: NetworkFields) -> list[Fraction]:
    return [Fraction(w) for w in instance.network.weights or ()]


def _predicted(instance: NetworkFields, norm: float, factors: Callable[[], Sequence[float]]) -> Prediction:
    claims = [Claim("nuclear_norm", Relation.EQUAL, norm, RESOLUTION * max(1.0, norm))]
    weights = _weights(instance)
    if is_regular(instance.network, weights):
        gradient = tuple(2 * float(w) * q for w, q in zip(weights, factors(), strict=True))
        claims.append(Claim("gradient", Relation.EQUAL, gradient, 2 * RESOLUTION))
    return Prediction(tuple(claims))


def _with_inverse(instance: NetworkFields) -> Prediction:
    weights = _weights(instance)
    norm = theory.laplacian.nuclear_norm(instance.network, weights)
    return _predicted(instance, norm, lambda: theory.laplacian.spectral_factors(instance.network, weights).inverse)


def _norm_replaced(norm: Callable[[Any, list[Fraction]], float]) -> Callable[[NetworkFields], Prediction]:
    def predict(instance: NetworkFields) -> Prediction:
        weights = _weights(instance)
        factors = theory.laplacian.spectral_factors
        return _predicted(instance, norm(instance.network, weights), lambda: factors(instance.network, weights).root)

    return predict


def instances() -> SearchStrategy[Fields]:
    from ..testing import weighted_dags

    return weighted_dags()


_CHAIN = {"edges": [["x", "a", 1], ["a", "b", 1], ["b", "y", 1]]}

VARIANTS = {
    "inverse_instead_of_inverse_root": Variant(
        "q_e = b_eᵀ L⁻¹ b_e",
        predict=_with_inverse,
        examples=(_CHAIN,),
    ),
    "root_forgotten": Variant(
        "‖J‖_* = 2 tr L",
        predict=_norm_replaced(lambda network, weights: theory.laplacian.norm_bounds(network, weights).l2 ** 2 / 2),
        examples=(_CHAIN,),
    ),
    "group_lasso_of_deep_networks": Variant(
        "‖J‖_* is twice the sum over neurons of the norms of their weights, whatever the depth",
        predict=_norm_replaced(lambda network, weights: theory.laplacian.norm_bounds(network, weights).group_lasso),
        examples=(_CHAIN,),
    ),
}
