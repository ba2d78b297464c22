"""Correlations of random networks with one hidden layer, swept over width, activation and parametrization."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..core import InputError
from .activations import ACTIVATIONS, Activation
from .one_hidden import SCALINGS, Order, Scaling, random_networks
from .registry import Experiment, Row

__all__ = ["EXPERIMENTS", "ORDERS", "CorrelationSettings", "correlation_rows"]

ORDERS: tuple[Order, ...] = (*((0, d) for d in range(1, 7)), *((1, d) for d in range(5)), (2, 0), (2, 1), (3, 0))
"""(D, d) of the columns ``C01``, …, ``C14``, ``C20``, ``C21``, ``C30``."""


@dataclass(frozen=True)
class CorrelationSettings:
    """One random layer at one input, along its own gradient.

    Parameters
    ----------
    activation : str
        Of `lakatos.numerics.activations`, but no polynomials.
    width : int
        n.
    parametrization : str
        ``ntk``, ``mean_field``, ``standard`` (rate 1/n), or ``output``, with `gamma`.
    gamma : float
        Output n^−gamma, rate n^(2 gamma − 1), for ``output``.
    kernel : float
        K = |x|²/d0.
    """

    activation: str = "tanh"
    width: int = 64
    parametrization: Literal["ntk", "mean_field", "standard", "output"] = "ntk"
    gamma: float = 0.5
    kernel: float = 1.0

    def __post_init__(self) -> None:
        if self.activation not in ACTIVATIONS:
            raise InputError(f"activation={self.activation!r}: choose one of {', '.join(ACTIVATIONS)}")
        if self.width < 1 or not self.kernel > 0:
            raise InputError(f"width={self.width!r}, kernel={self.kernel!r}: positive numbers are needed")

    @property
    def scaling(self) -> Scaling:
        """Powers of the width."""
        if self.parametrization == "output":
            return Scaling.of_output(self.gamma)
        return SCALINGS[self.parametrization]


def correlation_rows(settings: Sequence[CorrelationSettings], seeds: Sequence[int], device: str = "cpu") -> list[Row]:
    """Return for each network the absolute values of C_{0,d}, and the norms of C_{D,d}."""
    rows: list[Row] = []
    for one, seed in zip(settings, seeds, strict=True):
        (network,) = random_networks(
            Activation(one.activation),
            one.width,
            np.full((2, 2), one.kernel),
            np.ones(1),
            networks=1,
            seed=seed,
            scaling=one.scaling,
            device=device,
        )
        found = network.correlations(ORDERS)
        rows.append({f"C{D}{d}": abs(float(value)) for (D, d), value in found.items()})
    return rows


EXPERIMENTS: Mapping[str, Experiment] = {
    "one_hidden_correlations": Experiment(
        "derivative correlations of a random hidden layer along its own gradient",
        CorrelationSettings,
        correlation_rows,
        rounding=1e-9,
    )
}
