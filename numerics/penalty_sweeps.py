"""Penalized training for sweeps: how many neurons a penalty disconnects, and what that costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..core import InputError
from .datasets import DataName, labeled
from .penalized_training import PenaltyName, PenaltySettings, penalized_run
from .registry import Experiment, Row

__all__ = ["EXPERIMENTS", "SweptPenalty", "penalty_row"]

_CURVE = 10


@dataclass(frozen=True)
class SweptPenalty:
    """What to train, on which data, and how; see `lakatos.numerics.penalized_training.PenaltySettings`.

    Parameters
    ----------
    data : str
        ``clouds`` or ``breast_cancer``.
    """

    data: DataName = "clouds"
    hidden: tuple[int, ...] = (20,)
    penalty: PenaltyName = "nuclear"
    strength: float = 5e-3
    rate: float = 2e-3
    steps: int = 4000
    refresh: int = 1

    def __post_init__(self) -> None:
        if not self.hidden or min(self.hidden) < 1 or min(self.steps, self.refresh) < 1:
            raise InputError(f"hidden={self.hidden!r}: hidden layers, steps and refresh have to be positive")
        if self.strength < 0 or self.rate <= 0:
            raise InputError(f"strength={self.strength!r}: not negative, and rate={self.rate!r} positive is needed")


def penalty_row(settings: SweptPenalty, seed: int) -> Row:
    """Return what training with the penalty leads to; `seed` draws the data or their split, and the initialization."""
    train, test = labeled(settings.data, seed)
    run = penalized_run(
        train,
        test,
        PenaltySettings(
            settings.hidden, settings.penalty, settings.strength, settings.rate, settings.steps, settings.refresh
        ),
        seed,
        records=_CURVE,
    )
    return {
        "defect": run.defect,
        "removed": len(run.pruning.removed),
        "neurons": sum(settings.hidden),
        "accuracy": run.accuracy,
        "pruned_accuracy": run.pruned_accuracy,
        "relative_change": float(run.pruning.relative_change),
        "gap": float(run.pruning.disconnection.gap),
        "loss": run.losses[-1],
        "recorded_steps": tuple(map(float, run.steps)),
        "losses": run.losses,
        "spectrum": run.spectra[-1],
    }


def _rows(settings: Sequence[SweptPenalty], seeds: Sequence[int], device: str) -> list[Row]:
    if device != "cpu":
        raise InputError(f"device={device!r}: penalized training runs on the CPU; choose 'cpu'")
    return [penalty_row(one, seed) for one, seed in zip(settings, seeds, strict=True)]


EXPERIMENTS: Mapping[str, Experiment] = {
    "penalized_training": Experiment(
        "neurons that a penalty disconnects, and accuracy with and without them", SweptPenalty, _rows
    )
}
