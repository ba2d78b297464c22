"""Exponents in the width of derivative correlations of fully connected networks, by Taylor mode on many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import torch

from .linearization_exponents import sphere_data
from .mlps import Architecture, chunks, draw
from .power_laws import PowerLaw, power_law
from .realization import FloatArray
from .taylor_mode import NEURONS_AT_ONCE, correlations, first_order_norms, gradient_direction

__all__ = ["correlation_laws", "correlation_samples"]

_ROWS = 12  # of activations for each order, with what autograd keeps of them


def correlation_samples(
    architecture: Architecture, networks: int, order: int, seed: int, *, rate: float = 1.0, device: str = "cpu"
) -> tuple[FloatArray, FloatArray]:
    """Return C_{0,d}, d = 0 … order, and ‖C_{1,d}‖, d = 0 … order − 1, as arrays (networks, …), for v = ∇F(x).

    The input x is the same for every width and network, on the sphere |x|² = d0; the rate gets its power of the width.
    """
    x, _ = sphere_data(architecture.inputs, 1, 0, seed)
    x, one = x.to(device), torch.ones(1, architecture.outputs, dtype=torch.float64, device=device)
    seeds = [int(s) for s in np.random.SeedSequence([seed, architecture.width]).generate_state(networks)]
    eta = rate * architecture.rate_factor
    size = architecture.parameters + _ROWS * (order + 1) * sum(architecture.sizes)
    values, norms = [], []
    for part in chunks(seeds, size, budget=1 << 28, most=NEURONS_AT_ONCE // architecture.width):
        mlp = draw(architecture, part, device=device)
        direction = gradient_direction(mlp, x, one)
        with torch.inference_mode():
            values.append(correlations(mlp, x, direction, order, rate=eta)[..., 0, 0])
        norms.append(first_order_norms(mlp, x, direction, order - 1, rate=eta)[..., 0, 0])
    return torch.cat(values).cpu().numpy(), torch.cat(norms).cpu().numpy()


def correlation_laws(
    architecture: Callable[[int], Architecture],
    widths: Sequence[int],
    networks: int,
    order: int,
    seed: int,
    *,
    rate: float = 1.0,
    device: str = "cpu",
) -> dict[tuple[int, int], PowerLaw]:
    """Return the laws of the root mean squares of C_{0,d}, 2 ≤ d ≤ order, and ‖C_{1,d}‖, 1 ≤ d < order, in the width."""
    samples = [correlation_samples(architecture(n), networks, order, seed, rate=rate, device=device) for n in widths]
    found = {(0, d): power_law(widths, [values[:, d] for values, _ in samples]) for d in range(2, order + 1)}
    found |= {(1, d): power_law(widths, [norms[:, d] for _, norms in samples]) for d in range(1, order)}
    return found
