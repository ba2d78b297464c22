"""What ``lakatos connectivity`` finds out beyond connectedness: singular points, Betti numbers, paths.

Every certificate is checked by `lakatos.checker` before anything is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .core import Certificate, Exact, InputError, InternalError
from .graphs.paths import component_path
from .graphs.points import moved_onto, signed_squares
from .networks import is_factory, read_network

if TYPE_CHECKING:
    from fractions import Fraction

    from .graphs.connectivity import Connectivity
    from .graphs.network import Network
    from .graphs.paths import Path as ComponentPath

__all__ = ["Finding", "betti_finding", "path_finding", "singular_finding"]

_NAMES_SHOWN = 8


@dataclass(frozen=True)
class Finding:
    """One part of the answer: its key and value in JSON, and a sentence."""

    key: str
    value: Any
    sentence: str


def singular_finding(network: Network) -> Finding:
    """Return whether the invariant set has a singular point."""
    from .graphs.singular import singular_point

    found = singular_point(network)
    if found.certificate is not None and found.certificate.kind != "invariant_set_empty":
        _check(network.to_fields(), found.certificate, {"singular": found.exists})
    names = [network.names[v] for v in found.nodes]
    value: dict[str, Any] = {"exists": found.exists, "nodes": names}
    if found.exists is None:
        return Finding(
            "singular", {**value, "reason": found.explanation}, f"Singular points: undecided; {found.explanation}."
        )
    if not found.exists:
        return Finding("singular", value, "It has no singular point: nowhere are neurons cut off from all terminals.")
    shown = ", ".join(names[:_NAMES_SHOWN]) + (", …" if len(names) > _NAMES_SHOWN else "")
    return Finding(
        "singular",
        value,
        f"It has singular points: all weights across the boundary of {{{shown}}} can vanish together.",
    )


def betti_finding(network: Network) -> Finding:
    """Return the Betti numbers of the invariant set over the field with two elements.

    Raises
    ------
    Undecided
        If too many edges hang together.
    """
    from .graphs.homology import homology

    found = homology(network)
    if found.betti:
        _check(network.to_fields(), found.certificate, {"betti": found.betti})
    listed = ", ".join(map(str, found.betti)) or "none, since it is empty"
    return Finding("betti", list(found.betti), f"Betti numbers over the field with two elements: {listed}.")


def path_finding(result: Connectivity, source: str, ends: tuple[Path, Path]) -> Finding:
    """Return a path inside the invariant set of `result` between the weights in two files, or what separates them.

    Raises
    ------
    InputError
        Naming the file: weights for another network, or of another invariant set.
    """
    network = result.network
    (start, start_moved), (end, end_moved) = (_end(network, source, file) for file in ends)
    path = component_path(network, start, end, result=result)
    fields = {
        **network.to_fields(),
        "start": [str(w) for w in start],
        "end": [str(w) for w in end],
    }
    _check(fields, path.certificate, {"joined": path.joined})
    value = {
        "joined": path.joined,
        "separating": list(path.separating),
        "moved": [float(start_moved), float(end_moved)],
        "knots": None
        if path.knots is None
        else [{str(e): str(w) for e, w in enumerate(knot) if w} for knot in path.knots],
    }
    return Finding("path", value, _path_sentence(network, path, max(start_moved, end_moved)))


def _path_sentence(network: Network, path: ComponentPath, moved: Fraction) -> str:
    rounding = f" (squares moved by at most {float(moved):.2g} to meet the balances exactly)" if moved else ""
    if path.knots is None:
        weights = ", ".join(network.describe_edge(e) for e in path.separating[:_NAMES_SHOWN])
        more = ", …" if len(path.separating) > _NAMES_SHOWN else ""
        return f"The two lie in different components{rounding}: they differ in the locked sign of {weights}{more}."
    start, end = path.knots[0], path.knots[-1]
    flips = sum(a * b < 0 for a, b in zip(start, end, strict=True))
    return (
        f"The two lie in one component{rounding}: a path of {len(path.knots) - 1} segments joins them, which changes "
        f"{flips} signs; --json lists its knots as signed squares."
    )


def _end(network: Network, source: str, file: Path) -> tuple[tuple[Fraction, ...], Fraction]:
    """Return signed squares of the weights in `file`, corrected for rounding, and how much that took."""
    end = read_network(source, checkpoint=file) if is_factory(source) else read_network(file)
    same = (
        list(end.names) == list(network.names)
        and np.array_equal(end.tail, network.tail)
        and np.array_equal(end.head, network.head)
    )
    if not same or end.weights is None:
        raise InputError(f"{file}: does not hold weights for the nodes and edges of {source}, in the same order")
    try:
        return moved_onto(network, signed_squares(end.weights))
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def _check(fields: Mapping[str, Any], certificate: Certificate, claims: Mapping[str, Exact]) -> None:
    from .checker import Invalid, check_certificate

    try:
        facts = check_certificate(fields, certificate.to_json())
    except Invalid as error:
        raise InternalError(f"the certificate of kind {certificate.kind!r} is not valid: {error}") from error
    for quantity, value in claims.items():
        if quantity not in facts or facts[quantity] != value:
            raise InternalError(f"{quantity}={value!r}, but the certificate establishes {facts.get(quantity)!r}")
