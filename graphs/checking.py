"""A second checker of certificates about connectivity, on arrays, for networks that are too large for the first.

`lakatos.checker` is the reference: it reads plain data and needs the standard library only, at some microseconds and some
hundred bytes per edge. This one takes the `Network` and checks the same conditions (``docs/certificates.md``) with exact
integers in arrays, in a few bytes and nanoseconds per edge. It shares no code with the engines that write certificates but
elementary index arithmetic and searches; balances are computed again from the weights, in another way.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from ..core import Exact
from .checking_case import Case, Claims, InvalidCertificate
from .checking_degrees import check_flows
from .checking_residual import check_changes, has_regular_points
from .network import Network

__all__ = ["InvalidCertificate", "check_connectivity"]

_KEYS = {"kind", "method", "point", "edges", "regular"}


def check_connectivity(network: Network, certificate: Any) -> dict[str, Exact]:
    """Return the facts that a certificate of kind ``connectivity`` or ``invariant_set_empty`` establishes, by quantity.

    These are the facts of `lakatos.checker.check_certificate`, but ``minimum[e]`` for the edges listed only (it is 0 for all
    others).

    Raises
    ------
    InvalidCertificate
        If anything does not check.

    Examples
    --------
    >>> network = Network.from_edges([("x", "v"), ("v", "y")], balance={"v": -1})
    >>> from .connectivity import connectivity
    >>> check_connectivity(network, connectivity(network).certificate.to_json())["frozen"]
    (1,)
    """
    case = Case.of(network)
    if not isinstance(certificate, Mapping):
        raise InvalidCertificate("an object is needed")
    if certificate.get("kind") == "invariant_set_empty":
        return _check_empty(case, {key: value for key, value in certificate.items() if key != "kind"})
    if certificate.keys() != _KEYS:
        raise InvalidCertificate(f"keys {sorted(_KEYS)} are needed")
    kind, method = certificate["kind"], certificate["method"]
    if kind != "connectivity" or method not in ("degrees", "residual"):
        raise InvalidCertificate(f"kind={kind!r}, method={method!r}: not known here")
    point = case.vector(certificate["point"], "point")
    net = case.net_inflow(point)
    if (net != case.c)[network.hidden].any():
        raise InvalidCertificate("point: does not have the balances of the network")
    regular = has_regular_points(case, point, certificate["regular"])
    by_degrees = method == "degrees"
    claims = _claims(case, certificate["edges"], "flows" if by_degrees else "change", regular)
    if by_degrees:
        check_flows(case, claims)
    else:
        check_changes(case, point, claims, regular)
    minima = [Fraction(x, case.denominator) for x in claims.minimum.tolist()]
    frozen = tuple(e for e, x in zip(claims.edges.tolist(), minima, strict=True) if x > 0)
    regular_frozen = tuple(claims.edges[claims.regular_frozen].tolist())
    return {
        "feasible": True,
        "connected": not frozen,
        "log2_components": len(frozen),
        "frozen": frozen,
        **{f"minimum[{e}]": x for e, x in zip(claims.edges.tolist(), minima, strict=True)},
        "regular_frozen": regular_frozen,
        "regular_connected": not regular_frozen if regular else None,
        "regular_log2_components": len(regular_frozen) if regular else None,
    }


def _check_empty(case: Case, certificate: Mapping[str, Any]) -> dict[str, Exact]:
    if case.sum_over_set(certificate, "certificate", crossing=[]) >= 0:
        raise InvalidCertificate("certificate: the sign of the sum is no contradiction")
    nothing: dict[str, Exact] = dict.fromkeys(
        ("connected", "log2_components", "regular_connected", "regular_log2_components")
    )
    return {"feasible": False, "frozen": (), "regular_frozen": (), **nothing}


def _claims(case: Case, data: Any, above: str, regular: bool) -> Claims:
    """Return the listed edges, after checking that no minimum is too large and no edge wrongly called regular-frozen."""
    if not isinstance(data, (list, tuple)) or not all(
        isinstance(entry, Mapping) and entry.keys() == {"edge", "minimum", "regular_frozen", "witness", above}
        for entry in data
    ):
        raise InvalidCertificate(
            f"edges: a list of objects with edge, minimum, regular_frozen, witness and {above} is needed"
        )
    numbers = [entry["edge"] for entry in data]
    if not all(type(e) is int and 0 <= e < case.network.edge_count for e in numbers) or len(set(numbers)) < len(data):
        raise InvalidCertificate("edges: distinct edge numbers are needed")
    entries = dict(zip(numbers, data, strict=True))
    edges = sorted(entries)
    minima = [_bounded_below(case, e, entries[e], regular) for e in edges]
    return Claims(
        np.array(edges, np.int64),
        np.array(minima, object),
        np.array([entries[e]["regular_frozen"] for e in edges], bool),
        tuple(entries[e][above] for e in edges),
    )


def _bounded_below(case: Case, e: int, entry: Mapping[str, Any], regular: bool) -> int:
    minimum, regular_frozen = case.number(entry["minimum"], f"edge {e}: minimum"), entry["regular_frozen"]
    if minimum < 0 or type(regular_frozen) is not bool:
        raise InvalidCertificate(f"edge {e}: minimum={entry['minimum']!r}, regular_frozen={regular_frozen!r}")
    if (regular_frozen and not regular) or (minimum > 0 and regular and not regular_frozen):
        raise InvalidCertificate(
            f"edge {e}: regular_frozen={regular_frozen} contradicts the minimum or the regular part"
        )
    if minimum > 0 or regular_frozen:
        if case.sum_over_set(entry["witness"], f"edge {e}: witness", crossing=[e]) != -minimum:
            raise InvalidCertificate(f"edge {e}: the sum of the witness is not the minimum")
    elif entry["witness"] is not None:
        raise InvalidCertificate(f"edge {e}: a witness where nothing is claimed that it could show")
    return minimum
