"""Scale classes: the units of a model that a rescaling moves together, and the parameter entries between them.

A *unit* is a number that a model computes, up to a positive factor, e.g. one channel of one layer; the entries of a tensor
are described by an array of units of its shape. A rescaling gives every unit a factor and multiplies a parameter entry
between units a and b by (factor of b) / (factor of a). Operations of the model demand that factors agree: the units are
then joined into one *class*. What cannot be rescaled at all (data, constants) has the factor 1: it is joined to `ONE`, and
its class is *pinned*. The classes that are left are the hidden neurons of the network of the model, since the loss is
unchanged by their rescalings, and differentiating that gives one conservation law each.

Demanding more than an operation needs is safe: it loses laws and never invents one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from .memory import require_memory
from .network import BoolArray, IntArray

__all__ = ["ONE", "ZERO", "Entries", "Parameter", "Scales", "UnitBlock", "Value", "constant"]

ONE = 0
"""The unit of constants: its factor is 1."""

ZERO = -1
"""Marks entries that are 0 whatever the parameters are; these agree with any factor."""


@dataclass(frozen=True, eq=False)
class Parameter:
    """A trained parameter: its entries in row-major order as doubles, and the relative rounding error of its dtype."""

    name: str
    shape: tuple[int, ...]
    values: npt.NDArray[np.float64]
    rounding: float


@dataclass(frozen=True, eq=False)
class Entries:
    """Entries of a parameter by their flat index, arranged in an array; what reshaping a parameter gives."""

    parameter: Parameter
    index: IntArray


_BYTES = 70  # per parameter entry, until the network of a model is made (measured: 69 for ResNet-18)

Value: TypeAlias = "IntArray | Entries"


@dataclass(frozen=True)
class UnitBlock:
    """Consecutive units from `start`, called ``name.0``, ``name.1``, …; inputs ``x0``, …; a source by its name alone."""

    start: int
    name: str
    kind: str = "layer"


@dataclass(frozen=True, eq=False)
class _Ends:
    tail: npt.NDArray[np.int32]
    head: npt.NDArray[np.int32]


class Scales:
    """The units of one model, their classes, and the ends of the parameter entries.

    Parameters
    ----------
    vanishing_epsilon : bool
        Treat the ε of normalizations as 0. Then a normalized tensor keeps one factor that does not matter, hence one more
        conservation law; with ε > 0 this law is violated at order ε / variance, and the tensor is pinned.

    Attributes
    ----------
    where : str
        Place of the operation that is being read, for notices.

    Examples
    --------
    >>> scales, weight = Scales(), Parameter("fc.weight", (2, 1), np.array([3.0, 4.0]), 2.0**-53)
    >>> x, h = scales.inputs(1), scales.layer(weight, 2)
    >>> scales.connect(scales.add_parameter(weight), x, h[:, None])
    >>> scales.is_pinned(x).tolist(), scales.is_pinned(h).tolist()
    ([True], [False, False])
    """

    def __init__(self, *, vanishing_epsilon: bool = False) -> None:
        self.vanishing_epsilon = vanishing_epsilon
        self.where = ""
        self.blocks = [UnitBlock(ONE, "1", "source")]
        self.ends: dict[Parameter, _Ends] = {}
        self.notes: dict[str, list[str]] = {}
        self._count = 1
        self._entries = 0
        self._layers: dict[str, int] = {}
        self._made = 0
        self._sources: dict[Parameter, int] = {}
        self._pairs: list[tuple[IntArray, IntArray]] = []
        self._roots: IntArray = np.zeros(1, np.int64)

    def add_parameter(self, parameter: Parameter) -> Entries:
        """Return all entries of a parameter; whatever is not connected later obeys no law.

        Raises
        ------
        Undecided
            If the network of the parameters so far will not fit into memory.
        """
        size = parameter.values.size
        if parameter not in self.ends:
            self._entries += size
            require_memory(_BYTES * self._entries, f"a network of {self._entries} weights or more")
            self.ends[parameter] = _Ends(np.full(size, ZERO, np.int32), np.full(size, ZERO, np.int32))
        return Entries(parameter, np.arange(size).reshape(parameter.shape))

    def inputs(self, count: int) -> IntArray:
        """Return new pinned units for data."""
        return self._pinned(count, "x", "input")

    def layer(self, parameter: Parameter, count: int) -> IntArray:
        """Return new units for what `parameter` computes, named after the module that it belongs to.

        Where the path consists of numbers only, as in a Sequential, layers are counted instead: ``h1``, ``h2``, ….
        """
        path = parameter.name.rpartition(".")[0]
        self._made += 1
        self._layers[path] = self._made
        return self._units(count, path if _is_telling(path) else f"h{self._made}", "layer")

    def units_of(self, value: Value) -> IntArray:
        """Return units for a value; an entry of a parameter is a unit of its own with one edge from a source."""
        if not isinstance(value, Entries):
            return value
        distinct, position = np.unique(value.index, return_inverse=True)
        units = self._units(distinct.size, value.parameter.name, "layer")
        self.connect(Entries(value.parameter, distinct), np.array(ONE), units)
        return units[position].reshape(value.index.shape)

    def connect(self, entries: Entries, tail: IntArray, head: IntArray) -> None:
        """Let entries of a parameter lead from `tail` to `head` (broadcast against each other).

        An entry is one edge: if it is used several times, as in a convolution or under weight tying, the ends of all uses are
        joined. Where the tail is `ZERO` the entry has no effect.
        """
        parameter = entries.parameter
        if (tail == ONE).any():
            tail = np.where(tail == ONE, self._source(parameter), tail)
        index, tail, head = np.broadcast_arrays(entries.index, tail, head)
        if (tail == ZERO).any():
            live = tail != ZERO
            index, tail, head = index[live], tail[live], head[live]
        ends = self.ends[parameter]
        new = ends.tail[index] == ZERO
        if new.all():
            ends.tail[index], ends.head[index] = tail, head
        else:
            ends.tail[index[new]], ends.head[index[new]] = tail[new], head[new]
        self.join(ends.tail[index], tail)
        self.join(ends.head[index], head)

    def join(self, a: npt.NDArray[np.integer], b: npt.NDArray[np.integer]) -> None:
        """Demand equal factors, entry by entry (broadcast against each other); `ZERO` agrees with everything."""
        a, b = np.broadcast_arrays(a, b)
        differ = (a != b) & (a != ZERO) & (b != ZERO)
        if differ.any():
            # Units are numbered with 31 bits, so that a pair is one integer: sorting these is faster than sorting pairs.
            pairs = np.unique(a[differ].astype(np.int64) << 31 | b[differ].astype(np.int64))
            self._pairs.append((pairs >> 31, pairs & (1 << 31) - 1))

    def roots(self) -> IntArray:
        """Return the smallest unit of the class of every unit; that of pinned units is `ONE`."""
        if self._pairs or len(self._roots) < self._count:
            known = np.arange(len(self._roots))
            a = np.concatenate([known, *(pair[0] for pair in self._pairs)])
            b = np.concatenate([self._roots, *(pair[1] for pair in self._pairs)])
            graph = coo_array((np.ones(len(a), bool), (a, b)), shape=(self._count, self._count))
            _, labels = connected_components(graph, directed=False)
            self._roots = np.unique(labels, return_index=True)[1][labels].astype(np.int64)
            self._pairs = []
        return self._roots

    def is_pinned(self, units: IntArray) -> BoolArray:
        """Return which units have the factor 1; `ZERO` counts as such."""
        result: BoolArray = (self.roots()[units] == ONE) | (units == ZERO)
        return result

    def pin(self, units: IntArray, why: str) -> IntArray:
        """Demand the factor 1, note why if that loses anything, and return the units, `ONE` instead of `ZERO`."""
        if not self.is_pinned(units).all():
            self.note(why)
            self.join(units, np.array(ONE))
        return np.where(units == ZERO, ONE, units)

    def note(self, why: str) -> None:
        """Note something about the present operation for the reader of a result."""
        places = self.notes.setdefault(why, [])
        if self.where not in places:
            places.append(self.where)

    def _source(self, parameter: Parameter) -> int:
        """Return the pinned unit from which the entries of a bias lead."""
        if parameter not in self._sources:
            path, _, leaf = parameter.name.rpartition(".")
            number = self._layers.get(path, self._made + 1)
            name = parameter.name if _is_telling(path) else f"{'b' if leaf == 'bias' else leaf}{number}"
            self._sources[parameter] = int(self._pinned(1, name, "source")[0])
        return self._sources[parameter]

    def _pinned(self, count: int, name: str, kind: str) -> IntArray:
        units = self._units(count, name, kind)
        self.join(units, np.array(ONE))
        return units

    def _units(self, count: int, name: str, kind: str) -> IntArray:
        self.blocks.append(UnitBlock(self._count, name, kind))
        self._count += count
        return np.arange(self._count - count, self._count)


def constant(values: npt.NDArray[np.generic]) -> IntArray:
    """Return units for constants: `ZERO` where they vanish, otherwise `ONE`.

    Examples
    --------
    >>> constant(np.array([0.0, -2.0])).tolist()
    [-1, 0]
    """
    return np.where(values == 0, ZERO, ONE)


def _is_telling(path: str) -> bool:
    return not all(part.isdigit() for part in path.split(".") if part)
