"""Lightning attention trained on rotated copies of its data: any loss, rotations fixed in advance or drawn anew each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .haar import haar_orthogonal
from .integrators import Field, Vector

__all__ = ["Slope", "fresh_descent", "logistic_slope", "rotated_field", "squared_slope"]

Slope: TypeAlias = Callable[[Vector, Vector], Vector]
"""Derivative of the loss of one token in the output, from outputs and labels."""


def squared_slope(f: Vector, y: Vector) -> Vector:
    """Derivative of ½(f − y)²."""
    return f - y


def logistic_slope(f: Vector, y: Vector) -> Vector:
    """Derivative of log(1 + exp(−f sign y))."""
    sign = np.sign(y)
    return np.asarray(-sign / (1 + np.exp(sign * f)), np.float64)


def rotated_field(x: Vector, y: Vector, rotations: Vector, slope: Slope = squared_slope) -> Field:
    """Return minus the gradient for f(X) = X Q Kᵀ XᵀX V in θ = (Q, K, V): summed over tokens, mean over data and rotations.

    f of rotated data at θ is f of the data at rotated θ, so that nothing but three vectors is rotated.

    Parameters
    ----------
    x, y : arrays, N × n × d and N × n
        Inputs and labels.
    rotations : array, G × d × d
        Orthogonal matrices.
    """
    samples, _, d = x.shape
    gram = np.einsum("Nia,Nib->Nab", x, x)

    def field(theta: Vector) -> Vector:
        turned = theta.reshape(3, d) @ rotations.transpose(0, 2, 1)
        q, k, v = turned[:, 0], turned[:, 1], turned[:, 2]
        queries = np.einsum("Nta,ga->gNt", x, q)
        keys, values = np.einsum("Nab,ga->gNb", gram, k), np.einsum("Nab,ga->gNb", gram, v)
        products = np.einsum("gNb,gb->gN", keys, v)
        error = slope(queries * products[:, :, None], y) / (len(rotations) * samples)
        along_q = np.einsum("gNt,Nta,gN->ga", error, x, products)
        along_products = np.einsum("gNt,gNt->gN", error, queries)
        along_k = np.einsum("gN,gNb->gb", along_products, values)
        along_v = np.einsum("gN,gNb->gb", along_products, keys)
        gradients = np.stack([along_q, along_k, along_v], axis=1)
        return np.asarray(-(gradients @ rotations).sum(axis=0).ravel(), np.float64)

    return field


def fresh_descent(
    x: Vector, y: Vector, theta: Vector, step: float, steps: int, count: int, generator: np.random.Generator
) -> Vector:
    """Return θ after gradient descent on the squared loss, each step averaged over `count` new Haar rotations."""
    for _ in range(steps):
        theta = theta + step * rotated_field(x, y, haar_orthogonal(generator, x.shape[2], count))(theta)
    return theta
