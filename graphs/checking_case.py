"""What the checker on arrays talks about: a network, numbers over one denominator, sets, sparse vectors and claims."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .balances import balance_of_weights
from .dyadic import MOST_LIMBS, limb_count, signed_square_sums
from .names import index_of_names
from .network import BoolArray, IntArray, Network

__all__ = ["Case", "Claims", "InvalidCertificate", "Vector"]

_NUMBER = re.compile(r"-?[0-9]+(/0*[1-9][0-9]*)?")
_EDGE = re.compile(r"0|[1-9][0-9]{0,9}")
_SIDES = ("out", "in")


class InvalidCertificate(ValueError):
    """A certificate does not check; the message says what failed where."""


@dataclass(frozen=True, eq=False)
class Vector:
    """Distinct edges and non-zero integers on them, times the common denominator."""

    edges: IntArray
    values: npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False)
class Case:
    """The network that a certificate is about, and its balances as integers over `denominator`.

    Numbers of the certificate that are no multiples of ``1/denominator`` are refused; minima, points and flows with that
    denominator always exist, since incidence matrices are totally unimodular.
    """

    network: Network
    denominator: int
    c: npt.NDArray[np.object_]
    index: Mapping[str, int]

    @classmethod
    def of(cls, network: Network) -> Case:
        """Return the case of this network, with balances computed from the weights wherever it has them."""
        c, denominator = network.require_balance(), network.denominator
        if network.weights is not None:
            c, denominator = _balance_again(network)
        return cls(network, denominator, c.astype(object), index_of_names(network.names))

    @cached_property
    def _inside(self) -> BoolArray:
        """Room to mark nodes in; nothing is marked between uses."""
        return np.zeros(self.network.node_count, bool)

    def number(self, data: Any, where: str) -> int:
        """Return an exact number of the certificate, times the common denominator."""
        if not isinstance(data, str) or not _NUMBER.fullmatch(data):
            raise InvalidCertificate(f"{where}: an exact number 'p' or 'p/q' is needed")
        scaled = Fraction(data) * self.denominator
        if scaled.denominator != 1:
            raise InvalidCertificate(f"{where}={data!r}: a multiple of 1/{self.denominator} is needed")
        return scaled.numerator

    def vector(self, data: Any, where: str, *, signed: bool = False) -> Vector:
        """Return a sparse vector over the edges."""
        if not isinstance(data, Mapping) or not all(isinstance(key, str) and _EDGE.fullmatch(key) for key in data):
            raise InvalidCertificate(f"{where}: an object with edge numbers as keys is needed")
        edges = np.array([int(key) for key in data], np.int64)
        values = np.array([self.number(text, f"{where}[{key}]") for key, text in data.items()], object)
        if len(edges) and edges.max() >= self.network.edge_count:
            raise InvalidCertificate(f"{where}: no edge {edges.max()}")
        if not signed and (values < 0).any():
            raise InvalidCertificate(f"{where}: a negative number")
        return Vector(edges[values != 0], values[values != 0])

    def net_inflow(self, vector: Vector) -> npt.NDArray[np.object_]:
        """Return incoming minus outgoing at every node."""
        net = np.zeros(self.network.node_count, object)
        np.add.at(net, self.network.head[vector.edges], vector.values)
        np.subtract.at(net, self.network.tail[vector.edges], vector.values)
        return net

    def sum_over_set(self, data: Any, where: str, crossing: list[int]) -> int:
        """Return the sum of the balances as the side of the set sees it, after checking which edges leave the set there."""
        if not isinstance(data, Mapping) or data.keys() != {"side", "nodes", "sum"} or data["side"] not in _SIDES:
            raise InvalidCertificate(f"{where}: a set with side, nodes and sum is needed")
        if not isinstance(data["nodes"], (list, tuple)):
            raise InvalidCertificate(f"{where}: nodes={data['nodes']!r}: a list is needed")
        network = self.network
        nodes = np.array([self.index.get(v, -1) if isinstance(v, str) else -1 for v in data["nodes"]], np.int64)
        if not len(nodes) or (nodes < 0).any() or not network.hidden[nodes].all() or len(np.unique(nodes)) < len(nodes):
            raise InvalidCertificate(f"{where}: distinct hidden nodes are needed")
        outwards = data["side"] == "out"
        leaving = (network.outgoing if outwards else network.incoming).at_all(nodes)
        self._inside[nodes] = True
        leaving = leaving[~self._inside[(network.head if outwards else network.tail)[leaving]]]
        self._inside[nodes] = False
        if leaving.tolist() != crossing:
            raise InvalidCertificate(f"{where}: the edges that cross on side {data['side']} are not {crossing}")
        total: int = sum(self.c[nodes].tolist())
        if self.number(data["sum"], f"{where}: sum") != total:
            raise InvalidCertificate(f"{where}: sum={data['sum']!r} is not the sum of the balances")
        return total if outwards else -total


@dataclass(frozen=True, eq=False)
class Claims:
    """What is claimed of the listed edges, in increasing order of edges: checked from below."""

    edges: IntArray
    minimum: npt.NDArray[np.object_]
    regular_frozen: BoolArray
    above: tuple[Any, ...]


def _balance_again(network: Network) -> tuple[npt.NDArray[Any], int]:
    """Return the balance by summing limbs of integers, which shares no floating-point operation with `Network`."""
    weights = network.weights
    assert weights is not None
    if isinstance(weights, np.ndarray):
        doubles = weights.astype(np.float64, copy=False)
        limbs, bits = limb_count(doubles)
        if limbs * network.node_count <= MOST_LIMBS:
            sums = signed_square_sums(network.tail, network.head, doubles, network.node_count, limbs, bits)
            c = np.array(sums, object)
            c[~network.hidden] = 0
            return c, 4**bits
        weights = [Fraction(w) for w in weights.tolist()]
    return balance_of_weights(network.tail, network.head, network.hidden, weights)
