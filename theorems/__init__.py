"""One module per theorem, named after its statement; `NAMES` is the registry.

A theorem module defines, at top level:

* a docstring: statement in the first line, then the sections ``Hypotheses``, ``Statement``, ``Proof idea`` and ``Source``;
* ``FAMILY``, ``IDS`` (ids of the statement in its theory) and ``SOURCE`` (`lakatos.core.Source`);
* ``Instance``: a frozen dataclass, the fields of ``[instance]`` in an instance file;
* ``hypotheses(instance)``: a tuple of evaluated `Hypothesis`;
* ``predict(instance)``: a `Prediction`, exact;
* ``measure(instance, seed, device)``: a `Measurement`, made without seeing the prediction;
* optionally ``derive(instance)``: a `Derivation`;
* ``instances()``: a Hypothesis strategy for fields of instances that meet the hypotheses, as plain data; it imports
  `lakatos.testing` inside, since a theorem is checked without Hypothesis;
* ``VARIANTS``: registered false variants by name, each found by a search over ``instances()``, or over its own where it drops
  a hypothesis;
* optionally ``EXAMPLES``: fields of instances that random ones miss and that a search for counterexamples tries first;
* optionally, in a plug-in, ``BIBTEX``: entries for the keys of ``SOURCE`` that ``references.bib`` does not have.
"""

from __future__ import annotations

import difflib
from importlib import import_module
from importlib.metadata import entry_points
from types import ModuleType

from ..core import InputError, Theorem

__all__ = ["NAMES", "load"]

NAMES: tuple[str, ...] = (
    "invariant_set_nonempty_iff_closed_sums_have_sign",
    "invariant_set_connected_iff_no_weight_frozen",
    "weight_frozen_iff_stable_set_unbalanced",
    "layered_net_connected_iff_boundary_balances_have_sign",
    "regular_part_connected_iff_stable_sums_strict",
    "balance_conserved_of_homogeneous_activation",
    "weighted_balance_conserved_of_degree_p_activation",
    "balance_drift_exact_of_discrete_step",
    "balance_decays_exponentially_of_weight_decay_flow",
    "jacobian_rank_drops_iff_neurons_disconnected",
    "singular_point_exists_iff_zero_sum_set_detachable",
    "betti_numbers_sum_over_restrictions",
    "same_component_path_of_knots",
    "rescaling_orbit_meets_balance_exactly_once",
    "weights_vanish_together_iff_face_nonempty",
    "sign_vector_reachable_iff_frozen_signs_agree",
    "frozen_weight_stays_above_minimum_of_gradient_flow",
    "loss_at_least_mean_square_of_locked_output_weights",
    "jacobian_rank_invariant_of_gradient_flow",
    "two_layer_obstruction_probability_f_distribution",
    "nuclear_norm_is_twice_trace_root_laplacian",
    "nuclear_norm_between_l2_norm_and_group_lasso",
    "features_are_vectors_when_data_span_a_subspace",
    "neuron_class_is_an_affine_subspace",
    "realization_cost_is_a_mahalanobis_norm",
    "data_cost_is_the_realization_cost_when_data_span",
    "ridge_cost_tends_to_mahalanobis_or_diverges",
    "equal_classes_can_have_unequal_costs",
    "permutation_sensitivity_is_a_weight_norm_difference",
    "permuting_hidden_layers_costs_the_sum_of_layer_sensitivities",
    "common_gram_makes_sensitivity_linear_in_centers",
    "disjoint_cheap_swaps_give_exponentially_many_cheap_permutations",
    "effective_symmetry_iff_equal_center_and_gram",
    "identifiable_iff_identity_is_the_unique_assignment",
    "center_distance_bounds_permutation_sensitivity",
    "center_separation_scales_as_m_to_minus_2_over_k",
    "masked_centers_obey_a_union_bound_given_the_masks",
    "input_separation_scales_as_sqrt_m",
    "center_shift_bounds_sensitivity_to_input_permutations",
    "coherence_lies_between_k_over_n_and_1",
    "coherence_bounds_mask_anisotropy",
    "low_coherence_leaves_masks_symmetric",
    "swap_costs_of_random_masks_spread_as_root_of_coherence",
    "high_coherence_makes_features_expensive",
    "centers_four_radii_apart_merge_without_alignment",
    "relu_chord_deviation_is_a_tent",
    "chord_deviation_is_at_most_beta_to_three_halves",
    "chord_deviation_is_bounded_for_any_spread_of_the_fixed_part",
    "chord_deviation_of_smooth_activations_is_quadratic",
    "chord_deviation_bounds_the_loss_barrier",
    "chord_deviations_pass_through_layers",
    "identity_is_optimal_with_probability_one_over_m_factorial",
    "reaching_a_direction_needs_exponential_width",
    "random_features_miss_high_degree_energy",
    "correlation_contraction_lowers_the_order",
    "displaced_hypothesis_eq_correlation_series",
    "linearized_dynamics_eq_taylor_model_dynamics",
    "norm_of_contraction_le_product_of_norms_of_one_shared_index",
    "definite_bound_exists_of_comparable_quantiles",
    "one_hidden_correlations_eq_closed_form",
    "correlation_exponents_of_one_hidden_layer",
    "not_weakly_correlated_of_mean_field",
    "activation_growth_rate_eq_inverse_singularity_distance",
    "higher_correlations_zero_of_parameter_linear",
    "top_correlation_of_identity_or_relu_network",
    "deviation_le_certificate",
    "network_deviation_le_certificate",
    "training_linear_of_weakly_correlated",
    "relu_deviation_eq_kink_law",
    "deviation_order_rate_squared_of_power_weakly_correlated",
    "deviation_bounded_in_time_of_decaying_loss_derivative",
    "wide_networks_weakly_correlated",
    "weakly_correlated_of_linear_on_complex_disc",
    "law_count_eq_dim_minus_lie_rank",
    "linear_model_law_count",
    "new_law_count_ge_grassmannian_dim",
    "no_new_law_of_equal_gradient_spans",
    "classical_laws_of_layers",
    "momentum_laws_eq_rotation_charges",
    "sign_flow_law_count",
    "lift_group_eq_product_over_types",
    "averaged_gradient_span_eq_orbit_sums",
    "no_new_law_of_nonpolynomial_margin_loss",
    "no_new_law_of_binary_labels_along_rays",
    "plane_angle_conserved_iff_order_exceeds_degree",
    "centered_direction_conserved_of_cyclic_shifts",
    "attention_range_conserved_of_rotations",
    "range_conserved_of_realized_lift_symmetry",
    "conserved_for_symmetric_data_iff_orthogonal_to_averaged_gradients",
    "averaged_squared_loss_eq_invariant_moments",
    "averaged_squared_loss_invariant_iff_in_lift_group",
    "normalization_laws_eq_lost_directions",
    "quadratic_law_step_error",
    "stochastic_law_drift_le_sum_of_squared_steps",
    "laws_rescale_of_weight_decay",
    "range_law_exact_under_discretization",
)


def load(name: str) -> Theorem:
    """Return the theorem called `name`: one of `NAMES`, or ``package.module`` of an installed plug-in.

    Raises
    ------
    InputError
        If there is no such theorem.
    """
    if name in NAMES:
        return _from_module(name, import_module(f"{__name__}.{name}"))
    plug_ins = entry_points(group="lakatos.theorems")
    for point in plug_ins:
        if name in (point.name, point.value):
            return _from_module(name, point.load())
    raise InputError(
        f"theorem={name!r}: no such theorem; {_similar(name, [*NAMES, *(point.name for point in plug_ins)])}"
        "`lakatos list` names those there are"
    )


def _similar(name: str, known: list[str]) -> str:
    """Return a question that names up to three theorems which are called nearly so, or contain the name."""
    close = [other for other in known if name and name in other] or difflib.get_close_matches(name, known)
    return f"did you mean {' or '.join(map(repr, close[:3]))}? " if close else ""


def _from_module(name: str, module: ModuleType) -> Theorem:
    return Theorem(
        name=name,
        family=module.FAMILY,
        ids=module.IDS,
        doc=module.__doc__ or "",
        source=module.SOURCE,
        instance_class=module.Instance,
        hypotheses=module.hypotheses,
        predict=module.predict,
        measure=module.measure,
        derive=getattr(module, "derive", None),
        variants=module.VARIANTS,
        instances=getattr(module, "instances", None),
        examples=getattr(module, "EXAMPLES", ()),
        bibtex=getattr(module, "BIBTEX", ""),
    )
