"""Two trained networks of one architecture: can their neurons be told apart, and does the segment between them stay low?"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
import torch
from scipy.optimize import linear_sum_assignment
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.modules.batchnorm import _BatchNorm

from ..core import InputError
from . import alignment
from .assignments import assignment_margin
from .barriers import Barrier, barrier
from .chords import unaligned_bound
from .layer_rows import LayerRows, layer_rows
from .masked import effective_weight, interpolated_state, partly_fixed_layers, require_same_architecture
from .realization import FloatArray, realization_costs, swap_costs
from .subspaces import Support, SupportKind, coherence, data_subspace

__all__ = ["TOLERATED", "BatchNormPolicy", "Identification", "LayerIdentification", "identification"]

BatchNormPolicy: TypeAlias = Literal["reestimate", "refuse"]

TOLERATED = 0.1
"""In nats: a drop of the likelihood by 10 % on the way is what is still called merging."""

_BATCH = 256  # inputs at once along the segment


@dataclass(frozen=True)
class LayerIdentification:
    """One layer of both networks.

    Parameters
    ----------
    name : str
        Module path.
    support : Support
        Of the inputs of both networks at this layer.
    coherence : float
        Of that subspace.
    center_dominance : array (m,)
        β of every neuron: trained over fixed part on the data, the larger of both runs; infinite without a fixed part.
    margin : float
        Of the identity against all other assignments of the first network's features to its neurons; NaN if not decided.
    swaps : array (m, m)
        Swap costs Δ_(ij) of the first network.
    cost_matching_identity, activation_matching_identity : bool
        Whether the identity is the optimal matching of both runs, by distance of features and by correlation of activations.
    predicted_deviation : float
        Bound β^{3/2}‖F Σ^{1/2}‖/√(3π) on the chord deviation; infinite if some β exceeds 1.
    measured_deviation : float
        Root mean square of relu at the middle weights minus the middle of relu at the ends, on the first network's inputs.
    """

    name: str
    support: Support
    coherence: float
    center_dominance: FloatArray
    margin: float
    swaps: FloatArray
    cost_matching_identity: bool
    activation_matching_identity: bool
    predicted_deviation: float
    measured_deviation: float

    @property
    def neurons(self) -> int:
        """m."""
        return len(self.center_dominance)


@dataclass(frozen=True)
class Identification:
    """What `identification` found.

    Parameters
    ----------
    losses, accuracies : array (points,)
        Along the segment, on the data.
    predicted_bound : float
        √2 · max_λ E‖deviation of the logits from their chord‖, which bounds the barrier of the cross-entropy.
    unaligned : Barrier
        Of the losses.
    aligned : Barrier or None
        After a heuristic matching of the second network's neurons by activations; None where that is not supported.
    left_out : mapping
        Layers that are not compared, and why.
    """

    layers: tuple[LayerIdentification, ...]
    losses: FloatArray
    accuracies: FloatArray
    predicted_bound: float
    unaligned: Barrier
    aligned: Barrier | None
    left_out: Mapping[str, str]

    @property
    def merges(self) -> bool:
        """Whether the loss nowhere exceeds the chord by more than `TOLERATED`."""
        return self.unaligned.value <= TOLERATED


def identification(
    first: nn.Module,
    second: nn.Module,
    inputs: Tensor,
    targets: Tensor,
    *,
    kind: SupportKind = "linear",
    explained: float = 0.9,
    points: int = 21,
    batch_norm: BatchNormPolicy = "refuse",
) -> Identification:
    """Return the comparison of two classifiers on data.

    Parameters
    ----------
    inputs : Tensor (N, …)
        What the networks are called with.
    targets : Tensor (N,)
        Classes.
    kind, explained
        Of the subspaces, as for `lakatos.numerics.subspaces.data_subspace`.
    points : int
        Along the segment, odd.
    batch_norm : str
        ``reestimate`` statistics at each point from the inputs, or ``refuse`` networks that have some.

    Raises
    ------
    InputError
        For networks that do not match, data that do not fit, or activations that are not finite.
    """
    if points < 3 or points % 2 == 0:
        raise InputError(f"points={points!r}: an odd number of at least 3 is needed, so that the middle is among them")
    first, second = (copy.deepcopy(x).double().eval() for x in (first, second))
    has_statistics = any(isinstance(part, _BatchNorm) for part in first.modules())
    if has_statistics and batch_norm == "refuse":
        raise InputError(
            "batch_norm='refuse': the networks have BatchNorm; choose 'reestimate' to set its statistics anew"
        )
    require_same_architecture(first, second)
    inputs = inputs.double()
    if not bool(torch.isfinite(inputs).all()):
        raise InputError("data: x holds NaN or infinity; leave these samples out")
    with torch.no_grad():
        (rows, left_out), (second_rows, _) = (layer_rows(network, inputs) for network in (first, second))
        ends = (rows, second_rows)
        compared = [name for name, _ in partly_fixed_layers(first) if name in rows][:-1]
        layers = tuple(
            _layer(
                name,
                [network.get_submodule(name) for network in (first, second)],
                [e[name] for e in ends],
                kind,
                explained,
            )
            for name in compared
        )
        logits = [_outputs(first, second, float(t), inputs) for t in np.linspace(0, 1, points)]
        _require_classes(logits[0], targets)
        permuted = alignment.aligned(first, second, ends)
        aligned = None
        if permuted is not None:
            moved = [_outputs(*permuted, float(t), inputs) for t in np.linspace(0, 1, points)]
            aligned = barrier(_losses(moved, targets))
    losses = _losses(logits, targets)
    accuracies = np.array([float((z.argmax(1) == targets).double().mean()) for z in logits])
    deviations = [
        float(torch.linalg.vector_norm(z - (1 - t) * logits[0] - t * logits[-1], dim=1).mean())
        for t, z in zip(np.linspace(0, 1, points), logits, strict=True)
    ]
    return Identification(
        layers, losses, accuracies, math.sqrt(2) * max(deviations), barrier(losses), aligned, left_out
    )


def _losses(logits: Sequence[Tensor], targets: Tensor) -> FloatArray:
    return np.array([float(functional.cross_entropy(z, targets)) for z in logits])


def _outputs(first: nn.Module, second: nn.Module, weight: float, inputs: Tensor) -> Tensor:
    network = copy.deepcopy(first)
    network.load_state_dict(interpolated_state(first, second, weight))
    normalizations = [part for part in network.modules() if isinstance(part, _BatchNorm)]
    for part in normalizations:
        part.reset_running_stats()
        part.momentum = None  # a cumulative average: one pass over the data sets the statistics
        part.train()
    if normalizations:
        for batch in torch.split(inputs, _BATCH):
            network(batch)
    outputs = [network.eval()(batch) for batch in torch.split(inputs, _BATCH)]
    for part in outputs:
        if not isinstance(part, Tensor) or part.ndim != 2 or not bool(torch.isfinite(part).all()):
            raise InputError("model: its outputs have to be finite logits of shape (samples, classes)")
    return torch.cat(outputs)


def _require_classes(logits: Tensor, targets: Tensor) -> None:
    if targets.shape != logits.shape[:1] or targets.is_floating_point():
        raise InputError(
            f"targets: shape {tuple(targets.shape)}; one class (an integer) for each of {len(logits)} samples is needed"
        )
    if not 0 <= int(targets.min()) <= int(targets.max()) < logits.shape[1]:
        raise InputError(
            f"targets: classes {int(targets.min())} to {int(targets.max())}; the model has {logits.shape[1]}"
        )


def _layer(
    name: str,
    parts: Sequence[nn.Module],
    seen: Sequence[LayerRows],
    kind: SupportKind,
    explained: float,
) -> LayerIdentification:
    rows = [each.inputs for each in seen]
    try:
        support = data_subspace(torch.cat(rows).numpy(), kind=kind, explained=explained)
    except InputError as error:
        raise InputError(f"{name}: {error}") from None
    U = support.basis
    F, D, W0 = (x.numpy() for x in effective_weight(parts[0]))
    W1 = effective_weight(parts[1])[2].numpy()
    features = [(F + D * W) @ U for W in (W0, W1)]
    projected = torch.cat(rows).numpy() @ U
    covariance = projected.T @ projected / len(projected)
    root = np.linalg.cholesky(covariance + 1e-12 * np.trace(covariance) * np.eye(len(covariance)))
    betas, bound = unaligned_bound(F @ U @ root, np.stack([(D * W) @ U @ root for W in (W0, W1)]))
    costs = realization_costs(F, D, U, features[0])
    own = np.isfinite(np.diagonal(costs.values)).all() and not costs.undecided.any()
    distances = (((features[0] @ root)[:, None] - (features[1] @ root)[None]) ** 2).sum(-1)
    z0, z1 = rows[0].numpy() @ (F + D * W0).T, rows[0].numpy() @ (F + D * W1).T
    xi = np.maximum((z0 + z1) / 2, 0) - (np.maximum(z0, 0) + np.maximum(z1, 0)) / 2
    return LayerIdentification(
        name=name,
        support=support,
        coherence=coherence(U),
        center_dominance=betas,
        margin=assignment_margin(costs.values).margin if own else math.nan,
        swaps=swap_costs(costs.values) if own else np.full((len(F), len(F)), math.nan),
        cost_matching_identity=assignment_margin(distances).identity_optimal,
        activation_matching_identity=_is_identity(alignment.correlations(seen[0].outputs, seen[1].outputs)),
        predicted_deviation=bound,
        measured_deviation=float(np.sqrt((xi**2).sum(1).mean())),
    )


def _is_identity(similarity: FloatArray) -> bool:
    return bool((linear_sum_assignment(-similarity)[1] == np.arange(len(similarity))).all())
