"""Chord deviations ξ(λ) = H(W^λ) − (1 − λ) H(W⁰) − λ H(W¹), measured: on given inputs, by quadrature, by Monte Carlo."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from ..core import InputError, Reason, Undecided
from .frequencies import Interval, mean_interval
from .realization import EPS, FloatArray

__all__ = [
    "ACTIVATIONS",
    "deviation",
    "deviation_on_points",
    "deviation_order",
    "gaussian_mean_square",
    "interval_mean_square",
    "network_deviations",
    "sampled_mean_square",
    "unaligned_bound",
]

_NODES = 20  # exact for polynomials of degree 39; a cosine of 4π is one to rounding


ACTIVATIONS: Mapping[str, Callable[[FloatArray], FloatArray]] = MappingProxyType(
    {
        "relu": lambda z: np.maximum(z, 0.0),
        "leaky_relu": lambda z: np.where(z > 0, z, 0.1 * z),
        "identity": lambda z: z,
        "gelu": lambda z: z * ndtr(z),
        "tanh": np.tanh,
        "softplus": lambda z: np.logaddexp(0.0, z),
        "sin": np.sin,
        "square": np.square,
    }
)
"""Activations by name."""


def deviation(z0: npt.ArrayLike, z1: npt.ArrayLike, weight: float, activation: str = "relu") -> FloatArray:
    """Return the deviation of the activation at λ = `weight` for pre-activations z₀, z₁ at the two ends."""
    a, b = np.asarray(z0, np.float64), np.asarray(z1, np.float64)
    eta = ACTIVATIONS[activation]
    return eta((1 - weight) * a + weight * b) - ((1 - weight) * eta(a) + weight * eta(b))


def deviation_on_points(
    x0: FloatArray, x1: FloatArray, weight: float, points: FloatArray, activation: str = "relu"
) -> float:
    """Return the mean of ‖ξ‖² over `points` (N, k), for layers with rows x₀ and x₁ (m, k)."""
    xi = deviation(points @ x0.T, points @ x1.T, weight, activation)
    return float((xi**2).sum(1).mean())


def deviation_order(
    c: FloatArray, t0: FloatArray, t1: FloatArray, weight: float, activation: str
) -> tuple[float, float]:
    """Return the order in h → 0 of the root mean square deviation for pre-activations c + h t₀ and c + h t₁, and its error.

    Slopes between h = 2⁻⁷, 2⁻⁸ and 2⁻⁹ are off by O(h); one step of Richardson's extrapolation.

    Raises
    ------
    Undecided
        If nothing deviates.
    """
    sizes = []
    for h in (2.0**-7, 2.0**-8, 2.0**-9):
        xi = deviation(c + h * t0, c + h * t1, weight, activation)
        sizes.append(float(np.linalg.norm(xi)))
    if min(sizes) == 0:
        raise Undecided(Reason.PRECISION, "nothing deviates for small shifts, so that there is no order to measure")
    slopes = [math.log2(a / b) for a, b in pairwise(sizes)]
    rounding = 64 * EPS * float(np.linalg.norm(np.abs(c) + 1)) / min(sizes)
    return 2 * slopes[1] - slopes[0], abs(slopes[1] - slopes[0]) + rounding


def gaussian_mean_square(x0: FloatArray, x1: FloatArray, weight: float) -> tuple[float, float]:
    """Return E ξ² of one neuron with weights x₀, x₁ (k,) and inputs N(0, 1_k), and a bound on the error.

    Only the plane of the two vectors matters. In polar coordinates ξ is the radius, whose mean square is 2, times a function
    of the angle. Between the angles where z₀, z₁ or z_λ changes its sign the square of that is a trigonometric polynomial of
    degree 2, which Gauss quadrature integrates up to rounding.
    """
    s0, s1 = float(np.linalg.norm(x0)), float(np.linalg.norm(x1))
    if s0 == 0 or s1 == 0:
        return 0.0, 0.0
    # Half-angle form: the angle between nearly parallel vectors keeps its digits.
    a, b = x0 / s0, x1 / s1
    angle = 2 * math.atan2(float(np.linalg.norm(a - b)), float(np.linalg.norm(a + b)))
    p, q = (1 - weight) * s0, weight * s1
    between = math.atan2(q * math.sin(angle), p + q * math.cos(angle))
    cuts = np.sort(
        np.array([x + y for x in (0.0, angle, between) for y in (math.pi / 2, 3 * math.pi / 2)]) % (2 * math.pi)
    )
    widths = np.diff(cuts, append=cuts[0] + 2 * math.pi)
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
    phi = cuts[:, None] + widths[:, None] * (nodes + 1) / 2
    xi = deviation(s0 * np.cos(phi), s1 * np.cos(phi - angle), weight)
    value = float(((xi**2) @ node_weights * widths).sum() / (2 * math.pi))
    rounding = 16 * EPS * (s0 + s1)  # of one ξ; of the angles and cuts, at which ξ is Lipschitz
    return value, 2 * rounding * math.sqrt(value) + rounding**2


def interval_mean_square(
    t0: float, t1: float, low: float, high: float, weight: float, activation: str = "relu"
) -> float:
    """Return E ξ² for pre-activations c + t₀ and c + t₁ with c uniform on [low, high], or equal to both.

    Between the values of c at which z₀, z₁ or z_λ changes its sign ξ² is a polynomial of degree 2 for ReLU, and smooth for
    other activations; 20 nodes of Gauss' rule in each part.
    """
    if low == high:
        return float(deviation(low + t0, low + t1, weight, activation) ** 2)
    kinks = np.clip([-t0, -t1, -((1 - weight) * t0 + weight * t1)], low, high)
    knots = np.sort(np.concatenate([[low, high], kinks]))
    nodes, node_weights = np.polynomial.legendre.leggauss(_NODES)
    widths = np.diff(knots)
    c = knots[:-1, None] + widths[:, None] * (nodes + 1) / 2
    xi = deviation(c + t0, c + t1, weight, activation)
    return float(((xi**2) @ node_weights * widths).sum() / (2 * (high - low)))


def network_deviations(
    first: Sequence[FloatArray], second: Sequence[FloatArray], data: FloatArray, weight: float, activation: str
) -> list[tuple[FloatArray, float]]:
    """Return by how much what a network at λ = `weight` passes on is off the chord of its two ends, behind every layer.

    Networks without biases, with weights (outputs, inputs) and data (N, inputs); the last layer has no activation. The second
    number is a bound on the rounding of the norm.
    """
    eta = ACTIVATIONS[activation]
    runs = [list(first), list(second), [(1 - weight) * a + weight * b for a, b in zip(first, second, strict=True)]]
    h = [data, data, data]
    size = float(np.linalg.norm(data))
    found = []
    for depth in range(len(first)):
        h = [x @ W[depth].T for x, W in zip(h, runs, strict=True)]
        size *= max(float(np.linalg.norm(W[depth])) for W in runs[:2])
        if depth + 1 < len(first):
            h = [eta(z) for z in h]
            size = size**2 if activation == "square" else size
        xi = h[2] - ((1 - weight) * h[0] + weight * h[1])
        found.append((xi, 16 * (depth + 1) * max(W[depth].shape[1] for W in runs) * EPS * size * 2 ** (depth + 1)))
    return found


def sampled_mean_square(x0: FloatArray, x1: FloatArray, weight: float, *, samples: int, seed: int) -> Interval:
    """Return E‖ξ‖² for layers with rows x₀, x₁ (m, k) and inputs N(0, 1_k), by Monte Carlo with four standard errors."""
    points = np.random.default_rng(seed).standard_normal((samples, x0.shape[1]))
    return mean_interval((deviation(points @ x0.T, points @ x1.T, weight) ** 2).sum(1))


def unaligned_bound(fixed: FloatArray, shifts: npt.ArrayLike) -> tuple[FloatArray, float]:
    """Return β of every neuron, max_q ‖t_i^q‖/‖f_i‖ in coordinates with input covariance 1, and β^{3/2}‖F‖/√(3π).

    Parameters
    ----------
    fixed : array (m, k)
        Fixed parts F Σ^{1/2}.
    shifts : array (q, m, k)
        Trained parts of the runs.

    Returns
    -------
    betas : array (m,)
        Infinite where the fixed part is 0 and the trained one is not.
    bound : float
        With the largest β; infinite if that exceeds 1, where the theorem says nothing.

    Raises
    ------
    InputError
        For shapes that do not fit.
    """
    shifts = np.asarray(shifts, np.float64)
    if shifts.ndim != 3 or shifts.shape[1:] != fixed.shape:
        raise InputError(f"shifts: shape {shifts.shape}; runs of layers of shape {fixed.shape} are needed")
    lengths, moved = np.linalg.norm(fixed, axis=1), np.linalg.norm(shifts, axis=2).max(0)
    betas = np.where(moved == 0, 0.0, moved / np.where(lengths == 0, 1.0, lengths))
    betas = np.where((lengths == 0) & (moved > 0), math.inf, betas)
    largest = float(betas.max())
    bound = largest**1.5 * float(np.linalg.norm(fixed)) / math.sqrt(3 * math.pi) if largest <= 1 else math.inf
    return betas, bound
