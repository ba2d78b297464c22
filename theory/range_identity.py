"""The identity behind a conserved range: the gradient Z of every averaged potential has ZPᵀ symmetric."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._checker_architectures import Matrix
from .._checker_polynomials import Polynomial, added, multiplied, partial, scaled

__all__ = ["skew_residual"]


def skew_residual(potentials: Iterable[Polynomial], block: Matrix, *, centered: bool = False) -> str:
    """Return ``"0"`` if ZPᵀ − PZᵀ = 0 for Z = ∂potential/∂P, as polynomials, for every potential; otherwise what is left.

    Parameters
    ----------
    block : Matrix
        P ∈ ℝ^{n × k}; its entries are single parameters.
    centered : bool
        Of the columns of P only the part orthogonal to the ones vector counts.

    Examples
    --------
    >>> skew_residual([{(0, 0): 1, (1, 1): 1}], [[{(0,): 1}], [{(1,): 1}]])
    '0'
    """
    for number, potential in enumerate(potentials):
        slopes = [[partial(potential, _parameter(entry)) for entry in row] for row in block]
        left, right = (_centered(slopes), _centered(block)) if centered else (slopes, block)
        for i in range(len(block)):
            for j in range(i):
                rest = added(_product(left[i], right[j]), scaled(_product(left[j], right[i]), -1))
                if rest:
                    return f"{len(rest)} terms at entry ({i}, {j}) for potential {number}"
    return "0"


def _centered(block: Matrix) -> Matrix:
    """n times the projection of the columns, so that coefficients stay integers."""
    n = len(block)
    sums = [added(*column) for column in zip(*block, strict=True)]
    return [
        [added(scaled(entry, n), scaled(total, -1)) for entry, total in zip(row, sums, strict=True)] for row in block
    ]


def _product(row: Sequence[Polynomial], other: Sequence[Polynomial]) -> Polynomial:
    return added(*(multiplied(p, q) for p, q in zip(row, other, strict=True)))


def _parameter(entry: Polynomial) -> int:
    ((parameter,),) = entry
    return parameter
