"""Gradient fields of losses averaged over a group, for small models, with the average taken exactly or as given.

The squared loss of a model M(θ)T(x) sees the data only through A = E TTᵀ and B = E yTᵀ, so that averaging the loss is
averaging these two matrices.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from .integrators import Field, Vector

__all__ = [
    "Moments",
    "averaged_moments",
    "deep_linear_field",
    "lightning_field",
    "lightning_moments",
    "margin_field",
    "residual_field",
    "rotated_quadratic_field",
]


@dataclass(frozen=True)
class Moments:
    """A = E TTᵀ (h × h) and B = E yTᵀ (q × h)."""

    a: Vector
    b: Vector

    def loss(self, m: Vector) -> float:
        """½⟨MᵀM, A⟩ − ⟨M, B⟩, the squared loss up to a constant."""
        return float(0.5 * np.sum((m.T @ m) * self.a) - np.sum(m * self.b))


def averaged_moments(x: Vector, y: Vector, elements: Sequence[tuple[Vector, Vector]] = ()) -> Moments:
    """Return the moments of data x (n × h), y (n × q), averaged over pairs of matrices acting on inputs and labels."""
    a, b = x.T @ x / len(x), y.T @ x / len(x)
    if not elements:
        return Moments(a, b)
    on_inputs = np.array([g for g, _ in elements])
    on_labels = np.array([g for _, g in elements])
    transposed = on_inputs.transpose(0, 2, 1)
    return Moments((on_inputs @ a @ transposed).mean(0), (on_labels @ b @ transposed).mean(0))


def deep_linear_field(moments: Moments, shapes: Sequence[tuple[int, int]]) -> Field:
    """Return minus the gradient of the squared loss of f = W1 … Wq x in the flattened (W1, …, Wq)."""
    return _layered_field(shapes, lambda m: m @ moments.a - moments.b)


def residual_field(x: Vector, y: Vector, shapes: Sequence[tuple[int, int]], slope: Callable[[Vector], Vector]) -> Field:
    """Return minus the gradient of the mean of Σ_c φ((f(x) − y)_c) for f = W1 … Wq x, with slope = φ'."""
    return _layered_field(shapes, lambda m: slope(x @ m.T - y).T @ x / len(x))


def _layered_field(shapes: Sequence[tuple[int, int]], derivative: Callable[[Vector], Vector]) -> Field:
    """Minus the gradient of a function of M = W1 … Wq in the flattened layers, from its derivative in M."""
    cuts = np.cumsum([a * b for a, b in shapes])[:-1]

    def field(theta: Vector) -> Vector:
        layers = [part.reshape(shape) for part, shape in zip(np.split(theta, cuts), shapes, strict=True)]
        left = [np.eye(shapes[0][0])]
        for layer in layers:
            left.append(left[-1] @ layer)
        error = derivative(left[-1])
        right = np.eye(shapes[-1][1])
        gradients = []
        for k in reversed(range(len(layers))):
            gradients.append(left[k].T @ error @ right.T)
            right = layers[k] @ right
        return -np.concatenate([gradient.ravel() for gradient in reversed(gradients)])

    return field


def margin_field(x: Vector, labels: Vector, slope: Callable[[Vector], Vector]) -> Field:
    """Return minus the gradient of the mean of φ(y w·x) in w, with slope = φ'; augmented data are given as data."""

    def field(w: Vector) -> Vector:
        return -x.T @ (labels * slope(labels * (x @ w))) / len(x)

    return field


def lightning_moments(x: Vector, y: Vector) -> Moments:
    """Return the moments of T(X)_i = X_i ⊗ vec(XᵀX), inputs N × n × d, labels N × n: summed over tokens, mean over N."""
    samples, _, d = x.shape
    gram = np.einsum("Nia,Nib->Nab", x, x)
    t = np.einsum("Nia,Nbe->Niabe", x, gram).reshape(-1, d**3)
    return Moments(t.T @ t / samples, y.reshape(1, -1) @ t / samples)


def lightning_field(moments: Moments, d: int) -> Field:
    """Return minus the gradient for f(X) = X Q Kᵀ XᵀX V with Q, K, V ∈ ℝᵈ, in θ = (Q, K, V)."""
    a, b = moments.a, moments.b.ravel()

    def field(theta: Vector) -> Vector:
        q, k, v = theta.reshape(3, d)
        g = (a @ np.einsum("a,b,e->abe", q, k, v).ravel() - b).reshape(d, d, d)
        parts = ("abe,b,e->a", k, v), ("abe,a,e->b", q, v), ("abe,a,b->e", q, k)
        return -np.concatenate([np.einsum(path, g, s, t) for path, s, t in parts])

    return field


def rotated_quadratic_field(x: Vector, y: Vector, units: int) -> Field:
    """Return minus the gradient for f = Σ_j a_j (w_j·x)², averaged over all rotations of x, in θ = (a, w_1, …).

    The average of x⊗x⊗x⊗x over rotations is |x|⁴/(d(d+2)) times the three pairings of its indices.
    """
    d = x.shape[1]
    squares = (x**2).sum(axis=1)
    fourth, second = float((squares**2).mean()) / (d * (d + 2)), float((y * squares).mean()) / d

    def field(theta: Vector) -> Vector:
        a, w = theta[:units], theta[units:].reshape(units, d)
        gram = w @ w.T
        lengths = np.diag(gram)
        kernel = np.outer(lengths, lengths) + 2 * gram**2
        along_a = fourth * kernel @ a - second * lengths
        along_w = (
            2 * fourth * (a[:, None] * (a @ lengths) * w + 2 * (np.outer(a, a) * gram) @ w)
            - 2 * second * a[:, None] * w
        )
        return -np.concatenate([along_a, along_w.ravel()])

    return field
