"""An answer about connectivity together with its certificate, after a checker came to the same answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .core import Exact, InternalError
from .results import value_to_json

if TYPE_CHECKING:
    from .graphs.connectivity import Connectivity

__all__ = ["certified"]

_LARGE = (
    200_000  # edges, from which on the checker on arrays takes over: the reference takes seconds and 1 KB for each 1000
)
_BYTES_PER_EDGE = 700  # of the certificate file in memory: names, the weight as a fraction, and their text

_ABSENT = object()


def certified(result: Connectivity, *, write: bool) -> dict[str, Any] | None:
    """Return the content of a certificate file, for `lakatos check`, or None if it is not to be written.

    The certificate is checked in any case: by `lakatos.checker`, or by `lakatos.graphs.checking` if the network has more
    than 200 000 edges.

    Raises
    ------
    InternalError
        If the certificate does not check, or establishes something else than the result says.
    Undecided
        If the file of a large network takes more memory than there is.
    """
    certificate = result.certificate.to_json()
    large = result.network.edge_count > _LARGE
    fields = None
    if large and write:
        from .graphs.memory import require_memory

        require_memory(_BYTES_PER_EDGE * result.network.edge_count, "writing out the network of the certificate")
    if write or not large:
        fields = result.network.to_fields()
    claims: dict[str, Exact] = {
        "feasible": result.feasible,
        "connected": result.connected,
        "log2_components": result.log2_components,
        "frozen": result.frozen_edges,
        "regular_frozen": result.regular_frozen_edges,
        "regular_connected": result.regular_connected,
        "regular_log2_components": result.regular_log2_components,
        **{f"minimum[{item.edge}]": item.minimum for item in result.edges},
    }
    facts = _facts_on_arrays(result, certificate) if large else _facts(fields, certificate)
    for quantity, value in claims.items():
        if facts.get(quantity, _ABSENT) != value:
            raise InternalError(f"{quantity}={value!r}, but the certificate establishes {facts.get(quantity)!r}")
    if not write:
        return None
    return {
        "schema": "lakatos/certificate/1",
        "network": fields,
        "certificate": certificate,
        "claims": {quantity: value_to_json(value) for quantity, value in claims.items()},
    }


def _facts(fields: Any, certificate: dict[str, Any]) -> dict[str, Any]:
    from .checker import Invalid, check_certificate

    try:
        return check_certificate(fields, certificate)
    except Invalid as error:
        raise InternalError(f"the certificate is not valid: {error}") from error


def _facts_on_arrays(result: Connectivity, certificate: dict[str, Any]) -> dict[str, Any]:
    from .graphs.checking import InvalidCertificate, check_connectivity

    try:
        return check_connectivity(result.network, certificate)
    except InvalidCertificate as error:
        raise InternalError(f"the certificate is not valid: {error}") from error
