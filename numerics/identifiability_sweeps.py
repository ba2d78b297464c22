"""Barriers between networks that share their fixed weights, swept over coherence, dimension and size of fixed weights."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from .architecture_experiments import ArchitectureSettings, architecture_barriers
from .experiments import CoherenceSettings, Outcomes, SubspaceSettings, coherence_barriers, subspace_barriers
from .image_experiments import ImageSettings, image_barriers
from .registry import Experiment, Row

__all__ = ["EXPERIMENTS", "outcome_row"]

S = TypeVar("S")


def outcome_row(outcomes: Outcomes) -> Row:
    """Return the barriers of all pairs as a row: their mean and extremes, and the metric at the ends.

    Examples
    --------
    >>> outcome_row(Outcomes((1.0, 3.0), (0.5, 0.5), "midpoint_above_worse", "loss", {"coherence": 1.0}))["barrier"]
    2.0
    """
    return {
        "barrier": outcomes.mean,
        "smallest_barrier": min(outcomes.barriers),
        "largest_barrier": max(outcomes.barriers),
        f"end_{outcomes.metric}": sum(outcomes.ends) / len(outcomes.ends),
        "definition": outcomes.definition,
        "barriers": outcomes.barriers,
        **outcomes.notes,
    }


def _each(experiment: Callable[..., Outcomes]) -> Callable[[Sequence[S], Sequence[int], str], list[Row]]:
    """Return the experiment over lists: the pairs of networks of one cell are its batch."""

    def run(settings: Sequence[S], seeds: Sequence[int], device: str) -> list[Row]:
        return [outcome_row(experiment(one, seed, device=device)) for one, seed in zip(settings, seeds, strict=True)]

    return run


EXPERIMENTS: Mapping[str, Experiment] = {
    "coherence_barriers": Experiment(
        "barrier of the loss between masked students, as copies of the inputs lower their coherence",
        CoherenceSettings,
        _each(coherence_barriers),
        rounding=0.05,  # single precision, hundreds of steps
    ),
    "subspace_barriers": Experiment(
        "drop of accuracy between networks with fixed weights, on a Gaussian mixture in a random subspace",
        SubspaceSettings,
        _each(subspace_barriers),
        rounding=0.05,
    ),
    "architecture_barriers": Experiment(
        "drop of accuracy between residual networks or transformers, aligned and not, and between copies of one function",
        ArchitectureSettings,
        _each(architecture_barriers),
        rounding=0.05,
    ),
    "image_barriers": Experiment(
        "drop of accuracy between networks with fixed weights, aligned and not, on digits or on images in a folder",
        ImageSettings,
        _each(image_barriers),
        rounding=0.05,
    ),
}
