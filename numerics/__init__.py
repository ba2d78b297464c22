"""Simulation and measurement (torch, SciPy; float64). Submodules load when first used."""

from typing import TYPE_CHECKING, Any

from .._lazy import lazy_submodules

if TYPE_CHECKING:
    from . import activation_growth as activation_growth
    from . import activations as activations
    from . import alignment as alignment
    from . import assignments as assignments
    from . import attainment as attainment
    from . import averaged_training as averaged_training
    from . import balances as balances
    from . import barriers as barriers
    from . import cells as cells
    from . import checkpoints as checkpoints
    from . import chords as chords
    from . import circle as circle
    from . import contractions as contractions
    from . import correlation_exponents as correlation_exponents
    from . import correlation_norms as correlation_norms
    from . import descent as descent
    from . import deviation_bounds as deviation_bounds
    from . import directions as directions
    from . import drift as drift
    from . import ensemble_fields as ensemble_fields
    from . import experiments as experiments
    from . import flow as flow
    from . import forward as forward
    from . import frequencies as frequencies
    from . import function_change as function_change
    from . import gluing as gluing
    from . import gradients as gradients
    from . import haar as haar
    from . import identification as identification
    from . import initializations as initializations
    from . import integrators as integrators
    from . import jacobians as jacobians
    from . import jets as jets
    from . import kinks as kinks
    from . import laplacians as laplacians
    from . import law_fits as law_fits
    from . import law_scout as law_scout
    from . import layer_lines as layer_lines
    from . import linear_programs as linear_programs
    from . import linearization as linearization
    from . import linearization_exponents as linearization_exponents
    from . import linearization_sweeps as linearization_sweeps
    from . import linearized_training as linearized_training
    from . import locks as locks
    from . import masked as masked
    from . import masks as masks
    from . import mlps as mlps
    from . import model_losses as model_losses
    from . import module_kinks as module_kinks
    from . import modules as modules
    from . import nested_jvp as nested_jvp
    from . import normalized_layers as normalized_layers
    from . import nuclear as nuclear
    from . import obstruction_experiments as obstruction_experiments
    from . import one_hidden as one_hidden
    from . import one_hidden_reference as one_hidden_reference
    from . import orbit_gradients as orbit_gradients
    from . import path_samples as path_samples
    from . import penalized_training as penalized_training
    from . import penalties as penalties
    from . import permuted_networks as permuted_networks
    from . import polyhedra as polyhedra
    from . import polynomials as polynomials
    from . import power_laws as power_laws
    from . import pruning as pruning
    from . import quantile_samples as quantile_samples
    from . import ranges as ranges
    from . import ray_gradients as ray_gradients
    from . import realization as realization
    from . import reference as reference
    from . import rescaled_modules as rescaled_modules
    from . import rescaling as rescaling
    from . import rotated_lightning as rotated_lightning
    from . import rotated_training as rotated_training
    from . import rotation_averages as rotation_averages
    from . import schedules as schedules
    from . import separation as separation
    from . import series_residuals as series_residuals
    from . import simulated_networks as simulated_networks
    from . import simulated_training as simulated_training
    from . import stochastic_descent as stochastic_descent
    from . import subspaces as subspaces
    from . import supports as supports
    from . import taylor_mode as taylor_mode
    from . import tensor_norms as tensor_norms
    from . import training as training
    from . import unlocked_balances as unlocked_balances

__all__ = [
    "activation_growth",
    "activations",
    "alignment",
    "assignments",
    "attainment",
    "averaged_training",
    "balances",
    "barriers",
    "cells",
    "checkpoints",
    "chords",
    "circle",
    "contractions",
    "correlation_exponents",
    "correlation_norms",
    "descent",
    "deviation_bounds",
    "directions",
    "drift",
    "ensemble_fields",
    "experiments",
    "flow",
    "forward",
    "frequencies",
    "function_change",
    "gluing",
    "gradients",
    "haar",
    "identification",
    "initializations",
    "integrators",
    "jacobians",
    "jets",
    "kinks",
    "laplacians",
    "law_fits",
    "law_scout",
    "layer_lines",
    "linear_programs",
    "linearization",
    "linearization_exponents",
    "linearization_sweeps",
    "linearized_training",
    "locks",
    "masked",
    "masks",
    "mlps",
    "model_losses",
    "module_kinks",
    "modules",
    "nested_jvp",
    "normalized_layers",
    "nuclear",
    "obstruction_experiments",
    "one_hidden",
    "one_hidden_reference",
    "orbit_gradients",
    "path_samples",
    "penalized_training",
    "penalties",
    "permuted_networks",
    "polyhedra",
    "polynomials",
    "power_laws",
    "pruning",
    "quantile_samples",
    "ranges",
    "ray_gradients",
    "realization",
    "reference",
    "rescaled_modules",
    "rescaling",
    "rotated_lightning",
    "rotated_training",
    "rotation_averages",
    "schedules",
    "separation",
    "series_residuals",
    "simulated_networks",
    "simulated_training",
    "stochastic_descent",
    "subspaces",
    "supports",
    "taylor_mode",
    "tensor_norms",
    "training",
    "unlocked_balances",
]


def __getattr__(name: str) -> Any:
    return lazy_submodules(__name__, __all__, name)
