"""Exact balances as integers over a common denominator: computed from weights, or read from what a user gives."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..core import InputError
from ..exact import exact
from .names import as_name, index_of_names, some
from .square_sums import square_sums
from .stretches import Stretch

__all__ = ["Weights", "as_integers", "balance_of_weights", "read_balance", "volume_of_weights"]

Weights: TypeAlias = "Sequence[Fraction] | npt.NDArray[np.floating[Any]]"

_Ints = npt.NDArray[np.int64]
_Bools = npt.NDArray[np.bool_]


def balance_of_weights(
    tail: _Ints, head: _Ints, hidden: _Bools, weights: Weights, parts: Sequence[Stretch] | None = None
) -> tuple[npt.NDArray[Any], int]:
    """Return the exact balance c = Bθ² as integers and their common denominator, a square that clears all squares θ².

    Shapes: `tail`, `head`, `weights` (m,), `hidden` (n,); the result (n,), 0 on terminals. `parts` are the `stretches` of the
    edges if known.

    Examples
    --------
    >>> ends = np.array([0, 1]), np.array([1, 2])
    >>> c, denominator = balance_of_weights(*ends, np.array([False, True, False]), np.array([0.5, 2.0]))
    >>> c.tolist(), denominator
    ([0, -15, 0], 4)
    """
    return _sums_of_squares(tail, head, hidden, weights, parts, sign=-1)


def volume_of_weights(tail: _Ints, head: _Ints, hidden: _Bools, weights: Weights) -> npt.NDArray[Any]:
    """Return Σ θ² over all edges at each hidden node, over the denominator that `balance_of_weights` returns."""
    return _sums_of_squares(tail, head, hidden, weights, None, sign=1)[0]


def _sums_of_squares(
    tail: _Ints, head: _Ints, hidden: _Bools, weights: Weights, parts: Sequence[Stretch] | None, *, sign: int
) -> tuple[npt.NDArray[Any], int]:
    if isinstance(weights, np.ndarray):
        sums, bits = square_sums(tail, head, weights, len(hidden), parts, sign=sign)
        scale = 2**bits
    else:
        ratios = [w.as_integer_ratio() for w in weights]
        scale = math.lcm(*{q for _, q in ratios})
        sums = np.zeros(len(hidden), object)
        for a, b, (p, q) in zip(tail.tolist(), head.tolist(), ratios, strict=True):
            square = (p * (scale // q)) ** 2
            sums[a] += sign * square
            sums[b] += square
    sums[~hidden] = 0
    return as_integers(sums), scale * scale


def as_integers(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return int64 where the sum of absolute values is below 2⁶², otherwise Python integers.

    Examples
    --------
    >>> as_integers(np.array([1, -2], object)).dtype, as_integers(np.array([2**62], object)).dtype
    (dtype('int64'), dtype('O'))
    """
    if values.dtype != object:
        # Doubles overestimate the sum by less than a factor of 2 up to this bound, and have no room to overflow.
        if values.dtype.kind in "iu" and float(np.abs(values.astype(np.float64)).sum()) < 2.0**61:
            return values.astype(np.int64)
        values = values.astype(object)
    small = np.abs(values).sum() < 1 << 62
    return values.astype(np.int64) if small else values


def read_balance(
    balance: Mapping[Any, Any] | npt.NDArray[np.integer[Any]], names: Sequence[str], hidden: _Bools
) -> tuple[npt.NDArray[Any], int]:
    """Return the balance as integers and their common denominator.

    Parameters
    ----------
    balance : mapping from node name to number, or integer array, shape (n,)
        One number for every hidden node; in an array, 0 on terminals.

    Raises
    ------
    InputError
        Naming the node: unknown, a terminal, given twice, missing, or without a finite number.
    """
    if isinstance(balance, np.ndarray):
        return _from_array(balance, names, hidden), 1
    index = index_of_names(names)
    values: dict[str, Fraction] = {}
    for key, value in balance.items():
        name = as_name(key, "balance")
        if name not in index:
            raise InputError(f"balance[{name!r}]: no such node; known are {some(names)}")
        if not hidden[index[name]]:
            raise InputError(f"balance[{name!r}]: the node is an input or output, which has no balance; remove it")
        if name in values:
            raise InputError(f"balance[{name!r}]: given twice")
        values[name] = exact(value, f"balance[{name!r}]")
    missing = [names[v] for v in np.flatnonzero(hidden).tolist() if names[v] not in values]
    if missing:
        raise InputError(f"balance: missing for hidden node(s) {some(missing)}; every hidden node needs one")
    scale = math.lcm(*{value.denominator for value in values.values()})
    c = np.zeros(len(names), object)
    for name, value in values.items():
        c[index[name]] = int(value * scale)
    return as_integers(c), scale


def _from_array(balance: npt.NDArray[Any], names: Sequence[str], hidden: _Bools) -> npt.NDArray[Any]:
    if balance.shape != hidden.shape or balance.dtype.kind not in "iu":
        raise InputError(
            f"balance: {balance.dtype} {balance.shape}; an array needs one integer per node, shape {hidden.shape}"
        )
    if (odd := np.flatnonzero(~hidden & (balance != 0))).size:
        v = int(odd[0])
        raise InputError(f"balance[{v}]={balance[v]}: node {names[v]!r} is an input or output, which has none; write 0")
    return as_integers(balance)
