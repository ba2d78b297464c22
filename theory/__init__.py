"""Exact derivations (SymPy, exact linear algebra). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import activation_fields as activation_fields
    from . import activations as activations
    from . import assignments as assignments
    from . import chords as chords
    from . import conservation as conservation
    from . import correlations as correlations
    from . import deep_chords as deep_chords
    from . import density_chords as density_chords
    from . import designs as designs
    from . import deviations as deviations
    from . import directions as directions
    from . import exact_matrices as exact_matrices
    from . import flows as flows
    from . import gaussian_constants as gaussian_constants
    from . import gaussian_quadrature as gaussian_quadrature
    from . import jacobians as jacobians
    from . import kinks as kinks
    from . import known_laws as known_laws
    from . import laplacian as laplacian
    from . import law_count as law_count
    from . import law_search as law_search
    from . import layer_polynomials as layer_polynomials
    from . import layers as layers
    from . import lie_rank as lie_rank
    from . import lift_group as lift_group
    from . import linear_flow as linear_flow
    from . import mask_spread as mask_spread
    from . import masks as masks
    from . import matrices as matrices
    from . import maximum_law as maximum_law
    from . import model_fields as model_fields
    from . import modular as modular
    from . import network_fields as network_fields
    from . import obstruction as obstruction
    from . import one_hidden as one_hidden
    from . import one_hidden_fields as one_hidden_fields
    from . import orbit_fields as orbit_fields
    from . import orders as orders
    from . import permuted_networks as permuted_networks
    from . import polynomial_fields as polynomial_fields
    from . import quantile_orders as quantile_orders
    from . import range_identity as range_identity
    from . import range_laws as range_laws
    from . import ray_fields as ray_fields
    from . import realization as realization
    from . import separation as separation
    from . import sign_flow as sign_flow
    from . import smooth_chords as smooth_chords
    from . import steps as steps
    from . import steps_of_polynomials as steps_of_polynomials
    from . import tensor_norms as tensor_norms
    from . import weighted_chi_squares as weighted_chi_squares
    from . import width_exponents as width_exponents
    from . import width_fields as width_fields

__all__ = [
    "activation_fields",
    "activations",
    "assignments",
    "chords",
    "conservation",
    "correlations",
    "deep_chords",
    "density_chords",
    "designs",
    "deviations",
    "directions",
    "exact_matrices",
    "flows",
    "gaussian_constants",
    "gaussian_quadrature",
    "jacobians",
    "kinks",
    "known_laws",
    "laplacian",
    "law_count",
    "law_search",
    "layer_polynomials",
    "layers",
    "lie_rank",
    "lift_group",
    "linear_flow",
    "mask_spread",
    "masks",
    "matrices",
    "maximum_law",
    "model_fields",
    "modular",
    "network_fields",
    "obstruction",
    "one_hidden",
    "one_hidden_fields",
    "orbit_fields",
    "orders",
    "permuted_networks",
    "polynomial_fields",
    "quantile_orders",
    "range_identity",
    "range_laws",
    "ray_fields",
    "realization",
    "separation",
    "sign_flow",
    "smooth_chords",
    "steps",
    "steps_of_polynomials",
    "tensor_norms",
    "weighted_chi_squares",
    "width_exponents",
    "width_fields",
]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
