"""Chord deviations of deep networks, exactly: from what the two ends compute, without the network between them.

In each layer z = W h and h' = η(z). With W^λ = (1 − λ)W⁰ + λW¹, Δ the difference of the two ends and ξ by how much a quantity
of the network between them is off the chord:

    ξ_z = W^λ ξ_h − λ(1 − λ) ΔW Δh,    ξ_{h'} = η(z̄ + ξ_z) − (1 − λ)η(z⁰) − λη(z¹),    z̄ = (1 − λ)z⁰ + λz¹.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from types import MappingProxyType

from ..core import InputError
from .matrices import Rows, product, require_rows, transpose

__all__ = ["ACTIVATIONS", "Layer", "PairFields", "between", "deviations", "mixed"]

_SLOPE = Fraction(1, 10)

ACTIVATIONS: Mapping[str, Callable[[Fraction], Fraction]] = MappingProxyType(
    {
        "relu": lambda z: max(z, Fraction(0)),
        "leaky_relu": lambda z: z if z > 0 else _SLOPE * z,
        "square": lambda z: z * z,
    }
)
"""Activations on rationals; the first two have the Lipschitz constant 1."""


@dataclass(frozen=True)
class PairFields:
    """Two networks of one architecture, without biases, and data.

    Parameters
    ----------
    first, second : tuples of rows of numbers
        The weight matrices of both, outputs × inputs, from the first layer on.
    data : rows of numbers
        Points.

    Raises
    ------
    InputError
        If shapes do not fit.
    """

    first: tuple[Rows, ...]
    second: tuple[Rows, ...]
    data: Rows

    def __post_init__(self) -> None:
        require_rows(self.data, "data")
        if not self.first or len(self.first) != len(self.second):
            raise InputError(
                f"first: {len(self.first)} and second: {len(self.second)} layers; as many of each are needed, at least one"
            )
        columns = len(self.data[0])
        for depth, (W0, W1) in enumerate(zip(self.first, self.second, strict=True)):
            require_rows(W0, f"first[{depth}]", columns=columns)
            require_rows(W1, f"second[{depth}]", columns=columns, count=len(W0))
            columns = len(W0)


@dataclass(frozen=True)
class Layer:
    """Deviations in one layer, a row for each point.

    Parameters
    ----------
    carried : rows
        W^λ ξ_h, what the layers before bring.
    cross : rows
        −λ(1 − λ) ΔW Δh.
    inner : rows
        ξ_z, the sum of both.
    chord : rows
        η(z̄) − (1 − λ)η(z⁰) − λη(z¹), what the activation alone would add; empty in the last layer.
    outer : rows
        ξ_{h'}, of what the next layer gets; empty in the last layer.
    """

    carried: Rows
    cross: Rows
    inner: Rows
    chord: Rows = ()
    outer: Rows = ()


def deviations(pair: PairFields, weight: Fraction, activation: str) -> tuple[Layer, ...]:
    """Return the deviations at λ = `weight` in every layer, by the recursion.

    Examples
    --------
    >>> one = Fraction(1)
    >>> pair = PairFields(first=(((one,),), ((one,),)), second=(((-one,),), ((one,),)), data=((one,),))
    >>> deviations(pair, Fraction(1, 2), "relu")[1].inner
    ((Fraction(-1, 2),),)
    """
    eta = ACTIVATIONS[activation]
    h0 = h1 = pair.data
    off: Rows = tuple((Fraction(0),) * len(row) for row in pair.data)
    found = []
    for depth, (W0, W1) in enumerate(zip(pair.first, pair.second, strict=True)):
        z0, z1 = product(h0, transpose(W0)), product(h1, transpose(W1))
        carried = product(off, transpose(mixed(W0, W1, weight)))
        cross = _scaled(product(_minus(h1, h0), transpose(_minus(W1, W0))), -weight * (1 - weight))
        inner = _plus(carried, cross)
        if depth + 1 == len(pair.first):
            found.append(Layer(carried, cross, inner))
            break
        middle = mixed(z0, z1, weight)
        h0, h1 = _applied(eta, z0), _applied(eta, z1)
        straight = mixed(h0, h1, weight)
        off = _minus(_applied(eta, _plus(middle, inner)), straight)
        found.append(Layer(carried, cross, inner, _minus(_applied(eta, middle), straight), off))
    return tuple(found)


def between(pair: PairFields, weight: Fraction, activation: str) -> Rows:
    """Return by how much the outputs of the network at λ are off the chord, by running all three networks.

    Examples
    --------
    >>> one = Fraction(1)
    >>> pair = PairFields(first=(((one,),), ((one,),)), second=(((-one,),), ((one,),)), data=((one,),))
    >>> between(pair, Fraction(1, 2), "relu")
    ((Fraction(-1, 2),),)
    """
    middle = tuple(mixed(W0, W1, weight) for W0, W1 in zip(pair.first, pair.second, strict=True))
    at, start, end = (
        _run(pair.data, weights, ACTIVATIONS[activation]) for weights in (middle, pair.first, pair.second)
    )
    return _minus(at, mixed(start, end, weight))


def _run(data: Rows, weights: Sequence[Rows], eta: Callable[[Fraction], Fraction]) -> Rows:
    for depth, matrix in enumerate(weights):
        data = product(data, transpose(matrix))
        if depth + 1 < len(weights):
            data = _applied(eta, data)
    return data


def mixed(left: Rows, right: Rows, weight: Fraction) -> Rows:
    """Return (1 − λ) left + λ right.

    Examples
    --------
    >>> mixed(((Fraction(0),),), ((Fraction(4),),), Fraction(1, 4))
    ((Fraction(1, 1),),)
    """
    return _plus(_scaled(left, 1 - weight), _scaled(right, weight))


def _plus(left: Rows, right: Rows) -> Rows:
    return tuple(tuple(x + y for x, y in zip(*rows, strict=True)) for rows in zip(left, right, strict=True))


def _minus(left: Rows, right: Rows) -> Rows:
    return tuple(tuple(x - y for x, y in zip(*rows, strict=True)) for rows in zip(left, right, strict=True))


def _scaled(rows: Rows, factor: Fraction) -> Rows:
    return tuple(tuple(factor * x for x in row) for row in rows)


def _applied(eta: Callable[[Fraction], Fraction], rows: Rows) -> Rows:
    return tuple(tuple(map(eta, row)) for row in rows)
