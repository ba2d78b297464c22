"""Hypothesis strategies for networks, layers and subspaces: plain data that prints as something one can paste.

What is drawn are the fields of an instance file. Numbers are integers or strings ``"p/q"``. Nothing is filtered, and
everything shrinks towards few nodes, few edges, the number 0, and matrices of zeros and ones.

=======================================  ================================================================================
`dags`, `multigraphs`                    arguments of `lakatos.Network.from_edges`, without balances
`balanced_dags`, `balanced_multigraphs`  the same with balances: ``{"edges": [["x1", "h1"], ["h1", "y1"]], …}``
`dags_with_points`, `dags_with_signs`    the same with points of the invariant set, as signed squares
`balances`                               balances for a given network: ``{"h1": -1}``
`weighted_dags`                          acyclic networks with exact weights
`layered_dags`, `balanced_layers`        dense layers, edge by edge or as ``{"widths": [1, 1, 1], "balance": [[1]]}``
`homogeneous_mlps`                       dense layers with weights and an activation
`subspaces`                              rational orthonormal bases, of any coherence that is the square of a rational
`masked_layers`                          layers of partly fixed neurons: ``{"F": [[0]], "D": [[1]], "U": [[1]]}``
`featured_layers`, `permuted_layers`     the same with features ``A`` to realize, and a ``permutation`` of them
`group_representations`                  finite groups of orthogonal matrices: ``{"inputs": [[[0, 1], [1, 0]]]}``
`tensorizable_models`                    models whose averaged squared loss is exact: ``{"architecture": "linear", …}``
`polynomial_hypotheses`                  functions of parameters: ``{"parameters": ["t0"], "functions": ["t0"], …}``
`activations`                            named ones and polynomials: ``{"activation": "tanh"}``
`small_fractions`                        integers and strings ``"p/q"``, for fields of one's own
=======================================  ================================================================================

Inputs are called ``x1, x2, …``, hidden nodes ``h1, h2, …`` and outputs ``y1, y2, …``; dense layers have the names of
`lakatos.graphs.layered.layered_network`.

In a test of one's own, one import suffices::

    from hypothesis import given
    from lakatos import Network
    from lakatos.testing import balanced_dags

    @given(balanced_dags())
    def test_my_algorithm(fields):
        network = Network.from_edges(**fields)

`hypothesis.strategies.from_type` knows `lakatos.Network`, the classes of `lakatos.graphs.fields` and those of
`lakatos.theory.model_fields` through Hypothesis' entry point, without any import of this module.
"""

from __future__ import annotations

from ._strategies_correlations import activations, polynomial_hypotheses
from ._strategies_features import featured_layers, permuted_layers
from ._strategies_groups import group_representations, tensorizable_models
from ._strategies_layers import masked_layers, subspaces
from ._strategies_mlps import homogeneous_mlps
from ._strategies_networks import (
    Fields,
    balanced_dags,
    balanced_layers,
    balanced_multigraphs,
    balances,
    dags,
    layered_dags,
    multigraphs,
    small_fractions,
    weighted_dags,
)
from ._strategies_points import dags_with_points, dags_with_signs

__all__ = [
    "Fields",
    "activations",
    "balanced_dags",
    "balanced_layers",
    "balanced_multigraphs",
    "balances",
    "dags",
    "dags_with_points",
    "dags_with_signs",
    "featured_layers",
    "group_representations",
    "homogeneous_mlps",
    "layered_dags",
    "masked_layers",
    "multigraphs",
    "permuted_layers",
    "polynomial_hypotheses",
    "small_fractions",
    "subspaces",
    "tensorizable_models",
    "weighted_dags",
]
