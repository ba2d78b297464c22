"""Derivative correlations of networks with one hidden layer, in closed form, for many random networks at once.

F(x) = n^−γ Σ_j a_j φ(z_j) with z_j = w_j·x/√d0 and a, w ~ N(0, 1). The direction is v = Σ_b c_b ∇F(x_b), and

    C_{D,d} = η^(D/2+d)/(D! d!) ∇^(D+d) F(x) (v, …, v),   D free indices, d directions.

F(θ + t v) = n^−γ Σ (a + tα) φ(z + tζ), so that C_{0,d} is a sum over neurons, and C_{D,d} is block diagonal over neurons with
the D-form A u_x^D + B u_a u_x^(D−1) in the two coordinates of a neuron that matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
import torch
from torch import Tensor

from ..core import InputError
from .activations import Activation
from .realization import FloatArray

__all__ = ["SCALINGS", "OneHidden", "Order", "Scaling", "block_norm", "correlation_samples", "random_networks"]

Order: TypeAlias = tuple[int, int]
"""(D, d): free indices and directions; D + d is the order of the derivative."""

_CHUNK_BYTES = 1 << 28
_COPIES = 16  # of seeds x width x inputs: draws, derivatives and temporaries


@dataclass(frozen=True)
class Scaling:
    """Powers of the width: output n^−gamma, rate η = η₀ n^rate, kernel of the first layer's gradients K n^kernel.

    The last is what the standard parametrization amounts to in the coordinates in which all weights have variance 1.
    """

    gamma: float
    rate: float
    kernel: float = 0.0

    @classmethod
    def of_output(cls, gamma: float) -> Scaling:
        """Return the scaling with output n^−gamma and the rate η₀ n^(2 gamma − 1) that keeps Θ of order 1."""
        return cls(gamma, 2 * gamma - 1)


SCALINGS: Mapping[str, Scaling] = MappingProxyType(
    {
        "ntk": Scaling.of_output(0.5),
        "mean_field": Scaling.of_output(1.0),
        "standard": Scaling(0.5, 0.0, -1.0),
    }
)
"""Parametrizations by name. ``standard``: output weights of variance 1/n and one rate η₀/n; μP is ``mean_field``."""


@dataclass(frozen=True, eq=False)
class OneHidden:
    """Networks with one hidden layer at one input x, with a direction: what every correlation is a function of.

    Parameters
    ----------
    activation : Activation
        φ.
    a, z : Tensor, shape (networks, n)
        Output weights, and the hidden layer before the activation, at x.
    alpha, zeta : Tensor, shape (networks, n)
        How fast a and z change along the direction.
    kernel : float
        K = |x|²/d0, times what the scaling adds.
    scale, rate : float
        n^−γ and η.
    """

    activation: Activation
    a: Tensor
    z: Tensor
    alpha: Tensor
    zeta: Tensor
    kernel: float
    scale: float
    rate: float

    @classmethod
    def of(
        cls,
        activation: Activation,
        a: Tensor,
        z: Tensor,
        kernel: Tensor,
        c: Tensor,
        *,
        scaling: Scaling = SCALINGS["ntk"],
        rate: float = 1.0,
    ) -> OneHidden:
        """Return the networks at input x, with v = Σ_b c_b ∇F(x_b).

        Parameters
        ----------
        a : Tensor, shape (networks, n)
        z : Tensor, shape (networks, n, 1 + B)
            Hidden layers at x and at x_1, …, x_B.
        kernel : Tensor, shape (1 + B,)
            x·x/d0, then x·x_b/d0, with the variance of a bias where there is one.
        c : Tensor, shape (B,)
            Weights of the inputs.
        rate : float
            η₀.
        """
        n = a.shape[1]
        scale = n**-scaling.gamma
        factor = float(n) ** scaling.kernel
        values, slopes = activation.derivatives(z[..., 1:], 1)
        return cls(
            activation,
            a,
            z[..., 0],
            alpha=scale * (values @ c),
            zeta=scale * a * (slopes @ (c * kernel[1:])) * factor,
            kernel=float(kernel[0]) * factor,
            scale=scale,
            rate=rate * float(n) ** scaling.rate,
        )

    def correlations(self, orders: Sequence[Order]) -> dict[Order, Tensor]:
        """Return, for every (D, d), C_{0,d} with its sign or the spectral norm of C_{D,d}, shape (networks,) each.

        The norm is the supremum over unit vectors in each free index, and exact for every D.

        Raises
        ------
        InputError
            For a negative order.
        """
        if not orders or min(min(order) for order in orders) < 0:
            raise InputError(f"orders={list(orders)!r}: pairs (D, d) with D, d >= 0 are needed")
        phi = self.activation.derivatives(self.z, max(D + d for D, d in orders))
        return {(D, d): self._sum(phi, d) if D == 0 else self._norm(phi, D, d) for D, d in orders}

    def blocks(self, D: int, d: int) -> tuple[Tensor, Tensor]:
        """Return (A, B), shape (networks, n) each: neuron j of C_{D,d} is the form A u_x^D + B u_a u_x^(D−1); D ≥ 1."""
        return self._blocks(self.activation.derivatives(self.z, D + d), D, d)

    def scales(self, d: int) -> Tensor:
        """Return the sum of the absolute values of the terms of C_{0,d}, (networks,): what its rounding is relative to."""
        main, other = self._terms(self.activation.derivatives(self.z, d), d)
        return self.rate**d * self.scale * (main.abs() + other.abs()).sum(-1)

    def _terms(self, phi: Sequence[Tensor], d: int, D: int = 0) -> tuple[Tensor, Tensor]:
        """Return a φ^(D+d) ζ^d/d! and α φ^(D+d−1) ζ^(d−1)/(d−1)!, (networks, n) each."""
        main = self.a * phi[D + d] * _power(self.zeta, d) / math.factorial(d)
        if d == 0:
            return main, torch.zeros_like(main)
        return main, self.alpha * phi[D + d - 1] * _power(self.zeta, d - 1) / math.factorial(d - 1)

    def _sum(self, phi: Sequence[Tensor], d: int) -> Tensor:
        main, other = self._terms(phi, d)
        return self.rate**d * self.scale * (main + other).sum(-1)

    def _blocks(self, phi: Sequence[Tensor], D: int, d: int) -> tuple[Tensor, Tensor]:
        main, other = self._terms(phi, d, D)
        A = (main + other) * (self.kernel ** (D / 2) / math.factorial(D))
        mixed = phi[D + d - 1] * _power(self.zeta, d) / math.factorial(d)
        B = mixed * (self.kernel ** ((D - 1) / 2) / math.factorial(D - 1))
        return self.scale * A, self.scale * B

    def _norm(self, phi: Sequence[Tensor], D: int, d: int) -> Tensor:
        A, B = self._blocks(phi, D, d)
        norm: Tensor = (A**2 + B**2).sum(-1).sqrt() if D == 1 else block_norm(A, B, D).amax(-1)
        scaled: Tensor = self.rate ** (D / 2 + d) * norm
        return scaled


def block_norm(A: Tensor, B: Tensor, D: int) -> Tensor:
    """Return the maximum over the circle of |cos^(D−1) (A cos + B sin)|, D ≥ 2: stationarity is quadratic in the tangent."""
    A, B = A.abs(), B.abs()
    below = D * A + (D * D * A * A + 4 * (D - 1) * B * B).sqrt()
    t = torch.where(below > 0, 2 * B / torch.where(below > 0, below, 1.0), 0.0)
    return (A + B * t) / (1 + t * t) ** (D / 2)


def _power(x: Tensor, k: int) -> Tensor:
    """Return x^k by products, which are much faster than powers of tensors."""
    value = torch.ones_like(x)
    for _ in range(k):
        value = value * x
    return value


def random_networks(
    activation: Activation,
    n: int,
    kernel: FloatArray,
    c: FloatArray,
    *,
    networks: int,
    seed: int,
    scaling: Scaling = SCALINGS["ntk"],
    rate: float = 1.0,
    output_mean: float = 0.0,
    paired: bool = False,
    device: str = "cpu",
) -> Iterator[OneHidden]:
    """Yield `networks` random networks of width n in chunks that fit in memory; the draws do not depend on the chunks.

    Parameters
    ----------
    kernel : float array, shape (1 + B, 1 + B)
        Covariance of the hidden layer at x, x_1, …, x_B: the Gram matrix of the inputs over d0 (plus a bias variance).
        Inputs enter in no other way.
    c : float array, shape (B,)
        Weights of the inputs in the direction.
    output_mean : float
        Mean of the output weights; 0 but for controls.
    paired : bool
        Whether neurons come in pairs with equal w and opposite a; n has to be even.

    Raises
    ------
    InputError
        If the kernel is not a covariance, or sizes do not fit.
    """
    factor = _covariance_root(kernel, len(c))
    if n < 1 or networks < 1 or (paired and n % 2):
        raise InputError(f"n={n!r}, networks={networks!r}, paired={paired!r}: positive sizes, and pairs make n even")
    drawn = n // 2 if paired else n
    columns = factor.shape[1]
    rng = np.random.default_rng([seed, n])
    chunk = max(1, _CHUNK_BYTES // (_COPIES * 8 * n * len(kernel)))
    weights = torch.from_numpy(np.asarray(c, np.float64)).to(device)
    for start in range(0, networks, chunk):
        draws = torch.from_numpy(rng.standard_normal((min(chunk, networks - start), drawn, 1 + columns))).to(device)
        a = draws[..., 0] + output_mean
        z = draws[..., 1:] @ torch.from_numpy(factor.T).to(device)
        if paired:
            a, z = torch.cat([a, -a], 1), torch.cat([z, z], 1)
        first_row = torch.from_numpy(kernel[0]).to(device)
        yield OneHidden.of(activation, a, z, first_row, weights, scaling=scaling, rate=rate)


def correlation_samples(
    activation: Activation,
    widths: Sequence[int],
    orders: Sequence[Order],
    kernel: FloatArray,
    c: FloatArray,
    *,
    networks: int,
    seed: int,
    scaling: Scaling = SCALINGS["ntk"],
    rate: float = 1.0,
    output_mean: float = 0.0,
    paired: bool = False,
    device: str = "cpu",
) -> dict[Order, list[FloatArray]]:
    """Return for every (D, d) and every width the correlations (`OneHidden.correlations`) of `networks` random networks.

    Parameters and errors are those of `random_networks`.
    """
    found: dict[Order, list[FloatArray]] = {order: [] for order in orders}
    for n in widths:
        parts = [
            net.correlations(orders)
            for net in random_networks(
                activation,
                n,
                kernel,
                c,
                networks=networks,
                seed=seed,
                scaling=scaling,
                rate=rate,
                output_mean=output_mean,
                paired=paired,
                device=device,
            )
        ]
        for order in orders:
            found[order].append(torch.cat([part[order] for part in parts]).cpu().numpy())
    return found


def _covariance_root(kernel: FloatArray, inputs: int) -> FloatArray:
    """Return L with L Lᵀ = kernel and as few columns as its rank."""
    if kernel.shape != (1 + inputs, 1 + inputs) or not np.isfinite(kernel).all() or not np.allclose(kernel, kernel.T):
        raise InputError(
            f"kernel={kernel!r}: a symmetric matrix of {1 + inputs} rows is needed: x, then the inputs of c"
        )
    values, vectors = np.linalg.eigh(kernel)
    rounding = 1e-12 * max(values.max(), 0.0)
    if values.min() < -rounding:
        raise InputError(f"kernel={kernel!r}: not a covariance, it has the eigenvalue {values.min():.3g}")
    kept = values > rounding
    root: FloatArray = vectors[:, kept] * np.sqrt(values[kept])
    return root
