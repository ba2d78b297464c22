"""How fast training approaches its linearization as the width grows: exponents of deviations, over random networks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from ..core import InputError
from .linearized_training import Runs, Schedule, ensemble_runs
from .mlps import Architecture
from .power_laws import PowerLaw, power_law
from .realization import FloatArray

__all__ = ["Ensemble", "deviation_laws", "slopes_in_time", "sphere_data", "sphere_runs"]


@dataclass(frozen=True)
class Ensemble:
    """Networks of several widths, and their data.

    Parameters
    ----------
    architecture : callable
        From a width to the networks.
    widths : sequence of int
        At least six.
    networks : int
        Seeds of each width.
    train, test : int
        Inputs on the sphere |x|² = d that are trained on, with labels ±1, and others.
    orthogonal : bool
        Whether those trained on are orthogonal, so that for weights that are normal nothing depends on which they are.
    """

    architecture: Callable[[int], Architecture]
    widths: Sequence[int]
    networks: int
    train: int = 4
    test: int = 2
    orthogonal: bool = False


def sphere_data(dimension: int, train: int, test: int, seed: int, *, orthogonal: bool = False) -> tuple[Tensor, Tensor]:
    """Return inputs (train + test, d) with |x|² = d, and labels ±1 (train, 1).

    Raises
    ------
    InputError
        If more than d inputs are to be orthogonal.
    """
    if orthogonal and train > dimension:
        raise InputError(f"train={train!r}: at most {dimension} inputs of that dimension are orthogonal")
    rng = np.random.default_rng([seed, 5])
    x = rng.standard_normal((train + test, dimension))
    if orthogonal:
        x[:train] = np.linalg.qr(x[:train].T)[0].T
    x *= np.sqrt(dimension) / np.linalg.norm(x, axis=1, keepdims=True)
    y = rng.choice([-1.0, 1.0], (train, 1))
    return torch.from_numpy(x), torch.from_numpy(y)


def sphere_runs(
    ensemble: Ensemble,
    width: int,
    schedule: Schedule,
    seed: int,
    *,
    records: Sequence[int] | None = None,
    drifts: bool = False,
    device: str = "cpu",
) -> Runs:
    """Return the runs of all networks of one width, on the same data for every width."""
    architecture = ensemble.architecture(width)
    inputs, targets = sphere_data(
        architecture.inputs, ensemble.train, ensemble.test, seed, orthogonal=ensemble.orthogonal
    )
    seeds = [int(s) for s in np.random.SeedSequence([seed, width]).generate_state(ensemble.networks)]
    return ensemble_runs(architecture, seeds, inputs, targets, schedule, records=records, drifts=drifts, device=device)


def deviation_laws(
    ensemble: Ensemble, schedule: Callable[[int], Schedule], seed: int, *, drifts: bool = False, device: str = "cpu"
) -> dict[str, PowerLaw]:
    """Return the laws of the root mean square, over networks, of what training leaves after its last step.

    ``train`` and ``test``: F − F_lin there; ``kernel`` and ``gradient`` with `drifts`: how far those moved.

    Parameters
    ----------
    schedule : callable
        From a width to its schedule, whose rate includes powers of the width.
    """
    samples: dict[str, list[FloatArray]] = {"train": [], "test": []}
    if drifts:
        samples |= {"kernel": [], "gradient": []}
    scales: dict[str, list[float]] = {"train": [], "test": []}
    for width in ensemble.widths:
        runs = sphere_runs(ensemble, width, schedule(width), seed, drifts=drifts, device=device)
        deviation, cut = runs.deviation[-1, ..., 0].cpu(), ensemble.train
        size = float((runs.outputs.abs().max() + runs.linear.abs().max()).cpu())
        for name, part in (("train", deviation[:, :cut]), ("test", deviation[:, cut:])):
            samples[name].append(part.square().mean(1).sqrt().numpy())
            scales[name].append(size)
        if drifts:
            samples["kernel"].append(runs.kernel_drift[-1].cpu().numpy())
            samples["gradient"].append(runs.gradient_drift[-1].cpu().numpy())
    return {
        name: power_law(ensemble.widths, values, scales=scales.get(name), seed=seed) for name, values in samples.items()
    }


def slopes_in_time(runs: Runs, train: int) -> FloatArray:
    """Return for every network the slope of log rms (F − F_lin), at inputs not trained on, against the log of the steps.

    NaN where the deviation is rounding: there is nothing to fit.
    """
    deviation = runs.deviation[:, :, train:].square().mean((2, 3)).sqrt().cpu().numpy()
    size = float(runs.outputs.abs().max())
    x = np.log(np.array(runs.steps, np.float64))
    x -= x.mean()
    logs = np.log(np.where(deviation > 1e-11 * size, deviation, np.nan))
    slopes: FloatArray = x @ (logs - logs.mean(0)) / (x @ x)
    return slopes
