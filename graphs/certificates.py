"""Certificates about a network as plain data; the format stands in ``docs/certificates.md``."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from ..core import Certificate
from .feasibility import Witness, feasible_point
from .network import Network

__all__ = ["empty_certificate", "feasibility_certificate", "point_data", "sparse_data", "witness_data"]


def feasibility_certificate(network: Network) -> Certificate:
    """Return a point of the invariant set (as squares), or a closed set of nodes that shows it is empty."""
    point = feasible_point(network)
    if isinstance(point, Witness):
        return empty_certificate(network, point)
    return Certificate("invariant_set_point", {"squares": point_data(network, point)})


def empty_certificate(network: Network, witness: Witness) -> Certificate:
    """Return the certificate that the invariant set is empty."""
    return Certificate("invariant_set_empty", witness_data(network, witness))


def point_data(network: Network, point: npt.NDArray[Any]) -> dict[str, str]:
    """Return the positive entries of an integer point (times the common denominator), exactly."""
    return sparse_data(network, {e: point[e] for e in np.flatnonzero(point).tolist()})


def sparse_data(network: Network, values: Mapping[int, Any]) -> dict[str, str]:
    """Return integers by edge (times the common denominator) as exact numbers by edge."""
    return {str(e): str(Fraction(int(x), network.denominator)) for e, x in values.items()}


def witness_data(network: Network, witness: Witness) -> dict[str, Any]:
    """Return a closed set with its sum."""
    return {"side": witness.side, "nodes": [network.names[v] for v in witness.nodes], "sum": str(witness.sum)}
