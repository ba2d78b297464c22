"""Gradient fields of squared losses averaged over all rotations of the inputs: layers of powers, lightning attention.

A squared loss sees rotated data through two tensors only, and their averages are known: sums over pairings of their indices.
"""

from __future__ import annotations

from math import factorial, prod

import numpy as np
import torch
from torch import Tensor

from ..core import InputError
from .averaged_training import Moments
from .integrators import Field, Vector
from .law_scout import Scout, lie_scout
from .layer_losses import cut
from .rotation_averages import rotation_average
from .simulated_training import compiled

__all__ = ["lightning_scout", "rotated_lightning_field", "rotated_lightning_moments", "rotated_power_field"]

_LARGEST = 10  # coordinates; (10³)² numbers for each pairing of six indices


def rotated_power_field(x: Vector, y: Vector, exponent: int, units: int) -> Field:
    """Return minus the gradient for f = Σ_j a_j (w_j·x)^m, averaged over all rotations of x, in θ = (a, w_1, …).

    Over the unit sphere in ℝᵈ the mean of (v·u)^m (w·u)^m is Σ_r c_r (v·w)^r |v|^{m−r} |w|^{m−r} / (d(d+2)…(d+2m−2)), with
    r ≡ m mod 2 and c_r = m!² / (r! ((m−r)/2)!² 2^{m−r}), the number of pairings with r pairs between the two factors.

    Parameters
    ----------
    x, y : arrays, N × d and N
        Inputs and labels, which rotations leave alone.
    """
    d, m = x.shape[1], exponent
    lengths = np.linalg.norm(x, axis=1)
    quartic = float((lengths ** (2 * m)).mean()) / prod(range(d, d + 2 * m, 2))
    linear = float((y * lengths**m).mean()) / prod(range(d, d + m, 2)) * prod(range(1, m, 2)) if m % 2 == 0 else 0.0
    counts = {
        r: factorial(m) ** 2 / (factorial(r) * factorial((m - r) // 2) ** 2 * 2 ** (m - r)) for r in range(m, -1, -2)
    }

    def loss(theta: Tensor) -> Tensor:
        a, w = cut(theta, [(units,), (units, d)])
        gram = w @ w.T
        squares = torch.diagonal(gram)
        kernel = torch.stack(
            [c * gram**r * torch.outer(squares, squares) ** ((m - r) // 2) for r, c in counts.items()]
        ).sum(0)
        total = 0.5 * quartic * a @ kernel @ a
        return total - linear * a @ squares ** (m // 2) if linear else total

    return compiled(loss)


def rotated_lightning_moments(x: Vector, y: Vector, rotated: int, *, output_map: bool = False) -> Moments:
    """Return the moments of T(X)_i = X_i ⊗ vec(XᵀX), averaged over O(r) on the last r coordinates of every token.

    Parameters
    ----------
    x : array (N, n, d)
        Sequences.
    y : array (N, n, c)
        Labels, which rotations leave alone; with `output_map` c = d = r, and labels rotate like tokens.

    Raises
    ------
    InputError
        For more than ten coordinates.
    """
    d, c = x.shape[2], y.shape[2]
    if d > _LARGEST:
        raise InputError(f"sizes: {d} coordinates; averages over rotations are taken in at most {_LARGEST}")
    # The average acts on the first coordinates.
    order = [*range(d - rotated, d), *range(d - rotated)]
    back = np.argsort(order)
    x = x[:, :, order]
    gram = np.einsum("Nia,Nib->Nab", x, x)
    lifted = np.einsum("Nia,Nbe->Niabe", x, gram).reshape(len(x), -1, d**3)
    a = np.einsum("Nis,Nit->st", lifted, lifted, optimize=True).reshape((d,) * 6) / len(x)
    b = np.einsum("Nic,Nit->ct", y[:, :, order] if output_map else y, lifted).reshape(c, d, d, d) / len(x)
    a = rotation_average(a, rotated)
    b = rotation_average(b, rotated) if output_map else np.stack([rotation_average(part, rotated) for part in b])
    b = b[np.ix_(back if output_map else np.arange(c), back, back, back)]
    return Moments(a[np.ix_(*[back] * 6)].reshape(d**3, d**3), b.reshape(c, d**3))


def rotated_lightning_field(
    sizes: tuple[int, ...], x: Vector, y: Vector, *, rotated: int | None = None, output_map: bool = False
) -> Field:
    """Return minus the gradient of the squared loss of X Q Kᵀ XᵀX V (Oᵀ), averaged over rotations of the last coordinates.

    Parameters
    ----------
    sizes : tuple of int
        (d, a, c).
    x, y, output_map
        As for `rotated_lightning_moments`.
    rotated : int, optional
        How many coordinates rotate; all if left out.
    """
    moments = rotated_lightning_moments(x, y, rotated or sizes[0], output_map=output_map)
    a, b = torch.as_tensor(moments.a), torch.as_tensor(moments.b)
    return compiled(lambda theta: _of_moments(theta, sizes, a, b, output_map))


def lightning_scout(sizes: tuple[int, ...], rotated: int, *, seed: int = 0) -> Scout:
    """Return the floating-point count of laws of X Q Kᵀ XᵀX V where the last `rotated` coordinates of tokens rotate.

    Raises
    ------
    InputError
        For more than ten coordinates.
    Undecided
        If the rank is not clear.
    """
    d, a, c = sizes

    def sampler(count: int, generator: torch.Generator) -> tuple[Tensor, ...]:
        moments = []
        for _ in range(count):
            x, y = (torch.randn((1, 3, n), generator=generator, dtype=torch.float64).numpy() for n in (d, c))
            moments.append(rotated_lightning_moments(x, y, rotated))
        return torch.as_tensor(np.stack([m.a for m in moments])), torch.as_tensor(np.stack([m.b for m in moments]))

    theta = torch.randn(d * (2 * a + c), generator=torch.Generator().manual_seed(seed), dtype=torch.float64)
    return lie_scout(lambda t, z: _of_moments(t, sizes, z[0], z[1], False), theta, sampler, seed=seed)


def _of_moments(theta: Tensor, sizes: tuple[int, ...], a: Tensor, b: Tensor, output_map: bool) -> Tensor:
    """½⟨MᵀM, A⟩ − ⟨M, B⟩."""
    d, rows, c = sizes
    q, k, v, *o = cut(theta, [(d, rows), (d, rows), (d, c), *([(d, c)] if output_map else [])])
    m = torch.einsum("ij,ec->cije", q @ k.T, v @ o[0].T if o else v).reshape(-1, d**3)
    return 0.5 * ((m @ a) * m).sum() - (m * b).sum()
